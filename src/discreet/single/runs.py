"""A sequence's places in a ledger, and the payment for a run of its questions."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING

from discreet.privacy.events import Pure
from discreet.single.threshold import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.privacy.ledger import Ledger
    from discreet.privacy.ledger.chain import DataSet
    from discreet.privacy.ledger.records import Charge, Entry


def places_of(ledger: Ledger, dataset: str, name: str) -> dict[str, Entry]:
    """Return the charges of the sequence called `name`, by their place."""
    history = ledger.history(dataset)
    return {entry.release_id: entry for entry in history if entry.request.get("sequence") == name}


def pay_for_run(
    runs: dict[int, Run],
    moves: int,
    epsilon: float,
    ledger: Ledger,
    dataset: str,
    public: Mapping[str, object],
) -> None:
    """Pay for a run of questions at the first free place of the ledger, and put it into `runs`.

    `public` is what all requests of the sequence say.
    """
    name = str(public["sequence"])
    for number in count(1):
        place = f"{name}/run {number}"
        entry = places_of(ledger, dataset, name).get(place)
        if entry is not None and (entry.state == "released" or not entry.kept or entry.exhausted):
            continue  # it was begun before, by whomever
        begun: list[Run] = []

        def begin(charge: Charge, state: DataSet, begun: list[Run] = begun) -> str:
            del charge, state
            begun.append(Run(epsilon, moves))
            return json.dumps("begun")  # the hidden number is no part of what the ledger keeps

        request = {**public, "run": number}
        try:
            paid = ledger.pay(dataset, [Pure(epsilon)], "replace", request, begin, place)
        except KeyboardInterrupt:  # which waits until the charge is settled
            entry = places_of(ledger, dataset, name).get(place)
            if begun and entry is not None and entry.state == "released":
                runs[moves] = begun[-1]
            raise
        if paid.fresh:
            runs[moves] = begun[-1]
            return

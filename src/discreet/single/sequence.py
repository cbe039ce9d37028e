"""Hypotheses in turn: each is charged when it comes, and its decision is final."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, get_args

from discreet import check
from discreet.classical.online import PROMISES, RULES
from discreet.errors import InputError
from discreet.privacy.events import Pure
from discreet.privacy.promise import Privacy
from discreet.single.test import settle_request, test
from discreet.single.tested import Tested
from discreet.typing import Online

if TYPE_CHECKING:
    from collections.abc import Sequence as Sequence_
    from os import PathLike

    from discreet.alternative import Alternative
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.ledger.dataset import DataSet
    from discreet.privacy.ledger.records import Charge
    from discreet.typing import ArrayLike, SingleTest

ONLINE: tuple[str, ...] = get_args(Online)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a sequence: its answer, the level it was held against, and the decision, for good.

    Attributes
    ----------
    hypothesis : str
        What was asked, in the words of who asked.
    answer : Tested
        The p-value, the estimate and the interval.
    level : float
        What the p-value was compared with; settled before it was drawn.
    rejected : bool
        Whether this is a discovery.

    Notes
    -----
    Returned by `Sequence.ask`. Proof: docs/proofs/online.md.

    References
    ----------
    Ramdas, Yang, Wainwright & Jordan (2017), Online Control of the False Discovery Rate with Decaying Memory.

    Examples
    --------
    >>> import discreet
    >>> asked = discreet.Sequence(q=0.1).ask("diet", [1.0] * 400, epsilon=1)
    >>> asked.rejected
    True
    """

    hypothesis: str
    answer: Tested
    level: float
    rejected: bool

    def __str__(self) -> str:
        verdict = "a discovery" if self.rejected else "no discovery"
        return f"{self.hypothesis}: {verdict} (p = {self.answer.p_value:.3g}, level {self.level:.3g})."


class Sequence:
    """Ask one hypothesis after another, with the false discovery rate under control at any time.

    Parameters
    ----------
    q : float
        Of all discoveries made until any time, at most this share is false on average.
    method : {"lord", "saffron", "lond"}
        "lord" and "saffron": p-values of true nulls must be independent of all others, as when every question
        is about other people, or about columns that are independent; "saffron" is better where many
        hypotheses are false. "lond": any dependence, for questions about the same people; finds less.
    ledger : path or Ledger, optional
        The budget file. Every question is charged to it when it comes, and its answer is kept there: a
        sequence of the same name goes on where it stopped.
    dataset : str, optional
        Whose budget; needed with a ledger.
    name : str
        What the sequence is called in the ledger.

    Notes
    -----
    All that levels depend on are released p-values and decisions, so the state is public. Without a ledger it
    is kept in memory and nothing adds up the budget. Proof: docs/proofs/online.md.

    References
    ----------
    - Ramdas, Yang, Wainwright & Jordan (2017), Online Control of the False Discovery Rate with Decaying
      Memory: "lord".
    - Ramdas, Zrnic, Wainwright & Jordan (2018), SAFFRON.
    - Zrnic, Ramdas & Jordan (2021), Asynchronous Online Testing of Multiple Hypotheses: any dependence.
    - Zhang, Krehbiel, Tuyls, Cummings et al. (2021), PAPRIKA: Private Online False Discovery Rate Control.

    Examples
    --------
    >>> import discreet
    >>> questions = discreet.Sequence(q=0.1)
    >>> questions.ask("sleep", [1.0, -1.0] * 200, epsilon=1).rejected, len(questions.asked)
    (False, 1)
    """

    def __init__(
        self,
        q: float = 0.1,
        *,
        method: Online = "lord",
        ledger: Ledger | str | PathLike[str] | None = None,
        dataset: str | None = None,
        name: str = "sequence",
    ) -> None:
        self.q = check.level(q, "q")
        self.method = check.choice(method, "method", ONLINE)
        self.name = check.text(name, "name")
        if (ledger is None) != (dataset is None):
            raise InputError("give ledger and dataset together, or neither")
        self._ledger, self._dataset = _book(ledger), dataset
        self._asked: list[Asked] = []
        self._resume()

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Every question so far, oldest first."""
        return tuple(self._asked)

    @property
    def level(self) -> float:
        """What the next p-value will be compared with."""
        past = self._asked
        return RULES[self.method](
            [one.answer.p_value for one in past], [one.rejected for one in past], self.q
        )

    def ask(
        self,
        hypothesis: str,
        x: ArrayLike,
        test: SingleTest = "sign",
        *,
        epsilon: float,
        group: ArrayLike | None = None,
        levels: Sequence_[object] | None = None,
        null: float = 0.0,
        alternative: Alternative = "two-sided",
        confidence: float = 0.95,
    ) -> Asked:
        """Ask one hypothesis, charge it, and decide for good.

        Parameters
        ----------
        hypothesis : str
            What it is called; public.
        x : array-like, shape (n,)
            One number for each person.
        test : {"sign", "rank-sum"}
            As in `test`.
        epsilon : float
            What this question may cost.
        group : array-like, shape (n,), optional
            As in `test`.
        levels : pair, optional
            As in `test`.
        null : float
            As in `test`.
        alternative : {"two-sided", "greater", "less"}
            As in `test`.
        confidence : float
            As in `test`.

        Returns
        -------
        Asked
            The answer, the level, the decision.

        Raises
        ------
        InputError
            An argument is wrong. Nothing was drawn or charged.
        BudgetError
            The budget does not allow it. Nothing was drawn or charged.
        """
        check.text(hypothesis, "hypothesis")
        self._resume()
        level = self.level
        options: Any = {"group": group, "levels": levels, "null": null, "alternative": alternative}
        options |= {"epsilon": epsilon, "confidence": confidence}
        request = settle_request(x, test, **options)
        request |= {"sequence": self.name, "q": self.q, "online": self.method, "hypothesis": hypothesis}

        def draw() -> Asked:
            answer = _test(x, test, **options)
            return Asked(hypothesis, answer, level, answer.p_value <= level)

        if self._ledger is None:
            asked = draw()
        else:

            def pay(charge: Charge, state: DataSet) -> str:
                del charge, state
                return _to_json(draw())

            place = f"{self.name}/{len(self._asked) + 1}"
            events = [Pure(request["epsilon"])]
            paid = self._ledger.pay(str(self._dataset), events, "replace", request, pay, place)
            asked = _from_json(paid.result)
        self._asked.append(asked)
        return asked

    def _resume(self) -> None:
        """Read on from the ledger what this or another process has asked since."""
        if self._ledger is None:
            return
        mine = {
            e.release_id: e
            for e in self._ledger.history(str(self._dataset))
            if e.request.get("sequence") == self.name
        }
        while (place := f"{self.name}/{len(self._asked) + 1}") in mine:
            entry = mine[place]
            if (entry.request.get("q"), entry.request.get("online")) != (self.q, self.method):
                raise InputError(
                    f"sequence {self.name!r} was begun with another q or method: go on with those"
                )
            if entry.state != "released":
                return
            self._asked.append(_from_json(self._ledger.result(str(self._dataset), place).result))

    def __str__(self) -> str:
        found = [one.hypothesis for one in self._asked if one.rejected]
        return (
            f"{len(self._asked)} asked, {len(found)} discoveries: {', '.join(found) or 'none'}.\n"
            f"At any time at most {self.q:.0%} of them are false on average, {PROMISES[self.method]}."
        )


_test = test


def _book(ledger: Ledger | str | PathLike[str] | None) -> Ledger | None:
    from discreet.privacy.ledger import Ledger

    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)


def _to_json(asked: Asked) -> str:
    answer = {name: value for name, value in asdict(asked.answer).items() if name != "privacy"}
    answer["epsilon"] = asked.answer.privacy.epsilon
    record = {"hypothesis": asked.hypothesis, "level": asked.level, "rejected": asked.rejected}
    return json.dumps(record | {"answer": answer})


def _from_json(text: str) -> Asked:
    record = json.loads(text)
    answer = record["answer"]
    privacy = Privacy(answer["epsilon"], 0.0, (Pure(answer["epsilon"]),), "replace")
    known = {field.name: answer[field.name] for field in fields(Tested) if field.name != "privacy"}
    return Asked(record["hypothesis"], Tested(**known, privacy=privacy), record["level"], record["rejected"])

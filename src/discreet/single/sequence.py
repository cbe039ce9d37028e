"""Hypotheses in turn: each is charged when it comes, and its decision is final."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, get_args

from discreet import check
from discreet.classical.online import PROMISES, RULES
from discreet.errors import InputError, LedgerError
from discreet.privacy.events import Pure
from discreet.single.asked import Asked, asked_from_json
from discreet.single.runs import pay_for_run, places_of
from discreet.single.test import EPSILONS, answered, opened, settle_request, statistic
from discreet.single.threshold import MOVES, Run
from discreet.typing import Online

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Sequence_
    from os import PathLike

    from discreet.alternative import Alternative
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.ledger.chain import DataSet
    from discreet.privacy.ledger.records import Charge, Entry
    from discreet.typing import ArrayLike, SingleTest

ONLINE: tuple[str, ...] = get_args(Online)


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
    epsilon : float, optional
        Pay by discovery: so much for the first question, and again for the next one after each discovery;
        all other questions cost nothing, and only decisions are released. For many questions of which few
        are discoveries. Not with "saffron", which needs p-values, nor with "two-by-two".

    Notes
    -----
    All that levels depend on are released p-values and decisions, so the state is public. Where `epsilon` is
    given, "lord" keeps E[false discoveries] below q E[max(discoveries, 1)] in place of the mean of the ratio.
    A process begins with a payment of its own; tests that one person moves unequally far are paid separately.

    The rate is as good as the p-values. Those of "sign" are proved, and so are those of rank scores up to 100
    people; all others are approximate, as `answer.basis` says of each.

    Without a ledger the state is kept in memory and nothing adds up the budget. Threads may share a sequence,
    and processes a ledger: every question gets a place of its own. A question whose draws were interrupted
    eight times counts as p = 1, and the sequence goes on. Proof: docs/proofs/online.md.

    References
    ----------
    - Ramdas, Yang, Wainwright & Jordan (2017), Online Control of the False Discovery Rate with Decaying
      Memory: "lord".
    - Ramdas, Zrnic, Wainwright & Jordan (2018), SAFFRON.
    - Zrnic, Ramdas & Jordan (2021), Asynchronous Online Testing of Multiple Hypotheses: any dependence.
    - Zhang, Kamath & Cummings (2021), PAPRIKA: Private Online False Discovery Rate Control.
    - Vadhan & Wang (2021), Concurrent Composition of Differential Privacy: runs beside other releases.

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
        epsilon: float | None = None,
    ) -> None:
        self.q = check.level(q, "q")
        self.method = check.choice(method, "method", ONLINE)
        self.name = check.text(name, "name")
        if (ledger is None) != (dataset is None):
            raise InputError("give ledger and dataset together, or neither")
        self.epsilon = None if epsilon is None else check.between(epsilon, "epsilon", *EPSILONS)
        if epsilon is not None and method == "saffron":
            raise InputError('"saffron" needs p-values: by discovery, pay with "lord" or "lond"')
        self._runs: dict[int, Run] = {}
        self._ledger = None if ledger is None else opened(ledger)
        self._dataset = dataset
        self._asked: list[Asked] = []
        self._lock = RLock()
        self._resume()

    def __getstate__(self) -> dict[str, Any]:
        if self._ledger is None:
            raise InputError("a sequence without a ledger has its state here alone, and is not copied")
        # The hidden numbers of runs stay here: a copy begins runs of its own.
        return {name: value for name, value in self.__dict__.items() if name not in {"_lock", "_runs"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=RLock(), _runs={})

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Every question so far, oldest first."""
        return tuple(self._asked)

    @property
    def level(self) -> float:
        """What the next p-value will be compared with."""
        past = self._asked
        return RULES[self.method](
            [asked.p_value for asked in past], [asked.rejected for asked in past], self.q
        )

    def ask(
        self,
        hypothesis: str,
        x: ArrayLike,
        test: SingleTest = "sign",
        *,
        epsilon: float | None = None,
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
            What it is called; public, and asked once: decisions are for good.
        x : array-like, shape (n,)
            One number for each person.
        test : {"sign", "rank-sum", "two-by-two", "kruskal-wallis"}
            As in `test`.
        epsilon : float, optional
            What this question may cost; leave it out where the sequence pays by discovery.
        group : array-like, shape (n,), optional
            As in `test`.
        levels : sequence, optional
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
        if not check.text(hypothesis, "hypothesis").strip():
            raise InputError("hypothesis must be the name of a question; got nothing")
        if epsilon is None and self.epsilon is None:
            raise InputError("say what this question may cost: ask(..., epsilon=...)")
        if epsilon is not None and self.epsilon is not None:
            raise InputError("this sequence pays by discovery, with an epsilon of its own: leave epsilon out")
        options: Any = {"group": group, "levels": levels, "null": null, "alternative": alternative}
        options |= {"epsilon": self.epsilon or epsilon, "confidence": confidence}
        request = settle_request(x, test, **options)
        if self.epsilon is not None and test not in MOVES:
            raise InputError(f'"{test}" asks twice, and cannot be paid by discovery: one of {sorted(MOVES)}')
        request |= self._public | {"hypothesis": hypothesis}

        def draw(level: float) -> Asked:
            if self.epsilon is not None:
                passed = self._runs[MOVES[test]].passes(statistic(x, group, levels, request), level)
                return Asked(hypothesis, None, level, passed)
            answer = answered(x, group, levels, request)
            return Asked(hypothesis, answer, level, answer.p_value <= level)

        with self._lock:
            self._resume()
            self._refuse_again(hypothesis)
            if self.epsilon is not None:
                self._begin(MOVES[test], self.epsilon)
            if self._ledger is None:
                self._asked.append(draw(self.level))
                return self._asked[-1]
            return self._charged(self._ledger, request, draw)

    def skip(self) -> Asked | None:
        """Count the question that was interrupted last as no discovery (p = 1), so that others can be asked.

        Its charge stands. To have its answer, ask it again instead, which costs nothing more.

        Returns
        -------
        Asked or None
            The question without an answer; None where none was interrupted.
        """
        with self._lock:
            self._resume()
            entry = None if self._ledger is None else self._entries().get(self._place)
            if entry is None:
                return None
            self._give_up(entry)
            return self._asked[-1]

    @property
    def _place(self) -> str:
        return f"{self.name}/{len(self._asked) + 1}"

    @property
    def _public(self) -> dict[str, Any]:
        """What all requests of this sequence say."""
        paid = {} if self.epsilon is None else {"discovery": self.epsilon}
        return {"sequence": self.name, "q": self.q, "online": self.method} | paid

    def _begin(self, moves: int, epsilon: float) -> None:
        """Pay for a run of questions, unless one is under way."""
        run = self._runs.get(moves)
        if run is not None and run.usable:
            return
        if self._ledger is None:
            self._runs[moves] = Run(epsilon, moves)
        else:
            pay_for_run(self._runs, moves, epsilon, self._ledger, str(self._dataset), self._public)

    def _charged(self, ledger: Ledger, request: dict[str, Any], draw: Callable[[float], Asked]) -> Asked:
        """Ask at the first free place of the ledger.

        The level of a place is settled by all places before it. The ledger's lock gives a place to one
        question only: who comes second reads on, and takes the next.
        """
        while True:
            self._resume()
            self._refuse_again(request["hypothesis"])
            place, level = self._place, self.level

            def pay(charge: Charge, state: DataSet, level: float = level) -> str:
                del charge, state
                return draw(level).to_json()

            cost = request["epsilon"] if self.epsilon is None else 0.0  # the run is paid for
            try:
                paid = ledger.pay(str(self._dataset), [Pure(cost)], "replace", request, pay, place)
            except (InputError, LedgerError):
                self._resume()
                if self._place != place:
                    continue
                entry = self._entries().get(place)
                if entry is None and any(e.release_id == place for e in ledger.history(str(self._dataset))):
                    raise InputError(
                        f"{place!r}, where this question would be kept, is another release about the same "
                        "data: begin a sequence with another name"
                    ) from None
                if entry is None or entry.request == request:
                    raise
                raise InputError(
                    f"{entry.request.get('hypothesis')!r} was interrupted while it was drawn: ask it again, "
                    "which costs nothing more, or count it as no discovery with skip()"
                ) from None
            if paid.fresh:
                self._asked.append(asked_from_json(paid.result))
                return self._asked[-1]

    def _refuse_again(self, hypothesis: str) -> None:
        """Refuse a question that was decided: its second p-value would not be independent of the first."""
        for place, asked in enumerate(self._asked):
            if asked.hypothesis == hypothesis and not asked.interrupted:
                raise InputError(
                    f"{hypothesis!r} was asked before and is decided for good: its answer is asked[{place}]. "
                    "Another question, or the same about other people, needs a name of its own"
                )

    def _resume(self) -> None:
        """Read on from the ledger what this or another process has asked since."""
        if self._ledger is None:
            return
        with self._lock:
            mine = self._entries()
            while (entry := mine.get(self._place)) is not None:
                if any(
                    entry.request.get(key) != self._public.get(key) for key in ("q", "online", "discovery")
                ):
                    raise InputError(
                        f"sequence {self.name!r} was begun with another q, method or epsilon: keep these"
                    )
                if entry.exhausted:
                    self._give_up(entry)
                elif not entry.kept:  # whoever asked has it; levels here go on as if nothing was found
                    self._asked.append(self._without_answer(entry))
                elif entry.state == "released":
                    stored = self._ledger.result(str(self._dataset), entry.release_id)
                    self._asked.append(asked_from_json(stored.result))
                else:
                    return

    def _entries(self) -> dict[str, Entry]:
        """Return this sequence's charges by place."""
        return {} if self._ledger is None else places_of(self._ledger, str(self._dataset), self.name)

    def _give_up(self, entry: Entry) -> None:
        """Write down that a question has no answer."""
        if self._ledger is not None:
            result = self._without_answer(entry).to_json()
            stored = self._ledger.give_up(str(self._dataset), entry.release_id, result)
            self._asked.append(asked_from_json(stored))

    def _without_answer(self, entry: Entry) -> Asked:
        hypothesis = str(entry.request.get("hypothesis"))
        return Asked(hypothesis, None, self.level, rejected=False, interrupted=True)

    def __repr__(self) -> str:
        kept = "" if self._dataset is None else f", dataset={self._dataset!r}, name={self.name!r}"
        return f"<Sequence q={self.q:g}, method={self.method!r}{kept}: {len(self._asked)} asked>"

    def __str__(self) -> str:
        discoveries = [asked.hypothesis for asked in self._asked if asked.rejected]
        promise = f"At any time at most {self.q:.0%} of them are false on average"
        if self.epsilon is not None and self.method == "lord":
            promise = (
                f"At any time false discoveries are on average at most {self.q:.0%} of discoveries, "
                "counted as at least one"
            )
        return (
            f"{len(self._asked)} asked, {len(discoveries)} discoveries: {', '.join(discoveries) or 'none'}.\n"
            f"{promise}, {PROMISES[self.method]}."
        )

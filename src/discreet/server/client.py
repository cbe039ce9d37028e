"""The analyst's end of the line: the same questions and the same `Release`, over HTTP. Needs no extra."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from discreet import check
from discreet.errors import BudgetError, DiscreetError, InputError
from discreet.evidence.core.protocol import described, plain
from discreet.methods.method import Parameters
from discreet.report.release import Release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from discreet.evidence.core.protocol import Test
    from discreet.typing import Cutoffs, Dependence, Guarantee, MethodName

_TIMEOUT = 60.0
_LOST_SECONDS = 120.0  # how long a server that restarts is waited for
_LONGEST = 2**28  # bytes of an answer
_LOCAL = ("127.0.0.1", "localhost", "::1")


class ServerError(DiscreetError):
    """The server cannot be reached, or answers something else than expected."""


def connect(url: str, *, token: str) -> Connection:
    """Return a connection to a custodian's server.

    Parameters
    ----------
    url : str
        The server's address; https, unless it is this machine.
    token : str
        A token of yours, made on the server's page "Tokens".

    Returns
    -------
    Connection
        `datasets()` lists what is open to you, `dataset(name)` asks it.

    Raises
    ------
    InputError
        The address or the token cannot be one.

    Notes
    -----
    Nothing is sent yet. What the server promises: docs/proofs/ledger.md and docs/proofs/time-grid.md.

    References
    ----------
    Rogers, Roth, Ullman & Vadhan (2016), Privacy Odometers and Filters, NeurIPS 2016: why a budget holds
    although each question is chosen after the answers before.

    Examples
    --------
    >>> import discreet
    >>> server = discreet.connect("https://data.example.org", token="token-...")
    >>> server.dataset("cohort")
    Remote(name='cohort')
    """
    parts = urllib.parse.urlsplit(check.text(url, "url").rstrip("/"))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
        raise InputError("url must be the server's address, such as https://data.example.org")
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise InputError("url must begin with https: a token sent in the open can be read on the way")
    if not check.text(token, "token").isascii() or not token.isprintable() or " " in token:
        raise InputError("token must be the one word that the server showed when the token was made")
    return Connection(parts.geturl(), token)


@dataclass(frozen=True, slots=True)
class Connection:
    """A server, and the right to ask it.

    Notes
    -----
    Made by `connect`. The token is not shown when this is printed.

    Examples
    --------
    >>> import discreet
    >>> discreet.connect("https://data.example.org", token="token-...")
    Connection(url='https://data.example.org')
    """

    url: str
    token: str = field(repr=False)

    def datasets(self) -> list[str]:
        """Return the names of the data sets that are open to you."""
        return [each["name"] for each in self.send("GET", "/datasets")["datasets"]]

    def dataset(self, name: str) -> Remote:
        """Return a data set by its name; nothing is sent yet."""
        return Remote(check.text(name, "name"), self)

    def send(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        """Send one request and return its JSON; a refusal is raised as the library's own error."""
        return json.loads(self.fetch(method, path, body))

    def fetch(self, method: str, path: str, body: Mapping[str, object] | None = None) -> bytes:
        """Send one request and return the bytes of its answer."""
        data = None if body is None else json.dumps(dict(body)).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310  (`connect` checked the scheme)
            f"{self.url}/api/v1{path}", data, headers, method=method
        )
        try:
            with _sent(request, timeout=_TIMEOUT) as answer:
                return answer.read(_LONGEST)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (OSError, urllib.error.URLError) as error:
            raise ServerError(
                f"the server {self.url} cannot be reached: {getattr(error, 'reason', error)}"
            ) from None


@dataclass(frozen=True, slots=True)
class Remote:
    """A data set that somebody else holds: ask it as `discreet.discover` asks a file.

    Notes
    -----
    Made by `Connection.dataset`.

    Examples
    --------
    >>> import discreet
    >>> discreet.connect("https://data.example.org", token="token-...").dataset("cohort").name
    'cohort'
    """

    name: str
    server: Connection = field(repr=False)

    @property
    def about(self) -> dict[str, Any]:
        """What is public about the data set: metadata, version, state and the budget left."""
        return self.server.send("GET", self._path)

    def more(self, epsilon: float, delta: float = 1e-6) -> int:
        """Return about how many more releases with this epsilon and delta your share and the total allow."""
        asked = urllib.parse.urlencode({"epsilon": repr(float(epsilon)), "delta": repr(float(delta))})
        return int(self.server.send("GET", f"{self._path}?{asked}")["budget"]["more"])

    def releases(self) -> list[dict[str, Any]]:
        """Return earlier questions whose releases you may see, newest first: looking costs nothing."""
        releases: list[dict[str, Any]] = []
        before = ""
        while True:
            page = self.server.send("GET", f"{self._path}/releases{before}")
            releases += page["releases"]
            if page.get("older") is None:
                return releases
            before = f"?before={float(page['older'])!r}"

    def release(self, job: str) -> Release:
        """Return the release of an earlier question, by its id."""
        return Release.from_json(self.server.fetch("GET", f"/jobs/{quote(job, safe='')}/answer"))

    def discover(
        self,
        test: Test,
        *,
        q: float,
        epsilon: float,
        delta: float = 1e-6,
        columns: str | Sequence[str] | None = None,
        method: MethodName = "auto",
        guarantee: Guarantee | None = None,
        dependence: Dependence | None = None,
        k: int | None = None,
        cutoffs: Cutoffs | None = None,
        expect: float | None = None,
        values: bool = False,
        release_id: str | None = None,
        again: bool = False,
        wait: Callable[[float], None] = time.sleep,
    ) -> Release:
        """Ask, wait for the answer, and return the same `Release` as `discreet.discover`.

        Parameters
        ----------
        test : Compare, Mean, ...
            What to test; bounds and levels that the metadata declare need not be given.
        q, epsilon, delta, method, guarantee, dependence, k, cutoffs, expect, values
            As for `discreet.discover`.
        columns : str or sequence of str, optional
            Names or patterns among the declared columns. If None, all of them.
        release_id : str, optional
            A name for the question: sent again, it is the same question and is paid for once. If None, one is
            invented.
        again : bool
            Pay even if the same question was answered before; otherwise that release is returned.
        wait : callable
            How to wait for so many seconds.

        Returns
        -------
        Release
            What was found.

        Raises
        ------
        BudgetError
            Your share or the total does not allow it; nothing was spent.
        InputError
            The question cannot be asked of this data set; nothing was spent.
        """
        asked = Parameters(
            q=q,
            epsilon=epsilon,
            delta=delta,
            method=method,
            guarantee=guarantee,
            dependence=dependence,
            k=k,
            cutoffs=cutoffs,
            expect=expect,
            values=values,
        )
        body = question(test, asked, columns)
        body |= {"request_id": release_id or uuid.uuid4().hex, "again": again}
        return self._answer("ask", body, wait)

    def rehearse(self, test: Test, *, q: float = 0.1, epsilon: float = 1.0, **options: Any) -> Release:
        """Ask the same of people invented from the metadata: free, and what it finds is chance."""
        delta, columns = options.pop("delta", 1e-6), options.pop("columns", None)
        asked = Parameters(q=q, epsilon=epsilon, delta=delta, **options)
        return self._answer("try", question(test, asked, columns), time.sleep)

    def plan(self, test: Test, *, q: float = 0.1, epsilon: float = 1.0, **options: Any) -> str:
        """Return, in words, what such a release would find, from public numbers alone; free."""
        delta, columns = options.pop("delta", 1e-6), options.pop("columns", None)
        asked = Parameters(q=q, epsilon=epsilon, delta=delta, **options)
        return self.outlook(question(test, asked, columns))

    def ask(self, body: Mapping[str, Any]) -> Release:
        """Ask in a plan file's words."""
        return self._answer("ask", {"request_id": uuid.uuid4().hex, **body}, time.sleep)

    def outlook(self, body: Mapping[str, object]) -> str:
        """Return, in words, what a question in a plan file's words would find; free, and nothing is read."""
        job = self._done("plan", body, time.sleep)
        return str(self.server.send("GET", f"/jobs/{job}/answer")["words"])

    def _answer(self, kind: str, body: Mapping[str, object], wait: Callable[[float], None]) -> Release:
        job = self._done(kind, body, wait)
        return Release.from_json(_patiently(lambda: self.server.fetch("GET", f"/jobs/{job}/answer"), wait))

    def _done(self, kind: str, body: Mapping[str, object], wait: Callable[[float], None]) -> str:
        """Send a question and wait until it is answered; return its job."""
        safe = "request_id" in body  # sent twice it is asked once

        def sent() -> Any:
            return self.server.send("POST", f"{self._path}/{kind}", body)

        state = _patiently(sent, wait) if safe else sent()
        job = quote(str(state["id"]), safe="")
        while state["state"] in {"working", "awaiting approval"}:
            wait(max(0.05, float(state["look_again_in"] or 1.0)))
            state = _patiently(lambda: self.server.send("GET", f"/jobs/{job}"), wait)
        if state["state"] == "rejected":
            raise ServerError(f"a custodian keeps this result back: {state['reason']}. The charge stands")
        if state["state"] != "answered":
            raise InputError(str(state["message"]))
        return job

    @property
    def _path(self) -> str:
        return f"/datasets/{quote(self.name, safe='')}"


def question(test: Test, asked: Parameters, columns: str | Sequence[str] | None) -> dict[str, Any]:
    """Return a question in a plan file's words."""
    words = {name: value for name, value in asked.to_dict().items() if value is not None}
    of = described(test)
    # Said by the data set, and the default of most tests.
    of.pop("adjacency", None)
    return {"test": of, **({} if columns is None else {"columns": plain(columns)}), **words}


def _patiently(act: Callable[[], Any], wait: Callable[[float], None]) -> Any:
    """Do something that can be done twice, again and again while the server is away."""
    until = time.monotonic() + _LOST_SECONDS
    while True:
        try:
            return act()
        except ServerError:
            if time.monotonic() > until:
                raise
            wait(1.0)


def _refusal(error: urllib.error.HTTPError) -> DiscreetError:
    """Return the server's refusal as the error it is."""
    try:
        answer = cast("dict[str, Any]", json.loads(error.read(65536)))
        words, kind = str(answer["error"]), str(answer["kind"])
    except (ValueError, KeyError, TypeError, OSError):
        words, kind = f"the server answers with status {error.code}", ""
    if kind == "budget":
        return BudgetError(words)
    if error.code == 429 or error.code >= 500:
        return ServerError(words)
    return InputError(words)


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token is for the server it was given for."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Refuse."""


_sent = urllib.request.build_opener(_SameServer).open

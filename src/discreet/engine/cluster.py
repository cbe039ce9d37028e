"""A Dask cluster: joining one, or starting one for a single job; trees of tasks; failures without data."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.engine.work import Failure, merged, worked
from discreet.errors import ClusterError, InputError, missing_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import numpy as np
    from numpy.typing import NDArray

_FAN = 8  # results merged by one task
_QUIET: dict[str, Any] = {
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.http.routes": [],
    "distributed.scheduler.http.routes": [],
}


def dask(module: str) -> Any:
    """Return a module of Dask."""
    try:
        return import_module(module)
    except ImportError:
        raise missing_extra("dask", 'engine="dask"') from None


@contextmanager
def connected(scheduler: object = None) -> Generator[Any]:
    """Yield a client: the one given, one for the address given, the current one, or of a cluster made here.

    A cluster made here is closed at the end. It has no web pages, and partial sums are not written to disk.
    """
    distributed = dask("distributed")
    if isinstance(scheduler, distributed.Client):
        yield scheduler
        return
    if scheduler is not None:
        try:
            client = distributed.Client(str(scheduler), set_as_default=False)
        except (OSError, ValueError):
            raise InputError(f"scheduler: no Dask scheduler answers at {scheduler}") from None
        with client:
            yield client
        return
    try:
        current = distributed.default_client()
    except ValueError:
        current = None
    if current is not None:
        yield current
        return
    with (
        dask("dask").config.set(_QUIET),
        distributed.LocalCluster(
            threads_per_worker=1, dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def task(name: str, function: Callable[..., Any], *arguments: object) -> Any:
    """Return a task whose key says nothing of its data and is never used twice.

    A key made from arguments would hand the noise of one release to the next.
    """
    return dask("dask").delayed(function, pure=False, traverse=False)(
        *arguments, dask_key_name=f"discreet-{name}-{uuid.uuid4().hex}"
    )


def shared(value: object) -> Any:
    """Return a value that many tasks use, sent once to each worker."""
    return dask("dask").delayed(value, name=f"discreet-shared-{uuid.uuid4().hex}", traverse=False)


def tree(nodes: Sequence[object], merge: Callable[[Sequence[Any]], Any]) -> Any:
    """Return the task that merges the results of all tasks, a few at a time."""
    while len(nodes) > 1:
        nodes = [
            task("merge", merged, merge, list(nodes[low : low + _FAN])) for low in range(0, len(nodes), _FAN)
        ]
    return nodes[0]


def run(client: Any, nodes: Sequence[Any]) -> list[Any]:
    """Start the tasks and return their futures."""
    return list(client.compute(list(nodes)))


def gathered(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Wait for results and return them; what failed is reported in words that hold no data."""
    try:
        results: list[Any] = client.gather(list(futures))
    except Exception as error:  # noqa: BLE001 - whatever it is, its text may quote the data
        raise ClusterError(
            f"the cluster could not finish ({type(error).__name__}): are its workers alive, with enough "
            "memory, and do they have the same discreet[dask] and see the same files?"
        ) from None
    for result in results:
        if isinstance(result, Failure):
            raise result.error()
    return results


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Blocks:
    """Scores that stay on the workers that made them. Private.

    Attributes
    ----------
    parts : sequence of futures
        Blocks of scores, in order.
    first : sequence of int
        The place of each block's first score.
    """

    client: Any
    parts: Sequence[Any]
    first: Sequence[int]

    def reduce(
        self, work: Callable[[NDArray[np.float64], int], Any], merge: Callable[[Sequence[Any]], Any]
    ) -> Any:
        """Return merge([work(scores, place of the first), ...]), worked where the scores are."""
        nodes = [
            task("work", worked, work, part, first)
            for part, first in zip(self.parts, self.first, strict=True)
        ]
        return gathered(self.client, run(self.client, [tree(nodes, merge)]))[0]

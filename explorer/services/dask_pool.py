"""Jobs shared out to the workers of a Dask cluster, with the promises of ``process_pool``: each has
exactly one outcome.

A worker does a job in a process of its own, so that one that hangs or kills its process costs only
itself. The jobs of a worker that is lost are given to others by the scheduler. Needs distributed,
here and there, and this program there; what is read must be within the workers' reach.
"""

from __future__ import annotations

import multiprocessing
import queue
import threading
import uuid
from collections.abc import Callable, Generator, Iterable, Sequence
from importlib import import_module
from itertools import count, islice
from typing import Any, TypeVar

from explorer.services.process_pool import JobProcess, Outcome, PoolError

Job = TypeVar("Job")
Result = TypeVar("Result")

_AT_ONCE = 2_000
"""Tasks that are with the cluster; more wait here. The scheduler gives a worker few at once, so
that a worker that is lost takes few with it."""
_TASK, _TASKS = 10, 4
"""Jobs of a task, since each task costs the scheduler up to a millisecond by Dask's documentation;
where there are fewer jobs, so few that each thread has so many tasks."""
_REACHED_S = 5
"""Seconds in which a scheduler must answer."""
_LOOK_S = 0.5
"""How long nothing may be heard before it is looked whether to go on."""


def cluster_outcomes(
    jobs: Iterable[Job],
    prepare: Callable[[], Callable[[Job], Result]],
    scheduler: str,
    limit_s: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[Outcome[Job, Result], None, None]:
    """See ``process_pool.outcomes``. ``scheduler``: its address, as ``tcp://host:8786``. Closing
    the iterator takes back what is not done. Raises PoolError."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        hint = 'pip install "session-explorer[dask]"'
        raise PoolError(f"a scheduler needs the package distributed: {hint} ({error})") from error
    try:
        client = distributed.Client(scheduler, timeout=_REACHED_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PoolError(f"the scheduler {scheduler} was not reached: {error}") from error
    run = _Run(client, prepare, limit_s)
    try:
        yield from run.outcomes(list(jobs), stopped)
    finally:
        run.end()
        client.close()


class _Run:
    """The jobs of one caller."""

    def __init__(self, client: Any, prepare: Callable[[], Any], limit_s: float | None) -> None:
        self._client, self._prepare, self._limit_s = client, prepare, limit_s
        self._name = f"session-explorer-{uuid.uuid4()}"
        self._numbers = count()
        self._sent: dict[Any, Any] = {}
        self._doubted: list[Any] = []
        """Jobs that were with several workers when these were lost. Which of them did it shows when
        each is alone with the cluster, after all others."""
        self._are_alone = False
        """Whether only these are left."""
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def outcomes(
        self, jobs: Sequence[Any], stopped: Callable[[], bool]
    ) -> Generator[Outcome[Any, Any], None, None]:
        threads = max(1, sum(self._client.nthreads().values()))
        size = max(1, min(_TASK, len(jobs) // (threads * _TASKS)))
        waiting = iter(jobs)
        while not stopped():
            while len(self._sent) < _AT_ONCE and (some := list(islice(waiting, size))):
                self._send(some)
            if not self._sent:
                if not self._doubted:
                    return
                self._are_alone = True
                self._send([self._doubted.pop()])
            try:
                future = self._done.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            yield from self._found(future, self._sent.pop(future))

    def _send(self, jobs: Sequence[Any]) -> None:
        # Keys of one name are one group, of which the scheduler gives a worker few at once.
        key = self._name, next(self._numbers)
        future = self._client.submit(_work, self._name, self._prepare, self._limit_s, jobs, key=key)
        self._await(future, jobs)

    def _await(self, future: Any, jobs: Sequence[Any]) -> None:
        self._sent[future] = jobs
        future.add_done_callback(self._done.put)

    def _found(self, future: Any, jobs: Sequence[Any]) -> Sequence[Outcome[Any, Any]]:
        if future.status == "finished":
            found: Sequence[Outcome[Any, Any]] = future.result()
            return found
        if future.status in ("lost", "pending"):
            # It was done, and its result went with its worker: the scheduler has it done again.
            self._await(future, jobs)
            return ()
        if future.status != "error":
            raise PoolError("the scheduler was lost")
        error = future.exception()
        if isinstance(error, PoolError):
            raise error
        if type(error).__name__ != "KilledWorker":
            raise PoolError(f"a worker cannot begin: {type(error).__name__}: {error}")
        if not self._are_alone:
            self._doubted += jobs
            return ()
        return [Outcome(job, None, "ended several workers") for job in jobs]

    def end(self) -> None:
        """Take back what is not done, and end the processes."""
        if self._client.status == "running":
            self._client.cancel(list(self._sent))
            self._client.run(_end, self._name, on_error="ignore")


# on a worker --------------------------------------------------------------------------------------

_processes: dict[tuple[str, int], JobProcess[Any, Any]] = {}
"""By run and thread."""


def _work(
    run: str, prepare: Callable[[], Any], limit_s: float | None, jobs: Sequence[Any]
) -> list[Outcome[Any, Any]]:
    name = run, threading.get_ident()
    if name not in _processes:
        for other in [one for one in _processes if one[1] == name[1]]:
            _processes.pop(other).close()
        # Python lets a daemonic process, as a worker is, have no children, since they could outlive
        # it. These end when it does.
        multiprocessing.current_process().daemon = False
        _processes[name] = JobProcess(prepare, limit_s)
    process = _processes[name]
    return [process.outcome(job) for job in jobs]


def _end(run: str) -> None:
    for name in [one for one in _processes if one[0] == run]:
        _processes.pop(name).terminate()

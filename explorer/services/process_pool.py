"""Jobs shared out to processes of this computer, or of the workers of a Dask cluster: each job may
fail, hang or kill its process without costing another, and has exactly one outcome.

``concurrent.futures`` gives up all jobs when one process dies, does not say which job it was, and
cannot end one that takes too long. Here a process has one job at a time, so both are known. A
worker of a cluster does a job in a process of its own, too. The jobs of a worker that is lost are
given to others by the scheduler. It needs distributed, here and there, and this program there; what
is read must be within the workers' reach.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import count, islice
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from msgspec import Struct

Job = TypeVar("Job")
Result = TypeVar("Result")

_STARTS = 3
"""Processes in a row that may die before they are ready."""
_LOOK_S = 0.2
"""How long nothing may be heard before it is looked whether to go on."""
_CONTEXT = multiprocessing.get_context("spawn")


class PoolError(Exception):
    """No process could be started; the message says why."""


class Outcome(Struct, Generic[Job, Result], frozen=True):
    """What became of one job."""

    job: Job
    result: Result | None
    failure: str = ""
    """Why there is no result, in a sentence without its stop."""


def outcomes(
    jobs: Iterable[Job],
    prepare: Callable[[], Callable[[Job], Result]],
    processes: int,
    limit_s: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[Outcome[Job, Result], None, None]:
    """The outcome of every job exactly once, as they are done. Closing the iterator ends all
    processes at once.

    ``prepare`` is called in each process and gives what does a job there; it, the jobs and the
    results are pickled. ``limit_s``: seconds that one job may take. ``stopped`` is asked several
    times a second whether to end early. Raises PoolError.
    """
    waiting = list(jobs)[::-1]
    workers: list[_Worker] = []
    lost = 0
    try:
        while not stopped() and (waiting or any(worker.has_job for worker in workers)):
            while len(workers) < min(processes, len(waiting) + sum(w.has_job for w in workers)):
                workers.append(_Worker(prepare, limit_s))
            for worker in _heard(workers, _LOOK_S):
                outcome = worker.outcome()
                if outcome is not None:
                    yield outcome
                if worker.is_ready and waiting:
                    worker.give(waiting.pop())
                elif not worker.is_ready:
                    workers.remove(worker)
                    worker.end()
                    lost = 0 if outcome is not None else lost + 1
                    if lost >= _STARTS or worker.refusal:
                        raise PoolError(worker.refusal or "its processes end before they begin")
    finally:
        for worker in workers:
            worker.end()


class JobProcess(Generic[Job, Result]):
    """A process that does one job after the other, started anew after one that it did not
    survive. Used by one thread."""

    def __init__(
        self, prepare: Callable[[], Callable[[Job], Result]], limit_s: float | None = None
    ) -> None:
        """See ``outcomes``."""
        self._prepare, self._limit_s = prepare, limit_s
        self._worker: _Worker | None = None

    def outcome(self, job: Job) -> Outcome[Job, Result]:
        """Do a job. Blocks. Raises PoolError."""
        for _ in range(_STARTS):
            worker = self._worker = self._worker or _Worker(self._prepare, self._limit_s)
            if worker.is_ready or self._begins(worker):
                worker.give(job)
                _heard([worker])
                outcome = worker.outcome()
                if not worker.is_ready:
                    self.close()
                if outcome is not None:
                    return outcome
            if worker.refusal:
                raise PoolError(worker.refusal)
            self.close()
        raise PoolError("its processes end before they begin")

    def _begins(self, worker: _Worker) -> bool:
        _heard([worker])
        worker.outcome()
        return worker.is_ready

    def terminate(self) -> None:
        """End the process soon; called on any thread. A job that is done just now fails."""
        if (worker := self._worker) is not None:
            worker.terminate()

    def close(self) -> None:
        """End the process; called on its user's thread."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None


def _heard(workers: list[_Worker], longest_s: float = float("inf")) -> list[_Worker]:
    """Wait a little for those that have something to say, or whose time is over."""
    left = min((worker.deadline for worker in workers), default=float("inf")) - time.monotonic()
    pipes = [worker.pipe for worker in workers]
    longest_s = min(longest_s, max(0.0, left))
    heard = set(wait(pipes, longest_s if longest_s < float("inf") else None))
    now = time.monotonic()
    return [one for one in workers if one.pipe in heard or one.deadline <= now]


class _Worker:
    """A process, and the job that it has."""

    def __init__(self, prepare: Callable[[], Any], limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._job: Any = None
        self.has_job = self.is_ready = False
        self.refusal = ""
        """Why it cannot do any job."""
        self.deadline = float("inf")
        """Of its job, by the monotonic clock."""
        self.pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, prepare), daemon=True)
        with _no_interrupts():
            self._process.start()
        theirs.close()

    def give(self, job: Any) -> None:
        self._job, self.has_job = job, True
        if self._limit_s is not None:
            self.deadline = time.monotonic() + self._limit_s
        try:
            self.pipe.send(job)
        except OSError:
            return  # it has died: its pipe says so next

    def outcome(self) -> Outcome[Any, Any] | None:
        """What it says of its job, or what its silence means; None where it had none."""
        try:
            if not self.pipe.poll():
                return self._failed(f"took longer than its limit of {self._limit_s:g} s")
            result, failure = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            return self._failed(f"ended its process ({_end_words(self._process.exitcode)})")
        if not self.is_ready and not self.has_job:
            self.is_ready, self.refusal = not failure, failure
            return None
        job, self.has_job, self.deadline = self._job, False, float("inf")
        return Outcome(job, result, failure)

    def _failed(self, why: str) -> Outcome[Any, Any] | None:
        """The outcome of the job of a process that ended; None where it had none."""
        had_job, self.has_job, self.is_ready = self.has_job, False, False
        return Outcome(self._job, None, why) if had_job else None

    def terminate(self) -> None:
        self._process.terminate()

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()


def _end_words(status: int | None) -> str:
    return f"signal {-status}" if status is not None and status < 0 else f"exit status {status}"


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """What is started in here does not end by Ctrl+C: who started it ends it, when what is written
    is whole."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, prepare: Callable[[], Callable[[Any], Any]]) -> None:
    """The process's main function: do jobs until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # As its own end: temporary files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        work = prepare()
    except Exception as error:  # noqa: BLE001 -- whatever it is, the other end says it
        pipe.send((None, _words(error)))
        return
    pipe.send((None, ""))
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return  # whoever started it has ended
        try:
            answer = work(job), ""
        except Exception as error:  # noqa: BLE001 -- a failed job is an outcome, with its reason
            answer = None, _words(error)
        pipe.send(answer)


def _end_with_parent() -> None:
    """End a job, too, that nobody waits for any more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


_AT_ONCE = 2_000
"""Tasks that are with the cluster; more wait here. The scheduler gives a worker few at once, so
that a worker that is lost takes few with it."""
_TASK, _TASKS = 10, 4
"""Jobs of a task, since each task costs the scheduler up to a millisecond by Dask's documentation;
where there are fewer jobs, so few that each thread has so many tasks."""
_REACHED_S = 5
"""Seconds in which a scheduler must answer."""
_CLUSTER_LOOK_S = 0.5
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
                future = self._done.get(timeout=_CLUSTER_LOOK_S)
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

"""Jobs on a pool of processes: each has exactly one outcome, whatever one of them does."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from explorer.services.process_pool import Outcome, PoolError, outcomes


def _prepare(folder: Path) -> Callable[[str], str]:
    return partial(_work, folder)


def _work(folder: Path, job: str) -> str:
    (folder / str(os.getpid())).touch()
    match job:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            time.sleep(600)
        case "fail":
            raise ValueError("no such thing")
    return job.upper()


def _refuse() -> Callable[[str], str]:
    raise OSError("the database is gone")


def _end() -> Callable[[str], str]:
    os._exit(3)


def test_a_job_that_fails_hangs_or_kills_its_process_costs_only_itself(tmp_path: Path) -> None:
    jobs = ["a", "kill", "b", "hang", "c", "fail", "d"]
    done: list[Outcome[str, str]] = list(outcomes(jobs, partial(_prepare, tmp_path), 2, 3.0))
    assert sorted(one.job for one in done) == sorted(jobs), "each exactly once"
    results = {one.job: one.result for one in done}
    assert all(results[job] == job.upper() for job in "abcd")
    failures = {one.job: one.failure for one in done if one.failure}
    assert failures == {
        "kill": "ended its process (signal 9)",
        "hang": "took longer than its limit of 3 s",
        "fail": "ValueError: no such thing",
    }


def test_all_processes_end_when_nobody_wants_more(tmp_path: Path) -> None:
    work = outcomes(["a", "hang", "hang"], partial(_prepare, tmp_path), 2)
    assert next(work).result == "A"
    work.close()
    assert not [name for name in tmp_path.iterdir() if Path(f"/proc/{name.name}").exists()]


@pytest.mark.parametrize(("prepare", "words"), [(_refuse, "database is gone"), (_end, "begin")])
def test_processes_that_cannot_begin_end_the_work_with_the_reason(
    prepare: Callable[[], Callable[[str], str]], words: str
) -> None:
    with pytest.raises(PoolError, match=words):
        list(outcomes(["a", "b"], prepare, 1))

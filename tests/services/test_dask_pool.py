"""Jobs and audits on a Dask cluster of a real scheduler and two real workers on loopback."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from explorer.services.process_pool import PoolError, cluster_outcomes
from explorer.settings.paths import database_path
from explorer.store import Store
from tests.audit.reported import entries
from tests.commands.processes import called, start, until
from tests.commands.test_audit_all import rows
from tests.services.dask_cluster import DaskCluster
from tests.store.sources import HEADER, FileSource, write_file

pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job is given up when the first worker was lost with it."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")


def _cluster(folder: Path) -> Iterator[DaskCluster]:
    made = DaskCluster(folder)
    try:
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    yield from _cluster(tmp_path_factory.mktemp("cluster"))


@pytest.fixture
def cluster(scheduler: DaskCluster) -> Iterator[DaskCluster]:
    """A scheduler with the workers of this test alone."""
    try:
        yield scheduler
    finally:
        scheduler.end_workers()


@pytest.fixture
def impatient_cluster(impatient: None, tmp_path: Path) -> Iterator[DaskCluster]:
    """With a scheduler of its own, which reads its rules when it starts."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    yield from _cluster(folder)


def _prepare(folder: Path) -> Callable[[str], str]:
    return partial(_work, folder)


def _work(folder: Path, job: str) -> str:
    match job.rstrip("0123456789"):
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "worker":
            with (folder / "pids").open("a") as file:
                file.write(f"{os.getpid()}\n")
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
        case "hang":
            time.sleep(600)
        case "fail":
            raise ValueError("no such thing")
        case "slow":
            time.sleep(0.05)
    with (folder / job).open("a") as file:
        file.write(f"{os.getpid()}\n")
    return job.upper()


def _refuse() -> Callable[[str], str]:
    raise OSError("the database is gone")


def test_a_job_that_fails_hangs_or_kills_its_process_costs_only_itself(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    """On workers as they are by default, which are watched and daemonic."""
    cluster.worker()
    jobs = ["a", "kill1", "b", "hang", "c", "fail", "kill2", "d"]
    done = list(cluster_outcomes(jobs, partial(_prepare, tmp_path), cluster.address, 3.0))
    assert sorted(one.job for one in done) == sorted(jobs), "each exactly once"
    assert {one.job: one.result for one in done if one.result} == dict(
        zip("abcd", "ABCD", strict=True)
    )
    assert {one.job: one.failure for one in done if one.failure} == {
        "kill1": "ended its process (signal 9)",
        "kill2": "ended its process (signal 9)",
        "hang": "took longer than its limit of 3 s",
        "fail": "ValueError: no such thing",
    }


def test_the_jobs_of_a_worker_that_is_killed_are_done_by_the_other(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    killed = cluster.worker("--no-nanny")
    cluster.worker("--no-nanny")
    jobs = [f"slow{number}" for number in range(80)]
    done = []
    for one in cluster_outcomes(jobs, partial(_prepare, tmp_path), cluster.address):
        done.append(one)
        if len(done) == 20:
            killed.kill()
    assert sorted(one.job for one in done) == sorted(jobs), "each exactly once"
    assert all(one.result == one.job.upper() for one in done)
    processes = {(tmp_path / job).read_text().splitlines()[0] for job in jobs}
    assert len(processes) == 2, "both workers had jobs"


def test_a_job_with_which_workers_are_lost_is_named_and_the_others_of_its_task_are_done(
    impatient_cluster: DaskCluster, tmp_path: Path
) -> None:
    impatient_cluster.worker()
    jobs = [f"a{number}" for number in range(20)]
    jobs[7] = "worker"
    done = list(cluster_outcomes(jobs, partial(_prepare, tmp_path), impatient_cluster.address))
    assert sorted(one.job for one in done) == sorted(jobs), "each exactly once"
    (lost,) = [one for one in done if one.failure]
    assert (lost.job, lost.failure) == ("worker", "ended several workers")
    pids = [int(line) for line in (tmp_path / "pids").read_text().splitlines()]
    assert len(pids) >= 2, "with others, and alone"
    until(lambda: not any(map(psutil.pid_exists, pids)), "the end of what nobody waits for")


def test_processes_that_cannot_begin_end_the_work_with_the_reason(cluster: DaskCluster) -> None:
    cluster.worker("--no-nanny")
    with pytest.raises(PoolError, match="database is gone"):
        list(cluster_outcomes(["a", "b"], _refuse, cluster.address))


def test_a_scheduler_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PoolError, match=r"tcp://127.0.0.1:1 was not reached"):
        list(cluster_outcomes(["a"], partial(_prepare, tmp_path), "tcp://127.0.0.1:1"))


def stored(folder: Path, count: int) -> None:
    with Store.open(database_path()) as store:
        for number in range(1, count + 1):
            path = folder / f"s{number}.jsonl"
            header = HEADER | {"id": f"s{number}"}
            store.import_session(FileSource(write_file(path, entries(), header)))


def test_a_library_is_audited_once_though_a_worker_is_killed(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    stored(tmp_path, 60)
    killed = cluster.worker("--no-nanny")
    cluster.worker()
    out = tmp_path / "out"
    words = ("audit", "--all", "--out", str(out), "--scheduler", cluster.address)
    process = start(*words)
    assert process.stderr is not None and "of 60 sessions" in process.stderr.readline()
    killed.kill()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = rows(out)
    assert sorted(one["session"] for one in found) == list(range(1, 61)), "each exactly once"
    assert {one["status"] for one in found} == {"audited"}
    status, text, _ = called("audit", "--all", "--out", str(out), "--processes", "1")
    assert status == 0 and "60 of these sessions had been audited before" in text


def test_ctrl_c_takes_back_what_is_not_done(cluster: DaskCluster, tmp_path: Path) -> None:
    stored(tmp_path, 200)
    cluster.worker("--no-nanny")
    out = tmp_path / "out"
    process = start("audit", "--all", "--out", str(out), "--scheduler", cluster.address)
    assert process.stderr is not None and "of 200 sessions" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "what was audited is kept" in err
    assert "Traceback" not in err
    assert 0 < len(rows(out)) < 200

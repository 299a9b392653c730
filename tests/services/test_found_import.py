"""What an import of many sessions counts and reports, beside a workbench that only pretends to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from explorer.formats import FormatError, ReadCancelled
from explorer.formats.adapter import FoundSession
from explorer.services.discovery import FoundImport, ImportOutcome, ImportState, ListedSession
from explorer.store import StoreError
from explorer.store.rows import ImportReport
from explorer.workbench import Workbench

Given = ImportReport | BaseException


class Bench:
    """Gives reports and errors by the name of a file; asks for progress at half of each."""

    def __init__(self, given: dict[str, Given]) -> None:
        self.given = given
        self.asked: list[tuple[str, str, bool]] = []

    def import_blocking(
        self, path: Path, progress: Callable[[int, int], None], cancelled: Callable[[], bool],
        session_id: str, *, alone: bool,
    ) -> ImportReport:  # fmt: skip
        self.asked.append((path.name, session_id, alone))
        progress(1, 2)
        progress(0, 0)
        if cancelled():
            raise ReadCancelled
        given = self.given[path.name]
        if isinstance(given, BaseException):
            raise given
        return given


def listed(name: str, size: int, state: Any = "new", form: Any = "pi") -> ListedSession:
    return ListedSession(FoundSession(Path("/s") / name, form, "", 0, 0, None, "id"), state, size)


def report(created: bool, added: int, *, unchanged: bool = False) -> ImportReport:
    return ImportReport(1, "", created, added, unchanged=unchanged)


SESSIONS = [
    listed("new", 10), listed("stored", 20, "stored"), listed("more", 30, "changed", "gemini"),
    listed("same", 40, "changed"), listed("gone", 50), listed("odd", 60), listed("strange", 70),
]  # fmt: skip
GIVEN: dict[str, Given] = {
    "new": report(True, 5), "more": report(False, 3), "same": report(False, 0, unchanged=True),
    "gone": FileNotFoundError(2, "No such file"), "odd": FormatError("odd", 3, "no session"),
    "strange": ZeroDivisionError("by nothing"),
}  # fmt: skip


def test_what_became_of_each_session_is_counted() -> None:
    bench, seen, imported = Bench(GIVEN), list[ImportState](), list[ImportReport]()
    work = FoundImport(cast(Workbench, bench), SESSIONS, seen.append, imported.append)
    assert work.run() == ImportOutcome(
        new=1, updated=1, unchanged=2, entries=8, left=0,
        failed=[("/s/gone", "No such file"), ("/s/odd", "odd, line 3: no session"),
                ("/s/strange", "ZeroDivisionError: by nothing")],
    )  # fmt: skip
    assert imported == [GIVEN["new"], GIVEN["more"]]
    assert bench.asked == [
        ("new", "id", True), ("more", "id", False), ("same", "id", True), ("gone", "id", True),
        ("odd", "id", True), ("strange", "id", True),
    ]  # fmt: skip
    assert [(one.sessions_done, one.bytes_done, Path(one.name).name) for one in seen] == [
        (0, 0, "new"), (0, 5, "new"), (0, 0, "new"),
        (2, 30, "more"), (2, 45, "more"), (2, 30, "more"),
        (3, 60, "same"), (3, 80, "same"), (3, 60, "same"),
        (4, 100, "gone"), (4, 125, "gone"), (4, 100, "gone"),
        (5, 150, "odd"), (5, 180, "odd"), (5, 150, "odd"),
        (6, 210, "strange"), (6, 245, "strange"), (6, 210, "strange"),
        (7, 280, ""),
    ]  # fmt: skip
    assert {(one.sessions, one.size) for one in seen} == {(7, 280)}


@pytest.mark.parametrize(("at", "new", "left"), [(0, 0, 7), (2, 1, 5), (3, 1, 4)])
def test_a_cancelled_import_says_how_many_are_left(at: int, new: int, left: int) -> None:
    def progress(state: ImportState) -> None:
        if state.sessions_done == at:
            work.cancel()

    work = FoundImport(cast(Workbench, Bench(GIVEN)), SESSIONS, progress)
    outcome = work.run()
    assert (outcome.new, outcome.left, outcome.failed) == (new, left, [])


def test_one_that_is_cancelled_before_it_begins_imports_nothing() -> None:
    bench = Bench(GIVEN)
    work = FoundImport(cast(Workbench, bench), SESSIONS)
    work.pause()
    work.cancel()
    assert work.run() == ImportOutcome(left=7) and bench.asked == []


@pytest.mark.parametrize("error", [StoreError("here", "full"), MemoryError()])
def test_what_would_meet_every_session_ends_the_import(error: Exception) -> None:
    work = FoundImport(cast(Workbench, Bench({"new": error})), SESSIONS)
    with pytest.raises(type(error)):
        work.run()


def test_nobody_has_to_listen() -> None:
    quiet = SimpleNamespace(import_blocking=Bench(GIVEN).import_blocking)
    assert FoundImport(cast(Workbench, quiet), SESSIONS[:1]).run().new == 1

"""Finding the sessions of all agents, and importing them one by one."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from explorer.formats import registry
from explorer.formats.adapter import FormatError, FoundSession, ReadCancelled
from explorer.formats.gemini.adapter import GEMINI
from explorer.services import discovery
from explorer.services.discovery import (
    FoundImport,
    ImportOutcome,
    ImportState,
    ListedSession,
    Places,
    Scan,
    agents_named,
    listing,
    places_of,
    scan,
)
from explorer.session.records import SessionHeader
from explorer.store import Store, StoreError
from explorer.store.rows import ImportReport, SourceFile
from explorer.workbench import Workbench
from tests import homes
from tests.formats import opencode_store as opencode
from tests.formats.claude_lines import Lines
from tests.formats.files import header, user


def look(bench: Workbench, home: Path, *added: Path, **environment: str) -> Scan:
    return scan(bench.store, Places(home, environment, added))


def states(found: Scan) -> dict[str, str]:
    return {one.found.session_id or one.found.path.stem: one.state for one in found.sessions}


def import_all(bench: Workbench, found: Scan) -> FoundImport:
    work = FoundImport(bench, found.sessions)
    work.run()
    return work


def test_sessions_are_grouped_by_agent_and_project(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    found = look(bench, home)
    groups = [(one.agent, one.project, len(one.sessions), one.new) for one in found.groups()]
    assert sorted(groups) == [
        ("Claude Code", "quay", 1, 1), ("Codex CLI", "pier", 1, 1), ("opencode", "lab", 2, 2),
        ("pi", "quay", 2, 2),
    ]  # fmt: skip
    times = [one.found.modified_ms for one in found.sessions]
    assert times == sorted(times, reverse=True), "the newest first"
    files = {one.found.path for one in found.sessions}
    whole = sum(path.stat().st_size for path in files)
    assert 0 <= whole - found.size < len(found.sessions), "a file of two sessions counts once"
    assert not found.failures


def test_what_is_stored_and_what_has_changed_since(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    assert set(states(look(bench, home)).values()) == {"new"}
    import_all(bench, look(bench, home))
    assert len(bench.sessions()) == 6
    assert set(states(look(bench, home)).values()) == {"stored"}
    homes.pi_session(home, "quay-2", "/home/dev/quay", entries=4, age=-60)
    database = home / ".local/share/opencode/opencode.db"
    with sqlite3.connect(database) as db:
        later = opencode.BEGIN + 10**12
        db.execute("UPDATE session SET time_updated = ? WHERE id = 'ses-b'", (later,))
    db.close()
    now = states(look(bench, home))
    assert {name for name, state in now.items() if state == "changed"} == {"quay-2", "ses-b"}
    bench.store.arrange([row.key for row in bench.sessions()], "trashed_ms", 5.0).result()
    assert states(look(bench, home)) == now, "what is in the trash is not new"


def test_only_what_is_new_or_changed_is_opened(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    import_all(bench, look(bench, home))
    new = homes.pi_session(home, "quay-3", "/home/dev/quay")
    found = look(bench, home)
    with homes.reads_below(home) as read:
        outcome = FoundImport(bench, found.sessions).run()
    assert (outcome.new, outcome.unchanged, outcome.left) == (1, 6, 0)
    assert set(read) == {str(new)}


def test_sessions_keep_their_agents_titles_and_ids(bench: Workbench, tmp_path: Path) -> None:
    homes.opencode_sessions(tmp_path, "ses-a", "ses-b")
    import_all(bench, look(bench, tmp_path))
    assert sorted(row.title for row in bench.sessions()) == ["About ses-a", "About ses-b"]
    assert sorted(row.session_id for row in bench.sessions()) == ["ses-a", "ses-b"]


def test_found_sessions_are_called_as_in_the_library(bench: Workbench, tmp_path: Path) -> None:
    """Before they are imported by their first message, in which a secret is masked."""
    key = "ghp_" + "x1Y2z3W4v5U6" * 3
    folder = tmp_path / "places"
    first = [
        user("a", None, "/model"), user("c", "a", '{"rows": [1]}'),
        user("b", "c", f"Use {key} for staging"),
    ]  # fmt: skip
    homes.write_lines(folder / "said.jsonl", [header(id="said"), *first])
    homes.write_lines(folder / "silent.jsonl", [header(id="silent"), first[0]])
    command = "<command-name>/review</command-name><command-args>src/a.py</command-args>"
    Lines().user("a", command).user("b", "y").write(folder / "asked.jsonl")
    home = homes.usual_home(tmp_path / "home")
    named = {one.found.path.stem: one.title for one in look(bench, home, folder).sessions}
    assert named["said"].startswith("Use ") and named["said"].endswith("for staging")
    assert key not in named["said"] and not named["silent"]
    assert named["asked"] == "/review src/a.py"
    import_all(bench, look(bench, home, folder))
    rows = {row.key: row for row in bench.sessions()}
    assert {row.title for row in rows.values() if "said" in row.path} == {named["said"]}
    found = look(bench, home, folder).sessions
    assert sorted(one.title for one in found) == sorted(row.title for row in rows.values())
    said = next(key for key, row in rows.items() if "said" in row.path)
    asyncio.run(bench.open_blocking(said).edits.rename("The staging keys"))
    bench.store.arrange([said], "archived_ms", 5.0).result()
    named = {one.found.path.stem: one.title for one in look(bench, home, folder).sessions}
    assert named["said"] == "The staging keys", "in the archive too"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ZeroDivisionError("a file that nobody expected"), "a file that nobody expected"),
        (PermissionError(13, "Permission denied", "/x"), "Permission denied"),
        (OSError("odd"), "odd"),
        (KeyError(), "KeyError"),
    ],
)
def test_one_agents_failing_search_loses_no_other(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    home = homes.pi_session(tmp_path / "home", "quay-1", "/w").parents[4]

    class Failing:
        name, title = GEMINI.name, GEMINI.title

        def find(self, *_: object) -> None:
            raise error

    monkeypatch.setitem(registry.ADAPTERS, "gemini", Failing())
    found = look(bench, home)
    assert len(found.sessions) == 1
    assert found.failures == ((GEMINI.title, reason),)


def test_homes_that_were_moved_by_variables_are_found(bench: Workbench, tmp_path: Path) -> None:
    homes.claude_session(tmp_path / "a", 1, "/w", root="claude")
    homes.codex_session(tmp_path / "a", 2, "/w", root="codex")
    homes.opencode_sessions(tmp_path / "b", "ses-a")
    home = tmp_path / "home"
    home.mkdir()
    assert not look(bench, home).sessions
    moved = look(
        bench, home, CLAUDE_CONFIG_DIR=str(tmp_path / "a/claude"),
        CODEX_HOME=str(tmp_path / "a/codex"), XDG_DATA_HOME=str(tmp_path / "b/.local/share"),
    )  # fmt: skip
    agents = sorted(one.found.format for one in moved.sessions)
    assert agents == ["claude-code", "codex", "opencode"]


def test_places_that_were_added_are_searched_too(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    backup = homes.usual_home(tmp_path / "backup")
    loose = homes.pi_session(tmp_path / "other", "loose", "/home/dev/quay")
    (loose.parent / "package.json").write_text('{"name": "no session"}')
    os.mkfifo(loose.parent / "pipe.jsonl")
    found = look(bench, home, backup, loose.parents[1], tmp_path / "gone")
    assert len(found.sessions) == 13
    assert [one.where for one in found.failures] == [str(tmp_path / "gone")]
    work = FoundImport(bench, [one for one in found.sessions if one.found.path == loose])
    assert work.run().new == 1
    assert [row.path for row in bench.sessions()] == [str(loose)]


def test_other_files_beside_the_sessions_of_a_copied_home_are_found(
    bench: Workbench, tmp_path: Path
) -> None:
    place = tmp_path / "backup"
    known, others = [], []
    for number in range(3):  # in turn, since a folder may list the oldest or the newest first
        known.append(homes.codex_session(place, number, "/home/dev/pier"))
        others.append(known[0].with_name(f"talk-{number}.md"))
        others[-1].write_text("# aider chat started at 2026-01-05 09:00:00\n\n#### Hello\n")
    (place / ".aider.chat.history.md").write_bytes(b"")
    found = look(bench, tmp_path / "none", place)
    assert sorted(one.found.path for one in found.sessions) == sorted([*known, *others])


def test_agents_are_left_out_unread(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    with homes.reads_below(home) as read:
        found = scan(bench.store, Places(home, {}, (), agents_named(["CODEX cli"])))
    assert [one.agent for one in found.sessions] == ["Codex CLI"]
    assert read and all(".codex" in path for path in read)
    nobody = places_of({"sessions.agents": ["nobody"], "sessions.places": ["~/x"]})
    assert nobody.agents == {"nobody"} and nobody.added == (Path.home() / "x",)
    assert not scan(bench.store, Places(home, {}, (), nobody.agents)).sessions


def test_a_search_reads_only_the_agents_places_and_changes_nothing(
    bench: Workbench, tmp_path: Path
) -> None:
    home = homes.usual_home(tmp_path / "home")
    for name in ("letter.md", "Documents/a.jsonl", "src/.pi/b.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("{}")
    before = {path: path.stat() for path in sorted(home.rglob("*"))}
    with homes.reads_below(home) as read:
        look(bench, home)
    assert read
    mine = ("letter.md", "Documents", "src", "../")
    assert [path for path in read if path.partition(f"{home}/")[2].startswith(mine)] == []
    after = {path: path.stat() for path in sorted(home.rglob("*"))}
    assert {p: (s.st_size, s.st_mtime_ns) for p, s in before.items()} == {
        p: (s.st_size, s.st_mtime_ns) for p, s in after.items()
    }


def test_folders_that_cannot_be_read_are_passed_over(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    shutil.rmtree(home / ".codex/sessions")
    (home / ".codex/sessions").symlink_to("sessions")
    database = home / ".local/share/opencode/opencode.db"
    database.unlink()
    database.mkdir()
    (home / ".pi/agent/sessions/--home-dev-quay--/quay-1.jsonl").chmod(0)
    could_read = os.access(home / ".pi/agent/sessions/--home-dev-quay--/quay-1.jsonl", os.R_OK)
    found = look(bench, home)
    assert len(found.sessions) == (3 if could_read else 2), "root may read everything"
    assert not found.failures


def test_a_damaged_file_is_named_and_skipped(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    found = look(bench, home)
    gone = home / ".pi/agent/sessions/--home-dev-quay--/quay-1.jsonl"
    gone.unlink()
    outcome = FoundImport(bench, found.sessions).run()
    assert [path for path, _ in outcome.failed] == [str(gone)]
    assert (outcome.new, outcome.left, len(bench.sessions())) == (5, 0, 5)


def test_an_import_is_cancelled_and_goes_on_where_it_was(bench: Workbench, tmp_path: Path) -> None:
    home = homes.usual_home(tmp_path / "home")
    found = look(bench, home)
    seen: list[ImportState] = []

    def progress(state: ImportState) -> None:
        seen.append(state)
        if state.sessions_done == 2:
            work.cancel()

    work = FoundImport(bench, found.sessions, progress)
    outcome = work.run()
    assert (outcome.new, outcome.left, len(bench.sessions())) == (2, 4, 2)
    assert seen[-1].sessions == 6 and seen[-1].size == found.size
    newest = {one.found.session_id or one.found.path.stem for one in found.sessions[:2]}
    again = look(bench, home)
    assert {name for name, state in states(again).items() if state == "stored"} == newest
    assert FoundImport(bench, again.sessions).run().new == 4


def test_a_paused_import_waits(bench: Workbench, tmp_path: Path) -> None:
    found = look(bench, homes.usual_home(tmp_path / "home"))
    reached = threading.Event()

    def progress(state: ImportState) -> None:
        if state.sessions_done == 1:
            work.pause()
            reached.set()

    work = FoundImport(bench, found.sessions, progress)
    thread = threading.Thread(target=work.run)
    thread.start()
    assert reached.wait(60)
    thread.join(0.3)
    assert thread.is_alive() and len(bench.sessions()) <= 2
    work.resume()
    thread.join(60)
    assert len(bench.sessions()) == 6


def test_sessions_of_one_id_at_two_places_are_two(bench: Workbench, tmp_path: Path) -> None:
    """As when a home was copied and both went on."""
    one = homes.pi_session(tmp_path / "a", "quay-1", "/home/dev/quay")
    other = homes.pi_session(tmp_path / "b", "quay-1", "/home/dev/quay")
    homes.write_lines(other, [homes.header(id="quay-1", cwd="/w"), user("e0", None)])
    found = look(bench, tmp_path / "a", tmp_path / "b")
    assert FoundImport(bench, found.sessions).run().new == 2
    assert {row.path for row in bench.sessions()} == {str(one), str(other)}


# without files ------------------------------------------------------------------------------------


def seen(name: str = "a", size: int = 100, ms: float = 50.0, session: str = "", *,
         title: str = "", head: str | None = None, form: Any = "pi") -> FoundSession:  # fmt: skip
    header = None
    if head is not None or title:
        header = SessionHeader(head or "", form, 3, "/w/quay", 0.0, "", "", title)
    return FoundSession(Path("/s") / name, form, "/w/quay", size, ms, header, session)


def library(*sources: SourceFile, **titles: str) -> Store:
    rows = [SimpleNamespace(key=int(key[1:]), title=title) for key, title in titles.items()]
    return cast(Store, SimpleNamespace(
        source_files=lambda: sources, sessions=lambda all_places: rows
    ))  # fmt: skip


def kept(key: int, path: str = "/s/a", size: int = 100, ms: float = 50.0, name: str = "") -> Any:
    return SourceFile(path, size, int(ms * 1e6), key, name)


@pytest.mark.parametrize(
    ("found", "sources", "state"),
    [
        (seen(), [], "new"),
        (seen(), [kept(1, "/s/b")], "new"),
        (seen(), [kept(1)], "stored"),
        (seen(ms=50.01), [kept(1)], "stored"),
        (seen(ms=50.02), [kept(1)], "changed"),
        (seen(ms=49.0), [kept(1)], "stored"),
        (seen(size=101), [kept(1)], "changed"),
        (seen(size=99), [kept(1)], "stored"),
        (seen(session="x"), [kept(1, name="x")], "stored"),
        (seen(session="x", size=101), [kept(1, name="x")], "stored"),
        (seen(session="x", ms=60.0), [kept(1, name="x")], "changed"),
        (seen(session="y"), [kept(1, name="x")], "new"),
        (seen(head="y", ms=60.0), [kept(1, name="x"), kept(2, ms=70.0, name="y")], "stored"),
        (seen(head="z", ms=60.0), [kept(1, ms=70.0, name="x"), kept(2, name="y")], "stored"),
    ],
)
def test_a_file_that_was_written_to_since_has_changed(
    found: FoundSession, sources: list[SourceFile], state: str
) -> None:
    assert [one.state for one in listing(library(*sources), [found]).sessions] == [state]


def test_found_sessions_share_the_size_of_their_file_and_are_the_newest_first() -> None:
    found = [seen(session="x", size=101), seen(session="y", ms=70.0, size=101), seen("b", ms=60.0)]
    listed = listing(library(), found).sessions
    assert [(one.found.session_id, one.size) for one in listed] == [("y", 50), ("", 100), ("x", 50)]
    assert listing(library(), found).size == 200


def test_a_title_is_the_librarys_or_what_its_agent_calls_it() -> None:
    titled = [seen(title="Its own"), seen("b", ms=40.0, title="Of b")]
    listed = listing(library(kept(1), k1="Mine"), titled).sessions
    assert [one.title for one in listed] == ["Mine", "Of b"]
    assert listing(library(kept(1), k1=""), titled[:1]).sessions[0].title == "Its own"
    assert listing(library(), [seen("gone")]).sessions[0].title == ""


def test_groups_are_in_the_order_of_the_agents_the_newest_projects_first() -> None:
    def one(form: Any, cwd: str, state: Any, ms: float) -> ListedSession:
        return ListedSession(FoundSession(Path("/s"), form, cwd, 0, ms, None), state, 10)

    scan_ = Scan((
        one("codex", "/w/b", "new", 9.0), one("codex", "/w/a", "changed", 8.0),
        one("claude-code", "/w/a", "stored", 7.0), one("codex", "/v/b", "changed", 6.0),
    ))  # fmt: skip
    assert [
        (one.agent, one.project, one.sessions, one.size, one.new, one.changed, one.modified_ms)
        for one in scan_.groups()
    ] == [
        ("Claude Code", "a", [2], 10, 0, 0, 7.0),
        ("Codex CLI", "b", [0, 3], 20, 1, 1, 9.0),
        ("Codex CLI", "a", [1], 10, 0, 1, 8.0),
    ]  # fmt: skip


def test_so_many_files_are_looked_at_in_a_place(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "_MOST_FILES", 2)
    place = tmp_path / "place"
    for number in range(2):
        homes.write_lines(place / f"{number}.jsonl", [header(id=str(number)), user("a", None)])
        (place / f"{number}.txt").write_text("no session file")
    home = tmp_path / "home"
    home.mkdir()
    found = look(bench, home, place)
    assert len(found.sessions) == 2 and not found.failures
    homes.write_lines(place / "3.jsonl", [header(id="3"), user("a", None)])
    found = look(bench, home, place)
    assert len(found.sessions) == 2
    assert found.failures == ((str(place), "only the first 2 files were looked at"),)


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

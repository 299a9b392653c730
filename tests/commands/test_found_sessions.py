"""library scan, library import, and list with its filters."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.settings.paths import database_path
from explorer.store import Store
from tests import homes
from tests.commands.processes import called, document, start, until
from tests.formats.claude_lines import SESSION, USAGE, Lines
from tests.store.test_totals import COMPACTION, day, reply


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with six sessions of four agents."""
    made = homes.usual_home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("XDG_DATA_HOME")
    yield made


def test_scan_says_what_there_is_and_imports_nothing(home: Path) -> None:
    found = document("library", "scan")
    assert (found["sessions"], found["failures"]) == (6, [])
    groups = {(one["agent"], one["project"]): one for one in found["groups"]}
    assert groups["pi", "quay"]["sessions"] == groups["pi", "quay"]["new"] == 2
    assert sum(one["bytes"] for one in found["groups"]) == found["bytes"]
    assert document("list") == []
    _, out, _ = called("library", "scan", "--agent", "claude code")
    assert "Claude Code" in out and "opencode" not in out
    assert "1 sessions" in out and "1 to import" in out


def test_an_agent_that_there_is_not_is_refused(home: Path) -> None:
    status, _, err = called("library", "scan", "--agent", "nobody")
    assert status == 2 and "'nobody' is no agent" in err and "Codex CLI" in err


def test_import_takes_all_that_is_new_and_says_how_far_it_is(home: Path) -> None:
    status, out, err = called("library", "import")
    assert status == 0
    assert out.startswith("6 sessions imported, 0 updated, 0 up to date already")
    assert "3 of 6 sessions" in err and "6 of 6 sessions" in err
    assert document("library", "import")["unchanged"] == 6
    assert sorted(row["agent"] for row in document("list")) == [
        "Claude Code", "Codex CLI", "opencode", "opencode", "pi", "pi",
    ]  # fmt: skip


def test_a_file_that_cannot_be_imported_is_named_and_the_others_are_there(home: Path) -> None:
    bad = homes.write_lines(home / ".claude/projects/-w/bad.jsonl", [{"type": "user"}])
    bad.write_bytes(b"\x00" * 100)
    status, out, err = called("library", "import")
    assert status == 1 and str(bad) in err
    assert out.startswith("6 sessions imported")


def test_the_settings_name_more_places_and_leave_agents_out(home: Path, tmp_path: Path) -> None:
    homes.pi_session(tmp_path / "backup", "old", "/home/dev/old")
    assert called("settings", "set", "sessions.places", str(tmp_path / "backup"))[0] == 0
    assert called("settings", "set", "sessions.agents", "pi")[0] == 0
    projects = {one["project"] for one in document("library", "scan")["groups"]}
    assert projects == {"quay", "old"}
    assert document("library", "scan", "--agent", "codex")["sessions"] == 1


def test_ctrl_c_keeps_what_is_done_and_the_next_run_goes_on(home: Path) -> None:
    for at in range(300):
        homes.pi_session(home, f"more-{at}", "/home/dev/more", entries=20)
    process = start("library", "import")

    def some() -> bool:
        if not database_path().exists():
            return False
        with Store.open(database_path()) as store:
            return len(store.sessions()) >= 5

    until(some, "the first sessions")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "sessions are left for the next time" in err
    done = len(document("list"))
    assert 5 <= done < 306 and out.startswith(f"{done:,} sessions imported")
    again = document("library", "import")
    assert (again["imported"], again["unchanged"]) == (306 - done, done)


def priced(home: Path, name: str, cwd: str, model: str, cost: float, month: int) -> None:
    """A session with one reply, in a month of 2026."""
    lines: list[Any] = [
        {"type": "session", "version": 3, "id": name, "timestamp": day(1), "cwd": cwd},
        reply(0, f"2026-{month:02}-05T09:00:00.000Z", model, cost, None),
    ]
    homes.write_lines(home / f".pi/agent/sessions/--x--/{name}.jsonl", lines)


def test_list_shows_what_was_recorded_and_marks_what_was_not(home: Path) -> None:
    priced(home, "dear", "/home/dev/pier", "large", 2.5, 3)
    priced(home, "cheap", "/home/dev/quay", "small", 0.25, 6)
    called("library", "import")
    rows = {row["id"]: row for row in document("list")}
    assert len(rows) == 8
    dear, bare = rows["dear"], rows["quay-1"]
    assert (dear["agent"], dear["model"], dear["cost"]) == ("pi", "p/large", 2.5)
    assert dear["tokens"] > 0 and dear["branches"] == 1
    assert (bare["model"], bare["tokens"], bare["cost"]) == (None, None, None)
    _, out, _ = called("list", "--project", "QUAY", "--agent", "PI")
    [line] = [one for one in out.splitlines() if "small" in one]
    assert "$0.25" in line and "p/small" in line
    assert "not recorded" in next(one for one in out.splitlines() if "text 0" in one)


def test_list_prices_a_cache_of_an_hour_and_counts_no_undone_compaction(home: Path) -> None:
    usage = {**dict.fromkeys(USAGE, 0), "cache_creation_input_tokens": 1_000_000}
    usage |= {"cache_creation": {"ephemeral_1h_input_tokens": 1_000_000}}
    lines = Lines().user("u1", "hi")
    lines.reply("a1", "msg_1", "Hello.", model="claude-opus-4-5", usage=usage)
    lines.write(home / f".claude/projects/-tide/{SESSION}.jsonl")
    undone: list[Any] = [
        {"type": "session", "version": 3, "id": "undone", "timestamp": day(1), "cwd": "/w"},
        reply(0, day(1), "m", 1.0, None), COMPACTION, reply(1, day(1), "m", 1.0, 0),
    ]  # fmt: skip
    homes.write_lines(home / ".pi/agent/sessions/--x--/undone.jsonl", undone)
    called("library", "import")
    rows = {row["id"]: row for row in document("list")}
    assert rows[SESSION]["cost"] == pytest.approx(10.0), "twice the 5 dollars of input"
    assert rows[SESSION]["cost_by_listed_prices"] is True
    assert (rows["undone"]["branches"], rows["undone"]["compactions"]) == (1, 0)
    _, out, _ = called("list", "--agent", "Claude Code")
    assert "≈$10.00" in next(one for one in out.splitlines() if "claude-opus-4-5" in one)


def test_without_a_price_of_an_hour_a_cost_is_a_lower_bound(home: Path) -> None:
    usage = {**dict.fromkeys(USAGE, 0), "cache_creation_input_tokens": 1_000_000}
    usage |= {"cache_creation": {"ephemeral_1h_input_tokens": 1_000_000}}
    lines = Lines().user("u1", "hi").reply("a1", "msg_1", "Hello.", model="tide-9", usage=usage)
    lines.write(home / f".claude/projects/-tide/{SESSION}.jsonl")
    called("library", "import")

    def cost_with(*figures: str) -> str:
        called("models", "set", "anthropic/tide-9", *figures)
        _, out, _ = called("list", "--agent", "Claude Code", "--model", "tide-9")
        return next(word for word in out.split() if "$" in word)

    prices = ("--input-price", "1e-6", "--output-price", "1e-6", "--cache-write-price", "1.5e-6")
    assert cost_with(*prices) == "≥$1.50"
    assert cost_with("--cache-write-1h-price", "3e-6") == "≈$3.00"


def test_list_filters(home: Path) -> None:
    priced(home, "dear", "/home/dev/pier", "large", 2.5, 3)
    priced(home, "cheap", "/home/dev/quay", "small", 0.25, 6)
    called("library", "import")

    def ids(*words: str) -> set[str]:
        return {row["id"] for row in document("list", *words)}

    assert ids("--model", "LARGE") == {"dear"}
    assert ids("--model", "large", "--model", "small") == {"dear", "cheap"}
    with Store.open(database_path()) as store:
        dear = next(row.key for row in store.sessions() if row.session_id == "dear")
        store.arrange([dear], "labels", "to do").result()
    assert ids("--label", "To do") == {"dear"} and ids("--label", "nothing") == set()
    assert document("list", "--label", "to do")[0]["labels"] == ["to do"]
    assert "[to do]" in called("list")[1]
    assert ids("--agent", "Opencode") == ids("--agent", "opencode") == {"ses-a", "ses-b"}
    assert ids("--project", "pier", "--agent", "pi") == {"dear"}
    assert "dear" not in ids("--since", "2026-06-01") and "cheap" in ids("--since", "2026-06-01")
    assert ids("--compacted") == ids("--agent", "nobody") == ids("--project", "nothing") == set()
    assert "No stored session is let through" in called("list", "--compacted")[1]
    assert called("list", "--since", "June")[0] == 2


def test_nothing_to_find_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME")
    assert "No session was found" in called("library", "scan")[1]
    assert "session-explorer library import" in called("list")[1]

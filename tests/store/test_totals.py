"""What sessions took is summed up in the background, by day and model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from explorer.formats.registry import open_source
from explorer.session.tree import SessionTree
from explorer.session.usage_sums import UsageSum, total_of
from explorer.store import Store
from explorer.store.database import connect_reader
from explorer.store.totals import STEP, left_to_sum
from tests.formats.claude_lines import SESSION, USAGE, Lines
from tests.formats.codex_rollouts import Rollout
from tests.store.conftest import eventually
from tests.store.sources import FileSource


def day(number: int) -> str:
    return f"2026-01-{number:02}T23:59:00.000Z"


def reply(at: int, moment: str, model: str, cost: float | None, parent: int | None) -> Any:
    usage: dict[str, Any] = {
        "input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 2, "totalTokens": 20,
    }  # fmt: skip
    if cost is not None:
        usage["cost"] = {"total": cost}
    return {
        "type": "message", "id": f"e{at}", "parentId": None if parent is None else f"e{parent}",
        "timestamp": moment,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}],
                    "provider": "p", "model": model, "usage": usage, "stopReason": "stop"},
    }  # fmt: skip


def imported(store: Store, path: Path, entries: list[Any]) -> int:
    header = {"type": "session", "version": 3, "id": path.stem, "timestamp": day(1), "cwd": "/w"}
    path.write_text("\n".join(map(json.dumps, [header, *entries])) + "\n")
    return store.import_session(FileSource(path)).key


def summed(store: Store) -> dict[tuple[int, int, str], UsageSum]:
    return {(one.key, one.day, one.model): one.spent for one in store.totals()}


def calls(store: Store) -> int:
    return sum(one.spent.calls for one in store.totals())


def day_number(text: str) -> int:
    return int(datetime.fromisoformat(text).astimezone(UTC).timestamp() // 86_400)


def test_totals_are_kept_by_day_and_model(store: Store, tmp_path: Path) -> None:
    entries = [
        reply(0, day(1), "a", 0.5, None), reply(1, day(1), "a", 0.25, 0),
        reply(2, day(2), "a", None, 1), reply(3, day(2), "b", 1.0, 1),
    ]  # fmt: skip
    key = imported(store, tmp_path / "one.jsonl", entries)
    eventually(lambda: calls(store) == 4, "all calls are summed up")
    first, second = day_number(day(1)), day_number(day(2))
    assert summed(store) == {
        (key, first, "p/a"): UsageSum(20, 10, 6, 4, 0.75, 2, 0, 0),
        (key, second, "p/a"): UsageSum(10, 5, 3, 2, 0.0, 1, 1, 0),
        (key, second, "p/b"): UsageSum(10, 5, 3, 2, 1.0, 1, 0, 0),
    }


def test_what_is_appended_later_is_added(store: Store, tmp_path: Path) -> None:
    many = [reply(at, day(3), "a", 1.0, at - 1 if at else None) for at in range(STEP + 3)]
    key = imported(store, tmp_path / "two.jsonl", many)
    eventually(lambda: calls(store) == STEP + 3, "more than one step")
    store.append(key, [(json.dumps(reply(9999, day(3), "a", 1.0, 0)), "e0")]).result()
    eventually(lambda: calls(store) == STEP + 4, "the new entry")
    (total,) = store.totals()
    assert (total.spent.cost, total.model) == (STEP + 4, "p/a")


def test_a_removed_session_counts_no_more(store: Store, tmp_path: Path) -> None:
    key = imported(store, tmp_path / "three.jsonl", [reply(0, day(1), "a", 0.5, None)])
    eventually(lambda: calls(store) == 1, "the call")
    store.delete(key).result()
    assert store.totals() == []


def test_of_a_session_that_is_gone_nothing_is_left_to_sum_up(store: Store, tmp_path: Path) -> None:
    key = imported(store, tmp_path / "gone.jsonl", [reply(0, day(1), "a", 0.5, None)])
    eventually(lambda: calls(store) == 1, "the call")
    db = connect_reader(store.path)
    assert left_to_sum(db, key) == (1, 1)
    store.delete(key).result()
    assert left_to_sum(db, key) == (0, 0)
    db.close()


def test_first_counts_are_summed_up_beside_the_calls_that_reported_all(
    store: Store, tmp_path: Path
) -> None:
    lines = Lines().user("u1", "hi").reply("a1", "msg_1", "Hello.", stop_reason=None)
    path = lines.reply("a2", "msg_2", "Again.").write(tmp_path / f"{SESSION}.jsonl")
    store.import_session(open_source(path))

    def spent() -> UsageSum:
        return total_of(one.spent for one in store.totals())

    eventually(lambda: spent().calls + spent().uncounted == 2, "both replies are summed up")
    assert spent() == UsageSum(20, 10, 200, 40, calls=1, unpriced=1, uncounted=1)
    assert {one.size for one in store.totals()} == {0}, "prices tell what each cost at least"


def test_what_goes_into_a_cache_for_an_hour_is_summed_up_apart(
    store: Store, tmp_path: Path
) -> None:
    lines = Lines().user("u1", "hi")
    for number, hour in enumerate((0, 7, 999)):
        parts = {"ephemeral_5m_input_tokens": 20 - hour, "ephemeral_1h_input_tokens": hour}
        lines.reply(f"a{number}", f"msg_{number}", "On.", usage={**USAGE, "cache_creation": parts})
    store.import_session(open_source(lines.write(tmp_path / f"{SESSION}.jsonl")))
    eventually(lambda: calls(store) == 3, "all replies are summed up")
    spent = total_of(one.spent for one in store.totals())
    # What is said to be more than there is, is all that there is.
    assert (spent.cache_write, spent.cache_write_1h) == (60, 27)


COMPACTION = {
    "type": "compaction", "id": "c", "parentId": "e0", "timestamp": day(1), "summary": "All.",
    "firstKeptEntryId": "e0", "tokensBefore": 9,
}  # fmt: skip


def branches(store: Store) -> int:
    return store.sessions()[0].branches


def test_an_undone_compaction_is_no_branch(store: Store, tmp_path: Path) -> None:
    entries = [reply(0, day(1), "a", 0.5, None), COMPACTION, reply(1, day(1), "a", 0.5, 0)]
    key = imported(store, tmp_path / "one.jsonl", entries)
    eventually(lambda: branches(store) == 1, "the branches")
    for leaf, expected in ((1, 2), (2, 1), (1, 2), (0, 1)):
        store.set_leaf(key, leaf).result()
        assert branches(store) == expected, "at once"
    store.append(key, [(json.dumps(reply(2, day(1), "a", 0.5, 0) | {"parentId": "c"}), "c")])
    eventually(lambda: branches(store) == 2, "what follows a compaction is a branch")


def test_a_compaction_that_its_file_leaves_is_no_branch(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    entries = [reply(0, day(1), "a", 0.5, None), reply(1, day(1), "a", 0.5, 0), COMPACTION]
    imported(store, path, entries)
    eventually(lambda: branches(store) == 2, "the branches")
    entries.append(reply(2, day(1), "a", 0.5, 1))
    imported(store, path, entries)
    eventually(lambda: calls(store) == 3 and branches(store) == 1, "the new ones")
    assert store.sessions()[0].compactions == 0


def test_the_leaf_may_move_while_branches_are_counted(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted with the leaf before does not stay."""
    reached, go_on = threading.Event(), threading.Event()
    counted = SessionTree.branch_ends

    def slowly(tree: SessionTree, leaf: int) -> list[int]:
        ends = counted(tree, leaf)
        if not reached.is_set():
            reached.set()
            assert go_on.wait(30)
        return ends

    monkeypatch.setattr(SessionTree, "branch_ends", slowly)
    entries = [reply(0, day(1), "a", 0.5, None), reply(1, day(1), "a", 0.5, 0), COMPACTION]
    key = imported(store, tmp_path / "one.jsonl", entries)
    assert reached.wait(30)
    store.set_leaf(key, 1).result()
    go_on.set()
    eventually(lambda: branches(store) > 0, "the branches")
    assert branches(store) == 1 and calls(store) == 2


def two_of_claude(folder: Path) -> list[Path]:
    """A session, and a fork that repeats its records and goes on."""
    other = "0b0b0b0b-1111-2222-3333-444444444444"
    paths = []
    for session, turns in ((SESSION, 2), (other, 3)):
        lines = Lines(session)
        for turn in range(turns):
            lines.user(f"{turn:035}u", "Go on.").reply(f"{turn:035}a", f"msg_{turn}", "On.")
        paths.append(lines.write(folder / f"{session}.jsonl"))
    return paths


def two_of_codex(folder: Path) -> list[Path]:
    """A session, and a fork with its lines, stamped anew."""
    parent = Rollout(1).turn(2).exchange("One?", "One.").turn(3).exchange("Two?", "Two.")
    fork = Rollout(5, forked_from_id=parent.thread)
    fork.totals = parent.totals
    fork.lines += [{**one, "timestamp": fork.lines[0]["timestamp"]} for one in parent.lines]
    fork.turn(6).exchange("Three?", "Three.")
    return [parent.write(folder), fork.write(folder, time="11-00-00")]


def two_of_pi(folder: Path) -> list[Path]:
    """A session, and a fork that copies its entries and goes on."""
    paths, before = [], ""
    for name, hour, turns in (("origin", 1, (2, 3)), ("fork", 5, (2, 3, 6))):
        header = {
            "type": "session", "version": 3, "id": name, "cwd": "/w",
            "timestamp": f"2026-01-01T0{hour}:00:00.000Z",
            **({"parentSession": before} if before else {}),
        }  # fmt: skip
        lines: list[dict[str, object]] = [header]
        for turn in turns:
            usage = {"input": 5, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10}
            message = {
                "role": "assistant", "content": [{"type": "text", "text": "On."}], "model": "m",
                "provider": "p", "api": "a", "stopReason": "stop", "usage": usage,
            }  # fmt: skip
            above = lines[-1]["id"] if len(lines) > 1 else None
            lines.append({
                "type": "message", "id": f"a{turn}", "parentId": above, "message": message,
                "timestamp": f"2026-01-01T0{turn}:00:00.000Z",
            })  # fmt: skip
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
        before = str(paths[-1])
    return paths


@pytest.mark.parametrize("made", [two_of_claude, two_of_codex, two_of_pi])
def test_what_a_fork_repeats_counts_once(
    store: Store, tmp_path: Path, made: Callable[[Path], list[Path]]
) -> None:
    origin, fork = (store.import_session(open_source(path)).key for path in made(tmp_path))

    def counted() -> dict[int, int]:
        found = dict.fromkeys((origin, fork), 0)
        for one in store.totals():
            found[one.key] += one.spent.calls
        return found

    eventually(lambda: counted() == {origin: 2, fork: 1}, "what each took itself", 20)


def test_sessions_that_share_ids_are_sessions_of_their_own(store: Store, tmp_path: Path) -> None:
    keys = []
    for number, folder in enumerate(("one", "two")):
        lines = Lines().user("u1", f"in {folder}").reply("a1", "msg_1", "yes")
        for turn in range(number):
            lines.user(f"v{turn}", "and on")
        path = lines.write(tmp_path / folder / f"{SESSION}.jsonl")
        keys.append(store.import_session(open_source(path)).key)
    assert len(set(keys)) == 2
    first, second = (store.records(key, 0, 0)[0] for key in keys)
    assert (first.entry_id, second.entry_id) == ("u1", "u1")
    assert "in one" in first.raw and "in two" in second.raw
    assert [store.load(key).row.entries for key in keys] == [2, 3]

"""What sessions took is summed up in the background, by day and model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from explorer.session.usage_sums import UsageSum
from explorer.store import Store
from explorer.store.totals import STEP
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

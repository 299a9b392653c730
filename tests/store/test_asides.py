"""Lines of a file that are no entries, in a file that has more of them than of entries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.formats.registry import open_source
from explorer.store import ImportCancelled, Store

HOOKS = 5_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of an agent that writes every hook into its file."""
    data = {"sessionId": "s-1"}
    lines = [{"type": "session.start", "data": data, "id": "e0"}]
    for at in range(HOOKS):
        lines.append({"type": "hook.start", "data": {"hookType": f"of {at}"}, "id": f"h{at}"})
    lines.append({"type": "user.message", "data": {"content": "Look."}, "id": "u"})
    place = tmp_path / "events.jsonl"
    place.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return place


def test_they_do_not_gather_and_all_are_kept(store: Store, path: Path) -> None:
    source = open_source(path)
    gathered: list[int] = []
    report = store.import_session(
        source, progress=lambda _done, _total: gathered.append(len(source.report.asides))
    )
    assert len(gathered) > 3 and max(gathered) == 0
    assert (report.added, report.asides) == (1, HOOKS)
    stored = store.asides(report.key)
    assert [one.raw for one in stored] == path.read_bytes().split(b"\n")[1 : HOOKS + 1]
    with path.open("a") as file:
        file.write(json.dumps({"type": "hook.end", "data": {}, "id": "last"}) + "\n")
    again = store.import_session(open_source(path))
    assert again.key == report.key and again.asides == HOOKS + 1
    assert len(store.asides(report.key)) == HOOKS + 1


def test_a_cancelled_import_keeps_none(store: Store, path: Path) -> None:
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(0)
        return len(asked) > 2

    with pytest.raises(ImportCancelled):
        store.import_session(open_source(path), cancelled=cancelled)
    assert store.sessions() == []
    report = store.import_session(open_source(path))
    assert report.asides == HOOKS

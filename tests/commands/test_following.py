"""A session that its agent is writing is printed as it grows."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.processes import start
from tests.formats.files import write_session
from tests.store.conftest import eventually


class Following:
    """The command in a process of its own, with the lines that it has printed."""

    def __init__(self, *words: str) -> None:
        self.process: subprocess.Popen[str] = start("follow", *words)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def waits_for(self, words: str) -> str:
        """The first line that holds some words, once it is there."""
        eventually(lambda: any(words in one for one in list(self.lines)), f"a line with {words!r}")
        return next(one for one in self.lines if words in one)

    def end(self) -> int:
        """Interrupt it, as Ctrl+C does."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(30)
        self._reader.join(10)
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        assert "Traceback" not in errors
        return status


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "live.jsonl", "s-1", ["Look at the quay.", "And the pier."])


def append(path: Path, *entries: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(json.dumps(one) + "\n" for one in entries))


def message(entry_id: str, parent: str, text: str) -> dict[str, Any]:
    return {"type": "message", "id": entry_id, "parentId": parent,
            "message": {"role": "user", "content": text}}  # fmt: skip


@pytest.fixture
def following(file: Path, tmp_path: Path) -> Iterator[Following]:
    found = Following(str(file), "--database", str(tmp_path / "one.db"))
    yield found
    found.process.kill()
    found.process.wait(30)


def test_what_is_written_is_printed_and_a_compaction_in_words(
    following: Following, file: Path
) -> None:
    following.waits_for("And the pier.")
    with file.open("a", encoding="utf-8") as half:
        line = json.dumps(message("00000002", "00000001", "The tide comes."))
        half.write(line[:20])
        half.flush()
        following.waits_for("Look at the quay.")
        half.write(line[20:] + "\n")
    following.waits_for("The tide comes.")
    append(file, {
        "type": "compaction", "id": "00000003", "parentId": "00000002", "summary": "Of a harbour.",
        "firstKeptEntryId": "00000002", "tokensBefore": 9000,
    })  # fmt: skip
    line = following.waits_for("COMPACTED")
    assert line.startswith("#3  COMPACTED  9,000 tokens; 2 entries dropped")
    assert following.end() == 0
    assert sum("The tide comes." in one for one in following.lines) == 1


def test_it_prints_json_lines(file: Path, tmp_path: Path) -> None:
    found = Following(str(file), "--json", "--last", "1", "--database", str(tmp_path / "two.db"))
    found.waits_for("And the pier.")
    append(file, message("00000002", "00000001", "The tide comes."))
    found.waits_for("The tide comes.")
    assert found.end() == 0
    values = [json.loads(line) for line in found.lines]
    assert [one["entry"] for one in values] == [1, 2]
    assert values[1]["kind"] == "user" and values[1]["id"] == "00000002"

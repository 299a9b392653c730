"""What a session file may hold that a command must read over, and how a fault of ours ends one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer import cli
from explorer.commands import library
from explorer.settings import paths
from tests.commands.processes import called, document
from tests.formats.files import chain, dumps, entry, header, reply, user, write

LONG = b"9" * 5000


def _lines(usage: dict[str, Any]) -> list[dict[str, Any] | bytes]:
    lines: list[dict[str, Any] | bytes] = [header(), *chain(2)]
    for at in range(2, 8):
        asked = user(f"e{at}", f"e{at - 1}" if at == 2 else f"r{at - 1}", "Look at src/a.py " * 40)
        lines += [asked, reply(f"r{at}", f"e{at}", [{"type": "text", "text": "Yes."}], usage=usage)]
    return lines


def _refused(word: str) -> float:
    raise AssertionError(f"{word} is no JSON")


def _every_command(file: Path, tmp_path: Path) -> None:
    small = ("--keep-recent", "50", "--reserve", "100", "--window", "1000")
    database = ("--database", str(tmp_path / "all.db"))
    assert called("import", str(file), *database)[0] == 0
    for words in (
        ("tree", "1"), ("context", "1"), ("preview", "1", *small), ("audit", "1"), ("what-if", "1"),
        ("what-if", "1", *small), ("what-if", "1", "--sweep"), ("search", "src"), ("fork", "1"),
        ("compact", "1", "--dry-run", *small), ("export", "1", str(tmp_path / "out.jsonl")),
    ):  # fmt: skip
        status, out, err = called(*words, "--json", *database)
        assert (status, err) == (0, ""), words
        json.loads(out, parse_constant=_refused)
    assert (tmp_path / "out.jsonl").read_bytes() == file.read_bytes()


def test_a_number_of_5000_digits_is_read_over_and_written_as_it_is(tmp_path: Path) -> None:
    places = {
        "unknown": LONG,
        "timestamp": LONG,
        "version": LONG,
        "more": b"[-" + LONG + b",1e400]",
    }
    odd = {key: f"NUMBER {key}" for key in places}
    lines = [dumps(header(limit="NUMBER unknown")), *map(dumps, _lines({})[1:])]
    lines.append(dumps(user("z", "r7") | odd))
    for key, text in places.items():
        lines = [line.replace(f'"NUMBER {key}"'.encode(), text) for line in lines]
    _every_command(write(tmp_path / "s.jsonl", lines), tmp_path)


def test_a_rewritten_line_has_its_numbers_as_they_were(tmp_path: Path) -> None:
    odd = {"type": "message", "id": "a", "parentId": None, "message": {"role": "hookMessage"}}
    head = dumps(header(version=2, limit=77777)).replace(b"77777", LONG)
    line = dumps(odd | {"x": 77777, "y": 88888}).replace(b"77777", LONG).replace(b"88888", b"1e400")
    file, out = write(tmp_path / "s.jsonl", [head, line]), tmp_path / "out.jsonl"
    assert called("export", str(file), str(out), "--format", "pi-v3")[0] == 0
    first, second = out.read_bytes().splitlines()
    assert first == head.replace(b'"version":2', b'"version":3')
    assert second == line.replace(b"hookMessage", b"custom")
    fork = tmp_path / "fork.jsonl"
    assert called("fork", str(file), "--output", str(fork))[0] == 0
    assert b'"limit":' + LONG in fork.read_bytes().splitlines()[0]


@pytest.mark.parametrize(
    "number",
    [2**31 - 1, 2**64, -1, 0.5, 1e300, "12", None, [], True, "INFINITE", "NOT A NUMBER"],
)  # fmt: skip
def test_usage_that_cannot_be_a_count_is_not_recorded(tmp_path: Path, number: object) -> None:
    usage = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), number)
    texts = {b'"INFINITE"': b"1e400", b'"NOT A NUMBER"': b"NaN"}
    lines = [dumps(line) for line in _lines(usage)]
    for word, text in texts.items():
        lines = [line.replace(word, text) for line in lines]
    file = write(tmp_path / "s.jsonl", lines)
    _every_command(file, tmp_path)
    assert document("context", str(file))["context_tokens_source"] == "estimate"
    assert document("what-if", str(file))["measure"]["reports"] == 0


def test_a_fault_of_the_program_is_a_sentence_and_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(arguments: object) -> None:
        raise KeyError("nobody expects this")

    monkeypatch.setattr(library, "run", fails)
    with pytest.raises(KeyError):
        cli.main(["search", "words"])
    monkeypatch.delenv(cli.DEBUG_VARIABLE)
    assert cli.main(["search", "words"]) == 1
    place = paths.data_dir() / cli.FAULT_NAME
    [sentence] = capsys.readouterr().err.splitlines()
    assert "fault of the program (KeyError)" in sentence and str(place) in sentence
    assert "nobody expects this" in place.read_text() and "Traceback" in place.read_text()
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_name_that_no_file_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tree", "a" * 5000]) == 2
    assert "no such file" in capsys.readouterr().err
    assert cli.main(["tree", str(paths.data_dir().parent)]) == 2
    assert "is not a file" in capsys.readouterr().err


@pytest.mark.parametrize("odd", [{}, [], {"a": [{}]}, 7, None, True])
def test_words_of_the_format_may_be_anything(tmp_path: Path, odd: object) -> None:
    lines: list[dict[str, Any] | bytes] = [*_lines({})]
    for at, key in enumerate(("type", "message", "customType", "content", "summary", "data")):
        kind = "custom" if key == "customType" else "compaction" if at % 2 else "message"
        names = {"type": kind, "id": f"x{at}", "parentId": f"x{at - 1}" if at else "r7"}
        lines.append(names | {key: odd, "more": {"session-explorer/pin": 1}})
    kept = {"summary": "They looked at src/a.py.", "firstKeptEntryId": "x5", "tokensBefore": 9000}
    lines.append(entry("compaction", "c", "x5", **kept))
    lines += [user("y", "c", "Now src/b.py " * 400), user("z", "y", "And the docs " * 40)]
    _every_command(write(tmp_path / "s.jsonl", lines), tmp_path)


@pytest.mark.parametrize("number", [0, -1, 10**7, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 0.5, True])
def test_a_version_that_is_none_is_read_over(tmp_path: Path, number: float) -> None:
    head = header(version=number, timestamp=number)
    _every_command(write(tmp_path / "s.jsonl", [head, *_lines({})[1:]]), tmp_path)


@pytest.mark.parametrize("last", [b"[1]", b"7", b"", b"{", b'{"type":"session"}'])
def test_a_file_of_version_1_is_written_back_whatever_follows_its_last_entry(
    tmp_path: Path, last: bytes
) -> None:
    lines = [
        {key: line[key] for key in line if not key.lower().endswith("id")} for line in chain(3)
    ]
    file, out = write(tmp_path / "s.jsonl", [header(version=1), *lines, last]), tmp_path / "out"
    assert called("export", str(file), str(out))[0] == 0
    assert out.read_bytes() == file.read_bytes()

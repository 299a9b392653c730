"""Session files that somebody damaged or wrote to do harm, through the commands that read them.

Each round makes one file: a sound session, changed at the level of its JSON values, its lines and
its bytes. It is imported, looked at by every command, written back and read again. A command may
refuse what it is given, in a sentence; it may not fail in any other way, nor lose or change a line.
"""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from explorer.cli import DEBUG_VARIABLE
from explorer.compaction.profile import PROFILES
from explorer.settings import paths
from tests.attacks.attack import Attack
from tests.commands.processes import called
from tests.generated import write_session

Json = dict[str, Any]

_STATUSES = (0, 1, 2, 3)
_MARK = "hostile value number "
_MARKED = re.compile(rf'"{_MARK}(\d+)"')
_BLAMES = re.compile(r"Traceback|NoneType|object has no attribute|fault of the program|\w+Error:")
"""Words of the language or of a library, which tell a person nothing."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def _nested(opening: str, closing: str, depth: int, core: str = "1") -> str:
    return opening * depth + core + closing * depth


ZOO = (
    "null", "true", "false", "0", "-0", "1", "-1", "0.5", "-1e-9", "7.0", "12345678901234567890",
    "2147483647", "2147483648", "-2147483649", "4294967296", "9223372036854775807",
    "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "1e9", "1000000000", "1000000001", "8.64e15",
    "1e300", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "9" * 30, "9" * 400, "9" * 5000,
    "-" + "9" * 5000, "0." + "9" * 5000, '""', '" "', '"\\n"', '"\\u0000"', '"a\\u0000b"',
    '"\\ud800"', '"x\\udc00 \\ud83d"', '"\\u202e\\u0007\\u001b[2J"', '"__proto__"', '"../../etc"',
    '"constructor"', '"null"', '"12"', '"1e5"', '"NaN"', '"user"', '"assistant"', '"toolResult"',
    '"message"', '"compaction"', '"session"', '"custom"', '"title"', '"text"', '"toolCall"',
    '"image"', '"e1"', '"' + "x" * 3000 + '"', '"' + "\\n" * 2000 + '"', '"`' + "`" * 500 + '"',
    '"2026-03-02T09:00:00Z"', '"2026-03-02T09:00:00"', '"1000000000-01-01T00:00:00Z"',
    '"0001-01-01T00:00:00+23:59"', '"9999-12-31T23:59:59.999-23:59"', '"-1"', '"24:00"',
    "[]", "{}", "[[]]", "[{}]", "[null]", "[1, 2]", '["a"]', '{"": ""}', '{"__proto__": {}}',
    '{"type": "text"}', '[{"type": "text"}]', '[{"type": "text", "text": null}]',
    '[{"type": "toolCall"}]', '[{"type": "toolCall", "name": 1, "arguments": "x", "id": []}]',
    '[{"type": "image", "data": "not base64", "mimeType": 5}]', '[{"type": "thinking"}]',
    '[{"type": {}}, 5, null, "text", [[]]]', '{"type": "message", "type": "compaction"}',
    '{"a": 1, "a": 2}', '{"' + "k" * 3000 + '": 1}', '{"totalTokens": 1e400, "input": -5}',
    '{"input": 9223372036854775807, "output": 9223372036854775807}', '{"total": "NaN"}',
    '{"readFiles": 5, "modifiedFiles": [[], null, 7]}', '{"keepUserMessages": -1}',
    '{"entries": [null, {"id": 5}], "lifts": 3}',
    '{"results": [{"id": "e1", "tokens": 1e99, "text": 5}], "saved": "all"}',
    *(_nested("[", "]", depth) for depth in (10, 100, 198, 200, 300, 500, 990, 1023, 1025, 5000)),
    *(_nested('{"a":', "}", depth) for depth in (10, 100, 197, 200, 300, 900, 1000, 1024, 9000)),
    _nested('[{"a":', "}]", 97), _nested('[{"a":', "}]", 400), "[" * 1_000_000,
    _nested("[", "]", 100_000),
)  # fmt: skip
"""JSON texts, sound and not, that stand in place of some value."""

KEYS = (
    "id", "parentId", "type", "timestamp", "message", "role", "content", "usage", "totalTokens",
    "input", "output", "cacheRead", "cost", "stopReason", "model", "provider", "toolCallId",
    "toolName", "isError", "arguments", "name", "text", "thinking", "details", "data", "summary",
    "firstKeptEntryId", "firstKeptEntryIndex", "tokensBefore", "fromId", "targetId", "label",
    "customType", "version", "cwd", "title", "pad", "display", "prunedAt", "files", "command",
    "output", "code", "exitCode", "path", "edits", "entries", "tokens", "results", "saved",
    "reason", "lifts", "readFiles", "parentSession", "modelId", "thinkingLevel",
    "__proto__", "", "unknown",
)  # fmt: skip


# sound sessions --------------------------------------------------------------------------------


def _entry(kind: str, number: int, **fields: Any) -> Json:
    parent = f"e{number - 1}" if number else None
    stamp = f"2026-03-02T09:{number // 60:02}:{number % 60:02}.000Z"
    return {"type": kind, "id": f"e{number}", "parentId": parent, "timestamp": stamp} | fields


def _message(number: int, role: str, content: object, **fields: Any) -> Json:
    return _entry("message", number, message={"role": role, "content": content} | fields)


def _call(name: str, number: int, **arguments: Any) -> Json:
    return {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": arguments}


def _every_kind(random: Random) -> list[Json]:
    """A session with an entry of each type and role."""
    usage = {"input": 900, "output": 40, "cacheRead": 10, "totalTokens": 950, "cost": {"total": 1}}
    reply: Json = {"provider": "p", "model": "m", "usage": usage, "stopReason": "toolUse"}
    text = [{"type": "text", "text": "Never touch migrations/. Fix src/a.py, tests must pass."}]
    pictures = [{"type": "image", "data": "aGk=", "mimeType": "image/png"}, *text]
    calls = [
        {"type": "thinking", "thinking": "first look", "thinkingSignature": "s"},
        _call("read", 1, path="src/a.py"), _call("bash", 2, command="make test", timeout=5),
        _call("edit", 3, path="src/a.py", edits=[{"oldText": "x", "newText": "y"}]),
    ]  # fmt: skip

    def result(number: int, call: str, tool: str, words: str, **fields: Any) -> Json:
        named = {"toolCallId": call, "toolName": tool, "isError": False} | fields
        return _message(number, "toolResult", [{"type": "text", "text": words}], **named)

    long = "FAILED tests/test_a.py::test_x - TimeoutError\n" * 200
    return [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-02T08:00:00.000Z",
         "cwd": "/home/sam/src"},
        _entry("model_change", 0, provider="p", modelId="m"),
        _entry("thinking_level_change", 1, thinkingLevel="high"),
        _message(2, "user", "Fix the retry in src/a.py. Never touch migrations/."),
        _message(3, "assistant", calls, **reply),
        result(4, "c1", "read", "def retry(): pass\n" * 100, details={"truncation": {"lines": 4}}),
        result(5, "c2", "bash", long, isError=True),
        result(6, "c3", "edit", "Edited src/a.py"),
        _message(7, "assistant", [*text, _call("bash", 4, command="make test")], **reply),
        result(8, "c4", "bash", long),
        _message(9, "user", pictures),
        _message(10, "assistant", text, **reply | {"stopReason": "stop"}),
        _entry("compaction", 11, summary="## Goal\nFix src/a.py", firstKeptEntryId="e7",
               tokensBefore=5000, details={"readFiles": ["src/a.py"], "modifiedFiles": []}),
        _message(12, "bashExecution", None, command="ls", output="a.py", exitCode=0),
        _message(13, "user", "Go on"),
        _message(14, "assistant", [*text, _call("grep", 5, pattern="x", path="src")], **reply),
        result(15, "c5", "grep", long),
        _entry("label", 16, targetId="e7", label="good"),
        _entry("session_info", 17, name="work"),
        _entry("custom", 18, customType="session-explorer/pin",
               data={"entries": [{"id": "e2", "tokens": 12}], "reason": "r"}),
        _entry("custom", 19, customType="session-explorer/omit", data={"entries": ["e5"]}),
        _entry("custom", 20, customType="session-explorer/keep-user-messages", data={"tokens": 90}),
        _entry("custom", 21, customType="session-explorer/prune", data={
            "results": [{"id": "e8", "tokens": 9, "text": "gone"}], "saved": 90, "reason": "r"}),
        _entry("custom_message", 22, customType="note", content=text, display=True),
        _entry("branch_summary", 23, fromId="e10", summary="## Goal\nother way"),
        _message(24, "pythonExecution", None, code="1 + 1", output="2"),
        _message(25, "fileMention", None, files=[{"path": "a.py", "content": "x"}]),
        _message(26, "custom", "words", display=False),
        _entry("reset_boundary", 27) if random.random() < 0.1 else _entry("odd", 27, more=[1]),
        _message(28, "user", "And the docs?"),
        _message(29, "assistant", text, **reply | {"stopReason": "stop"}),
        _message(30, "user", "Thanks, now the queue. " * 200),
    ]  # fmt: skip


def _as_version_1(values: list[Json]) -> list[Json]:
    """The same as pi's first version wrote it: no ids, one chain."""
    out = [{key: one[key] for key in one if key not in ("id", "parentId")} for one in values[1:]]
    for one in out:
        if one["type"] == "compaction":
            del one["firstKeptEntryId"]
            one["firstKeptEntryIndex"] = 8
    return [values[0] | {"version": 1}, *out]


def _sound(random: Random, folder: Path) -> list[Json]:
    """The JSON values of a session, one per line."""
    choice = random.random()
    if choice < 0.25:
        count, seed = random.randrange(5, 60), random.randrange(99)
        made = write_session(folder / "made.jsonl", count, seed=seed)
        return [json.loads(line) for line in made.read_bytes().splitlines()]
    if choice < 0.35:
        sample = paths.resource_path("samples", "retry-that-flakes.jsonl")
        with sample.open(encoding="utf-8") as file:
            return [json.loads(next(file)) for _ in range(random.randrange(3, 60))]
    values = _every_kind(random)
    if choice < 0.45:
        return _as_version_1(values)
    if choice < 0.55:
        return [{"type": "title", "v": 1, "title": "t", "pad": "   "}, *values]
    return values


# hostile changes -------------------------------------------------------------------------------


def _hostile(random: Random) -> str:
    """A text that ``_lines`` replaces by a value of the zoo."""
    return f"{_MARK}{random.randrange(len(ZOO))}"


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a value."""
    found: list[tuple[Any, Any]] = []
    left = [value]
    while left:
        one = left.pop()
        members = list(one.items()) if isinstance(one, dict) else list(enumerate(one))
        found += [(one, key) for key, _ in members]
        left += [member for _, member in members if isinstance(member, dict | list)]
    return found


def _change_value(random: Random, values: list[Json]) -> None:
    container, key = random.choice(_places(random.choice(values)) or [({}, "")])
    container[key] = _hostile(random)


def _change_header(random: Random, values: list[Json]) -> None:
    key = random.choice(("id", "version", "timestamp", "cwd", "title", "parentSession", "type"))
    values[0][key] = _hostile(random)


def _change_everywhere(random: Random, values: list[Json]) -> None:
    """The same value for a key of all entries."""
    key, made = random.choice(KEYS), _hostile(random)
    for value in values:
        for container, name in _places(value):
            if name == key:
                container[name] = made


def _add_key(random: Random, values: list[Json]) -> None:
    value = random.choice(values)
    objects = [one for one, _ in _places(value) if isinstance(one, dict)] or [value]
    random.choice(objects)[random.choice(KEYS)] = _hostile(random)


def _remove_key(random: Random, values: list[Json]) -> None:
    places = [place for place in _places(random.choice(values)) if isinstance(place[0], dict)]
    if places:
        container, key = random.choice(places)
        container.pop(key, None)


def _swap_values(random: Random, values: list[Json]) -> None:
    (one, first), (other, second) = (
        random.choice(_places(random.choice(values)) or [([0], 0)]) for _ in range(2)
    )
    one[first], other[second] = json.loads(json.dumps([other[second], one[first]]))


def _change_parent(random: Random, values: list[Json]) -> None:
    ids = [value.get("id") for value in values]
    random.choice(values)["parentId"] = random.choice([*ids, "gone", "", None])


def _same_parent(random: Random, values: list[Json]) -> None:
    above = random.choice(values).get("id")
    for value in random.sample(values, min(len(values), 10)):
        value["parentId"] = above


def _change_id(random: Random, values: list[Json]) -> None:
    ids = [value.get("id") for value in values]
    random.choice(values)["id"] = random.choice([*ids, "", "\0", "x" * 5000, "#1", "e"])


def _reorder(random: Random, values: list[Json]) -> None:
    at, to = random.randrange(len(values)), random.randrange(len(values))
    values.insert(to, values.pop(at))


def _shuffle(random: Random, values: list[Json]) -> None:
    if random.random() < 0.3:
        random.shuffle(values)


def _remove_line(random: Random, values: list[Json]) -> None:
    if len(values) > 1:
        del values[random.randrange(len(values))]


def _repeat_line(random: Random, values: list[Json]) -> None:
    values.insert(random.randrange(len(values) + 1), random.choice(values))


_VALUE_CHANGES: tuple[Callable[[Random, list[Json]], None], ...] = (
    _change_value, _change_value, _change_value, _change_header, _change_everywhere,
    _change_everywhere, _add_key,
    _remove_key, _swap_values, _change_parent, _same_parent, _change_id, _reorder, _shuffle,
    _remove_line, _repeat_line,
)  # fmt: skip


def _lines(values: list[Json]) -> list[bytes]:
    texts = (json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values)
    full = (_MARKED.sub(lambda found: ZOO[int(found[1])], text) for text in texts)
    return [text.encode("utf-8", "surrogatepass") for text in full]


def _change_lines(random: Random, lines: list[bytes]) -> None:
    at = random.randrange(len(lines))
    line = lines[at]
    lines[at] = random.choice((
        lambda: line[: random.randrange(len(line) + 1)],
        lambda: line + line,
        lambda: line + random.choice(lines),
        lambda: b"",
        lambda: b" \t" + line + b"\r",
        lambda: b"\0" * random.randrange(1, 3000),
        lambda: random.randbytes(40).replace(b"\n", b" "),
        lambda: line.decode("utf-8", "replace").encode("utf-16"),
        lambda: _BYTE_ORDER_MARK + line,
        lambda: line.replace(b'"type"', b'"type":"odd","type"', 1),
        lambda: line.replace(b":", b" :\t", 5),
        lambda: line.replace(b"{", b'{"__proto__":{"x":1},', 1),
        lambda: b"[" + line + b"]",
        lambda: line.replace(b"e", b"\\u0065"),
    ))()  # fmt: skip


def _change_bytes(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 3, 30))):
        if not changed:
            break
        at = random.randrange(len(changed))
        kind = random.random()
        if kind < 0.5:
            changed[at] = random.randrange(256)
        elif kind < 0.7:
            del changed[at : at + random.randrange(1, 40)]
        elif kind < 0.9:
            changed[at:at] = random.choice(
                (b"\n", b"\r\n", b"\0", b'"', b"{", b"]", b"\xff", b"\\")
            )
        else:
            del changed[at:]
    return bytes(changed)


def hostile_file(random: Random, folder: Path) -> bytes:
    """The content of one file; its folder is used for what is generated."""
    values = _sound(random, folder)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 8))):
        random.choice(_VALUE_CHANGES)(random, values)
    lines = _lines(values)
    for _ in range(random.choice((0, 0, 0, 1, 3))):
        _change_lines(random, lines)
    ending = random.choice((b"\n", b"\n", b"\n", b"\n", b"\r\n", b"\n\n"))
    content = ending.join(lines) + random.choice((ending, ending, b""))
    if random.random() < 0.2:
        content = _change_bytes(random, content)
    return _BYTE_ORDER_MARK + content if random.random() < 0.03 else content


# what is done with it --------------------------------------------------------------------------


class _Session:
    """The commands on one file, and what of it broke a promise."""

    def __init__(self, random: Random, folder: Path, content: bytes) -> None:
        self._random = random
        self.file = folder / "s.jsonl"
        self.file.write_bytes(content)
        self._folder = folder
        self._content = content.decode("utf-8", "replace")
        self._database = str(folder / "all.db")
        self.findings: list[str] = []

    def run(self, *words: str, fails: bool = True) -> str | None:
        """The output of a command, None when it refused. ``fails``: whether it may."""
        try:
            status, out, err = called(*words, "--database", self._database)
        except Exception as error:  # noqa: BLE001 - any that comes out is what is looked for
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            self.findings.append(f"{words[0]} {' '.join(words[2:])}: {error!r:.300} in {where}")
            return None
        name = " ".join((words[0], *words[2:]))
        if status not in _STATUSES or (status in (1, 2) and not fails):
            self.findings.append(f"{name}: status {status}: {err[-300:]}")
        if status in (1, 2) and "\nsession-explorer: " not in f"\n{err}":
            self.findings.append(f"{name}: status {status} without a sentence: {err[-300:]}")
        for found in _BLAMES.finditer(out + err):
            if found[0] not in self._content:
                around = (out + err)[max(0, found.start() - 100) : found.end() + 100]
                self.findings.append(f"{name}: says {found[0]!r}: {around!r}")
                break
        return out if status in (0, 3) else None

    def document(self, *words: str, fails: bool = False) -> Any:
        """The JSON document that a command prints; None when it refused."""
        out = self.run(*words, "--json", fails=fails)
        try:
            return None if out is None else json.loads(out, parse_constant=_no_json)
        except ValueError as error:
            self.findings.append(f"{words[0]} --json: not JSON: {error}: {str(out)[:300]}")
            return None

    def check(self) -> None:
        report = self.document("import", str(self.file), fails=True)
        if report is None:
            return
        [told] = report["imported"]
        self._check_problems(told)
        key = str(told["session"])
        first = self._tree(key)
        if told["entries"]:
            self._look(key)
            self._change(key)
            if self._tree(str(self.file)) != first:
                self.findings.append("the tree of the file is another than that of its import")
        self._check_exports(key, told)
        self._check_again(told, first)

    def _check_problems(self, told: Json) -> None:
        lines = self.file.read_bytes().count(b"\n") + 1
        for problem in told["problems"]:
            if not 1 <= problem["line"] <= lines or not problem["reason"]:
                self.findings.append(f"a problem of no line: {problem}")

    def _tree(self, name: str) -> Any:
        found = self.document("tree", name, "--all")
        return None if found is None else (found["nodes"], found["leaf"])

    def _some(self, *steps: Callable[[], object]) -> None:
        """A part of the steps: all of them together take longer than they find."""
        for step in self._random.sample(steps, (len(steps) + 1) // 2):
            step()

    def _look(self, key: str) -> None:
        small = ("--keep-recent", "50")
        self._some(
            lambda: self.run("tree", key, fails=False),
            lambda: self.document("list"),
            lambda: self.document("context", key),
            lambda: self.run("context", key, fails=False),
            *(
                lambda name=name: self.document("preview", key, "--profile", name, *small)
                for name in PROFILES
            ),
            lambda: self.document("what-if", key),
            lambda: self.run(
                "what-if", key, *small, "--window", "1000", "--reserve", "100", fails=False
            ),
            lambda: self.document("audit", key),
            lambda: self.run("audit", key, "--format", "html", fails=False),
            lambda: self.run("audit", key, fails=False),
            lambda: self.document("search", "retry"),
            lambda: self.document("search", '"src/a.py"', key),
        )

    def _change(self, key: str) -> None:
        fork = str(self._folder / "fork.jsonl")
        dry = ("--dry-run", "--json")
        self._some(
            lambda: self.run("compact", key, "--dry-run", "--keep-recent", "50"),
            lambda: self.run("compact", key, *dry, "--keep-recent", "50", "--profile", "pi"),
            lambda: self.run("prune", key, *dry, "--protect", "0", "--minimum", "1"),
            lambda: self.document("fork", key, "--whole"),
            lambda: (
                self.document("fork", key, "--output", fork, fails=True)
                and self.document("import", fork)
            ),
        )

    def _check_exports(self, key: str, told: Json) -> None:
        out = self._folder / "out.jsonl"
        if self.run("export", key, str(out), fails=False) is not None:
            self._check_lines(out.read_bytes().split(b"\n"), told)
        newer = self._folder / "newer.jsonl"
        if self.run("export", key, str(newer), "--format", "pi-v3", fails=False) is None:
            return
        again = self.document("import", str(newer), fails=not told["entries"])
        if again is not None and again["imported"][0]["entries"] - told["entries"] not in (0, 1):
            self.findings.append(f"pi-v3 has {again['imported'][0]['entries']} entries: {told}")

    def _check_lines(self, written: list[bytes], told: Json) -> None:
        """Nothing but a header at the start and a mark at the end may be added."""
        given = self.file.read_bytes().removeprefix(_BYTE_ORDER_MARK).split(b"\n")
        given, written = given[: len(given) - (not given[-1])], written[:-1]
        has_header = not any("no header" in one["reason"] for one in told["problems"])
        kept = written[0 if has_header else 1 :]
        if kept[: len(given)] != given or len(kept) > len(given) + 1:
            at = next((at for at, line in enumerate(given) if kept[at : at + 1] != [line]), -1)
            self.findings.append(f"the export differs from the file in line {at + 1}")

    def _check_again(self, told: Json, first: Any) -> None:
        """The file is read again, and then once more when its time says that it changed."""
        os.utime(self.file, (1, 1))
        again = self.document("import", str(self.file))
        if again is None:
            return
        [then] = again["imported"]
        if (then["session"], then["entries"], then["kept_aside"]) != (
            told["session"], told["entries"], told["kept_aside"],
        ) or then["added"]:  # fmt: skip
            self.findings.append(f"read again it is another session: {told} then {then}")
        elif self._tree(str(told["session"])) != first:
            self.findings.append("the tree is another after the file was read again")


def _no_json(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def attack(random: Random, folder: Path) -> Iterator[str]:
    """One hostile file through all commands."""
    before = dict(os.environ)
    os.environ |= {paths.HOME_VARIABLE: str(folder / "home"), DEBUG_VARIABLE: "1"}
    try:
        session = _Session(random, folder, hostile_file(random, folder))
        session.check()
    finally:
        os.environ.clear()
        os.environ |= before
    yield from session.findings


SESSION_FILES = Attack("session-files", attack, 4)

"""Aider's chat history: a Markdown file in the repository, one after the other all chats there.

Lines are classified as Aider itself does when it restores a chat: "#### " is what the person typed,
"> " what Aider printed, the rest the model's reply; so a reply's quotations are taken for output.
Only headings of replies, which Aider leaves out, are read. What Aider printed is not sent, nor are
commands such as /add. Every chat begins anew, and so does one that /clear or /reset empties.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.formats.adapter import (
    FormatError,
    FoundSession,
    IsCancelled,
    Progress,
    ReadOnlyAdapter,
    read_head,
)
from explorer.formats.jsonl import BYTE_ORDER_MARK, line_groups
from explorer.formats.typed_source import ReadEntry, TypedSource
from explorer.session.entries import (
    AssistantMessage,
    Body,
    CustomData,
    Entry,
    ModelChange,
    ShellMessage,
    TokenUsage,
    Unknown,
    UserMessage,
    text_content,
)
from explorer.session.json_values import time_ms
from explorer.session.records import Aside, Problem, SessionHeader, remark

FILE = ".aider.chat.history.md"
_CHAT = "# aider chat started at "
_TYPED = "#### "
_PRINTED = "> "
_IN_HEAD = re.compile(rb"^# aider chat started at ", re.MULTILINE)
_HEAD_BYTES = 16 << 10
_MODEL = re.compile(r"^> (?:Main model|Model): (\S+)", re.MULTILINE)
_VERSION = re.compile(rb"^> Aider v(\S+)", re.MULTILINE)
_USED = re.compile(r"^> Tokens: (.*)")
_COUNT = re.compile(r"([\d.,]+)([kM]?) (sent|cache write|cache hit|received)")
_COST = re.compile(r"\$([\d.]+) message")
_COMMAND = re.compile(r"[/!]\S")
_ASKING = re.compile(r"/(?:ask|code|architect|context|help|chat-mode \S+)\s+\S")
"""Commands whose text is a prompt."""
_EMPTYING = re.compile(r"/(?:clear|reset)\s*$")


class AiderAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name, title = "aider", "Aider"
    unknown = ("the system prompt", "the files in the chat", "the map of the repository",
               "its summaries of older messages")  # fmt: skip

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        return path.name == FILE or bool(_IN_HEAD.search(head))

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. A file is one session, each chat a root of its tree."""
        place = Path(path)
        with place.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        if not head.strip():
            raise FormatError(str(place), 1, "the file is empty")
        return TypedSource(path, _header(place, head), _Chats(place), progress, cancelled)

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``."""
        return ("aider", "--restore-chat-history")

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        text = record if isinstance(record, str) else record.decode("utf-8", "replace")
        return read_record(text)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``. Histories lie in repositories, which are not searched: only the home
        folder's own is found, and the one that ``AIDER_CHAT_HISTORY_FILE`` names."""
        named = environment.get("AIDER_CHAT_HISTORY_FILE")
        found = []
        for path in dict.fromkeys([*([Path(named)] if named else []), home / FILE]):
            # Most people have none there.
            if (read := read_head(path, _HEAD_BYTES)) is not None:
                found.append((path, *read))
        found.sort(key=lambda one: one[2].st_mtime, reverse=True)
        for path, head, status in found:
            yield FoundSession.at(path, self.name, status, _header(path, head))


AIDER = AiderAdapter()


def _header(path: Path, head: bytes) -> SessionHeader:
    """The first chat's line, which stands for the file's session wherever the file lies."""
    lines = head.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace").splitlines()
    first = next(
        (one for one in lines if one.startswith(_CHAT)), next(filter(str.strip, lines), "")
    )
    version = _VERSION.search(head)
    return SessionHeader(
        hashlib.sha256(first.encode()).hexdigest()[:32],
        AIDER.name,
        0,
        str(path.parent.absolute()),
        _chat_time(first),
        "",
        first,
        agent_version=version.group(1).decode("utf-8", "replace") if version else "",
    )


def _chat_time(line: str) -> float:
    return time_ms(line.removeprefix(_CHAT).strip()) if line.startswith(_CHAT) else 0.0


# records ------------------------------------------------------------------------------------------


def read_record(record: str) -> Entry:
    """The entry of some lines, of which the first that is not blank tells what it is."""
    lines = [line.removesuffix("\r") for line in record.split("\n")]
    first = next((line for line in lines if line.strip()), "").removeprefix("\ufeff")
    recorded = {"lines": lines}
    match _kind_of(first):
        case "chat":
            made = Entry.of(CustomData("aider chat started"), time_ms=_chat_time(first))
        case "user":
            made = Entry.of(_typed([one.strip("\ufeff") for one in lines]))
        case "tool":
            made = Entry.of(_printed(lines))
        case _:
            made = Entry.of(_reply(lines) if first else Unknown(""))
    return replace(made, recorded=recorded)


def _kind_of(line: str) -> str:
    """What a line that is not blank belongs to."""
    if line.startswith(_CHAT):
        return "chat"
    if line.startswith(_TYPED):
        return "user"
    return "tool" if line.startswith(_PRINTED) else "assistant"


def _typed(lines: Sequence[str]) -> Body:
    text = "\n".join(line[len(_TYPED) :].rstrip() for line in lines if line.startswith(_TYPED))
    if _COMMAND.match(text) and not _ASKING.match(text):
        return ShellMessage(text, "", excluded=True)
    return UserMessage(text_content(text))


def _printed(lines: Sequence[str]) -> Body:
    texts = [line[len(_PRINTED) :].rstrip() for line in lines if line.startswith(_PRINTED)]
    text = "\n".join(texts).strip()
    model = _MODEL.search("\n".join(lines))
    if model is not None:
        return ModelChange(model.group(1))
    # With a prefix, so that no output is taken for the data of this program.
    return CustomData(f"Aider: {text.partition(chr(10))[0]}", {"text": text})


def _reply(lines: Sequence[str]) -> AssistantMessage:
    own: list[str] = []
    usage = None
    for line in lines:
        if line.startswith(_PRINTED):
            found = _USED.match(line)
            usage = usage or (_usage(found.group(1)) if found else None)
        else:
            own.append(line)
    text = "\n".join(own).strip("\n")
    return AssistantMessage(text_content(text) if text else (), usage=usage, stop_reason="stop")


def _usage(text: str) -> TokenUsage | None:
    """Of a line such as "12k sent, 345 received. Cost: $0.01 message", as rounded there."""
    counts = {what: _number(digits, unit) for digits, unit, what in _COUNT.findall(text)}
    if not counts:
        return None
    sent, received = counts.get("sent", 0), counts.get("received", 0)
    read, written = counts.get("cache hit", 0), counts.get("cache write", 0)
    prompt = sent - read - written if sent >= read + written else sent
    cost = _COST.search(text)
    return TokenUsage(
        prompt, received, read, written, prompt + read + written + received,
        _decimal(cost.group(1)) if cost else 0.0,
    )  # fmt: skip


def _number(digits: str, unit: str) -> int:
    count = _decimal(digits.replace(",", "")) * {"": 1, "k": 1_000, "M": 1_000_000}[unit]
    return round(count) if count < 1e9 else 0


def _decimal(digits: str) -> float:
    try:
        return float(digits.rstrip("."))
    except ValueError:
        return 0.0


# chats --------------------------------------------------------------------------------------------


class _Run(Struct):
    """Lines of one kind that follow each other."""

    kind: str
    line: int
    lines: list[str] = field(default_factory=list)
    is_blank: bool = True
    done: int = 0
    is_closed: bool = False
    """A reply with the line that tells what it took: nothing more belongs to it."""


class _Chats:
    """The entries of a file, in its order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last_id = ""
        self._model = ""
        self._chat = 0
        self._number = 0
        self._has_replies = False

    def __iter__(self) -> Iterator[ReadEntry | Aside | Problem]:
        waiting: _Run | None = None
        for one in self._runs():
            if not isinstance(one, _Run):
                yield one
            elif waiting is None:
                waiting = one
            elif one.is_blank or waiting.is_blank:
                # Blank lines belong to what they follow, those at the start to what comes.
                waiting = self._joined(waiting, one)
            elif waiting.kind == "assistant" and not waiting.is_closed and one.kind == "tool":
                rest = self._take_usage(waiting, one)
                if rest is None:
                    continue
                yield self._entry(waiting)
                waiting = rest
            else:
                yield self._entry(waiting)
                waiting = one
        if waiting is not None and not waiting.is_blank:
            yield self._entry(waiting)
        if self._has_replies:
            reason = "Aider does not record its summaries of older messages: none are shown"
            yield remark(1, reason)

    def _runs(self) -> Iterator[_Run | Aside | Problem]:
        run: _Run | None = None
        with self._path.open("rb") as file:
            number = 0
            for lines, done in line_groups(file):
                for raw in lines:
                    number += 1
                    try:
                        line = raw.decode()
                    except UnicodeDecodeError as error:
                        reason = f"invalid UTF-8 at byte {error.start + 1} of the line"
                        yield Aside(number, raw, reason)
                        yield Problem(number, f"{reason}; the line was kept aside")
                        continue
                    kind = _kind_of(line.removeprefix("\ufeff"))
                    if line.startswith("# ") and kind != "chat" and run is not None:
                        # Aider passes over it, whatever it stands in.
                        kind = run.kind if run.kind != "chat" else kind
                    if run is None or kind != run.kind or kind == "chat":
                        if run is not None:
                            yield run
                        run = _Run(kind, number)
                    run.lines.append(line)
                    run.is_blank = run.is_blank and not line.strip()
                    run.done = done
        if run is not None:
            yield run

    @staticmethod
    def _joined(first: _Run, second: _Run) -> _Run:
        kind = second.kind if first.is_blank else first.kind
        return _Run(
            kind, first.line, first.lines + second.lines, first.is_blank and second.is_blank,
            second.done, first.is_closed,
        )  # fmt: skip

    @staticmethod
    def _take_usage(reply: _Run, printed: _Run) -> _Run | None:
        """Moves what Aider printed up to the tokens of a reply to it; returns the rest, None for
        nothing."""
        ends = [at for at, line in enumerate(printed.lines, 1) if _USED.match(line)]
        if not ends:
            return printed
        end = ends[0]
        reply.lines += printed.lines[:end]
        reply.is_closed = True
        rest = printed.lines[end:]
        return _Run("tool", printed.line + end, rest, False, printed.done) if rest else None

    def _entry(self, run: _Run) -> ReadEntry:
        record = "\n".join(run.lines)
        entry = read_record(record)
        body = entry.body
        self._number += 1
        starts_anew = isinstance(body, ShellMessage) and bool(_EMPTYING.match(body.command))
        if run.kind == "chat":
            self._chat += 1
            self._number = 0
            self._model = ""
            starts_anew = True
        entry_id = f"{self._chat}.{self._number}" if self._number else f"{self._chat}"
        noted: tuple[str, ...] = ()
        if isinstance(body, ModelChange):
            self._model = body.model
        elif isinstance(body, AssistantMessage):
            self._has_replies = True
            if self._model:
                provider, _, model = self._model.rpartition("/")
                body = replace(body, provider=provider, model=model)
                noted = ("provider", "model")
        parent = None if starts_anew else self._last_id or None
        self._last_id = entry_id
        made = replace(entry, body=body, id=entry_id, parent_id=parent)
        return ReadEntry(made, record, run.line, run.done, noted)

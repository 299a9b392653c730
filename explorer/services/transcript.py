"""A session as a document to be read: its entries turn by turn, in HTML or Markdown.

Pure: entries come in, pieces of text go out, so that a long session is never whole in memory. Every
text is untrusted. In HTML it is cleaned and escaped wherever it is printed, the page runs no script
and asks for nothing, and a picture is shown only where its data is what its type says it may be. In
Markdown a text stands in a fence longer than any of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from markupsafe import Markup
from msgspec import Struct

from explorer.audit.report.model import kind_words
from explorer.audit.report.output import policy, template_environment
from explorer.session.entries import (
    AssistantMessage,
    Block,
    BranchSummary,
    Certainty,
    CompactionSummary,
    CustomData,
    Entry,
    FilesMessage,
    ImageBlock,
    Label,
    ModelChange,
    NoteMessage,
    SessionName,
    ShellMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
    ThinkingLevelChange,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UnknownBlock,
    UserMessage,
)
from explorer.session.visible_text import size_words

TranscriptForm = Literal["markdown", "html"]
FOLDED_CHARACTERS = 1_500
FOLDED_LINES = 20
"""Calls and results that are longer than either are folded."""
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
"""Types of pictures that hold nothing but a picture."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_CERTAINTIES: dict[Certainty, str] = {
    "exact": "recorded by its agent",
    "inferred": "worked out from what its agent recorded around it",
    "unreadable": "its summary is encrypted or was not recorded",
}


class Numbered(Struct, frozen=True):
    """An entry with its index in the session."""

    index: int
    entry: Entry


class Stretch(NamedTuple):
    """A part of the session that is read from top to bottom: the active path, or a branch."""

    title: str
    entries: Iterable[Numbered]


class TranscriptHead(Struct, frozen=True):
    """What a transcript says of the session as a whole."""

    title: str
    agent: str
    """The agent's name and the version that wrote the session, where it is known."""
    session_id: str
    folder: str
    scope: str
    """Which part of the session it is, in words."""
    entries: int
    """In the transcript."""
    entries_in_all: int
    begun_ms: float
    ended_ms: float
    unknown: Sequence[str]
    """What the agent sends to its model and records nowhere; see ``Adapter.unknown``."""
    asides: int
    """Lines of the file that are no entries."""
    program: str


class Part(Struct, frozen=True):
    """A piece of an entry: a text, or a line of words about it."""

    kind: Literal["text", "thinking", "call", "result", "picture", "note"]
    text: str = ""
    title: str = ""
    """Untrusted: a tool's or file's name."""
    words: str = ""
    """What it is, in words of this program."""
    folded: bool = False
    source: str = ""
    """The address of a picture's data; empty where it cannot be shown."""
    results: tuple[Part, ...] = ()
    """Of a call: what its tool returned."""


class Item(Struct, frozen=True):
    """An entry as it is shown."""

    index: int
    role: str
    time_ms: float
    model: str
    parts: Sequence[Part]


class Turn(NamedTuple):
    """What follows one message of the person."""

    number: int
    """0: before the first."""
    items: Sequence[Item]


# entries to parts ---------------------------------------------------------------------------------


def turns(entries: Iterable[Numbered]) -> Iterator[Turn]:
    """The entries turn by turn, a tool's result with the call that asked for it."""
    number, gathered = 0, list[Numbered]()
    for one in entries:
        if one.entry.begins_turn:
            if gathered:
                yield Turn(number, _items(gathered))
            number, gathered = number + 1, []
        gathered.append(one)
    if gathered:
        yield Turn(number, _items(gathered))


def _items(turn: Sequence[Numbered]) -> list[Item]:
    asked: dict[str, tuple[int, int]] = {}
    answers: dict[tuple[int, int], list[Numbered]] = {}
    shown: set[int] = set()
    for one in turn:
        body = one.entry.body
        for at, block in enumerate(one.entry.content):
            if isinstance(block, ToolCallBlock):
                asked[block.id] = (one.index, at)
        if isinstance(body, ToolResultMessage) and body.call_id in asked:
            answers.setdefault(asked[body.call_id], []).append(one)
            shown.add(one.index)
    return [_item(one, answers) for one in turn if one.index not in shown]


def _item(one: Numbered, answers: Mapping[tuple[int, int], Sequence[Numbered]]) -> Item:
    entry, body = one.entry, one.entry.body
    parts = list(_own_parts(entry))
    for at, block in enumerate(entry.content):
        results = answers.get((one.index, at), ())
        parts += _block_parts(block, tuple(part for each in results for part in _result(each)))
    model = ""
    if isinstance(body, AssistantMessage):
        model = f"{body.provider}/{body.model}" if body.provider else body.model
    return Item(one.index, kind_words(entry.kind), entry.time_ms, model, parts)


def _result(one: Numbered) -> Iterator[Part]:
    """What a tool returned, beside its call."""
    yield from _own_parts(one.entry)
    for block in one.entry.content:
        for part in _block_parts(block):
            kind: Literal["result"] = "result"
            yield _long(part.text, kind) if part.kind == "text" else part


def _own_parts(entry: Entry) -> Iterator[Part]:
    """What an entry says besides its blocks."""
    match entry.body:
        case CompactionSummary() as body:
            yield Part("note", words=_compaction_words(body))
            yield from _failure(body.failure)
            if body.certainty != "unreadable" or body.summary:
                yield Part("text", body.summary)
        case BranchSummary(summary) | SummaryMessage(summary):
            yield Part("text", summary)
        case ToolResultMessage() as body:
            yield Part("note", title=body.tool, words="failed" if body.is_error else "returned")
            if body.is_pruned:
                yield Part("note", words="Its agent sends a note in the place of the result")
        case ShellMessage() as body:
            yield _long(body.command, "call")
            yield _long(body.output, "result")
        case FilesMessage() as body:
            for file in body.files:
                yield Part("note", title=file.path, words="a file that was named")
                yield _long(file.content, "result")
        case AssistantMessage() as body:
            yield from _failure(body.error)
        case UserMessage(synthetic=True):
            yield Part("note", words="Nobody typed this: the program put it in the user's place")
        case NoteMessage() as body:
            yield Part("note", title=body.name, words="a note of an extension")
        case CustomData() as body:
            yield Part("note", title=body.name, words="data of an extension, not sent")
        case Label() as body:
            yield Part("note", title=body.text, words=f"label on {body.target_id}")
        case SessionName() as body:
            yield Part("note", title=body.name, words="the session's name from here on")
        case ModelChange() as body:
            yield Part("note", title=body.model, words="answers from here on")
        case ThinkingLevelChange() as body:
            yield Part("note", title=body.level, words="thinking level from here on")
        case Unknown() as body:
            yield Part("note", title=body.type, words="an entry that is not understood")


def _failure(text: str) -> Iterator[Part]:
    if text:
        yield Part("text", text, words="error")


def _compaction_words(body: CompactionSummary) -> str:
    sizes = "tokens before not recorded"
    if body.tokens_before > 0:
        after = "" if body.tokens_after is None else f" → {body.tokens_after:,}"
        sizes = f"{body.tokens_before:,}{after} tokens"
    trigger = {"auto": "automatic", "manual": "asked for"}.get(body.trigger, "not recorded")
    known = _CERTAINTIES[body.certainty]
    if body.certainty != "unreadable":
        known = f"{body.certainty} ({known})"
    return f"Compaction: {sizes}; trigger {trigger}; {known}"


def _block_parts(block: Block, results: tuple[Part, ...] = ()) -> Iterator[Part]:
    match block:
        case TextBlock(text):
            if text.strip():
                yield Part("text", text)
        case ThinkingBlock(text, _, redacted):
            if text.strip():
                yield Part("thinking", text, folded=True)
            else:
                hidden = "the provider shows nothing of it" if redacted else "not recorded"
                yield Part("note", words=f"Thinking: {hidden}")
        case ToolCallBlock():
            text = block.malformed or json.dumps(block.arguments, ensure_ascii=False, indent=2)
            part = _long(text, "call")
            yield Part("call", part.text, block.name, part.words, part.folded, results=results)
        case ImageBlock():
            yield _picture(block)
        case UnknownBlock():
            yield Part("note", title=block.type, words="a part that is not understood")


def _long(text: str, kind: Literal["call", "result"]) -> Part:
    """A text that may be folded."""
    lines = text.count("\n") + 1
    is_long = len(text) > FOLDED_CHARACTERS or lines > FOLDED_LINES
    return Part(kind, text, words=size_words(text), folded=is_long)


def _picture(block: ImageBlock) -> Part:
    data = "".join(block.data.split())
    size = len(data) * 3 // 4 - data[-2:].count("=")
    words = f"{size:,} bytes" if data else "only its name was recorded"
    is_safe = block.mime.lower() in _PICTURES and _BASE64.fullmatch(data)
    source = f"data:{block.mime.lower()};base64,{data}" if is_safe else ""
    return Part("picture", title=block.mime, words=words, source=source)


# parts to text ------------------------------------------------------------------------------------


def transcript(
    form: TranscriptForm,
    head: TranscriptHead,
    stretches: Iterable[Stretch],
    templates: Mapping[str, str],
) -> Iterator[str]:
    """The document, in pieces. ``templates``: the texts of ``resources/transcript`` by file name,
    and ``style.css`` of the report, whose colours it has."""
    values: dict[str, Any] = {
        "head": head,
        "stretches": ((one.title, turns(one.entries)) for one in stretches),
    }
    if form == "markdown":
        environment = template_environment(templates, is_html=False)
        yield from environment.get_template("transcript.md.j2").generate(values)
        return
    sheet = templates["style.css"] + templates["transcript.css"]
    values |= {"sheet": Markup(sheet), "policy": policy(sheet, "data:")}
    environment = template_environment(templates, is_html=True)
    yield from environment.get_template("transcript.html.j2").generate(values)

"""From the entries of an item to its parts; knows no widgets and reads nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer.audit.provenance import sizes_known
from explorer.session.kinds import Flag, Kind
from ui.agent.view.calls import Answer, CallStates, call_parts
from ui.agent.view.figures import Footer, footer, tokens_before
from ui.agent.view.marks import mark_parts
from ui.agent.view.parts import AGENT, YOU, Code, Note, Part, Picture, Prose, Role, Row
from ui.agent.view.segments import code_segments, segments
from ui.inspector.blocks import (
    CallBlock,
    CommandBlock,
    ImageBlock,
    Json,
    JsonBlock,
    TextBlock,
    ThinkingBlock,
)
from ui.inspector.content import Related, blocks
from ui.theme import role_icon, role_name, role_token
from ui.widgets.figures import count, size

FIGURES = "figures"
"""The key of the words that say what a reply took; nothing to stop at."""

MOST_SHOWN = 200_000
"""Characters of one text that are shown; the rest is read in the inspector."""


@dataclass(frozen=True, slots=True)
class ItemRead:
    """An item as far as it was read. ``data`` is None while a large entry is still being read."""

    entry: int
    kind: Kind
    flags: int
    data: Json | None
    preview: str = ""
    time_ms: float = 0.0
    answers: tuple[Answer, ...] = ()
    sizes: tuple[int, int] | None = None
    """Of a compaction: tokens of the context before it and after it."""
    states: CallStates = field(default_factory=CallStates)
    made_here: bool = False
    """Recorded by this program: its figures are exact, and what lacks was never there."""


Opened = Callable[[str], bool]
"""Whether what a row opens is open, by the row's ``opens``."""


def parts_of(item: ItemRead, is_open: Opened) -> list[Part]:
    """What to draw of an item."""
    if item.data is None:
        icon, tint = role_icon(item.kind, item.flags), role_token(item.kind, item.flags)
        role = Role(_short(role_name(item.kind)), icon, tint)
        return [Row(key="wait", role=role, text=item.preview, tail="reading…", tint="dim")]
    if item.kind is Kind.USER:
        return _user(item)
    if item.kind is Kind.ASSISTANT:
        return _reply(item, is_open)
    if item.kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION):
        return _execution(item, is_open)
    if item.kind is Kind.TOOL_RESULT:
        return call_parts("r", None, _orphan(item), item.states, is_open)
    if item.kind in (Kind.CUSTOM_MESSAGE, Kind.CUSTOM_ROLE, Kind.FILE_MENTION, Kind.OTHER_ROLE):
        return _note(item)
    known = None
    if item.sizes is not None:
        known = sizes_known(tokens_before(item.data), item.made_here)
    return mark_parts(item.entry, item.kind, item.flags, item.data, item.sizes, known, is_open)


def _short(name: str) -> str:
    return name.split(" ")[0].capitalize()


def text_parts(key: str, text: str, role: Role | None, *, user: bool = False) -> list[Part]:
    """Words of a person or a model, in pieces; the role stands at the first."""
    shown = text.strip("\n")
    rest = len(shown) - MOST_SHOWN
    found: list[Part] = []
    for at, piece in enumerate(segments(shown[:MOST_SHOWN] if rest > 0 else shown)):
        name, by = f"{key}.{at}", role if not at else None
        if piece.is_code:
            found.append(
                Code(
                    key=name, role=by, text=piece.text, language=piece.language,
                    opens=piece.opens, closes=piece.closes, said_by_user=user,
                )
            )  # fmt: skip
        else:
            found.append(Prose(key=name, role=by, text=piece.text, said_by_user=user))
    if rest > 0:
        words = f"{size(rest)} more: shown whole in the inspector"
        found.append(Row(key=f"{key}.more", text=words, tint="accent", goes_to=0))
    return found


def plain_parts(key: str, text: str, *, path: str = "", language: str = "") -> list[Part]:
    """A file or an output in the fixed font, in pieces, below the row that opened it."""
    pieces = code_segments(text, language)
    return [
        Code(
            key=f"{key}.{at}", text=piece.text, language=piece.language, path=path, inset=True,
            opens=piece.opens, closes=piece.closes, fenced=False, coloured=bool(path or language),
        )
        for at, piece in enumerate(pieces)
    ]  # fmt: skip


def _user(item: ItemRead) -> list[Part]:
    assert item.data is not None
    found: list[Part] = []
    for at, block in enumerate(blocks(item.data)):
        role = None if found else YOU
        if isinstance(block, TextBlock):
            found += text_parts(f"t{at}", block.text, role, user=True)
        elif isinstance(block, ImageBlock):
            found.append(Picture(key=f"i{at}", role=role, image=block, said_by_user=True))
        elif isinstance(block, JsonBlock):
            found.append(Note(key=f"j{at}", role=role, text=block.title))
    return found or [Prose(key="t0", role=YOU, text="*(an empty message)*", said_by_user=True)]


def _reply(item: ItemRead, is_open: Opened) -> list[Part]:
    assert item.data is not None
    message: Mapping[str, Any] = item.data.get("message") or {}
    related = [Related(a.entry, a.data) for a in item.answers if a.data is not None]
    by_call = {answer.call_id: answer for answer in item.answers}
    found: list[Part] = []
    said = False
    for at, block in enumerate(blocks(item.data, related)):
        if isinstance(block, ThinkingBlock):
            found += thinking_parts(f"k{at}", block.text, block.redacted, is_open)
        elif isinstance(block, TextBlock) and not block.title and block.text.strip():
            found += text_parts(f"t{at}", block.text, None if said else AGENT)
            said = True
        elif isinstance(block, CallBlock):
            answer = by_call.get(block.call_id)
            found += call_parts(f"c{at}", block, answer, item.states, is_open)
        elif isinstance(block, ImageBlock):
            found.append(Picture(key=f"i{at}", image=block))
    asked = {block.call_id for block in blocks(item.data, related) if isinstance(block, CallBlock)}
    for answer in item.answers:
        if answer.call_id not in asked:
            found += call_parts(f"r{answer.entry}", None, answer, item.states, is_open)
    figures = footer(message, item.time_ms, item.made_here)
    return found + reply_end(item.flags, message, figures, said or not item.answers)


def reply_end(
    flags: int, message: Mapping[str, Any], figures: Footer, with_figures: bool = True
) -> list[Part]:
    """Why a reply broke off, and what it took."""
    found: list[Part] = []
    why = str(message.get("errorMessage") or "")
    if flags & Flag.ERROR:
        words = f"Failed: {why or 'the model did not say why.'}"
        found.append(Note(key="why", text=words, tint="lost", icon="error"))
    elif flags & Flag.ABORTED:
        words = f"Stopped. {why}" if why and why.lower() not in _STOPPED else "Stopped by you"
        found.append(Note(key="why", text=words, tint="comp", icon="stop"))
    elif flags & Flag.LENGTH_STOP:
        words = "Cut short: the answer reached the model's output limit."
        found.append(Note(key="why", text=words, tint="comp", icon="warning"))
    if figures.words and (with_figures or found):
        found.append(Note(key=FIGURES, text=figures.words, tip=figures.tip))
    return found


_STOPPED = ("stopped by the person", "stopped by the person.", "the reply was stopped.")
"""What a stop is recorded as here; what an imported one says otherwise is shown."""


def thinking_parts(key: str, text: str, redacted: bool, is_open: Opened) -> list[Part]:
    """Thinking in one line, and what it opens to."""
    role = Role("Thinking", "thinking", "think")
    if redacted and not text:
        return [Row(key=key, role=role, text="kept back by the provider", tint="dim")]
    first = next((line.strip("#* ") for line in text.split("\n") if line.strip()), "")
    lines = count(text.strip().count("\n") + 1, "line")
    opened = is_open(key)
    row = Row(
        key=key, role=role, text="" if opened else first, tail=lines, tint="dim", opens=key,
        is_open=opened,
    )  # fmt: skip
    if not opened:
        return [row]
    inside = [
        Prose(key=f"{key}.{at}", text=piece.text, inset=True)
        if not piece.is_code
        else Code(
            key=f"{key}.{at}", text=piece.text, language=piece.language, inset=True,
            opens=piece.opens, closes=piece.closes,
        )
        for at, piece in enumerate(segments(text.strip()[:MOST_SHOWN]))
    ]  # fmt: skip
    return [row, *inside]


def _orphan(item: ItemRead) -> Answer:
    return Answer.of(item.entry, item.flags, item.data, item.preview, item.time_ms)


def _execution(item: ItemRead, is_open: Opened) -> list[Part]:
    """A command that the person ran."""
    assert item.data is not None
    (block,) = blocks(item.data)
    assert isinstance(block, CommandBlock)
    failed = bool(item.flags & (Flag.ERROR | Flag.ABORTED))
    lines = count(block.output.rstrip("\n").count("\n") + 1, "line") if block.output else ""
    code = f"exit code {block.exit_code}" if block.exit_code else ""
    tail = " · ".join(word for word in (code, *block.remarks, lines) if word)
    python = block.language == "python"
    role = Role("Python" if python else "Shell", "python" if python else "shell", "shell")
    opened = is_open("x")
    row = Row(
        key="x", role=role, text=block.command.split("\n")[0], mono=True, tail=tail,
        tail_tint="lost" if failed else "dim", opens="x", is_open=opened,
    )  # fmt: skip
    if not opened:
        return [row]
    inside: Sequence[Part] = ()
    if "\n" in block.command:
        inside = plain_parts("x.c", block.command, language=block.language)
    output = plain_parts("x.o", block.output.rstrip("\n")[:MOST_SHOWN]) if block.output else []
    return [row, *inside, *output]


def _note(item: ItemRead) -> list[Part]:
    assert item.data is not None
    role = Role("Note", role_icon(item.kind), "dim")
    found: list[Part] = []
    for at, block in enumerate(blocks(item.data)):
        by = None if found else role
        if isinstance(block, TextBlock):
            found += text_parts(f"t{at}", block.text, by)
        elif isinstance(block, ImageBlock):
            found.append(Picture(key=f"i{at}", role=by, image=block))
    return found

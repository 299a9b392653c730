"""What happened to the conversation, as lines across it: compactions, branches, other models."""

from __future__ import annotations

from collections.abc import Callable

from explorer.audit.provenance import Known, Provenance
from explorer.session.describe import describe, from_extension, summary_line
from explorer.session.kinds import Flag, Kind
from ui.agent.view.parts import Note, Part, Prose, Role, Row
from ui.agent.view.segments import segments
from ui.audit.known import reason
from ui.inspector.blocks import Json
from ui.map.folds import sized
from ui.theme import role_icon, role_token

_NAMES = {
    Kind.COMPACTION: "Compacted",
    Kind.COMPACTION_SUMMARY_ROLE: "Summary",
    Kind.BRANCH_SUMMARY: "Branch",
    Kind.BRANCH_SUMMARY_ROLE: "Branch",
    Kind.MODEL_CHANGE: "Model",
    Kind.THINKING_LEVEL_CHANGE: "Thinking",
    Kind.RESET_BOUNDARY: "Reset",
    Kind.CUSTOM: "Pruned",
    Kind.SYSTEM: "System",
}


def mark_parts(
    entry: int,
    kind: Kind,
    flags: int,
    data: Json,
    sizes: tuple[int, int] | None,
    known: Known | None,
    is_open: Callable[[str], bool],
) -> list[Part]:
    """A mark, and the words that it opens to. ``known``: how the sizes are."""
    name = _NAMES.get(kind, "Note")
    role = Role(name, role_icon(kind, flags), role_token(kind, flags & ~Flag.ERROR))
    figures = sized(*sizes, known) if sizes is not None and known is not None else ""
    text, tail = _told(kind, data, figures)
    doubted = known is not None and known.provenance is not Provenance.EXACT
    inside = _inside(kind, data)
    opened = bool(inside) and is_open("m")
    row = Row(
        key="m", role=role, text=text, tail=tail, tint="ink" if inside else "dim",
        opens="m" if inside else "", is_open=opened, is_mark=True,
        tip=reason("Sizes", known) if known is not None and doubted else "",
    )  # fmt: skip
    if not opened:
        return [row]
    found: list[Part] = [row]
    for at, piece in enumerate(segments(inside)):
        words = f"```\n{piece.text}\n```" if piece.is_code else piece.text
        found.append(Prose(key=f"m.{at}", text=words, inset=True))
    if from_extension(data):
        found.append(Note(key="m.by", text="written by an extension", inset=True))
    return found


def _told(kind: Kind, data: Json, figures: str) -> tuple[str, str]:
    if kind is Kind.COMPACTION:
        short = data.get("shortSummary")
        told = short if isinstance(short, str) and short else summary_line(_text(data, "summary"))
        return (f"{figures} · {told}" if figures and told else figures or told), "summary"
    if kind in (Kind.BRANCH_SUMMARY, Kind.BRANCH_SUMMARY_ROLE, Kind.COMPACTION_SUMMARY_ROLE):
        told = summary_line(_inside(kind, data))
        return told or "left without a summary", "summary" if told else ""
    facts = describe(dict(data))
    if kind is Kind.MODEL_CHANGE:
        return f"from here on: {facts.model}", ""
    if kind is Kind.THINKING_LEVEL_CHANGE:
        return f"level from here on: {facts.thinking_level or 'off'}", ""
    if kind is Kind.RESET_BOUNDARY:
        return "The context begins anew here", ""
    return facts.preview, "text" if kind is Kind.SYSTEM else ""


def _text(holder: Json, key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _inside(kind: Kind, data: Json) -> str:
    """The words behind a mark."""
    message = data.get("message")
    holder: Json = message if isinstance(message, dict) else data
    if kind is Kind.SYSTEM:
        content = holder.get("content")
        return content if isinstance(content, str) else ""
    return _text(holder, "summary")

"""A comparison of two branches as Markdown, to be put into a note or a review."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.session.branch_difference import BranchDifference, Message, Side
from explorer.session.kinds import Kind
from explorer.session.visible_text import block, code, plain

_MOST_LINE = 160
_WHO = {
    Kind.USER: "user",
    Kind.ASSISTANT: "assistant",
    Kind.TOOL_RESULT: "result",
    Kind.BASH_EXECUTION: "shell",
    Kind.COMPACTION: "compaction",
    Kind.BRANCH_SUMMARY: "branch summary",
}


def duration(elapsed_ms: float) -> str:
    """``850 ms``, ``12.4 s``, ``3 min 05 s``, ``2 h 07 min``."""
    if elapsed_ms < 1000:
        return f"{elapsed_ms:.0f} ms"
    seconds = elapsed_ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def money(side: Side) -> str:
    """What a branch cost, as far as that is known."""
    spent = side.spent
    if not spent.calls or spent.unpriced == spent.calls:
        return "not recorded"
    known = f"${spent.cost:.4f}" if spent.cost >= 0.01 else f"${spent.cost:.6f}"
    return f"at least {known}" if spent.unpriced or spent.uncounted else known


def counted(side: Side) -> str:
    """What providers counted for a branch."""
    spent = side.spent
    if not spent.calls:
        return "not recorded"
    words = f"{spent.input + spent.cache_read + spent.cache_write:,} in, {spent.output:,} out"
    if spent.cache_read:
        words += f", {spent.cache_read:,} of it from cache"
    return words


def elapsed(side: Side) -> str:
    """The time that a branch's turns took, as far as entries have times."""
    return duration(side.elapsed_ms) if side.elapsed_ms > 0 or not side.turns else "not recorded"


def listed(tools: Side) -> str:
    """``read 3, bash 1``."""
    return ", ".join(f"{name} {count}" for name, count in tools.tools.items()) or "none"


FIGURES = (
    ("Models", lambda side: ", ".join(side.models) or "none"),
    ("Turns", lambda side: f"{len(side.turns):,}"),
    ("Messages", lambda side: f"{side.messages:,}"),
    ("Adds to the context", lambda side: f"≈ {side.tokens:,} tokens"),
    ("Counted by providers", counted),
    ("Cost", money),
    ("Time", elapsed),
    ("Tools", listed),
    ("Failed or stopped", lambda side: f"{side.failures:,}"),
)
"""What is compared of two branches: its name, and the words for one of them."""


def as_markdown(found: BranchDifference, left: str, right: str) -> str:
    """The whole comparison. ``left`` and ``right``: what the branches are called."""
    return "\n".join(_lines(found, left, right)) + "\n"


def _lines(found: BranchDifference, left: str, right: str) -> Iterator[str]:
    where = f"#{found.ancestor}" if found.ancestor >= 0 else "the start"
    yield f"# Two branches from {where}"
    yield ""
    yield f"| | {plain(left)} | {plain(right)} |"
    yield "|---|---|---|"
    for title, words in FIGURES:
        yield f"| {title} | {plain(words(found.left))} | {plain(words(found.right))} |"
    files = dict.fromkeys([*found.left.files, *found.right.files])
    for path in files:
        mine, theirs = (", ".join(side.files.get(path, ())) for side in (found.left, found.right))
        yield f"| {code(path)} | {plain(mine) or '—'} | {plain(theirs) or '—'} |"
    turn = -1
    for row in found.rows():
        if row.turn != turn:
            turn = row.turn
            yield from ("", f"## Turn {turn + 1}", "", f"| {plain(left)} | {plain(right)} |")
            yield "|---|---|"
        yield f"| {_brief(row.left)} | {_brief(row.right)} |"
    for name, side in ((left, found.left), (right, found.right)):
        answer = block(side.answer) if side.answer else "_None._"
        yield from ("", f"## Final answer: {plain(name)}", "", answer)


def _brief(message: Message | None) -> str:
    if message is None:
        return ""
    said = " ".join(message.text.split())
    said = said[: _MOST_LINE - 1] + "…" if len(said) > _MOST_LINE else said
    parts = [said, *(f"→ {call}" for call in message.calls)]
    who = _WHO.get(message.kind, message.kind.name.lower().replace("_", " "))
    return f"**{who}** #{message.entry} " + plain(" ".join(part for part in parts if part))

"""Summarizes without a language model: what you said, word for word, and the files.

What you asked for is what an agent must not forget, and it is short beside what tools print. This
keeps your messages verbatim, the newest first, up to a budget, and after them the files that were
read and changed. An earlier summary is carried along in front.

``keep_user_messages.json`` beside this file may set ``budget_tokens`` (4000).
"""

from __future__ import annotations

from explorer.extensions.api import (
    BeforeCompactEvent,
    CompactionResult,
    Context,
    Hooks,
    SessionBeforeCompactResult,
)

CHARACTERS_PER_TOKEN = 4
HEADING = "## What was asked, word for word (newest first)"


def activate(hooks: Hooks) -> None:
    hooks.on("session_before_compact", summarize)


def summarize(event: BeforeCompactEvent, ctx: Context) -> SessionBeforeCompactResult | None:
    """Supply the compaction; nothing where nobody said anything."""
    preparation = event.preparation
    messages = preparation.messages_to_summarize + preparation.turn_prefix_messages
    said = [text for message in messages if (text := user_text(message))]
    if not said:
        return None
    # A summary has to be smaller than what it stands for, or it is not taken.
    room = len(preparation.serialize(messages)) // 2
    budget = min(int(ctx.settings.get("budget_tokens", 4000)) * CHARACTERS_PER_TOKEN, room)
    parts = []
    if preparation.previous_summary:
        earlier = clip(preparation.previous_summary, budget // 2)
        parts.append(f"## What was known before\n\n{earlier}")
        budget -= len(earlier)
    parts.append(f"{HEADING}\n\n{newest_first(said, budget)}")
    for title, files in (
        ("Files changed", preparation.file_ops["modified"]),
        ("Files read", preparation.file_ops["read"]),
    ):
        if files:
            parts.append(f"## {title}\n\n" + "\n".join(f"- {name}" for name in files))
    newest = " ".join(said[-1].split())
    compaction = CompactionResult(
        "\n\n".join(parts),
        preparation.first_kept_entry_id,
        preparation.tokens_before,
        details={"madeBy": ctx.extension, "messages": len(said)},
        short_summary=f"{len(said)} messages of yours, kept word for word. The last: "
        + clip(newest, 120),
    )
    return SessionBeforeCompactResult(compaction=compaction)


def user_text(message: dict) -> str:
    """What a person said in a message; empty for every other message."""
    if message.get("role") != "user":
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else []
    texts = [b.get("text", "") for b in blocks if isinstance(b, dict) and b.get("type") == "text"]
    return "\n".join(texts).strip()


def newest_first(said: list[str], budget: int) -> str:
    """Whole messages while there is room, at least the beginning of the newest, and how many are
    left out."""
    lines: list[str] = []
    for number, text in enumerate(reversed(said)):
        if number and budget < len(text):
            left = len(said) - number
            lines.append(f"({left} earlier message{'' if left == 1 else 's'} left out)")
            break
        kept = clip(text, max(budget, 200))
        lines.append("> " + kept.replace("\n", "\n> "))
        budget -= len(kept)
    return "\n\n".join(lines)


def clip(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"

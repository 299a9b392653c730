"""What is known of a model, as people read it."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from explorer.models.catalogue import FigureSource, ModelInfo
from ui.widgets.figures import short

SOURCES: dict[FigureSource, str] = {
    "litellm": "litellm",
    "you": "you",
    "server": "the server",
    "program": "built in",
    "default": "not known",
}
"""Who says a figure."""
TITLES = {
    "window": "Context window",
    "output_limit": "Longest answer",
    "input_price": "Input",
    "output_price": "Output",
    "cache_read_price": "Read from cache",
    "cache_write_price": "Write to cache",
    "cache_write_1h_price": "Write for 1 h",
    "reasoning": "Reasoning",
    "images": "Images",
    "tools": "Tools",
}
"""The figures of a model by their names in ``ModelInfo``."""
UNKNOWN = "–"
MILLION = 1_000_000


class ModelMark(NamedTuple):
    """Something that a model is or can do: its icon, its word and its tone."""

    icon: str
    word: str
    tone: str = "dim"


def name_of(info: ModelInfo) -> str:
    """A model's name under the heading of its provider."""
    return info.label if info.label != info.id else info.id.partition("/")[2] or info.id


def tokens(count: int | None) -> str:
    return UNKNOWN if count is None else short(count)


def price(per_token: float | None) -> str:
    """Dollars for a million tokens, without the sign: ``3.00``, ``0.075``."""
    if per_token is None:
        return UNKNOWN
    dollars = per_token * MILLION
    if dollars == 0:
        return "0"
    exact = f"{dollars:.4f}".rstrip("0")
    whole, _, rest = exact.partition(".")
    return f"{whole}.{rest:0<2}" if float(exact) else f"{dollars:.2g}"


def marks_of(info: ModelInfo, today: date | None = None) -> list[ModelMark]:
    """Badges of a model: its end of life, and what it can do."""
    found: list[ModelMark] = []
    if info.deprecated:
        ends = "ended" if info.deprecated <= (today or date.today()).isoformat() else "ends"
        found.append(ModelMark("warning", f"deprecated, {ends} {info.deprecated}", "lost"))
    found += [
        ModelMark(icon, word)
        for icon, word, can in (
            ("thinking", "reasoning", info.reasoning),
            ("image", "images", info.images),
            ("tool", "tools", info.tools),
        )
        if can
    ]
    return found


def is_too_small(info: ModelInfo, context: int) -> bool:
    """Whether it is known that ``context`` tokens do not fit into a model's window."""
    return info.window is not None and context > info.window


def too_small_words(info: ModelInfo, context: int) -> str:
    return (
        f"Its window ({tokens(info.window)}) is smaller than this session's context"
        f" ({tokens(context)}): it would have to be compacted before the next message."
    )


def figures_line(info: ModelInfo) -> str:
    """Its figures in one sentence, for a tip."""
    parts = [f"window {tokens(info.window)}", f"longest answer {tokens(info.output_limit)}"]
    if info.input_price is None and info.output_price is None:
        parts.append("prices not known")
    else:
        parts.append(
            f"${price(info.input_price)} in, ${price(info.output_price)} out per million tokens"
        )
        if info.cache_read_price is not None:
            parts.append(f"${price(info.cache_read_price)} from its cache")
    return ", ".join(parts)


def spoken(info: ModelInfo, more: list[ModelMark]) -> str:
    """A whole row in words, for a screen reader and for a tip."""
    marks = [mark.word for mark in (*marks_of(info), *more)]
    can = f"; {', '.join(marks)}" if marks else ""
    return f"{info.id}: {figures_line(info)}{can}"


def tip(info: ModelInfo) -> str:
    """A tip on the model that is chosen."""
    can = ", ".join(mark.word for mark in marks_of(info)) or "nothing is known of what it can do"
    figures = figures_line(info)
    return f"{info.id}\n{figures[0].upper()}{figures[1:]}\n{can[0].upper()}{can[1:]}"


def tier_lines(info: ModelInfo) -> list[str]:
    """Dearer prices of long prompts."""
    return [
        f"Over {tokens(tier.above)} tokens: ${price(tier.input_price)} in,"
        f" ${price(tier.output_price)} out"
        for tier in info.tiers
    ]


def parsed_tokens(text: str) -> int:
    """A number of tokens as it is typed: ``200,000``, ``200k``, ``1M``. Raises ValueError."""
    plain = "".join(text.replace(",", "").replace("_", "").split()).casefold()
    factor = {"k": 1_000, "m": MILLION}.get(plain[-1:], 1)
    number = float(plain[:-1] if factor > 1 else plain) * factor
    if not 1 <= number <= 1_000_000_000 or number != int(number):
        raise ValueError(text)
    return int(number)


def parsed_price(text: str) -> float:
    """Dollars for one token, from dollars for a million. Raises ValueError."""
    dollars = float(text.strip().lstrip("$"))
    if not 0 <= dollars <= MILLION:
        raise ValueError(text)
    return dollars / MILLION

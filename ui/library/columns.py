"""The columns of the table of all sessions, and how its figures are known."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from PySide6.QtGui import QColor

from explorer.audit.provenance import Known, Provenance, spending_known, tokens_known
from explorer.services.library import LibraryRow
from explorer.session.usage_sums import UsageSum
from ui.audit.known import AT_LEAST, NOT_RECORDED, marked, reason, spoken
from ui.conversation.view.item_reader import cost_words
from ui.library.pane import when
from ui.theme import mono_font, theme
from ui.widgets.figures import full, moment, short
from ui.widgets.table import RIGHT, Column

WRITTEN_MS = 60_000
"""How long after a change its agent counts as writing it."""
OWN_ONLY = ("Branches", "Tokens", "Cost")
"""Columns of the person's own library: what sessions took is not published."""
TEAM_ONLY = ("Published by",)
"""Columns of a team's library."""
PENDING = "…"
"""In place of a sum that is being made in the background."""
_NO_CALLS = Known(Provenance.EXACT, "No model was called.")


def tokens_of(spent: UsageSum) -> tuple[str, Known]:
    """The tokens of a sum in words, and how they are known."""
    calls = spent.calls + spent.uncounted
    if not calls:
        return "0", _NO_CALLS
    known = tokens_known(spent)
    if known.provenance is Provenance.INFERRED:
        return f"{AT_LEAST}{short(spent.tokens)}", known
    return marked(short(spent.tokens), known), known


def cost_of(spent: UsageSum) -> tuple[str, Known]:
    """The cost of a sum in words, and how it is known."""
    calls = spent.calls + spent.uncounted
    if not calls:
        return "$0", _NO_CALLS
    known = spending_known(spent)
    words = cost_words(spent.whole_cost) or "$0"
    if spent.cost_is_least and known.provenance is Provenance.INFERRED:
        return f"{AT_LEAST}{words}", known
    return marked(words, known), known


def title_of(row: LibraryRow) -> str:
    """A session's title on one line, with its note."""
    title = " ".join(row.session.title.split()) or "Untitled session"
    note = " ".join(row.session.note.split())
    return f"{title} — {note}" if note else title


def _sum(of: Callable[[UsageSum], tuple[str, Known]]) -> Callable[[LibraryRow], str]:
    return lambda row: of(row.spent)[0] if row.is_summed else PENDING


def _basis(name: str, of: Callable[[UsageSum], tuple[str, Known]]) -> Callable[[LibraryRow], str]:
    return lambda row: (
        reason(name, of(row.spent)[1]) if row.is_summed else f"{name}: being added up"
    )


def is_written(row: LibraryRow, now_ms: float) -> bool:
    """Whether its agent writes it now: its newest entry is of the last minute, or its file, where
    no entry has a time. ``now_ms``: milliseconds since 1970."""
    session = row.session
    last_ms = session.last_ms or session.file_ms
    return now_ms - WRITTEN_MS < last_ms <= now_ms and bool(session.path)


def _is_written(row: LibraryRow) -> bool:
    return is_written(row, time.time() * 1000)


def _last(row: LibraryRow) -> str:
    if _is_written(row):
        return "● now"
    return when(row.session.last_ms, datetime.now().astimezone()) or NOT_RECORDED


def _last_spoken(row: LibraryRow) -> str:
    return "being written now" if _is_written(row) else _last(row)


def _last_detail(row: LibraryRow) -> str | None:
    written = "Its agent is writing it: it changed in the last minute" if _is_written(row) else ""
    return "\n".join(filter(None, (written, moment(row.session.last_ms)))) or None


def _last_colour(row: LibraryRow) -> QColor | None:
    if _is_written(row):
        return theme().accent
    return None if row.session.last_ms > 0 else theme().dim


def _branches(row: LibraryRow) -> str:
    return full(row.session.branches) if row.is_summed else PENDING


def _detail(row: LibraryRow) -> str:
    session = row.session
    labels = ", ".join(session.labels)
    parts = (session.title, session.cwd, session.path, session.note and f"Note: {session.note}",
             labels and f"Labels: {labels}")  # fmt: skip
    return "\n".join(part for part in parts if part)


def _figure(title: str, text: Callable[[LibraryRow], str], key: Callable[[LibraryRow], float],
            tip: str, width: int, shown_from: int = 0,
            detail: Callable[[LibraryRow], str] | None = None) -> Column[LibraryRow]:  # fmt: skip
    return Column(
        title, text, RIGHT, key, tip, width, shown_from=shown_from, detail=detail,
        spoken=lambda row: spoken(text(row)),
        font=lambda row: None if text(row) == NOT_RECORDED else mono_font(-0.5),
        colour=lambda row: theme().dim if text(row) in (NOT_RECORDED, PENDING) else None,
    )  # fmt: skip


def columns() -> tuple[Column[LibraryRow], ...]:
    """The columns, from left to right."""
    none = theme().dim
    return (
        Column("Agent", lambda row: row.agent, sort_key=lambda row: row.agent.casefold(),
               width=104, tip="The agent that wrote the session"),
        Column("Project", lambda row: row.project or "no folder",
               sort_key=lambda row: row.project.casefold(), width=112, shown_from=560,
               tip="The last part of the folder that it worked in",
               detail=lambda row: row.session.cwd or None,
               colour=lambda row: None if row.project else none),
        Column("Title", title_of, sort_key=lambda row: row.session.title.casefold(), stretch=True,
               detail=_detail, colour=lambda row: None if row.session.title else none,
               spoken=lambda row: ", ".join((title_of(row), *row.session.labels))),
        Column("Last used", _last, RIGHT, lambda row: row.session.last_ms, width=96,
               tip="Time of the newest entry",
               detail=_last_detail, spoken=_last_spoken, colour=_last_colour),
        _figure("Entries", lambda row: full(row.session.entries),
                lambda row: row.session.entries, "Entries on all branches", 68, shown_from=640),
        _figure("Branches", _branches, lambda row: row.session.branches,
                "Ends of its tree; undone compactions do not count. Where somebody went back "
                "counts as one once something follows there", 76, shown_from=900),
        _figure("Compactions", lambda row: full(row.session.compactions),
                lambda row: row.session.compactions,
                "Compactions on all branches; undone ones do not count", 96, shown_from=820),
        _figure("Tokens", _sum(tokens_of), _by_tokens,
                "What all its calls took, as the providers counted it", 104,
                detail=_basis("Tokens", tokens_of)),
        _figure("Cost", _sum(cost_of), _by_cost,
                "What all its calls cost, as recorded, else by listed prices", 104,
                detail=_basis("Cost", cost_of)),
        Column("Model", lambda row: row.model or NOT_RECORDED,
               sort_key=lambda row: row.model.casefold(), width=150, shown_from=1120,
               tip="The model that answered most of its calls",
               detail=lambda row: row.model or None,
               colour=lambda row: None if row.model else none),
        Column("Published by", lambda row: row.publisher,
               sort_key=lambda row: row.publisher.casefold(), width=128,
               detail=lambda row: f"{row.publisher}, {moment(row.published_ms)}"),
    )  # fmt: skip


def _by_tokens(row: LibraryRow) -> float:
    """Sorts by tokens; what is not known comes after the smallest."""
    spent = row.spent
    known = row.is_summed and (spent.tokens or not spent.uncounted)
    return float(spent.tokens) if known else -1.0


def _by_cost(row: LibraryRow) -> float:
    """Sorts by cost; what is not known comes after the smallest."""
    spent = row.spent
    priced = spent.listed or spent.calls > spent.unpriced or not spent.calls + spent.uncounted
    return spent.whole_cost if row.is_summed and priced else -1.0

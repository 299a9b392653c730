"""Tells the summarizer which ticket the work belongs to.

The number is the ``ticket`` of ``ticket_context.json`` beside this file, or else what looks like
one (``SHOP-142``) in the name of the Git branch that is checked out in the session's folder, or
in the folder's own path. It becomes a line of additional context, and is kept on the compaction.
"""

from __future__ import annotations

import re
from pathlib import Path

from explorer.extensions.api import CompactingEvent, Context, Hooks, SessionCompactingResult

TICKET = re.compile(r"(?<![A-Za-z0-9])([A-Z][A-Z0-9]{1,15}-[0-9]{1,9})(?![0-9])")


def activate(hooks: Hooks) -> None:
    hooks.on("session.compacting", add_ticket)


def add_ticket(event: CompactingEvent, ctx: Context) -> SessionCompactingResult | None:
    """One line of context; nothing where no ticket is known."""
    branch = branch_of(ctx.cwd)
    number = str(ctx.settings.get("ticket") or "") or number_in(branch) or number_in(ctx.cwd)
    if not number:
        ctx.log(f"no ticket in the branch {branch or '(none)'} or the folder {ctx.cwd}")
        return None
    line = f"This work belongs to ticket {number}" + (f" (branch {branch})." if branch else ".")
    return SessionCompactingResult(context=[line], preserve_data={"ticket": number})


def number_in(text: str) -> str:
    """The last thing in a text that looks like the number of a ticket; empty for none."""
    found = TICKET.findall(text)
    return found[-1] if found else ""


def branch_of(cwd: str) -> str:
    """The branch that is checked out in a folder or above it; empty where there is none."""
    if not cwd or not Path(cwd).is_absolute():
        return ""
    start = Path(cwd)
    for folder in (start, *start.parents):
        try:
            head = (git_folder(folder / ".git") / "HEAD").read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else ""
    return ""


def git_folder(place: Path) -> Path:
    """Where Git keeps its data; a work tree of its own says so in a file."""
    if place.is_file():
        named = place.read_text(encoding="utf-8").strip().removeprefix("gitdir:").strip()
        return place.parent / named
    return place

"""What an extension imports.

An extension is a Python file (or a package) in the folder ``extensions`` of the settings, or in
``.session-explorer/extensions`` of a project that the person trusts. It has one function::

    from explorer.extensions.api import Hooks, SessionBeforeCompactResult

    def activate(hooks: Hooks) -> None:
        @hooks.on("session_before_compact")
        async def before(event, ctx):
            if event.preparation.tokens_before < 1000:
                return SessionBeforeCompactResult(cancel=True, reason="There is room enough.")

Handlers may be plain functions or ``async``; they take the event, or the event and a ``Context``.
Each runs on a separate thread and has 30 seconds. They are asked in the order in which they
were loaded: files by name, the person's before the project's. The first cancel ends the chain, of
several results the last counts, and what raises is reported and passed over.

The events, and what can be answered by a method of the event, a result or a dict:

``session_before_compact`` (``BeforeCompactEvent``)
    cancel, or supply the whole compaction: ``SessionBeforeCompactResult``.
``session.compacting`` (``CompactingEvent``)
    another prompt, further lines, data to keep: ``SessionCompactingResult``.
``session_request`` (``RequestEvent``)
    other text for a request that is about to be sent: ``SessionRequestResult``.
``session_summary`` (``SummaryEvent``)
    other text for a summary that is about to become a draft: ``SessionSummaryResult``.
``session_compact`` (``CompactEvent``)
    nothing; a compaction was stored.
``session_before_tree`` (``BeforeTreeEvent``)
    cancel, or supply or steer the branch summary: ``SessionBeforeTreeResult``.
``session_tree`` (``TreeEvent``)
    nothing; the leaf has moved.
``turn_end`` (``TurnEndEvent``)
    nothing; a turn of the agent is over.

Every handler may call ``ctx.compact(instructions)``: the session is compacted when the running
turn is over, whatever its threshold says.

A function ``deactivate()`` is called when the extension is unloaded. A file ``NAME.json`` beside
the extension holds its settings: ``hooks.settings`` and ``ctx.settings``. ``print`` and
``ctx.log`` write to the extension's log.
"""

from __future__ import annotations

from explorer.extensions.answers import (
    BranchSummaryResult,
    CompactionResult,
    SessionBeforeCompactResult,
    SessionBeforeTreeResult,
    SessionCompactingResult,
    SessionRequestResult,
    SessionSummaryResult,
)
from explorer.extensions.events import (
    BeforeCompactEvent,
    BeforeTreeEvent,
    CompactEvent,
    CompactingEvent,
    CompactionView,
    Part,
    RequestEvent,
    Signal,
    SummaryEvent,
    TreeEvent,
    TreeView,
    TurnEndEvent,
)
from explorer.extensions.hooks import Context, Hooks

__all__ = [
    "BeforeCompactEvent",
    "BeforeTreeEvent",
    "BranchSummaryResult",
    "CompactEvent",
    "CompactingEvent",
    "CompactionResult",
    "CompactionView",
    "Context",
    "Hooks",
    "Part",
    "RequestEvent",
    "SessionBeforeCompactResult",
    "SessionBeforeTreeResult",
    "SessionCompactingResult",
    "SessionRequestResult",
    "SessionSummaryResult",
    "Signal",
    "SummaryEvent",
    "TreeEvent",
    "TreeView",
    "TurnEndEvent",
]

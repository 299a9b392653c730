"""What a decision about compacting by itself looks at, read from an opened session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from explorer.compaction.triggers import LastReply, Situation
from explorer.session.kinds import CONTEXT_KINDS, Flag, Kind, selector
from explorer.work.effective_rules import EffectiveRules

if TYPE_CHECKING:
    from explorer.work.document import Document

_MESSAGES = selector(CONTEXT_KINDS)


def situation(
    document: Document,
    rules: EffectiveRules,
    model: str,
    reply: LastReply | None,
    requested: bool = False,
) -> Situation:
    """How full the context at the leaf is for a model, and what came since the last compaction."""
    window, threshold = rules.limits(document.door.info(model).window)
    return Situation(
        tokens=document.context_size(rules.profile).tokens,
        counted=document.counted_size(rules.profile),
        threshold=threshold,
        window=window,
        model=model,
        reply=reply,
        new_messages=new_messages(document),
        now_ms=document.writer.now_ms(),
        requested=requested,
    )


def new_messages(document: Document) -> int:
    """Messages on the active path since its last compaction."""
    context = document.context()
    start = context.path.position(context.compaction) + 1 if context.compaction >= 0 else 0
    return len(context.path[start:].select(document.tree.columns.kind, _MESSAGES))


def refused_reply(document: Document) -> LastReply | None:
    """The reply at the leaf, if a model refused the context with it as too large.

    A leaf is newer than any compaction on its path, so what it says is about this context (B13).
    """
    columns, leaf = document.tree.columns, document.leaf
    if leaf < 0 or columns.kind[leaf] != Kind.ASSISTANT or not columns.flags[leaf] & Flag.ERROR:
        return None
    message = document.entry(leaf).get("message")
    if not isinstance(message, dict) or message.get("errorKind") != "overflow":
        return None
    outcome: Literal["overflow"] = "overflow"
    return LastReply(f"{message.get('provider', '')}/{message.get('model', '')}", outcome)

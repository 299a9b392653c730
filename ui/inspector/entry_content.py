"""Reading what a pane shows of an entry: at once when it is small, in a thread when it is large."""

from __future__ import annotations

import json

from msgspec import Struct
from msgspec.structs import replace

from explorer.session.entries import Entry, ShellMessage, TextBlock
from explorer.session.kinds import Flag, Kind
from explorer.session.records import Payloads
from explorer.session.tree import SessionTree
from ui.widgets.message_blocks import (
    Block,
    FactsBlock,
    NamedValue,
    PlainBlock,
    blocks,
    words_of,
)

MOST_RELATED = 64
"""Results that are looked at behind a reply; no reply was seen with more calls."""


class EntryContent(Struct, frozen=True):
    """Everything that is shown of one entry."""

    index: int
    entry: Entry
    blocks: list[Block]
    copy_text: str


def results_after(tree: SessionTree, index: int) -> list[int]:
    """The tool results that directly follow a reply, on every branch."""
    found: list[int] = []
    waiting = tree.children(index)
    while waiting and len(found) < MOST_RELATED:
        at = waiting.pop(0)
        if tree.columns.kind[at] == Kind.TOOL_RESULT:
            found.append(at)
            waiting = tree.children(at) + waiting
    return found


def caller_of(tree: SessionTree, index: int) -> int:
    """The reply whose calls a tool result follows, or -1."""
    at = tree.columns.parent[index]
    for _ in range(MOST_RELATED):
        if at < 0 or tree.columns.kind[at] != Kind.TOOL_RESULT:
            break
        at = tree.columns.parent[at]
    return at if at >= 0 and tree.columns.kind[at] == Kind.ASSISTANT else -1


def related_entries(tree: SessionTree, index: int) -> list[int]:
    """Entries whose payloads are needed to show this one well."""
    kind = tree.columns.kind[index]
    if kind == Kind.ASSISTANT and tree.columns.flags[index] & Flag.HAS_TOOL_CALL:
        return results_after(tree, index)
    if kind == Kind.TOOL_RESULT:
        caller = caller_of(tree, index)
        return [caller] if caller >= 0 else []
    return []


def is_large(tree: SessionTree, index: int) -> bool:
    """Whether showing this entry reads a payload that takes time."""
    flags = tree.columns.flags
    estimate = tree.columns.estimate
    return any(
        flags[at] & Flag.LARGE or estimate[at] > 16_000
        for at in (index, *related_entries(tree, index))
    )


def gather(payloads: Payloads, index: int, related: list[int]) -> EntryContent:
    """Read an entry and those that belong to it. Raises what the payloads raise."""
    entry = payloads.entry(index)
    others = dict(zip(related, payloads.entries(related), strict=True))
    shown = blocks(entry, others)
    texts = [words_of(block) for block in shown if isinstance(block, _COPIED)]
    copied = "\n".join(texts) or entry.text
    if not copied:
        copied = json.dumps(dict(entry.recorded), ensure_ascii=False, indent=2)
    return EntryContent(index, entry, shown, copied)


_COPIED = (TextBlock, PlainBlock, ShellMessage)


def with_numbers(found: list[Block], tree: SessionTree, index: int) -> list[Block]:
    """Facts of an entry that name another one, by the number that it has everywhere else."""

    def shown(fact: NamedValue) -> NamedValue:
        at = tree.index_above(fact.entry_id, index)
        return replace(fact, value=f"#{at}") if at >= 0 else fact

    return [
        FactsBlock(tuple(map(shown, block.facts))) if isinstance(block, FactsBlock) else block
        for block in found
    ]


def pruned_facts(tree: SessionTree, index: int) -> list[Block]:
    """Which prunes a tool result is covered by, and what the model is sent in its place."""
    prunes, ids = tree.columns.prunes, tree.columns.ids
    back = {facts.undoes: at for at, facts in prunes.items() if facts.undoes}
    found: list[Block] = []
    for at, facts in prunes.items():
        result = None if facts.undoes else tree.prune_results(at).get(index)
        if result is None:
            continue
        lines = [
            NamedValue("Pruned by", f"#{at}", ids[at]),
            NamedValue("The model is sent", f"{result.text} in its place, below that entry"),
            NamedValue(
                "Recorded when pruned",
                f"{result.tokens:,} tokens, its note {result.note_tokens:,}",
            ),
        ]
        if ids[at] in back:
            undo = back[ids[at]]
            lines.append(NamedValue("Taken back by", f"#{undo}", ids[undo]))
        found.append(FactsBlock(tuple(lines)))
    return found


def shaped_facts(tree: SessionTree, index: int) -> list[Block]:
    """The edits of this entry: pins, omissions, their ends, and what was undone."""
    shapes, ids = tree.columns.shapes, tree.columns.ids
    back = {facts.undoes: at for at, facts in shapes.items() if facts.undoes}
    lines: list[NamedValue] = []
    for at, facts in shapes.items():
        named = any(name == ids[index] for name, _ in facts.entries)
        if named:
            lines.append(
                NamedValue("Pinned by" if facts.kind == "pin" else "Omitted by", f"#{at}", ids[at])
            )
        elif ids[index] in facts.lifts:
            word = "Unpinned by" if facts.kind == "pin" else "Taken in again by"
            lines.append(NamedValue(word, f"#{at}", ids[at]))
        else:
            continue
        if facts.reason:
            lines.append(NamedValue("Why", facts.reason))
        if ids[at] in back:
            undo = back[ids[at]]
            lines.append(NamedValue("Taken back by", f"#{undo}", ids[undo]))
    return [FactsBlock(tuple(lines))] if lines else []


def pretty(payloads: Payloads, index: int) -> str:
    """The entry's JSON with indents; as it stands where it is no JSON, or holds a number that
    Python does not read."""
    raw = payloads.raw(index)
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return raw

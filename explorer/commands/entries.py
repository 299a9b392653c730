"""The entries of a session: tree and context print them; pin, omit and keep-messages edit them."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from explorer.commands.output import CommandFailed, UsageError, print_json, print_table
from explorer.commands.targets import (
    Target,
    add_common,
    add_output,
    add_profile,
    add_session,
    check_output,
    entry_named,
    export_result,
    session_rules,
    target,
)
from explorer.compaction.context_size import ContextSize, message_tokens
from explorer.compaction.path_view import EntrySizes
from explorer.compaction.profile import PROFILES
from explorer.models.client import ChatMessage, ImagePart
from explorer.prompting.rendered_prompt import BudgetExceededError
from explorer.services.agent import outgoing_of
from explorer.services.document import Document
from explorer.services.edits import CannotShape
from explorer.services.sent_context import SentContext, sent_context
from explorer.services.skeleton import places, skeleton, write_graph
from explorer.session.columns import SessionColumns
from explorer.session.context import PathContext, sent_tokens
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from explorer.session.visible_text import visible_line


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the arguments of one of this module's commands."""
    add_session(parser)
    match command:
        case "tree":
            parser.add_argument(
                "--all", action="store_true", help="every entry, not only where paths meet"
            )
            parser.add_argument(
                "--graph",
                type=Path,
                metavar="FILE",
                help="write it to FILE (.graphml, .gexf, .gml, .json)",
            )
        case "context":
            add_profile(parser)
            parser.add_argument(
                "--model", metavar="M", help="who is asked (default: the session's model there)"
            )
        case "pin" | "omit":
            parser.add_argument("entries", nargs="+", metavar="ENTRY", help="an id or #index")
            parser.add_argument("--undo", action="store_true", help="end it for these entries")
            _add_edit_options(parser)
        case "keep-messages":
            parser.add_argument(
                "tokens", type=int, metavar="TOKENS", help="the newest up to so many; 0: none"
            )
            _add_edit_options(parser)
    add_common(parser)


def _add_edit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", default="", metavar="TEXT", help="stored with the entry")
    add_output(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    if arguments.command not in ("tree", "context"):
        _edit(arguments)
        return
    with target(arguments) as chosen:
        {"tree": _tree, "context": _context}[arguments.command](arguments, chosen)


def kind_name(kind: int) -> str:
    return Kind(kind).name.lower()


def _tree(arguments: argparse.Namespace, chosen: Target) -> None:
    tree = chosen.document.tree
    columns = tree.columns
    labels = tree.labels()
    shown = range(len(tree)) if arguments.all else _with_entry(places(tree), chosen.at)
    if arguments.graph:
        _write_graph(arguments.graph, tree, chosen.at)
    active = tree.path(chosen.at)
    previews = chosen.document.payloads.shown.previews(shown)
    tokens = chosen.document.tokens
    sizes = EntrySizes(tree, chosen.at, tokens.weights_for(tokens.profile))
    depth = _depths(tree.columns.parent, tree.branch_points())
    if arguments.json:
        print_json(
            {
                "title": chosen.document.title,
                "entries": len(tree),
                "leaf": columns.ids[chosen.at] if chosen.at >= 0 else None,
                "nodes": [
                    {
                        "index": at,
                        "id": columns.ids[at],
                        "parent": columns.ids[columns.parent[at]]
                        if columns.parent[at] >= 0
                        else None,
                        "kind": kind_name(columns.kind[at]),
                        "tokens": None if columns.is_size_unknown(at) else sizes[at],
                        "active": at in active,
                        "label": labels.get(at),
                        "text": text,
                    }
                    for at, text in zip(shown, previews, strict=True)
                ],
            }
        )
        return
    rows = []
    for at, text in zip(shown, previews, strict=True):
        mark = "●" if at == chosen.at else "│" if at in active else " "
        label = f"[{labels[at]}] " if at in labels else ""
        label += "undone: " if tree.is_undone(at, chosen.document.leaf) else ""
        indent = "  " * min(depth[at], 12)
        rows.append((f"#{at}", columns.ids[at], mark, kind_name(columns.kind[at]),
                     _tokens_shown(columns, at, sizes[at]), f"{indent}{label}{text}"))  # fmt: skip
    print_table(("#", "entry", "", "kind", "tokens", "text"), rows, right=(0, 4))


def _tokens_shown(columns: SessionColumns, entry: int, tokens: int) -> int | str:
    """Tokens of an entry; a dash where nobody can count them."""
    return "–" if columns.is_size_unknown(entry) else tokens


def _with_entry(entries: list[int], at: int) -> list[int]:
    return sorted({*entries, at}) if at >= 0 else entries


def _write_graph(path: Path, tree: SessionTree, leaf: int) -> None:
    try:
        write_graph(skeleton(tree, leaf), path)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _id_or_none(columns: SessionColumns, index: int) -> str | None:
    return columns.ids[index] if index >= 0 else None


def _depths(parent: Iterable[int], branch_points: list[int]) -> list[int]:
    """How many branch points lie above each entry."""
    forks = set(branch_points)
    depths: list[int] = []
    for above in parent:
        depths.append(0 if above < 0 else depths[above] + (above in forks))
    return depths


def _context(arguments: argparse.Namespace, chosen: Target) -> None:
    document = chosen.document
    context = document.context(chosen.at)
    profile, _ = session_rules(arguments.profile, document.header.cwd)
    model = arguments.model or context.model
    pictures = document.models.info(model).images is not False
    outgoing = replace(outgoing_of(document.shared.agent_prompt, model, None), pictures=pictures)
    try:
        sent = sent_context(document, profile, outgoing, chosen.at)
    except BudgetExceededError as error:
        raise CommandFailed(str(error)) from error
    size = document.tokens.context_size(profile, chosen.at)
    if arguments.json:
        print_json(_context_json(document, context, sent, size))
        return
    columns = document.tree.columns
    named = [message.source for message in sent.messages if message.source >= 0]
    previews = dict(zip(named, document.payloads.shown.previews(named), strict=True))
    rows = [
        (
            f"#{at}" if at >= 0 else "",
            columns.ids[at] if at >= 0 else "",
            message.role,
            _tokens_shown(columns, at, tokens),
            _context_line(context, sent, message, previews),
        )
        for message, tokens in zip(sent.messages, sent.tokens, strict=True)
        for at in (message.source,)
    ]
    print_table(("#", "entry", "role", "tokens", "text"), rows, right=(0, 3))
    document.tokens.profile = profile
    counted = sum(message_tokens(document.tree, context, document.tokens.weights_for(profile)))
    listed = f"; counted here ({document.tokens.counted_by}): the entries {counted:,}"
    if sent.sent_tokens != counted:
        listed += f", as sent {sent.sent_tokens:,}"
    if beyond := size.beyond_of(counted):
        listed += f", beyond the entries {beyond:,}"
    # "off" is also what stands where nothing is recorded.
    level = context.thinking_level
    thinking = f", thinking {level}" if level != "off" else ""
    print(
        f"{len(rows):,} messages, {size.shown:,} tokens ({size.source}){listed}; "
        + visible_line(f"model {context.model or 'none'}{thinking}")
    )
    for entry, why in sent.unsent.items():
        tokens = sent_tokens(context, entry, document.tokens.entry_tokens(entry))
        print(visible_line(f"not sent: #{entry}, {tokens:,} tokens: {why}"))
    if context.omitted:
        print(f"omitted: {', '.join(f'#{at}' for at in context.omitted)}")


def _context_line(
    context: PathContext, sent: SentContext, message: ChatMessage, previews: Mapping[int, str]
) -> str:
    at = message.source
    line = previews.get(at) or message.text
    if at in context.again:
        line = f"{_REPEAT_REASONS[context.again[at].why]}: {line}"
    return f"{line}  [{sent.changed[at]}]" if at in sent.changed else line


def _context_json(
    document: Document, context: PathContext, sent: SentContext, size: ContextSize
) -> dict[str, Any]:
    columns = document.tree.columns
    return {
        "leaf": _id_or_none(columns, context.leaf),
        "model": context.model,
        "thinking_level": context.thinking_level if columns.thinking else None,
        "compaction": _id_or_none(columns, context.compaction),
        "tokens": sum(sent.tokens),
        "sent_tokens": sent.sent_tokens,
        "token_source": document.tokens.counted_by,
        "context_tokens": size.tokens,
        "context_tokens_beyond": size.beyond,
        "context_tokens_source": size.source,
        "messages": [
            {
                "entry": _id_or_none(columns, message.source),
                "kind": kind_name(columns.kind[message.source]) if message.source >= 0 else None,
                "tokens": None if columns.is_size_unknown(message.source) else tokens,
                "changed": sent.changed.get(message.source),
                **message_json(message),
            }
            | _repeat_json(document, context, message.source)
            for message, tokens in zip(sent.messages, sent.tokens, strict=True)
        ],
        "unsent": [{"entry": columns.ids[at], "why": why} for at, why in sent.unsent.items()],
        "omitted": [columns.ids[at] for at in context.omitted],
    }


def message_json(message: ChatMessage) -> dict[str, Any]:
    """A message of a request, word for word; of its pictures the number."""
    thinking = (message.thinking, *message.more_thinking) if message.thinking else ()
    pictures = [part for part in message.content if isinstance(part, ImagePart)]
    return {
        "role": message.role,
        "text": message.text,
        "pictures": len(pictures),
        "calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ],
        "answers": message.tool_call_id,
        "thinking": [part.text for part in thinking],
    }


_REPEAT_REASONS = {"pin": "pinned", "user-message": "kept", "recorded": "kept"}


def _repeat_json(document: Document, context: PathContext, entry: int) -> dict[str, Any]:
    """The source of the rule by which a message is repeated after the summary, and by which
    entry."""
    repeat = context.again.get(entry)
    if repeat is None:
        return {}
    return {"told_again": repeat.why, "by": _id_or_none(document.tree.columns, repeat.by)}


_NONE: tuple[int, ...] = ()
_DONE = {
    ("pin", False): "pinned",
    ("pin", True): "unpinned",
    ("omit", False): "omitted",
    ("omit", True): "taken in again",
}


def _edit(arguments: argparse.Namespace) -> None:
    tokens = getattr(arguments, "tokens", None)
    if tokens is not None and tokens < 0:
        raise UsageError(f"the tokens must be at least 0, not {tokens}")
    with target(arguments) as chosen:
        check_output(arguments)
        if chosen.at != chosen.document.leaf:
            raise UsageError("entries are shaped at the leaf; go there first, with branch")
        if not chosen.stored and arguments.output is None:
            raise UsageError("the file is not changed; name --output FILE to keep the result")
        entry, entries = asyncio.run(_append_edit(arguments, chosen))
        _print_edit(arguments, chosen, entry, entries)


async def _append_edit(
    arguments: argparse.Namespace, chosen: Target
) -> tuple[int, tuple[int, ...]]:
    """The entry that was appended, and the entries that it concerns."""
    document, reason = chosen.document, arguments.reason
    try:
        if arguments.command == "keep-messages":
            edit = await document.edits.keep_user_messages(arguments.tokens, reason), _NONE
        else:
            wanted = [entry_named(document, name) for name in arguments.entries]
            edits = {
                ("pin", False): document.edits.pin,
                ("pin", True): document.edits.unpin,
                ("omit", False): document.edits.omit,
                ("omit", True): document.edits.include,
            }
            shaped = await edits[arguments.command, arguments.undo](wanted, reason)
            edit = shaped.entry, shaped.entries
    except CannotShape as error:
        raise CommandFailed(f"{error} Nothing was changed.") from error
    if arguments.output:
        await export_result(arguments, chosen, "the entry was stored")
    return edit


def _print_edit(
    arguments: argparse.Namespace, chosen: Target, entry: int, entries: tuple[int, ...]
) -> None:
    document = chosen.document
    ids, profile = document.tree.columns.ids, PROFILES["explorer"]
    rows = document.edits.shaped_rows(profile)
    if arguments.json:
        print_json(_edit_json(chosen, entry, entries))
        return
    if arguments.command == "keep-messages":
        print(f"the user's messages are kept up to {arguments.tokens:,} tokens")
    else:
        # What is repeated takes its heading too: the sum is that of the rows below.
        repeat = {row.entry: row.tokens for row in rows}
        tokens = sum(repeat.get(at, document.tokens.entry_tokens(at, profile)) for at in entries)
        names = ", ".join(f"#{at}" for at in entries)
        print(f"{names} {_DONE[arguments.command, arguments.undo]}, {tokens:,} tokens")
    print(f"stored as entry {ids[entry]}")
    if rows:
        print_table(
            ("#", "entry", "how", "sent", "tokens"),
            [(f"#{r.entry}", ids[r.entry], r.how, r.sent, r.tokens) for r in rows],
            right=(0, 4),
        )


def _edit_json(chosen: Target, entry: int, entries: tuple[int, ...]) -> dict[str, Any]:
    document = chosen.document
    ids = document.tree.columns.ids
    return {
        "entry": ids[entry],
        "entries": [ids[at] for at in entries],
        "shaped": [
            {
                "entry": ids[row.entry],
                "index": row.entry,
                "how": row.how,
                "told": row.sent,
                "tokens": row.tokens,
                "by": ids[row.by] if row.by >= 0 else None,
            }
            for row in document.edits.shaped_rows(PROFILES["explorer"])
        ],
    }

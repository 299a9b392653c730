"""tree and context."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from explorer.cli import UsageError
from explorer.commands.output import print_json, print_table
from explorer.commands.targets import Target, target
from explorer.compaction.profile import PROFILES
from explorer.session.columns import SessionColumns
from explorer.session.context import Context, sent_tokens
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from explorer.session.visible_text import visible_line
from explorer.work.document import Document
from explorer.work.skeleton import places, skeleton, write_graph


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    with target(arguments) as chosen:
        {"tree": _tree, "context": _context}[arguments.command](arguments, chosen)


def kind_name(kind: int) -> str:
    return Kind(kind).name.lower()


def _tree(arguments: argparse.Namespace, chosen: Target) -> None:
    tree = chosen.document.tree
    columns = tree.columns
    labels = tree.labels()
    shown = range(len(tree)) if arguments.all else _with(places(tree), chosen.at)
    if arguments.graph:
        _write_graph(arguments.graph, tree, chosen.at)
    active = tree.path(chosen.at)
    previews = chosen.document.previews(shown)
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
                        "tokens": columns.estimate[at],
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
        indent = "  " * min(depth[at], 12)
        rows.append((f"#{at}", columns.ids[at], mark, kind_name(columns.kind[at]),
                     columns.estimate[at], f"{indent}{label}{text}"))  # fmt: skip
    print_table(("#", "entry", "", "kind", "tokens", "text"), rows, right=(0, 4))


def _with(entries: list[int], at: int) -> list[int]:
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
    columns = document.tree.columns
    previews = document.previews(context.messages)
    sent = [sent_tokens(context, at, columns.estimate[at]) for at in context.messages]
    total = sum(sent)
    size = document.context_size(PROFILES["explorer"], chosen.at)
    if arguments.json:
        print_json(
            {
                "leaf": columns.ids[chosen.at] if chosen.at >= 0 else None,
                "model": context.model,
                "thinking_level": context.thinking_level,
                "compaction": columns.ids[context.compaction] if context.compaction >= 0 else None,
                "tokens": total,
                "token_source": "estimate",
                "context_tokens": size.tokens,
                "context_tokens_source": size.source,
                "messages": [
                    {
                        "entry": columns.ids[at],
                        "kind": kind_name(columns.kind[at]),
                        "tokens": tokens,
                        "text": text,
                    }
                    | _told_again(document, context, at)
                    for at, tokens, text in zip(context.messages, sent, previews, strict=True)
                ],
                "omitted": [columns.ids[at] for at in context.omitted],
            }
        )
        return
    rows = [
        (
            f"#{at}",
            columns.ids[at],
            kind_name(columns.kind[at]),
            tokens,
            f"{_AGAIN[context.again[at].why]}: {text}" if at in context.again else text,
        )
        for at, tokens, text in zip(context.messages, sent, previews, strict=True)
    ]
    print_table(("#", "entry", "kind", "tokens", "text"), rows, right=(0, 3))
    listed = "" if size.source == "estimate" else f", {total:,} by the estimate above"
    print(
        f"{len(rows):,} messages, {size.tokens:,} tokens ({size.source}){listed}, "
        + visible_line(f"model {context.model or 'none'}, thinking {context.thinking_level}")
    )
    if context.omitted:
        print(f"omitted: {', '.join(f'#{at}' for at in context.omitted)}")


_AGAIN = {"pin": "pinned", "user-message": "kept"}


def _told_again(document: Document, context: Context, entry: int) -> dict[str, Any]:
    """What says that a message is told again after the summary, and by which entry."""
    told = context.again.get(entry)
    if told is None:
        return {}
    return {"told_again": told.why, "by": _id_or_none(document.tree.columns, told.by)}

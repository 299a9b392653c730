"""prune: old tool results give way to notes."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from typing import Any

from explorer.cli import CommandFailed, UsageError
from explorer.commands.output import print_json, print_table
from explorer.commands.profiles import named_profile
from explorer.commands.results import check_output, export_result, why_not_stored
from explorer.commands.settled import settled
from explorer.commands.targets import Target, target
from explorer.compaction.pruning import PruningPlan
from explorer.session.visible_text import visible_line
from explorer.work.edits import pruning_of


def run(arguments: argparse.Namespace) -> None:
    """Run the command. Raises UsageError or CommandFailed."""
    if arguments.profile is not None:
        named_profile(arguments.profile)
    given = _given(arguments)
    with target(arguments) as chosen:
        profile = settled(arguments.profile, chosen.document.header.cwd).profile
        policy = replace(pruning_of(profile), **given)
        check_output(arguments)
        plan = chosen.document.edits.plan_pruning(
            profile, policy, at=chosen.at, needed=arguments.needed
        )
        index = None
        if plan.results and not arguments.dry_run:
            index = asyncio.run(_prune(arguments, chosen, plan))
        kept = index is not None and (chosen.stored or bool(arguments.output))
        if arguments.json:
            print_json(_document(chosen, plan, index, kept))
            return
        _print(arguments, chosen, plan, index if kept else None)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The sizes that the command line names. Raises UsageError."""
    given = {"protect_tokens": arguments.protect, "minimum_savings": arguments.minimum}
    for name, value in (*given.items(), ("needed", arguments.needed)):
        if value is not None and value < 0:
            option = {"protect_tokens": "--protect", "minimum_savings": "--minimum"}
            raise UsageError(f"{option.get(name, '--needed')} must be at least 0, not {value}")
    return {name: value for name, value in given.items() if value is not None}


async def _prune(arguments: argparse.Namespace, chosen: Target, plan: PruningPlan) -> int:
    try:
        index = await chosen.document.edits.prune(plan, moves_leaf=arguments.at is not None)
    except ValueError as error:
        raise CommandFailed(f"{error} Nothing was changed.") from error
    if arguments.output:
        await export_result(arguments, chosen, "the prune was stored")
    return index


def _document(chosen: Target, plan: PruningPlan, index: int | None, kept: bool) -> dict[str, Any]:
    ids = chosen.document.tree.columns.ids
    return {
        "leaf": ids[plan.leaf] if plan.leaf >= 0 else None,
        "entry": ids[index] if index is not None else None,
        "stored": kept,
        "protect_tokens": plan.policy.protect_tokens,
        "minimum_savings": plan.policy.minimum_savings,
        "protected_tools": list(plan.policy.protected_tools),
        "pruned_count": len(plan.results),
        "tokens_saved": plan.saved,
        "could_save": plan.could_save,
        "replaced_with": {ids[one.entry]: one.note for one in plan.results},
        "results": [
            {
                "entry": ids[one.entry],
                "index": one.entry,
                "tool": one.tool,
                "tokens": one.tokens,
                "saved": one.saved,
                "why": one.why,
                "by": ids[one.by] if one.by >= 0 else None,
                "reason": one.reason,
            }
            for one in plan.results
        ],
        "reason": plan.reason,
    }


def _print(
    arguments: argparse.Namespace, chosen: Target, plan: PruningPlan, index: int | None
) -> None:
    ids = chosen.document.tree.columns.ids
    if plan.results:
        print_table(
            ("#", "entry", "tool", "tokens", "saved", "why"),
            [
                (f"#{one.entry}", ids[one.entry], one.tool, one.tokens, one.saved, one.reason)
                for one in plan.results
            ],
            right=(0, 3, 4),
        )
    print(visible_line(plan.reason))
    if not plan.results:
        return
    print(f"{plan.saved:,} tokens saved")
    if index is not None:
        print(f"stored as entry {ids[index]}")
    else:
        print(why_not_stored(arguments))

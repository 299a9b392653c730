"""preview, compact and branch."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict, replace
from typing import Any

from explorer.cli import CommandFailed, UsageError
from explorer.commands.output import print_json, print_table, printable_lines
from explorer.commands.results import check_output, export_result, why_not_stored
from explorer.commands.targets import Target, entry_named, target
from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.prepare import Preparation
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.summary import footer
from explorer.models.door import Cancelled, CancelToken
from explorer.session.kinds import Kind
from explorer.work.drafting import Draft, DraftFailed, Order

VERDICT_NAMES = {verdict: verdict.name.lower() for verdict in Verdict}


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    profile, settings = chosen_settings(arguments)
    with target(arguments) as chosen:
        if arguments.command == "preview":
            _preview(arguments, chosen, profile, settings)
        else:
            work = _compact if arguments.command == "compact" else _branch
            try:
                asyncio.run(work(arguments, chosen, profile, settings))
            except DraftFailed as error:
                raise CommandFailed(f"{error} Nothing was changed.") from error
            except Cancelled as error:
                raise CommandFailed("Cancelled; nothing was changed.") from error
            except ValueError as error:
                raise CommandFailed(str(error)) from error


def chosen_settings(arguments: argparse.Namespace) -> tuple[Profile, Settings]:
    """The profile and its numbers, with those given on the command line. Raises UsageError."""
    profile = PROFILES.get(arguments.profile)
    if profile is None:
        known = ", ".join(PROFILES)
        raise UsageError(f"there is no profile {arguments.profile!r}; there are: {known}")
    given = {
        "keep_recent_tokens": arguments.keep_recent,
        "reserve_tokens": arguments.reserve,
        "context_window": arguments.window,
    }
    for name, value in given.items():
        if value is not None and value < 1:
            option = {"keep_recent_tokens": "--keep-recent", "reserve_tokens": "--reserve"}
            raise UsageError(f"{option.get(name, '--window')} must be at least 1, not {value}")
    changed = {name: value for name, value in given.items() if value is not None}
    return profile, replace(Settings.of(profile), **changed)


def preview_json(chosen: Target, shown: Partition) -> dict[str, Any]:
    """A preview under the names of the reference vectors, beside its ledger."""
    columns = chosen.document.tree.columns
    prepared = shown.preparation
    document: dict[str, Any] = {
        "leaf": columns.ids[chosen.at] if chosen.at >= 0 else None,
        "profile": prepared.profile.name,
        **asdict(prepared.settings),
        "context_limit": _limit(prepared.settings),
        "tokens_of_entries": shown.context_estimate,
        "tokens_after_estimate": shown.tokens_after_estimate,
        "ledger": [
            {
                "entry": columns.ids[entry],
                "index": entry,
                "kind": Kind(columns.kind[entry]).name.lower(),
                "verdict": VERDICT_NAMES[Verdict(shown.verdicts[position])],
                "tokens": shown.weight(position),
                "reason": shown.reason(position),
            }
            for position, entry in enumerate(shown.path)
        ],
    }
    if not isinstance(prepared, Preparation):
        return {**document, "result": None, "reason": prepared.reason}
    return {
        **document,
        "first_kept_entry": columns.ids[prepared.first_kept],
        "is_split_turn": prepared.is_split_turn,
        "tokens_before": prepared.tokens_before,
        "tokens_source": prepared.tokens_source,
        "messages_to_summarize": [columns.ids[at] for at in prepared.history],
        "turn_prefix_messages": [columns.ids[at] for at in prepared.turn_prefix],
        "read_files": list(prepared.read_files),
        "modified_files": list(prepared.modified_files),
        "file_operations_footer": footer(prepared.read_files, prepared.modified_files),
        "reason": prepared.reason,
    }


def _limit(settings: Settings) -> int:
    """Tokens that a context may take before there is no room for an answer."""
    return max(0, settings.context_window - settings.reserve_tokens)


def _preview(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    shown = chosen.document.preview(chosen.at, profile, settings)
    model = arguments.model or chosen.document.door.default_model()
    requests = chosen.document.requests(shown, arguments.instructions, model)
    if arguments.json:
        value = preview_json(chosen, shown)
        value["requests"] = [
            {
                "purpose": request.purpose,
                "model": model,
                "system": request.system,
                "prompt": request.prompt,
                "max_output_tokens": request.max_output_tokens,
            }
            for request in requests
        ]
        print_json(value)
        return
    columns = chosen.document.tree.columns
    entries = shown.path.indices()
    previews = chosen.document.previews(entries)
    print_table(
        ("#", "entry", "kind", "verdict", "tokens", "text"),
        [
            (
                f"#{entry}",
                columns.ids[entry],
                Kind(columns.kind[entry]).name.lower(),
                VERDICT_NAMES[Verdict(shown.verdicts[position])].replace("_", " "),
                shown.weight(position),
                text,
            )
            for position, (entry, text) in enumerate(zip(entries, previews, strict=True))
        ],
        right=(0, 4),
    )
    print(shown.preparation.reason)
    if isinstance(shown.preparation, Preparation):
        print(
            f"{shown.tokens_before:,} tokens now ({shown.preparation.tokens_source}), of "
            f"{_limit(settings):,} that fit; the entries take {shown.context_estimate:,} "
            f"({shown.counted_by}), about {shown.tokens_after_estimate:,} after"
        )


def _say(arguments: argparse.Namespace, text: str) -> None:
    if not arguments.json:
        print(text)


def _order(arguments: argparse.Namespace, model: str) -> Order:
    return Order(arguments.instructions, model, lambda purpose, text: None, CancelToken())


async def _compact(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    document = chosen.document
    check_output(arguments)
    shown = document.preview(chosen.at, profile, settings)
    if not isinstance(shown.preparation, Preparation):
        raise CommandFailed(f"{shown.preparation.reason} Nothing was changed.")
    model = arguments.model or document.door.default_model()
    draft = await document.summarize(shown, _order(arguments, model))
    before = document.context(chosen.at).messages
    index = None if arguments.dry_run else await document.commit(draft)
    await _finish(arguments, chosen, draft, index)
    if index is not None:
        now = len(document.context().messages)
        _say(arguments, f"{len(before):,} messages before, {now:,} after")


async def _branch(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    document = chosen.document
    check_output(arguments)
    plan = document.plan(entry_named(document, arguments.to), chosen.at)
    if plan.is_noop:
        raise CommandFailed("That is where the session is already; nothing was changed.")
    draft = None
    if plan.leaves_branch and not arguments.no_summary:
        prepared = document.branch_preparation(plan, profile, settings)
        # Where nothing can be told, no entry is made (B16).
        if document.branch_requests(prepared, arguments.instructions):
            model = arguments.model or document.door.default_model()
            draft = await document.summarize_branch(plan, prepared, _order(arguments, model))
    index = None if arguments.dry_run else await document.navigate(plan, draft)
    if draft is None:
        await _tell_move(arguments, chosen, plan.new_leaf)
        return
    await _finish(arguments, chosen, draft, index)


async def _tell_move(arguments: argparse.Namespace, chosen: Target, leaf: int) -> None:
    """Print where the leaf went without a summary, or would go."""
    done = not arguments.dry_run
    if done and arguments.output:
        await export_result(arguments, chosen, "the leaf was moved")
    stored = done and (chosen.stored or bool(arguments.output))
    where = chosen.document.tree.columns.ids[leaf] if leaf >= 0 else None
    if arguments.json:
        print_json({"entry": None, "stored": stored, "leaf": where, "summary": None})
        return
    place = where or "before the first entry"
    if stored:
        print(f"leaf is now {place}")
    else:
        print(f"leaf would be {place}; {why_not_stored(arguments)}")


async def _finish(
    arguments: argparse.Namespace, chosen: Target, draft: Draft, index: int | None
) -> None:
    """Print a draft and what was done with it, and write the output file if one was named."""
    if arguments.output and index is not None:
        await export_result(arguments, chosen, "the summary was stored")
    kept = chosen.stored or bool(arguments.output)
    columns = chosen.document.tree.columns
    if arguments.json:
        print_json(
            {
                "entry": columns.ids[index] if index is not None else None,
                "stored": index is not None and kept,
                "summary": draft.summary,
                "first_kept_entry": draft.first_kept_id or None,
                "from_entry": draft.from_id or None,
                "tokens_before": draft.tokens_before,
                "read_files": list(draft.read_files),
                "modified_files": list(draft.modified_files),
                "model": draft.model,
                "elapsed_ms": round(draft.elapsed_ms, 1),
            }
        )
        return
    print(printable_lines(draft.summary))
    print()
    if index is not None and kept:
        print(f"stored as entry {columns.ids[index]}")
    else:
        print(why_not_stored(arguments))

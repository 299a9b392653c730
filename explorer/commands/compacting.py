"""preview, compact and branch."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import asdict, replace
from typing import Any

from explorer.cli import CommandFailed, UsageError
from explorer.commands.asking import ask_extensions
from explorer.commands.output import print_json, print_table
from explorer.commands.profiles import named_profile
from explorer.commands.prompting import tell_problems
from explorer.commands.results import check_output, export_result, why_not_stored
from explorer.commands.settled import settled
from explorer.commands.targets import Target, entry_named, target
from explorer.commands.verify_step import Verified, tell, verify
from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.summary import files_footer
from explorer.compaction.triggers import limit_of
from explorer.extensions.records import records_of
from explorer.models.door import REMOTE, Cancelled, CancelToken, ModelError
from explorer.models.remote import check_address
from explorer.session.kinds import Kind
from explorer.session.visible_text import visible_line
from explorer.work.drafting import Attempt, Draft, DraftFailed, Order
from explorer.work.extending import SummaryDeclined

VERDICT_NAMES = {verdict: verdict.name.lower() for verdict in Verdict}


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    check_sizes(arguments)
    with target(arguments) as chosen:
        profile, settings = chosen_settings(arguments, chosen)
        tell_problems()
        if arguments.command == "preview":
            _preview(arguments, chosen, profile, settings)
        else:
            ask_extensions(arguments, chosen)
            work = _compact if arguments.command == "compact" else _branch
            try:
                asyncio.run(work(arguments, chosen, profile, settings))
            except DraftFailed as error:
                raise CommandFailed(f"{error} Nothing was changed.") from error
            except Cancelled as error:
                raise CommandFailed("Cancelled; nothing was changed.") from error
            except ValueError as error:
                raise CommandFailed(str(error)) from error


def check_sizes(arguments: argparse.Namespace) -> None:
    """Refuse what no session can be compacted with. Raises UsageError."""
    if arguments.profile is not None:
        named_profile(arguments.profile)
    for name in ("keep_recent", "reserve", "window"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be at least 1, not {value}")


def chosen_settings(arguments: argparse.Namespace, chosen: Target) -> tuple[Profile, Settings]:
    """The profile and its numbers, as the settings have them, with those given on the command line.

    Models and endpoint of the settings go to the arguments where these name none.
    """
    profile, values = settled(arguments.profile, chosen.document.header.cwd)
    arguments.model = arguments.model or ",".join(values.get("compaction.model", ()))
    arguments.endpoint = arguments.endpoint or profile.remote_endpoint
    given = {
        "keep_recent_tokens": arguments.keep_recent,
        "reserve_tokens": arguments.reserve,
        "context_window": arguments.window,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    if arguments.reserve is not None:
        # The one number on the command line is for whichever summary is asked for.
        profile = replace(profile, branch_reserve_tokens=arguments.reserve)
    return profile, replace(Settings.of(profile), **changed)


def preview_json(chosen: Target, shown: Partition) -> dict[str, Any]:
    """A preview under the names of the reference vectors, beside its ledger."""
    columns = chosen.document.tree.columns
    prepared = shown.preparation
    document: dict[str, Any] = {
        "leaf": columns.ids[chosen.at] if chosen.at >= 0 else None,
        "profile": prepared.profile.name,
        **asdict(prepared.settings),
        "context_limit": _limit(prepared.profile, prepared.settings),
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
        "failed_files": list(prepared.failed_files),
        "file_changes": [one._asdict() for one in prepared.file_changes],
        "file_operations_footer": files_footer(prepared),
        "reason": prepared.reason,
    }


def _limit(profile: Profile, settings: Settings) -> int:
    """Tokens that a context may take before there is no room for an answer."""
    return max(0, limit_of(profile, settings))


def _preview(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    shown = chosen.document.preview(chosen.at, profile, settings)
    model = _models(arguments, chosen)[0]
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
    print(visible_line(shown.preparation.reason))
    if isinstance(shown.preparation, Preparation):
        print(
            f"{shown.tokens_before:,} tokens now ({shown.preparation.tokens_source}), of "
            f"{_limit(profile, settings):,} that fit; the entries take {shown.context_estimate:,} "
            f"({shown.counted_by}), about {shown.tokens_after_estimate:,} after"
        )


def _say(arguments: argparse.Namespace, text: str) -> None:
    if not arguments.json:
        print(visible_line(text))


def _models(arguments: argparse.Namespace, chosen: Target) -> tuple[str, ...]:
    """The models to ask, in order (A43). Raises UsageError for an address that cannot be used."""
    named = [name.strip() for name in (arguments.model or "").split(",") if name.strip()]
    if arguments.endpoint:
        try:
            check_address(arguments.endpoint)
        except ModelError as error:
            raise UsageError(f"--endpoint: {error.message}") from error
        return (REMOTE, *named)
    return tuple(named) or (chosen.document.door.default_model(),)


def _order(arguments: argparse.Namespace, chosen: Target) -> Order:
    """What the command line asks for; what is waited for is told on standard error."""
    first, *others = _models(arguments, chosen)
    return Order(
        arguments.instructions,
        first,
        lambda purpose, text: None,
        CancelToken(),
        fallbacks=tuple(others),
        on_progress=lambda sentence: print(visible_line(sentence), file=sys.stderr),
        endpoint=arguments.endpoint,
    )


async def _compact(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    document = chosen.document
    check_output(arguments)
    shown = document.preview(chosen.at, profile, settings)
    if not isinstance(shown.preparation, Preparation):
        raise CommandFailed(f"{shown.preparation.reason} Nothing was changed.")
    order = _order(arguments, chosen)
    draft, verified = await document.summarize(shown, order), None
    if arguments.verify:
        verified = await verify(document, shown, draft, order)
        draft = verified.draft
        tell(verified, lambda text: _say(arguments, text))
    before = document.context(chosen.at).messages
    index = None if arguments.dry_run else await document.commit(draft)
    await _finish(arguments, chosen, draft, index, verified)
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
            try:
                draft = await document.summarize_branch(plan, prepared, _order(arguments, chosen))
            except SummaryDeclined as error:
                print(visible_line(f"session-explorer: {error}"), file=sys.stderr)
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
        print(visible_line(f"leaf is now {place}"))
    else:
        print(visible_line(f"leaf would be {place}; {why_not_stored(arguments)}"))


def _attempt_json(attempt: Attempt) -> dict[str, Any]:
    return {
        "purpose": attempt.purpose,
        "why": attempt.why,
        "model": attempt.model,
        "window": attempt.window or None,
        "problem": attempt.problem or None,
        "kind": attempt.kind or None,
        "waited_s": round(attempt.waited_s, 3),
        "elapsed_ms": round(attempt.elapsed_ms, 1),
    }


def _tell_attempts(draft: Draft) -> None:
    """Print the calls that were made, where it took more than one for each request."""
    if len(draft.attempts) <= len(draft.parts) + bool(draft.short_summary):
        return
    print_table(
        ("request", "why", "model", "part", "ms", "outcome"),
        [
            (
                attempt.purpose.replace("_", " "),
                attempt.why.replace("-", " "),
                attempt.model,
                attempt.window or None,
                round(attempt.elapsed_ms),
                attempt.problem or "taken",
            )
            for attempt in draft.attempts
        ],
        right=(3, 4),
    )
    print()


async def _finish(
    arguments: argparse.Namespace,
    chosen: Target,
    draft: Draft,
    index: int | None,
    verified: Verified | None = None,
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
                "short_summary": draft.short_summary or None,
                "elapsed_ms": round(draft.elapsed_ms, 1),
                "attempts": [_attempt_json(attempt) for attempt in draft.attempts],
                "extensions": [record.to_json() for record in records_of(draft.facts)],
                "verify": verified.to_json() if verified is not None else None,
            }
        )
        return
    print(draft.summary)
    print()
    if draft.short_summary:
        print(draft.short_summary)
        print()
    _tell_attempts(draft)
    if index is not None and kept:
        print(f"stored as entry {columns.ids[index]}")
    else:
        print(why_not_stored(arguments))

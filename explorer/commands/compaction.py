"""preview, compact, branch and prune."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from explorer.commands.output import CommandFailed, UsageError, print_json, print_table
from explorer.commands.prompts import print_template_problems
from explorer.commands.targets import (
    SIZES,
    Target,
    add_common,
    add_output,
    add_profile,
    add_send,
    add_session,
    add_summarizing,
    check_output,
    check_positive,
    entry_named,
    export_result,
    named_profile,
    report_extensions,
    session_rules,
    target,
    why_not_stored,
)
from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.pruning import PruningPlan
from explorer.compaction.summary import files_footer
from explorer.compaction.triggers import limit_of
from explorer.extensions.answers import records_of
from explorer.models.client import REMOTE, Cancelled, CancelToken, ModelError
from explorer.models.remote import check_address
from explorer.services.document import Document
from explorer.services.draft_records import Attempt, Draft, DraftFailed, SummaryOrder
from explorer.services.edits import pruning_of
from explorer.services.extension_review import SummaryDeclined
from explorer.services.summary_audit import Auditor
from explorer.services.verification import Mended, check, mend
from explorer.session.kinds import Kind
from explorer.session.text_difference import changed_lines
from explorer.session.visible_text import visible_line

VERDICT_NAMES = {verdict: verdict.name.lower() for verdict in Verdict}


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the arguments of one of this module's commands."""
    add_session(parser)
    if command == "prune":
        _add_prune_options(parser)
        return
    add_summarizing(parser)
    if command != "preview":
        add_send(parser)
    add_common(parser)
    if command == "preview":
        return
    if command == "compact":
        parser.add_argument(
            "--verify",
            action="store_true",
            help="have the summary checked and mended by one more call",
        )
    else:
        parser.add_argument("--to", required=True, metavar="ENTRY", help="where to go")
        parser.add_argument("--no-summary", action="store_true", help="only move the leaf")
    parser.add_argument("--dry-run", action="store_true", help="print the summary, keep nothing")
    add_output(parser)
    parser.add_argument("--no-extensions", action="store_true", help="ask no extension")


def _add_prune_options(parser: argparse.ArgumentParser) -> None:
    add_profile(parser)
    parser.add_argument(
        "--protect", type=int, metavar="N", help="tokens of the newest results that stay"
    )
    parser.add_argument(
        "--minimum", type=int, metavar="N", help="save at least so many, or nothing"
    )
    parser.add_argument("--needed", type=int, metavar="N", help="stop when so many are saved")
    parser.add_argument("--dry-run", action="store_true", help="print what would go, keep nothing")
    add_output(parser)
    add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    if arguments.command == "prune":
        _prune(arguments)
        return
    check_sizes(arguments)
    with target(arguments) as chosen:
        profile, settings = chosen_settings(arguments, chosen)
        print_template_problems()
        if arguments.command == "preview":
            _preview(arguments, chosen, profile, settings)
        else:
            report_extensions(arguments, chosen)
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
    check_positive(arguments, *SIZES)


def chosen_settings(arguments: argparse.Namespace, chosen: Target) -> tuple[Profile, Settings]:
    """The profile and its numbers: the settings' and, before these, those of the command line.
    Models and endpoint of the settings go to the arguments where these name none."""
    session = chosen.document
    window = session.usage.recorded_window
    if window == 0:
        window = session.usage.inferred_window
    profile, values = session_rules(arguments.profile, session.header.cwd, window)
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
        "context_limit": _context_limit(prepared.profile, prepared.settings),
        "tokens_of_entries": shown.context_estimate,
        "tokens_after_estimate": shown.tokens_after_estimate,
        "tokens_beyond": shown.tokens_beyond,
        "ledger": [
            {
                "entry": columns.ids[entry],
                "index": entry,
                "kind": Kind(columns.kind[entry]).name.lower(),
                "verdict": VERDICT_NAMES[Verdict(shown.verdicts[position])],
                "tokens": None if columns.is_size_unknown(entry) else shown.weight(position),
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
        "file_changes": [change._asdict() for change in prepared.file_changes],
        "file_operations_footer": files_footer(prepared),
        "reason": prepared.reason,
    }


def _context_limit(profile: Profile, settings: Settings) -> int:
    """Tokens that a context may take before there is no room for an answer."""
    return max(0, limit_of(profile, settings))


def _preview(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    shown = chosen.document.compaction.preview(chosen.at, profile, settings)
    model = _models(arguments, chosen)[0]
    requests = chosen.document.compaction.requests(shown, arguments.instructions, model)
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
    previews = chosen.document.payloads.shown.previews(entries)
    print_table(
        ("#", "entry", "kind", "verdict", "tokens", "text"),
        [
            (
                f"#{entry}",
                columns.ids[entry],
                Kind(columns.kind[entry]).name.lower(),
                VERDICT_NAMES[Verdict(shown.verdicts[position])].replace("_", " "),
                "–" if columns.is_size_unknown(entry) else shown.weight(position),
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
            f"{_context_limit(profile, settings):,} that fit; the entries take "
            f"{shown.context_estimate:,} ({shown.counted_by}), about "
            f"{shown.tokens_after_estimate:,} after"
            + (
                f"; the whole context {shown.whole_before:,}, about {shown.whole_after:,} after, "
                f"{shown.whole_after - shown.tokens_after_estimate:,} of them beyond the entries"
                if shown.tokens_beyond
                else ""
            )
        )


def _print_unless_json(arguments: argparse.Namespace, text: str) -> None:
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
    return tuple(named) or (chosen.document.shared.client.default_model(),)


def _order(arguments: argparse.Namespace, chosen: Target) -> SummaryOrder:
    """What the command line asks for; progress is reported on standard error."""
    first, *others = _models(arguments, chosen)
    return SummaryOrder(
        arguments.instructions, first, lambda purpose, text: None, CancelToken(),
        fallbacks=tuple(others),
        on_progress=lambda sentence: print(visible_line(sentence), file=sys.stderr),
        endpoint=arguments.endpoint,
    )  # fmt: skip


async def _compact(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    document = chosen.document
    check_output(arguments)
    shown = document.compaction.preview(chosen.at, profile, settings)
    if not isinstance(shown.preparation, Preparation):
        raise CommandFailed(f"{shown.preparation.reason} Nothing was changed.")
    order = _order(arguments, chosen)
    draft, verified = await document.compaction.summarize(shown, order), None
    if arguments.verify:
        verified = await _verify(document, shown, draft, order)
        draft = verified.draft
        _print_verified(verified, lambda text: _print_unless_json(arguments, text))
    before = document.context(chosen.at).messages
    index = None if arguments.dry_run else await document.compaction.commit(draft)
    await _finish(arguments, chosen, draft, index, verified)
    if index is not None:
        _print_unless_json(arguments, _sizes_words(document, index, len(before), profile))


def _sizes_words(document: Document, entry: int, messages: int, profile: Profile) -> str:
    """What a compaction changed: messages, tokens of the entries, and what lies beyond these."""
    tokens = document.tokens
    tokens.profile = profile
    before, after = tokens.sizes_around(entry)
    assert after is not None, "what is made here has its summary"
    beyond = tokens.context_size(profile).beyond_of(after)
    whole = f", {after + beyond:,} with the {beyond:,} beyond them" if beyond else ""
    return (
        f"{messages:,} messages before, {len(document.context().messages):,} after; the entries "
        f"took {before:,} tokens and take {after:,} now ({tokens.counted_by}){whole}"
    )


async def _branch(
    arguments: argparse.Namespace, chosen: Target, profile: Profile, settings: Settings
) -> None:
    document = chosen.document
    check_output(arguments)
    plan = document.navigation.plan(entry_named(document, arguments.to), chosen.at)
    if plan.is_noop:
        raise CommandFailed("That is where the session is already; nothing was changed.")
    draft = None
    if plan.leaves_branch and not arguments.no_summary:
        prepared = document.branches.preparation(plan, profile, settings)
        # Where nothing can be summarized, no entry is made (B16).
        if document.branches.requests(prepared, arguments.instructions):
            try:
                draft = await document.branches.summarize(plan, prepared, _order(arguments, chosen))
            except SummaryDeclined as error:
                print(visible_line(f"session-explorer: {error}"), file=sys.stderr)
    index = None if arguments.dry_run else await document.navigation.navigate(plan, draft)
    if draft is None:
        await _print_move(arguments, chosen, plan.new_leaf)
        return
    await _finish(arguments, chosen, draft, index)


async def _print_move(arguments: argparse.Namespace, chosen: Target, leaf: int) -> None:
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


def _print_attempts(draft: Draft) -> None:
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
    _print_attempts(draft)
    if index is not None and kept:
        print(f"stored as entry {columns.ids[index]}")
    else:
        print(why_not_stored(arguments))


MOST_LISTED = 12
"""Texts that are listed of what was regained or lost."""


class Verified(Struct, frozen=True):
    """What checking and mending came to."""

    draft: Draft
    """The one to be stored."""
    mended: Mended | None
    why: str
    """What was done, as a sentence."""

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"taken": False, "outcome": self.why}
        if self.mended is not None:
            found["taken"] = self.draft.id == self.mended.draft.id
            found |= dict(self.mended.draft.facts.get("verify", {}))
        return found


async def _verify(
    document: Document, shown: Partition, draft: Draft, order: SummaryOrder
) -> Verified:
    """Check a draft, and have it mended where it lost something. The mended one is to be stored
    unless it loses as much as it regains; where the call fails, the draft as it was is. Raises
    Cancelled."""
    auditor = Auditor(document)
    checked = await asyncio.to_thread(check, document, auditor, shown, draft.summary)
    if not checked.lacks:
        return Verified(draft, None, "Nothing was found lost or changed; nothing was asked for.")
    try:
        mended = await mend(document, auditor, draft, checked, order)
    except (DraftFailed, ValueError) as error:
        outcome = f"The summary could not be mended and is taken as it was: {error}"
        return Verified(draft, None, outcome)
    if len(mended.lost) >= len(mended.regained):
        await document.drafts.mark(mended.draft, "discarded", mended.draft.summary)
        outcome = (
            f"The mended summary regains {len(mended.regained)} and loses {len(mended.lost)}; the "
            "first one is taken."
        )
        return Verified(draft, mended, outcome)
    await document.drafts.mark(draft, "discarded", draft.summary)
    outcome = f"Mended: {len(mended.regained)} regained, {len(mended.lost)} lost by it."
    return Verified(mended.draft, mended, outcome)


def _print_verified(verified: Verified, print_line: Callable[[str], None]) -> None:
    """Print the differences and what was regained and lost; what was done on standard error."""
    print(visible_line(verified.why), file=sys.stderr)
    mended = verified.mended
    if mended is None:
        return
    for line in changed_lines(mended.before.text, mended.draft.summary, 1):
        print_line(visible_line(f"{line.sign} {line.text}"))
    for title, facts in (("Regained", mended.regained), ("Lost by it", mended.lost)):
        for fact in facts[:MOST_LISTED]:
            print_line(visible_line(f"{title}: {fact.kind}: {fact.text}"))
        if len(facts) > MOST_LISTED:
            print_line(f"{title}: and {len(facts) - MOST_LISTED} more")
    print_line("")


def _prune(arguments: argparse.Namespace) -> None:
    if arguments.profile is not None:
        named_profile(arguments.profile)
    given = _given_sizes(arguments)
    with target(arguments) as chosen:
        profile = session_rules(arguments.profile, chosen.document.header.cwd).profile
        policy = replace(pruning_of(profile), **given)
        check_output(arguments)
        plan = chosen.document.edits.plan_pruning(
            profile, policy, at=chosen.at, needed=arguments.needed
        )
        index = None
        if plan.results and not arguments.dry_run:
            index = asyncio.run(_append_prune(arguments, chosen, plan))
        kept = index is not None and (chosen.stored or bool(arguments.output))
        if arguments.json:
            print_json(_prune_json(chosen, plan, index, kept))
            return
        _print_prune(arguments, chosen, plan, index if kept else None)


def _given_sizes(arguments: argparse.Namespace) -> dict[str, Any]:
    """The sizes that the command line names. Raises UsageError."""
    given = {"protect_tokens": arguments.protect, "minimum_savings": arguments.minimum}
    for name, value in (*given.items(), ("needed", arguments.needed)):
        if value is not None and value < 0:
            option = {"protect_tokens": "--protect", "minimum_savings": "--minimum"}
            raise UsageError(f"{option.get(name, '--needed')} must be at least 0, not {value}")
    return {name: value for name, value in given.items() if value is not None}


async def _append_prune(arguments: argparse.Namespace, chosen: Target, plan: PruningPlan) -> int:
    try:
        index = await chosen.document.edits.prune(plan, moves_leaf=arguments.at is not None)
    except ValueError as error:
        raise CommandFailed(f"{error} Nothing was changed.") from error
    if arguments.output:
        await export_result(arguments, chosen, "the prune was stored")
    return index


def _prune_json(chosen: Target, plan: PruningPlan, index: int | None, kept: bool) -> dict[str, Any]:
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
        "replaced_with": {ids[result.entry]: result.note for result in plan.results},
        "results": [
            {
                "entry": ids[result.entry],
                "index": result.entry,
                "tool": result.tool,
                "tokens": result.tokens,
                "saved": result.saved,
                "why": result.why,
                "by": ids[result.by] if result.by >= 0 else None,
                "reason": result.reason,
            }
            for result in plan.results
        ],
        "reason": plan.reason,
    }


def _print_prune(
    arguments: argparse.Namespace, chosen: Target, plan: PruningPlan, index: int | None
) -> None:
    ids = chosen.document.tree.columns.ids
    if plan.results:
        print_table(
            ("#", "entry", "tool", "tokens", "saved", "why"),
            [
                (
                    f"#{result.entry}",
                    ids[result.entry],
                    result.tool,
                    result.tokens,
                    result.saved,
                    result.reason,
                )
                for result in plan.results
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

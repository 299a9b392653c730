"""Leaving a branch: what is left behind, its summary, and where that is put (A31 to A36)."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.file_ops import FileChange, FileOperations
from explorer.compaction.messages import Reader, read_conversation
from explorer.compaction.path_view import CONTEXT_MASK, PathView, view_of
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, material_of, output_cap, request_of
from explorer.compaction.summary import (
    FREE,
    asked_form,
    files_footer,
    form_of,
    strip_files,
    without_files,
)
from explorer.compaction.templates import Templates
from explorer.compaction.triggers import fitted
from explorer.session.describe import BranchFacts, CompactionFacts
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import Path, SessionTree

_NEAR_EDGE = 0.9
"""A summary larger than what is left of the budget still fits while less than this is used."""

_HIDDEN = int(Flag.HIDDEN)
_FAILED_OR_HIDDEN = int(Flag.ERROR | Flag.ABORTED | Flag.HIDDEN)
_SUMMARIES = (Kind.COMPACTION, Kind.BRANCH_SUMMARY)


class BranchPreparation(Struct, frozen=True):
    """What leaving ``old_leaf`` for ``target`` leaves behind. Entries are indices, sizes tokens."""

    old_leaf: int
    """Where the branch was abandoned: its id is the ``fromId`` of the stored entry (A35)."""
    target: int
    """Where the navigation lands: the stored entry is put below it (A34)."""
    common_ancestor: int
    """The deepest entry on both paths, or -1."""
    entries: list[int]
    """All entries left behind, oldest first."""
    messages: list[int]
    """Those that are sent to the summarizer."""
    total_tokens: int
    budget: int
    """0 is no limit."""
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]
    failed_files: tuple[str, ...]
    file_changes: tuple[FileChange, ...]
    profile: Profile
    settings: Settings


def prepare_branch(
    tree: SessionTree,
    old_leaf: int,
    target: int,
    profile: Profile,
    settings: Settings,
    *,
    budget: int | None = None,
) -> BranchPreparation:
    """What is left behind, and what of it fits the budget, newest first (A31, A32).

    ``budget``: tokens; default is the context window less the reserve that the profile has for
    branches, 0 is no limit. ``messages`` is empty when there is nothing to summarize: then no
    entry is made (B16).
    """
    settings = fitted(profile, settings)
    limit = budget
    if limit is None:
        reserve = fitted(profile, replace(settings, reserve_tokens=profile.branch_reserve_tokens))
        limit = max(1, settings.context_window - reserve.reserve_tokens)
    ancestor = tree.common_ancestor(old_leaf, target) if old_leaf >= 0 else -1
    view = view_of(tree, old_leaf, profile)
    first = view.path.position(ancestor) + 1 if ancestor >= 0 else 0
    left = view.path[first:]
    positions, total, read_from = _within(tree, view, first, profile, limit)
    files = _files(tree, view, first, read_from, profile)
    return BranchPreparation(
        old_leaf=old_leaf,
        target=target,
        common_ancestor=ancestor,
        entries=left.indices(),
        messages=[view.path[position] for position in positions],
        total_tokens=total,
        budget=limit,
        read_files=files.read,
        modified_files=files.modified,
        failed_files=files.failed,
        file_changes=files.changes,
        profile=profile,
        settings=settings,
    )


def _is_summarized_message(
    tree: SessionTree, view: PathView, position: int, profile: Profile
) -> bool:
    """Whether a message is summarized at all (B17, E10)."""
    kind = view.kinds[position]
    if kind == Kind.TOOL_RESULT or view.path[position] in view.shape.omitted:
        return False
    if profile.branch_replies == "all" or kind == Kind.COMPACTION:
        return True
    return bool(
        view.sent[position] and not tree.columns.flags[view.path[position]] & _outcome_flags(kind)
    )


def _outcome_flags(kind: int) -> int:
    # A command that failed is part of what was done; a failed reply has no content.
    return _HIDDEN if kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION) else _FAILED_OR_HIDDEN


def _within(
    tree: SessionTree, view: PathView, first: int, profile: Profile, limit: int
) -> tuple[list[int], int, int]:
    """Positions that fit, their tokens, and the position down to which entries were looked at."""
    estimate, path = tree.columns.estimate, view.path
    corrected = profile.weights == "sent"
    tellable = view.kinds[first:].translate(CONTEXT_MASK)
    chosen: list[int] = []
    total = 0
    for position in range(len(view) - 1, first - 1, -1):
        kind = view.kinds[position]
        if not (tellable[position - first] or kind == Kind.COMPACTION):
            continue
        if not _is_summarized_message(tree, view, position, profile):
            continue
        weighed = corrected and kind != Kind.COMPACTION
        tokens = view.weights[position] if weighed else estimate[path[position]]
        if kind == Kind.CUSTOM_MESSAGE and profile.weights == "stored-without-notes":
            tokens = 0
        if limit > 0 and total + tokens > limit:
            if kind in _SUMMARIES and total < limit * _NEAR_EDGE:
                chosen.append(position)
                total += tokens
            return chosen[::-1], total, position
        chosen.append(position)
        total += tokens
    return chosen[::-1], total, first


def _files(
    tree: SessionTree, view: PathView, first: int, read_from: int, profile: Profile
) -> FileOperations:
    columns = tree.columns
    files = FileOperations()
    corrected = profile.branch_files == "all-entries"
    left = view.path[first:]
    summaries: dict[int, BranchFacts | CompactionFacts] = {**columns.branches}
    if corrected:
        summaries |= columns.compactions
    for entry in sorted(summaries):
        if entry in left:
            files.add_summary(summaries[entry])
    part: Path = left if corrected else view.path[read_from:]
    files.add_calls(tree, part.ranges, profile, view.shape.omitted)
    return files


def branch_request(
    preparation: BranchPreparation,
    entries: Reader,
    instructions: str,
    templates: Templates,
    *,
    replace: bool | None = None,
    model_limit: int | None = None,
) -> SummaryRequest | None:
    """The request for a branch's summary; None when there is nothing to tell (B16, E4).

    ``replace``: instructions take the prompt's place instead of following it (A36); None leaves
    it to the profile.
    """
    profile = preparation.profile
    conversation = read_conversation(preparation.messages, entries, templates, profile)
    if not conversation.text:
        return None
    instead = profile.branch_instructions == "replace" if replace is None else replace
    user_words = instructions.strip() if instead else ""
    words = user_words or templates.sections[profile.sections].branch
    material = material_of(
        templates, words, "" if user_words else instructions, conversation, profile
    )
    form = FREE if user_words else asked_form(form_of(profile, "branch"), words)
    cap = output_cap("branch", preparation.settings, model_limit)
    return request_of(material, "branch", templates.system, cap, form)


def finish_branch(preparation: BranchPreparation, answer: str, templates: Templates) -> str:
    """A branch's summary as it is stored: preamble, answer, files (A33)."""
    text, lists = answer, files_footer(preparation)
    if preparation.profile.tags_in_text == "escaped":
        text = without_files(strip_files(answer).strip(), lists)
    return f"{templates.branch_preamble}\n\n{text}{lists}"

"""What a profile is, how a system compacts, as data; and the five systems as profiles."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

DEFAULT_WINDOW = 200_000


class Profile(Struct, frozen=True):
    """How a system compacts. Every switch has an entry in ``SWITCHES`` that explains it.

    The defaults are the corrected behaviour. Sizes in tokens.
    """

    name: str
    title: str
    # sizes
    keep_recent_tokens: int = 20_000
    keep_rounds: int = 1
    """Rounds to keep, where a cut is counted in rounds."""
    keep_user_tokens: int = 0
    """Of what is summarized, so many tokens of the user messages, the newest first, are
    repeated word for word (C8); 0: none."""
    reserve_tokens: int = 16_384
    reserve_floor_percent: int = 0
    """The reserve is at least this share of the window, in per cent (B18)."""
    threshold_percent: float = -1
    """Compact above this share of the window, in per cent, instead of by the reserve; -1: unset."""
    threshold_tokens: int = -1
    """Compact above so many tokens instead of by the reserve; -1: unset."""
    context_window: int = DEFAULT_WINDOW
    branch_reserve_tokens: int = 16_384
    small_windows: Literal["scaled", "as-set"] = "scaled"
    remote_endpoint: str = ""
    """Address of a service that summarizes instead of a model (A29); empty for none."""
    # when
    enabled: bool = True
    auto_continue: bool = False
    threshold_check: Literal["between-rounds", "after-turn"] = "between-rounds"
    finished_turn: Literal["left", "prompted"] = "left"
    overflow_recovery: bool = True
    manual_while_running: Literal["refuse", "abort"] = "refuse"
    usage: Literal["since-compaction", "any", "last-reply"] = "since-compaction"
    # where
    boundary: Literal["corrected", "faithful-0.58"] = "corrected"
    cut_unit: Literal["tokens", "rounds"] = "tokens"
    keep_recent_scale: Literal["none", "usage-ratio"] = "none"
    empty_input: Literal["refuse", "refuse-no-messages", "prepare"] = "refuse"
    valid_cuts: Literal["messages", "user-and-assistant"] = "messages"
    oversized_tail: Literal["last-cut", "first-cut"] = "last-cut"
    turn_judgement: Literal["before-pull", "after-pull"] = "before-pull"
    pull_back: Literal["metadata", "all-but-messages"] = "metadata"
    cut_guard: Literal["guarded", "by-kind"] = "guarded"
    weights: Literal["sent", "stored-messages", "stored-without-notes"] = "sent"
    # what is asked and stored
    split: Literal["two-summaries", "one-summary"] = "two-summaries"
    prefix_only: Literal["carry", "drop"] = "carry"
    sections: Literal["explorer", "omp", "pi", "copilot"] = "explorer"
    dialect: Literal["labels", "dividers"] = "labels"
    tags_in_text: Literal["escaped", "raw"] = "escaped"
    long_results: Literal["whole-characters", "units"] = "whole-characters"
    result_cut: Literal["head", "head-and-tail"] = "head"
    answers: Literal["checked", "stored"] = "checked"
    focus: Literal["every-request", "history-only"] = "every-request"
    failed_calls: Literal["apart", "counted"] = "apart"
    file_tools: Literal["all", "pi"] = "all"
    branch_details: Literal["counted", "left-out"] = "counted"
    file_footer: Literal["read-modified", "created-updated-deleted"] = "read-modified"
    short_summary: bool = False
    context_wrapper: Literal["summary", "conversation-summary"] = "summary"
    # branches
    branch_summaries: Literal["asked", "on", "off"] = "asked"
    branch_replies: Literal["clean", "all"] = "clean"
    branch_files: Literal["all-entries", "within-budget"] = "all-entries"
    branch_instructions: Literal["append", "replace"] = "append"
    # policies
    pruning: Pruning | None = None
    background: Background | None = None
    prompt_budget: PromptBudget | None = None


class Settings(Struct, frozen=True):
    """The sizes of one compaction, in tokens."""

    context_window: int = DEFAULT_WINDOW
    reserve_tokens: int = 16_384
    keep_recent_tokens: int = 20_000
    keep_rounds: int = 1
    """Rounds to keep, where the profile counts in rounds."""

    @classmethod
    def of(cls, profile: Profile) -> Settings:
        """The profile's defaults."""
        return cls(
            profile.context_window,
            profile.reserve_tokens,
            profile.keep_recent_tokens,
            profile.keep_rounds,
        )


class Pruning(Struct, frozen=True):
    """Old tool results give way to a note before anything is summarized (A13, C5).

    The defaults are oh-my-pi's rules.
    """

    protect_tokens: int = 40_000
    """The newest tool results up to this many tokens are never pruned."""
    minimum_savings: int = 20_000
    """Nothing is pruned when less than this would be saved."""
    protected_tools: tuple[str, ...] = ("skill", "read")
    """Results of these tools are never pruned; ``*`` and ``?`` are wildcards."""
    superseded_first: bool = False
    """A read of a file that was read, or changed, again later goes first."""
    useless: bool = False
    """Results that say nothing any more (empty, or the same error again later) go next."""
    current_reads: Literal["pruned", "kept"] = "pruned"
    """What becomes of a read that is still the newest word on its file: ``pruned`` for its age
    like any other result, or ``kept``."""
    amount: Literal["everything", "needed"] = "everything"
    """How much goes of what is merely old: all of it, or the oldest until enough is saved."""
    scope: Literal["path", "context"] = "path"
    """Which results are looked at: all of the path, or those that the model is still sent."""
    smallest_result: int = 0
    """Results of fewer tokens are left alone: a note in their place gains nothing."""


class Background(Struct, frozen=True):
    """A summary is made ahead, while the agent works on (A47, A48). Shares of the budget."""

    warm_low: float = 0.78
    warm_high: float = 0.82
    """With a warm prompt cache the trigger lies somewhere between these two."""
    cold: float = 0.90
    """With a cold prompt cache it lies here."""
    apply_minimum: float = 0.65
    """A finished summary is thrown away when the context fills less than this by then."""


class PromptBudget(Struct, frozen=True):
    """A prompt is rendered to a budget, the least important part dropped first (A44 to A46)."""

    threshold: float | None = None
    """Budget: a share in (0, 1] of the window, or tokens from 100 on; None is the window."""
    tools_margin: float = 0.9
    """Share of what the tools leave that messages may take, when there are tools."""
    result_share: float = 0.5
    """Largest tool result, as a share of the window."""
    result_head: float = 0.4
    """Share of a shortened tool result that its beginning takes; the rest is its end."""
    mode: Literal["auto", "simple", "full"] = "auto"
    """``auto`` is the full request, and the simple one where that fails (A50)."""
    argument_characters: int = 200
    """Characters of a tool call's arguments that the simple request tells (B19)."""
    breadcrumb: bool = True
    """Summaries say where the whole conversation can be read (A51)."""


SMALLEST_RESULT = 200
"""Tokens; a note takes about nine, so pruning less gains next to nothing."""

PROFILES: dict[str, Profile] = {
    "explorer": Profile(
        "explorer",
        "Explorer",
        pruning=Pruning(
            # A read is protected when it is current, whatever the tool's name.
            protected_tools=("skill",),
            superseded_first=True,
            useless=True,
            current_reads="kept",
            amount="needed",
            scope="context",
            smallest_result=SMALLEST_RESULT,
        ),
    ),
    "pi": Profile(
        "pi",
        "pi 0.73",
        small_windows="as-set",
        threshold_check="after-turn",
        manual_while_running="abort",
        empty_input="prepare",
        oversized_tail="first-cut",
        turn_judgement="after-pull",
        pull_back="all-but-messages",
        cut_guard="by-kind",
        weights="stored-messages",
        usage="any",
        prefix_only="drop",
        tags_in_text="raw",
        long_results="units",
        answers="stored",
        focus="history-only",
        failed_calls="counted",
        file_tools="pi",
        branch_details="left-out",
        branch_replies="all",
        branch_files="within-budget",
        sections="pi",
    ),
    "omp": Profile(
        "omp",
        "oh-my-pi 13.19",
        small_windows="as-set",
        reserve_floor_percent=15,
        auto_continue=True,
        threshold_check="after-turn",
        finished_turn="prompted",
        manual_while_running="abort",
        boundary="faithful-0.58",
        keep_recent_scale="usage-ratio",
        empty_input="refuse-no-messages",
        oversized_tail="first-cut",
        turn_judgement="after-pull",
        pull_back="all-but-messages",
        cut_guard="by-kind",
        weights="stored-without-notes",
        usage="last-reply",
        prefix_only="drop",
        tags_in_text="raw",
        long_results="units",
        answers="stored",
        focus="history-only",
        failed_calls="counted",
        file_tools="pi",
        branch_details="left-out",
        branch_replies="all",
        branch_files="within-budget",
        branch_summaries="off",
        branch_instructions="replace",
        short_summary=True,
        sections="omp",
        pruning=Pruning(),
    ),
    "pyagent": Profile(
        "pyagent",
        "The Python agent",
        small_windows="as-set",
        threshold_check="after-turn",
        reserve_tokens=8_192,
        keep_recent_tokens=16_384,
        overflow_recovery=False,
        file_footer="created-updated-deleted",
        branch_summaries="off",
        sections="pi",
    ),
    "copilot": Profile(
        "copilot",
        "VS Code Copilot Chat",
        reserve_floor_percent=10,
        cut_unit="rounds",
        result_cut="head-and-tail",
        split="one-summary",
        sections="copilot",
        context_wrapper="conversation-summary",
        branch_summaries="off",
        background=Background(),
        prompt_budget=PromptBudget(),
    ),
}
"""The systems by name; ``explorer`` is the default. None of them is ever changed."""

VARIANTS: dict[str, Profile] = {
    "pi-documented": replace(
        PROFILES["pi"],
        name="pi-documented",
        title="pi as its document tells it",
        keep_recent_tokens=16_384,
        valid_cuts="user-and-assistant",
        dialect="dividers",
    ),
    "pi-0.58": replace(PROFILES["pi"], name="pi-0.58", title="pi 0.58", boundary="faithful-0.58"),
    "omp-documented": replace(
        PROFILES["omp"],
        name="omp-documented",
        title="oh-my-pi as its documents tell it",
        reserve_floor_percent=0,
        branch_files="all-entries",
    ),
}
"""Documented variants: what a system's document says where its code does something else."""

BASES: dict[str, Profile] = PROFILES | VARIANTS
"""All that came with the program; a user's profile starts from one of them."""

"""The five systems as profiles."""

from __future__ import annotations

from msgspec.structs import replace

from explorer.compaction.profile.rules import Background, Profile, PromptBudget, Pruning

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

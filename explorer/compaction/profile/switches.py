"""Every switch of a profile, explained."""

from __future__ import annotations

from typing import NamedTuple


class Switch(NamedTuple):
    """One quirk: where it is documented, what it is called, what each side does."""

    source: str
    """Checklist ids."""
    title: str
    explanation: str
    values: dict[str, str]
    """Value -> what it does; the corrected value first."""


SWITCHES: dict[str, Switch] = {
    "boundary": Switch(
        "B1, E1",
        "Where the next compaction starts",
        "A second compaction that starts after the first one loses what the first one kept.",
        {
            "corrected": "from the first entry that the previous compaction kept",
            "faithful-0.58": "after the previous compaction: what it kept is silently lost",
        },
    ),
    "empty_input": Switch(
        "B3, E4",
        "Nothing to summarize",
        "When everything recent fits, there is nothing to ask a summarizer about.",
        {"refuse": "no compaction", "prepare": "a request about nothing"},
    ),
    "oversized_tail": Switch(
        "B4, E3",
        "A huge tool result at the end",
        "A last tool result larger than what is kept leaves no cut point after it.",
        {
            "last-cut": "the last valid cut: just before its call",
            "first-cut": "the first cut point: nothing is compacted",
        },
    ),
    "turn_judgement": Switch(
        "B5",
        "When the turn is judged",
        "Metadata before a user message joins the kept side; judging there sees a split turn.",
        {
            "before-pull": "at the cut point itself",
            "after-pull": "after the cut moved onto metadata",
        },
    ),
    "pull_back": Switch(
        "A17",
        "What joins the kept side",
        "Metadata just before the cut belongs to what follows it; messages do not.",
        {
            "metadata": "metadata only",
            "all-but-messages": "also custom messages and branch summaries",
        },
    ),
    "cut_guard": Switch(
        "A16",
        "A cut between a call and its result",
        "A note written between a call and its result looks like a cut point, and is none.",
        {"guarded": "never there", "by-kind": "judged by the kind of the entry alone"},
    ),
    "weights": Switch(
        "B6, E6",
        "What counts towards the tokens to keep",
        "Tokens that are sent should count, and tokens that are never sent should not.",
        {
            "sent": "what is sent: custom messages, branch summaries, images; no excluded commands",
            "stored-messages": "stored messages only, excluded commands too, no user images",
        },
    ),
    "usage": Switch(
        "A7, E7",
        "Whose count of the context",
        "A reply from before the compaction reports a context that no longer exists.",
        {
            "since-compaction": "only replies after the last compaction, else an estimate",
            "any": "the last reply, however old",
        },
    ),
    "prefix_only": Switch(
        "B7, E2",
        "A split turn right after a compaction",
        "With no history before the split turn, only the turn's first part is summarized.",
        {
            "carry": "the previous summary is carried over word for word",
            "drop": "the previous summary is dropped",
        },
    ),
    "tags_in_text": Switch(
        "B11",
        "Text that looks like our own tags",
        "A tool result that holds </conversation> could end the conversation for the summarizer.",
        {"escaped": "escaped", "raw": "left as it is"},
    ),
    "long_results": Switch(
        "B11, E11",
        "Where a long tool result is cut",
        "Cutting at 2000 UTF-16 units can halve an emoji.",
        {"whole-characters": "between characters", "units": "between units"},
    ),
    "answers": Switch(
        "B12, E5, E16",
        "Bad answers of the summarizer",
        "An empty answer, or one cut short, must not replace the history.",
        {"checked": "rejected", "stored": "stored"},
    ),
    "focus": Switch(
        "E9",
        "Instructions for a split turn",
        "The words typed with a compaction matter for the turn's first part too.",
        {"every-request": "in every request", "history-only": "in the history request only"},
    ),
    "failed_calls": Switch(
        "B17",
        "Failed tool calls in the file lists",
        "A write that failed modified nothing.",
        {"apart": "listed apart", "counted": "counted as if they had worked"},
    ),
    "branch_replies": Switch(
        "E10",
        "Failed replies and hidden messages in branch summaries",
        "A reply that failed, was aborted, or a message nobody saw, tells a branch wrongly.",
        {"clean": "left out", "all": "included"},
    ),
    "branch_files": Switch(
        "A32",
        "Files of a branch",
        "The file lists should not depend on how much text fits the budget.",
        {"all-entries": "of all entries", "within-budget": "of the entries that fit"},
    ),
    "branch_instructions": Switch(
        "A36",
        "Instructions for a branch summary",
        "What a person types can add to the prompt or take its place.",
        {"append": "appended to the prompt", "replace": "in place of the prompt"},
    ),
    "finished_turn": Switch(
        "A11, E17",
        "A finished turn that is compacted",
        "An agent that is prompted to go on after a compaction may begin a finished task again.",
        {
            "left": "left alone; only a turn that was broken off goes on",
            "prompted": "a prompt to continue follows, where continuing is switched on",
        },
    ),
    "manual_while_running": Switch(
        "A9",
        "Compacting by hand while the agent answers",
        "A compaction needs a session that stands still.",
        {
            "refuse": "refused at once; it can be asked for after the turn",
            "abort": "the answer is stopped first",
        },
    ),
}
"""Every switch of ``Profile``, for the settings page and the lessons."""

"""Every switch, policy, number and text of a profile, explained, with its sensible values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from explorer.compaction.profile.rules import Background, PromptBudget, Pruning


class Switch(NamedTuple):
    """One quirk: where it is documented, what it is called, what each side does."""

    source: str
    """Checklist ids."""
    title: str
    explanation: str
    values: Mapping[str | bool, str]
    """Value -> what it does; the corrected value first."""


SWITCHES: dict[str, Switch] = {
    "enabled": Switch(
        "A12",
        "Compaction without being asked",
        "A context that grows too full can be compacted at once, or wait until a person asks.",
        {True: "as soon as the context is too full", False: "only when it is asked for"},
    ),
    "auto_continue": Switch(
        "A11, E17",
        "After a compaction at the threshold",
        "The agent can be asked to go on with its next steps, even when the task was finished.",
        {False: "nothing is sent; the person speaks next", True: "a prompt to go on is sent"},
    ),
    "overflow_recovery": Switch(
        "A10",
        "When the provider says that the context is too long",
        "The failing reply can be taken out, the context compacted, and the request sent again.",
        {True: "compacted and tried again, once", False: "the error stands"},
    ),
    "small_windows": Switch(
        "A8, B18",
        "Sizes in a window under 65,536 tokens",
        "Sizes that were made for large windows leave nothing of a small one to be summarized.",
        {
            "scaled": "a quarter of the window for the reserve at most, 5/16 for the kept tail",
            "as-set": "as they are set, whatever the window",
        },
    ),
    "boundary": Switch(
        "B1, E1",
        "Where the next compaction starts",
        "A second compaction that starts after the first one loses what the first one kept.",
        {
            "corrected": "from the first entry that the previous compaction kept",
            "faithful-0.58": "after the previous compaction: what it kept is silently lost",
        },
    ),
    "cut_unit": Switch(
        "A15, A49",
        "What is counted from the end",
        "What stays can be measured in tokens, or in rounds: a reply with its tool results.",
        {"tokens": "tokens", "rounds": "rounds, however large they are"},
    ),
    "keep_recent_scale": Switch(
        "A7, B18",
        "The estimate against the provider's count",
        "A low estimate keeps more than was meant; the provider's count shows how low it is.",
        {
            "none": "tokens to keep are counted as the entries are",
            "usage-ratio": "fewer are kept where the provider counted more than the estimate",
        },
    ),
    "empty_input": Switch(
        "B3, E4",
        "Nothing to summarize",
        "When everything recent fits, there is nothing to ask a summarizer about.",
        {
            "refuse": "no compaction",
            "refuse-no-messages": "no compaction, but messages that are never sent count as one",
            "prepare": "a request about nothing",
        },
    ),
    "valid_cuts": Switch(
        "A16",
        "Before what a path may be cut",
        "A command, a note or a branch summary speaks for the user, so a cut before it is clean.",
        {
            "messages": "all messages but tool results, notes and branch summaries",
            "user-and-assistant": "messages of the user and replies only",
        },
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
            "stored-without-notes": "the same, and notes count nothing anywhere",
        },
    ),
    "usage": Switch(
        "A7, E7",
        "Whose count of the context",
        "A reply from before the compaction reports a context that no longer exists.",
        {
            "since-compaction": "only replies after the last compaction, else an estimate",
            "any": "the last reply, however old, and an estimate of what follows",
            "last-reply": "the last reply alone; what came after it is not counted",
        },
    ),
    "split": Switch(
        "A20, A49",
        "A cut inside a turn",
        "The first part of a turn that is cut can be summarized by itself, beside the rest.",
        {
            "two-summaries": "history and the turn's first part are summarized apart",
            "one-summary": "one summary tells all that lies before the cut",
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
    "sections": Switch(
        "A24, A26",
        "What the summary must tell",
        "The headings that a summarizer is given decide what it looks for, and so what is lost.",
        {
            "explorer": "goal, constraints, progress, decisions, next steps, facts, notes",
            "omp": "the headings of oh-my-pi: done, in progress and blocked apart, and notes",
            "pi": "the headings of pi's document, progress as one list",
            "copilot": "an analysis first, then eight numbered sections",
        },
    ),
    "dialect": Switch(
        "A21",
        "How the conversation is written down",
        "A summarizer reads the conversation as text in which every message is marked.",
        {
            "labels": "labels with a colon, thinking and tool calls apart",
            "dividers": "labels in capitals, a divider between messages",
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
    "result_cut": Switch(
        "B11, A49",
        "What is left of a long tool result",
        "The end of an output often holds the error, and a cut after its beginning loses it.",
        {
            "head": "its first 2000 characters",
            "head-and-tail": "up to half the window: 40 % from its beginning, 60 % from its end",
        },
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
    "file_tools": Switch(
        "A28",
        "Which tools touch files",
        "Files are also read and changed by tools of other names, and by patches.",
        {
            "all": "every tool that is known to, with what it made and deleted",
            "pi": "read, write and edit with a path, as pi and oh-my-pi know them",
        },
    ),
    "branch_details": Switch(
        "A28",
        "Files that a branch summary tells of",
        "A branch summary that is itself summarized knows files that no call in sight names.",
        {"counted": "join the compaction's files", "left-out": "are forgotten"},
    ),
    "file_footer": Switch(
        "A28",
        "How files are listed under a summary",
        "To know that a file was made or deleted is more than to know that it was modified.",
        {
            "read-modified": "read, and modified",
            "created-updated-deleted": "read, and of the modified which were made or deleted",
        },
    ),
    "short_summary": Switch(
        "A25",
        "A short summary for the eye",
        "Two or three sentences tell a person what a compaction is about; no model reads them.",
        {False: "none is made", True: "made with a request of its own"},
    ),
    "context_wrapper": Switch(
        "A6",
        "How a model gets the summary",
        "The summary comes back as a message of the user, so something must say what it is.",
        {
            "summary": "a sentence and <summary> tags",
            "conversation-summary": "<conversation-summary> tags alone",
        },
    ),
    "branch_summaries": Switch(
        "A37",
        "Leaving a branch",
        "What was learned on a branch is lost to the next one unless a summary carries it over.",
        {
            "asked": "the person is asked whether to summarize",
            "on": "a summary is made at once, and shown before it is stored",
            "off": "no summary, no question",
        },
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
    "threshold_check": Switch(
        "A8",
        "When the threshold is looked at",
        "A long turn of many tool calls can outgrow the window before anybody looks.",
        {
            "between-rounds": "before every request of a turn, and after the turn",
            "after-turn": "after a turn only; within one, the provider's refusal tells",
        },
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
"""Every switch of ``Profile``, for the settings page and the lessons. The first value is the
corrected one."""


class PolicyToTell(NamedTuple):
    """A policy: where it is documented, what it is called, what it does, and its own defaults."""

    source: str
    title: str
    explanation: str
    default: Pruning | Background | PromptBudget


POLICIES: dict[str, PolicyToTell] = {
    "pruning": PolicyToTell(
        "A13, C5",
        "Pruning of old tool results",
        "Old tool results give way to a short note first, which may save a summary.",
        Pruning(),
    ),
    "background": PolicyToTell(
        "A47",
        "Summaries made ahead",
        "A summary that is made while the agent works on is there the moment it is needed.",
        Background(),
    ),
    "prompt_budget": PolicyToTell(
        "A44, A46",
        "Prompts rendered to a budget",
        "Each part of a prompt has a priority, and the least important is dropped first.",
        PromptBudget(),
    ),
}
"""The policies by their field in ``Profile``; None there means that they are off."""

POLICY_SWITCHES: dict[str, Switch] = {
    "pruning.superseded_first": Switch(
        "C5",
        "Reads that a later one replaced",
        "An older read of a file that was read again tells nothing that the newer one does not.",
        {True: "pruned first, whatever tool made them", False: "treated by their age alone"},
    ),
    "pruning.useless": Switch(
        "C5",
        "Results that say nothing any more",
        "An empty result, or an error that was repeated, costs tokens and tells nothing.",
        {True: "pruned too", False: "treated by their age alone"},
    ),
    "pruning.current_reads": Switch(
        "C5",
        "Reads that are still the newest word",
        "What a file holds is known from the last read of it, however long ago that was.",
        {"kept": "kept, whatever their age", "pruned": "pruned for their age like any result"},
    ),
    "pruning.amount": Switch(
        "C5",
        "How much is pruned",
        "What is pruned must be read again when it is needed after all.",
        {
            "needed": "the oldest, until enough is saved",
            "everything": "all that is not protected",
        },
    ),
    "pruning.scope": Switch(
        "A13",
        "Which tool results are looked at",
        "A result that a compaction summarized is sent to no model, so pruning it saves nothing.",
        {
            "context": "those that the model is still sent",
            "path": "all of the path, summarized ones too",
        },
    ),
    "prompt_budget.mode": Switch(
        "A50",
        "How a summary is asked for",
        "The full request repeats the whole conversation with its tools; the simple one its text.",
        {
            "auto": "the full request, and the simple one where that fails",
            "full": "the full request only",
            "simple": "the simple request only",
        },
    ),
    "prompt_budget.breadcrumb": Switch(
        "A51",
        "A way back to the whole conversation",
        "What a summary leaves out can be read again, where it says in which file it is.",
        {True: "the summary names a transcript on disk", False: "no file and no word of one"},
    ),
}
"""Every choice of a policy, by ``policy.name``."""


class Size(NamedTuple):
    """One number or text: where it is documented, what it is called, what it does."""

    source: str
    """Checklist ids."""
    title: str
    explanation: str
    unit: str
    """``tokens``, ``rounds``, ``percent``, ``share``, ``characters``, ``names`` or ``address``."""
    lowest: float = 0
    highest: float = 2**31 - 1
    unset: float | None = None
    """A value outside the range that means that the profile leaves it open."""


SIZES: dict[str, Size] = {
    "context_window": Size(
        "A8", "Context window", "All that a model can read and write at once.", "tokens", 1
    ),
    "reserve_tokens": Size(
        "A8",
        "Reserve",
        "What stays free for the next prompt and its answer; above the rest, compaction starts.",
        "tokens",
    ),
    "reserve_floor_percent": Size(
        "B18",
        "Least reserve",
        "A large window needs a larger reserve: at least this share of it.",
        "percent",
        0,
        99,
    ),
    "threshold_percent": Size(
        "B18",
        "Threshold as a share of the window",
        "Compaction starts above this share, whatever the reserve says; -1 leaves it to the "
        "reserve.",
        "percent",
        1,
        99,
        -1,
    ),
    "threshold_tokens": Size(
        "B18",
        "Threshold in tokens",
        "Compaction starts above so many tokens, whatever the window is; -1 leaves it to the "
        "reserve.",
        "tokens",
        1,
        unset=-1,
    ),
    "keep_recent_tokens": Size(
        "A15",
        "Tokens to keep",
        "The newest part of the conversation that stays word for word.",
        "tokens",
        1,
    ),
    "keep_rounds": Size(
        "A49",
        "Rounds to keep",
        "The newest replies, with their tool results, that stay word for word.",
        "rounds",
        1,
        10_000,
    ),
    "keep_user_tokens": Size(
        "C8",
        "The user's own messages",
        "Of what is summarized, so many tokens of the user's own messages, the newest first, are "
        "repeated after the summary, word for word; 0 for none.",
        "tokens",
    ),
    "branch_reserve_tokens": Size(
        "A32",
        "Reserve of a branch summary",
        "What stays free when a branch is given to the summarizer, the newest of it first.",
        "tokens",
    ),
    "remote_endpoint": Size(
        "A29",
        "Address of a summarizing service",
        "A service of one's own can summarize in place of a model; empty for none.",
        "address",
    ),
    "pruning.protect_tokens": Size(
        "A13",
        "Protected tool results",
        "The newest tool results are in use, so pruning leaves so many tokens of them alone.",
        "tokens",
    ),
    "pruning.minimum_savings": Size(
        "A13",
        "Least saving",
        "Pruning breaks the prompt cache, so it must save at least so much to be worth it.",
        "tokens",
    ),
    "pruning.protected_tools": Size(
        "A13",
        "Protected tools",
        "Results of these tools are never pruned.",
        "names",
    ),
    "pruning.smallest_result": Size(
        "C5",
        "Smallest result to prune",
        "The note that stands for a pruned result takes tokens too.",
        "tokens",
    ),
    "background.warm_low": Size(
        "A47",
        "Earliest start with a warm cache",
        "A summary that is made ahead starts somewhere between this and the latest start.",
        "share",
        0.01,
        1,
    ),
    "background.warm_high": Size(
        "A47",
        "Latest start with a warm cache",
        "Sessions that start at different fills do not all fall on the same boundary.",
        "share",
        0.01,
        1,
    ),
    "background.cold": Size(
        "A47",
        "Start with a cold cache",
        "Without a cache to reuse a summary ahead is dear, so it waits until it is urgent.",
        "share",
        0.01,
        1,
    ),
    "background.apply_minimum": Size(
        "A47",
        "Least fill to use it",
        "A finished summary is thrown away when the context has become smaller than this.",
        "share",
        0,
        1,
    ),
    "prompt_budget.threshold": Size(
        "A46",
        "Budget of a prompt",
        "A share of the window up to 1, or tokens from 100 on; 0 leaves it to the model.",
        "share or tokens",
        0,
    ),
    "prompt_budget.tools_margin": Size(
        "A46",
        "Margin beside tools",
        "Tools are counted roughly, so messages take only this share of what they leave.",
        "share",
        0.01,
        1,
    ),
    "prompt_budget.result_share": Size(
        "A49",
        "Largest tool result",
        "No tool result takes more of the window than this.",
        "share",
        0.01,
        1,
    ),
    "prompt_budget.result_head": Size(
        "A49",
        "Beginning of a shortened tool result",
        "The share that its beginning takes; the rest is its end, where errors are.",
        "share",
        0,
        1,
    ),
    "prompt_budget.argument_characters": Size(
        "B19",
        "Arguments in the simple request",
        "Calls are given with so many characters of their arguments.",
        "characters",
        1,
    ),
}
"""Every number and text of ``Profile`` and its policies; a policy's by ``policy.name``."""

"""The policies of a profile, and the choices inside them, explained."""

from __future__ import annotations

from typing import NamedTuple

from explorer.compaction.policies import Background, PromptBudget, Pruning
from explorer.compaction.profile.switches import Switch


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

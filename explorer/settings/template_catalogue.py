"""What every text of ``prompts`` is for, which variables it knows, and when one cannot be used.

Data and pure checks: the texts themselves are read by ``explorer.settings.prompt_templates``.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from explorer.compaction.profile import Profile
from explorer.compaction.summary import SECTION_SETS

TemplateGroup = Literal[
    "compaction", "context", "branch", "copilot", "agent", "tools", "verify", "recall"
]
GROUPS: dict[TemplateGroup, str] = {
    "compaction": "Summaries of compactions",
    "branch": "Summaries of branches",
    "context": "How a summary is given to the model",
    "verify": "Check and mend",
    "recall": "Recall test",
    "copilot": "Prompts kept within a budget",
    "agent": "The agent",
    "tools": "The agent's tools",
}
"""What the texts are grouped by, in the order in which the groups are shown."""

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
LARGEST = 256 * 1024
"""Characters of a text at most; the longest that came with the program has three thousand."""


class Variable(Struct, frozen=True):
    """A name that stands between double braces, and what takes its place."""

    name: str
    about: str
    required: bool = True
    """Whether a text without it says nothing of what it is there for."""


class TemplateInfo(Struct, frozen=True):
    """One text: its file in ``prompts`` without ``.md``, and what it is for."""

    name: str
    title: str
    group: TemplateGroup
    about: str
    """When it is sent, in a sentence or two."""
    sections: str = ""
    """The set of sections (``Profile.sections``) that it is for; empty for all profiles."""
    variables: tuple[Variable, ...] = ()
    form: str = ""
    """The kind of summary that it asks for, where answers are checked for headings."""


class TemplateProblem(Struct, frozen=True):
    """What is wrong with a text, as a sentence. ``breaks``: it cannot be used; otherwise it can,
    and is likely not meant so."""

    message: str
    breaks: bool = True


_SUMMARY = Variable("summary", "The stored summary, file lists included.")
_ASKS_FIRST = (
    "Asks for the summary of a compaction when none came before it. The conversation stands above."
)
_ASKS_UPDATE = (
    "Asks for the summary of a compaction that takes the place of an earlier one; the earlier one "
    "stands above it between <previous-summary> tags."
)
_ASKS_BRANCH = (
    "Asks for the summary of a branch that is left for another. The branch stands above it."
)
_SETS = {"explorer": ("", ""), "omp": ("omp-", "oh-my-pi: "), "pi": ("pi-", "pi's documents: ")}


def _asking() -> list[TemplateInfo]:
    found = []
    for name, (start, title) in _SETS.items():
        found += [
            TemplateInfo(f"{start}history-first", f"{title}First summary".strip(), "compaction",
                         _ASKS_FIRST, name, form="history"),
            TemplateInfo(f"{start}history-update", f"{title}Summary brought up to date",
                         "compaction", _ASKS_UPDATE, name, form="history"),
            TemplateInfo(f"{start}branch", f"{title}Branch", "branch", _ASKS_BRANCH, name,
                         form="branch"),
        ]  # fmt: skip
    found += [
        TemplateInfo("copilot-history-first", "copilot: First summary", "compaction",
                     _ASKS_FIRST + " Its analysis is thrown away.", "copilot", form="history"),
        TemplateInfo("copilot-history-update", "copilot: Summary brought up to date", "compaction",
                     _ASKS_UPDATE + " Its analysis is thrown away.", "copilot", form="history"),
    ]  # fmt: skip
    return found


_SUMMARIES = [
    TemplateInfo(
        "system", "System prompt", "compaction",
        "The system prompt of every request for a summary: history, turn prefix and branch.",
    ),
    *_asking(),
    TemplateInfo(
        "turn-prefix", "First part of a split turn", "compaction",
        "Asks for notes on the first part of a turn that is too long to be kept whole. The rest "
        "of the turn stays as it is.", form="turn_prefix",
    ),
    TemplateInfo(
        "short", "Sentences for display", "compaction",
        "Asks for two or three sentences that the map shows; no model reads them again.",
    ),
    TemplateInfo(
        "continued", "A record read in parts", "compaction",
        "Stands before the request from the second part on, where a conversation is too long to "
        "be read at once.",
    ),
    TemplateInfo(
        "reminder", "An answer is asked for again", "compaction",
        "Sent once after an answer that cannot be used.",
        variables=(Variable("problems", "What is wrong with the answer, a sentence per line."),),
    ),
    TemplateInfo(
        "custom-instructions", "A person's instructions", "compaction",
        "Follows a request when a person typed instructions for it.",
        variables=(Variable("instructions", "What the person typed."),),
    ),
    TemplateInfo(
        "branch-preamble", "Opens a branch summary", "branch",
        "Stands before every branch summary, and is stored with it.",
    ),
]  # fmt: skip

_CONTEXT = [
    TemplateInfo(
        "compaction-context", "A compaction's summary", "context",
        "The message that gives the model a compaction's summary. Other agents that read "
        "the session use words of their own.", variables=(_SUMMARY,),
    ),
    TemplateInfo(
        "conversation-summary-context", "A compaction's summary, between tags", "context",
        "The same, in profiles that put the summary between tags and say nothing else.",
        variables=(_SUMMARY,),
    ),
    TemplateInfo(
        "branch-context", "A branch's summary", "context",
        "The message that gives the model a branch's summary.", variables=(_SUMMARY,),
    ),
]  # fmt: skip

_VERIFY = [
    TemplateInfo(
        "verify-system", "Check and mend: system prompt", "verify",
        "The system prompt of the request that has a finished summary mended.",
    ),
    TemplateInfo(
        "verify", "Check and mend: the request", "verify",
        "Asks for a summary to be mended: what was found lost or changed, each with the line that "
        "says it.",
        variables=(
            Variable("summary", "The summary as it stands in the draft, without file lists."),
            Variable("findings", "What is lost or changed, each with the line that says it."),
            Variable("budget", "Tokens that the mended summary may take."),
            Variable("size", "Tokens that the summary takes now.", required=False),
        ),
    ),
]  # fmt: skip

_RECALL = [
    TemplateInfo(
        "recall-system", "Recall test: system prompt", "recall",
        "The system prompt of the requests that ask what a model recalls.",
    ),
    TemplateInfo(
        "recall-cloze", "Recall test: blanks", "recall",
        "Asks for the exact things that are blank in sentences of the record. The context stands "
        "above it.",
        variables=(
            Variable("questions", "The sentences, each with its number and what is blank."),
            Variable("blank", "The mark for what is blank."),
        ),
    ),
    TemplateInfo(
        "recall-open", "Recall test: open questions", "recall",
        "Asks what is to be answered in words. The context stands above it.",
        variables=(Variable("questions", "The questions, each with its name."),),
    ),
    TemplateInfo(
        "recall-judge-system", "Recall test: the judge's system prompt", "recall",
        "The system prompt of the request that has answers graded.",
    ),
    TemplateInfo(
        "recall-judge", "Recall test: the judge's request", "recall",
        "Asks for the grades of answers to open questions, without saying which context they were "
        "given with.",
        variables=(
            Variable("rubric", "What each grade stands for."),
            Variable("answers", "The questions, what the record says, and the answers."),
        ),
    ),
    TemplateInfo(
        "recall-rubric", "Recall test: the grades", "recall",
        "Takes the place of {{rubric}} in the judge's request, and is shown with the results.",
    ),
]  # fmt: skip

_COPILOT = [
    TemplateInfo("copilot-compact-now", "Opens the full request", "copilot",
                 "Opens the request at the end of the agent's own conversation that asks for its "
                 "summary.", "copilot"),
    TemplateInfo("copilot-record", "Opens the simple request", "copilot",
                 "Opens the request that tells the conversation as one text, when the full one "
                 "failed.", "copilot"),
    TemplateInfo("copilot-no-tools", "No tool calls", "copilot",
                 "Ends a request to models that tend to call tools all the same.", "copilot"),
    TemplateInfo("copilot-keep-going", "Keep going", "copilot",
                 "Follows a summary, for models that tend to stop too early.", "copilot"),
    TemplateInfo(
        "copilot-breadcrumb", "Where the whole conversation is", "copilot",
        "Ends a stored summary with the file that holds the whole conversation.", "copilot",
        (
            Variable("path", "The file that the whole conversation was written to."),
            Variable("lines", "How many lines it has."),
            Variable("tool", "The tool that reads files."),
            Variable("example", "A call of that tool on this file."),
        ),
    ),
]  # fmt: skip

_FOLDER = Variable("folder", "The folder that the agent works in.", required=False)
_AGENT = [
    TemplateInfo(
        "agent", "System prompt of the agent", "agent",
        "Stands before every conversation of the live agent.",
        variables=(
            Variable("workspace", "One of the three texts on the workspace."),
            Variable("date", "The text on today's date, or nothing.", required=False),
        ),
    ),
    TemplateInfo("agent-changes", "Workspace: tools that change", "agent",
                 "Takes the place of {{workspace}} where tools can change things.",
                 variables=(_FOLDER,)),
    TemplateInfo("agent-looks", "Workspace: tools that look", "agent",
                 "Takes the place of {{workspace}} where the tools only look.",
                 variables=(_FOLDER,)),
    TemplateInfo("agent-no-workspace", "No workspace", "agent",
                 "Takes the place of {{workspace}} where none was chosen."),
    TemplateInfo("agent-date", "Today's date", "agent",
                 "Takes the place of {{date}} where the date is known.",
                 variables=(Variable("date", "Today, as a person writes it."),)),
    TemplateInfo("continue", "Go on after a compaction", "agent",
                 "Sent after an automatic compaction, where the profile continues by itself."),
    TemplateInfo("omp-continue", "oh-my-pi: go on after a compaction", "agent",
                 "The same where the profile's summaries are oh-my-pi's, as its documents say."),
]  # fmt: skip

_TOOLS = [
    TemplateInfo(f"tools/{name}", name, "tools", f"What the model reads about the tool {name}.")
    for name in ("read", "ls", "find", "grep", "write", "edit", "bash")
]

TEMPLATES: dict[str, TemplateInfo] = {
    info.name: info
    for info in (*_SUMMARIES, *_CONTEXT, *_VERIFY, *_RECALL, *_COPILOT, *_AGENT, *_TOOLS)
}
"""Every text that can be changed, by its name."""

_FILLED = frozenset(name for name, info in TEMPLATES.items() if info.variables)
_ALL_PROFILES = (
    "system", "turn-prefix", "reminder", "custom-instructions", "continued",
    "branch-preamble", "branch-context",
)  # fmt: skip


def variables_in(text: str) -> tuple[str, ...]:
    """The names between double braces, each once, in their order."""
    return tuple(dict.fromkeys(_VARIABLE.findall(text)))


def check_template(name: str, text: str) -> tuple[TemplateProblem, ...]:
    """What is wrong with a text under a name; those that break it first. Raises KeyError for a
    name that no text has."""
    info = TEMPLATES[name]
    if not text.strip():
        return (TemplateProblem("The text is empty."),)
    if len(text) > LARGEST:
        return (TemplateProblem(f"The text has {len(text):,} characters, and {LARGEST:,} may be."),)
    known = {variable.name for variable in info.variables}
    there = variables_in(text)
    problems = [_unknown(info, one) for one in there if one not in known]
    problems += [
        TemplateProblem(f"{{{{{one.name}}}}} is missing: {one.about}")
        for one in info.variables
        if one.required and one.name not in there
    ]
    problems += _unasked(info, text)
    return tuple(sorted(problems, key=lambda problem: not problem.breaks))


def _unknown(info: TemplateInfo, name: str) -> TemplateProblem:
    if info.name not in _FILLED:
        return TemplateProblem(
            f"{{{{{name}}}}} goes out as it stands: this text has no variables.", breaks=False
        )
    known = ", ".join(f"{{{{{variable.name}}}}}" for variable in info.variables)
    return TemplateProblem(f"{{{{{name}}}}} is not known here; there are: {known}.")


def _unasked(info: TemplateInfo, text: str) -> list[TemplateProblem]:
    """Headings that this kind of summary has and the text does not name."""
    if not info.form:
        return []
    form = SECTION_SETS[info.sections or "explorer"][info.form]
    lower = text.lower()
    missing = [name for name in form.required if name.lower() not in lower]
    if not missing:
        return []
    problem = f"It does not ask for: {', '.join(missing)}. Answers are not checked for that then."
    return [TemplateProblem(problem, breaks=False)]


def names_used_by(profile: Profile) -> tuple[str, ...]:
    """The texts that compactions and branch summaries under a profile are made with."""
    start = "" if profile.sections == "explorer" else f"{profile.sections}-"
    wanted = [f"{start}{name}" for name in ("history-first", "history-update", "branch")]
    names = [name if name in TEMPLATES else "branch" for name in wanted]
    wrapped = profile.context_wrapper != "summary"
    names.append("conversation-summary-context" if wrapped else "compaction-context")
    names += _ALL_PROFILES
    if profile.short_summary:
        names.append("short")
    if profile.prompt_budget is not None:
        names += [info.name for info in _COPILOT]
    return tuple(names)

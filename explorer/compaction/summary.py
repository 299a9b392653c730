"""Answers of a summarizer: whether one may be stored and what is wrong with it when it may not, and
sound ones merged and finished with the files (A20, A28, B12, C7, E5, E16, E20).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.file_ops import FileChange, FileChangeKind
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile
from explorer.facts.summary_notes import NOT_FOLLOWED, without_notes
from explorer.session.text import says_nothing
from explorer.tokens.estimate import estimate_text

SPLIT_HEADING = "**Turn Context (split turn):**"
EARLIER_HEADING = "**Earlier turn context:**"
"""What the heading becomes when a summary that holds one is carried into the next (E20)."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_FILE_BLOCK = re.compile(
    r"\s*^<((?:read|modified|created|updated|deleted|failed)-files)>\n.*?^</\1>[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


def merge_summaries(history: str, prefix: str) -> str:
    """The summary of the history and that of a split turn's first part, as one (A20)."""
    if not prefix:
        return history
    turn = f"{SPLIT_HEADING}\n\n{prefix}"
    return f"{history}\n\n---\n\n{turn}" if history else turn


class WithFiles(Protocol):
    """A preparation, as far as its files go."""

    @property
    def read_files(self) -> Sequence[str]: ...
    @property
    def modified_files(self) -> Sequence[str]: ...
    @property
    def failed_files(self) -> Sequence[str]: ...
    @property
    def file_changes(self) -> Sequence[FileChange]: ...
    @property
    def profile(self) -> Profile: ...


def changed(changes: Sequence[FileChange], change: FileChangeKind) -> list[str]:
    """The files that a change befell."""
    return [one.path for one in changes if one.change == change]


def footer(read: Sequence[str], modified: Sequence[str], failed: Sequence[str] = ()) -> str:
    """The file lists that end a summary (A28), with the blank line before them; empty for none.

    ``failed``: files that only failed calls named (B17).
    """
    return _lists(("read", read), ("modified", modified), ("failed", failed))


def files_footer(prepared: WithFiles) -> str:
    """The file lists of a preparation, in the way of its profile."""
    if prepared.profile.file_footer == "read-modified":
        return footer(prepared.read_files, prepared.modified_files, prepared.failed_files)
    changes = prepared.file_changes
    return _lists(
        ("read", prepared.read_files),
        ("created", changed(changes, "created")),
        ("updated", changed(changes, "updated")),
        ("deleted", changed(changes, "deleted")),
        ("failed", prepared.failed_files),
    )


def _lists(*lists: tuple[str, Sequence[str]]) -> str:
    blocks = [
        f"<{name}-files>\n{chr(10).join(files)}\n</{name}-files>" for name, files in lists if files
    ]
    return "".join(f"\n\n{block}" for block in blocks)


def strip_files(text: str) -> str:
    """A summary without its file lists."""
    return _FILE_BLOCK.sub("", text) if "-files>" in text else text


def finish(
    preparation: Preparation,
    history: str,
    prefix: str = "",
    previous_summary: str | None = None,
) -> str:
    """The summary as it is stored: the answers merged, the files at the end.

    An empty ``history`` means that none was asked for; in the corrected profile the previous
    summary then stands in its place, word for word (B7, E2), and one whose every section says that
    there is nothing is left out: what the split turn says would belie it.
    """
    profile = preparation.profile
    if profile.prefix_only == "carry":
        if not history and previous_summary:
            history = previous_summary
        history = _with_earlier_turns(strip_files(history).strip())
        prefix = without_repeated(strip_files(prefix).strip(), history)
        if prefix and not previous_summary and not _tells(without_notes(history)):
            # What the offline summarizer says of an instruction is said of both.
            notes = [line for line in history.splitlines() if NOT_FOLLOWED in line]
            history, prefix = "", "\n".join([prefix, *notes])
    text, lists = merge_summaries(history, prefix), files_footer(preparation)
    return (without_files(text, lists) if profile.prefix_only == "carry" else text) + lists


def without_files(text: str, lists: str) -> str:
    """A summary without the lines that name nothing but files of the lists that follow it, as the
    offline summarizer's do."""
    listed = set(lists.splitlines())

    def is_repeated(line: str) -> bool:
        files = _FILES_LINE.fullmatch(line)
        return files is not None and listed.issuperset(files[1].replace("`", "").split(", "))

    if any(map(is_repeated, text.splitlines())):
        sections = _SECTION.split(text)
        shorter = [_without(section, is_repeated) for section in sections]
        # A section that would say "(none)" of it keeps its line.
        both = zip(sections, shorter, strict=True)
        text = "".join(new if _tells(new) else old for old, new in both).rstrip()
    return text


def _tells(summary: str) -> bool:
    """Whether any section of a summary says more than that there is nothing."""
    lines = (line.strip() for line in summary.splitlines() if not line.startswith("#"))
    return not all(says_nothing(line) for line in lines)


_SECTION = re.compile(r"^(?=#{1,6}[ \t])", re.MULTILINE)
_ITEM = re.compile(r"[-*] (\S.*)")
_FILES_LINE = re.compile(r"- Files(?: changed)?: (\S.*)")
_SENTENCE_END = re.compile(r"(?<=[.!?]) +")
_LEAST_WORDS = 3
"""Items of fewer words mean something else under another heading."""


def without_repeated(text: str, other: str) -> str:
    """A text without the items of its lists of which each sentence stands word for word in an item
    of the other; a section of which nothing is left says so. The two are written by calls that
    know nothing of each other."""
    known: set[str] = set()
    for line in other.splitlines():
        said = line.strip().removeprefix("- ").removeprefix("* ")
        known.update((said, *_SENTENCE_END.split(said)))

    def is_known(line: str) -> bool:
        return _is_known(line, known)

    return "".join(_without(section, is_known) for section in _SECTION.split(text)).rstrip()


def _without(section: str, is_left_out: Callable[[str], bool]) -> str:
    """A section without some of its items, its heading included."""
    lines = section.splitlines()
    left = [
        line
        for line, below in zip_longest(lines, lines[1:], fillvalue="")
        # An item that goes on below, indented, is more than its line.
        if below[:1].isspace() or not is_left_out(line)
    ]
    if "```" in section or len(left) == len(lines):
        return section
    if not any(line.strip() for line in left[1:]):
        left = [*left[:1], "- (none)"]
    return "\n".join(left).rstrip() + "\n\n"


def _is_known(line: str, known: set[str]) -> bool:
    item = _ITEM.fullmatch(line)
    if item is None or len(item[1].split()) < _LEAST_WORDS:
        return False
    return item[1] in known or known.issuperset(_SENTENCE_END.split(item[1]))


def _with_earlier_turns(history: str) -> str:
    """A history whose split turns are over: their notes stay, without headings, so
    that those of the turn that is split now are there once (E20)."""
    before, found, turns = history.partition(SPLIT_HEADING)
    if not found:
        return history
    turns = turns.replace(SPLIT_HEADING, EARLIER_HEADING)
    return f"{before}{EARLIER_HEADING}{_HEADING.sub(_as_label, turns)}"


def _as_label(heading: re.Match[str]) -> str:
    return f"**{heading.group(1)}**"


ProblemCode = Literal["failed", "empty", "cut-short", "too-large", "missing", "repeated"]

_CUT_SHORT = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"})
_NOT_AN_ANSWER = {
    "error": "The summarizer reported an error.",
    "aborted": "The summarizer was stopped before it had finished.",
    "content_filter": "The provider's filter withheld the answer.",
    "refusal": "The model refused to answer.",
    "toolUse": "The model called a tool instead of answering.",
    "tool_calls": "The model called a tool instead of answering.",
}
_FENCE = re.compile(r"^(```|~~~)(?P<alone>[ \t]*$)?", re.MULTILINE)


class AnswerProblem(NamedTuple):
    """Why an answer must not be stored."""

    code: ProblemCode
    message: str
    """A sentence for a person, and for the model that is asked once more."""


class Form(Struct, frozen=True):
    """The sections that an answer must have. Headings are compared without case."""

    required: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    """Further headings of the form: they may be left out, and must not be written twice."""
    numbered: bool = False
    """Headings are numbered lines, ``1. Name:``."""


FREE = Form()
"""An answer without sections."""

_GOAL_TO_NEXT = ("Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps")
_STATES = ("Done", "In Progress", "Blocked")
_PLAIN = ("Goal", "Constraints", "Progress", "Key Decisions", "Next Steps", "Critical Context")
_HISTORY = Form((*_GOAL_TO_NEXT, "Critical Context"), (*_STATES, "Additional Notes"))
_BRANCH = Form(_GOAL_TO_NEXT, _STATES)
_EIGHT = Form(
    (
        "Conversation Overview",
        "Technical Foundation",
        "Codebase Status",
        "Problem Resolution",
        "Progress Tracking",
        "Active Work State",
        "Recent Operations",
        "Continuation Plan",
    ),
    numbered=True,
)
_PREFIX = Form(("Original Request", "Early Progress", "Context for Suffix"))

SECTION_SETS: Mapping[str, Mapping[str, Form]] = {
    "explorer": {"history": _HISTORY, "turn_prefix": _PREFIX, "branch": _BRANCH},
    "omp": {"history": _HISTORY, "turn_prefix": _PREFIX, "branch": _BRANCH},
    "pi": {"history": Form(_PLAIN), "turn_prefix": _PREFIX, "branch": Form(_PLAIN)},
    "copilot": {"history": _EIGHT, "turn_prefix": _PREFIX, "branch": _BRANCH},
}
"""Per set of sections (``Profile.sections``), the form of each kind of summary (A24, A26)."""


def form_of(profile: Profile, purpose: str) -> Form:
    """The form that an answer has under a profile; a purpose without sections is ``FREE``."""
    return SECTION_SETS[profile.sections].get(purpose, FREE)


def asked_form(form: Form, words: str) -> Form:
    """The form of an answer to ``words``: a heading that they do not name is not asked for, and an
    answer is not refused for want of it."""
    lower = words.lower()
    named = tuple(name for name in form.required if name.lower() in lower)
    return form if named == form.required else replace(form, required=named)


def check_answer(
    text: str,
    stop_reason: str,
    *,
    profile: Profile | None = None,
    form: Form = FREE,
    input_tokens: int | None = None,
    answer_tokens: int | None = None,
) -> tuple[AnswerProblem, ...]:
    """What is wrong with an answer; empty when it may be stored (B12, E5, E16, E20).

    ``input_tokens``: what the summary replaces, on the same metric as ``answer_tokens`` (default:
    the estimate). A profile whose answers are stored as they come has nothing against any.
    """
    if profile is not None and profile.answers == "stored":
        return ()
    if stop_reason in _NOT_AN_ANSWER:
        return (AnswerProblem("failed", _NOT_AN_ANSWER[stop_reason]),)
    if not text.strip():
        return (AnswerProblem("empty", "The summarizer's answer is empty."),)
    problems = []
    if stop_reason in _CUT_SHORT:
        problems.append(
            AnswerProblem(
                "cut-short", "The answer was cut short at its length limit: its end is missing."
            )
        )
    taken = estimate_text(text) if answer_tokens is None else answer_tokens
    if input_tokens is not None and taken >= input_tokens:
        problems.append(too_large(taken, input_tokens))
    return (*problems, *_check_sections(text, form))


def too_large(taken: int, replaced: int) -> AnswerProblem:
    """The problem of a summary that takes as many tokens as it replaces, or more (E16)."""
    return AnswerProblem(
        "too-large",
        f"The summary takes {taken:,} tokens and replaces {replaced:,}: nothing is gained.",
    )


def section_counts(text: str, form: Form) -> dict[str, int]:
    """How often each heading of a form is in a text, blocks of code left out."""
    if not form.required and not form.allowed:
        return {}
    bare = _without_fences(text)
    return {
        name: len(_heading(name, form.numbered).findall(bare))
        for name in (*form.required, *form.allowed)
    }


def _without_fences(text: str) -> str:
    """The text without its blocks of code; one that is opened and not closed is none."""
    fences = list(_FENCE.finditer(text))
    closing: dict[str, list[re.Match[str]]] = {"```": [], "~~~": []}
    for fence in fences:
        if fence["alone"] is not None:
            closing[fence[1]].append(fence)
    kept, at = [], 0
    for fence in fences:
        if fence.start() < at:
            continue
        after = bisect_right(closing[fence[1]], fence.start(), key=re.Match.start)
        if after < len(closing[fence[1]]):
            kept.append(text[at : fence.start()])
            at = closing[fence[1]][after].end()
    return "".join([*kept, text[at:]])


def _check_sections(text: str, form: Form) -> list[AnswerProblem]:
    counts = section_counts(text, form)
    problems = []
    if missing := [name for name in form.required if not counts[name]]:
        problems.append(AnswerProblem("missing", f"Sections are missing: {', '.join(missing)}."))
    if repeated := [name for name, count in counts.items() if count > 1]:
        names = ", ".join(repeated)
        problems.append(AnswerProblem("repeated", f"Sections appear more than once: {names}."))
    return problems


@lru_cache(maxsize=128)
def _heading(name: str, numbered: bool) -> re.Pattern[str]:
    """A line that is this heading: Markdown's, a bold line, and where headings are numbered a
    number before it. A sentence that begins with the same words is none."""
    words = re.escape(name).replace("\\ ", r"[ \t]+").replace("\\&", "&")
    words = words.replace("&", "(?:&|&amp;|and)")
    number = r"\d{1,2}[.)][ \t]*"
    forms = [
        rf"#{{1,6}}[ \t]+(?:{number})?\**{words}\**[ \t]*:?\**[ \t]*#*[ \t]*$",
        rf"\*\*(?:{number})?{words}[ \t]*:?\*\*[ \t]*:?[ \t]*$",
    ]
    if numbered:
        forms.append(rf"(?:#{{1,6}}[ \t]+)?\**{number}\**{words}\**[ \t]*(?::|\**[ \t]*$)")
    return re.compile(rf"^[ \t]{{0,3}}(?:{'|'.join(forms)})", re.IGNORECASE | re.MULTILINE)


_ANALYSIS = re.compile(r"<analysis>.*?(?:</analysis>|(?=<summary>)|\Z)", re.DOTALL | re.IGNORECASE)
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>\s*\Z|\Z)", re.DOTALL | re.IGNORECASE)


def clean_answer(text: str, profile: Profile, purpose: str) -> str:
    """The part of an answer that is kept (A26).

    Of an answer with an analysis and a summary only the summary; one whose ``<summary>`` is not
    closed takes the rest (B19). Other forms are kept as they came.
    """
    if not form_of(profile, purpose).numbered:
        return text
    rest = _ANALYSIS.sub("", text)
    match = _SUMMARY.search(rest)
    return (match.group(1) if match else rest).strip()

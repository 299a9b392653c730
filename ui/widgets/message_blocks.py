"""What is shown of an entry, as blocks from top to bottom; knows no widgets and reads nothing.

The conversation, the tab Entry and the lists of sources draw these. Text, thinking, pictures and
commands are shown as the session has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from msgspec import Struct

from explorer.session.edit_entries import (
    PRUNE_TYPE,
    PruneFacts,
    ShapeFacts,
    prune_facts,
    shape_facts,
)
from explorer.session.entries import (
    AssistantMessage,
    BranchSummary,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    FilesMessage,
    ImageBlock,
    Label,
    ModelChange,
    NoteMessage,
    SessionName,
    ShellMessage,
    Summary,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
    ThinkingLevelChange,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UnknownBlock,
    images_of,
    text_of,
)
from explorer.session.rows import output_lines
from explorer.session.text import call_title, name_in_words
from explorer.session.text_difference import DifferenceLine, Sign, changed_lines
from explorer.session.tool_actions import ToolAction, tool_actions
from ui.audit.known import NOT_RECORDED

MOST_LISTED = 100
"""Results of a prune that are named one by one."""
MOST_WORDS, DEEPEST = 2_000, 4
"""Characters and levels of a recorded value that are shown; Raw has all of it."""
MOST_DIFF = 200_000
"""Characters of a diff that a tool recorded of which lines are made."""
_NAMED_IN_TITLE = ("path", "file_path", "pattern", "query", "url")
SIGNS: dict[str, Sign] = {"+": "+", "-": "-", " ": " "}
"""Of a line of a diff, by its first character."""
_OLD_TEXT, _NEW_TEXT = ("oldText", "old_string"), ("newText", "new_string")


class PlainBlock(Struct, frozen=True):
    """Text in the fixed font: a file, or an error."""

    text: str
    title: str = ""
    path: str = ""
    """The file that the text is of; its name tells the language."""
    is_error: bool = False


class DiffBlock(Struct, frozen=True):
    """A change of a file."""

    path: str
    lines: tuple[DifferenceLine, ...]

    def count(self, sign: Sign) -> int:
        """The number of added or removed lines."""
        return sum(line.sign == sign for line in self.lines)

    @property
    def figures(self) -> str:
        """How many lines were added and removed: ``+3 −1``."""
        return f"+{self.count('+')} −{self.count('-')}"


class ResultBlock(Struct, frozen=True):
    """What a tool returned."""

    tool: str
    text: str
    entry: int = -1
    """The entry that holds it, when it is not the one shown."""
    is_error: bool = False
    images: tuple[ImageBlock, ...] = ()
    path: str = ""
    """The file that it is the text of."""
    diff: DiffBlock | None = None
    """The change as the tool recorded it."""
    exit_code: int | None = None
    full_output_path: str = ""
    missing: str = ""
    """Why there is no real result: ``not run`` or ``broken off``."""
    lines: int = 0
    """Of what the tool returned, as the result's row on the map counts them."""


NO_RESULT = "no result on this path"


class CallBlock(Struct, frozen=True):
    """A tool call with its results (more than one where branches answered it differently)."""

    tool: str
    title: str
    arguments: Mapping[str, Any]
    call_id: str
    path: str = ""
    """The file that it names."""
    diffs: tuple[DiffBlock, ...] = ()
    written: str = ""
    """The text of a file that the call writes."""
    command: str = ""
    more: Mapping[str, Any] = {}
    """The arguments that nothing above shows."""
    results: tuple[ResultBlock, ...] = ()
    entry: int = -1
    """The entry that holds the call, when it is not the one shown."""
    hosted: bool = False
    """Run by the provider within the reply."""

    @property
    def missing(self) -> str:
        """What is said in place of a result; empty where there is one. Whether a call without one
        ran is not known."""
        if self.results:
            return ""
        return "run by the provider" if self.hosted else NO_RESULT

    @property
    def more_words(self) -> str:
        """``more`` in a line; empty where it takes more than one."""
        if any(not isinstance(value, str | int | float) for value in self.more.values()):
            return ""
        words = "   ".join(f"{name}: {value}" for name, value in self.more.items())
        return words if "\n" not in words and len(words) <= 160 else ""


class NamedValue(Struct, frozen=True):
    """A named value; ``entry_id`` where it names an entry."""

    name: str
    value: str
    entry_id: str = ""


class FactsBlock(Struct, frozen=True):
    """Facts of an entry in a table."""

    facts: tuple[NamedValue, ...]


@dataclass(frozen=True, slots=True)
class JsonBlock:
    """A value shown as JSON."""

    title: str
    value: Any = field(hash=False)


Block = (
    TextBlock | ThinkingBlock | ImageBlock | ShellMessage | PlainBlock | ResultBlock | CallBlock
    | FactsBlock | JsonBlock
)  # fmt: skip


def blocks(entry: Entry, related: Mapping[int, Entry] | None = None) -> list[Block]:
    """What to show of an entry.

    ``related``: by index, the results of its calls, or the reply whose call it answers.
    """
    body, others = entry.body, related or {}
    match body:
        case AssistantMessage():
            return _reply(body, others)
        case ToolResultMessage():
            return [_result_with_call(body, others)]
        case ShellMessage():
            return [body]
        case FilesMessage():
            return [PlainBlock(file.content, file.path, file.path) for file in body.files]
        case NoteMessage():
            return _note(body)
        case CompactionSummary():
            return _summary(body, _compaction_facts(body, entry.id))
        case BranchSummary():
            return _summary(
                body, [NamedValue("Branch left at", body.from_id or "the root", body.from_id)]
            )
        case SummaryMessage():
            return _summary(body, [])
        case CustomData():
            return _custom(body) or _recorded(body.name, body.data)
        case Label() | SessionName() | ModelChange() | ThinkingLevelChange():
            facts = tuple(fact for fact in _changes(body) if fact.value)
            return [FactsBlock(facts)] if facts else _recorded(type(body).__name__, entry.recorded)
        case Unknown():
            return _recorded(body.type, entry.recorded)
    return _content(body.content)


def words_of(block: Block) -> str:
    """The words of a block, for reading and copying."""
    match block:
        case TextBlock() | ThinkingBlock() | PlainBlock() | ResultBlock():
            return block.text
        case ShellMessage():
            return "\n".join(part for part in (block.command, block.output) if part)
        case CallBlock():
            arguments = json.dumps(block.arguments, ensure_ascii=False)
            return "\n\n".join([f"{block.tool} {arguments}", *map(words_of, block.results)])
    return ""


def shell_remarks(shell: ShellMessage) -> list[str]:
    """Cancel, truncation, exclusion and full output of a recorded command, in words."""
    found = ["cancelled"] if shell.cancelled else []
    if shell.truncated:
        found.append("output cut")
    if shell.excluded:
        found.append("left out of the context")
    if shell.full_output_path:
        found.append(f"whole output in {shell.full_output_path}")
    return found


def call_block(
    call: ToolCallBlock,
    results: Sequence[tuple[int, ToolResultMessage]] = (),
    entry: int = -1,
) -> CallBlock:
    """A tool call, with its results by their entries."""
    name, value = call.name or "tool", call.arguments
    arguments: dict[str, Any] = value if isinstance(value, dict) else {"arguments": value}
    path = _text(arguments, ("path", "file_path"))
    written = _text(arguments, ("content",)) if path else ""
    command = _text(arguments, ("command",))
    diffs = _diffs(path, arguments)
    title = call_title(name, arguments)
    shown = {key for key in _NAMED_IN_TITLE if title.endswith(f" {arguments.get(key)}")}
    if diffs:
        shown |= {*_OLD_TEXT, *_NEW_TEXT, "edits"}
    if written:
        shown.add("content")
    if command:
        shown.add("command")
    return CallBlock(
        tool=name,
        title=title,
        arguments=arguments,
        call_id=call.id,
        path=path,
        diffs=diffs,
        written=written,
        command=command,
        more={key: value for key, value in arguments.items() if key not in shown},
        results=tuple(
            result_block(result, at, path, tool_actions(name, arguments)) for at, result in results
        ),
        entry=entry,
        hosted=call.hosted,
    )


def result_block(
    result: ToolResultMessage,
    entry: int = -1,
    path: str = "",
    actions: Sequence[ToolAction] = (),
) -> ResultBlock:
    """A tool result; ``path``: the file that its call names, ``actions``: what the call does."""
    details = result.details if isinstance(result.details, Mapping) else {}
    diff, code = _text(details, ("diff",)), details.get("exitCode")
    missing = "not run" if details.get("notRun") is True else ""
    return ResultBlock(
        tool=result.tool or "tool",
        text=text_of(result.content),
        entry=entry,
        is_error=result.is_error,
        images=images_of(result.content),
        path=path if result.tool == "read" else "",
        diff=DiffBlock(path, _recorded_lines(diff)) if diff else None,
        exit_code=code if isinstance(code, int) else None,
        full_output_path=_text(details, ("fullOutputPath", "persistedOutputPath")),
        missing=missing or ("broken off" if details.get("noResult") is True else ""),
        lines=output_lines(text_of(result.content), actions),
    )


def _text(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first text that is not empty."""
    found = (values.get(key) for key in keys)
    return next((value for value in found if isinstance(value, str) and value), "")


def _diffs(path: str, arguments: Mapping[str, Any]) -> tuple[DiffBlock, ...]:
    edits = arguments.get("edits")
    found = []
    for edit in [arguments, *(edits if isinstance(edits, list) else [])]:
        if not isinstance(edit, Mapping):
            continue
        old, new = (
            next((edit[key] for key in keys if key in edit), None)
            for keys in (_OLD_TEXT, _NEW_TEXT)
        )
        if isinstance(old, str) and isinstance(new, str):
            found.append(DiffBlock(path, changed_lines(old, new)))
    return tuple(found)


def _recorded_lines(diff: str) -> tuple[DifferenceLine, ...]:
    """The lines of a diff that a tool recorded, numbered ones among them, without its headers."""
    found = []
    for line in diff[:MOST_DIFF].split("\n"):
        if line.startswith("@@"):
            found.append(DifferenceLine("@", "…"))
        elif line[:4] not in ("--- ", "+++ "):
            sign = SIGNS.get(line[:1])
            found.append(DifferenceLine(sign, line[1:]) if sign else DifferenceLine(" ", line))
    return tuple(found)


def _content(
    content: Content, results: Mapping[str, Sequence[tuple[int, ToolResultMessage]]] | None = None
) -> list[Block]:
    out: list[Block] = []
    for block in content:
        match block:
            case ToolCallBlock():
                out.append(call_block(block, (results or {}).get(block.id, ())))
            case UnknownBlock():
                out.append(JsonBlock(f"Block of type {block.type!r}", block.value))
            case TextBlock(text=""):
                continue
            case _:
                out.append(block)
    return out


def _reply(body: AssistantMessage, related: Mapping[int, Entry]) -> list[Block]:
    results: dict[str, list[tuple[int, ToolResultMessage]]] = {}
    for at, other in related.items():
        if isinstance(other.body, ToolResultMessage):
            results.setdefault(other.body.call_id, []).append((at, other.body))
    out = _content(body.content, results)
    if body.error:
        out.append(PlainBlock(body.error, "error of the provider", is_error=True))
    return out


def _result_with_call(body: ToolResultMessage, related: Mapping[int, Entry]) -> Block:
    """The result below the call that it answers, without the call's other results."""
    for at, other in related.items():
        for call in other.calls:
            if call.id == body.call_id:
                return call_block(call, [(-1, body)], at)
    return result_block(body)


def _note(body: NoteMessage) -> list[Block]:
    facts = [NamedValue("Name", body.name or "unnamed")]
    if not body.display:
        facts.append(NamedValue("Shown", "to the model only"))
    out: list[Block] = [FactsBlock(tuple(facts)), *_content(body.content)]
    if body.details is not None:
        out.append(JsonBlock("details", body.details))
    return out


_TRIGGERS = {"auto": "automatic", "manual": "asked for by the user"}
_CERTAINTIES = {
    "inferred": "what it kept is worked out from the records around it",
    "unreadable": "its agent records that it happened, and not in words what it says",
}


def _compaction_facts(body: CompactionSummary, entry_id: str) -> list[NamedValue]:
    before = f"{body.tokens_before:,}" if body.tokens_before else NOT_RECORDED
    facts = [NamedValue("Tokens before (recorded)", before)]
    if body.tokens_after is not None:
        facts.append(NamedValue("Tokens after (recorded)", f"{body.tokens_after:,}"))
    first = body.first_kept_id if body.first_kept_id != entry_id else ""
    none = NOT_RECORDED if body.certainty == "unreadable" else "nothing was kept"
    facts.append(NamedValue("First kept", first or none, first))
    if body.trigger:
        facts.append(NamedValue("Trigger", _TRIGGERS.get(body.trigger, body.trigger)))
    if body.certainty != "exact":
        facts.append(NamedValue("Known", _CERTAINTIES[body.certainty]))
    if body.short_summary:
        facts.append(NamedValue("In short", body.short_summary))
    return facts


def _summary(body: Summary, facts: list[NamedValue]) -> list[Block]:
    if not isinstance(body, SummaryMessage):
        if body.from_extension:
            facts.append(NamedValue("Made by", "an extension"))
        files = body.files
        for title, names in (
            ("read", files.read), ("modified", files.modified), ("created", files.created),
            ("deleted", files.deleted), ("not reached", files.failed),
        ):  # fmt: skip
            if names:
                facts.append(NamedValue(f"Files {title}", "\n".join(names)))
    out: list[Block] = [FactsBlock(tuple(facts))] if facts else []
    return [*out, TextBlock(body.summary) if body.summary else PlainBlock(_absent(body))]


def _absent(body: Summary) -> str:
    if isinstance(body, CompactionSummary) and body.certainty == "unreadable":
        return "(the summary is encrypted or was not recorded)"
    return "(no summary)"


def _changes(
    body: Label | SessionName | ModelChange | ThinkingLevelChange,
) -> tuple[NamedValue, ...]:
    match body:
        case Label():
            return NamedValue("Label", body.text), NamedValue(
                "On entry", body.target_id, body.target_id
            )
        case SessionName():
            return (NamedValue("Session name", body.name),)
        case ModelChange():
            return NamedValue("Model", body.model), NamedValue("Role", body.role)
        case ThinkingLevelChange():
            return (NamedValue("Thinking", body.level),)


def _recorded(name: str, data: Any) -> list[Block]:
    """What an agent or an extension recorded for itself, in words; empty values say nothing."""
    values = data if isinstance(data, Mapping) else {"Says": data}
    facts = [NamedValue("What", name_in_words(name))]
    for key, value in islice(values.items(), MOST_LISTED):
        if words := _in_words(value):
            facts.append(NamedValue(name_in_words(str(key)), words[:MOST_WORDS]))
    return [FactsBlock(tuple(facts))]


def _in_words(value: Any, depth: int = 0) -> str:
    """A recorded value, one line for each of several; empty where there is none."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if not isinstance(value, Mapping | list | tuple):
        return str(value)
    if depth == DEEPEST:
        return "…" if value else ""
    parts = value.items() if isinstance(value, Mapping) else ((None, one) for one in value)
    said = [(key, _in_words(one, depth + 1)) for key, one in islice(parts, MOST_LISTED)]
    said = [(key, words) for key, words in said if words]
    is_named = len(said) > 1
    return "\n".join(
        f"{name_in_words(str(key))}: {words}" if is_named and key is not None else words
        for key, words in said
    )


def _custom(body: CustomData) -> list[Block]:
    """What this program recorded: a prune, a pin, an omission, a rule; nothing for other data."""
    shape = shape_facts(body.name, body.data)
    if shape is not None:
        return _shape(shape)
    prune = prune_facts(body.data) if body.name == PRUNE_TYPE else None
    return _prune(prune) if prune is not None else []


def _prune(prune: PruneFacts) -> list[Block]:
    """What was pruned, and what it saved."""
    if prune.undoes:
        return [FactsBlock((NamedValue("Takes back the prune", prune.undoes, prune.undoes),))]
    facts = [
        NamedValue("Tool results pruned", f"{len(prune.results):,}"),
        NamedValue("Tokens saved", f"{prune.saved:,}"),
        *_reason(prune.reason),
    ]
    named = [NamedValue(f"{tokens:,} tokens", name, name) for name, tokens, _note in prune.results]
    return [FactsBlock(tuple(facts)), FactsBlock(_listed(named))]


def _shape(shape: ShapeFacts) -> list[Block]:
    """A pin, an omission, or a rule of repeated messages."""
    if shape.undoes:
        return [FactsBlock((NamedValue("Takes back", shape.undoes, shape.undoes),))]
    facts = FactsBlock((NamedValue("Says", shape.title), *_reason(shape.reason)))
    is_pin = shape.kind == "pin"
    verb, lifted = ("Pinned", "Unpinned") if is_pin else ("Omitted", "Taken in again")
    named = [NamedValue(verb, name, name) for name, _ in shape.entries]
    named += [NamedValue(lifted, name, name) for name in shape.lifts]
    return [facts, FactsBlock(_listed(named))] if named else [facts]


def _reason(words: str) -> tuple[NamedValue, ...]:
    return (NamedValue("Why", words),) if words else ()


def _listed(facts: Sequence[NamedValue]) -> tuple[NamedValue, ...]:
    """The first of many facts, and how many more there are."""
    more = len(facts) - MOST_LISTED
    rest = (NamedValue("And more", f"{more:,}"),) if more > 0 else ()
    return (*facts[:MOST_LISTED], *rest)

"""From the JSON of an entry to the blocks that are shown; knows no widgets and reads nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.session.describe import (
    blocks_of,
    call_title,
    first_kept_id,
    from_extension,
    kind_of,
    text_of,
)
from explorer.session.edit_entries import PRUNE_TYPE, ShapeFacts, prune_facts, shape_facts
from explorer.session.kinds import Kind
from ui.audit.known import NOT_RECORDED
from ui.inspector.blocks import (
    Block,
    CallBlock,
    CommandBlock,
    DiffBlock,
    Fact,
    FactsBlock,
    ImageBlock,
    Json,
    JsonBlock,
    ResultBlock,
    TextBlock,
    ThinkingBlock,
)

MOST_LISTED = 100
"""Results of a prune that are named one by one."""


@dataclass(frozen=True, slots=True)
class Related:
    """Another entry that belongs to the shown one: a result of its call, or the call."""

    index: int
    entry: Json


def call_ids(entry: Json) -> list[str]:
    """The ids of the tool calls of a reply."""
    content = _message(entry).get("content")
    return [
        str(block.get("id", "")) for block in blocks_of(content) if block.get("type") == "toolCall"
    ]


def result_call_id(entry: Json) -> str:
    """The id of the call that a tool result answers."""
    return str(_message(entry).get("toolCallId", ""))


def blocks(entry: Json, related: Sequence[Related] = ()) -> list[Block]:
    """What to show of an entry, from top to bottom."""
    kind = kind_of(entry)
    make = _BY_KIND.get(kind)
    if make is not None:
        return make(entry, related)
    return [JsonBlock("This entry has no view of its own; all of it:", entry)]


def plain_text(entry: Json) -> str:
    """The words of an entry, for the clipboard."""
    message = _message(entry)
    parts = [text_of(message.get("content", entry.get("content")))]
    parts += [_string(holder, "summary") for holder in (entry, message)]
    parts += [_string(message, "command", "code"), _string(message, "output")]
    found = "\n".join(part for part in dict.fromkeys(parts) if part)
    return found or json.dumps(entry, ensure_ascii=False, indent=2)


def _message(entry: Json) -> Json:
    message = entry.get("message")
    return message if isinstance(message, Mapping) else {}


def _string(holder: Json, *keys: str) -> str:
    for key in keys:
        value = holder.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _images(content: object) -> tuple[ImageBlock, ...]:
    return tuple(
        ImageBlock(_string(block, "mimeType", "mediaType") or "image", _string(block, "data"))
        for block in blocks_of(content)
        if block.get("type") == "image"
    )


def _content(content: object, title: str = "") -> list[Block]:
    out: list[Block] = []
    for block in blocks_of(content):
        if block.get("type") == "text":
            text = _string(block, "text")
            if text:
                out.append(TextBlock(text, title=title))
        elif block.get("type") == "image":
            out.extend(_images([block]))
        else:
            out.append(JsonBlock(f"Block of type {block.get('type')!r}", block))
    return out


def _user(entry: Json, related: Sequence[Related]) -> list[Block]:
    return _content(_message(entry).get("content"))


def _assistant(entry: Json, related: Sequence[Related]) -> list[Block]:
    message, out = _message(entry), list[Block]()
    results = _results_by_call(related)
    for block in blocks_of(message.get("content")):
        block_type = block.get("type")
        if block_type == "text":
            if text := _string(block, "text"):
                out.append(TextBlock(text))
        elif block_type == "thinking":
            text = _string(block, "thinking")
            out.append(ThinkingBlock(text, redacted=bool(block.get("redacted")) or not text))
        elif block_type == "toolCall":
            out.append(_call(block, results.get(str(block.get("id", "")), [])))
        else:
            out.append(JsonBlock(f"Block of type {block_type!r}", block))
    if error := _string(message, "errorMessage"):
        out.append(TextBlock(error, markdown=False, title="error of the provider"))
    return out


def _results_by_call(related: Sequence[Related]) -> dict[str, list[Related]]:
    found: dict[str, list[Related]] = {}
    for other in related:
        found.setdefault(result_call_id(other.entry), []).append(other)
    return found


def _call(block: Json, results: Sequence[Related], entry: int = -1) -> CallBlock:
    name = _string(block, "name") or "tool"
    arguments = block.get("arguments")
    known: Json = arguments if isinstance(arguments, Mapping) else {"arguments": arguments}
    path = _string(known, "path", "file_path")
    written = _string(known, "content") if path else ""
    return CallBlock(
        tool=name,
        title=call_title(name, known),
        arguments=known,
        call_id=str(block.get("id", "")),
        diffs=_diffs(path, known),
        written=TextBlock(written, markdown=False, path=path) if written else None,
        results=tuple(_result(other.entry, other.index, path) for other in results),
        entry=entry,
    )


def _diffs(path: str, arguments: Json) -> tuple[DiffBlock, ...]:
    edits = arguments.get("edits")
    found = []
    for edit in [arguments, *(edits if isinstance(edits, list) else [])]:
        if not isinstance(edit, Mapping):
            continue
        old = edit.get("oldText", edit.get("old_string"))
        new = edit.get("newText", edit.get("new_string"))
        if isinstance(old, str) and isinstance(new, str):
            found.append(DiffBlock(path, old, new))
    return tuple(found)


def _result(entry: Json, index: int, path: str = "") -> ResultBlock:
    message = _message(entry)
    content = message.get("content")
    return ResultBlock(
        tool=_string(message, "toolName") or "tool",
        text=text_of(content),
        entry=index,
        is_error=message.get("isError") is True,
        images=_images(content),
        path=path if _string(message, "toolName") == "read" else "",
    )


def _tool_result(entry: Json, related: Sequence[Related]) -> list[Block]:
    """The result, and above it the call that it answers, without the call's other results."""
    asked = result_call_id(entry)
    for other in related:
        for block in blocks_of(_message(other.entry).get("content")):
            if block.get("type") == "toolCall" and str(block.get("id", "")) == asked:
                call = _call(block, [Related(-1, entry)], other.index)
                return [call]
    return [_result(entry, -1)]


def _execution(entry: Json, related: Sequence[Related]) -> list[Block]:
    message = _message(entry)
    code = message.get("exitCode")
    remarks = []
    if message.get("cancelled") is True:
        remarks.append("cancelled")
    if message.get("truncated") is True:
        remarks.append("output cut")
    if message.get("excludeFromContext") is True:
        remarks.append("kept out of the context")
    if full := _string(message, "fullOutputPath"):
        remarks.append(f"whole output in {full}")
    is_python = kind_of(entry) is Kind.PYTHON_EXECUTION
    return [
        CommandBlock(
            _string(message, "command", "code"),
            _string(message, "output"),
            code if isinstance(code, int) else None,
            tuple(remarks),
            "python" if is_python else "bash",
        )
    ]


def _names(value: object) -> str:
    return "\n".join(str(item) for item in value) if isinstance(value, list) and value else ""


def _file_facts(entry: Json) -> list[Fact]:
    details = entry.get("details")
    if not isinstance(details, Mapping):
        return []
    read = _names(details.get("readFiles", details.get("read_files")))
    modified = _names(details.get("modifiedFiles", details.get("modified_files")))
    found = [Fact("Files read", read), Fact("Files modified", modified)]
    for key, title in (("created", "created"), ("deleted", "deleted"), ("failed", "not reached")):
        found.append(Fact(f"Files {title}", _names(details.get(f"{key}Files"))))
    return [fact for fact in found if fact.value]


def _summary(entry: Json, facts: list[Fact]) -> list[Block]:
    if from_extension(entry):
        facts.append(Fact("Made by", "an extension"))
    facts += _file_facts(entry)
    out: list[Block] = [FactsBlock(tuple(facts))] if facts else []
    summary = _string(entry, "summary")
    out.append(TextBlock(summary) if summary else TextBlock("(no summary)", markdown=False))
    return out


def _compaction(entry: Json, related: Sequence[Related]) -> list[Block]:
    facts: list[Fact] = []
    before = entry.get("tokensBefore", entry.get("tokens_before"))
    after = entry.get("tokensAfter", entry.get("tokens_after"))
    is_told = isinstance(before, int | float) and before > 0
    facts.append(Fact("Tokens before", f"{int(before):,}" if is_told else NOT_RECORDED))
    if isinstance(after, int | float):
        facts.append(Fact("Tokens after", f"{int(after):,}"))
    kept = first_kept_id(entry)
    if kept and kept != entry.get("id"):
        facts.append(Fact("First kept", kept, kept))
    else:
        facts.append(Fact("First kept", "nothing was kept"))
    if short := _string(entry, "shortSummary"):
        facts.append(Fact("In short", short))
    return _summary(entry, facts)


def _branch_summary(entry: Json, related: Sequence[Related]) -> list[Block]:
    from_id = _string(entry, "fromId", "from_id")
    facts = [Fact("Branch left at", from_id or "the root", from_id)]
    return _summary(entry, facts)


def _summary_role(entry: Json, related: Sequence[Related]) -> list[Block]:
    return _summary(_message(entry), [])


def _custom_message(entry: Json, related: Sequence[Related]) -> list[Block]:
    facts = [Fact("Extension", _string(entry, "customType") or "unnamed")]
    if entry.get("display") is False:
        facts.append(Fact("Shown", "to the model only"))
    out: list[Block] = [FactsBlock(tuple(facts)), *_content(entry.get("content"))]
    if entry.get("details") is not None:
        out.append(JsonBlock("details", entry["details"]))
    return out


def _custom(entry: Json, related: Sequence[Related]) -> list[Block]:
    """An entry that nobody else reads, but for our own: what was pruned, and what it saved."""
    facts = prune_facts(entry.get("data")) if entry.get("customType") == PRUNE_TYPE else None
    shape = shape_facts(entry.get("customType"), entry.get("data"))
    if shape is not None:
        return _shape(shape)
    if facts is None:
        return [JsonBlock("This entry has no view of its own; all of it:", entry)]
    if facts.undoes:
        return [FactsBlock((Fact("Takes back the prune", facts.undoes, facts.undoes),))]
    told = [
        Fact("Tool results pruned", f"{len(facts.results):,}"),
        Fact("Tokens saved", f"{facts.saved:,}"),
    ]
    if facts.reason:
        told.append(Fact("Why", facts.reason))
    named = [
        Fact(f"{tokens:,} tokens", entry_id, entry_id)
        for entry_id, tokens, _note in facts.results[:MOST_LISTED]
    ]
    if len(facts.results) > MOST_LISTED:
        named.append(Fact("And more", f"{len(facts.results) - MOST_LISTED:,}"))
    return [FactsBlock(tuple(told)), FactsBlock(tuple(named))]


def _shape(facts: ShapeFacts) -> list[Block]:
    """A pin, an omission, or a rule of kept messages."""
    if facts.undoes:
        return [FactsBlock((Fact("Takes back", facts.undoes, facts.undoes),))]
    told = [Fact("Says", facts.title)]
    if facts.reason:
        told.append(Fact("Why", facts.reason))
    verb = "Pinned" if facts.kind == "pin" else "Omitted"
    named = [Fact(verb, name, name) for name, _ in facts.entries[:MOST_LISTED]]
    verb = "Unpinned" if facts.kind == "pin" else "Taken in again"
    named += [Fact(verb, name, name) for name in facts.lifts[:MOST_LISTED]]
    more = len(facts.entries) + len(facts.lifts) - len(named)
    if more:
        named.append(Fact("And more", f"{more:,}"))
    return [FactsBlock(tuple(told)), *([FactsBlock(tuple(named))] if named else [])]


def _facts_only(*names: tuple[str, str]) -> Any:
    def make(entry: Json, related: Sequence[Related]) -> list[Block]:
        facts = []
        for key, title in names:
            value = entry.get(key)
            if value not in (None, ""):
                target = str(value) if key == "targetId" else ""
                facts.append(Fact(title, str(value), target))
        return [FactsBlock(tuple(facts))] if facts else [JsonBlock("All of it:", entry)]

    return make


_BY_KIND: dict[Kind, Any] = {
    Kind.USER: _user,
    Kind.ASSISTANT: _assistant,
    Kind.TOOL_RESULT: _tool_result,
    Kind.BASH_EXECUTION: _execution,
    Kind.PYTHON_EXECUTION: _execution,
    Kind.CUSTOM_ROLE: _user,
    Kind.SYSTEM: _user,
    Kind.FILE_MENTION: _user,
    Kind.OTHER_ROLE: _user,
    Kind.CUSTOM_MESSAGE: _custom_message,
    Kind.COMPACTION: _compaction,
    Kind.BRANCH_SUMMARY: _branch_summary,
    Kind.CUSTOM: _custom,
    Kind.COMPACTION_SUMMARY_ROLE: _summary_role,
    Kind.BRANCH_SUMMARY_ROLE: _summary_role,
    Kind.LABEL: _facts_only(("label", "Label"), ("targetId", "On entry")),
    Kind.SESSION_INFO: _facts_only(("name", "Session name")),
    Kind.MODEL_CHANGE: _facts_only(
        ("provider", "Provider"), ("modelId", "Model"), ("model", "Model"), ("role", "Role")
    ),
    Kind.THINKING_LEVEL_CHANGE: _facts_only(("thinkingLevel", "Thinking"), ("level", "Thinking")),
}

"""Messages of Cline and Roo Code: Anthropic's, with the person's words in tags and the editor's
state beside them.

A message of the user may hold results of tools, what the person typed, and what the program added:
each is an entry of its own, whose record is the message with that part of its content alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from explorer.formats.anthropic_content import read_block, read_content
from explorer.formats.json_fields import (
    compact,
    list_field,
    objects_of,
    recorded,
    text_at,
    texts_in,
)
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    CompactionSummary,
    Content,
    Entry,
    FileLists,
    NoteMessage,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UserMessage,
    text_content,
    text_of,
)
from explorer.session.json_values import read_json, recorded_count, time_ms, token_count

Object = Mapping[str, Any]

_TYPED = re.compile(
    r"<(user_input|task|feedback|answer|user_message)\b[^<>]*>(.*?)</\1>", re.DOTALL
)
"""Around what the person typed."""
_ADDED = re.compile(r"\s*<(environment_details|mode_notice)\b[^<>]*>.*?(?:</\1>|\Z)\s*", re.DOTALL)
"""What the program adds to a message of the person."""
_INSERTED = re.compile(
    r"\s*\[(?:[\w-]+[^\]\n]*\] Result:|ERROR\]|TASK RESUMPTION\]|SYSTEM\]|NOTE\])"
)
"""How messages begin that the program sends in the person's place."""
_WHOLE_PROMPT = (
    "openai", "openai-compatible", "openai-native", "litellm", "doubao", "fireworks", "hicap",
    "lmstudio", "qwen", "xai", "zai",
)  # fmt: skip
"""Providers whose input tokens, as Cline records them, contain those read from a cache."""


class Piece(NamedTuple):
    """One entry of a message."""

    suffix: str
    """Of its id; empty for the message itself."""
    message: Object
    """The message with its part of the content."""


def pieces(message: Object) -> list[Piece]:
    """The entries of a message: results of tools first, then what the person sent, then what the
    program added."""
    content = message.get("content")
    if message.get("role") != "user" or is_compaction(message) or not content:
        return [Piece("", message)]
    results: list[Piece] = []
    sent: list[Any] = []
    added: list[Any] = []
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            name = text_at(block, "tool_use_id") or str(len(results) + 1)
            results.append(Piece(f"/{name}", {**message, "content": [block]}))
            continue
        rest, notes = _without_added(block)
        if notes is not None:
            added.append(notes)
        if rest is not None:
            sent.append(rest)
    found = results
    if sent:
        found = [*found, Piece("", {**message, "content": sent})]
    if added:
        found = [*found, Piece("/added", {**message, "content": added})]
    return found if len(found) > 1 else [Piece("", message)]


def _without_added(block: Any) -> tuple[Any, Any]:
    """A block without what the program added, and that; None for nothing."""
    text = block if isinstance(block, str) else text_at(block, "text")
    notes = "".join(one.group(0) for one in _ADDED.finditer(text))
    if not notes:
        return block, None
    rest = _ADDED.sub("", text)
    if isinstance(block, str):
        return rest or None, notes
    return ({**block, "text": rest} if rest else None), {**block, "text": notes}


def is_compaction(message: Object) -> bool:
    """Whether a message stands for others that are sent no more."""
    kind = text_at(message, "metadata", "kind")
    return bool(
        message.get("isSummary") or message.get("isTruncationMarker")
    ) or kind == "compaction_summary"  # fmt: skip


def read_record(record: str | bytes) -> Entry:
    """The entry of a record: a message, then what the editor shows of it, each a line; or the
    latter alone, where an older version cut the conversation without a message."""
    values = objects_of(record)
    first: Object = values[0] if values else {}
    body: Body
    if is_compaction(first):
        body = _compaction(first, values[1:])
    elif "role" not in first and shows_compaction(first):
        body = replace(_compaction({}, values), certainty="inferred")
    elif first.get("role") == "assistant":
        body = _reply(first, values[1:])
    elif first.get("role") == "user":
        body = _user(first)
    else:
        body = Unknown(text_at(first, "role") or text_at(first, "type"))
    made = Entry.of(body, text_at(first, "id"), None, time_ms(first.get("ts")))
    return replace(made, recorded=recorded(values))


# what the person and the program send -------------------------------------------------------------


def _user(message: Object) -> Body:
    content = message.get("content")
    if isinstance(content, list) and len(content) == 1:
        (block,) = content
        if isinstance(block, dict) and block.get("type") == "tool_result":
            return _tool_result(block)
    blocks = read_content(content)
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    if texts and len(texts) == len(blocks) and all(_ADDED.fullmatch(one) for one in texts):
        return NoteMessage(blocks, "environment_details", display=False)
    is_typed = any(_TYPED.search(one) for one in texts)
    is_inserted = bool(texts) and not is_typed and bool(_INSERTED.match(texts[0]))
    return UserMessage(tuple(map(_untagged, blocks)), is_inserted)


def _untagged(block: Block) -> Block:
    """A text that is nothing but tags around the person's words, without the tags."""
    if not isinstance(block, TextBlock) or _TYPED.sub("", block.text).strip():
        return block
    typed = [one.group(2).strip() for one in _TYPED.finditer(block.text)]
    return TextBlock("\n\n".join(typed)) if typed else block


def _tool_result(block: Object) -> ToolResultMessage:
    content = block.get("content")
    answers = content if isinstance(content, list) else []
    is_list = bool(answers) and all(isinstance(one, dict) and "query" in one for one in answers)
    failed = is_list and all(one.get("success") is False for one in answers)
    return ToolResultMessage(
        text_at(block, "tool_use_id"),
        text_at(block, "name"),
        _answers(answers) if is_list else read_content(content),
        block.get("is_error") is True or failed,
        details=content if is_list else None,
    )


def _answers(answers: Sequence[Object]) -> Content:
    """What Cline's tools answer to several queries at once."""
    if len(answers) == 1:
        # What was asked stands in the call.
        return _answer(answers[0])
    blocks: list[Block] = []
    for one in answers:
        blocks += [TextBlock(f"{text_at(one, 'query')}:"), *_answer(one)]
    return tuple(blocks)


def _answer(answer: Object) -> Content:
    result = answer.get("result")
    if isinstance(result, list):
        return read_content(result)
    text = result if isinstance(result, str) else "" if result is None else compact(result)
    return text_content(text or text_at(answer, "error"))


# what the model sends -----------------------------------------------------------------------------


def _reply(message: Object, shown: list[dict[str, Any]]) -> AssistantMessage:
    content = message.get("content")
    items = content if isinstance(content, list) else [content] if content else []
    blocks = tuple(map(_reply_block, items))
    info: Object = next((one["modelInfo"] for one in (message, *shown)
                 if isinstance(one.get("modelInfo"), dict)), {})  # fmt: skip
    provider = text_at(info, "provider") or text_at(info, "providerId")
    usage = _metrics(message.get("metrics"), provider)
    for one in shown:
        usage = usage or request_usage(one)
    has_calls = any(isinstance(block, ToolCallBlock) for block in blocks)
    model = text_at(info, "id") or text_at(info, "modelId")
    stop = "tool_calls" if has_calls else "stop"
    return AssistantMessage(blocks, provider, model, usage, stop)


def _reply_block(value: Any) -> Block:
    if isinstance(value, dict) and value.get("type") == "reasoning":
        return ThinkingBlock(text_at(value, "text"))
    return read_block(value)


def _metrics(metrics: Any, provider: str) -> TokenUsage | None:
    """Of a reply of Cline: of the session store, or of newer tasks of the extension."""
    if not isinstance(metrics, dict):
        return None
    tokens = metrics.get("tokens")
    is_whole = provider in _WHOLE_PROMPT
    if isinstance(tokens, dict):
        prompt, output, read = (
            token_count(tokens.get(one)) for one in ("prompt", "completion", "cached")
        )
        return _usage(TokenUsage(prompt, output, read), metrics.get("cost"), is_whole)
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    prompt, output, read, written = (token_count(metrics.get(one)) for one in names)
    cost = metrics.get("cost", metrics.get("totalCost"))
    return _usage(TokenUsage(prompt, output, read, written), cost, is_whole)


def request_usage(shown: Object) -> TokenUsage | None:
    """What the editor shows of a request; None where it shows none."""
    if shown.get("say") != "api_req_started":
        return None
    value = _json_of(shown.get("text"))
    names = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")
    counts = [recorded_count(value.get(one)) for one in names]
    if counts[0] is None and counts[1] is None:
        return None
    prompt, output, read, written = (count or 0 for count in counts)
    # Roo Code, which names the protocol, counts the whole prompt.
    is_whole = "apiProtocol" in value
    return _usage(TokenUsage(prompt, output, read, written), value.get("cost"), is_whole)


def _usage(counts: TokenUsage, cost: Any, is_whole: bool) -> TokenUsage | None:
    """Usage with its sum and cost; None for nothing. ``is_whole``: the input contains what was read
    from a cache or written to one."""
    prompt, cached = counts.input, counts.cache_read + counts.cache_write
    if is_whole and prompt >= cached:
        prompt -= cached
    context = prompt + cached + counts.output
    return replace(counts, input=prompt, context=context, cost=_price(cost)) if context else None


def _price(cost: Any) -> float:
    """Dollars; 0 for what is no price."""
    return float(cost) if isinstance(cost, int | float) and 0 <= cost < 1e9 else 0.0


def _json_of(text: Any) -> dict[str, Any]:
    try:
        value = read_json(text) if isinstance(text, str) else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


# compactions --------------------------------------------------------------------------------------

SHOWN_COMPACTIONS = ("contextCondense", "contextTruncation", "conversationHistoryDeletedRange")
"""Fields of what the editor shows of a compaction."""


def shows_compaction(shown: Object) -> bool:
    """Whether what the editor shows is a compaction."""
    return any(shown.get(name) for name in SHOWN_COMPACTIONS)


def _compaction(message: Object, shown: list[dict[str, Any]]) -> CompactionSummary:
    fields = [one.get(name) for one in shown for name in SHOWN_COMPACTIONS]
    details: dict[str, Any] = next((one for one in fields if isinstance(one, dict)), {})
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    text = text_of(read_content(message.get("content")))
    before = details.get("prevContextTokens") or metadata.get("tokensBefore")
    cost = _price(details.get("cost"))
    files = metadata.get("details")
    return CompactionSummary(
        text or text_at(metadata, "summary") or text_at(details, "summary"),
        tokens_before=token_count(before),
        tokens_after=recorded_count(
            details.get("newContextTokens", details.get("newContextTokensAfterTruncation"))
        ),
        files=FileLists(
            tuple(texts_in(list_field(files, "readFiles"))),
            tuple(texts_in(list_field(files, "modifiedFiles"))),
        ),
        usage=TokenUsage(cost=cost) if cost else None,
    )

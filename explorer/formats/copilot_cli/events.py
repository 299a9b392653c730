"""One event of GitHub Copilot CLI, or the few that belong to one entry, as a typed entry.

The fields are those of the ``session-events`` schema that the maker's SDK publishes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from explorer.formats.json_fields import list_field, object_field, text_blocks, text_field
from explorer.formats.jsonl import BadLine, parse
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    FileMention,
    FilesMessage,
    ImageBlock,
    ModelChange,
    NoteMessage,
    SessionName,
    ShellMessage,
    TextBlock,
    ThinkingBlock,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UnknownBlock,
    UserMessage,
    text_of,
)
from explorer.session.json_values import read_json, recorded_count, time_ms, token_count
from explorer.session.kinds import Kind

PROVIDER = "github-copilot"
PART = "part"
"""Names, in a record of ours, the part of a user's message that is an entry of its own."""
CONTEXT_PART, FILES_PART = "context", "attachments"

Event = Mapping[str, Any]


def read_record(record: str | bytes) -> Entry:
    """The entry of a record: one event, a tool's start and end, or the messages of one reply."""
    text = record.encode("utf-8", "surrogatepass") if isinstance(record, str) else record
    events: list[Event] = []
    for line in text.split(b"\n"):
        try:
            value = parse(line)
        except BadLine:
            continue
        if isinstance(value, dict):
            events.append(value)
    return read_events(events)


def read_events(events: Sequence[Event]) -> Entry:
    """``read_record`` for events that are parsed already."""
    if not events:
        return Entry.NONE
    last, kind = events[-1], text_field(events[-1], "type")
    read = _BODIES.get(text_field(last, PART) or kind)
    known = read is not None and isinstance(last.get("data"), dict)
    body = read(events) if read is not None and known else Unknown(kind)
    moment = time_ms(events[0].get("timestamp"))
    # A reply is named by its first event, a result by the one that ends it.
    named = events[0] if isinstance(body, AssistantMessage) else last
    entry = Entry.of(body, text_field(named, "id"), None, moment)
    if kind == "session.context_cleared":
        entry = replace(entry, kind=Kind.RESET_BOUNDARY)
    return replace(entry, recorded=last if len(events) == 1 else {"lines": list(events)})


def is_synthetic(data: Mapping[str, Any]) -> bool:
    """Whether nobody typed a message: it has a source, or is one to go on."""
    return bool(data.get("source")) or data.get("isAutopilotContinuation") is True


def added_context(data: Mapping[str, Any]) -> Content:
    """What the program put around the words of a person, as it was sent before and after them."""
    sent, typed = text_field(data, "transformedContent"), text_field(data, "content").strip()
    if not sent or not typed or sent.strip() == typed:
        return ()
    before, found, after = sent.partition(typed)
    parts = (before.strip(), after.strip()) if found else (sent,)
    return tuple(TextBlock(part) for part in parts if part)


def attached_files(data: Mapping[str, Any]) -> tuple[FileMention, ...]:
    """Files, folders and selections that were attached to a message."""
    sent = text_field(data, "transformedContent")
    found: list[FileMention] = []
    for one in list_field(data, "attachments"):
        path = text_field(one, "path") or text_field(one, "filePath") or text_field(one, "url")
        text = text_field(one, "text") or text_field(one, "taggedFilesEntry")
        if path:
            # What the words that were sent hold already is not sent once more.
            found.append(FileMention(path, "" if text in sent else text))
    return tuple(found)


def _user(events: Sequence[Event]) -> Body:
    data = events[-1]["data"]
    text = data.get("content") or data.get("transformedContent")
    return UserMessage((*text_blocks(text), *_pictures(data, "attachments")), is_synthetic(data))


def _context_part(events: Sequence[Event]) -> Body:
    return NoteMessage(added_context(events[-1]["data"]), "context", display=False)


def _files_part(events: Sequence[Event]) -> Body:
    return FilesMessage(attached_files(events[-1]["data"]))


def _pictures(value: Mapping[str, Any], name: str) -> Content:
    """The pictures of a list; one that is stored apart, or was too large, has no data."""
    found: list[Block] = []
    for one in list_field(value, name):
        mime = text_field(one, "mimeType")
        if mime.startswith("image/"):
            found.append(ImageBlock(mime, text_field(one, "data")))
    return tuple(found)


def _reply(events: Sequence[Event]) -> Body:
    blocks: list[Block] = []
    calls: list[Block] = []
    model, counts = "", []
    thoughts = [text_field(object_field(one, "data"), "content") for one in events]
    for event, thought in zip(events, thoughts, strict=True):
        data = object_field(event, "data")
        if event.get("type") == "assistant.reasoning":
            if not any(text_field(object_field(one, "data"), "reasoningText") for one in events):
                blocks.append(ThinkingBlock(thought))
            continue
        model = text_field(data, "model") or model
        counts.append(recorded_count(data.get("outputTokens")))
        sealed = text_field(data, "reasoningOpaque") or text_field(data, "encryptedContent")
        if reasoning := text_field(data, "reasoningText"):
            blocks.append(ThinkingBlock(reasoning, sealed))
        elif sealed:
            blocks.append(ThinkingBlock("", sealed, redacted=True))
        blocks += text_blocks(data.get("content"))
        calls += _calls(data.get("toolRequests"))
    known = [one for one in counts if one is not None]
    has_message = any(one.get("type") == "assistant.message" for one in events)
    stop = "tool_calls" if calls else "stop" if has_message else ""
    usage = TokenUsage(output=sum(known)) if known else None
    return AssistantMessage((*blocks, *calls), PROVIDER, model, usage, stop)


def _calls(requests: object) -> list[Block]:
    if not isinstance(requests, list):
        return [] if requests is None else [UnknownBlock("toolRequests", requests)]
    return [_call(one) for one in requests]


def _call(request: object) -> Block:
    """A tool call. A tool with a grammar of its own gets one text, which is named ``input``."""
    name, call_id = text_field(request, "name"), text_field(request, "toolCallId")
    if not isinstance(request, dict) or not (name or call_id):
        return UnknownBlock("toolRequest", request)
    arguments = request.get("arguments")
    if not isinstance(arguments, str):
        return ToolCallBlock(call_id, name, arguments)
    try:
        value = read_json(arguments)
    except ValueError:
        if request.get("type") == "custom":
            return ToolCallBlock(call_id, name, {"input": arguments})
        return ToolCallBlock(call_id, name, None, arguments)
    return ToolCallBlock(call_id, name, value)


def _result(events: Sequence[Event]) -> Body:
    data, start = events[-1]["data"], object_field(events[0], "data")
    result, error = object_field(data, "result"), object_field(data, "error")
    content = text_blocks(result.get("content"))
    failed = data.get("success") is False
    if not content and (message := text_field(error, "message")):
        content = (TextBlock(message),)
    if not content and not result and data.get("result") is not None:
        content = text_blocks(data["result"])
    content += _pictures(result, "binaryResultsForLlm") or _pictures(result, "contents")
    if data.get("isUserRequested") is True:
        command = text_field(object_field(start, "arguments"), "command")
        if command:
            return ShellMessage(command, text_of(content), exit_code=float(failed))
    details = {
        name: value
        for name, value in (("detailedContent", result.get("detailedContent")), ("error", error))
        if value and value != result.get("content")
    }
    call_id, tool = text_field(data, "toolCallId"), text_field(start, "toolName")
    return ToolResultMessage(call_id, tool, content, failed, details=details or None)


def _notification(events: Sequence[Event]) -> Body:
    data = events[-1]["data"]
    name = text_field(object_field(data, "kind"), "type") or "notification"
    return NoteMessage(text_blocks(data.get("content")), name, display=False)


def _model_change(events: Sequence[Event]) -> Body:
    return ModelChange(f"{PROVIDER}/{text_field(events[-1]['data'], 'newModel')}")


def _title(events: Sequence[Event]) -> Body:
    return SessionName(text_field(events[-1]["data"], "title"))


def _failure(events: Sequence[Event]) -> Body:
    data = events[-1]["data"]
    if events[-1]["type"] == "abort":
        reason = text_field(data, "reason")
        return AssistantMessage((), PROVIDER, stop_reason="aborted", error=reason)
    message = text_field(data, "message") or text_field(data, "errorType")
    return AssistantMessage((), PROVIDER, stop_reason="error", error=message)


def _compaction(events: Sequence[Event]) -> Body:
    """Its text is recorded. What it kept is not, so that it is never better than inferred."""
    data = events[-1]["data"]
    summary = text_field(data, "summaryContent")
    details = {
        name: data[name]
        for name in ("customInstructions", "checkpointNumber", "checkpointPath", "messagesRemoved")
        if data.get(name) is not None
    }
    return CompactionSummary(
        summary,
        tokens_before=token_count(data.get("preCompactionTokens")),
        tokens_after=recorded_count(data.get("postCompactionTokens")),
        certainty="inferred" if summary else "unreadable",
        trigger=trigger_of(data),
        usage=_usage(object_field(data, "compactionTokensUsed")),
        details=details or None,
    )


def trigger_of(data: Mapping[str, Any]) -> str:
    """What began a compaction, in our words; empty where it is not recorded."""
    trigger = text_field(data, "trigger")
    return "manual" if trigger == "manual" else "auto" if trigger else ""


def _usage(used: Mapping[str, Any]) -> TokenUsage | None:
    """Tokens of a call; its input counts what was read from the cache and written to it."""
    if not used:
        return None
    prompt, output, read, written = (
        token_count(used.get(name))
        for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    )
    return TokenUsage(max(0, prompt - read - written), output, read, written, prompt + output)


def _truncation(events: Sequence[Event]) -> Body:
    """The oldest messages were dropped, and nothing was put in their place."""
    data = events[-1]["data"]
    return CompactionSummary(
        "",
        tokens_before=token_count(data.get("preTruncationTokensInMessages")),
        tokens_after=recorded_count(data.get("postTruncationTokensInMessages")),
        certainty="inferred",
        trigger="auto",
        details={"performedBy": data.get("performedBy"), "truncation": True},
    )


def _reset(events: Sequence[Event]) -> Body:
    return Unknown("session.context_cleared")


def _data(events: Sequence[Event]) -> Body:
    return CustomData(text_field(events[-1], "type"), events[-1]["data"])


_BODIES: dict[str, Callable[[Sequence[Event]], Body]] = {
    CONTEXT_PART: _context_part,
    FILES_PART: _files_part,
    "user.message": _user,
    "assistant.message": _reply,
    "assistant.reasoning": _reply,
    "tool.execution_complete": _result,
    "system.notification": _notification,
    "session.model_change": _model_change,
    "session.title_changed": _title,
    "session.error": _failure,
    "abort": _failure,
    "session.compaction_complete": _compaction,
    "session.truncation": _truncation,
    "session.context_cleared": _reset,
    # What is not sent, and is worth its place in the tree.
    "system.message": _data,
    "session.resume": _data,
    "session.shutdown": _data,
    "session.snapshot_rewind": _data,
    "session.handoff": _data,
    "session.task_complete": _data,
    "skill.invoked": _data,
    "subagent.completed": _data,
    "subagent.failed": _data,
}
ENTRY_TYPES = frozenset(_BODIES) - {CONTEXT_PART, FILES_PART}
"""Types of events that become entries. A tool's start is part of its result."""

HOUSEKEEPING = frozenset(
    f"{group}.{name}"
    for group, names in {
        "session": "start info warning idle mode_changed mode_notice_delivered permissions_changed"
        " plan_changed todos_changed workspace_file_changed usage_checkpoint usage_info"
        " context_changed compaction_start binary_asset remote_steerable_changed"
        " schedule_created schedule_cancelled schedule_rearmed autopilot_objective_changed"
        " session_limits_changed auto_mode_resolved custom_notification tools_updated"
        " background_tasks_changed skills_loaded custom_agents_updated mcp_servers_loaded"
        " mcp_server_status_changed extensions_loaded managed_settings_resolved"
        " managed_settings_enforced canvas.opened canvas.recorded canvas.removed canvas.closed"
        " fusion_route_started fusion_route_failed fusion_resolved fusion_completed"
        " canvas.unavailable canvas.registry_changed extensions.attachments_pushed",
        "assistant": "turn_start turn_end turn_retry intent usage idle message_start message_delta"
        " reasoning_delta streaming_delta tool_call_delta server_tool_progress"
        " fusion_phase_started fusion_phase_completed fusion_phase_failed",
        "tool": "execution_start execution_progress execution_partial_result user_requested",
        "tool_search": "activated",
        "hook": "start end progress",
        "permission": "requested completed",
        "external_tool": "requested completed",
        "user_input": "requested completed",
        "elicitation": "requested completed",
        "sampling": "requested completed",
        "exit_plan_mode": "requested completed",
        "auto_mode_switch": "requested completed",
        "session_limits_exhausted": "requested completed",
        "command": "queued execute completed",
        "commands": "changed",
        "capabilities": "changed",
        "pending_messages": "modified",
        "subagent": "started configured selected deselected",
        "model": "call_failure call_finished",
        "mcp": "oauth_required oauth_completed headers_refresh_required"
        " headers_refresh_completed tools.list_changed resources.list_changed"
        " prompts.list_changed",
        "mcp_app": "tool_call_complete",
        "ui": "ephemeral_query",
        "factory": "run_started run_updated run_settled",
    }.items()
    for name in names.split()
)
"""Types of events that say nothing of the conversation: their lines are put aside."""

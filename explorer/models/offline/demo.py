"""An agent without a language model, to try the window with: simple rules, read-only tools.

It calls only tools that the request offers, one round of them per question, and says
plainly what it is and what it cannot do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from explorer.models.events import ToolCallReady
from explorer.models.offline.extractive.cues import SMALL_TALK
from explorer.models.offline.extractive.statement import Kind
from explorer.models.offline.extractive.summarize import recall
from explorer.models.offline.pieces import Emit, IsCancelled, send_end, send_text
from explorer.models.request import ChatMessage, ModelRequest, ToolCall

_SHOWN_LINES = 40
_SHOWN_CHARACTERS = 4000
_PATH = re.compile(
    r"[`\"']([^`\"'\n]+)[`\"']|((?:[~.]{0,2}/)?[\w@.+-]+(?:/[\w@.+-]+)+/?|[\w@+-][\w@.+-]*\.\w+)"
)
_LIST = re.compile(
    r"\b(?:ls|dir)\b|\b(?:list|show|which|what)\b.*\b(?:files?|folders?|director(?:y|ies)|entries)\b"
    r"|\bwhat(?:['’]s|\s+is)\s+(?:here|in\s+(?:this|the)\s+(?:folder|directory|workspace|project|repo))",
    re.IGNORECASE,
)
_READ = re.compile(
    r"\b(?:read|open|show|cat|print|display|view|look\s+at|look\s+into)\b"
    r"|\bwhat(?:['’]s|\s+is|\s+does)\b.*\b(?:in|inside|do|contain)\b",
    re.IGNORECASE,
)
_FIND_FILE = re.compile(
    r"\b(?:find|locate|where\s+(?:is|are))\b.*\bfiles?\b(?:\s+(?:named|called|matching|like))?|\*\.\w+",
    re.IGNORECASE,
)
_GREP = re.compile(
    r"\b(?:find|search(?:\s+for)?|grep(?:\s+for)?|look\s+for|where\s+(?:is|are|do\s+we|does)|"
    r"who\s+(?:calls|uses)|occurrences?\s+of|usages?\s+of|uses\s+of)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_GLOB = re.compile(r"[\w./-]*\*[\w.*/-]*")
_ABOUT: tuple[tuple[re.Pattern[str], tuple[Kind, ...], str], ...] = (
    (
        re.compile(
            r"\b(?:constraints?|rules?|requirements?|preferences?|not\s+allowed|limits?)\b", re.I
        ),
        (Kind.CONSTRAINT, Kind.PREFERENCE),
        "What you asked me to keep to",
    ),
    (
        re.compile(r"\b(?:decid\w*|decisions?|cho(?:o)?se\w*|chosen|choices?|agreed?)\b", re.I),
        (Kind.DECISION,),
        "What was decided",
    ),
    (
        re.compile(r"\b(?:errors?|fail\w*|went\s+wrong|problems?|broken|blocked)\b", re.I),
        (Kind.ERROR, Kind.BLOCKED, Kind.FINDING),
        "What went wrong",
    ),
    (
        re.compile(
            r"\b(?:next|left|remaining|todo|open\s+(?:tasks?|work)|still\s+to\s+do)\b", re.I
        ),
        (Kind.NEXT, Kind.DOING),
        "What lies ahead",
    ),
    (
        re.compile(r"\b(?:done|finished|completed|progress|changed|so\s+far)\b", re.I),
        (Kind.DONE,),
        "What was reported as done",
    ),
    (
        re.compile(r"\b(?:goal|task|ask(?:ed)?|request|working\s+on|trying\s+to)\b", re.I),
        (Kind.GOAL, Kind.REQUEST),
        "What you asked for",
    ),
)
_TALKS_OF_TALK = re.compile(
    r"\b(?:we|you|i|our|my|us)\b.*\?|\b(?:remind|recap|summari[sz]e|remember|recall)\b"
    r"|^\W*(?:what|which|list)\b.*\b(?:constraints?|rules?|decisions?|requirements?|steps?)\b",
    re.IGNORECASE,
)
_HELP = (
    "I am the offline demonstration agent: I follow simple rules and use no language model, so "
    "nothing leaves this machine.\n\nI can{tools} answer from this conversation: what the "
    "constraints were, what was decided, what went wrong, what is done and what comes next. "
    "For anything else choose another model."
)
_TOOL_HELP = " list files, read a file, search in files, and"


def answer(request: ModelRequest, emit: Emit, cancelled: IsCancelled) -> None:
    """Answer the last user message, or report the tool results that came after it."""
    messages = request.messages
    last_user = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    results = [m for m in messages[last_user + 1 :] if m.role == "tool"]
    question = messages[last_user].text.strip() if last_user >= 0 else ""
    if results:
        text, call = report(messages[last_user + 1 :], results), None
    else:
        text, call = respond(question, request, messages[: max(0, last_user)], cancelled)
    if not send_text(text, emit, cancelled):
        return
    if call is not None:
        emit(ToolCallReady(call))
    send_end(request, text, "tool_calls" if call else "stop", emit)


def respond(
    question: str,
    request: ModelRequest,
    earlier: tuple[ChatMessage, ...],
    cancelled: Callable[[], bool],
) -> tuple[str, ToolCall | None]:
    """What to say to a question, and the tool call to make if one helps."""
    offered = {tool.name for tool in request.tools} if request.tool_choice != "none" else set()
    about = _from_conversation(question, earlier, cancelled)
    if about is not None:
        return about, None
    wanted = wanted_call(question)
    if wanted is not None:
        name, arguments, saying = wanted
        if name in offered:
            number = sum(len(message.tool_calls) for message in request.messages) + 1
            return saying, ToolCall(f"demo_{number}", name, arguments)
        return f"That needs the tool {name}, which is not offered in this conversation.", None
    if SMALL_TALK.match(question):
        return "Tell me what to look at: a file to read, a word to search for.", None
    usable = {"ls", "read", "grep"} & offered
    return _HELP.format(tools=_TOOL_HELP if usable else ""), None


def wanted_call(question: str) -> tuple[str, dict[str, Any], str] | None:
    """The tool, its arguments and what to say, for a question that asks for one."""
    path = _path_in(question)
    glob = _GLOB.search(question)
    if glob and _FIND_FILE.search(question):
        return "find", {"pattern": glob.group()}, f"Looking for files that match {glob.group()}."
    if _LIST.search(question):
        folder = path or "."
        return "ls", {"path": folder}, f"Listing {'this folder' if folder == '.' else folder}."
    if path and _READ.search(question):
        return "read", {"path": path}, f"Reading {path}."
    if path and _FIND_FILE.search(question):
        return "find", {"pattern": path}, f"Looking for {path}."
    search = _GREP.search(question)
    if search:
        return _search(search.group("what"))
    return None


def _search(what: str) -> tuple[str, dict[str, Any], str] | None:
    quoted = re.search(r"[`\"']([^`\"'\n]+)[`\"']", what)
    folder = re.search(
        r"\s+(?:in|under|inside|within)\s+(?:the\s+)?[`\"']?([\w@./+-]+)[`\"']?[?.!]*$", what
    )
    arguments: dict[str, Any] = {}
    if folder and ("/" in folder.group(1) or "." in folder.group(1).strip(".")):
        arguments["path"] = folder.group(1).rstrip(".")
        what = what[: folder.start()]
    word = (
        quoted.group(1)
        if quoted
        else re.sub(r"^(?:the|all|every|any|for|word|text|string)\s+", "", what)
    )
    word = word.strip(" ?.!")
    word = re.sub(r"\s+(?:used|defined|called|mentioned|in\s+.*)$", "", word)
    if not word:
        return None
    pattern = re.escape(word).replace(r"\ ", " ").replace(r"\-", "-")
    return "grep", {"pattern": pattern, **arguments}, f"Searching for {word}."


def _path_in(question: str) -> str | None:
    match = _PATH.search(question)
    if match is None:
        return None
    path = (match.group(1) or match.group(2)).rstrip(".,;:?!")
    return path if path and " " not in path else None


def _from_conversation(
    question: str, earlier: tuple[ChatMessage, ...], cancelled: Callable[[], bool]
) -> str | None:
    """An answer out of the messages before; None when the question is about something else."""
    if not _TALKS_OF_TALK.search(question) or _path_in(question):
        return None
    for pattern, kinds, title in _ABOUT:
        if pattern.search(question):
            found = recall(earlier, kinds, cancelled)
            if not found:
                return f"{title}: nothing in this conversation says."
            return "\n".join([f"{title}:", "", *(f"- {line}" for line in found[:20])])
    return None


def report(after: tuple[ChatMessage, ...], results: list[ChatMessage]) -> str:
    """What the tools found, in a few words and the first lines."""
    calls = {call.id: call for message in after for call in message.tool_calls}
    parts = [_report_one(calls.get(result.tool_call_id or ""), result.text) for result in results]
    return "\n\n".join(parts)


def _report_one(call: ToolCall | None, text: str) -> str:
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    shown = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARACTERS]
    title = _title(call.name if call else "", call.arguments if call else {}, len(lines))
    if not lines:
        return title
    rest = len(lines) - _SHOWN_LINES
    more = f"\n\n{rest} more lines are not shown here." if rest > 0 else ""
    return f"{title}\n\n```\n{shown}\n```{more}"


def _title(name: str, arguments: Mapping[str, Any], count: int) -> str:
    lines = f"{count:,} line{'' if count == 1 else 's'}"
    match name:
        case "ls":
            path = str(arguments.get("path") or ".")
            where = "The folder" if path in (".", "./") else path
            things = "1 file or folder" if count == 1 else f"{count:,} files and folders"
            return f"{where} holds {things}:" if count else f"{where} is empty."
        case "grep":
            what = arguments.get("pattern", "")
            verb = "matches" if count == 1 else "match"
            return f"{lines} {verb} {what}:" if count else f"Nothing matches {what}."
        case "find":
            what = arguments.get("pattern", "")
            paths = "1 path matches" if count == 1 else f"{count:,} paths match"
            return f"{paths} {what}:" if count else f"No path matches {what}."
        case "read":
            path = arguments.get("path", "")
            return f"{path}, {lines}:" if count else f"{path} is empty."
        case _:
            return f"The tool answered with {lines}:" if count else "The tool answered nothing."

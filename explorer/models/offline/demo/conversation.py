"""What a request holds: the question, the calls made since, the limits that the person set, and
answers to questions about the conversation itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from explorer.models.offline.demo.steps import path_in
from explorer.models.offline.extractive.items import ItemKind
from explorer.models.offline.extractive.summarizer import recall
from explorer.models.offline.scenario_player import asks_to_go_on
from explorer.models.request import ChatMessage, ModelRequest, ToolCall, ToolSpec

_SUMMARY = re.compile(
    r"^\s*(?:The conversation history before this point was compacted"
    r"|Notes on a branch of this conversation|<conversation-summary>|<summary>)"
)
_GOAL = re.compile(r"^#+\s*(?:Original Request|Goal|Primary Request)[^\n]*\n+(.+?)(?:\n\n|\n#|$)",
                   re.MULTILINE | re.DOTALL | re.IGNORECASE)  # fmt: skip

# limits -------------------------------------------------------------------------------------------

_NOT = r"(?:do\s+not|don['’]?t|never|must\s+not|mustn['’]?t|may\s+not|without|no\s+need\s+to)"
_CHANGE = (
    r"(?:chang\w*|edit\w*|touch\w*|modif\w*|writ\w*|overwrit\w*|delet\w*|alter\w*|remov\w*"
    r"|creat\w*)"
)
_NO_CHANGES = re.compile(
    rf"\b{_NOT}\s+{_CHANGE}\s+(?:any(?:thing)?(?:\s+files?)?|files?|code"
    r"|the\s+(?:code|files|project|repo\w*|source))\b(?!\s+(?:in|below|under|outside)\b)"
    r"|\bread[- ]only\b|\b(?:only|just)\s+(?:look|read|tell)\b|\bchange\s+nothing\b",
    re.IGNORECASE,
)
_NO_COMMANDS = re.compile(
    rf"\b{_NOT}\s+(?:run\w*|execut\w*|us\w+)\s+(?:any\s+|the\s+)?"
    r"(?:commands?|anything|shell|bash|programs?|scripts?|tests?)\b",
    re.IGNORECASE,
)
_NO_TEST_CHANGES = re.compile(
    rf"\b{_NOT}\s+{_CHANGE}\s+(?:any\s+|the\s+|a\s+)?(?:unit\s+)?tests?(?:\s+files?)?\b",
    re.IGNORECASE,
)
_PROTECTED_PATH = re.compile(
    rf"\b{_NOT}\s+{_CHANGE}\s+(?:anything\s+(?:in|below|under)\s+|(?:the\s+)?(?:file|folder)\s+)?"
    r"[`\"']?(?P<path>[\w@+-]*+[/.][\w@.+/-]*\w/?)[`\"']?",
    re.IGNORECASE,
)


class Prohibitions(Struct, frozen=True):
    """What the agent must not do. Each text is the person's sentence that forbids it."""

    changes: str = ""
    commands: str = ""
    tests: str = ""
    paths: tuple[tuple[str, str], ...] = ()
    """Protected paths, each with its sentence."""

    def against_change(self, path: str) -> str:
        """The sentence that forbids changing a file; empty where none does."""
        if self.changes or (self.tests and _is_test(path)):
            return self.changes or self.tests
        clean = path.removeprefix("./")
        for name, sentence in self.paths:
            name = name.removeprefix("./").rstrip("/")
            if clean == name or clean.startswith(f"{name}/") or clean.endswith(f"/{name}"):
                return sentence
        return ""


def limits_in(texts: Sequence[str]) -> Prohibitions:
    """The limits in the person's messages, the latest sentence of each kind."""
    changes = commands = tests = ""
    paths: list[tuple[str, str]] = []
    for sentence in _sentences(texts):
        if _NO_TEST_CHANGES.search(sentence):
            tests = sentence
        elif match := _PROTECTED_PATH.search(sentence):
            paths.append((match["path"], sentence))
        elif _NO_CHANGES.search(sentence):
            changes = sentence
        if _NO_COMMANDS.search(sentence):
            commands = sentence
    return Prohibitions(changes, commands, tests, tuple(paths))


def _sentences(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for line in text.splitlines():
            # A path contains dots, a sentence ends with one before a space.
            parts = (part.strip(" -*>\t") for part in re.split(r"(?<=[.!?;])\s+", line))
            yield from filter(None, parts)


def _is_test(path: str) -> bool:
    """Whether a file holds tests, by its name and its folders."""
    *folders, name = path.replace("\\", "/").split("/")
    stem = name.split(".")[0]
    return (
        stem.startswith("test_") or stem.endswith(("_test", "Test")) or ".test." in name
        or any(folder in ("test", "tests") for folder in folders)
    )  # fmt: skip


# the question and the work on it ------------------------------------------------------------------


class DemoRound(Struct, frozen=True):
    """The calls of one assistant message and the text of their results."""

    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]


class DemoSituation(Struct, frozen=True):
    """Everything that decides the next reply."""

    question: str
    earlier: tuple[ChatMessage, ...]
    """The messages before the question."""
    rounds: tuple[DemoRound, ...]
    """The calls made since the question."""
    is_over: bool
    """The question was answered already, and the person asks only to continue."""
    tools: Mapping[str, ToolSpec]
    """The tools that may be called, by name."""
    limits: Prohibitions


def situation_of(request: ModelRequest) -> DemoSituation:
    """Read a request."""
    messages = request.messages
    index = _question_index(messages)
    after = messages[index + 1 :]
    asked_on = any(message.role == "user" for message in after)
    answered = any(
        message.role == "assistant" and not message.tool_calls and message.text.strip()
        for message in after
    )
    offered = {tool.name: tool for tool in request.tools}
    return DemoSituation(
        _question(messages[index]) if index >= 0 else "",
        messages[: max(0, index)],
        tuple(_rounds(after)),
        asked_on and answered,
        {} if request.tool_choice == "none" else offered,
        limits_in([message.text for message in messages if message.role == "user"]),
    )


def _question_index(messages: Sequence[ChatMessage]) -> int:
    """The index of the last user message that asks for more than to continue; -1 for none."""
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    asking = [index for index in users if not asks_to_go_on(messages[index].text)]
    return (asking or users or [-1])[-1]


def _question(message: ChatMessage) -> str:
    text = message.text.strip()
    if _SUMMARY.match(text):
        # The question itself was summarized: the summary's goal stands for it.
        goal = _GOAL.search(text)
        return goal.group(1).strip().removeprefix("- ") if goal else ""
    return text


def _rounds(messages: Sequence[ChatMessage]) -> Iterator[DemoRound]:
    results = {message.tool_call_id: message.text for message in messages if message.role == "tool"}
    for message in messages:
        if message.role == "assistant" and message.tool_calls:
            calls = message.tool_calls
            yield DemoRound(calls, tuple(results.get(call.id, "") for call in calls))


# questions about the conversation -----------------------------------------------------------------

_TOPICS: tuple[tuple[str, tuple[ItemKind, ...], str], ...] = (
    (
        r"constraints?|rules?|requirements?|preferences?|not\s+allowed|limits?",
        (ItemKind.CONSTRAINT,),
        "What you asked me to keep to",
    ),
    (
        r"decid\w*|decisions?|cho(?:o)?se\w*|chosen|choices?|agreed?",
        (ItemKind.DECISION,),
        "What was decided",
    ),
    (
        r"errors?|fail\w*|went\s+wrong|problems?|broken|blocked",
        (ItemKind.ERROR, ItemKind.BLOCKED),
        "What went wrong",
    ),
    (
        r"next|left|remaining|todo|open\s+(?:tasks?|work)|still\s+to\s+do",
        (ItemKind.NEXT, ItemKind.DOING),
        "What lies ahead",
    ),
    (
        r"done|finished|completed|progress|changed|so\s+far",
        (ItemKind.DONE,),
        "What was reported as done",
    ),
    (
        r"goal|task|ask(?:ed)?|request|working\s+on|trying\s+to",
        (ItemKind.GOAL, ItemKind.REQUEST),
        "What you asked for",
    ),
)
_ABOUT_CONVERSATION = re.compile(
    r"\b(?:we|you|i|our|my|us)\b.*\?|\b(?:remind|recap|summari[sz]e|remember|recall)\b"
    r"|^\W*(?:what|which|list)\b.*\b(?:constraints?|rules?|decisions?|requirements?|steps?)\b",
    re.IGNORECASE,
)
_SHOWN_LINES = 20


def recall_answer(
    question: str, earlier: tuple[ChatMessage, ...], cancelled: Callable[[], bool]
) -> str | None:
    """An answer from the messages before the question; None where it asks for something else."""
    if not _ABOUT_CONVERSATION.search(question) or path_in(question):
        return None
    for words, kinds, title in _TOPICS:
        if re.search(rf"\b(?:{words})\b", question, re.IGNORECASE):
            recalled = recall(earlier, kinds, cancelled)
            if not recalled:
                return f"{title}: nothing in this conversation says."
            return "\n".join([f"{title}:", "", *(f"- {line}" for line in recalled[:_SHOWN_LINES])])
    return None

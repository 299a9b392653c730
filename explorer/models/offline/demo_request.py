"""What a request holds: the question, the steps that it asks for (look at something, create,
replace, run), the calls made since, the limits that the person set, and answers to questions about
the conversation itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from explorer.models.offline.extractive.items import ItemKind
from explorer.models.offline.extractive.summarizer import recall
from explorer.models.offline.scenario import asks_to_go_on
from explorer.models.request import ChatMessage, ModelRequest, ToolCall, ToolSpec

TEST_COMMAND = "python3 -m pytest -q"
"""What "run the tests" runs where no command is named."""
LONGEST_REQUEST = 100_000
"""Characters of a request that the rules read; a part of a longer one would ask for something
else."""


class WantedCall(NamedTuple):
    """A tool to call, and its arguments."""

    tool: str
    arguments: Mapping[str, Any]


class Look(Struct, frozen=True):
    """Read, list, find or search."""

    want: WantedCall
    announcement: str
    """The sentence that goes with the call."""


class Create(Struct, frozen=True):
    """Write a file."""

    path: str
    content: str


class Replace(Struct, frozen=True):
    """Replace a text by another everywhere in one file."""

    path: str
    old: str
    new: str


class RunCommand(Struct, frozen=True):
    """Run a command line."""

    command: str


Step = Look | Create | Replace | RunCommand

_TEXT = (
    r"(?:```\w*\n(?P<{0}f>.*?)\n?```|`(?P<{0}b>[^`\n]+)`|\"(?P<{0}d>[^\"\n]*)\""
    r"|'(?P<{0}s>[^'\n]*)'|(?P<{0}w>{1}))"
)
_PATH = r"[`\"']?(?P<path>[\w@+-]*+[/.][\w@.+/-]*\w)[`\"']?"


def _text(name: str, bare: str = r"\S+") -> str:
    """A quoted text, or a bare one: groups whose names begin with ``name``."""
    return _TEXT.format(name, bare)


_WORD = r"[^\s.,;]+"
_WITH = r"(?:\s+(?:with|containing|that\s+(?:says|contains|holds|reads)|saying)|\s*:)"
_WHAT_IS = r"(?:\s+(?:the|these|this)?\s*(?:contents?|texts?|words?|lines?|code)\b)?"
_CREATE = re.compile(
    rf"\b(?:create|make|write|add|start)\s+(?:me\s+)?(?:a\s+|an\s+|the\s+)?(?:new\s+|empty\s+|text\s+)*"
    rf"(?:file\s+)?(?:named\s+|called\s+)?{_PATH}"
    rf"(?:{_WITH}{_WHAT_IS}\s*:?\s*{_text('c', '.+')})?",
    re.IGNORECASE | re.DOTALL,
)
_WRITE_TO = re.compile(
    rf"\b(?:write|put|save)\s+{_text('c', '(?!)')}\s+(?:in|into|to|as)\s+(?:a\s+|the\s+)?"
    rf"(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?{_PATH}",
    re.IGNORECASE | re.DOTALL,
)
_REPLACE = re.compile(
    rf"\b(?:replace|change|rename|turn|substitute)\s+(?:every\s+|all\s+|the\s+(?:word|text)\s+)?"
    rf"{_text('o')}\s+(?:by|with|to|into|for)\s+{_text('n')}\s+(?:in|inside)\s+(?:the\s+file\s+)?{_PATH}",
    re.IGNORECASE | re.DOTALL,
)
_IN_REPLACE = re.compile(
    rf"\bin\s+{_PATH},?\s+(?:please\s+)?(?:replace|change|rename|turn)\s+{_text('o')}\s+"
    rf"(?:by|with|to|into)\s+{_text('n', _WORD)}",
    re.IGNORECASE | re.DOTALL,
)
_PROGRAMS = (
    r"(?:pytest|python3?|npm|npx|pnpm|yarn|node|make|cargo|go|git|pip|ruff|mypy|ls|cat|echo|pwd|"
    r"uname|wc|grep|find|sh|bash|date|env|tox|deno|bun)"
)
_RUN = re.compile(
    r"\b(?:run|execute|call|start)\s+(?:the\s+)?(?:command\s+|shell\s+command\s+)?:?\s*"
    rf"(?:```\w*\n(?P<f>.*?)\n?```|`(?P<b>[^`\n]+)`|(?P<w>{_PROGRAMS}\b[^\n]*?))\s*[.!?]*$",
    re.IGNORECASE | re.DOTALL,
)
_TESTS = re.compile(
    r"\brun\s+(?:all\s+|me\s+)?(?:of\s+)?(?:the\s+|my\s+|its\s+|our\s+)?(?:unit\s+|whole\s+)?"
    r"(?:tests?|test\s+suite|suite)\b"
    r"|\b(?:do|does|are|is)\s+(?:all\s+)?(?:the\s+|my\s+)?tests?\b.{0,300}\b(?:pass|green|work|run|fail)"
    r"|\bwhy\s+(?:do|does|is|are)\b.{0,100}\btests?\b.{0,100}\bfail",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?<!\s)[^\S\n]*+\n\s*+(?:[-*]|\d++[.)])\s+|;\s+|[.!]\s+(?=[A-Z])|(?:,|(?<!\s))\s++(?:and\s+then|and\s+after\s+that|then|and)\s+"
    r"(?=(?:then\s+|please\s+|also\s+)*(?:read|show|open|list|find|search|grep|look|create|make|write|"
    r"put|save|replace|change|rename|run|execute|fix|repair)\b)|,\s+(?=(?:then|finally)\b)",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'", re.DOTALL)


def steps_in(question: str) -> list[Step]:
    """The steps that a request asks for, in order; empty where no rule understands it."""
    if len(question) > LONGEST_REQUEST:
        return []
    steps = [step for part in _parts(question) if (step := _step(part)) is not None]
    if len(steps) > 1:
        return steps
    whole = _step(question)
    return steps if whole is None else [whole]


def _parts(question: str) -> list[str]:
    """A request cut where it says "and then"; what stands in quotes or fences stays whole."""
    hidden = _OPAQUE.sub(lambda found: "\0" * len(found[0]), question)
    parts, start = [], 0
    for gap in _BETWEEN.finditer(hidden):
        parts.append(question[start : gap.start()])
        start = gap.end()
    parts.append(question[start:])
    return [part.strip() for part in parts if part.strip()]


def _step(part: str) -> Step | None:
    """The single step that a text asks for."""
    if (found := _IN_REPLACE.search(part) or _REPLACE.search(part)) is not None:
        return Replace(found["path"], _quoted(found, "o"), _quoted(found, "n"))
    if (found := _WRITE_TO.search(part)) is not None:
        return Create(found["path"], _with_line_end(_quoted(found, "c")))
    if (found := _RUN.search(part)) is not None:
        return RunCommand((found["f"] or found["b"] or found["w"] or "").strip())
    if _TESTS.search(part):
        return RunCommand(TEST_COMMAND)
    if (found := _CREATE.search(part)) is not None:
        return Create(found["path"], _with_line_end(_quoted(found, "c")))
    return _look(part)


def _quoted(match: re.Match[str], name: str) -> str:
    """The text of the groups that ``_text(name)`` made."""
    groups = match.groupdict()
    return next((text for end in "fbdsw" if (text := groups[name + end]) is not None), "")


def _with_line_end(content: str) -> str:
    content = content.replace("\\n", "\n")
    return f"{content}\n" if content and not content.endswith("\n") else content


# looks --------------------------------------------------------------------------------------------

_NAMED_PATH = re.compile(
    r"[`\"']([^`\"'\n]+)[`\"']|((?:(?<![\w@.+-])|(?=~))(?:[~.]{0,2}/)?[\w@.+-]++(?:/[\w@.+-]++)+/?"
    r"|(?<![\w@+-])[\w@+-][\w@.+-]{0,300}\.\w+)"
)
_LIST = re.compile(
    r"\b(?:ls|dir)\b|\b(?:list|show|which|what)\b.{0,300}\b(?:files?|folders?|director(?:y|ies)|entries)\b"
    r"|\bwhat(?:['’]s|\s+is)\s+(?:here|in\s+(?:this|the)\s+(?:folder|directory|workspace|project|repo))",
    re.IGNORECASE,
)
_NAMED_FOLDER = re.compile(
    r"\b(?:in|of|inside|below|under)\s+(?:the\s+folder\s+)?(?!the\b|this\b|here\b|it\b)([\w-]+)"
    r"(?:\s+folder)?\W*$",
    re.IGNORECASE,
)
_READ = re.compile(
    r"\b(?:read|open|show|cat|print|display|view|look\s+at|look\s+into)\b"
    r"|\bwhat(?:['’]s|\s+is|\s+does)\b.{0,300}\b(?:in|inside|do|contain)\b",
    re.IGNORECASE,
)
_FIND_FILE = re.compile(
    r"\b(?:find|locate|where\s+(?:is|are))\b.{0,300}\bfiles?\b(?:\s+(?:named|called|matching|like))?|\*\.\w+",
    re.IGNORECASE,
)
_GREP = re.compile(
    r"\b(?:find|search(?:\s+for)?|grep(?:\s+for)?|look\s+for|where\s+(?:is|are|do\s+we|does)|"
    r"who\s+(?:calls|uses)|occurrences?\s+of|usages?\s+of|uses\s+of)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_GLOB = re.compile(r"(?<![\w./-])[\w./-]*+\*[\w.*/-]*")
_QUOTES = re.compile(r"[`\"']([^`\"'\n]+)[`\"']")
_IN_FOLDER = re.compile(
    r"(?<!\s)\s++(?:in|under|inside|within)\s+(?:the\s+)?[`\"']?([\w@./+-]+)[`\"']?[?.!]*$"
)
_ARTICLES = re.compile(r"^(?:the|all|every|any|for|word|text|string)\s+")
_TAIL = re.compile(r"(?<!\s)\s++(?:used|defined|called|mentioned|in\s+.*)$")


def _look(question: str) -> Look | None:
    """The look that a question asks for; None where it asks for none."""
    path = path_in(question)
    glob = _GLOB.search(question)
    if glob and _FIND_FILE.search(question):
        return _look_with("find", f"Looking for files that match {glob[0]}.", pattern=glob[0])
    if _LIST.search(question):
        named = _NAMED_FOLDER.search(question)
        folder = path or (named.group(1) if named else ".")
        where = "this folder" if folder == "." else folder
        return _look_with("ls", f"Listing {where}.", path=folder)
    if path and _READ.search(question):
        return _look_with("read", f"Reading {path}.", path=path)
    if path and _FIND_FILE.search(question):
        return _look_with("find", f"Looking for {path}.", pattern=path)
    search = _GREP.search(question)
    return _search(search["what"]) if search else None


def _look_with(tool: str, announcement: str, **arguments: str) -> Look:
    return Look(WantedCall(tool, arguments), announcement)


def _search(what: str) -> Look | None:
    quoted, folder = _QUOTES.search(what), _IN_FOLDER.search(what)
    place: dict[str, str] = {}
    if folder and ("/" in folder.group(1) or "." in folder.group(1).strip(".")):
        place["path"] = folder.group(1).rstrip(".")
        what = what[: folder.start()]
    word = quoted.group(1) if quoted else _ARTICLES.sub("", what)
    word = _TAIL.sub("", word.strip(" ?.!"))
    if not word:
        return None
    pattern = re.escape(word).replace(r"\ ", " ").replace(r"\-", "-")
    return _look_with("grep", f"Searching for {word}.", pattern=pattern, **place)


def path_in(question: str) -> str | None:
    """The first path that a text names; None when it names none."""
    match = _NAMED_PATH.search(question)
    if match is None:
        return None
    path = (match.group(1) or match.group(2)).rstrip(".,;:?!")
    return path if path and " " not in path else None


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

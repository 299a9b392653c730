"""All that reads a text by rules, each as one call: for texts that are hard to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from explorer.audit.fidelity import fidelity
from explorer.facts import FactTable, extract, scan
from explorer.models.offline.demo import answer as answer_demo
from explorer.models.offline.extractive import answer as answer_extractive
from explorer.models.request import ChatMessage, ModelRequest, ToolCall, ToolSpec
from explorer.session.entries import Entry
from tests.audit.agent_work import AgentWork
from tests.audit.texts import assistant, call, result, user
from tests.models.survival import summary_request

_TOOLS = tuple(ToolSpec(name, name) for name in ("read", "ls", "find", "grep", "bash", "edit"))
_READ = ToolCall("a", "read", {"path": "a.py"})


def _table(entries: Sequence[Entry]) -> FactTable:
    return scan(range(len(entries)), lambda wanted: [entries[index] for index in wanted])


def _extracted(text: str) -> None:
    """The audit's reading of a message, a reply with a call, and a result."""
    extract([user(text), assistant(text, call("bash", command=text)), result(text, error=True)])


def _checked(text: str) -> None:
    """The check of a summary that quotes what it was made of."""
    said = user(f"Never touch x.py. Use at most 5 workers. {text}")
    entries = [said, assistant("We'll use 8 workers.")]
    fidelity(f"## Goal\n- Use at most 5 workers.\n{text}", [0, 1], [], _table(entries))


def _summarized(text: str) -> None:
    conversation = f"[User]: Fix it. {text}\n\n[Assistant]: {text}\n\n[Tool result]: {text}"
    request = summary_request(conversation, previous=f"## Goal\n{text}")
    answer_extractive(request, lambda event: None, lambda: False)


def _asked(text: str) -> None:
    _demo(ChatMessage("user", text))


def _edited(text: str) -> None:
    _demo(
        ChatMessage("user", "replace `x` by `y` in a.py"),
        ChatMessage("assistant", "", tool_calls=(_READ,)),
        ChatMessage("tool", text, tool_call_id=_READ.id),
    )


def _demo(*messages: ChatMessage) -> None:
    request = ModelRequest("offline/demo", messages, tools=_TOOLS)
    answer_demo(request, lambda event: None, lambda: False)


def _acted(text: str) -> None:
    """What an agent read, ran and failed at, and what was said, before a compaction and after."""
    made = AgentWork()
    for _ in range(2):
        made.user(f"Never touch x.py. {text}")
        made.read(of=text)
        made.call("Read", f"     1→{text}", file_path="/w/b.py")
        made.run(text, text)
        made.run(f"pytest -q {text[:500]}", text, error=True)
        made.call("grep", text, pattern=text)
        made.edit(text, f"{text}!")
        made.compact()
    made.found()


READERS: Mapping[str, Callable[[str], None]] = {
    "the audit's extraction": _extracted,
    "the check of a summary": _checked,
    "what was needed again": _acted,
    "the offline summarizer": _summarized,
    "the offline agent, asked": _asked,
    "the offline agent, editing": _edited,
}

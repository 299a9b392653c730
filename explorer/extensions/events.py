"""What handlers are called with (A38 to A42): the events with the methods that answer them, and
read-only views of the session.

A handler answers by a method of its event, by what it returns, or by both; what is returned counts
more. Attributes and methods can be written in camel case too. Every handler gets a separate view;
its messages are copies that are read when they are first asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec.structs import asdict

from explorer.compaction.messages import message_to_llm, serialize
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.templates import Templates
from explorer.extensions.answers import snake_case
from explorer.session.entries import Message


class Signal:
    """Cancelled with the work that it belongs to, or when the handler's time is over.

    A synchronous handler that works for long asks ``cancelled`` now and then; an asynchronous one
    is cancelled automatically. May be used on any thread.
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled or timed out."""
        return self._event.is_set()

    @property
    def aborted(self) -> bool:
        """The same, by the name that other systems give it."""
        return self.cancelled

    def wait(self, seconds: float) -> bool:
        """Wait at most so long for the cancel; returns whether it has come."""
        return self._event.wait(seconds)

    def _cancel(self) -> None:
        self._event.set()


Json = dict[str, Any]
JsonReader = Callable[[Sequence[int]], list[Json]]
"""Gives JSON objects of entries by index, in the order asked for."""


class Spelled:
    """Attributes by their names in Python's spelling and in camel case."""

    def __getattr__(self, name: str) -> Any:
        snake = snake_case(name)
        if snake == name or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return getattr(self, snake)


class SessionAccess(NamedTuple):
    """The session that a view looks at."""

    ids: Sequence[str]
    """Entry ids by index."""
    entries: JsonReader
    """Reads entries, from any thread; every call gives new objects."""
    messages: JsonReader
    """Reads their messages, each with a role."""
    typed: Callable[[Mapping[str, Any]], Message]
    """A message that a handler gives, as a typed one."""
    templates: Templates
    cwd: str
    session_id: str


class MessagesView(Spelled):
    """A view that can tell messages as text."""

    def __init__(self, access: SessionAccess, profile: Profile, settings: Settings) -> None:
        self._access, self._profile = access, profile
        self.cwd = access.cwd
        """The working folder that the session names."""
        self.session_id = access.session_id
        self.settings: dict[str, Any] = {"profile": profile.name, **asdict(settings)}
        """Profile, context window, reserve and keep-recent tokens."""

    def serialize(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Messages as the text that a summarizer reads, with tool results cut to size (A21)."""
        typed = map(self._access.typed, messages)
        sent = (message_to_llm(message, self._access.templates) for message in typed)
        numbered = [(at, message) for at, message in enumerate(sent) if message is not None]
        return serialize(numbered, self._profile).text

    def _messages(self, indices: Sequence[int]) -> list[Json]:
        return self._access.messages(indices)

    def _id(self, index: int) -> str:
        return self._access.ids[index] if index >= 0 else ""


class CompactionView(MessagesView):
    """The preparation of a compaction. ``retained_from_id`` is ``first_kept_entry_id``."""

    def __init__(
        self, prepared: Preparation, previous_summary: str | None, access: SessionAccess
    ) -> None:
        super().__init__(access, prepared.profile, prepared.settings)
        self._history, self._prefix = tuple(prepared.history), tuple(prepared.turn_prefix)
        self.first_kept_entry_id = self._id(prepared.first_kept)
        self.leaf_id = self._id(prepared.leaf)
        self.is_split_turn = prepared.is_split_turn
        self.tokens_before = prepared.tokens_before
        self.previous_summary = previous_summary
        self.file_ops: dict[str, list[str]] = {
            "read": list(prepared.read_files),
            "modified": list(prepared.modified_files),
            "failed": list(prepared.failed_files),
        }
        """Files only read, written or edited, and named by failed calls only (A28)."""
        self.reason = prepared.reason
        """Why the cut falls here, in sentences."""

    @property
    def retained_from_id(self) -> str:
        return self.first_kept_entry_id

    @cached_property
    def messages_to_summarize(self) -> list[Json]:
        """The history's messages, oldest first."""
        return self._messages(self._history)

    @cached_property
    def turn_prefix_messages(self) -> list[Json]:
        """The first part of a split turn; empty when no turn is split."""
        return self._messages(self._prefix)

    @property
    def entry_ids(self) -> list[str]:
        """The entries of the history and the turn prefix, in the order of their messages."""
        return [self._id(index) for index in (*self._history, *self._prefix)]


class TreeView(MessagesView):
    """A navigation that leaves a branch. Ids are empty where there is no entry."""

    def __init__(
        self,
        way: NavigationEnds,
        profile: Profile,
        settings: Settings,
        access: SessionAccess,
    ) -> None:
        super().__init__(access, profile, settings)
        self._left, self._messages_left = tuple(way.left), tuple(way.messages)
        self.target_id = self._id(way.target)
        self.new_leaf_id = self._id(way.new_leaf)
        self.old_leaf_id = self._id(way.old_leaf)
        self.common_ancestor_id = self._id(way.common_ancestor)
        self.user_wants_summary = way.wants_summary
        self.custom_instructions = way.instructions

    @cached_property
    def entries_to_summarize(self) -> list[Json]:
        """The entries that are left behind, oldest first, as they are in the file."""
        return self._access.entries(self._left)

    @cached_property
    def messages_to_summarize(self) -> list[Json]:
        """The messages of them that fit a summary's budget, oldest first."""
        return self._messages(self._messages_left)


class NavigationEnds(NamedTuple):
    """Where a navigation goes from and to, as entry indices; -1 is none."""

    target: int
    new_leaf: int
    old_leaf: int
    common_ancestor: int
    left: Sequence[int]
    messages: Sequence[int]
    wants_summary: bool
    instructions: str = ""


class Event(Spelled):
    """What every event has."""

    name = ""

    def __init__(self, signal: Signal) -> None:
        self.signal = signal
        """Cancelled with the compaction or navigation."""
        self._given: dict[str, Any] = {}

    @property
    def given(self) -> Mapping[str, Any]:
        """What was answered by methods so far."""
        return dict(self._given)

    def _give(self, **values: Any) -> None:
        self._given.update(values)


class _CompactionEvent(Event):
    """An event of a compaction that is not made yet."""

    def __init__(
        self, preparation: CompactionView, custom_instructions: str, signal: Signal
    ) -> None:
        super().__init__(signal)
        self.preparation = preparation
        self.custom_instructions = custom_instructions


class BeforeCompactEvent(_CompactionEvent):
    """``session_before_compact``: a compaction is about to be made, by the user or
    automatically."""

    name = "session_before_compact"

    def set_result(self, result: object = None, **fields: Any) -> None:
        """Supply the compaction: a ``CompactionResult``, a dict, or its fields by name."""
        self._give(compaction=result if result is not None else fields)

    def cancel(self, reason: str = "") -> None:
        """Cancel this compaction."""
        self._give(cancel=True, reason=reason)


class CompactingEvent(_CompactionEvent):
    """``session.compacting``: the request for the summary is about to be written."""

    name = "session.compacting"

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that will be summarized."""
        return self.preparation.messages_to_summarize + self.preparation.turn_prefix_messages

    def set_prompt(self, prompt: str) -> None:
        """Replace the prompt of the history."""
        self._give(prompt=prompt)

    def add_context(self, *lines: str) -> None:
        """Lines for ``<additional-context>``."""
        self._give(context=[*self._given.get("context", ()), *lines])

    def set_preserve_data(self, data: Mapping[str, Any]) -> None:
        """Data to be stored on the compaction entry."""
        self._give(preserve_data=data)


class CompactEvent(Event):
    """``session_compact``: a compaction was stored. Nothing can be answered."""

    name = "session_compact"

    def __init__(self, entry: dict[str, Any], from_extension: bool, signal: Signal) -> None:
        super().__init__(signal)
        self.entry = entry
        """The entry as it was written; a copy."""
        self.compaction_entry = entry
        self.from_extension = self.from_hook = from_extension


class TurnEndEvent(Event):
    """``turn_end``: a turn of the agent is over, and it is not looked yet whether to compact.
    Nothing can be answered; ``ctx.compact()`` asks for a compaction now."""

    name = "turn_end"

    def __init__(self, end: str, tokens: int, signal: Signal) -> None:
        super().__init__(signal)
        self.end = end
        """``done``, ``cut_short``, ``failed``, or the limit that ended it."""
        self.context_tokens = tokens
        """Tokens that the context takes, as the window shows them."""


class BeforeTreeEvent(Event):
    """``session_before_tree``: the leaf is about to move to another entry, with or without a
    summary."""

    name = "session_before_tree"

    def __init__(self, preparation: TreeView, signal: Signal) -> None:
        super().__init__(signal)
        self.preparation = preparation
        self.target = self.target_id = preparation.target_id
        self.old_leaf = self.old_leaf_id = preparation.old_leaf_id
        self.common_ancestor = self.common_ancestor_id = preparation.common_ancestor_id
        self.user_wants_summary = preparation.user_wants_summary

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The entries that are left behind."""
        return self.preparation.entries_to_summarize

    def set_summary(self, summary: object, details: object = None) -> None:
        """Supply the summary; it is used only if the person wants one."""
        whole = {"summary": summary, "details": details} if isinstance(summary, str) else summary
        self._give(summary=whole)

    def set_result(self, result: object) -> None:
        """The same as ``set_summary``, by its name before a compaction."""
        self.set_summary(result)

    def set_summarize(self, wanted: bool) -> None:
        """False: go without a summary. True: propose one to the person."""
        self._give(summarize=wanted)

    def set_custom_instructions(self, instructions: str) -> None:
        """Instructions for the summary, in place of the person's."""
        self._give(custom_instructions=instructions)

    def set_replace_instructions(self, replace: bool) -> None:
        """True: the instructions are the whole prompt. False: they follow it."""
        self._give(replace_instructions=replace)

    def cancel(self, reason: str = "") -> None:
        """Stay where the session is."""
        self._give(cancel=True, reason=reason)


class TreeEvent(Event):
    """``session_tree``: the leaf has moved. Nothing can be answered."""

    name = "session_tree"

    def __init__(
        self, new_leaf: str, old_leaf: str, summary_entry: dict[str, Any] | None, signal: Signal
    ) -> None:
        super().__init__(signal)
        self.new_leaf = self.new_leaf_id = new_leaf
        self.old_leaf = self.old_leaf_id = old_leaf
        self.summary_entry = summary_entry
        """The branch summary that was stored, or None."""
        self.from_extension = bool(
            summary_entry and (summary_entry.get("fromHook") or summary_entry.get("fromExtension"))
        )


class Part(NamedTuple):
    """A stretch of a request's prompt."""

    text: str
    entry_id: str
    """The entry that it came from; empty for words of ours."""


class RequestEvent(Event):
    """``session_request``: a request is about to be sent. Its text can be changed, not kept back.

    Change it part by part where you can: then what is shown beside the request still knows which
    entry every part came from.
    """

    name = "session_request"

    def __init__(
        self,
        purpose: str,
        system: str,
        parts: Sequence[Part],
        model: str,
        signal: Signal,
    ) -> None:
        super().__init__(signal)
        self.purpose = purpose
        """``history``, ``turn_prefix``, ``branch`` or another kind of request."""
        self.system = system
        self.parts = tuple(parts)
        self.model = model

    @property
    def prompt(self) -> str:
        """The whole text that would be sent; ``text`` is the same."""
        return "".join(part.text for part in self.parts)

    @property
    def text(self) -> str:
        return self.prompt

    def transform(self, change: Callable[[str], str]) -> None:
        """Run every part, and the system prompt, through a function from text to text."""
        self._give(parts=[change(part.text) for part in self.parts], system=change(self.system))

    def set_parts(self, texts: Sequence[str]) -> None:
        """Replace the texts of the parts, as many as there are."""
        self._give(parts=texts)

    def set_prompt(self, prompt: str) -> None:
        """Replace the whole prompt."""
        self._give(prompt=prompt)


class SummaryEvent(Event):
    """``session_summary``: an answer has become a summary, which is about to become a draft."""

    name = "session_summary"

    def __init__(self, kind: str, summary: str, from_extension: bool, signal: Signal) -> None:
        super().__init__(signal)
        self.kind = kind
        """``compaction`` or ``branch``."""
        self.summary = summary
        self.from_extension = from_extension

    @property
    def text(self) -> str:
        return self.summary

    def transform(self, change: Callable[[str], str]) -> None:
        """Run the summary through a function from text to text."""
        self._give(summary=change(self.summary))

    def set_summary(self, summary: str) -> None:
        """Replace the summary of the draft."""
        self._give(summary=summary)

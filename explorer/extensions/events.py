"""The events that handlers are called with, each with the methods that answer it (A38 to A42).

A handler answers by a method of its event, by what it returns, or by both; what is returned
counts more. Attributes and methods can be written in camel case too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from explorer.extensions.signals import Signal
from explorer.extensions.views import CompactionView, Spelled, TreeView


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


class BeforeCompactEvent(Event):
    """``session_before_compact``: a compaction is about to be made, by a person or by itself."""

    name = "session_before_compact"

    def __init__(
        self, preparation: CompactionView, custom_instructions: str, signal: Signal
    ) -> None:
        super().__init__(signal)
        self.preparation = preparation
        self.custom_instructions = custom_instructions

    def set_result(self, result: object = None, **fields: Any) -> None:
        """Supply the compaction: a ``CompactionResult``, a dict, or its fields by name."""
        self._give(compaction=result if result is not None else fields)

    def cancel(self, reason: str = "") -> None:
        """No compaction now."""
        self._give(cancel=True, reason=reason)


class CompactingEvent(Event):
    """``session.compacting``: the request for the summary is about to be written."""

    name = "session.compacting"

    def __init__(
        self, preparation: CompactionView, custom_instructions: str, signal: Signal
    ) -> None:
        super().__init__(signal)
        self.preparation = preparation
        self.custom_instructions = custom_instructions

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that will be summarized."""
        return self.preparation.messages_to_summarize + self.preparation.turn_prefix_messages

    def set_prompt(self, prompt: str) -> None:
        """Other words for the prompt of the history."""
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


class BeforeTreeEvent(Event):
    """``session_before_tree``: the leaf is about to go elsewhere, summary or not."""

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
        """The same, by the name that it has before a compaction."""
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
        """Other texts, as many as there are parts."""
        self._give(parts=texts)

    def set_prompt(self, prompt: str) -> None:
        """Another text as a whole."""
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
        """Another text for the draft."""
        self._give(summary=summary)

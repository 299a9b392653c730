"""What handlers see of a session: read-only views whose messages are copies (A38, A41).

Every handler gets a view of its own. Messages are read when they are first asked for, so that a
handler that does not look costs nothing, and changing them changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, NamedTuple

from explorer.compaction.messages import message_to_llm
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.serialization import serialize
from explorer.compaction.wording import Templates
from explorer.extensions.answers import snake_case

EntryReader = Callable[[Sequence[int]], Sequence[Mapping[str, Any]]]
Message = dict[str, Any]


class Spelled:
    """Attributes by their names in Python's spelling and in camel case."""

    def __getattr__(self, name: str) -> Any:
        snake = snake_case(name)
        if snake == name or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return getattr(self, snake)


class Surroundings(NamedTuple):
    """The session that a view looks at."""

    ids: Sequence[str]
    """Entry ids by index."""
    entries: EntryReader
    """Reads entries, from any thread; every call gives objects of its own."""
    templates: Templates
    cwd: str
    session_id: str


class MessagesView(Spelled):
    """A view that can tell messages as text."""

    def __init__(self, around: Surroundings, profile: Profile, settings: Settings) -> None:
        self._around, self._profile = around, profile
        self.cwd = around.cwd
        """The working folder that the session names."""
        self.session_id = around.session_id
        self.settings: dict[str, Any] = {"profile": profile.name, **asdict(settings)}
        """Profile, context window, reserve and keep-recent tokens."""

    def serialize(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Messages as the text that a summarizer reads, with tool results cut to size (A21)."""
        sent = (message_to_llm(message, self._around.templates) for message in messages)
        numbered = [(at, message) for at, message in enumerate(sent) if message is not None]
        return serialize(numbered, self._profile).text

    def _messages(self, indices: Sequence[int]) -> list[Message]:
        return [message_of(entry) for entry in self._around.entries(indices)]

    def _id(self, index: int) -> str:
        return self._around.ids[index] if index >= 0 else ""


class CompactionView(MessagesView):
    """The preparation of a compaction. ``retained_from_id`` is ``first_kept_entry_id``."""

    def __init__(
        self, prepared: Preparation, previous_summary: str | None, around: Surroundings
    ) -> None:
        super().__init__(around, prepared.profile, prepared.settings)
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
    def messages_to_summarize(self) -> list[Message]:
        """The history's messages, oldest first."""
        return self._messages(self._history)

    @cached_property
    def turn_prefix_messages(self) -> list[Message]:
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
        way: Way,
        profile: Profile,
        settings: Settings,
        around: Surroundings,
    ) -> None:
        super().__init__(around, profile, settings)
        self._left, self._messages_left = tuple(way.left), tuple(way.messages)
        self.target_id = self._id(way.target)
        self.new_leaf_id = self._id(way.new_leaf)
        self.old_leaf_id = self._id(way.old_leaf)
        self.common_ancestor_id = self._id(way.common_ancestor)
        self.user_wants_summary = way.wants_summary
        self.custom_instructions = way.instructions

    @cached_property
    def entries_to_summarize(self) -> list[Message]:
        """The entries that are left behind, oldest first, as they are in the file."""
        return [dict(entry) for entry in self._around.entries(self._left)]

    @cached_property
    def messages_to_summarize(self) -> list[Message]:
        """The messages of them that fit a summary's budget, oldest first."""
        return self._messages(self._messages_left)


class Way(NamedTuple):
    """Where a navigation goes from and to, as entry indices; -1 is none."""

    target: int
    new_leaf: int
    old_leaf: int
    common_ancestor: int
    left: Sequence[int]
    messages: Sequence[int]
    wants_summary: bool
    instructions: str = ""


def message_of(entry: Mapping[str, Any]) -> Message:
    """The message of an entry as an agent holds it: a role and what belongs to it."""
    kind = entry.get("type")
    if kind == "message":
        message = entry.get("message")
        return dict(message) if isinstance(message, Mapping) else {}
    roles = {
        "custom_message": "custom",
        "compaction": "compactionSummary",
        "branch_summary": "branchSummary",
    }
    kept = {name: value for name, value in entry.items() if name not in ("type", "id", "parentId")}
    return {"role": roles.get(str(kind), str(kind)), **kept}

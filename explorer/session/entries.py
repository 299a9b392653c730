"""Typed entries, messages and blocks: what a session says, in no agent's dialect.

``explorer.formats`` reads an agent's records into these and writes them back. Everything above
reads these alone; ``Entry.recorded`` carries the record itself, unknown fields included, to be
shown whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import Struct

from explorer.session.kinds import TURN_START_KINDS, Kind
from explorer.session.partly_compared import PartlyCompared

# blocks -------------------------------------------------------------------------------------------


class TextBlock(Struct, frozen=True):
    """Text of a message."""

    text: str


class ThinkingBlock(Struct, frozen=True):
    """Thinking of a reply."""

    text: str
    signature: str = ""
    """The provider's, without which it takes no thinking back."""
    redacted: bool = False
    """The provider shows nothing of it: the signature is all there is."""


class ToolCallBlock(Struct, frozen=True):
    """A tool call of a reply."""

    id: str
    name: str
    arguments: Any = None
    """The decoded JSON value; an object, but where an agent recorded something else."""
    malformed: str = ""
    """The arguments as the model wrote them, where they could not be decoded."""
    hosted: bool = False
    """Run by the provider within the reply, as a search of the web is: no result follows."""

    @property
    def named_arguments(self) -> dict[str, Any]:
        """The arguments by name; empty where they are no object."""
        return self.arguments if isinstance(self.arguments, dict) else {}


class ImageBlock(Struct, frozen=True):
    """A picture, base64; empty data where only a reference was recorded."""

    mime: str
    data: str


class UnknownBlock(Struct, frozen=True):
    """A block that is carried, not understood."""

    type: str
    value: Any
    """The JSON value as recorded."""


Block = TextBlock | ThinkingBlock | ToolCallBlock | ImageBlock | UnknownBlock
Content = tuple[Block, ...]

# messages -----------------------------------------------------------------------------------------


class TokenUsage(Struct, frozen=True):
    """What a provider reported with a reply (A7), in tokens."""

    input: int = 0
    """Neither read from a cache nor written to one."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    context: int = -1
    """All of them as recorded, or their sum (B9); -1 where neither can be known."""
    cost: float = 0.0
    """Dollars; 0 where no price was recorded."""
    costs: tuple[float, float, float, float] | None = None
    """The cost of the first four, where it is recorded apart; all 0 where the call is recorded as
    one that costs nothing."""
    window: int = 0
    """The model's window that was recorded with them; 0 for none."""
    is_partial: bool = False
    """Reported before the answer was written: the prompt is exact, and the output is what there
    was of it then."""
    cache_write_1h: int = 0
    """Of those written to a cache: for an hour, which costs more than the usual five minutes."""

    @property
    def prompt(self) -> int:
        """Tokens of the prompt, cached ones among them; all of the context where the answer is
        not recorded apart; -1 for none (B18)."""
        return self.input + self.cache_read + self.cache_write or self.context


class UserMessage(Struct, frozen=True):
    """What a person wrote; also the form in which notes and summaries are sent to a model."""

    content: Content
    synthetic: bool = False
    """Nobody typed it: a program put it in the user's place."""
    row: str = ""
    """What its row says, where its text does not begin with what a person typed."""


class AssistantMessage(Struct, frozen=True):
    """A reply of the model."""

    content: Content
    provider: str = ""
    model: str = ""
    """The model's name without its provider."""
    usage: TokenUsage | None = None
    stop_reason: str = ""
    """``stop``, ``length``, ``tool_calls``, ``error``, ``aborted``, or as recorded."""
    error: str = ""
    """The provider's error, for a reply that failed."""
    error_kind: str = ""
    """Which kind of error it was, where this program recorded it."""
    api: str = ""
    """The wire format that its signatures belong to; empty where none is recorded."""

    @property
    def calls(self) -> tuple[ToolCallBlock, ...]:
        """The tool calls, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolCallBlock))

    @property
    def failed(self) -> bool:
        """Whether it ended in an error or was stopped: such a reply is never sent again (A6)."""
        return self.stop_reason in ("error", "aborted")


class ToolResultMessage(Struct, frozen=True):
    """What a tool returned."""

    call_id: str
    tool: str
    content: Content
    is_error: bool = False
    is_pruned: bool = False
    """Its own agent replaced its text, in the file or in what it sends (A13)."""
    details: Any = None
    """What the tool recorded beside the text; a JSON value."""
    is_recorded: bool = False
    """Of one that was pruned: the record holds the text still, and ``content`` what is sent."""


class ShellMessage(Struct, frozen=True):
    """A command, or a piece of Python, that the person ran (A4)."""

    command: str
    output: str
    language: Literal["bash", "python"] = "bash"
    exit_code: float | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str = ""
    excluded: bool = False
    """Not sent to the model."""


class FileMention(Struct, frozen=True):
    """A file that was put into the conversation."""

    path: str
    content: str


class FilesMessage(Struct, frozen=True):
    """Files that a person named in a message."""

    files: tuple[FileMention, ...]


class NoteMessage(Struct, frozen=True):
    """A message of an extension, sent to the model as a user's (A4)."""

    content: Content
    name: str = ""
    """The extension's name for its kind."""
    display: bool = True
    """Whether a conversation shows it."""
    details: Any = None


class SystemMessage(Struct, frozen=True):
    """Words of the agent's developer."""

    content: Content


class SummaryMessage(Struct, frozen=True):
    """A summary that was stored as a message instead of an entry of its own."""

    summary: str
    of: Literal["compaction", "branch"]


class UnknownMessage(Struct, frozen=True):
    """A message of a role that is carried, not understood."""

    role: str
    content: Content = ()


Message = (
    UserMessage
    | AssistantMessage
    | ToolResultMessage
    | ShellMessage
    | FilesMessage
    | NoteMessage
    | SystemMessage
    | SummaryMessage
    | UnknownMessage
)
ModelMessage = UserMessage | AssistantMessage | ToolResultMessage
"""A message as a model is sent it."""

# what is no message -------------------------------------------------------------------------------


class FileLists(Struct, frozen=True):
    """Files that a summary names (A28)."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    """All that were changed, also those that follow."""
    created: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    """Named by failed calls only."""


Certainty = Literal["exact", "inferred", "unreadable"]
"""How a compaction is known: recorded by its agent; rebuilt from what its agent records around it;
or that it happened, and nothing of what it says."""


class PutBack(NamedTuple):
    """Files that an agent's program shows again after a compaction: those that were used or changed
    last."""

    files: int
    """So many at most."""
    tokens: int
    """A larger file is named only."""


class RepeatedEntry(NamedTuple):
    """An entry from before a compaction that its record holds again, letter for letter."""

    id: str
    tokens: int = -1
    """Of what is held of it, where that is not all: a reply's texts, without its thinking and its
    calls; else -1."""


class CompactionSummary(Struct, frozen=True):
    """A compaction (A1)."""

    summary: str
    first_kept_id: str = ""
    tokens_before: int = 0
    tokens_after: int | None = None
    files: FileLists = FileLists()
    from_extension: bool = False
    short_summary: str = ""
    user_tokens: int = 0
    """Up to how many tokens of the user's messages its profile repeats word for word."""
    repeated_tokens: int = 0
    """Estimate of what its record says that the context holds again, and none of its entries does:
    an agent's instructions."""
    certainty: Certainty = "exact"
    trigger: str = ""
    """``auto`` or ``manual``; empty where it is not recorded."""
    failure: str = ""
    """What it records of its own failure; empty where it succeeded."""
    usage: TokenUsage | None = None
    details: Any = None
    """What an extension that made it recorded beside the summary; a JSON value."""
    preserved: Mapping[str, Any] | None = None
    """Data of an extension that is stored with it (A39)."""
    put_back: PutBack | None = None
    """What its agent's program puts back after it, which older files do not record."""
    repeated_entries: tuple[RepeatedEntry, ...] = ()
    """Where its record lists the context that it began: the entries that stand there."""


class BranchSummary(Struct, frozen=True):
    """A summary of a branch that was left (A2)."""

    summary: str
    from_id: str = ""
    files: FileLists = FileLists()
    from_extension: bool = False
    usage: TokenUsage | None = None
    details: Any = None


class CustomData(Struct, frozen=True):
    """Data of an extension, or of this program (pins, omissions, prunes); never sent."""

    name: str
    data: Any = None


class Label(Struct, frozen=True):
    """A label on another entry; empty text clears it."""

    target_id: str
    text: str = ""


class SessionName(Struct, frozen=True):
    """The session's name from here on."""

    name: str


class ModelChange(Struct, frozen=True):
    """Which model answers from here on, as ``provider/model``."""

    model: str
    role: str = ""


class ThinkingLevelChange(Struct, frozen=True):
    """How long the model may think from here on."""

    level: str


class Unknown(Struct, frozen=True):
    """An entry that is carried, not understood, or that says nothing but its type."""

    type: str


Body = (
    Message
    | CompactionSummary
    | BranchSummary
    | CustomData
    | Label
    | SessionName
    | ModelChange
    | ThinkingLevelChange
    | Unknown
)
Summary = CompactionSummary | BranchSummary | SummaryMessage


class Entry(PartlyCompared, frozen=True):
    """One entry of a session."""

    UNCOMPARED = frozenset({"recorded"})

    NONE: ClassVar[Entry]
    """An entry that says nothing."""

    kind: Kind
    body: Body
    id: str = ""
    parent_id: str | None = None
    time_ms: float = 0.0
    """Milliseconds since 1970; 0 where none is recorded."""
    recorded: Mapping[str, Any] = {}
    """The record that it was read from, in its agent's words; to be shown, not to be read."""

    @classmethod
    def of(
        cls, body: Body, entry_id: str = "", parent_id: str | None = None, time_ms: float = 0.0
    ) -> Entry:
        """A new entry; its kind follows from what it says."""
        return cls(kind_of(body), body, entry_id, parent_id, time_ms)

    @property
    def content(self) -> Content:
        """The blocks of its message; none where it has none."""
        found: Content = getattr(self.body, "content", ())
        return found

    @property
    def text(self) -> str:
        """The text blocks of its message, joined by newlines."""
        return text_of(self.content)

    @property
    def summary(self) -> str:
        """The text of a summary; empty for any other entry."""
        return self.body.summary if isinstance(self.body, Summary) else ""

    @property
    def begins_turn(self) -> bool:
        """Whether a turn begins with it as people count them; see ``kinds.turn_starts``."""
        is_inserted = isinstance(self.body, UserMessage) and self.body.synthetic
        return self.kind in TURN_START_KINDS and not is_inserted

    @property
    def calls(self) -> tuple[ToolCallBlock, ...]:
        """The tool calls of a reply, in order; none for any other entry."""
        return self.body.calls if isinstance(self.body, AssistantMessage) else ()

    @property
    def usage(self) -> TokenUsage | None:
        """What a provider reported for it."""
        found: TokenUsage | None = getattr(self.body, "usage", None)
        return found


_KINDS: dict[type[Body], Kind] = {
    UserMessage: Kind.USER,
    AssistantMessage: Kind.ASSISTANT,
    ToolResultMessage: Kind.TOOL_RESULT,
    FilesMessage: Kind.FILE_MENTION,
    NoteMessage: Kind.CUSTOM_MESSAGE,
    SystemMessage: Kind.SYSTEM,
    UnknownMessage: Kind.OTHER_ROLE,
    CompactionSummary: Kind.COMPACTION,
    BranchSummary: Kind.BRANCH_SUMMARY,
    CustomData: Kind.CUSTOM,
    Label: Kind.LABEL,
    SessionName: Kind.SESSION_INFO,
    ModelChange: Kind.MODEL_CHANGE,
    ThinkingLevelChange: Kind.THINKING_LEVEL_CHANGE,
    Unknown: Kind.UNKNOWN,
}


def kind_of(body: Body) -> Kind:
    """The kind of an entry that says this."""
    if isinstance(body, ShellMessage):
        return Kind.BASH_EXECUTION if body.language == "bash" else Kind.PYTHON_EXECUTION
    if isinstance(body, NoteMessage) and not body.display:
        return Kind.CUSTOM_ROLE  # what an agent adds unseen begins no turn
    if isinstance(body, SummaryMessage):
        is_branch = body.of == "branch"
        return Kind.BRANCH_SUMMARY_ROLE if is_branch else Kind.COMPACTION_SUMMARY_ROLE
    return _KINDS[type(body)]


Entry.NONE = Entry(Kind.UNKNOWN, Unknown(""))

# their texts --------------------------------------------------------------------------------------


def text_content(text: str) -> Content:
    """A content of one text block."""
    return (TextBlock(text),)


def text_of(content: Content, separator: str = "\n") -> str:
    """The text blocks of a content, joined."""
    return separator.join([block.text for block in content if isinstance(block, TextBlock)])


def images_of(content: Content) -> tuple[ImageBlock, ...]:
    """The pictures of a content, in order."""
    return tuple([block for block in content if isinstance(block, ImageBlock)])


def all_texts(entry: Entry) -> Iterator[str]:
    """Every text of an entry that a person may look for, in order. Of what is not understood only
    texts of several words: names, ids, times and encoded data are none."""
    body = entry.body
    for block in entry.content:
        if isinstance(block, TextBlock | ThinkingBlock):
            yield block.text
        elif isinstance(block, ToolCallBlock):
            yield block.name
            yield from json_texts(block.arguments)
        elif isinstance(block, UnknownBlock):
            yield from _phrases(block.value)
    match body:
        case AssistantMessage():
            yield body.error
        case ToolResultMessage():
            yield body.tool
        case ShellMessage():
            yield from (body.command, body.output)
        case FilesMessage():
            for file in body.files:
                yield from (file.path, file.content)
        case NoteMessage():
            yield body.name
        case CompactionSummary() | BranchSummary():
            yield body.summary
            yield from json_texts(body.details)
        case SummaryMessage():
            yield body.summary
        case CustomData():
            yield body.name
            yield from _phrases(body.data)
        case Label():
            yield body.text
        case SessionName():
            yield body.name
        case ModelChange():
            yield body.model
        case ThinkingLevelChange():
            yield body.level
        case Unknown():
            yield from _phrases(entry.recorded)


def _phrases(value: Any) -> Iterator[str]:
    return (text for text in json_texts(value) if " " in text)


def json_texts(value: Any) -> Iterator[str]:
    """All texts in a JSON value, keys left out, in order and without recursion."""
    stack = [iter((value,))]
    while stack:
        for one in stack[-1]:
            if isinstance(one, str):
                if one:
                    yield one
            elif isinstance(one, Mapping):
                stack.append(iter(list(one.values())))
                break
            elif isinstance(one, list):
                stack.append(iter(one))
                break
        else:
            stack.pop()

"""From a typed entry to the facts that the columns hold of it."""

from __future__ import annotations

import re
from typing import NamedTuple
from zlib import crc32

from explorer.session.edit_entries import (
    PRUNE_TYPE,
    SHAPE_TYPES,
    PruneFacts,
    ShapeFacts,
    prune_facts,
    shape_facts,
)
from explorer.session.entries import (
    AssistantMessage,
    BranchSummary,
    Certainty,
    CompactionSummary,
    Content,
    CustomData,
    Entry,
    FilesMessage,
    ImageBlock,
    Label,
    ModelChange,
    NoteMessage,
    PutBack,
    RepeatedEntry,
    SessionName,
    ShellMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
    ThinkingLevelChange,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UserMessage,
    images_of,
    text_of,
)
from explorer.session.file_tools import FileOp, file_ops
from explorer.session.kinds import Flag, Kind
from explorer.session.text import (
    PREVIEW_UNITS,
    call_title,
    cut_line,
    first_line,
    name_in_words,
    prompt_line,
    summary_line,
)

STOP_FLAGS = {
    "error": int(Flag.ERROR),
    "aborted": int(Flag.ABORTED),
    "length": int(Flag.LENGTH_STOP),
}

# As plain numbers: what a flag of an enumeration takes is felt with every entry of a large file.
_HAS_TEXT, _HAS_IMAGE, _HAS_THINKING = (
    int(one) for one in (Flag.HAS_TEXT, Flag.HAS_IMAGE, Flag.HAS_THINKING)
)
_HAS_TOOL_CALL, _ERROR, _PRUNING, _PLACEHOLDER = (
    int(one) for one in (Flag.HAS_TOOL_CALL, Flag.ERROR, Flag.PRUNING, Flag.PLACEHOLDER)
)


WORDS_VERSION = 2386906393
"""Another number when an entry's first words (``Facts.preview``) or the facts of compactions come
out otherwise: what is stored is then described anew. ``tests/store/test_row_words.py`` asks for
it."""


class CompactionFacts(NamedTuple):
    """What decisions need of a compaction entry (A1)."""

    first_kept_id: str
    tokens_before: int
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]
    """All that were changed, also those that follow."""
    from_extension: bool
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()
    user_tokens: int = 0
    """Up to how many tokens of the user's messages its profile repeats word for word."""
    certainty: Certainty = "exact"
    repeated_tokens: int = 0
    """Of what its record says that the context holds again, and none of its entries does."""
    put_back: PutBack | None = None
    """Files that its agent's program shows again, which may not be recorded."""
    repeated_entries: tuple[RepeatedEntry, ...] = ()
    """What its record holds again, letter for letter."""

    @property
    def repeats(self) -> bool:
        """Whether entries from before it may stand after its summary."""
        return self.user_tokens > 0 or bool(self.repeated_entries)


class BranchFacts(NamedTuple):
    """What decisions need of a branch summary entry (A2)."""

    from_id: str
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]
    """All that were changed, also those that follow."""
    from_extension: bool
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()


class Facts(NamedTuple):
    """Everything that the columns hold of one entry."""

    kind: Kind
    flags: int
    time_ms: float
    usage: int
    """Context tokens that the provider reported with a reply, -1 when none were (A7, B9)."""
    model: str
    """``provider/model`` of a reply or model change, else empty."""
    preview: str
    user_images: int
    ops: tuple[FileOp, ...] = ()
    call_id: str = ""
    """The call that a tool result answers."""
    tool: str = ""
    """The tool that made a tool result."""
    compaction: CompactionFacts | None = None
    branch: BranchFacts | None = None
    thinking_level: str = ""
    label: tuple[str, str] | None = None
    """(target id, label); an empty label clears it."""
    name: str | None = None
    error: int = 0
    """Of a tool result that is an error: a mark of what it says, never 0; see ``error_mark``."""
    prune: PruneFacts | None = None
    shape: ShapeFacts | None = None
    """What a pin, an omission, or a rule of repeated messages says."""


def describe(entry: Entry) -> Facts:
    """The facts of an entry."""
    body = entry.body
    # The two that most entries are: their facts are made at once, all others by replacing some.
    if isinstance(body, AssistantMessage):
        return _reply(entry, body)
    if isinstance(body, ToolResultMessage):
        return _tool_result(entry, body)
    facts = Facts(entry.kind, 0, entry.time_ms, -1, "", "", 0)
    match body:
        case ShellMessage():
            return _shell(facts, body)
        case FilesMessage():
            names = ", ".join(file.path for file in body.files)
            return facts._replace(flags=int(Flag.HAS_TEXT), preview=first_line(names))
        case SummaryMessage():
            return facts._replace(flags=int(Flag.HAS_TEXT), preview=first_line(body.summary))
        case CompactionSummary() | BranchSummary():
            return _summary(facts, body)
        case ModelChange():
            text = f"model {first_line(body.model)}"
            return facts._replace(model=body.model, preview=text)
        case ThinkingLevelChange():
            text = f"thinking {first_line(body.level)}"
            return facts._replace(thinking_level=body.level, preview=text)
        case Label():
            text = f"label “{first_line(body.text)}”" if body.text else "label removed"
            return facts._replace(label=(body.target_id, body.text), preview=text)
        case SessionName():
            return facts._replace(name=body.name, preview=f"name “{first_line(body.name)}”")
        case CustomData():
            return _custom(facts, body)
        case Unknown():
            words = name_in_words(first_line(body.type))
            return facts._replace(preview=words or "entry without a type")
    return _message(facts, entry)


def _message(facts: Facts, entry: Entry) -> Facts:
    """Of a message of text and pictures: the user's, a note, the developer's, an unknown role's."""
    flags = int(Flag.HAS_TEXT)
    images = len(images_of(entry.content))
    if images:
        flags |= Flag.HAS_IMAGE
    if isinstance(entry.body, NoteMessage) and not entry.body.display:
        flags |= Flag.HIDDEN
    if isinstance(entry.body, UserMessage) and entry.body.synthetic:
        flags |= Flag.SYNTHETIC
    if isinstance(entry.body, UserMessage):
        text = first_line(entry.body.row) or _prompt_text(entry.content)
    else:
        text = _first_text(entry.content)
    if not text and images and facts.kind is not Kind.CUSTOM_MESSAGE:
        text = "image"
    return facts._replace(
        flags=int(flags), preview=text, user_images=images if facts.kind is Kind.USER else 0
    )


def _prompt_text(content: Content) -> str:
    """The first line of what a person typed; see ``prompt_line``."""
    for block in content:
        if isinstance(block, TextBlock):
            return prompt_line(block.text) or prompt_line(text_of(content))
    return ""


def _first_text(content: Content) -> str:
    """The first line of a content's text blocks together."""
    for block in content:
        # One block that holds anything is enough: what follows begins a new line.
        if isinstance(block, TextBlock):
            return first_line(block.text) or first_line(text_of(content))
    return ""


def _tool_result(entry: Entry, body: ToolResultMessage) -> Facts:
    text, flags, error = text_of(body.content), _HAS_TEXT, 0
    if has_image := bool(images_of(body.content)):
        flags |= _HAS_IMAGE
    if body.is_error:
        flags |= _ERROR
        error = error_mark(text)
    else:
        flags |= result_flags(text, has_image=has_image)
    if body.is_pruned:
        flags |= _PRUNING | (Flag.RECORDED if body.is_recorded else 0)
    return Facts(
        entry.kind, int(flags), entry.time_ms, -1, "", _first_text(body.content), 0,
        call_id=body.call_id, tool=body.tool, error=error,
    )  # fmt: skip


def _shell(facts: Facts, body: ShellMessage) -> Facts:
    flags = Flag.HAS_TEXT
    if body.excluded:
        flags |= Flag.EXCLUDED
    if body.cancelled:
        flags |= Flag.ABORTED
    if body.exit_code:
        flags |= Flag.ERROR
    return facts._replace(flags=int(flags), preview=first_line(body.command))


def _reply(entry: Entry, body: AssistantMessage) -> Facts:
    flags = STOP_FLAGS.get(body.stop_reason, 0)
    ops: list[FileOp] = []
    text = thinking = calls = ""
    for block in body.content:
        match block:
            case ToolCallBlock():
                flags |= _HAS_TOOL_CALL
                if not text and len(calls) < PREVIEW_UNITS:
                    calls += (" · " if calls else "") + call_title(block.name, block.arguments)
                ops += file_ops(block.name, block.arguments, block.id)
            case TextBlock():
                text = text or first_line(block.text)
            case ThinkingBlock():
                flags |= _HAS_THINKING
                thinking = thinking or block.text.lstrip()
            case ImageBlock():
                flags |= _HAS_IMAGE
    if text:
        flags |= _HAS_TEXT
        if flags & _ERROR and not (body.error or body.model or body.provider):
            flags |= _PLACEHOLDER
    preview = text or cut_line(calls) or first_line(thinking)
    return Facts(
        entry.kind,
        flags,
        entry.time_ms,
        body.usage.context if body.usage is not None else -1,
        f"{body.provider}/{body.model}" if body.model else "",
        preview or first_line(body.error or body.stop_reason),
        0,
        tuple(ops),
    )


def _summary(facts: Facts, body: CompactionSummary | BranchSummary) -> Facts:
    files = body.files
    flags = Flag.FROM_EXTENSION if body.from_extension else Flag.NONE
    if isinstance(body, CompactionSummary):
        compaction = CompactionFacts(
            body.first_kept_id, body.tokens_before, files.read, files.modified,
            body.from_extension, files.created, files.deleted, body.user_tokens, body.certainty,
            body.repeated_tokens, body.put_back, body.repeated_entries,
        )  # fmt: skip
        text = first_line(body.short_summary) or summary_line(body.summary)
        if not text and body.certainty == "unreadable":
            text = "summary encrypted or not recorded"
        return facts._replace(flags=int(flags), preview=text, compaction=compaction)
    if not body.summary:
        flags |= Flag.EMPTY_SUMMARY
    branch = BranchFacts(
        body.from_id, files.read, files.modified, body.from_extension, files.created, files.deleted
    )
    return facts._replace(flags=int(flags), preview=summary_line(body.summary), branch=branch)


def _custom(facts: Facts, body: CustomData) -> Facts:
    if body.name == PRUNE_TYPE:
        prune = prune_facts(body.data)
        if prune is None:
            return facts._replace(preview="a prune entry that cannot be read")
        return facts._replace(flags=int(Flag.PRUNING), preview=first_line(prune.title), prune=prune)
    if body.name in SHAPE_TYPES:
        shape = shape_facts(body.name, body.data)
        if shape is None:
            name = SHAPE_TYPES[body.name].replace("-", " ")
            return facts._replace(preview=f"an entry to {name} that cannot be read")
        pins = int(Flag.PINNING) if shape.kind == "pin" else 0
        return facts._replace(flags=pins, preview=first_line(shape.title), shape=shape)
    return facts._replace(preview=name_in_words(first_line(body.name)) or "custom")


_SHORT = 200
"""Characters up to which a result can say no more than that there is nothing."""
_MARKED = 4_000
"""Characters of an error that are compared."""

_FOUND_NOTHING = re.compile(
    r"\W*(?:"
    r"no (?:output|results?|match(?:es)?|files?(?: or director(?:y|ies))?|entries|content|hits)"
    r"(?: (?:was|were))?(?: (?:found|matched|returned|available))?"
    r"|(?:found )?0 (?:results?|match(?:es)?|files?|hits)(?: found)?"
    r"|nothing (?:found|matched)|empty(?: (?:file|directory|result|output))?|none"
    r")\b(?: (?:for|in|matching|matched|with|under)\b[^\n]*)?\W*",
    re.IGNORECASE,
)
_CREATED = re.compile(
    r"\s*(?:(?:new |the )?file (?:[^\n]{1,400}? )?(?:has been |was )?(?:successfully )?created\b"
    r"|(?:successfully )?created (?:a )?(?:new )?(?:empty )?file\b"
    r"|successfully created (?:and wrote to )?(?:a )?(?:new )?file\b)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+")

_NOTHING, _NEW = int(Flag.FOUND_NOTHING), int(Flag.CREATED)


def result_flags(text: str, *, has_image: bool = False) -> int:
    """The flags of what a result that is no error says: ``FOUND_NOTHING``, ``CREATED``."""
    flags = 0
    if len(text) <= _SHORT and not has_image:
        words = text.strip()
        if not words or _FOUND_NOTHING.fullmatch(words):
            flags |= _NOTHING
    if "reated" in text[:_SHORT] and _CREATED.match(text[: _SHORT * 2]):
        flags |= _NEW
    return flags


def error_mark(text: str) -> int:
    """A number that two errors have in common when they say the same, but for numbers such as
    times and addresses. Never 0."""
    words = " ".join(_NUMBERS.sub("#", text[:_MARKED]).split())
    return crc32(words.encode("utf-8", "replace")) or 1

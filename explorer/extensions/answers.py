"""What a handler may return (A38 to A42), and reading it: results, dicts and event methods, in
Python's spelling or in that of the systems that the events come from (``firstKeptEntryId``); what
each handler did at each call, and what a chain of handlers comes to for each event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any, Literal, get_args

from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict

from explorer.compaction.messages import SourceSpan
from explorer.session.json_values import recorded_count
from explorer.session.text import well_formed


class CompactionResult(Struct):
    """A whole compaction, used as it is, without a call to a model."""

    summary: str
    first_kept_entry_id: str = ""
    """Where the kept tail begins; empty: where the preparation has it. It must be a valid cut."""
    tokens_before: int = -1
    """Context tokens before the compaction; negative: as the preparation has them."""
    details: Mapping[str, Any] | None = None
    """Anything of yours that JSON can hold; stored with the entry."""
    short_summary: str = ""
    """Two or three sentences for display."""
    preserve_data: Mapping[str, Any] | None = None
    """What your extension wants to find again on the entry."""
    retained_from_id: str = ""
    """Another name of ``first_kept_entry_id``."""


class SessionBeforeCompactResult(Struct):
    """Answer to ``session_before_compact``: cancel, or supply the compaction."""

    cancel: bool = False
    compaction: CompactionResult | Mapping[str, Any] | None = None
    reason: str = ""
    """Why it is cancelled, as a sentence for the person."""


class SessionCompactingResult(Struct):
    """Answer to ``session.compacting``: other words, further lines, data to keep."""

    prompt: str | None = None
    """Takes the place of the prompt for the history. A person's instructions still follow it."""
    context: str | Sequence[str] = ()
    """Lines for ``<additional-context>``."""
    preserve_data: Mapping[str, Any] | None = None
    """Stored on the compaction entry."""


class BranchSummaryResult(Struct):
    """The summary of a branch, used as it is when the person wants a summary."""

    summary: str
    details: Mapping[str, Any] | None = None


class SessionBeforeTreeResult(Struct):
    """Answer to ``session_before_tree``."""

    cancel: bool = False
    reason: str = ""
    summary: BranchSummaryResult | Mapping[str, Any] | str | None = None
    """Used only if the person wants a summary."""
    summarize: bool | None = None
    """False: go without a summary. True: propose one to the person."""
    custom_instructions: str | None = None
    """Takes the place of what the person asked for."""
    replace_instructions: bool | None = None
    """True: the instructions are the whole prompt. False: they follow it."""


class SessionRequestResult(Struct):
    """Answer to ``session_request``: another text, as a whole or part by part."""

    prompt: str | None = None
    system: str | None = None
    parts: Sequence[str] | None = None
    """As many as ``event.parts``; the source of every part stays known."""


class SessionSummaryResult(Struct):
    """Answer to ``session_summary``: another text for the draft."""

    summary: str | None = None


MOST_DATA = 1_000_000
"""Characters of JSON that an extension may store with one entry."""
MOST_TEXT = 4_000_000
"""Characters of one text of an answer."""

_ALIASES = {
    "retained_from_id": "first_kept_entry_id",
    "first_kept_id": "first_kept_entry_id",
    "first_kept_entry": "first_kept_entry_id",
    "instructions": "custom_instructions",
    "additional_context": "context",
}
# Who made it is known here; what the answer says of that changes nothing.
_IGNORED = frozenset({"from_hook", "from_extension", "type"})


class AnswerError(ValueError):
    """An answer that cannot be used; the message says what was expected."""


class HandlerAnswer(Struct, frozen=True):
    """What one handler answered, in one spelling and checked; empty when it did nothing."""

    event: str
    values: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    """Names in the answer that mean nothing here."""

    def __bool__(self) -> bool:
        return bool(self.values)

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)


def snake_case(name: str) -> str:
    """``firstKeptEntryId`` as ``first_kept_entry_id``; a name in snake case stays."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


def read_answer(event: str, *given: object) -> HandlerAnswer:
    """The answers given to an event, later over earlier ones. None says nothing.

    Raises AnswerError.
    """
    known = _FIELDS[event]
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for one in given:
        for name, value in as_mapping(one, "an answer").items():
            reader = known.get(name)
            if reader is None:
                unknown += [] if name in _IGNORED else [name]
            elif value is not None and (answer := reader(name, value)) is not None:
                values[name] = answer
    return HandlerAnswer(event, values, tuple(unknown))


def as_mapping(given: object, what: str) -> dict[str, Any]:
    """A dict, dataclass or namespace as a dict in one spelling. Raises AnswerError."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        items = [(str(name), value) for name, value in given.items()]
    elif isinstance(given, Struct):
        items = list(asdict(given).items())
    elif is_dataclass(given) and not isinstance(given, type):
        items = [(one.name, getattr(given, one.name)) for one in fields(given)]
    elif isinstance(given, SimpleNamespace):
        items = list(vars(given).items())
    else:
        raise AnswerError(f"{what} must be a result, a dict or None, not {_type_name(given)}")
    found: dict[str, Any] = {}
    for name, value in items:
        key = snake_case(name)
        key = _ALIASES.get(key, key)
        # Of two names for one thing, the one that says something counts.
        if key not in found or found[key] in (None, ""):
            found[key] = value
    return found


def _type_name(value: object) -> str:
    return type(value).__name__


def _flag(name: str, value: object) -> bool | None:
    if not isinstance(value, bool):
        raise AnswerError(f"{name} must be True or False, not {_type_name(value)}")
    return value


def _cancel(name: str, value: object) -> bool | None:
    return _flag(name, value) or None


def _text(name: str, value: object) -> str | None:
    if not isinstance(value, str):
        raise AnswerError(f"{name} must be a text, not {_type_name(value)}")
    if len(value) > MOST_TEXT:
        raise AnswerError(f"{name} has {len(value):,} characters; at most {MOST_TEXT:,} are taken")
    return well_formed(value)


def _filled(name: str, value: object) -> str | None:
    text = _text(name, value)
    return text if text and text.strip() else None


def _lines(name: str, value: object) -> tuple[str, ...] | None:
    if isinstance(value, str):
        value = value.splitlines()
    if not isinstance(value, Sequence):
        raise AnswerError(f"{name} must be a list of lines, not {_type_name(value)}")
    lines = tuple(line for one in value if (line := _filled(f"a line of {name}", one)))
    if sum(map(len, lines)) > MOST_TEXT:
        raise AnswerError(f"{name} has more than {MOST_TEXT:,} characters")
    return lines or None


def _parts(name: str, value: object) -> tuple[str, ...] | None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise AnswerError(f"{name} must be a list of texts, not {_type_name(value)}")
    return tuple(_text(f"one of {name}", one) or "" for one in value)


def _data(name: str, value: object) -> Any:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise AnswerError(f"{name} cannot be stored as JSON: {error}") from error
    if len(text) > MOST_DATA:
        raise AnswerError(f"{name} takes {len(text):,} characters; at most {MOST_DATA:,} are kept")
    # A copy: later changes by the extension have no effect here.
    return json.loads(well_formed(text))


def _object(name: str, value: object) -> dict[str, Any] | None:
    data = _data(name, dict(value) if isinstance(value, Mapping) else value)
    if not isinstance(data, dict):
        raise AnswerError(f"{name} must be a dict, not {_type_name(value)}")
    return data or None


def _tokens(name: str, value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise AnswerError(f"{name} must be a whole number, not {_type_name(value)}")
    return recorded_count(value)


Reader = Callable[[str, Any], Any]

_COMPACTION: dict[str, Reader] = {
    "summary": _filled,
    "first_kept_entry_id": _filled,
    "tokens_before": _tokens,
    "details": _data,
    "short_summary": _filled,
    "preserve_data": _object,
}
_BRANCH: dict[str, Reader] = {"summary": _filled, "details": _data}


def _whole(known: Mapping[str, Reader], name: str, value: object) -> dict[str, Any] | None:
    given = as_mapping({"summary": value} if isinstance(value, str) else value, name)
    values = {
        key: read
        for key, one in given.items()
        if key in known and one is not None and (read := known[key](key, one)) is not None
    }
    if given and "summary" not in values:
        raise AnswerError(f"{name} has no summary")
    return values or None


def _compaction(name: str, value: object) -> dict[str, Any] | None:
    return _whole(_COMPACTION, name, value)


def _branch(name: str, value: object) -> dict[str, Any] | None:
    return _whole(_BRANCH, name, value)


_FIELDS: dict[str, dict[str, Reader]] = {
    "session_before_compact": {"cancel": _cancel, "reason": _filled, "compaction": _compaction},
    "session.compacting": {"prompt": _filled, "context": _lines, "preserve_data": _object},
    "session_compact": {},
    "session_before_tree": {
        "cancel": _cancel,
        "reason": _filled,
        "summary": _branch,
        "summarize": _flag,
        "custom_instructions": _text,
        "replace_instructions": _flag,
    },
    "session_tree": {},
    "session_request": {"prompt": _filled, "system": _text, "parts": _parts},
    "session_summary": {"summary": _filled},
    "turn_end": {},
}
EVENTS = tuple(_FIELDS)
"""The names of all events, as ``hooks.on`` takes them."""


Did = Literal[
    "nothing", "cancelled", "result", "context", "instructions", "changed", "error", "timed out"
]
"""``context``: lines, another prompt or data; ``changed``: a request's or summary's text."""
DID_VALUES: tuple[str, ...] = get_args(Did)
TITLES: dict[str, str] = {
    "session_before_compact": "before the compaction",
    "session.compacting": "while asking for the summary",
    "session_compact": "after the compaction",
    "session_before_tree": "before the navigation",
    "session_tree": "after the navigation",
    "session_request": "on the request",
    "session_summary": "on the summary",
}
"""When each event happens, in words for a person."""


class HookRecord(Struct, frozen=True):
    """One call of one handler."""

    extension: str
    event: str
    did: Did
    elapsed_ms: float
    detail: str = ""
    """What exactly, or what went wrong; a sentence or a few words."""
    file: str = ""
    line: int = 0
    """Where it went wrong; 0 when nothing did."""
    used: bool = True
    """False for a result that a later one took the place of, or that was not used."""

    @property
    def failed(self) -> bool:
        return self.did in ("error", "timed out")

    @property
    def sentence(self) -> str:
        """The record for a person, without the name and the time."""
        phrase = {
            "nothing": "had nothing to say",
            "cancelled": "cancelled it",
            "result": "supplied the summary",
            "context": "added to the request",
            "instructions": "gave instructions",
            "changed": "changed the text",
            "error": "failed",
            "timed out": "took too long and was left behind",
        }[self.did]
        parts = [phrase + ("" if self.used else " (not used)")]
        if self.detail:
            parts.append(self.detail)
        if self.line:
            parts.append(f"{self.file}, line {self.line}")
        return ": ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The record as it is kept with a draft."""
        return {**to_builtins(self), "elapsed_ms": round(self.elapsed_ms, 1)}

    @classmethod
    def from_json(cls, data: object) -> HookRecord | None:
        """A record as it was kept; None for what is none."""
        if not isinstance(data, Mapping) or data.get("did") not in DID_VALUES:
            return None
        number, line = data.get("elapsed_ms"), data.get("line")
        return cls(
            str(data.get("extension", "")),
            str(data.get("event", "")),
            data["did"],
            float(number) if isinstance(number, int | float) else 0.0,
            str(data.get("detail", "")),
            str(data.get("file", "")),
            line if isinstance(line, int) else 0,
            data.get("used") is not False,
        )


def records_of(facts: object) -> list[HookRecord]:
    """The records kept with a draft, from its ``facts``."""
    rows = facts.get("extensions") if isinstance(facts, Mapping) else None
    records = (HookRecord.from_json(row) for row in rows) if isinstance(rows, list | tuple) else ()
    return [record for record in records if record is not None]


Records = tuple[HookRecord, ...]


class SuppliedCompaction(Struct, frozen=True):
    """A compaction that an extension made."""

    by: str
    summary: str
    first_kept_entry_id: str = ""
    """Empty: as the preparation has it."""
    tokens_before: int = -1
    """Negative: as the preparation has it."""
    details: Any = None
    short_summary: str = ""
    preserve_data: Mapping[str, Any] | None = None


class SuppliedSummary(Struct, frozen=True):
    """A branch summary that an extension made."""

    by: str
    summary: str
    details: Any = None


class BeforeCompact(Struct, frozen=True):
    """What came of ``session_before_compact`` (A38)."""

    records: Records = ()
    cancelled_by: str = ""
    reason: str = ""
    compaction: SuppliedCompaction | None = None


class Compacting(Struct, frozen=True):
    """What came of ``session.compacting`` (A39)."""

    records: Records = ()
    prompt: str | None = None
    context: tuple[str, ...] = ()
    preserve_data: Mapping[str, Any] | None = None


class BeforeTree(Struct, frozen=True):
    """What came of ``session_before_tree`` (A41)."""

    records: Records = ()
    cancelled_by: str = ""
    reason: str = ""
    summary: SuppliedSummary | None = None
    """Only when the person wants one."""
    summarize: bool | None = None
    summarize_by: str = ""
    custom_instructions: str | None = None
    replace_instructions: bool | None = None


class Request(Struct, frozen=True):
    """What came of ``session_request``."""

    records: Records
    system: str
    prompt: str
    sources: list[SourceSpan]
    blocked_by: str = ""
    """The extension that must see every request and failed: this one must not be sent."""


class SummaryAnswer(Struct, frozen=True):
    """What came of ``session_summary``."""

    records: Records
    summary: str
    blocked_by: str = ""
    """The extension that must see every summary and failed: this one must not be kept."""

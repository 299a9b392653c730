"""What each kind of entry looks like: a colour token, an icon and a name for people.

A reply that only calls tools is shown as its tool calls, and one that only thinks as thinking:
that is what a person looks for in a map of hundreds of replies.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from explorer.session.kinds import Flag, Kind


class _Look(NamedTuple):
    token: str
    icon: str
    name: str


_USER = _Look("user", "user", "user")
_AUTOMATIC = _Look("dim", "user", "automatic message")
_ASSISTANT = _Look("asst", "assistant", "assistant")
_PLACEHOLDER = _Look("dim", "assistant", "automatic reply")
_THINKING = _Look("think", "thinking", "thinking")
_CALL = _Look("tool", "tool", "tool call")
_RESULT = _Look("tool", "result", "tool result")
_SHELL = _Look("shell", "shell", "shell command")
_NOTE = _Look("dim", "note", "note")
_COMPACTION = _Look("comp", "compaction", "compaction")
_BRANCH = _Look("branch", "branch", "branch summary")
_PRUNE = _Look("dim", "prune", "prune")
_PIN = _Look("user", "pin", "pin")

_LOOKS: dict[Kind, _Look] = {
    Kind.UNKNOWN: _Look("dim", "unknown", "unknown entry"),
    Kind.USER: _USER,
    Kind.ASSISTANT: _ASSISTANT,
    Kind.TOOL_RESULT: _RESULT,
    Kind.BASH_EXECUTION: _SHELL,
    Kind.PYTHON_EXECUTION: _SHELL._replace(icon="python", name="Python cell"),
    Kind.CUSTOM_ROLE: _NOTE._replace(name="added message"),
    Kind.CUSTOM_MESSAGE: _NOTE._replace(name="added message"),
    Kind.SYSTEM: _NOTE._replace(icon="settings", name="system message"),
    Kind.FILE_MENTION: _NOTE._replace(icon="file", name="file mention"),
    Kind.COMPACTION_SUMMARY_ROLE: _COMPACTION._replace(name="compaction summary"),
    Kind.BRANCH_SUMMARY_ROLE: _BRANCH,
    Kind.OTHER_ROLE: _NOTE._replace(icon="unknown", name="message of unknown role"),
    Kind.BRANCH_SUMMARY: _BRANCH,
    Kind.COMPACTION: _COMPACTION,
    Kind.CUSTOM: _NOTE._replace(name="stored data"),
    Kind.LABEL: _NOTE._replace(icon="label", name="label"),
    Kind.SESSION_INFO: _NOTE._replace(icon="info", name="session name"),
    Kind.MODEL_CHANGE: _NOTE._replace(icon="model", name="model change"),
    Kind.THINKING_LEVEL_CHANGE: _NOTE._replace(icon="thinking", name="thinking level change"),
    Kind.RESET_BOUNDARY: _COMPACTION._replace(icon="reset", name="context reset"),
    Kind.CONTEXT_EDIT: _NOTE._replace(icon="edit", name="context edit"),
}

_FAILED = Flag.ERROR | Flag.ABORTED
_FLAGGED = 1024
"""Kinds with their flags that are kept: a session has some dozen, which are asked for at every
paint of the map."""


@lru_cache(_FLAGGED)
def _look(kind: int, flags: int) -> _Look:
    if kind == Kind.ASSISTANT and not flags & Flag.HAS_TEXT:
        if flags & Flag.HAS_TOOL_CALL:
            return _CALL
        if flags & Flag.HAS_THINKING:
            return _THINKING
    if flags & Flag.PLACEHOLDER:
        return _PLACEHOLDER
    if kind == Kind.USER and flags & Flag.SYNTHETIC:
        return _AUTOMATIC
    if kind == Kind.CUSTOM and flags & Flag.PRUNING:
        return _PRUNE
    if kind == Kind.CUSTOM and flags & Flag.PINNING:
        return _PIN
    try:
        return _LOOKS[Kind(kind)]
    except ValueError:
        return _LOOKS[Kind.UNKNOWN]


@lru_cache(_FLAGGED)
def _has_failed(flags: int) -> bool:
    return bool(flags & _FAILED) and not flags & Flag.PLACEHOLDER


def role_token(kind: int, flags: int = 0) -> str:
    """The name of the colour token of an entry; a failed one takes the warning colour."""
    return "lost" if _has_failed(flags) else _look(kind, flags).token


def role_icon(kind: int, flags: int = 0) -> str:
    """The name of the entry's icon in the family (see ``icons``)."""
    return _look(kind, flags).icon


def role_name(kind: int, flags: int = 0) -> str:
    """The role in words, for headers, tool tips and screen readers."""
    name = _look(kind, flags).name
    if flags & Flag.ABORTED:
        return f"{name}, aborted"
    return f"{name}, failed" if _has_failed(flags) else name

"""Where a forked session comes from. opencode copies the messages under new ids, with their old
times, and records no link: the origin is the session that has the same messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from explorer.formats.json_fields import object_field, text_field
from explorer.formats.opencode.stored import Fork, Message, StoredSession, is_called

_TITLE = re.compile(r"(.*?)(?: \(fork #(\d{1,9})\))?", re.DOTALL)
_Key = tuple[object, ...]


def has_copies(session: StoredSession) -> bool:
    """Whether it holds messages from before it was created."""
    created = session.time_ms("created")
    first = session.messages[0].time_ms if session.messages else 0
    return 0 < first < created and not session.parent_id


def says_fork(session: StoredSession) -> bool:
    """Whether its title is that of a fork."""
    return _numbered(session)[1] > 0


def find_origin(
    session: StoredSession,
    others: Iterable[StoredSession],
    load: Callable[[StoredSession], Sequence[Message]],
) -> Fork | None:
    """The session that has most of the messages of a fork; None where none has any. ``load``: the
    messages of one of the others."""
    copies = {
        _key(one): one.id for one in session.messages if one.time_ms < session.time_ms("created")
    }
    best: tuple[tuple[object, ...], Fork] | None = None
    for other in others:
        if other.id == session.id or other.time_ms("created") >= session.time_ms("created"):
            continue
        found = frozenset(copies[key] for key in map(_key, load(other)) if key in copies)
        if not found:
            continue
        # A fork of a fork has the same messages as the first: its number is one higher.
        rank = len(found), _is_before(other, session), other.time_ms("created")
        if best is None or rank > best[0]:
            best = rank, Fork(other.id, found)
    return best[1] if best is not None else None


def _is_before(origin: StoredSession, fork: StoredSession) -> bool:
    (name, number), (fork_name, fork_number) = _numbered(origin), _numbered(fork)
    return name == fork_name and number + 1 == fork_number


def _numbered(session: StoredSession) -> tuple[str, int]:
    """A title without its number of a fork, and that number; 0 for none."""
    found = _TITLE.fullmatch(text_field(session.info, "title"))
    return (found[1], int(found[2] or 0)) if found else ("", 0)


def _key(message: Message) -> _Key:
    """What a message and its copy have in common. Tool results are left out: they may have been
    pruned in one of the two since."""
    texts: list[object] = []
    for part in message.parts:
        if is_called(part, "tool"):
            texts.append((text_field(part, "callID"), text_field(part, "tool")))
        elif is_called(part, "text") or is_called(part, "reasoning"):
            texts.append(text_field(part, "text"))
        elif is_called(part, "file"):
            texts.append(text_field(part, "filename"))
    model = text_field(message.info, "modelID"), object_field(message.info, "model").get("modelID")
    return str(message.info.get("role")), message.time_ms, str(model), tuple(texts)

"""What was deleted, from the log of changes that the database keeps: opencode deletes the messages
that a person took back as soon as the next prompt is sent."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from explorer.formats.json_fields import object_field, text_field
from explorer.formats.opencode.stored import Json, Message, RemovedParts, read_object


def read_event(text: str) -> Json:
    """An event's data; empty where it is no JSON object."""
    value, is_sound = read_object(text, {})
    return value if is_sound else {}


class _Logged(Struct):
    """A message as the log has it so far."""

    created_at: int
    info: Json = field(default_factory=dict)
    parts: dict[str, Json] = field(default_factory=dict)
    removed: list[tuple[int, Json]] = field(default_factory=list)
    """Parts that were deleted, each with its position in the log."""
    removed_at: int | None = None


class EventLog:
    """The changes of one session."""

    def __init__(self, events: Iterable[tuple[int, str, Json]]) -> None:
        """``events``: position, type with its version, and data of each, in order."""
        self._logged: dict[str, _Logged] = {}
        for number, name, data in events:
            self._take(number, name.rpartition(".")[0], data)

    def restore(self, messages: dict[str, Message]) -> None:
        """Add the messages and parts that were deleted, and when the others were created."""
        for message_id, logged in self._logged.items():
            there = messages.get(message_id)
            if there is not None:
                there.created_at = logged.created_at
                present = {text_field(part, "id") for part in there.parts}
                there.removed_parts = _together(logged, present)
            elif logged.removed_at is not None and logged.info:
                messages[message_id] = Message(
                    logged.info,
                    [logged.parts[name] for name in sorted(logged.parts)],
                    logged.created_at,
                    logged.removed_at,
                    _together(logged, set(logged.parts)),
                )

    def _take(self, number: int, name: str, data: Json) -> None:
        match name:
            case "message.updated":
                info = object_field(data, "info")
                self._of(number, info, "id").info = info
            case "message.part.updated":
                part = object_field(data, "part")
                self._of(number, part, "messageID").parts[text_field(part, "id")] = part
            case "message.removed":
                self._of(number, data, "messageID").removed_at = number
            case "message.part.removed":
                logged = self._of(number, data, "messageID")
                part = logged.parts.pop(text_field(data, "partID"), {})
                if part:
                    logged.removed.append((number, part))

    def _of(self, number: int, names: Json, key: str) -> _Logged:
        return self._logged.setdefault(text_field(names, key), _Logged(number))


def _together(logged: _Logged, present: set[str]) -> list[RemovedParts]:
    """Parts that were deleted one right after the other."""
    found: list[RemovedParts] = []
    last = -1
    for number, part in logged.removed:
        if text_field(part, "id") in present:
            continue
        if found and number == last + 1:
            found[-1] = RemovedParts(found[-1].at, (*found[-1].parts, part))
        else:
            found.append(RemovedParts(number, (part,)))
        last = number
    return found

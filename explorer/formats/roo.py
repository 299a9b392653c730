"""Roo Code's tasks. A compaction removes nothing from the file: it marks messages as replaced by
its own, which stands where the first message that it keeps comes next."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.formats.adapter import FoundSession, IsCancelled, Progress, ReadOnlyAdapter, Related
from explorer.formats.json_fields import compact, text_at
from explorer.formats.jsonl import BYTE_ORDER_MARK, BadLine, parse
from explorer.formats.tagged_messages import is_compaction, read_record, shows_compaction
from explorer.formats.task_folder import (
    MESSAGES,
    SHOWN,
    Cut,
    Task,
    open_task,
    read_task,
    task_folders,
    time_of_name,
)
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry
from explorer.session.json_values import time_ms
from explorer.session.records import SessionHeader, remark

_EXTENSION = "rooveterinaryinc.roo-cline"
_SIGNS = (b'"condenseParent"', b'"condenseId"', b'"truncationParent"', b'"isSummary"',
          b"<user_message>", b'"apiProtocol"', b'"contextCondense"')  # fmt: skip
"""What Roo Code writes and Cline does not."""
_TASK = "history_item.json"
_SIGN_BYTES = 1 << 20


class RooAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name, title = "roo", "Roo Code"
    unknown = ("the system prompt", "the descriptions of the tools")

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``. Cline's tasks look the same but for a few fields."""
        if path.name != MESSAGES or head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] != b"[":
            return False
        return is_roo_task(path, head)

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. A folder holds one session."""
        task = open_task(Path(path), self.title)
        item = _history_item(task.path)
        header = _header(task.path, item, task)
        cuts = _cuts_of(task)
        return TypedSource(path, header, read_task(task, cuts), progress, cancelled, task.files)

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``. A task names those that it started."""
        children = _history_item(path).get("childIds")
        names = [one for one in children if isinstance(one, str) and one == Path(one).name] \
            if isinstance(children, list) else []  # fmt: skip
        files = [path.absolute().parent.parent / one / MESSAGES for one in names]
        return [Related(one, "") for one in files if one.is_file()]

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``. A task is gone on with in the editor."""
        return ()

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``. ``XDG_CONFIG_HOME`` and ``APPDATA`` move the editors' folders."""
        found = sorted(
            task_folders(home, environment, _EXTENSION),
            key=lambda one: one[1].st_mtime,
            reverse=True,
        )
        for path, stat in found:
            header = _header(path, _history_item(path), None)
            yield FoundSession.at(path, self.name, stat, header)


ROO = RooAdapter()


def is_roo_task(path: Path, head: bytes) -> bool:
    """Whether a folder of a task is Roo Code's: by the extension's name above it, else by what
    only Roo Code writes."""
    folders = {one.lower() for one in path.absolute().parts}
    if _EXTENSION in folders or any(sign in head for sign in _SIGNS):
        return True
    try:
        with path.with_name(SHOWN).open("rb") as file:
            shown = file.read(_SIGN_BYTES).replace(b'\\"', b'"')
    except OSError:
        # A task may lie alone.
        return False
    return any(sign in shown for sign in _SIGNS)


def _history_item(path: Path) -> dict[str, Any]:
    """What newer versions write of a task as a whole."""
    try:
        value = parse(path.with_name(_TASK).read_bytes())
    except (OSError, BadLine):
        return {}
    return value if isinstance(value, dict) else {}


def _header(path: Path, item: Mapping[str, Any], task: Task | None) -> SessionHeader:
    parent = text_at(item, "parentTaskId")
    name = path.absolute().parent.name
    started = time_of_name(name)
    if task is not None and task.messages:
        started = task.time_of(0) or started
    return SessionHeader(
        name,
        ROO.name,
        0,
        text_at(item, "workspace") or (task.cwd if task is not None else ""),
        started,
        parent,
        compact(item) if item else "",
        text_at(item, "task").strip()[:200],
        "subagent" if parent else "",
    )


def _cuts_of(task: Task) -> list[Cut]:
    """The compactions of a task, each with what the editor shows of it."""
    own = {
        at: one
        for at, one in enumerate(task.messages)
        if isinstance(one, dict) and is_compaction(one)
    }
    shown = [one for one in task.shown_objects if shows_compaction(one)]
    by_id = {_shown_id(one): one for one in shown if _shown_id(one)}
    cuts: list[Cut] = []
    matched: list[Mapping[str, Any]] = []
    for at, message in own.items():
        cut = Cut(at, float(at), shown=by_id.get(_id_of(message)))
        if cut.shown is not None:
            matched.append(cut.shown)
        cuts.append(cut)
    left = [one for one in shown if not any(one is other for other in matched)]
    # Older versions gave neither an id.
    for cut in cuts:
        if cut.shown is None and not _id_of(own[cut.at]) and left and not _shown_id(left[0]):
            cut.shown = left.pop(0)
    hidden = _hidden(task, own)
    for cut in cuts:
        _find_tail(task, cut, hidden, own)
    cuts += [_cut_without_message(task, one) for one in left]
    return cuts


def _id_of(message: Mapping[str, Any]) -> str:
    return text_at(message, "condenseId") or text_at(message, "truncationId")


def _shown_id(shown: Mapping[str, Any]) -> str:
    condensed = text_at(shown, "contextCondense", "condenseId")
    return condensed or text_at(shown, "contextTruncation", "truncationId")


def _hidden(task: Task, own: Mapping[int, Mapping[str, Any]]) -> set[int]:
    """Messages that a compaction of the file stands for. Where its message was removed by a
    rewind, they are sent again."""
    ids = {_id_of(one) for one in own.values()} - {""}
    return {
        at
        for at, one in enumerate(task.messages)
        if text_at(one, "condenseParent") in ids or text_at(one, "truncationParent") in ids
    }


def _find_tail(
    task: Task, cut: Cut, hidden: set[int], own: Mapping[int, Mapping[str, Any]]
) -> None:
    """Where a compaction happened and what it keeps: the messages before it that it does not
    stand for, and those behind it that are older than it."""
    first = cut.at
    while first and first - 1 not in hidden and first - 1 not in own:
        first -= 1
    before = [at for at in range(first) if at not in hidden and at not in own]
    if before:
        reason = f"still sent of what is before the messages that it replaces: {len(before)}"
        task.problems.append(remark(cut.at + 1, reason, "message"))
    time = time_ms(cut.shown.get("ts")) if cut.shown is not None else 0.0
    last = cut.at
    while (
        last + 1 < len(task.messages) and last + 1 not in own and 0 < task.time_of(last + 1) < time
    ):
        last += 1
    cut.order = last + 0.5
    if last > cut.at:
        first = first if first < cut.at else cut.at + 1
    cut.first_kept = first if first < cut.at or last > cut.at else -1


def _cut_without_message(task: Task, shown: dict[str, Any]) -> Cut:
    """A compaction that only the editor shows: its message was taken back, or its version removed
    messages from the file. What is there is all sent."""
    time = time_ms(shown.get("ts"))
    at = -1
    for index in range(len(task.messages)):
        if 0 < task.time_of(index) < time:
            at = index
    reason = "the editor shows a compaction that no message stands for; what is there is kept"
    task.problems.append(remark(max(at, 0) + 1, reason, "message"))
    return Cut(max(at, 0), at + 0.5, 0 if at >= 0 else -1, shown, has_message=False)

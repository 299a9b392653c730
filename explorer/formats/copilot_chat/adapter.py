"""VS Code Copilot Chat: ``<User>/workspaceStorage/<hash>/chatSessions/<id>.json`` or ``.jsonl``,
and what "Chat: Export" writes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import orjson

from explorer.formats.adapter import FoundSession, IsCancelled, Progress, ReadOnlyAdapter, read_head
from explorer.formats.copilot_chat.conversation import Conversation
from explorer.formats.copilot_chat.records import read_record
from explorer.formats.copilot_chat.state import State, is_change, read_state, value_of
from explorer.formats.json_fields import object_field, text_field
from explorer.formats.jsonl import BYTE_ORDER_MARK
from explorer.formats.task_folder import editor_folders
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry
from explorer.session.json_values import time_ms
from explorer.session.records import FormatName, SessionHeader

HEAD_BYTES = 16 << 10
_LOOKED_AT = 20
"""Lines of which one has to be a change."""
_LOG = re.compile(rb'\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')
_SIGNS = (
    b'"requestId"', b'"responderUsername"', b'"requesterUsername"', b'"initialLocation"',
    b'"responderAvatarIconUri"',
)  # fmt: skip
"""Fields of a chat's document, one of which stands beside its requests."""
_CREATED = re.compile(rb'"creationDate"\s*:\s*(\d{1,16})')
_TITLE = re.compile(rb'"customTitle"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class CopilotChatAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name: FormatName = "copilot-chat"
    title: str = "VS Code Copilot Chat"
    unknown: tuple[str, ...] = ("the system prompt", "the descriptions of the tools")

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        head = head.removeprefix(BYTE_ORDER_MARK)
        lines = head.split(b"\n")
        if _LOG.match(head) or any(is_change(value_of(line)) for line in lines[:_LOOKED_AT]):
            return True
        if not head.lstrip().startswith(b"{"):
            return False
        # Lines of another agent may speak of requests, and the first of them may be cut.
        objects = (value_of(line) for line in lines[:_LOOKED_AT] if line.startswith(b"{"))
        if any(isinstance(one, dict) and "requests" not in one for one in objects):
            return False
        return (b'"requests"' in head and any(sign in head for sign in _SIGNS)) or (
            b'"responderUsername"' in head and b'"initialLocation"' in head
        )

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. A file holds one session, and is read whole before the first entry."""
        place = Path(path)
        state = read_state(place)
        conversation = Conversation(state, place.stat().st_size)
        header = self._header(place, state)
        return TypedSource(place, header, conversation.read(), progress, cancelled)

    def resume(self, header: SessionHeader) -> tuple[()]:
        """See ``Adapter``. A chat is gone on with in VS Code's window."""
        return ()

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``. Where a chat has a document and a log, the log is the newer form."""
        files: dict[str, Path] = {}
        for folder in _chat_folders(home, environment):
            for path in _listed(folder):
                known = files.get(f"{folder}/{path.stem}")
                if path.suffix == ".jsonl" or (path.suffix == ".json" and known is None):
                    files[f"{folder}/{path.stem}"] = path
        folders: dict[Path, str] = {}
        found = [one for path in files.values() if (one := self._look_at(path, folders))]
        yield from sorted(found, key=lambda one: -one.modified_ms)

    def _look_at(self, path: Path, folders: dict[Path, str]) -> FoundSession | None:
        read = read_head(path, HEAD_BYTES)
        if read is None:
            return None
        head, status = read
        if path.parent not in folders:
            folders[path.parent] = _workspace(path)
        created, title = _CREATED.search(head), _TITLE.search(head)
        header = SessionHeader(
            path.stem,
            self.name,
            1,
            folders[path.parent],
            time_ms(int(created[1])) if created else 0.0,
            "",
            "",
            str(value_of(title[1]) or "") if title else "",
        )
        return FoundSession.at(path, self.name, status, header)

    def _header(self, path: Path, state: State) -> SessionHeader:
        document = state.document
        rest = {name: document[name] for name in document if name != "requests"}
        requests = state.requests
        agents = [object_field(one, "agent") for one in reversed(requests)]
        versions = [text_field(one, "extensionVersion") for one in agents]
        began = document.get("creationDate")
        if began is None and requests:
            began = requests[0].get("timestamp")
        return SessionHeader(
            text_field(document, "sessionId") or path.stem,
            self.name,
            1,
            _workspace(path),
            time_ms(began),
            "",
            orjson.dumps(rest).decode(),
            text_field(document, "customTitle") or text_field(document, "computedTitle"),
            agent_version=next((one for one in versions if one), ""),
        )


def _workspace(path: Path) -> str:
    """The folder that a chat's window had open; empty where none is recorded."""
    try:
        value = value_of((path.parent.parent / "workspace.json").read_bytes())
    except OSError:
        return ""
    address = text_field(value, "folder") or text_field(value, "workspace")
    try:
        place = unquote(urlsplit(address).path)
    except ValueError:
        return ""
    # file:///c:/src is a drive of Windows.
    return place[1:] if re.match(r"/[A-Za-z]:", place) else place


def _chat_folders(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    for user in editor_folders(home, environment):
        yield user / "globalStorage" / "emptyWindowChatSessions"
        for workspace in _listed(user / "workspaceStorage"):
            yield workspace / "chatSessions"


def _listed(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return sorted(Path(one.path) for one in found)
    except OSError:
        return []


COPILOT_CHAT = CopilotChatAdapter()

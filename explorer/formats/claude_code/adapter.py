"""Claude Code as a format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.formats.adapter import FoundSession, IsCancelled, Progress, ReadOnlyAdapter, Related
from explorer.formats.claude_code import neighbours
from explorer.formats.claude_code.recognition import find_sessions, recognises
from explorer.formats.claude_code.records import read_record, read_usage_of
from explorer.formats.claude_code.source import (
    FORMAT,
    agent_threads,
    open_session,
    own_session_id,
)
from explorer.formats.claude_code.survey import Surveyor
from explorer.formats.typed_source import TypedSource
from explorer.session.entries import Entry, TokenUsage
from explorer.session.records import FormatName, SessionHeader

_SIDECHAIN = (b'"isSidechain":true', b'"isSidechain": true')


@dataclass(frozen=True, slots=True)
class ClaudeCodeAdapter(ReadOnlyAdapter):
    """An ``Adapter``."""

    name: FormatName = FORMAT
    title: str = "Claude Code"
    unknown: tuple[str, ...] = (
        "the system prompt",
        "the descriptions of the tools",
        "the wording of reminders",
    )

    def recognises(self, path: Path, head: bytes) -> bool:
        """See ``Adapter``."""
        return recognises(head)

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        """See ``Adapter``. ``session_id`` names an agent whose records stand among the session's,
        by its id or that of its first record. Raises ReadCancelled too."""
        return open_session(Path(path), progress, cancelled, session_id)

    def related(self, path: Path, session_id: str = "") -> Sequence[Related]:
        """See ``Adapter``."""
        if neighbours.is_agent_file(path):
            return ()
        own_id = own_session_id(path, neighbours.first_text(path, "sessionId"), "")
        found = [
            Related(one, own_session_id(one, "", neighbours.first_text(one, "agentId")))
            for one in neighbours.agent_files(path, own_id)
        ]
        if neighbours.holds(path, _SIDECHAIN):
            found += (Related(path, one) for one in agent_threads(Surveyor().read(path)))
        return [one for one in found if not session_id or one.session_id != session_id]

    def resume(self, header: SessionHeader) -> Sequence[str]:
        """See ``Adapter``. An agent that another session started is not gone on with by itself."""
        if header.relation in ("subagent", "compactor"):
            return ()
        return ("claude", "--resume", header.session_id)

    def read(self, record: str | bytes) -> Entry:
        """See ``Adapter``."""
        return read_record(record)

    def usage(self, record: str, context: int) -> TokenUsage | None:
        """See ``Adapter``."""
        return read_usage_of(record)

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        """See ``Adapter``."""
        return find_sessions(home, environment)


CLAUDE_CODE = ClaudeCodeAdapter()

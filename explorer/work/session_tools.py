"""The agent's tools for an opened session: its folder of outputs, and what it may read besides."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from explorer.agent.approval import Approvals
from explorer.agent.tools.workspace_tools import WorkspaceTools
from explorer.agent.workspace import Workspace
from explorer.work.document import Document
from explorer.work.origins import ancestors_of
from explorer.work.transcript import Transcripts, transcripts_of

FOLDER = "outputs"
_UNSAFE = re.compile(r"[^\w.-]+")


def outputs_folder(database: Path, session_id: str) -> Path:
    """The folder of a session's whole outputs, beside the database; it need not exist."""
    name = _UNSAFE.sub("-", session_id).strip(".")[:80] or "session"
    return database.resolve().parent / FOLDER / name


def remove_outputs(database: Path, session_id: str) -> None:
    """Delete a session's whole outputs. Raises OSError for what cannot be."""
    folder = outputs_folder(database, session_id)
    if folder.is_dir():
        shutil.rmtree(folder)


def readable(document: Document) -> Callable[[Path], bool]:
    """Says of a resolved path outside of the workspace whether the agent may read it: what a
    summary points to (A51). A fork's summaries point to what its origin wrote."""
    own = transcripts_of(document).is_own
    if not document.header.parent_session:
        return own
    database, store = document.store.path, document.store
    above = [row.session_id for row in ancestors_of(document.row, store.sessions())]
    written = [Transcripts(database, session_id) for session_id in above]
    outputs = [outputs_folder(database, session_id) for session_id in above]

    def may_read(path: Path) -> bool:
        if own(path) or any(transcripts.is_own(path) for transcripts in written):
            return True
        return any(path.is_relative_to(folder) for folder in outputs) and path.is_file()

    return may_read


def tools_of(
    document: Document,
    workspace: Workspace,
    approvals: Approvals,
    environment: Mapping[str, str] | None = None,
) -> WorkspaceTools:
    """The tools of a session in a folder. To be kept as long as the session is open: they know
    what the model has read, and ``approvals`` what was allowed.

    ``environment``: what commands are given a clean part of; by default this process's.
    """
    workspace = workspace.with_reading(readable(document))
    outputs = outputs_folder(document.store.path, document.header.session_id)
    return WorkspaceTools(workspace, approvals, outputs, environment)

"""The agent's tools for an opened session: its folder of outputs, and what it may read besides."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from explorer.agent.approval import Approvals
from explorer.agent.tools.box import WorkspaceTools
from explorer.agent.workspace import Workspace
from explorer.work.document import Document
from explorer.work.transcript import transcripts_of

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
    # What a summary points to can be read, wherever the database is (A51).
    workspace = workspace.with_reading(transcripts_of(document).is_own)
    outputs = outputs_folder(document.store.path, document.header.session_id)
    return WorkspaceTools(workspace, approvals, outputs, environment)

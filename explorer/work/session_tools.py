"""The agent's tools for an opened session: its folder of outputs, and what it may read besides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from explorer.agent.approval import Approvals
from explorer.agent.tools.box import WorkspaceTools
from explorer.agent.workspace import Workspace
from explorer.work.document import Document
from explorer.work.transcript import transcripts_of

FOLDER = "outputs"
_UNSAFE = re.compile(r"[^\w.-]+")


def outputs_of(document: Document) -> Path:
    """The folder of a session's whole outputs, beside the database; it need not exist."""
    name = _UNSAFE.sub("-", document.header.session_id).strip(".")[:80] or "session"
    return document.store.path.resolve().parent / FOLDER / name


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
    return WorkspaceTools(workspace, approvals, outputs_of(document), environment)

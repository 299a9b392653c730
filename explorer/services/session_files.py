"""Files beside the database that belong to a session: transcripts, whole outputs, sandboxes.

A transcript is the whole conversation up to where it was written, entry by entry, as text with line
numbers that a tool can read parts of; a summary points to it (A51). It is written whole or not at
all. What the agent may read outside of its workspace is these files.
"""

from __future__ import annotations

import glob
import json
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from explorer import private_files
from explorer.agent.approval import Approvals
from explorer.agent.tools.workspace_tools import WorkspaceTools
from explorer.agent.workspace import Workspace
from explorer.compaction.templates import fill
from explorer.models.offline.scenario import Scenario
from explorer.services.document import Document
from explorer.services.related_sessions import ancestors_of
from explorer.session.entries import (
    AssistantMessage,
    Block,
    Body,
    BranchSummary,
    CompactionSummary,
    Entry,
    FilesMessage,
    ImageBlock,
    Label,
    ModelChange,
    SessionName,
    ShellMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UnknownBlock,
)
from explorer.session.records import Payloads
from explorer.session.text import well_formed
from explorer.session.tree import SessionTree
from explorer.settings import paths

TRANSCRIPTS = "transcripts"
OUTPUTS = "outputs"
SANDBOXES = "sandboxes"
_SETTINGS = (".session-explorer", "settings.json")
_SETTINGS_COMMENT = (
    "// A small window, so that a short run grows too long for it. The file belongs to this\n"
    "// sandbox alone; delete the folder whenever you like.\n"
)
READ_TOOL = "read"
_AT_ONCE = 256
_UNSAFE = re.compile(r"[^\w.-]+")
_SEPARATOR = "~"
"""In no session's name, so that its files cannot be confused with another's."""


class Transcript(Struct, frozen=True):
    """A transcript that was written."""

    path: Path
    lines: int


class Transcripts:
    """The transcripts of one session. Blocks; meant for a worker thread."""

    def __init__(self, database: Path, session_id: str) -> None:
        self.folder = database.resolve().parent / TRANSCRIPTS
        self._name = _UNSAFE.sub("-", session_id)[:80] or "session"

    def place(self, tree: SessionTree, leaf: int) -> Path:
        """The file of the branch that a leaf is on.

        One file per branch: a longer path of the same branch takes its place, and what an earlier
        summary says of the earlier lines stays true; another branch has another file.
        """
        path = tree.path(leaf)
        start = 0
        for part in reversed(path.ranges):
            forked = [at for at in part if len(tree.children(tree.columns.parent[at])) > 1]
            if forked:
                start = path.position(forked[-1])
                break
        first = tree.columns.ids[path[start]] if len(path) else "empty"
        return self.folder / f"{self._name}{_SEPARATOR}{_UNSAFE.sub('-', first)[:40]}.txt"

    def write(self, tree: SessionTree, payloads: Payloads, leaf: int) -> Transcript:
        """Write the path to ``leaf``. Raises OSError, and then the old file is as it was."""
        place = self.place(tree, leaf)
        paths.ensure(self.folder)
        lines = 0
        with private_files.replacement(place) as file:
            for line in _lines(tree, payloads, leaf):
                file.write(f"{line}\n".encode())
                lines += 1
        return Transcript(place, lines)

    def is_transcript(self, path: Path) -> bool:
        """Whether a resolved path is a transcript of this session: the one thing outside a
        workspace that the agent may read."""
        name = path.name
        return (
            path.parent == self.folder
            and name.startswith(f"{self._name}{_SEPARATOR}")
            and name.endswith(".txt")
            and path.is_file()
        )

    def remove(self) -> None:
        """Delete them all. Raises OSError for one that cannot be."""
        for path in self.folder.glob(f"{glob.escape(self._name)}{_SEPARATOR}*.txt"):
            path.unlink(missing_ok=True)


def transcripts_of(document: Document) -> Transcripts:
    """The transcripts of an opened session."""
    return Transcripts(document.shared.store.path, document.header.session_id)


def with_breadcrumb(summary: str, transcript: Transcript, words: str) -> str:
    """A summary with a pointer to what it leaves out. Added once, when the summary is made, so that
    a cached prompt with the summary stays valid."""
    path = str(transcript.path)
    example = f"{READ_TOOL}({json.dumps({'path': path, 'offset': 1, 'limit': 200})})"
    breadcrumb = fill(
        words,
        {"path": path, "lines": f"{transcript.lines}", "tool": READ_TOOL, "example": example},
    )
    return f"{summary}\n\n{breadcrumb}"


def _lines(tree: SessionTree, payloads: Payloads, leaf: int) -> Iterator[str]:
    entries = tree.path(leaf).indices()
    for start in range(0, len(entries), _AT_ONCE):
        part = entries[start : start + _AT_ONCE]
        for at, entry in zip(part, payloads.entries(part), strict=True):
            for text in _entry_texts(at, tree.columns.time[at], entry):
                # One line end only: what counts lines counts these.
                yield from (well_formed(line) for line in text.split("\n"))


def _entry_texts(at: int, time_ms: float, entry: Entry) -> Iterator[str]:
    """An entry in blocks of text, the first of them its heading."""
    body = entry.body
    who = entry.kind.name.lower().replace("_", " ")
    title = f"{who} {body.tool}" if isinstance(body, ToolResultMessage) else who
    yield f"=== #{at} {title}, {_when(time_ms)}"
    for name, text in _fields(body):
        if text:
            yield _plain(f"{name}: {text}")
    for block in entry.content:
        if text := _block_text(block):
            yield _plain(text)


def _fields(body: Body) -> Iterator[tuple[str, str]]:
    match body:
        case CompactionSummary() | BranchSummary() | SummaryMessage():
            yield "summary", body.summary
        case ShellMessage():
            yield from (("command", body.command), ("output", body.output))
        case AssistantMessage():
            yield "error", body.error
        case Label():
            yield "label", body.text
        case SessionName():
            yield "name", body.name
        case ModelChange():
            yield "model", body.model
        case FilesMessage():
            for file in body.files:
                yield file.path, file.content


def _block_text(block: Block) -> str:
    match block:
        case TextBlock(text):
            return text
        case ThinkingBlock():
            return f"[thinking] {block.text}" if block.text else ""
        case ToolCallBlock():
            return f"[calls {block.name}] {json.dumps(block.arguments, ensure_ascii=False)}"
        case ImageBlock():
            return "[image]"
        case UnknownBlock():
            return f"[{block.type}]" if block.type else ""


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _when(time_ms: float) -> str:
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"


# outputs of the agent's tools --------------------------------------------------------------------


def outputs_folder(database: Path, session_id: str) -> Path:
    """The folder of a session's whole outputs, beside the database; it need not exist."""
    name = _UNSAFE.sub("-", session_id).strip(".")[:80] or "session"
    return database.resolve().parent / OUTPUTS / name


def remove_outputs(database: Path, session_id: str) -> None:
    """Delete a session's whole outputs. Raises OSError for what cannot be."""
    folder = outputs_folder(database, session_id)
    if folder.is_dir():
        shutil.rmtree(folder)


def readable(document: Document) -> Callable[[Path], bool]:
    """Says of a resolved path outside of the workspace whether the agent may read it: what a
    summary points to (A51). A fork's summaries point to what its origin wrote."""
    is_transcript = transcripts_of(document).is_transcript
    if not document.header.parent_session:
        return is_transcript
    database, store = document.shared.store.path, document.shared.store
    above = [row.session_id for row in ancestors_of(document.row, store.sessions())]
    written = [Transcripts(database, session_id) for session_id in above]
    outputs = [outputs_folder(database, session_id) for session_id in above]

    def may_read(path: Path) -> bool:
        if is_transcript(path) or any(transcripts.is_transcript(path) for transcripts in written):
            return True
        return any(path.is_relative_to(folder) for folder in outputs) and path.is_file()

    return may_read


def tools_of(
    document: Document,
    workspace: Workspace,
    approvals: Approvals,
) -> WorkspaceTools:
    """The tools of a session in a folder. To be kept as long as the session is open: they know
    what the model has read, and ``approvals`` what was allowed."""
    workspace = workspace.with_reading(readable(document))
    outputs = outputs_folder(document.shared.store.path, document.header.session_id)
    return WorkspaceTools(workspace, approvals, outputs)


# sandboxes of scripted runs ----------------------------------------------------------------------


def make_sandbox(scenario: Scenario, below: Path | None = None) -> Path:
    """Write a scenario's files into a folder that nothing else is in, and return it.

    ``below``: where the folder is made, by default in the program's data folder. Raises OSError.
    """
    base = paths.ensure(below if below is not None else paths.data_dir() / SANDBOXES)
    folder = _new_folder(base, scenario.name)
    for name, text in scenario.files.items():
        _write_text(folder.joinpath(*name.split("/")), text)
    if scenario.settings:
        settings = json.dumps(scenario.settings, indent=2)
        _write_text(folder.joinpath(*_SETTINGS), f"{_SETTINGS_COMMENT}{settings}\n")
    return folder.resolve()


def _new_folder(base: Path, name: str) -> Path:
    """A new folder: the name, or the name with the next number."""
    number = 1
    while True:
        folder = base / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
            continue
        return folder


def _write_text(path: Path, text: str) -> None:
    paths.ensure(path.parent)
    # Line ends as they are in the script on every system: edits name them exactly.
    private_files.write(path, text.encode())

"""A session written to a file: in its agent's form, in pi's, or as a transcript to be read.

Blocks: all of it is meant for a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from explorer import private_files
from explorer.formats.adapter import FormatError
from explorer.formats.pi.export import ExportError, ExportReport, LeafMark, Line, export_session
from explorer.formats.pi.header import VERSION
from explorer.formats.registry import adapter_of, open_source, original_file, pi_lines
from explorer.installed import version
from explorer.services.open_session import OpenedSession
from explorer.services.privacy import MaskedPayloads
from explorer.services.transcript import (
    Numbered,
    Stretch,
    TranscriptForm,
    TranscriptHead,
    transcript,
)
from explorer.session.secrets import mask
from explorer.session.tree import SessionTree
from explorer.settings import paths
from explorer.store.rows import SourceFile

ExportForm = Literal["original", "pi-v3", "markdown", "html"]
FORMS: tuple[ExportForm, ...] = ("original", "pi-v3", "markdown", "html")
_SUFFIXES: dict[str, ExportForm] = {
    ".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html",
}  # fmt: skip
_AT_ONCE = 256
"""Entries read in one go."""

OnEntries = Callable[[int], None]
"""Called in the worker with the entries that are written."""


def form_of_file(path: Path) -> ExportForm:
    """The form that a file's suffix names."""
    return _SUFFIXES.get(path.suffix.lower(), "original")


def changed_form(opened: OpenedSession) -> ExportForm:
    """The form of a session to which something was added here: its own where that has a place for
    it, else pi's. A file of version 1 holds one chain without ids."""
    is_own = adapter_of(opened.header.format).writes and opened.header.version != 1
    return "original" if is_own else "pi-v3"


def secrets_note(report: ExportReport) -> str:
    """What became of secrets in a file that was written, as a sentence; empty where there were
    none."""
    if report.masked is None:
        return "It is as it was recorded, with whatever secrets it holds."
    if not report.masked:
        return ""
    entries = "one entry" if report.masked == 1 else f"{report.masked:,} entries"
    return f"Secrets in {entries} are masked."


def write_session(
    opened: OpenedSession,
    path: Path,
    form: ExportForm,
    mark: LeafMark,
    progress: OnEntries | None = None,
    *,
    whole: bool = False,
) -> ExportReport:
    """Write a session, whole or not at all. ``mark``: where an agent that reads the file shall go
    on; a transcript is that of the path to it, or with ``whole`` of all branches.

    Raises ExportError, StoreError, OSError.
    """
    try:
        if form == "markdown" or form == "html":
            leaf = opened.tree.index_of(mark.leaf_id) if mark.leaf_id else -1
            return _write_transcript(opened, path, form, leaf, progress, whole=whole)
        lines, header = opened.shared.store.lines(opened.key), opened.header
        masks = form == "pi-v3" and opened.shared.privacy.mask_exports
        if not adapter_of(header.format).writes:
            if form == "original":
                return _write_original(opened, path)
            lines = pi_lines(header.format, lines)
            header = replace(header, format="pi", version=VERSION, raw="")
        masked = MaskedLines(lines if masks else ())
        report = export_session(
            masked if masks else lines, header, path, form, leaf=mark, progress=progress
        )
        return replace(report, masked=masked.count) if masks else report
    except OSError as error:
        # It may name the temporary file beside the one that the person named.
        raise OSError(error.errno, error.strerror, str(path)) from error


class MaskedLines:
    """The lines of a session with secrets masked; ``count``: in how many there were some."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[Line]:
        for number, line in self._lines:
            text = line.decode("utf-8", "surrogateescape") if isinstance(line, bytes) else line
            masked = mask(text)
            if masked is text:
                yield number, line
                continue
            self.count += 1
            is_aside = isinstance(line, bytes)
            yield number, masked.encode("utf-8", "surrogateescape") if is_aside else masked


# in the agent's form ------------------------------------------------------------------------------


def original_problem(opened: OpenedSession) -> str:
    """Why a session cannot be written as it was imported; empty where it can be. Reads all of a
    session of a format that is only read. Raises StoreError."""
    if adapter_of(opened.header.format).writes:
        return ""
    try:
        _original(opened)
    except ExportError as error:
        return str(error)
    return ""


def _original(opened: OpenedSession) -> bytes:
    """The file that a session was imported from: itself, where it is as it was, or put together
    again. Raises ExportError, StoreError."""
    store, key, header = opened.shared.store, opened.key, opened.header
    source = store.source_file(key)
    try:
        if source is None or store.has_additions(key):
            raise ValueError("entries were added here, which no other program could read")
        if (found := _unchanged(source, header.session_id)) is not None:
            return found
        return original_file(header.raw, store.lines(key), source.size)
    except ValueError as error:
        agent = adapter_of(header.format).title
        reason = f"The session cannot be written as {agent} wrote it: {error}"
        raise ExportError(f"{reason}; export it as pi-v3, markdown or html") from error


def _unchanged(source: SourceFile, session_id: str) -> bytes | None:
    """A file of lines that is as it was when it was read; None for any other, or none, and for the
    file of a session that started this one."""
    path = Path(source.path)
    if path.suffix.lower() != ".jsonl":
        return None
    try:
        stamp = path.stat()
        is_same = (stamp.st_size, stamp.st_mtime_ns) == (source.size, source.mtime_ns)
        if not is_same or open_source(path).header.session_id != session_id:
            return None
        data = path.read_bytes()
    except (OSError, FormatError):
        return None  # It has gone: what is stored may still be all of it.
    return data if len(data) == source.size else None


def _write_original(opened: OpenedSession, path: Path) -> ExportReport:
    private_files.write(path, _original(opened), keeps_mode=True)
    return ExportReport(str(path), entries=len(opened.tree))


# as a transcript ----------------------------------------------------------------------------------


def _write_transcript(
    opened: OpenedSession,
    path: Path,
    form: TranscriptForm,
    leaf: int,
    progress: OnEntries | None,
    *,
    whole: bool,
) -> ExportReport:
    tree = opened.tree
    on_path = tree.path(leaf).indices() if leaf >= 0 else []
    lists = [("The active path", on_path)]
    if whole:
        lists += _branches(tree, on_path)
    report = ExportReport(str(path))
    payloads = MaskedPayloads(opened.payloads.stored, lambda: opened.shared.privacy.mask_exports)

    def read(entries: Sequence[int]) -> Iterator[Numbered]:
        for at in range(0, len(entries), _AT_ONCE):
            part = entries[at : at + _AT_ONCE]
            yield from map(Numbered, part, payloads.entries(part))
            report.entries += len(part)
            if progress is not None:
                progress(report.entries)

    stretches = (Stretch(title, read(entries)) for title, entries in lists)
    head = _head(opened, [at for _, entries in lists for at in entries], whole=whole)
    with private_files.replacement(path, keeps_mode=True) as file:
        for piece in transcript(form, head, stretches, _templates()):
            file.write(piece.encode("utf-8"))
        file.write(b"\n")
    if opened.shared.privacy.mask_exports:
        report.masked = len(payloads.masked)
    return report


def _branches(tree: SessionTree, on_path: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Of every other leaf, in their order: what no branch before it has."""
    shown = set(on_path)
    for leaf in tree.leaves():
        part: list[int] = []
        at = leaf
        while at >= 0 and at not in shown:
            shown.add(at)
            part.append(at)
            at = tree.columns.parent[at]
        if part:
            origin = f"A branch that leaves at #{at}" if at >= 0 else "A branch from the start"
            yield origin, part[::-1]


def _head(opened: OpenedSession, entries: Sequence[int], *, whole: bool) -> TranscriptHead:
    header, adapter = opened.header, adapter_of(opened.header.format)
    times = [time for at in entries if (time := opened.tree.columns.time[at]) > 0]
    return TranscriptHead(
        title=opened.title,
        agent=f"{adapter.title} {header.agent_version}".strip(),
        session_id=header.session_id,
        folder=header.cwd,
        scope="All branches" if whole else "The active path",
        entries=len(entries),
        entries_in_all=len(opened.tree),
        begun_ms=min(times, default=0.0),
        ended_ms=max(times, default=0.0),
        unknown=tuple(adapter.unknown),
        asides=len(opened.shared.store.asides(opened.key)),
        program=f"Session Explorer {version()}",
    )


@cache
def _templates() -> dict[str, str]:
    """The templates of transcripts by file name, and the style sheet of the report."""
    found = {file.name: file.read_text("utf-8") for file in paths.resource("transcript").iterdir()}
    return found | {"style.css": paths.resource("report", "style.css").read_text("utf-8")}

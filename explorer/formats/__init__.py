"""The session files of other agents: what they are, reading them, and writing them back."""

from __future__ import annotations

from explorer.formats.entries import new_entry, new_id
from explorer.formats.errors import FormatError, ReadCancelled
from explorer.formats.export import ExportError, ExportReport, LeafMark, export_session
from explorer.formats.recognition import FoundSession, discover
from explorer.formats.source import FileSource, open_source

__all__ = [
    "ExportError",
    "ExportReport",
    "FileSource",
    "FormatError",
    "FoundSession",
    "LeafMark",
    "ReadCancelled",
    "discover",
    "export_session",
    "new_entry",
    "new_id",
    "open_source",
]

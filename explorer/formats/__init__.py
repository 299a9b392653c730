"""The session files of agents: recognising, finding and reading them, and writing them back."""

from __future__ import annotations

from explorer.formats.adapter import Adapter, FormatError, FoundSession, ReadCancelled
from explorer.formats.pi.entry_writer import new_id
from explorer.formats.pi.export import ExportError, ExportReport, LeafMark, export_session
from explorer.formats.registry import (
    adapter_of,
    discover,
    entry_json,
    open_source,
    read_record,
    write_record,
)
from explorer.formats.typed_source import entry_record

__all__ = [
    "Adapter",
    "ExportError",
    "ExportReport",
    "FormatError",
    "FoundSession",
    "LeafMark",
    "ReadCancelled",
    "adapter_of",
    "discover",
    "entry_json",
    "entry_record",
    "export_session",
    "new_id",
    "open_source",
    "read_record",
    "write_record",
]

"""The session files of other agents: what they are, reading them, and writing them back."""

from __future__ import annotations

from explorer.formats.errors import FormatError, ReadCancelled
from explorer.formats.source import FileSource, open_source

__all__ = ["FileSource", "FormatError", "ReadCancelled", "open_source"]

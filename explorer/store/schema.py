"""What names entries in the tables, and the version of their layout; ``tables`` describes them.

An entry's row and its payload are named by one integer, ``key << 32 | index``: the session's
entries lie together in index order, and both tables are plain B-trees without a second index.
Payloads have a separate table so that reading the rows does not touch them.
"""

from __future__ import annotations

APPLICATION_ID = 0x53457870
"""Marks a file as ours, in SQLite's header ("SExp")."""
SCHEMA_VERSION = 7
"""In SQLite's ``user_version``; see ``migrations`` for what each version brought."""
PAGE_SIZE = 16384
INDEX_BITS = 32


def row_id(key: int, index: int) -> int:
    """The integer that names an entry in the tables."""
    return key << INDEX_BITS | index


def id_range(key: int, first: int = 0) -> tuple[int, int]:
    """The least and the largest of the integers that name a session's entries from an index on."""
    return row_id(key, first), row_id(key, (1 << INDEX_BITS) - 1)

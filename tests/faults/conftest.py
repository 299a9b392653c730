"""The store's own fixtures serve here too."""

from __future__ import annotations

from tests.store.conftest import database, indexed, store

__all__ = ["database", "indexed", "store"]

"""What the tests of the project's own files share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.project.sources import python_files, tree


@pytest.fixture(autouse=True, scope="package")
def syntax_trees() -> Iterator[None]:
    """Let go of the syntax trees at the end: they are two million objects, which the collector
    would go through for the rest of the run."""
    yield
    tree.cache_clear()
    python_files.cache_clear()

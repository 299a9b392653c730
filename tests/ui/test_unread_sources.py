"""What Qt's binding leaves alone."""

from __future__ import annotations

import linecache
import sys
from importlib import import_module
from pathlib import Path

import pytest

from ui.app import leave_sources_unread


def test_the_source_of_what_is_imported_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_sources_unread()
    for name in ("imported_by_import", "imported_by_name"):
        (tmp_path / f"{name}.py").write_text("ONE = 1\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import imported_by_import  # type: ignore[import-not-found]

    read = {Path(name).stem for name in linecache.cache}
    assert imported_by_import.ONE == import_module("imported_by_name").ONE
    assert not read & {"imported_by_import", "imported_by_name"}
    for name in ("imported_by_import", "imported_by_name"):
        del sys.modules[name]

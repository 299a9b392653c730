"""The colours of code."""

from __future__ import annotations

from ui.inspector.code import spans


def test_code_is_coloured_by_language_or_file_name() -> None:
    python = spans("def f():\n    return 'x'  # no", "python")
    assert {name for _, _, name in python} >= {"think", "user", "tool", "dim"}
    assert spans("def f(): pass", path="src/a.py")
    assert spans("plain", "no-such-language") == []
    assert spans("def f(): pass\n" * 10_000, "python") == []

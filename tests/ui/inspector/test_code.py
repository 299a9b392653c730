"""The colours of code."""

from __future__ import annotations

from pygments.lexers import find_lexer_class_for_filename, get_all_lexers

from ui.inspector.code import lexer_class, spans


def test_code_is_coloured_by_language_or_file_name() -> None:
    python = spans("def f():\n    return 'x'  # no", "python")
    assert {name for _, _, name in python} >= {"think", "user", "tool", "dim"}
    assert spans("def f(): pass", path="src/a.py")
    assert spans("plain", "no-such-language") == []
    assert spans("def f(): pass\n" * 10_000, "python") == []


def test_a_file_is_read_by_the_lexer_that_pygments_takes_for_it() -> None:
    patterns = {pattern for _, _, found, _ in get_all_lexers(plugins=False) for pattern in found}
    names = {pattern.replace("*", "a") for pattern in patterns} | {"a.unknown", "b.x1", "a.1"}
    for name in names:
        assert lexer_class(name) is find_lexer_class_for_filename(name), name

"""A command line taken apart into its simple commands, so that each can be held to a pattern.

Only what is proved plain is taken apart: words of the signs below, quoted text that stands for
itself, and redirections that write to no file. Nothing that a shell expands, assigns, groups,
repeats, comments out or sends to the background is; such a line is one that no pattern speaks of.
"""

from __future__ import annotations

import re

_BARE = r"[A-Za-z0-9_@%+=:,./-]"
"""What no shell gives a meaning to, wherever in a word it stands."""
_SINGLE = r"'[\t\n -&(-~\u00a1-\u2027\u2030-\ud7ff\ue000-\U0010ffff]*'"
"""No control signs; other characters than ASCII only here, since in some encodings one of their
bytes is that of a backslash, which double quotes give a meaning to, but never that of a quote."""
_DOUBLE = r'"[\t\n #%-\[\]-_a-~]*"'
_WORD = rf"(?:{_BARE}|{_SINGLE}|{_DOUBLE})+"
_REDIRECTION = r"(?:[12]?> ?/dev/null|2>&1|1>&2)"
_COMMAND = rf"{_WORD}(?:[ \t]+(?:{_REDIRECTION}|{_WORD}))*"
_SEPARATOR = r"(?:&&|\|\|?|;|\n)"
_LINE = re.compile(rf"{_COMMAND}(?:[ \t]*{_SEPARATOR}[ \t\n]*{_COMMAND})*(?:[ \t]*;)?")
_TOKEN = re.compile(rf"({_SEPARATOR})|{_REDIRECTION}|({_WORD})")
_PIECE = re.compile(rf"{_BARE}+|{_SINGLE}|{_DOUBLE}")
_RESERVED = frozenset({
    "if", "then", "elif", "else", "fi", "for", "in", "select", "while", "until", "do", "done",
    "case", "esac", "function", "time", "coproc",
})  # fmt: skip


def simple_commands(line: str) -> list[list[str]] | None:
    """The words of each command of a line, without their quotes; None where it is not plain."""
    line = line.strip(" \t\n")
    if not _LINE.fullmatch(line):
        return None
    commands: list[list[str]] = [[]]
    for separator, word in _TOKEN.findall(line):
        if separator:
            commands.append([])
        elif word:
            commands[-1].append(_unquoted(word))
    found = [words for words in commands if words]
    return found if all(_is_program(words[0]) for words in found) else None


def _unquoted(word: str) -> str:
    pieces = _PIECE.findall(word)
    return "".join(piece[1:-1] if piece[0] in "'\"" else piece for piece in pieces)


def _is_program(word: str) -> bool:
    """Whether a first word names a program: no assignment, option, job or word of the grammar."""
    return "=" not in word and word[:1] not in ("-", "+", "%", "") and word not in _RESERVED

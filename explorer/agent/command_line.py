"""A command line taken apart into its simple commands, so that each can be held to a pattern.

Only what is understood for certain is taken apart. What a shell could read in another way (a
redirection, a comment, a variable set for one command, ``${...}``, a here document) makes the line
one that no pattern speaks of.
"""

from __future__ import annotations

import re

PUT_IN = "\0"
"""Stands in a word for what the shell puts in when it runs; no pattern holds it."""
BECOMES_FILES = "\1"
"""Stands in a word before a sign that the shell makes names of: quoted, it is another word."""

_HARMLESS = re.compile(r"(?:[12&]?>[ \t]*/dev/null|2>&1|1>&2)(?=$|[\s;&|)])")
"""Redirections that write to no file."""
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
_DEEPEST = 8
_MADE_TO_NAMES = "*?[{~"
_ESCAPED_IN_QUOTES = '"\\$`'


class _NotUnderstood(Exception):
    """The line is not taken apart."""


def simple_commands(line: str) -> list[list[str]] | None:
    """The words of each command of a line, those in ``$(...)`` too; None where it is not certain.

    Words come without their quotes, with ``PUT_IN`` for ``$NAME`` and ``$(...)`` and with
    ``BECOMES_FILES`` before signs such as ``*``.
    """
    if any(sign in line for sign in ("\0", "\1", "\r", "\\\n")):
        return None
    scan = _Scan(line)
    try:
        scan.commands(until="", depth=0)
    except _NotUnderstood:
        return None
    return scan.found


class _Words:
    """The words of a command while they are read."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.pieces: list[str] | None = None

    def add(self, piece: str) -> None:
        if self.pieces is None:
            self.pieces = []
        self.pieces.append(piece)

    def end(self) -> None:
        if self.pieces is not None:
            self.done.append("".join(self.pieces))
            self.pieces = None


class _Scan:
    """One pass over a line."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self.found: list[list[str]] = []

    def commands(self, until: str, depth: int) -> None:
        """Read commands up to ``until``, which is taken too, or to the end of the line."""
        if depth > _DEEPEST:
            raise _NotUnderstood
        words = _Words()
        while self._at < len(self._line):
            sign = self._line[self._at]
            if sign == until:
                self._at += 1
                self._end_command(words)
                return
            if redirection := _HARMLESS.match(self._line, self._at):
                if words.pieces is not None and sign in "12":
                    # After a letter the number belongs to the word.
                    raise _NotUnderstood
                words.end()
                self._at = redirection.end()
            elif sign in ";\n&|":
                self._at += 1
                self._end_command(words)
                words = _Words()
            elif sign in " \t":
                self._at += 1
                words.end()
            else:
                self._piece(sign, words, depth)
        if until:
            raise _NotUnderstood
        self._end_command(words)

    def _end_command(self, words: _Words) -> None:
        words.end()
        if words.done:
            if _ASSIGNMENT.match(words.done[0]):
                raise _NotUnderstood
            self.found.append(words.done)

    def _piece(self, sign: str, words: _Words, depth: int) -> None:
        if sign in "<>()`" or (sign == "#" and words.pieces is None):
            raise _NotUnderstood
        if sign == "'":
            end = self._line.find("'", self._at + 1)
            if end < 0:
                raise _NotUnderstood
            words.add(self._line[self._at + 1 : end])
            self._at = end + 1
        elif sign == '"':
            self._at += 1
            words.add("")
            self._quoted(words, depth)
        elif sign == "\\":
            if self._at + 1 == len(self._line):
                raise _NotUnderstood
            words.add(self._line[self._at + 1])
            self._at += 2
        elif sign == "$":
            self._put_in(words, depth, quoted=False)
        else:
            words.add(BECOMES_FILES + sign if sign in _MADE_TO_NAMES else sign)
            self._at += 1

    def _quoted(self, words: _Words, depth: int) -> None:
        while self._at < len(self._line):
            sign = self._line[self._at]
            after = self._line[self._at + 1 : self._at + 2]
            if sign == '"':
                self._at += 1
                return
            if sign == "`":
                raise _NotUnderstood
            if sign == "$":
                self._put_in(words, depth, quoted=True)
            elif sign == "\\" and after and after in _ESCAPED_IN_QUOTES:
                words.add(after)
                self._at += 2
            else:
                words.add(sign)
                self._at += 1
        raise _NotUnderstood

    def _put_in(self, words: _Words, depth: int, quoted: bool) -> None:
        """A ``$``: the commands of ``$(...)`` are taken apart as well."""
        rest = self._line[self._at + 1 : self._at + 3]
        if rest[:1] == "{" or rest == "((" or (not quoted and rest[:1] in ("'", '"')):
            raise _NotUnderstood
        words.add(PUT_IN)
        self._at += 1
        if rest[:1] == "(":
            self._at += 1
            before = len(self.found)
            self.commands(until=")", depth=depth + 1)
            if len(self.found) == before:
                raise _NotUnderstood

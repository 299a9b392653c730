"""The limits that a person set, as far as simple rules understand them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NOT = r"(?:do\s+not|don['’]?t|never|must\s+not|mustn['’]?t|may\s+not|without|no\s+need\s+to)"
_CHANGE = (
    r"(?:chang\w*|edit\w*|touch\w*|modif\w*|writ\w*|overwrit\w*|delet\w*|alter\w*|remov\w*"
    r"|creat\w*)"
)
_ALL = r"(?:any(?:thing)?(?:\s+files?)?|files?|the\s+(?:code|files|project|repo\w*|source)|code)"
_NOTHING = re.compile(
    rf"\b{_NOT}\s+{_CHANGE}\s+{_ALL}\b(?!\s+(?:in|below|under|outside)\b)"
    r"|\bread[- ]only\b|\b(?:only|just)\s+(?:look|read|tell)\b|\bchange\s+nothing\b",
    re.IGNORECASE,
)
_NO_COMMANDS = re.compile(
    rf"\b{_NOT}\s+(?:run\w*|execut\w*|us\w+)\s+(?:any\s+|the\s+)?"
    r"(?:commands?|anything|shell|bash|programs?|scripts?|tests?)\b",
    re.IGNORECASE,
)
_NO_TESTS = re.compile(
    rf"\b{_NOT}\s+{_CHANGE}\s+(?:any\s+|the\s+|a\s+)?(?:unit\s+)?tests?(?:\s+files?)?\b",
    re.IGNORECASE,
)
_NOT_THESE = re.compile(
    rf"\b{_NOT}\s+{_CHANGE}\s+(?:anything\s+(?:in|below|under)\s+|(?:the\s+)?(?:file|folder)\s+)?"
    r"[`\"']?(?P<path>[\w@+-]*+[/.][\w@.+/-]*\w/?)[`\"']?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What must not be done; each text is the sentence of the person that says so."""

    changes: str = ""
    commands: str = ""
    tests: str = ""
    paths: tuple[tuple[str, str], ...] = ()
    """Paths that must not change, each with its sentence."""

    def against_change(self, path: str) -> str:
        """The sentence that forbids changing a file; empty where none does."""
        if self.changes:
            return self.changes
        if self.tests and is_test(path):
            return self.tests
        clean = path.removeprefix("./")
        for name, sentence in self.paths:
            name = name.removeprefix("./").rstrip("/")
            if clean == name or clean.startswith(f"{name}/") or clean.endswith(f"/{name}"):
                return sentence
        return ""


def is_test(path: str) -> bool:
    """Whether a file holds tests, by its name and its folders."""
    *folders, name = path.replace("\\", "/").split("/")
    stem = name.split(".")[0]
    return (
        stem.startswith("test_") or stem.endswith(("_test", "Test")) or ".test." in name
        or any(folder in ("test", "tests") for folder in folders)
    )  # fmt: skip


def limits_in(said: Sequence[str]) -> Limits:
    """The limits in what a person said, the latest sentence of each kind."""
    changes = commands = tests = ""
    paths: list[tuple[str, str]] = []
    for sentence in _sentences(said):
        if _NO_TESTS.search(sentence):
            tests = sentence
        elif named := _NOT_THESE.search(sentence):
            paths.append((named["path"], sentence))
        elif _NOTHING.search(sentence):
            changes = sentence
        if _NO_COMMANDS.search(sentence):
            commands = sentence
    return Limits(changes, commands, tests, tuple(paths))


def _sentences(said: Sequence[str]) -> list[str]:
    found: list[str] = []
    for text in said:
        for line in text.splitlines():
            # A path has dots inside, a sentence ends with one before a space.
            found += [part.strip(" -*>\t") for part in re.split(r"(?<=[.!?;])\s+", line)]
    return [sentence for sentence in found if sentence]

"""Questions that a look answers: which tool, its arguments, and what to say with the call."""

from __future__ import annotations

import re
from typing import Any

_PATH = re.compile(
    r"[`\"']([^`\"'\n]+)[`\"']|((?:(?<![\w@.+-])|(?=~))(?:[~.]{0,2}/)?[\w@.+-]++(?:/[\w@.+-]++)+/?"
    r"|(?<![\w@+-])[\w@+-][\w@.+-]{0,300}\.\w+)"
)
_LIST = re.compile(
    r"\b(?:ls|dir)\b|\b(?:list|show|which|what)\b.{0,300}\b(?:files?|folders?|director(?:y|ies)|entries)\b"
    r"|\bwhat(?:['’]s|\s+is)\s+(?:here|in\s+(?:this|the)\s+(?:folder|directory|workspace|project|repo))",
    re.IGNORECASE,
)
_NAMED_FOLDER = re.compile(
    r"\b(?:in|of|inside|below|under)\s+(?:the\s+folder\s+)?(?!the\b|this\b|here\b|it\b)([\w-]+)"
    r"(?:\s+folder)?\W*$",
    re.IGNORECASE,
)
_READ = re.compile(
    r"\b(?:read|open|show|cat|print|display|view|look\s+at|look\s+into)\b"
    r"|\bwhat(?:['’]s|\s+is|\s+does)\b.{0,300}\b(?:in|inside|do|contain)\b",
    re.IGNORECASE,
)
_FIND_FILE = re.compile(
    r"\b(?:find|locate|where\s+(?:is|are))\b.{0,300}\bfiles?\b(?:\s+(?:named|called|matching|like))?|\*\.\w+",
    re.IGNORECASE,
)
_GREP = re.compile(
    r"\b(?:find|search(?:\s+for)?|grep(?:\s+for)?|look\s+for|where\s+(?:is|are|do\s+we|does)|"
    r"who\s+(?:calls|uses)|occurrences?\s+of|usages?\s+of|uses\s+of)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_GLOB = re.compile(r"(?<![\w./-])[\w./-]*+\*[\w.*/-]*")


_QUOTED = re.compile(r"[`\"']([^`\"'\n]+)[`\"']")
_FOLDER = re.compile(
    r"(?<!\s)\s++(?:in|under|inside|within)\s+(?:the\s+)?[`\"']?([\w@./+-]+)[`\"']?[?.!]*$"
)
_ARTICLES = re.compile(r"^(?:the|all|every|any|for|word|text|string)\s+")
_TAIL = re.compile(r"(?<!\s)\s++(?:used|defined|called|mentioned|in\s+.*)$")


def wanted_call(question: str) -> tuple[str, dict[str, Any], str] | None:
    """The tool, its arguments and what to say, for a question that asks for one."""
    path = path_in(question)
    glob = _GLOB.search(question)
    if glob and _FIND_FILE.search(question):
        return "find", {"pattern": glob.group()}, f"Looking for files that match {glob.group()}."
    if _LIST.search(question):
        named = _NAMED_FOLDER.search(question)
        folder = path or (named.group(1) if named else ".")
        return "ls", {"path": folder}, f"Listing {'this folder' if folder == '.' else folder}."
    if path and _READ.search(question):
        return "read", {"path": path}, f"Reading {path}."
    if path and _FIND_FILE.search(question):
        return "find", {"pattern": path}, f"Looking for {path}."
    search = _GREP.search(question)
    if search:
        return _search(search.group("what"))
    return None


def _search(what: str) -> tuple[str, dict[str, Any], str] | None:
    quoted, folder = _QUOTED.search(what), _FOLDER.search(what)
    arguments: dict[str, Any] = {}
    if folder and ("/" in folder.group(1) or "." in folder.group(1).strip(".")):
        arguments["path"] = folder.group(1).rstrip(".")
        what = what[: folder.start()]
    word = quoted.group(1) if quoted else _ARTICLES.sub("", what)
    word = _TAIL.sub("", word.strip(" ?.!"))
    if not word:
        return None
    pattern = re.escape(word).replace(r"\ ", " ").replace(r"\-", "-")
    return "grep", {"pattern": pattern, **arguments}, f"Searching for {word}."


def path_in(question: str) -> str | None:
    """The first path that a text names; None when it names none."""
    match = _PATH.search(question)
    if match is None:
        return None
    path = (match.group(1) or match.group(2)).rstrip(".,;:?!")
    return path if path and " " not in path else None

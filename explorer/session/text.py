"""The texts of messages: their blocks, and one line of them for the map and the lists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from explorer.session.late_pattern import late_pattern

PREVIEW_UNITS = 200
"""Characters of the first line kept for the map and the lists."""

_NAME_UNITS = 80
"""Characters of a tool's name in a title."""
_TITLE_KEYS = (
    "path", "file_path", "filePath", "command", "cmd", "pattern", "query", "url", "description",
)  # fmt: skip
_SEARCHES = ("grep", "find", "glob")
"""Tools of which what they look for says more than where."""
# Control characters, and those that turn the direction of what follows.
_UNSEEN = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_HALVES = late_pattern("[\ud800-\udfff]")

PROSE_LIMIT = 100_000
"""Characters of one text that are read as prose, half of them from its end."""
LINE_LIMIT = 2_000
"""Characters of a line, and of a word, up to which text is read as text."""
_LONG_LINE = late_pattern(rf"^.{{{LINE_LIMIT + 1},}}", re.MULTILINE)
_LONG_WORD = late_pattern(rf"(?<!\S)\S{{{LINE_LIMIT + 1},}}")
# Up to the last end of a sentence in the second half of what is read at once, or the last blank.
_PIECE = late_pattern(
    rf"(?:.{{{LINE_LIMIT // 2},{LINE_LIMIT - 1}}}[.!?;:]|.{{1,{LINE_LIMIT}}})(?=\s)", re.DOTALL
)


def as_prose(text: str) -> str:
    """The text as rules for sentences can read it in a time that grows with its length alone;
    every character that is left stands where it was.

    No line is longer than ``LINE_LIMIT``: a longer one goes on in the next, a line break in the
    place of a blank. A longer word is data (a picture as text, a program without blanks, a drawn
    rule) and becomes blank. Of a text longer than ``PROSE_LIMIT`` the middle becomes blank.
    """
    if len(text) <= LINE_LIMIT:
        return text
    if len(text) > PROSE_LIMIT:
        half = PROSE_LIMIT // 2
        blank = " " * (len(text) - PROSE_LIMIT - 2)
        return f"{as_prose(text[:half])}\n{blank}\n{as_prose(text[-half:])}"
    text = _LONG_WORD.sub(lambda found: f"\n{' ' * (len(found.group()) - 2)}\n", text)
    return _LONG_LINE.sub(lambda found: _in_pieces(found.group()), text)


def _in_pieces(line: str) -> str:
    pieces, start = [], 0
    while len(line) - start > LINE_LIMIT:
        piece = _PIECE.match(line, start)
        # There is a blank in reach: no word is longer than that.
        end = piece.end() if piece else start + LINE_LIMIT
        pieces.append(line[start:end])
        start = end + 1
    pieces.append(line[start:])
    return "\n".join(pieces)


def well_formed(text: str) -> str:
    """The text with halves of surrogate pairs replaced one for one, so that it can be sent and
    stored; a half is what an agent leaves that cuts an emoji in two (E11)."""
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def legible(text: str) -> str:
    """The text with lone surrogates, control characters and marks that turn the direction of
    writing replaced one for one, so that what is read is what is there."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub("\ufffd", well_formed(text))


_COMMAND = late_pattern(r"(?:command )?(/[\w:.-]+)(?:\s+(\S.*)|\s*$)", re.DOTALL)
_OF_AGENT = frozenset((
    "add-dir", "agents", "clear", "compact", "config", "context", "cost", "exit", "export", "fast",
    "help", "hooks", "ide", "login", "logout", "mcp", "memory", "memory-add", "mode", "model",
    "new", "output-style", "permissions", "plugin", "quit", "rename", "resume", "settings",
    "stats", "status", "statusline", "usage", "vim",
))  # fmt: skip
"""Commands to the agent alone, which say nothing of what a session is about."""
_SHORT = 16
"""Characters of an answer such as ``y`` or ``nothing to add``."""
_ANSWERS = 3
"""Messages after a command among which the first that says something is looked for."""
_CHECKBOX = late_pattern(r"^\[[ xX~-]?\]\s*")
_NOTHING = late_pattern(r"[-*(\[\s]*(none|n/?a|nothing|no blockers?)[\s)\].]*", re.IGNORECASE)


def first_line(text: str) -> str:
    """The first line of a text that holds anything, cut for lists."""
    line = text[: PREVIEW_UNITS * 4].strip().partition("\n")[0].rstrip()
    words = " ".join(line[:PREVIEW_UNITS].split())
    return words if len(line) <= PREVIEW_UNITS else cut_line(f"{words}…")


def cut_line(line: str) -> str:
    """A line as long as rows are at most, with a mark where more of it was."""
    if len(line) <= PREVIEW_UNITS:
        return line
    return f"{line[: PREVIEW_UNITS - 1].rstrip('… ')}…"


_JOINT = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")


def name_in_words(name: str) -> str:
    """``stop_hook_summary`` and ``stopHookSummary`` as “Stop hook summary”."""
    words = _JOINT.sub(" ", name).split()
    lower = [word if word.isupper() else word.lower() for word in words]
    return " ".join(lower)[:1].upper() + " ".join(lower)[1:]


_LINK = late_pattern(r"!?\[([^\[\]]{1,200})\]\([^()\s]{0,400}\)")
_STRONG = late_pattern(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_EMPHASIS = late_pattern(r"(?<![\w*])\*(?=[^\s*])([^*]{1,200}?)(?<=[^\s*])\*(?![\w*])")
_CODE = late_pattern(r"(`{1,3})([^`]{1,200})\1")
_LEADING = late_pattern(r"^(?:#{1,6}\s+|>\s+|[-*+]\s+(?:\[[ xX]\]\s+)?)+")


def plain_line(line: str) -> str:
    """A line of Markdown as it reads: without the marks of headings, lists, links, code and
    emphasis."""
    if not any(mark in line for mark in "*_`#[>-+"):
        return line
    line = _LEADING.sub("", line)
    line = _LINK.sub(r"\1", line)
    parts = []
    at = 0
    # What stands in code keeps its own asterisks.
    for code in _CODE.finditer(line):
        parts += [_without_emphasis(line[at : code.start()]), code[2].strip()]
        at = code.end()
    # Emphasis around code is opened in one part and closed in another.
    return _STRONG.sub(r"\2", "".join([*parts, _without_emphasis(line[at:])])).strip()


def _without_emphasis(text: str) -> str:
    return _EMPHASIS.sub(r"\1", _STRONG.sub(r"\2", text))


_FOLDER = late_pattern(r"^(?:cd|pushd) [^\n;&|]+(?:&&|;)\s*(?=\S)")
_LEAD_UNITS = 60
"""Characters up to which a line that ends with a colon only leads to what follows."""
_TITLE_UNITS = 80
_SENTENCE = late_pattern(r"(?<=[^\W\d][.!?])\s+(?=\S)|(?<=[)\]\"'`][.!?])\s+(?=\S)")


_OPENING_TAG = late_pattern(r"<[A-Za-z][\w-]*(?: [^<>]*)?>")


def prompt_line(text: str) -> str:
    """The first line of what a person typed, with the line that it leads to: ``Implement the
    following plan: Install Chakra UI``. A tag around all of it is no line."""
    line = first_line(text)
    if line.startswith("<") and _OPENING_TAG.fullmatch(line):
        text = text.lstrip().partition("\n")[2]
        line = first_line(text) or line
    if not line.endswith(":") or len(line) > _LEAD_UNITS:
        return line
    rest = text.lstrip().partition("\n")[2]
    return cut_line(f"{line} {plain_line(first_line(rest))}".rstrip())


_JSON = late_pattern(r"\{\s*(?:\"|$)|\[\s*(?:[{\"]|$)")
_STRING = r'"((?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*)'
# What a program hands to an agent has a type; all else that is JSON may be anything.
_SUBJECT = late_pattern(rf'\{{"type":"\w.*?"subject": ?{_STRING}')
_DESCRIPTION = late_pattern(rf'\{{"type":"\w.*?"description": ?{_STRING}')
_SENT_BY = late_pattern(r'\{"type":"(\w+)".*?"from":"([^"\\]+)"')
_NEWS = late_pattern(rf'"(?:summary|reason)":{_STRING}')


def is_command(line: str) -> bool:
    """Whether a first line is a command of a person: ``/review src/a.py``, also as rows name it:
    ``command /review src/a.py``."""
    return _COMMAND.match(line) is not None


def first_topic(lines: Iterable[str]) -> str:
    """The first of the first lines of messages that can name a session: by one that is empty, or a
    command to the agent alone, such as ``/model``, it cannot be named, by a command without
    arguments only where the next messages only answer it, by JSON only where no other has words;
    empty for none."""
    data = command = ""
    answers = 0
    for line in lines:
        if found := _COMMAND.match(line):
            if found[1].lstrip("/") in _OF_AGENT:
                continue
            if found[2]:
                return f"{found[1]} {found[2]}"
            command = command or found[1]
        elif _subject(line) or (line and _JSON.match(line) is None):
            if not command or len(line) >= _SHORT:
                return line
            answers += 1
            if answers == _ANSWERS:
                break
        else:
            data = data or line
    return command or data


def _subject(line: str) -> str:
    """What a task is about that is handed over as JSON, of which the end may be missing."""
    found = _SUBJECT.match(line) or _DESCRIPTION.match(line)
    return _string(found[1]) if found is not None else ""


def _string(written: str) -> str:
    """What stands between the quotes of a string of JSON, in one line."""
    return " ".join(json.loads(f'"{written}"', strict=False).split())


def row_line(line: str) -> str:
    """The first line of a text as it reads in a row: of a task that is JSON its subject, of other
    JSON that one agent sends to another what it is, who sent it and why; else ``plain_line``."""
    if subject := _subject(line):
        return plain_line(subject)
    sent = _SENT_BY.match(line)
    if sent is None:
        return plain_line(line)
    news = _NEWS.search(line)
    about = f"{name_in_words(sent[1])} from {sent[2]}"
    return f"{about}: {_string(news[1])}" if news is not None else about


def title_line(line: str) -> str:
    """The title of a session that a message begins: its first sentence, at most 80 characters, cut
    at a word; of a task that is JSON its subject."""
    line = plain_line(_subject(line) or line)
    first = _SENTENCE.split(line, maxsplit=1)[0]
    # A greeting of a word or two is no title.
    line = first if len(first) >= 20 else line
    if len(line) <= _TITLE_UNITS:
        return line
    head = line[:_TITLE_UNITS]
    return f"{(head.rpartition(' ')[0] or head[:-1]).rstrip(' ,;:')}…"


def summary_line(text: str) -> str:
    """What a summary is about: the line under its first heading, or its first line."""
    lines = [line.strip() for line in text[: PREVIEW_UNITS * 10].splitlines()]
    headings = [at for at, line in enumerate(lines) if line.startswith("#")]
    body = lines[headings[0] + 1 :] if headings else []
    found = (line.lstrip("-*0123456789. ") for line in body if not line.startswith("#"))
    line = next((line for line in found if not says_nothing(line)), "")
    return first_line(_CHECKBOX.sub("", line) or text)


def says_nothing(line: str) -> bool:
    """Whether a line of a summary only holds the place of something: empty, or ``(none)``."""
    return not line or _NOTHING.fullmatch(line) is not None


def without_folder(command: str) -> str:
    """A command without the ``cd DIR &&`` before it, which makes every row look the same."""
    return _FOLDER.sub("", command.lstrip())


def call_title(name: str, arguments: object) -> str:
    """A tool call in one line: its name and the argument that says most."""
    if len(name) > _NAME_UNITS or not name.isprintable():
        name = first_line(name)[:_NAME_UNITS]
    if isinstance(arguments, dict):
        for key in ("pattern", *_TITLE_KEYS) if name in _SEARCHES else _TITLE_KEYS:
            value = arguments.get(key)
            if isinstance(value, str) and value:
                return f"{name} {first_line(without_folder(value))}"
        given = ", ".join(
            f"{key} {_value(value)}" for key, value in arguments.items() if value not in ("", None)
        )
        if given:
            given = first_line(given)
            return f"{name} {given if len(given) <= 80 else f'{given[:79]}…'}"
    return name


def _value(value: object) -> str:
    if isinstance(value, str):
        return " ".join(value[:PREVIEW_UNITS].split())
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"

"""The words of an entry's row where the first line of its text does not say what happened: a tool
result's tool, target and outcome."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from explorer.session.entries import ToolCallBlock, ToolResultMessage, images_of, text_of
from explorer.session.kinds import Flag, Kind
from explorer.session.result_text import (
    exit_code,
    failed,
    numbered_lines,
    output_of,
    part_shown,
)
from explorer.session.secrets import mask
from explorer.session.text import call_title, first_line, plain_line, row_line, without_folder
from explorer.session.text_difference import changed_lines
from explorer.session.tool_actions import ActionKind, ToolAction, tool_actions

_TARGET = 40
"""Characters of a tool and its command or pattern: what came of it must still be seen on a card."""
_LEAST = 24
"""Characters of a command at least."""
_OUTCOME = 120
_TAIL = 4_000
"""Characters at the end of an output in which a test runner sums up."""
_PYTEST = re.compile(
    r"^=* ?((?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?)(?:, )?)+)"
    r" in [\d.]+s", re.MULTILINE,
)  # fmt: skip
_TESTS = re.compile(r"^\s*Tests:?\s+((?:\d+ (?:failed|passed|skipped|todo)(?:, | \| )?)+)", re.M)
_CARGO = re.compile(r"^test result: \w+\. (\d+ passed; \d+ failed)", re.MULTILINE)
_FAILED = re.compile(r"[1-9]\d* (?:failed|error)")
_FOUND = re.compile(r"Found (\d+ \w+)", re.IGNORECASE)
_TELLING = re.compile(r"(?:\w*(?:Error|Exception)\b|error(?:\[\w+\])?:|fatal:|FAILED\b|panic:).*")
_EXIT_LINE = re.compile(r"(?:Exit code|Command exited with code|Error: Exit code)\b")
_MARKS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|</?tool_use_error>")
_PROSE = frozenset({
    Kind.USER, Kind.ASSISTANT, Kind.CUSTOM_MESSAGE, Kind.COMPACTION, Kind.BRANCH_SUMMARY,
})  # fmt: skip
_CHANGED = {ActionKind.WRITE: "wrote", ActionKind.DELETE: "deleted"}


def stored_row(preview: str, kind: int, flags: int, folder: str = "") -> str:
    """The row of an entry of which only the stored first line is known; the paths of calls from
    the session's ``folder``."""
    calls = flags & Flag.HAS_TOOL_CALL and not flags & Flag.HAS_TEXT
    if calls:
        start = folder.replace("\\", "/").rstrip("/")
        return preview.replace(f" {start}/", " ") if start else preview
    return row_line(preview) if kind in _PROSE else preview


def result_row(body: ToolResultMessage, call: ToolCallBlock | None, folder: str = "") -> str:
    """A tool result in one line: tool, target, outcome. ``call``: what it answers, where that is
    known; ``folder``: the session's, from which paths are shown."""
    tool = body.tool or (call.name if call is not None else "") or "tool"
    actions = tool_actions(tool, call.arguments) if call is not None else ()
    text = _MARKS.sub("", text_of(body.content))
    output = output_of(text).strip("\n")
    if body.is_error or failed(text):
        return _short(f"{_subject(tool, actions, call, folder)} {_failure(text, output)}")
    if found := _test_words(output):
        return _short(found)
    if actions and actions[0].kind in (ActionKind.EDIT, *_CHANGED):
        return _short(_change(actions, folder))
    subject = _subject(tool, actions, call, folder)
    if images_of(body.content) and not output:
        return _short(f"{subject}: an image")
    return _short(f"{subject}{_outcome(actions, output)}")


def output_lines(text: str, actions: Sequence[ToolAction] = ()) -> int:
    """How many lines a result's text has without what its tool says around them, of a file that
    was read how many of the file: the one count of them; 0 too where a tool left out so much that
    it is not known. ``actions``: of the call."""
    output = output_of(text).strip("\n")
    if not output.strip():
        return 0
    if actions and actions[0].kind is ActionKind.READ:
        if part := part_shown(output):
            return part[1] - part[0] + 1
        return len(numbered_lines(output, actions[0].first)[1])
    return output.count("\n") + 1


def large_row(call: ToolCallBlock | None, tool: str, tokens: int, folder: str = "") -> str:
    """The row of a result that is too large to be read for it; ``tokens``: an estimate, of which
    only the size in characters is said: the tokens stand beside the row, as they are counted."""
    actions = tool_actions(tool, call.arguments) if call is not None else ()
    subject = _subject(tool or "tool", actions, call, folder)
    return _short(f"{subject}, about {max(1, tokens * 4 // 1000):,} KB")


def _subject(
    tool: str, actions: Sequence[ToolAction], call: ToolCallBlock | None, folder: str
) -> str:
    """The tool and its target."""
    action = actions[0] if actions else None
    if action is not None and action.path and len(actions) == 1:
        verb = "read" if action.kind is ActionKind.READ else tool
        return f"{verb} {_near(action.path, folder)}"
    if action is not None and action.text:
        words = first_line(without_folder(action.text.strip()))
        return f"{tool} {_cut(words, max(_TARGET - len(tool), _LEAST))}"
    title = call_title(tool, call.arguments) if call is not None else tool
    return _cut(title, max(_TARGET, _LEAST + len(tool)))


def _outcome(actions: Sequence[ToolAction], output: str) -> str:
    """What came of a call that did not fail, with what joins it to the subject."""
    if output.strip() in ("", "(no output)"):
        return ", no output"
    if output.startswith(("{", "[{")):
        return f", JSON of {_counted(len(output), 'character')}"
    action, lines = actions[0] if actions else None, output_lines(output, actions)
    if action is not None and action.kind is ActionKind.READ:
        if part := part_shown(output):
            return f", lines {part[0]:,} to {part[1]:,}"
        return f", {_counted(lines, 'line')}" if lines else ""
    if action is not None and action.kind is ActionKind.SEARCH:
        if found := _FOUND.match(output):
            return f": {found[1]}"
        if lines > 1:
            return f": {_counted(lines, 'line')}"
    if lines == 1:
        return f": {_cut(plain_line(first_line(output)), _OUTCOME)}"
    return f", {_counted(lines, 'line')}"


def _failure(text: str, output: str) -> str:
    code = exit_code(text)
    how = f"exited {code}" if code else "failed"
    why = _reason(output)
    return f"{how}: {why}" if why else how


def _reason(output: str) -> str:
    """The line of an error that says most."""
    if found := _test_words(output):
        return found
    lines = [line.strip() for line in output[-_TAIL:].split("\n") if line.strip()]
    lines = [line for line in lines if not _EXIT_LINE.match(line)]
    telling = next((one for line in reversed(lines) if (one := _TELLING.search(line))), None)
    words = telling[0] if telling is not None else next(iter(lines), "")
    return _cut(first_line(words), _OUTCOME)


def _test_words(output: str) -> str:
    """What a test runner sums up last: ``pytest: 1 failed, 60 passed``; of a run before it that
    failed too."""
    tail = output[-_TAIL:]
    for name, form in (("pytest", _PYTEST), ("tests", _TESTS), ("cargo test", _CARGO)):
        sums = [
            one.strip(" ,|").replace(" | ", ", ").replace(";", ",") for one in form.findall(tail)
        ]
        if sums:
            before = next((one for one in reversed(sums[:-1]) if _FAILED.search(one)), "")
            return f"{name}: {before}, then {sums[-1]}" if before else f"{name}: {sums[-1]}"
    return ""


def _change(actions: Sequence[ToolAction], folder: str) -> str:
    files = list(dict.fromkeys(one.path for one in actions))
    kind = actions[0].kind
    where = _near(files[0], folder) if len(files) == 1 else _counted(len(files), "file")
    if kind in _CHANGED:
        size = actions[0].added.rstrip("\n").count("\n") + 1
        lines = (
            f", {_counted(size, 'line')}" if kind is ActionKind.WRITE and len(files) == 1 else ""
        )
        return f"{_CHANGED[kind]} {where}{lines if actions[0].added else ''}"
    signs = Counter(
        line.sign for one in actions for line in changed_lines(one.removed, one.added, 0)
    )
    more, fewer = signs["+"], signs["-"]
    return f"edited {where} (+{more} -{fewer})" if more or fewer else f"edited {where}"


def _near(path: str, folder: str) -> str:
    """A path from the session's folder."""
    start = folder.replace("\\", "/").rstrip("/")
    return path.removeprefix(f"{start}/") if start else path


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _cut(text: str, most: int) -> str:
    """The start of a text, cut at a blank where there is one near."""
    if len(text) <= most:
        return text
    # First: half a secret would not be recognised as one.
    text = mask(text)
    end = text.rfind(" ", 0, most)
    return f"{text[: end if end > most // 2 else most].rstrip()}…"


def _short(text: str) -> str:
    return first_line(text)

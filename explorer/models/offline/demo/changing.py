"""Creating a file, replacing text in one, running a command, within the limits that were set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from explorer.models.offline.demo.move import (
    Move,
    Wanted,
    Work,
    did_fail,
    exit_code,
    is_unread,
    was_refused,
)
from explorer.models.offline.demo.reporting import fenced, report
from explorer.models.offline.demo.situation import Situation
from explorer.models.offline.demo.steps import Create, Replace, Run

_AROUND = 4
"""Lines after a place that are taken along until it is the only one of its kind."""


def against(tool: str, path: str, now: Situation) -> str:
    """Why a change must not be made, as a sentence; empty where nothing speaks against it."""
    if tool not in now.offered:
        return f"That needs the tool {tool}, which is not offered in this conversation."
    said = now.limits.commands if tool == "bash" else now.limits.against_change(path)
    return f"I did not do that, since you said: “{said}”" if said else ""


def create(step: Create, now: Situation) -> Work:
    """Write a new file, or say why not."""
    if why := against("write", step.path, now):
        return why
    lines = step.content.count("\n")
    size = f"{lines} line{'' if lines == 1 else 's'}"
    thinking = f"A whole file of {size}: that is what write is for."
    want = Wanted("write", {"path": step.path, "content": step.content})
    (result,) = yield Move(thinking, f"Writing {step.path}.", (want,))
    if did_fail(result):
        return f"That did not work: {result.strip()}"
    return f"{step.path} is written, {size}."


def replace_in(step: Replace, now: Situation) -> Work:
    """Read a file, then replace every place of a text in it."""
    if why := against("edit", step.path, now) or against("read", "", now):
        return why
    read = Wanted("read", {"path": step.path})
    (text,) = yield Move(
        f"To replace something in {step.path} I need to know what is there.",
        f"Reading {step.path}.", (read,),
    )  # fmt: skip
    if is_unread(text):
        return f"That did not work: {text.strip()}"
    edits = edits_for(text, step.old, step.new)
    if not edits:
        return f"That did not work: {step.path} does not hold `{step.old}`."
    count = len(pattern_of(text, step.old).findall(text))
    words = "one place" if count == 1 else f"{count} places"
    results = yield Move(
        f"`{step.old}` stands in {words}; each edit must name text that is there only once.",
        f"Replacing `{step.old}` by `{step.new}` in {step.path}, {words}.",
        edit_wants(step.path, edits, now),
    )
    failed = [result for result in results if did_fail(result)]
    if failed:
        return f"That did not work: {failed[0].strip()}"
    return f"`{step.old}` is now `{step.new}` in {step.path}, {words}."


def edits_for(text: str, old: str, new: str) -> list[tuple[str, str]]:
    """Old and new texts, each old one only once in the file, that replace every place."""
    if "\n" in old:
        return [(old, new)] if text.count(old) == 1 else []
    lines, places = text.split("\n"), pattern_of(text, old)
    if places.pattern == re.escape(old) and text.count(old) == 1:
        return [(old, new)]
    return block_edits(lines, [places.sub(lambda _: new, line) for line in lines])


def pattern_of(text: str, old: str) -> re.Pattern[str]:
    """Where a text stands: a name as a whole word, where it does so at all."""
    word = re.compile(rf"\b{re.escape(old)}\b")
    return word if old.isidentifier() and word.search(text) else re.compile(re.escape(old))


def block_edits(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Old and new texts, each old one only once in the file, that turn lines into others. There
    must be as many lines after as before."""
    text, edits, taken = "\n".join(before), [], -1
    for at, line in enumerate(before):
        if line == after[at] or at <= taken:
            continue
        first = last = at
        while text.count("\n".join(before[first : last + 1])) > 1 and last - at < _AROUND:
            last = min(last + 1, len(before) - 1)
            if last == len(before) - 1:
                break
        while text.count("\n".join(before[first : last + 1])) > 1 and first > taken + 1:
            first -= 1
        edits.append(("\n".join(before[first : last + 1]), "\n".join(after[first : last + 1])))
        taken = last
    return edits


def edit_wants(path: str, edits: Sequence[tuple[str, str]], now: Situation) -> tuple[Wanted, ...]:
    """Calls of the tool edit in the form that is offered: all at once, or one after the other."""
    properties: Any = now.offered["edit"].parameters.get("properties", {})
    if "edits" in properties or not properties:
        listed = [{"oldText": old, "newText": new} for old, new in edits]
        return (Wanted("edit", {"path": path, "edits": listed}),)
    return tuple(
        Wanted("edit", {"path": path, "oldText": old, "newText": new}) for old, new in edits
    )


def run_command(step: Run, now: Situation) -> Work:
    """Run a command line and tell what it said."""
    if why := against("bash", "", now):
        return why
    want = Wanted("bash", {"command": step.command})
    (result,) = yield Move(
        "They named the command, so I run it as it stands.", f"Running `{step.command}`.", (want,)
    )
    if was_refused(result):
        return f"That did not work: {result.strip()}"
    if code := exit_code(result):
        return f"`{step.command}` ended with status {code}:\n\n{fenced(result.strip()[-4000:])}"
    return report(want, result)

"""Running the tests, and repairing what fails as far as the rules know how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from explorer.models.offline.demo.changing import against, block_edits, edit_wants
from explorer.models.offline.demo.failures import (
    Failure,
    Frame,
    failures_in,
    inside,
    lacks_pytest,
    lacks_python,
    outcome,
    ran_nothing,
)
from explorer.models.offline.demo.limits import is_test
from explorer.models.offline.demo.move import (
    Move,
    Part,
    Wanted,
    Work,
    did_fail,
    exit_code,
    is_unread,
    was_refused,
)
from explorer.models.offline.demo.repairs import Repair, repairs_for
from explorer.models.offline.demo.reporting import fenced
from explorer.models.offline.demo.situation import Situation
from explorer.models.offline.demo.steps import Tests

MOST_FILES = 12
"""Files that are read to find a fault."""
MOST_FAULTS = 4
"""Faults that are repaired for one question."""
# Python takes a file for unchanged that changed within a second and kept its size, where it kept
# what it compiled; so nothing is kept.
_PYTHON = "python3 -B -m"
_PYTEST = f"{_PYTHON} pytest -q --tb=native"
_OTHER_TESTS = (
    ("package.json", "npm test"), ("Cargo.toml", "cargo test"), ("go.mod", "go test ./..."),
)  # fmt: skip
_FOLDER = re.compile(r"^(?:.*/)?tests?(?=/)")


class _Run(NamedTuple):
    """A run of the tests."""

    command: str
    output: str


class _Mended(NamedTuple):
    """What became of a failure, and the last run of the tests; None where nothing more is tried."""

    passes: bool
    run: _Run | None
    words: str


def test_and_repair(step: Tests, now: Situation) -> Work:
    """Run the tests; where asked to, repair one failure after the other and run them again."""
    if why := against("bash", "", now):
        return why
    listed: list[str] = []
    if {"ls", "find"} <= set(now.offered):
        looks = (Wanted("ls", {"path": "."}), Wanted("find", {"pattern": "*.py"}))
        names, files = yield Move(
            "First I need to know how the tests are run here, and which files there are.",
            "Looking at what is here.", looks,
        )  # fmt: skip
        listed = [line.strip().removeprefix("./") for line in files.splitlines()]
        command = step.command or command_for(names.split(), listed)
    else:
        command = step.command or _PYTEST
    return (yield from _run_and_repair(command, step, listed, now))


def _run_and_repair(command: str, step: Tests, listed: Sequence[str], now: Situation) -> Work:
    run = yield from _run(command, listed)
    told: list[str] = []
    given_up: set[str] = set()
    for _ in range(MOST_FAULTS):
        if (end := _end(run, told)) is not None:
            return "\n\n".join([*told, end])
        failures = failures_in(run.output)
        left = [failure for failure in failures if failure.test not in given_up]
        if not step.repairs or not failures:
            return _failed_words(run, failures)
        if not left:
            break
        mended = yield from _mend(left[0], run, listed, now)
        told.append(mended.words)
        if mended.run is None:
            break
        if not mended.passes:
            given_up.add(left[0].test)
        run = mended.run
    return "\n\n".join(told)


def _end(run: _Run, told: Sequence[str]) -> str | None:
    """What to say when a run leaves nothing to repair; None where it does."""
    if was_refused(run.output) or lacks_python(run.output):
        return f"That did not work: {run.output.strip()[:600]}"
    if ran_nothing(run.output):
        return f"`{run.command}` found no tests to run."
    if exit_code(run.output):
        return None
    passed = outcome(run.output) or f"`{run.command}` ended well"
    return f"The tests pass {'now' if told else 'as they are'}: {passed}."


def command_for(names: Sequence[str], listed: Sequence[str]) -> str:
    """How the tests of a folder are run, from what is in it."""
    for file, command in _OTHER_TESTS:
        if file in names and not any(is_test(path) for path in listed):
            return command
    return _PYTEST


def unittest_for(listed: Sequence[str]) -> str:
    """How Python alone runs the tests of a folder."""
    folders = sorted({found[0] for path in listed if (found := _FOLDER.search(path))})
    if not folders:
        return f"{_PYTHON} unittest discover"
    package = " -t ." if f"{folders[0]}/__init__.py" in listed else ""
    return f"{_PYTHON} unittest discover -s {folders[0]}{package}"


def _run(command: str, listed: Sequence[str]) -> Part[_Run]:
    """Run the tests, in another way where the first is not installed."""
    thinking = "Tests say what is so, better than I could guess."
    (output,) = yield Move(thinking, f"Running `{command}`.", _bash(command))
    if lacks_pytest(output) and not lacks_python(output):
        command = unittest_for(listed)
        words = f"pytest is not installed here, so I run `{command}`."
        (output,) = yield Move("Python brings a runner of its own.", words, _bash(command))
    return _Run(command, output)


def _bash(command: str) -> tuple[Wanted, ...]:
    return (Wanted("bash", {"command": command}),)


def _failed_words(run: _Run, failures: Sequence[Failure]) -> str:
    if not failures:
        return f"`{run.command}` failed:\n\n{fenced(run.output.strip()[-3000:])}"
    count = f"{len(failures)} test{'' if len(failures) == 1 else 's'}"
    lines = [f"- {failure.test or 'the run'}: {failure.told}" for failure in failures[:20]]
    return "\n".join([f"`{run.command}` shows that {count} failed:", "", *lines])


def _mend(failure: Failure, run: _Run, listed: Sequence[str], now: Situation) -> Part[_Mended]:
    """Find the fault behind a failure and try what could repair it."""
    name = failure.test or "The run"
    frames = inside(failure.frames, listed)
    paths = _to_read(frames, listed)
    if not paths or "read" not in now.offered:
        words = f"{name} fails with {failure.told}, in no file that I can read here."
        return _Mended(False, run, words)
    results = yield Move(
        f"{name} fails with {failure.told}. The fault is in what it calls, so I read that.",
        f"{name} fails: {failure.told}. Reading {_listed(paths)}.",
        tuple(Wanted("read", {"path": path}) for path in paths),
    )
    sources = {
        path: tuple(text.split("\n"))
        for path, text in zip(paths, results, strict=False)
        if not is_unread(text)
    }
    tried: list[str] = []
    for repair in repairs_for(failure, frames, sources):
        if why := against("edit", repair.path, now):
            return _Mended(False, None, f"{name} fails: {failure.told}. {why}")
        after = yield from _try(repair, sources[repair.path], run, now)
        if after is None:
            words = f"{name} fails with {failure.told}. The edit of {repair.path} was not made."
            return _Mended(False, None, words)
        if failure.test not in [one.test for one in failures_in(after.output)]:
            return _Mended(True, after, f"{name} failed with {failure.told}. In {repair.path} "
                           f"{repair.why}; I changed that.")  # fmt: skip
        yield from _put_back(repair, sources[repair.path], now)
        tried.append(repair.why)
    return _Mended(False, run, _helpless(name, failure, paths, tried))


def _try(repair: Repair, before: Sequence[str], run: _Run, now: Situation) -> Part[_Run | None]:
    """Make a change and run the tests again; None where it could not be made."""
    wants = edit_wants(repair.path, block_edits(before, repair.lines), now)
    results = yield Move(
        f"{repair.why[0].upper()}{repair.why[1:]}.", f"Trying that in {repair.path}.", wants
    )
    if any(did_fail(result) for result in results):
        return None
    (output,) = yield Move(
        "Whether it helped only the tests can say.", f"Running `{run.command}` again.",
        _bash(run.command),
    )  # fmt: skip
    return _Run(run.command, output)


def _put_back(repair: Repair, before: Sequence[str], now: Situation) -> Part[None]:
    wants = edit_wants(repair.path, block_edits(repair.lines, before), now)
    yield Move("That did not help; what does not help goes back.", "Taking it back.", wants)


def _to_read(frames: Sequence[Frame], listed: Sequence[str]) -> list[str]:
    """The files of a traceback, then the others that may hold the fault."""
    others = [path for path in listed if path.endswith(".py") and not is_test(path)]
    named = [frame.path for frame in frames]
    return list(dict.fromkeys([*named, *others]))[:MOST_FILES] if named else []


def _listed(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{', '.join(paths[:-1])} and {paths[-1]}"


def _helpless(name: str, failure: Failure, paths: Sequence[str], tried: Sequence[str]) -> str:
    words = f"{name} fails with {failure.told}. I read {_listed(paths)}, and "
    if not tried:
        return words + "none of my rules knows what to change."
    return (
        words + "what my rules would change did not help:\n\n"
        + "\n".join(f"- {why}" for why in tried) + "\n\nI put it all back."
    )  # fmt: skip

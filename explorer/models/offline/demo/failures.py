"""What the output of a test run tells: which tests failed, where, and of what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BLOCK = re.compile(
    r"^(?:(?:FAIL|ERROR): (?P<unit>\w+)(?: \((?P<where>[^)]*)\))?|_{3,} (?P<py>[^\n]+?) _{3,})\s*$",
    re.MULTILINE,
)
_FRAME = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[\w<>.]+))?')
_SHORT_FRAME = re.compile(r"^(?P<path>[^\s:]+\.py):(?P<line>\d+): ", re.MULTILINE)
_ERROR = re.compile(r"^(?:E\s+)?(?P<kind>[A-Z]\w*(?:Error|Exception|Warning)): ?(?P<text>.*)$",
                    re.MULTILINE)  # fmt: skip
_PLAIN_ASSERT = re.compile(r"^E\s+(?P<text>assert .+)$", re.MULTILINE)
_COUNT = re.compile(
    r"^(?:Ran \d+ tests? in .*|=* ?\d+ (?:passed|failed|error).*|FAILED \(.*\)|OK(?: \(.*\))?)$",
    re.MULTILINE,
)
_NO_RUNNER = re.compile(r"No module named ['\"]?pytest|pytest: (?:command )?not found")
_NO_PYTHON = re.compile(r"\bpython3?: (?:command )?not found|python3?' is not recognized", re.I)
_NO_TESTS = re.compile(r"^Ran 0 tests|no tests ran|NO TESTS RAN", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in a traceback; ``line`` counts from 1."""

    path: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, from its own place to where it broke."""

    test: str
    kind: str
    text: str
    frames: tuple[Frame, ...]

    @property
    def told(self) -> str:
        """What went wrong, in a line."""
        return f"{self.kind}: {self.text}" if self.text else self.kind


def failures_in(output: str) -> list[Failure]:
    """The failures of a run of unittest or pytest, in order."""
    heads = list(_BLOCK.finditer(output))
    ends = [*(head.start() for head in heads[1:]), len(output)]
    found = [
        failure
        for head, end in zip(heads, ends, strict=False)
        if (failure := _failure(_name(head), output[head.end() : end])) is not None
    ]
    if not found and (alone := _failure("", output)) is not None:
        return [alone]
    return found


def _name(head: re.Match[str]) -> str:
    return head["unit"] or (head["py"] or "").rpartition(".")[2].strip()


def _failure(test: str, block: str) -> Failure | None:
    errors = list(_ERROR.finditer(block))
    if errors:
        kind, text = errors[-1]["kind"], errors[-1]["text"].strip()
    elif (plain := _PLAIN_ASSERT.search(block)) is not None:
        kind, text = "AssertionError", plain["text"].strip()
    else:
        return None
    frames = [Frame(f["path"], int(f["line"]), f["name"] or "") for f in _FRAME.finditer(block)]
    frames = frames or [Frame(f["path"], int(f["line"])) for f in _SHORT_FRAME.finditer(block)]
    return Failure(test, kind, text, tuple(frames))


def inside(frames: Sequence[Frame], listed: Sequence[str]) -> list[Frame]:
    """The frames in files of the workspace, with the paths that those are listed under."""
    found: list[Frame] = []
    for frame in frames:
        path = frame.path.replace("\\", "/").removeprefix("./")
        fitting = [name for name in listed if path == name or path.endswith(f"/{name}")]
        if fitting:
            found.append(Frame(max(fitting, key=len), frame.line, frame.function))
    return found


def outcome(output: str) -> str:
    """The line that sums a run up; empty where there is none."""
    found = _COUNT.findall(output)
    return " ".join(line.strip("= ") for line in found[-2:] if line)


def lacks_pytest(output: str) -> bool:
    return _NO_RUNNER.search(output) is not None


def lacks_python(output: str) -> bool:
    return _NO_PYTHON.search(output) is not None


def ran_nothing(output: str) -> bool:
    """Whether a runner found no test."""
    return _NO_TESTS.search(output) is not None

"""Reading the session files of other agents, beside a bare pass of ``json.loads`` over their lines,
and following one that grows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.bench import Bench
from tests.benchmarks.report import Row, median, ms
from tests.formats.claude_lines import Lines
from tests.formats.codex_rollouts import Rollout
from tests.formats.test_copilot_cli import Events

BAR = 2.0
FOLLOW_MS = 500
_CODE = "".join(
    f'{at:6}→\t{" " * (at % 5)}if quay["length"] > {at}:  # metres, as src/harbour/quay.py says\n'
    for at in range(4_000)
)
_ABOUT = {
    "userType": "external", "entrypoint": "cli", "slug": "a-calm-and-level-quay",
    "requestId": "req_011CXnTwq8YkQ4mGZs6fJvRd", "toolUseID": "toolu_01HkTqZ3vWm8RrYc5nPb7xLd",
    "parentToolUseID": "toolu_01HkTqZ3vWm8RrYc5nPb7xLd", "permissionMode": "default",
}  # fmt: skip
"""Fields that most records of Claude Code have beside what they say."""
_SPREAD, _LONGEST = 1.6, 90_000


def measure(bench: Bench) -> list[Row]:
    size = 10 if bench.quick else 100
    rows = []
    for agent, write in _AGENTS.items():
        path = write(bench.folder / f"agents-{size}", size * 1_000_000)
        found = bench.child("agents", "read", session=str(path), rounds=bench.rounds)
        ratio = median(found["ratios"])
        rows.append(
            Row(
                f"read {size} MB of {agent}, {found['entries']:,} entries",
                f"{ms(median(found['ms']))}, {ratio:.2f}x, {found['peak_mb']:.0f} MB",
                f"json.loads of the lines {ms(median(found['bare_ms']))}",
                f"{BAR}x",
                ratio <= BAR,
            )
        )
        home = bench.empty_home()
        found = bench.child("agents", "follow", home, session=str(path), rounds=bench.rounds)
        rows.append(
            Row(
                f"a line added to that file of {agent} is stored",
                ms(median(found["ms"])),
                f"the whole file {ms(found['whole_ms'])}",
                f"{FOLLOW_MS} ms",
                max(found["ms"]) <= FOLLOW_MS,
            )
        )
    return rows


def _write(path: Path, size: int, turns: Callable[[int], list[dict[str, Any]]]) -> Path:
    """A file of about so many bytes."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        number = 0
        with path.open("w", encoding="utf-8") as file:
            while file.tell() < size:
                file.writelines(json.dumps(one) + "\n" for one in turns(number))
                number += 1
    return path


def _text(random: Random, middle: int) -> str:
    """Code with quotes and line breaks, of a length as texts of real sessions have: half of them
    below ``middle`` characters, one in a hundred forty times as long."""
    length = min(int(random.lognormvariate(math.log(middle), _SPREAD)), _LONGEST)
    start = random.randrange(len(_CODE) - _LONGEST)
    return _CODE[start : start + length] or "Done."


def _claude_code(folder: Path, size: int) -> Path:
    last: list[str | None] = [None]
    random = Random(1)

    def turn(at: int) -> list[dict[str, Any]]:
        lines = Lines(**_ABOUT)
        lines.last = last[0]
        lines.user(f"u{at}", f"Question {at}")
        lines.reply(f"a{at}", f"m{at}", _text(random, 500), stop_reason=None)
        lines.reply(f"b{at}", f"m{at}", (f"c{at}", "Read"))
        found = _text(random, 2_000)
        lines.result(f"r{at}", f"c{at}", found)
        lines.records[-1]["toolUseResult"] = {"stdout": found, "stderr": "", "interrupted": False}
        for number in range(3):
            data = {"type": "hook_progress", "hookEvent": "PostToolUse", "command": "callback"}
            lines.node("progress", f"p{at}-{number}", data=data)
        lines.reply(f"e{at}", f"n{at}", _text(random, 500))
        last[0] = lines.last
        return lines.records

    return _write(folder / f"{Lines().session}.jsonl", size, turn)


def _codex(folder: Path, size: int) -> Path:
    random = Random(2)

    def turn(at: int) -> list[dict[str, Any]]:
        rollout = Rollout(1)
        begin = 1 if at else 0  # the header once
        rollout.turn(at + 1).prompt(f"Question {at}")
        rollout.item("reasoning", summary=[], encrypted_content="gAAA" * random.randrange(300))
        rollout.item("function_call", name="shell", arguments='{"a": 1}', call_id=f"c{at}")
        rollout.count(at + 100)
        rollout.item("function_call_output", call_id=f"c{at}", output=_text(random, 2_000))
        answer = _text(random, 500)
        rollout.message("assistant", answer).event("agent_message", message=answer)
        rollout.count(at + 101)
        rollout.event("task_complete", turn_id=str(at))
        return rollout.lines[begin:]

    return _write(folder / f"rollout-2026-05-04T10-00-00-{Rollout(1).thread}.jsonl", size, turn)


def _copilot_cli(folder: Path, size: int) -> Path:
    random = Random(3)

    def turn(at: int) -> list[dict[str, Any]]:
        events = Events(folder)
        begin = 1 if at else 0
        events.user(f"Question {at}")
        events.reply(_text(random, 500), f"c{at}")
        events.run(f"c{at}", _text(random, 2_000))
        events.reply(_text(random, 500))
        found = [json.loads(line) for line in events.lines[begin:]]
        return [one | {"id": f"{one['id']}-{at}"} for one in found]

    return _write(folder / "s-1" / "events.jsonl", size, turn)


_AGENTS: dict[str, Callable[[Path, int], Path]] = {
    "Claude Code": _claude_code,
    "Codex CLI": _codex,
    "Copilot CLI": _copilot_cli,
}

"""A library of many small sessions, audited by the command in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from random import Random
from typing import Any

import psutil

from explorer.formats.registry import open_source
from explorer.settings.paths import database_path
from explorer.store import Store
from tests.benchmarks.bench import ROOT
from tests.store.sources import HEADER, write_file

MODELS = ("anthropic/claude-opus-4-5", "openai/gpt-5", "local/codestral")
PROJECTS = ("orders", "clock", "till", "harbour", "atlas")
LIMIT = "Never write to the production database."
TURNS, SAMPLE_S = 14, 0.5


def small_session(number: int) -> list[dict[str, Any]]:
    """A session of some sixty entries: files are read and edited, two thirds of it are summarized,
    and some of the files are read again."""
    random, found = Random(number), list[dict[str, Any]]()
    provider, model = MODELS[number % len(MODELS)].split("/")
    second = 1_788_000_000 + random.randrange(12 * 7 * 86_400)
    files = {f"src/part_{at}.py": _code(random) for at in range(8)}

    def add(kind: str, **fields: Any) -> str:
        name = f"{number:06x}{len(found):02x}"
        above = found[-1]["id"] if found else None
        clock = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(second + 20 * len(found)))
        entry = {"type": kind, "id": name, "parentId": above, "timestamp": clock}
        found.append(entry | fields)
        return name

    def says(role: str, content: Any, **fields: Any) -> str:
        return add("message", message={"role": role, "content": content, **fields})

    def replies(*content: dict[str, Any]) -> None:
        usage = {"input": 2_000, "output": 60, "totalTokens": 2_060}
        says("assistant", list(content), provider=provider, model=model, usage=usage,
             stopReason="toolUse" if len(content) > 1 else "stop")  # fmt: skip

    starts = []
    for turn in range(TURNS):
        path = random.choice(list(files))
        order = f"{LIMIT} Then make it faster." if not turn else f"Now look at {path}, step {turn}."
        starts.append(says("user", order))
        call = {"type": "toolCall", "id": f"c{turn}", "name": "read", "arguments": {"path": path}}
        replies({"type": "text", "text": "I read it."}, call)
        says("toolResult", [{"type": "text", "text": files[path]}], toolCallId=f"c{turn}",
             toolName="read", isError=False)  # fmt: skip
        replies({"type": "text", "text": f"Done with {path}: step {turn} takes {turn * 7} ms."})
        if turn == TURNS * 2 // 3:
            kept = starts[-random.randrange(1, 4)]
            add("compaction", summary=f"## Goal\nMake it faster.\n\n## Progress\n- Step {turn}.",
                firstKeptEntryId=kept, tokensBefore=20_000)  # fmt: skip
    return found


def _code(random: Random) -> str:
    return "\n".join(
        f"    value_{at} = lookup({random.randrange(10_000)}, step={random.randrange(90)})"
        for at in range(random.randrange(30, 70))
    )


def fill(sessions: int, home: str) -> float:
    """Make a library; returns its megabytes."""
    path = database_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store.open(path, maintained=False) as store:
        for number in range(sessions):
            header = HEADER | {
                "id": f"bulk-{number}",
                "cwd": f"/home/sam/{PROJECTS[number % len(PROJECTS)]}",
            }
            file = write_file(path.parent / "one.jsonl", small_session(number), header)
            store.take_copy(open_source(file))
    return path.stat().st_size / 1e6


def audit(home: str, out: str, processes: int, project: str) -> dict[str, float]:
    """Seconds of the command; megabytes of its own process, without its workers', after a quarter
    of the time and at the end; seconds of the processor that its own process took; the load of the
    machine then."""
    environment = os.environ | {"SESSION_EXPLORER_HOME": home}
    command = ["audit", "--all", "--out", out, "--processes", str(processes)]
    command += ["--project", project] if project else []
    started, sizes, busy = time.monotonic(), list[float](), 0.0
    with subprocess.Popen(
        [sys.executable, "-m", "explorer", *command], cwd=ROOT, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        parent = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                sizes.append(parent.memory_info().rss / 1e6)
                busy = sum(parent.cpu_times()[:2])
            except psutil.NoSuchProcess:
                break
            time.sleep(SAMPLE_S if len(sizes) > 20 else 0.05)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    quarter = sizes[len(sizes) // 4 : len(sizes) // 4 + 5] or sizes
    return {
        "s": time.monotonic() - started,
        "quarter_mb": sum(quarter) / len(quarter),
        "end_mb": max(sizes[-5:]),
        "busy_s": busy,
        "load": os.getloadavg()[0],
    }

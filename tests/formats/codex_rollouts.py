"""Rollouts of Codex for the tests, written line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DAY = "2026-05-04"


def name_of(number: int) -> str:
    """A thread's id: a UUID that sorts by its number, as one of version 7 does by its time."""
    return f"019f{number:04x}-0000-7000-8000-{number:012x}"


class Rollout:
    """A file in the making; each call adds a line."""

    def __init__(self, thread: int, paged: bool = False, ordinal: int = 0, **meta: Any) -> None:
        self.lines: list[Json] = []
        self.thread = name_of(thread)
        self.paged = paged
        self.ordinal = ordinal
        self.seconds = 0
        self.totals = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        if paged:
            meta = {"history_mode": "paginated"} | meta
        self.add("session_meta", **{"id": self.thread, "cwd": "/home/dev", **meta})

    def add(self, kind: str, **payload: Any) -> Rollout:
        line: Json = {"timestamp": f"{DAY}T10:00:{self.seconds:02d}.000Z"}
        if self.paged:
            line["ordinal"] = self.ordinal
            self.ordinal += 1
        self.lines.append(line | {"type": kind, "payload": payload})
        return self

    def item(self, kind: str, **payload: Any) -> Rollout:
        return self.add("response_item", type=kind, **payload)

    def event(self, kind: str, **payload: Any) -> Rollout:
        return self.add("event_msg", type=kind, **payload)

    def turn(self, number: int, model: str = "gpt-9", effort: str | None = None) -> Rollout:
        self.event("task_started", turn_id=name_of(number))
        return self.add("turn_context", turn_id=name_of(number), model=model, effort=effort)

    def message(self, role: str, text: str) -> Rollout:
        part = "output_text" if role == "assistant" else "input_text"
        return self.item("message", role=role, content=[{"type": part, "text": text}])

    def prompt(self, text: str) -> Rollout:
        self.message("user", text)
        if self.paged:
            item = {"type": "UserMessage", "content": [{"type": "text", "text": text}]}
            return self.event("item_completed", item=item)
        return self.event("user_message", message=text, images=[], local_images=[])

    def answer(self, text: str) -> Rollout:
        self.event("agent_message", message=text)
        return self.message("assistant", text)

    def call(self, call_id: str, name: str = "exec_command", **arguments: Any) -> Rollout:
        written = json.dumps(arguments)
        return self.item("function_call", name=name, arguments=written, call_id=call_id)

    def result(self, call_id: str, output: Any = "done") -> Rollout:
        return self.item("function_call_output", call_id=call_id, output=output)

    def count(self, given: int = 100, output: int = 10, **last: Any) -> Rollout:
        """A count after a request of so many tokens; ``last=None`` leaves its own count out."""
        more = {"input_tokens": given, "output_tokens": output, "total_tokens": given + output}
        self.totals = {name: self.totals[name] + more[name] for name in more}
        return self.recount(**{"last": more, **last})

    def recount(self, last: Json | None = None, window: int = 0) -> Rollout:
        """The same totals again; ``window``: that of the model, in tokens."""
        info: Json = {"total_token_usage": self.totals, "last_token_usage": last}
        if window:
            info["model_context_window"] = window
        return self.event("token_count", info=info)

    def exchange(self, asked: str, answered: str) -> Rollout:
        return self.prompt(asked).answer(answered).count()

    def text(self) -> str:
        return "".join(json.dumps(line) + "\n" for line in self.lines)

    def write(self, folder: Path, name: str = "", time: str = "10-00-00") -> Path:
        """``name``: of the file, after its time; the thread's id by default."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-{DAY}T{time}-{name or self.thread}.jsonl"
        path.write_text(self.text(), "utf-8")
        return path

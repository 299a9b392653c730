"""replay: a recorded session is played again, to watch when it would be compacted."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.cli import CommandFailed
from explorer.commands.compacting import check_sizes, chosen_settings
from explorer.commands.output import print_json, print_table
from explorer.commands.streams import write_progress
from explorer.commands.targets import Target, target, workbench
from explorer.models.door import CancelToken
from explorer.work.changes import Change, CompactionEnded, PruneMade
from explorer.work.document import Document
from explorer.work.effective_rules import EffectiveRules
from explorer.work.replay.player import Pace, Played, Player
from explorer.work.replay.recording import recorded
from explorer.workbench import Workbench


def run(arguments: argparse.Namespace) -> None:
    """Run the command. Raises UsageError or CommandFailed."""
    check_sizes(arguments)
    with target(arguments) as chosen, _stage(arguments, chosen) as bench:
        watched = asyncio.run(_play(arguments, chosen, bench))
    if arguments.json:
        print_json(watched.document())
    else:
        watched.tell()
    if watched.played.end == "failed":
        raise CommandFailed(watched.played.error)
    if watched.played.end == "stopped":
        raise KeyboardInterrupt


@contextlib.contextmanager
def _stage(arguments: argparse.Namespace, chosen: Target) -> Iterator[Workbench]:
    """Where it is played: beside the recorded session to be kept, else for this command only."""
    if arguments.keep and chosen.stored:
        yield chosen.bench
    elif arguments.keep:
        with workbench(arguments.database) as bench:
            yield bench
    else:
        with (
            tempfile.TemporaryDirectory(prefix="session-explorer-", ignore_cleanup_errors=True) as
            folder, workbench(Path(folder) / "replay.db") as bench,
        ):  # fmt: skip
            yield bench


class _Watched:
    """What happened while it was played."""

    def __init__(self, player: Player, profile: str, kept: bool) -> None:
        self.played = Played("stopped", 0)
        self._player = player
        self._profile = profile
        self._kept = kept
        self._happened: list[dict[str, Any]] = []

    def take(self, change: Change) -> None:
        """Remember a compaction or a prune."""
        step = self._player.position
        if isinstance(change, CompactionEnded):
            self._happened.append({
                "step": step, "entry": self._recorded(step), "what": "compaction",
                "trigger": change.trigger, "tokensBefore": change.tokens_before,
                "tokensAfter": change.tokens_after, "problem": change.problem,
            })  # fmt: skip
        elif isinstance(change, PruneMade):
            self._happened.append({
                "step": step, "entry": self._recorded(step), "what": "prune",
                "results": change.results, "tokensSaved": change.saved,
            })  # fmt: skip

    def _recorded(self, step: int) -> int:
        steps = self._player.play.steps
        return steps[min(step, len(steps)) - 1].entry if step and steps else -1

    def document(self) -> dict[str, Any]:
        """Everything, for programs. Sizes in tokens."""
        player = self._player
        return {
            "profile": self._profile,
            "window": player.automatic.limits(player.model).window,
            "threshold": player.automatic.limits(player.model).threshold,
            "steps": len(player.play),
            "played": self.played.steps,
            "end": self.played.end,
            "happened": self._happened,
            "contextAtEnd": player.target.counted_size(player.automatic.rules.profile),
            "session": player.target.header.session_id if self._kept else None,
        }

    def tell(self) -> None:
        """Everything, for people."""
        found = self.document()
        print(f"{found['played']} of {found['steps']} messages played under {self._profile}, "
              f"window {found['window']:,} tokens, threshold {found['threshold']:,}.")  # fmt: skip
        rows = [(f"#{one['entry']}", *_told(one)) for one in self._happened]
        if rows:
            print_table(("after", "what", "tokens"), rows)
        else:
            print("Nothing was compacted or pruned.")
        print(f"At the end the context holds {found['contextAtEnd']:,} tokens.")
        if self._kept:
            print(f"Kept as the session {found['session']}.")


def _told(one: dict[str, Any]) -> tuple[str, str]:
    if one["what"] == "prune":
        return f"pruned {one['results']} tool results", f"{one['tokensSaved']:,} saved"
    if one["problem"]:
        return "compaction failed", one["problem"]
    return (
        f"compaction ({one['trigger']})",
        f"{one['tokensBefore']:,} -> {one['tokensAfter']:,}",
    )


async def _play(arguments: argparse.Namespace, chosen: Target, bench: Workbench) -> _Watched:
    profile, settings = chosen_settings(arguments, chosen)
    rules = EffectiveRules.of(profile, "offline/extractive", settings)
    stage = await bench.create(chosen.document.header.cwd, f"Replay of {chosen.document.title}")
    player = Player(
        recorded(chosen.document, chosen.at), stage, lambda: rules, Pace(arguments.speed),
        arguments.window,
    )  # fmt: skip
    watched = _Watched(player, profile.name, arguments.keep)
    forget = bench.subscribe(watched.take)
    cancel = CancelToken()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers of loops
        loop.add_signal_handler(signal.SIGINT, cancel.cancel)
    try:
        watched.played = await player.run(cancel, _progress(arguments, player, stage))
    finally:
        forget()
    return watched


def _progress(arguments: argparse.Namespace, player: Player, stage: Document) -> Any:
    """Tells on a terminal how far it is."""
    shown = sys.stderr.isatty() and not arguments.json

    def told(_event: object) -> None:
        if shown:
            write_progress(f"{player.position} of {len(player.play)}")

    return told

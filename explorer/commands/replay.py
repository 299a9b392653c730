"""replay plays a recorded session again under the rules of automatic compaction;
what-if computes the same for several rules without any call to a model."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from explorer.audit.simulation import Assumptions, Past, Policy, Prices, Simulation, simulate
from explorer.audit.simulation.walk import Sweep, sweep
from explorer.audit.words import size_text
from explorer.commands.compaction import check_sizes, chosen_settings
from explorer.commands.output import (
    CommandFailed,
    UsageError,
    print_json,
    print_table,
    write_progress,
)
from explorer.commands.targets import (
    SIZES,
    Target,
    add_common,
    add_rules,
    add_session,
    add_sizes,
    check_positive,
    named_profile,
    session_rules,
    target,
    workbench,
)
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.reasons import count_text
from explorer.models.client import CancelToken
from explorer.services.changes import Change, CompactionEnded, PruneMade
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.recorded_session import (
    assumptions_for,
    hour_share,
    prices_of,
    read_past,
    recorded_session,
)
from explorer.services.session_replay import Pace, Played, Player
from explorer.workbench import Workbench


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the arguments of one of this module's commands."""
    add_session(parser)
    if command == "replay":
        add_rules(parser)
        parser.add_argument(
            "--speed",
            type=float,
            default=0.0,
            metavar="T",
            help="tokens a second (default: at once)",
        )
        parser.set_defaults(model=None, endpoint="", instructions="")
        parser.add_argument("--keep", action="store_true", help="keep what was played as a session")
    else:
        _add_what_if_options(parser)
    add_common(parser)


def _add_what_if_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile", action="append", metavar="NAME", help="rules to walk it under; may be given "
        "several times (default: every profile that comes along)",
    )  # fmt: skip
    add_sizes(parser)
    parser.add_argument("--prices", metavar="MODEL", help="what it would cost with this model")
    parser.add_argument(
        "--summary-share", type=float, metavar="S", help="share of what a summary tells that it "
        "is taken to have (default: as in the session's own compactions)",
    )  # fmt: skip
    parser.add_argument(
        "--sweep", action="store_true", help="a grid over both sizes, under the first profile"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError or CommandFailed."""
    (_replay if arguments.command == "replay" else _what_if)(arguments)


def _replay(arguments: argparse.Namespace) -> None:
    check_sizes(arguments)
    with target(arguments) as chosen, _replay_workbench(arguments, chosen) as bench:
        log = asyncio.run(_play(arguments, chosen, bench))
    if arguments.json:
        print_json(log.document())
    else:
        log.print_report()
    if log.played.end == "failed":
        raise CommandFailed(log.played.error)
    if log.played.end == "stopped":
        raise KeyboardInterrupt


@contextlib.contextmanager
def _replay_workbench(arguments: argparse.Namespace, chosen: Target) -> Iterator[Workbench]:
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


class _ReplayLog:
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
        """The last recorded entry of so many steps: of a reply, its last result."""
        play = self._player.play
        if not step or not play.steps:
            return -1
        entry = play.steps[min(step, len(play.steps)) - 1].entry
        return max(play.results.get(entry, ()), default=entry)

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
            "measure": player.measure.words,
            "tooLarge": player.too_large,
            "happened": self._happened,
            "contextAtEnd": player.target.tokens.counted_size(player.automatic.rules.profile),
            "session": player.target.header.session_id if self._kept else None,
        }

    def print_report(self) -> None:
        """Everything, for people."""
        report = self.document()
        print(f"{report['played']} of {report['steps']} messages played "
              f"under {self._profile}, window {report['window']:,} tokens, "
              f"threshold {report['threshold']:,}.")  # fmt: skip
        rows = [(f"#{one['entry']}", *_log_row(one)) for one in self._happened]
        if rows:
            print_table(("after", "what", "tokens of entries"), rows)
        else:
            print("Nothing was compacted or pruned.")
        if report["tooLarge"]:
            print(f"{report['tooLarge']:,} requests were larger than the window, and no "
                  "compaction helped: they were answered as in the recording.")  # fmt: skip
        print(report["measure"])
        print(f"At the end the entries of the context take {report['contextAtEnd']:,} tokens.")
        if self._kept:
            print(f"Kept as the session {report['session']}.")


def _log_row(one: dict[str, Any]) -> tuple[str, str]:
    if one["what"] == "prune":
        return f"pruned {one['results']} tool results", f"{one['tokensSaved']:,} saved"
    if one["problem"]:
        return "compaction failed", one["problem"]
    return (
        f"compaction ({one['trigger']})",
        f"{one['tokensBefore']:,} -> {one['tokensAfter']:,}",
    )


async def _play(arguments: argparse.Namespace, chosen: Target, bench: Workbench) -> _ReplayLog:
    profile, settings = chosen_settings(arguments, chosen)
    rules = EffectiveRules.of(profile, "offline/extractive", settings)
    stage = await bench.create(chosen.document.header.cwd, f"Replay of {chosen.document.title}")
    player = Player(
        recorded_session(chosen.document, chosen.at), stage, lambda: rules, Pace(arguments.speed),
        arguments.window,
    )  # fmt: skip
    log = _ReplayLog(player, profile.name, arguments.keep)
    forget = bench.subscribe(log.take)
    cancel = CancelToken()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers of loops
        loop.add_signal_handler(signal.SIGINT, cancel.cancel)
    try:
        log.played = await player.run(cancel, _progress_reporter(arguments, player, stage))
    finally:
        forget()
    return log


def _progress_reporter(arguments: argparse.Namespace, player: Player, stage: Document) -> Any:
    """Tells on a terminal how far it is."""
    shown = sys.stderr.isatty() and not arguments.json

    def report(_event: object) -> None:
        if shown:
            write_progress(f"{player.position} of {len(player.play)}")

    return report


def _what_if(arguments: argparse.Namespace) -> None:
    _check_what_if(arguments)
    for name in arguments.profile or ():
        named_profile(name)
    with target(arguments) as chosen:
        policies = _policies(arguments, chosen)
        asyncio.run(chosen.document.usage.follow())
        taken = assumptions_for(
            chosen.document,
            policies[0].profile,
            Assumptions(summary_share=arguments.summary_share),
        )
        past = read_past(chosen.document, chosen.at, policies[0], taken)
        prices = _prices(arguments, chosen)
        if arguments.sweep:
            sweep_result = sweep(past, policies[0], assumptions=taken, prices=prices)
            _print_sweep(arguments, sweep_result)
            return
        walks = [
            simulate(chosen.document.tree, chosen.at, policy, assumptions=taken, past=past)
            for policy in policies
        ]
        if arguments.json:
            print_json(_simulations_json(chosen, past, walks, prices))
        else:
            _print_simulations(past, walks, prices)


def _check_what_if(arguments: argparse.Namespace) -> None:
    check_positive(arguments, *SIZES)
    share = arguments.summary_share
    if share is not None and not 0 < share <= 1:
        raise UsageError(f"--summary-share must be above 0 and at most 1, not {share:g}")


def _policies(arguments: argparse.Namespace, chosen: Target) -> list[Policy]:
    given = {
        "keep_recent_tokens": arguments.keep_recent,
        "reserve_tokens": arguments.reserve,
        "context_window": arguments.window,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    found = []
    for name in arguments.profile or PROFILES:
        profile = session_rules(name, chosen.document.header.cwd).profile
        found.append(Policy(profile, replace(Settings.of(profile), **changed)))
    return found


def _prices(arguments: argparse.Namespace, chosen: Target) -> Prices | None:
    if not arguments.prices:
        return None
    prices = prices_of(chosen.bench.client.info(arguments.prices), hour_share(chosen.document))
    if prices is None:
        raise UsageError(f"--prices {arguments.prices}: nobody knows the prices of this model")
    return prices


# for programs --------------------------------------------------------------------------------


def _simulations_json(
    chosen: Target, past: Past, walks: Sequence[Simulation], prices: Prices | None
) -> dict[str, Any]:
    ids = chosen.document.tree.columns.ids
    return {
        "leaf": ids[chosen.at] if chosen.at >= 0 else None,
        "entries": past.recorded.entries,
        "turns": past.recorded.turns,
        "measure": {
            "beyond": past.measure.beyond,
            "ratio": round(past.measure.ratio, 4),
            "reports": past.measure.reports,
            "words": past.measure.words,
        },
        "recorded": _simulation_json(ids, past.recorded, prices),
        "walks": [_simulation_json(ids, walk, prices) for walk in walks],
    }


def _simulation_json(
    ids: Sequence[str], simulation: Simulation, prices: Prices | None
) -> dict[str, Any]:
    def name(entry: int) -> str | None:
        return ids[entry] if entry >= 0 else None

    costs = simulation.cost(prices) if prices is not None else None
    return {
        "profile": None if simulation.is_recorded else simulation.policy.profile.name,
        "keep_recent_tokens": simulation.policy.settings.keep_recent_tokens,
        "reserve_tokens": simulation.policy.settings.reserve_tokens,
        "window": simulation.window,
        "threshold": simulation.threshold,
        "requests": len(simulation.requests),
        "exact": simulation.exact,
        "sent": simulation.sent,
        "cached": simulation.cached,
        "written": simulation.written,
        "asked_for_summaries": simulation.asked,
        "summaries": simulation.summarized,
        "summary_words": simulation.summaries.words,
        "largest": simulation.largest,
        "too_large": simulation.too_large,
        "split_turns": round(simulation.split_turns, 4),
        "cost": None if costs is None else {**costs._asdict(), "total": costs.total},
        "compactions": [
            {
                "cause": made.cause, "reason": made.reason, "after": name(made.entry),
                "turn": made.turn, "first_kept": name(made.first_kept),
                "split_turn": made.split_turn or None, "messages": made.messages,
                "before": made.before, "then": made.after, "summary": made.summary,
                "asked": made.asked, "assumed": made.assumed,
            }
            for made in simulation.compactions
        ],
        "prunes": [
            {
                "reason": made.reason, "after": name(made.entry), "saved": made.saved,
                "results": [ids[entry] for entry in made.results],
            }
            for made in simulation.prunes
        ],
        "not_done": [
            {"reason": made.reason, "after": name(made.entry)} for made in simulation.not_done
        ],
    }  # fmt: skip


# for people ----------------------------------------------------------------------------------


def _print_simulations(past: Past, walks: Sequence[Simulation], prices: Prices | None) -> None:
    recorded = past.recorded
    entries, turns = (
        count_text(recorded.entries, "entry"),
        count_text(recorded.turns, "turn"),
    )
    requests = count_text(len(recorded.requests), "request")
    print(f"{entries} in {turns}, {requests}. Window {walks[0].window:,} tokens.")
    heads = [
        "rules", "compactions", "split", "prunes", "largest", "sent", "cached", "summaries",
        "too large", *(["cost $"] if prices is not None else []),
    ]  # fmt: skip
    rows = [_simulation_row(one, prices) for one in (recorded, *walks)]
    print_table(heads, rows, right=range(1, len(heads)))
    for walk in walks:
        for made in walk.compactions:
            split = f", inside turn {made.split_turn}" if made.split_turn else ""
            kept = f"kept from #{made.first_kept}" if made.first_kept >= 0 else "nothing kept"
            print(
                f"{walk.policy.profile.name}: after #{made.entry} ({made.cause}) "
                f"entries {made.before:,} -> {'about ' if made.assumed else ''}"
                f"{size_text(made.after)} tokens, {kept}{split}"
            )
        if walk.not_done:
            last = walk.not_done[-1]
            print(
                f"{walk.policy.profile.name}: nothing could be done "
                f"{count_text(len(walk.not_done), 'time')}, last after #{last.entry}: {last.reason}"
            )
    print(past.measure.words)
    print(walks[0].summaries.words)
    if any(walk.too_large for walk in walks):
        print("Too large: requests that do not fit the window although all that the rules allow "
              "was done; there the session would have stood still.")  # fmt: skip


def _simulation_row(simulation: Simulation, prices: Prices | None) -> list[Any]:
    name = "as recorded" if simulation.is_recorded else simulation.policy.profile.name
    cost = [f"{simulation.cost(prices).total:,.2f}"] if prices is not None else []
    return [
        name, len(simulation.compactions), simulation.splits, len(simulation.prunes),
        simulation.largest, simulation.sent, simulation.cached, simulation.asked,
        simulation.too_large, *cost,
    ]  # fmt: skip


def _print_sweep(arguments: argparse.Namespace, found: Sweep) -> None:
    cells = [
        {
            "keep_recent": cell.keep, "reserve": cell.reserve, "compactions": cell.compactions,
            "prunes": cell.prunes, "sent": cell.sent, "asked_for_summaries": cell.asked,
            "cached": cell.cached, "cost": cell.cost,
            "largest": cell.largest, "split_turns": round(cell.split_turns, 4),
            "too_large": cell.too_large,
        }
        for cell in found.cells
    ]  # fmt: skip
    if arguments.json:
        print_json({
            "profile": found.policy.profile.name,
            "keep_matters": found.keep_matters,
            "reserve_matters": found.reserve_matters,
            "cells": cells,
        })  # fmt: skip
        return
    print(f"Tokens sent, those for summaries included, in thousands, under "
          f"{found.policy.profile.name}: keep-recent to the right, reserve downwards.")  # fmt: skip

    def thousands(keep: int, reserve: int) -> str:
        cell = found.cell(keep, reserve)
        return f"{(cell.sent + cell.asked) / 1000:,.0f}"

    rows = [
        [f"{reserve:,}", *(thousands(keep, reserve) for keep in found.keeps)]
        for reserve in found.reserves
    ]
    heads = ["reserve", *(f"{keep:,}" for keep in found.keeps)]
    print_table(heads, rows, right=range(len(heads)))

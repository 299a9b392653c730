"""what-if: a recorded session walked under other rules, without any model call."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from explorer.audit.simulation import Assumptions, Past, Policy, Prices, Simulation, simulate
from explorer.audit.simulation.sweep import Sweep, sweep
from explorer.cli import UsageError
from explorer.commands.output import print_json, print_table
from explorer.commands.profiles import named_profile
from explorer.commands.settled import settled
from explorer.commands.targets import Target, target
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.reasons import count_text
from explorer.work.simulation_inputs import assumptions_for, prices_of, read_past


def run(arguments: argparse.Namespace) -> None:
    """Run the command. Raises UsageError."""
    _check(arguments)
    for name in arguments.profile or ():
        named_profile(name)
    with target(arguments) as chosen:
        policies = _policies(arguments, chosen)
        taken = assumptions_for(
            chosen.document,
            policies[0].profile,
            Assumptions(summary_share=arguments.summary_share),
        )
        past = read_past(chosen.document, chosen.at, policies[0], taken)
        prices = _prices(arguments, chosen)
        if arguments.sweep:
            found = sweep(past, policies[0], assumptions=taken, prices=prices)
            _tell_sweep(arguments, found)
            return
        walks = [
            simulate(chosen.document.tree, chosen.at, one, assumptions=taken, past=past)
            for one in policies
        ]
        if arguments.json:
            print_json(_document(chosen, past, walks, prices))
        else:
            _tell(past, walks, prices)


def _check(arguments: argparse.Namespace) -> None:
    for name in ("keep_recent", "reserve", "window"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be at least 1, not {value}")
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
        profile = settled(name, chosen.document.header.cwd).profile
        found.append(Policy(profile, replace(Settings.of(profile), **changed)))
    return found


def _prices(arguments: argparse.Namespace, chosen: Target) -> Prices | None:
    if not arguments.prices:
        return None
    found = prices_of(chosen.bench.door.info(arguments.prices))
    if found is None:
        raise UsageError(f"--prices {arguments.prices}: nobody knows the prices of this model")
    return found


# for programs --------------------------------------------------------------------------------


def _document(
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
        "recorded": _walk(ids, past.recorded, prices),
        "walks": [_walk(ids, one, prices) for one in walks],
    }


def _walk(ids: Sequence[str], one: Simulation, prices: Prices | None) -> dict[str, Any]:
    def name(entry: int) -> str | None:
        return ids[entry] if entry >= 0 else None

    costs = one.cost(prices) if prices is not None else None
    return {
        "profile": None if one.is_recorded else one.policy.profile.name,
        "keep_recent_tokens": one.policy.settings.keep_recent_tokens,
        "reserve_tokens": one.policy.settings.reserve_tokens,
        "window": one.window,
        "threshold": one.threshold,
        "requests": len(one.requests),
        "exact": one.exact,
        "sent": one.sent,
        "cached": one.cached,
        "written": one.written,
        "asked_for_summaries": one.asked,
        "summaries": one.summarized,
        "summary_words": one.summaries.words,
        "largest": one.largest,
        "too_large": one.too_large,
        "split_turns": round(one.split_turns, 4),
        "cost": None if costs is None else {**costs._asdict(), "total": costs.total},
        "compactions": [
            {
                "cause": made.cause, "reason": made.reason, "after": name(made.entry),
                "turn": made.turn, "first_kept": name(made.first_kept),
                "split_turn": made.split_turn or None, "messages": made.messages,
                "before": made.before, "then": made.after, "summary": made.summary,
                "asked": made.asked, "assumed": made.assumed,
            }
            for made in one.compactions
        ],
        "prunes": [
            {
                "reason": made.reason, "after": name(made.entry), "saved": made.saved,
                "results": [ids[entry] for entry in made.results],
            }
            for made in one.prunes
        ],
        "not_done": [
            {"reason": made.reason, "after": name(made.entry)} for made in one.not_done
        ],
    }  # fmt: skip


# for people ----------------------------------------------------------------------------------


def _tell(past: Past, walks: Sequence[Simulation], prices: Prices | None) -> None:
    recorded = past.recorded
    entries, turns = count_text(recorded.entries, "entry"), count_text(recorded.turns, "turn")
    requests = count_text(len(recorded.requests), "request")
    print(f"{entries} in {turns}, {requests}. Window {walks[0].window:,} tokens.")
    heads = [
        "rules", "compactions", "split", "prunes", "largest", "sent", "cached", "summaries",
        "too large", *(["cost $"] if prices is not None else []),
    ]  # fmt: skip
    rows = [_row(one, prices) for one in (recorded, *walks)]
    print_table(heads, rows, right=range(1, len(heads)))
    for one in walks:
        for made in one.compactions:
            split = f", inside turn {made.split_turn}" if made.split_turn else ""
            kept = f"kept from #{made.first_kept}" if made.first_kept >= 0 else "nothing kept"
            print(
                f"{one.policy.profile.name}: after #{made.entry} ({made.cause}) "
                f"{made.before:,} -> {made.after:,} tokens, {kept}{split}"
            )
        if one.not_done:
            last = one.not_done[-1]
            print(
                f"{one.policy.profile.name}: nothing could be done "
                f"{count_text(len(one.not_done), 'time')}, last after #{last.entry}: {last.reason}"
            )
    print(past.measure.words)
    print(walks[0].summaries.words)
    if any(one.too_large for one in walks):
        print("Too large: requests that do not fit the window although all that the rules allow "
              "was done; there the session would have stood still.")  # fmt: skip


def _row(one: Simulation, prices: Prices | None) -> list[Any]:
    name = "as recorded" if one.is_recorded else one.policy.profile.name
    cost = [f"{one.cost(prices).total:,.2f}"] if prices is not None else []
    return [
        name, len(one.compactions), one.splits, len(one.prunes), one.largest, one.sent, one.cached,
        one.asked, one.too_large, *cost,
    ]  # fmt: skip


def _tell_sweep(arguments: argparse.Namespace, found: Sweep) -> None:
    cells = [
        {
            "keep_recent": cell.keep, "reserve": cell.reserve, "compactions": cell.compactions,
            "prunes": cell.prunes, "sent": cell.sent, "cached": cell.cached, "cost": cell.cost,
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
    print(f"Tokens sent, in thousands, under {found.policy.profile.name}: keep-recent to the right,"
          " reserve downwards.")  # fmt: skip
    rows = [
        [f"{reserve:,}", *(f"{found.cell(keep, reserve).sent / 1000:,.0f}" for keep in found.keeps)]
        for reserve in found.reserves
    ]
    heads = ["reserve", *(f"{keep:,}" for keep in found.keeps)]
    print_table(heads, rows, right=range(len(heads)))

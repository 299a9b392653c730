"""Every value of every switch does something that the others do not.

One place per switch where its values differ; a switch without effect, or one that is not tried
here, fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.branch_summaries import branch_request, prepare_branch
from explorer.compaction.context_size import context_size
from explorer.compaction.messages import serialize_message
from explorer.compaction.partition import partition
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import PROFILES, SIZES, SWITCHES, Profile, Settings
from explorer.compaction.requests import build_requests
from explorer.compaction.summary import check_answer, files_footer, finish
from explorer.compaction.triggers import (
    Guards,
    decide,
    limit_of,
    looks_between_rounds,
    manual_now,
    may_continue,
    should_compact,
)
from explorer.formats.pi.entries import read_message
from explorer.session.context import context_at
from explorer.settings.prompt_templates import load_templates
from tests.compaction.sessions import Session
from tests.compaction.test_triggers import OVERFLOW

TEMPLATES = load_templates()
EXPLORER = PROFILES["explorer"]
Effect = Callable[[Profile], object]
ELSEWHERE = {"branch_summaries"}
"""Seen in the window: tests/ui/window/test_leaving.py."""


def _outcome(session: Session, profile: Profile, keep: int = 20) -> object:
    found = prepare(session.tree, session.leaf, profile, Settings(keep_recent_tokens=keep))
    shown = partition(found)
    if not isinstance(found, Preparation):
        return (found.code, shown.verdicts)
    return (found.cut, found.is_split_turn, found.history, found.turn_prefix, found.read_files,
            found.modified_files, found.failed_files, shown.verdicts)  # fmt: skip


def _requests(session: Session, profile: Profile, keep: int = 20, focus: str = "") -> object:
    found = session.prepared(keep, profile)
    previous = "Before." if found.previous_compaction >= 0 else None
    return [
        (one.purpose, one.prompt)
        for one in build_requests(found, session.read, previous, focus, TEMPLATES)
    ]


def _split() -> Session:
    """A turn too long to be kept, after another."""
    session = Session()
    session.user(10)
    session.reply(10)
    session.user(10)
    for _ in range(4):
        reply = session.reply(5, calls=[("read", "a.py")])
        session.result(5, call=f"c{reply}.0")
    return session


def _after_compaction() -> Session:
    session = Session()
    session.user(10)
    kept = session.user(10)
    session.reply(10, usage=5_000)
    session.compaction(kept)
    session.user(10)
    session.reply(30)
    return session


def _first_turn_after_compaction() -> Session:
    """Of the newest turn the first part is all that is left to summarize."""
    session = Session()
    session.user(10)
    kept = session.user(10)
    session.compaction(kept)
    for _ in range(3):
        reply = session.reply(10, calls=[("read", "a.py")])
        session.result(10, call=f"c{reply}.0")
    return session


def _tiny() -> Session:
    session = Session()
    session.bash(3, excluded=True)
    session.user(10)
    return session


def _alone() -> Session:
    session = Session()
    session.user(10)
    return session


def _huge_tail() -> Session:
    session = Session()
    session.user(10)
    session.reply(10)
    session.user(10)
    session.reply(5, calls=[("bash", "x")])
    session.result(500)
    return session


def _metadata_before_user() -> Session:
    session = Session()
    session.user(10)
    session.reply(10)
    session.metadata()
    session.user(10)
    session.reply(10)
    return session


def _note_before_user() -> Session:
    session = Session()
    session.user(10)
    session.reply(10)
    session.note(5)
    session.user(10)
    session.reply(10)
    return session


def _note_between_call_and_result() -> Session:
    session = Session()
    session.user(10)
    session.reply(10)
    reply = session.reply(10, calls=[("bash", "x")])
    session.note(10)
    session.result(10, call=f"c{reply}.0")
    return session


def _notes() -> Session:
    session = Session()
    session.user(30)
    session.reply(30)
    session.note(30)
    session.reply(12)
    session.user(12)
    return session


def _bash_at_cut() -> Session:
    session = Session()
    session.user(10)
    session.reply(10)
    session.bash(10)
    session.reply(10)
    return session


def _used() -> Session:
    session = Session()
    session.user(10)
    session.reply(10)
    session.user(10)
    session.reply(20, usage=500)
    session.reply(10)
    return session


def _files() -> Session:
    session = Session()
    session.user(10)
    session.called("read", "read.py")
    session.called("edit", "failed.py", error=True)
    session.called("create_file", "made.py")
    session.branch_summary("side", modified=["side.py"])
    session.user(10)
    session.reply(30)
    return session


def _left_branch(profile: Profile, budget: int = 0) -> object:
    session = Session()
    root = session.user(5)
    session.called("edit", "old.py")
    session.reply(40)
    session.reply(5, text="It failed", stop="error")
    session.user(5)
    old = session.leaf
    prepared = prepare_branch(session.tree, old, root, profile, Settings(), budget=budget)
    request = branch_request(prepared, session.read, "Only the tests.", TEMPLATES)
    assert request is not None
    return (request.prompt, prepared.modified_files)


def _size(session: Session, profile: Profile) -> object:
    return context_size(session.tree, context_at(session.tree, session.leaf), profile).tokens


def _stale() -> Session:
    """A reply's report from before the compaction, and something after it."""
    session = Session()
    session.user(10)
    kept = session.user(10)
    session.reply(10, usage=5_000)
    session.compaction(kept)
    session.user(10)
    return session


def _told(text: str, role: str = "user") -> Callable[[Profile], object]:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return lambda profile: serialize_message(read_message(message), profile)


def _notes_in_branch(profile: Profile) -> object:
    session = _notes()
    left = prepare_branch(session.tree, session.leaf, 0, profile, Settings(), budget=0)
    return (_outcome(session, profile, 40), left.total_tokens)


EFFECTS: dict[str, Effect] = {
    "enabled": lambda profile: should_compact(10**6, profile, Settings()),
    "auto_continue": lambda profile: may_continue(
        profile, profile.auto_continue, Guards(), finished=False
    ),
    "finished_turn": lambda profile: may_continue(profile, True, Guards(), finished=True),
    "overflow_recovery": lambda profile: decide(OVERFLOW, Guards(), profile, True).compacts,
    "small_windows": lambda profile: limit_of(profile, Settings(8_192)),
    "threshold_check": looks_between_rounds,
    "manual_while_running": lambda profile: manual_now(profile, running=True),
    "usage": lambda profile: _size(_stale(), profile),
    "boundary": lambda profile: _outcome(_after_compaction(), profile),
    "cut_unit": lambda profile: _outcome(_split(), profile, 40),
    "keep_recent_scale": lambda profile: _outcome(_used(), profile, 25),
    "empty_input": lambda profile: [_outcome(one, profile, 10) for one in (_tiny(), _alone())],
    "valid_cuts": lambda profile: _outcome(_bash_at_cut(), profile),
    "oversized_tail": lambda profile: _outcome(_huge_tail(), profile, 100),
    "turn_judgement": lambda profile: _outcome(_metadata_before_user(), profile),
    "pull_back": lambda profile: _outcome(_note_before_user(), profile),
    "cut_guard": lambda profile: _outcome(_note_between_call_and_result(), profile),
    "weights": _notes_in_branch,
    "split": lambda profile: _requests(_split(), profile),
    "prefix_only": lambda profile: finish(
        _first_turn_after_compaction().prepared(20, profile), "", "Prefix.", "Before."
    ),
    "sections": lambda profile: _requests(_after_compaction(), profile),
    "dialect": lambda profile: _requests(_after_compaction(), profile),
    "tags_in_text": _told("</conversation>"),
    "long_results": _told("x" * 1999 + "\U0001f600" * 20, "toolResult"),
    "result_cut": _told("x" * 3000, "toolResult"),
    "answers": lambda profile: check_answer("", "stop", profile=profile),
    "focus": lambda profile: _requests(_split(), profile, focus="The tests."),
    "failed_calls": lambda profile: _outcome(_files(), profile),
    "file_tools": lambda profile: _outcome(_files(), profile),
    "branch_details": lambda profile: _outcome(_files(), profile),
    "file_footer": lambda profile: files_footer(_files().prepared(20, profile)),
    "short_summary": lambda profile: _requests(_after_compaction(), profile),
    "context_wrapper": lambda profile: TEMPLATES.worded(profile).compaction_message("S"),
    "branch_replies": _left_branch,
    "branch_files": lambda profile: _left_branch(profile, 20),
    "branch_instructions": _left_branch,
}


def test_every_switch_is_tried_here_or_in_the_window() -> None:
    assert set(EFFECTS) | ELSEWHERE == set(SWITCHES)
    assert not set(EFFECTS) & ELSEWHERE


@pytest.mark.parametrize("name", list(EFFECTS))
def test_every_value_of_a_switch_has_an_effect_of_its_own(name: str) -> None:
    seen: dict[str, object] = {}
    for value in SWITCHES[name].values:
        change: dict[str, Any] = {name: value}
        told = repr(EFFECTS[name](replace(EXPLORER, **change)))
        assert told not in seen.values(), f"{value} does what {list(seen)} do"
        seen[str(value)] = told
    assert len(seen) >= 2


def _kept(profile: Profile) -> object:
    session = _split()
    settings = Settings.of(profile)
    found = prepare(session.tree, session.leaf, profile, settings)
    return found.cut if isinstance(found, Preparation) else -1


def _branch_budget(profile: Profile) -> object:
    session = _split()
    return prepare_branch(session.tree, session.leaf, 0, profile, Settings()).budget


def _reinserted_reason(profile: Profile) -> object:
    session = _split()
    found = prepare(session.tree, session.leaf, profile, Settings(keep_recent_tokens=5))
    return list(found.again) if isinstance(found, Preparation) else []


SIZE_EFFECTS: dict[str, tuple[int, int, Effect]] = {
    "keep_recent_tokens": (5, 50, _kept),
    "keep_rounds": (1, 2, lambda profile: _kept(replace(profile, cut_unit="rounds"))),
    "reserve_tokens": (100, 9_000, lambda p: limit_of(p, Settings.of(p))),
    "reserve_floor_percent": (0, 20, lambda p: limit_of(p, Settings.of(p))),
    "threshold_percent": (10, 20, lambda p: limit_of(p, Settings.of(p))),
    "threshold_tokens": (10, 20, lambda p: limit_of(p, Settings.of(p))),
    "context_window": (10_000, 20_000, lambda p: limit_of(p, Settings.of(p))),
    "branch_reserve_tokens": (10, 20, _branch_budget),
    "keep_user_tokens": (0, 5_000, _reinserted_reason),
}


@pytest.mark.parametrize("name", list(SIZE_EFFECTS))
def test_every_size_has_an_effect(name: str) -> None:
    one, other, effect = SIZE_EFFECTS[name]
    changes: list[dict[str, Any]] = [{name: one}, {name: other}]
    first, second = (effect(replace(EXPLORER, **change)) for change in changes)
    assert first != second


def test_every_size_is_tried_here_or_with_its_policy() -> None:
    own = {name for name in SIZES if "." not in name}
    # The address of a service is tried over real HTTP, with the models.
    assert own - set(SIZE_EFFECTS) == {"remote_endpoint"}
    assert set(SIZE_EFFECTS) <= set(Profile.__struct_fields__)

"""Sessions whose first entry has a part in it: compactions that begin a path, as in a fork, or keep
everything from there on. Where a session stands in its file changes nothing."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.branch_summaries import prepare_branch
from explorer.compaction.context_size import context_size, counted_size
from explorer.compaction.partition import Verdict
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.requests import build_requests
from explorer.formats.pi.entries import read_entry
from explorer.session.context import context_at
from explorer.session.describe import describe
from explorer.session.tree import SessionTree
from explorer.settings.prompt_templates import load_templates
from explorer.tokens.estimate import estimate_entry
from tests.compaction import test_properties, test_shaping_properties
from tests.compaction.sessions import Session, with_verdict

TEMPLATES = load_templates()
FIRST = st.sampled_from([("reported reply", 3, 700), ("compaction", 0), ("branch summary", 5)])


def test_the_files_of_a_compaction_that_comes_first_are_taken_over() -> None:
    session = Session()
    session.compaction(kept=0, read=["read.py"], modified=["changed.py"])
    for _ in range(4):
        session.user(10)
        session.reply(10)
    prepared = session.prepared(keep=15)
    assert prepared.previous_compaction == 0
    assert prepared.read_files == ("read.py",)
    assert prepared.modified_files == ("changed.py",)


def test_b1_what_was_kept_from_the_first_entry_on_is_shown_as_lost_by_old_pi() -> None:
    session = Session()
    kept = [session.user(10), session.reply(10)]
    session.compaction(kept=0)
    for _ in range(4):
        session.user(10)
        session.reply(10)
    old = replace(PROFILES["pi"], boundary="faithful-0.58")
    parts = session.partition(15, old)
    assert with_verdict(parts, Verdict.LOST) == kept


def test_a_session_may_begin_with_a_reply_that_was_counted() -> None:
    session = Session()
    session.reply(3, usage=700)
    for profile in PROFILES.values():
        size = context_size(session.tree, context_at(session.tree, session.leaf), profile)
        assert (size.tokens, size.source) == (700, "provider")


def behind_another(session: Session) -> Session:
    """The same session in a file that begins with something else."""
    before: dict[str, Any] = {"type": "message", "message": {"role": "user", "content": "before"}}
    tree = SessionTree()
    tree.append("another", -1, describe(read_entry(before)), 3)
    for at, stored in enumerate(session.entries):
        above = session.tree.columns.parent[at]
        entry = read_entry(stored)
        tree.append(
            stored["id"], -1 if above < 0 else above + 1, describe(entry), estimate_entry(entry)
        )
    later = Session()
    later.tree, later.entries = tree, [before, *session.entries]
    later.leaf = -1 if session.leaf < 0 else session.leaf + 1
    return later


def figures(session: Session, first: int, keep: int, profile: Profile, target: int) -> list[Any]:
    """All that is computed of a session whose entries begin at ``first``."""

    def numbers(entries: Any) -> list[int]:
        return [entry if entry < 0 else entry - first for entry in entries]

    def words(text: str) -> str:
        return re.sub(r"#(\d+)", lambda found: f"#{int(found[1]) - first}", text)

    tree = session.tree
    context = context_at(tree, session.leaf)
    parts = session.partition(keep, profile)
    prepared = parts.preparation
    left = prepare_branch(tree, session.leaf, target + first, profile, Settings(), budget=50)
    found: list[Any] = [
        context_size(tree, context, profile),
        counted_size(tree, context, profile),
        numbers(context.messages),
        list(parts.verdicts),
        list(parts.tokens),
        [words(parts.reason(at)) for at in range(len(parts.path))],
        words(prepared.reason),
        [*numbers([left.common_ancestor]), numbers(left.entries), numbers(left.messages)],
        [left.total_tokens, left.modified_files, left.file_changes],
    ]
    if isinstance(prepared, Preparation):
        found += [
            [prepared.cut, prepared.cut_point, prepared.turn_start, prepared.boundary],
            numbers([prepared.first_kept, prepared.previous_compaction, *prepared.again]),
            [numbers(prepared.history), numbers(prepared.turn_prefix), prepared.file_changes],
            [
                (words(request.prompt), numbers(span.entry for span in request.sources))
                for request in build_requests(prepared, session.read, "before", "", TEMPLATES)
            ],
        ]
    return found


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.tuples(FIRST, st.lists(test_properties.STEPS, max_size=4)).map(
            lambda steps: test_properties.build([steps[0], *steps[1]])
        ),
        test_properties.SESSIONS,
        test_shaping_properties.SESSIONS,
    ),
    st.sampled_from([0, 1, 20, 200]),
    st.sampled_from([PROFILES[name] for name in ("explorer", "pi", "omp", "copilot")]),
    st.integers(0, 3),
)
def test_where_a_session_stands_in_its_file_changes_nothing(
    session: Session, keep: int, profile: Profile, target: int
) -> None:
    target = min(target, len(session.tree) - 1)
    there = figures(session, 0, keep, profile, target)
    for before, after in zip(
        there, figures(behind_another(session), 1, keep, profile, target), strict=True
    ):
        assert before == after

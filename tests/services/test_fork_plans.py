"""What a fork takes of any session, and where a fork left its origin."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.services.session_files import Transcripts
from explorer.services.session_forks import ForkPlan, fork_point, place_of, plan_fork
from explorer.session.describe import describe
from explorer.session.entries import Entry
from explorer.session.kinds import Kind
from tests.compaction.sessions import Session
from tests.compaction.test_properties import SESSIONS
from tests.session.trees import naive_path, parent_lists, plant

MESSAGE = describe(Entry.NONE)


@st.composite
def labelled(draw: st.DrawFn) -> Session:
    """A session with labels here and there, some of them taken back, on its branches."""
    session = draw(SESSIONS)
    for at in draw(st.lists(st.integers(0, 9), max_size=6)):
        under = draw(st.integers(0, max(0, len(session.entries) - 1)))
        if under < len(session.entries):
            text = draw(st.sampled_from(["", "one", "two"]))
            session.add({"type": "label", "targetId": f"e{at}", "label": text}, under)
    return session


@settings(max_examples=80, deadline=None)
@given(labelled(), st.booleans(), st.data())
def test_a_plan_says_what_is_copied_and_what_is_lost(
    session: Session, whole: bool, data: st.DataObject
) -> None:
    tree, columns = session.tree, session.tree.columns
    if not len(tree):
        return
    at = data.draw(st.integers(0, len(tree) - 1))
    plan = plan_fork(tree, at, whole)
    taken = range(len(tree)) if whole else tree.path(at).indices()
    assert [entry for part in plan.ranges for entry in part] == list(taken)
    assert plan.count == len(taken)
    lost = []
    for entry in taken:
        if columns.kind[entry] == Kind.COMPACTION:
            kept = tree.index_of(columns.compactions[entry].first_kept_id)
            if kept not in tree.path(entry):
                lost.append(entry)
    assert list(plan.lost_boundaries) == lost
    assert any("first kept entry" in note for note in plan.notes()) is bool(lost)
    copied: dict[int, str] = {}
    for entry, (name, text) in sorted(columns.labels.items()):
        target = tree.index_of(name)
        if entry in taken and target in taken:
            copied[target] = text
    stands = {target: text for target, text in copied.items() if text} | {
        target: text for target, text in plan.labels.items() if text
    }
    for target, text in plan.labels.items():
        if not text:
            assert stands.pop(target)
    assert stands == {target: text for target, text in tree.labels().items() if target in taken}


def test_notes_on_a_fork_count_and_name() -> None:
    def notes(lost: int, left: int) -> list[str]:
        return ForkPlan(0, False, (), {}, tuple(range(lost)), tuple(range(left))).notes()

    assert notes(0, 0) == []
    assert (
        notes(1, 0)[0].startswith("One compaction names a first kept entry")
        and len(notes(1, 0)) == 1
    )
    assert "(#0, #1, #2, #3, #4)" in notes(5, 0)[0] and "#4, …)" in notes(6, 0)[0]
    assert notes(0, 1) == ["One branch summary tells of a branch that stays in the origin."]
    assert notes(0, 1_000)[0].startswith("1,000 branch summaries tell of")


@settings(max_examples=80, deadline=None)
@given(parent_lists(), st.data())
def test_where_a_fork_left_its_origin(parents: list[int], data: st.DataObject) -> None:
    origin = plant(parents)
    at = data.draw(st.integers(-1, len(parents) - 1))
    copied = naive_path(parents, at)
    fork = Session()
    for entry in copied:
        fork.leaf = fork.tree.append(f"e{entry}", fork.leaf, MESSAGE, 1)
    for number in range(data.draw(st.integers(0, 3))):
        fork.leaf = fork.tree.append(f"n{number}", fork.leaf, MESSAGE, 1)
    assert fork_point(fork.tree, fork.leaf, origin) == at
    starts, first = [], 0
    for part in origin.path(at).ranges if at >= 0 else ():
        starts.append((part, first))
        first += len(part)
    for place, entry in enumerate(copied):
        assert place_of(entry, starts) == place
    assert place_of(len(parents), starts) == -1


def test_only_its_own_transcripts_are_a_sessions(tmp_path: Path) -> None:
    own = Transcripts(tmp_path / "s.db", "abc")
    own.folder.mkdir()
    session = Session()
    session.user()
    place = own.place(session.tree, 0)
    assert place.parent == own.folder and not own.is_transcript(place)
    place.write_text("x")
    assert own.is_transcript(place)
    for name in (place.with_suffix(".md"), place.with_name("abd" + place.name[3:])):
        name.write_text("x")
        assert not own.is_transcript(name)
    outside = tmp_path / place.name
    outside.write_text("x")
    assert not own.is_transcript(outside)
    assert own.place(session.tree, -1).name.endswith("empty.txt")
    own.remove()
    assert not place.exists() and place.with_suffix(".md").exists()

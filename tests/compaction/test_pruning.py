"""What is pruned, in which order, and why (A13, C5)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import ORDER, plan_pruning, prune_note
from explorer.session.context import context_at
from explorer.session.edit_entries import note_tokens
from explorer.session.edits import pruned_at
from explorer.session.kinds import Kind
from tests.compaction.pruned_sessions import prune, take_back, used
from tests.compaction.sessions import Session

OMP = Pruning(protect_tokens=100, minimum_savings=1)
BEYOND = Pruning(
    protect_tokens=100,
    minimum_savings=1,
    protected_tools=("skill",),
    superseded_first=True,
    useless=True,
    current_reads="kept",
    amount="needed",
    scope="context",
    smallest_result=10,
)


def _planned(session: Session, policy: Pruning, **more: int) -> list[tuple[int, str]]:
    plan = plan_pruning(session.tree, session.leaf, policy, **more)
    return [(one.entry, one.why) for one in plan.results]


def test_a13_the_newest_results_stay_and_older_ones_go() -> None:
    session = Session()
    # The result in which the window's edge falls is protected, as the newest is.
    old, *_protected = (used(session, "bash", size) for size in (300, 90, 50))
    plan = plan_pruning(session.tree, session.leaf, OMP)
    assert [one.entry for one in plan.results] == [old]
    assert plan.results[0].note == prune_note(300) == "[Output truncated - 300 tokens]"
    assert plan.saved == 300 - note_tokens(prune_note(300)) == plan.results[0].saved


def test_a13_protected_tools_stay_by_name_glob_and_predicate() -> None:
    session = Session()
    results = {name: used(session, name) for name in ("skill", "read", "mcp__db__query", "bash")}
    used(session, "bash", 200)
    assert _planned(session, OMP) == [(results["mcp__db__query"], "old"), (results["bash"], "old")]
    globbed = replace(OMP, protected_tools=("mcp__*", "rea?"))
    assert [entry for entry, _ in _planned(session, globbed)] == [
        results["skill"], results["bash"],
    ]  # fmt: skip
    plan = plan_pruning(
        session.tree, session.leaf, OMP, protect=lambda entry, tool: tool.startswith("b")
    )
    assert [one.entry for one in plan.results] == [results["mcp__db__query"]]


def test_a13_below_the_floor_nothing_is_done() -> None:
    session = Session()
    used(session, "bash", 300)
    used(session, "bash", 200)
    gain = 300 - note_tokens(prune_note(300))
    assert plan_pruning(session.tree, session.leaf, replace(OMP, minimum_savings=gain)).results
    plan = plan_pruning(session.tree, session.leaf, replace(OMP, minimum_savings=gain + 1))
    assert not plan.results and plan.saved == 0 and plan.code == "below-minimum"
    assert plan.could_save == gain and plan.found == 1
    assert "nothing is done" in plan.reason
    assert plan_pruning(session.tree, -1, OMP).code == "nothing"


def test_a13_a_result_smaller_than_its_note_is_left_alone_by_the_corrected_rules() -> None:
    session = Session()
    tiny = used(session, "bash", 3)
    used(session, "bash", 200)
    assert _planned(session, replace(OMP, minimum_savings=0)) == [(tiny, "old")], "as oh-my-pi"
    assert _planned(session, replace(BEYOND, minimum_savings=0)) == []


def test_a13_the_smallest_result_that_is_pruned_may_be_chosen() -> None:
    session = Session()
    small = used(session, "bash", 60)
    used(session, "bash", 200)
    policy = replace(OMP, minimum_savings=0, smallest_result=60)
    assert _planned(session, policy) == [(small, "old")]
    assert _planned(session, replace(policy, smallest_result=61)) == []


def test_c5_a_file_that_was_read_again_goes_first() -> None:
    session = Session()
    other = used(session, "bash")
    first = used(session, "read", arguments={"path": "a.py"})
    again = used(session, "read", arguments={"path": "a.py"})
    used(session, "bash", 200)
    plan = plan_pruning(session.tree, session.leaf, BEYOND)
    assert [(one.entry, one.why) for one in plan.results] == [(first, "superseded"), (other, "old")]
    assert plan.results[0].by == again - 1, "the call that read it again"
    assert plan.results[0].reason == f"Out of date: the file was read again at #{again - 1}."
    assert ORDER[0] == "superseded"


def test_c5_a_file_that_was_changed_since_goes_first_and_the_newest_read_stays() -> None:
    session = Session()
    stale = used(session, "read", arguments={"path": "a.py"})
    used(session, "edit", arguments={"path": "a.py"})
    used(session, "read", arguments={"path": "b.py"})
    used(session, "bash", 200)
    assert (stale, "superseded") in _planned(session, BEYOND)
    first = plan_pruning(session.tree, session.leaf, BEYOND).results[0]
    assert first.entry == stale and "changed at" in first.reason
    assert len(_planned(session, BEYOND)) == 2, "the edit's result is old, b.py is current"
    assert len(_planned(session, replace(BEYOND, current_reads="pruned"))) == 3


def test_c5_each_of_the_three_rules_on_reads_and_results_works_alone() -> None:
    session = Session()
    first = used(session, "read", arguments={"path": "a.py"})
    again = used(session, "read", arguments={"path": "a.py"})
    used(session, "bash", 200)
    none = replace(BEYOND, superseded_first=False, useless=False, current_reads="pruned")
    old = [(first, "old"), (again, "old")]
    assert _planned(session, none) == old
    assert _planned(session, replace(none, current_reads="kept")) == old[:1]
    superseded = [(first, "superseded"), (again, "old")]
    assert _planned(session, replace(none, superseded_first=True)) == superseded


def test_c5_another_part_of_a_file_supersedes_nothing() -> None:
    session = Session()
    head = used(session, "read", arguments={"path": "a.py", "limit": 50})
    used(session, "read", arguments={"path": "a.py", "offset": 50, "limit": 50})
    used(session, "bash", 200)
    assert _planned(session, BEYOND) == []
    used(session, "read", arguments={"path": "a.py", "limit": 50})
    assert _planned(session, replace(BEYOND, protect_tokens=50))[0] == (head, "superseded")
    used(session, "read", arguments={"path": "a.py"})
    whole = _planned(session, replace(BEYOND, protect_tokens=50))
    assert [why for _, why in whole].count("superseded") == 3, "all of it was read since"


def test_c5_a_read_or_edit_that_failed_supersedes_nothing() -> None:
    session = Session()
    used(session, "read", arguments={"path": "a.py"})
    used(session, "edit", arguments={"path": "a.py"}, text="no match", error=True)
    used(session, "read", arguments={"path": "a.py"}, text="interrupted", error=True)
    used(session, "bash", 200)
    assert _planned(session, BEYOND) == []


def test_c5_a_later_read_that_is_pruned_itself_supersedes_nothing() -> None:
    session = Session()
    kept = used(session, "read", arguments={"path": "a.py"})
    again = used(session, "read", arguments={"path": "a.py"})
    used(session, "bash", 200)
    plan = plan_pruning(session.tree, session.leaf, replace(OMP, protected_tools=()))
    only = replace(plan, results=tuple(one for one in plan.results if one.entry == again))
    prune(session, only)
    assert _planned(session, BEYOND) == [], f"#{kept} is the only text of the file now"


def test_c5_the_same_error_again_and_nothing_found_go_before_what_is_merely_old() -> None:
    session = Session()
    old = used(session, "bash")
    error = used(session, "bash", text="Traceback: in 12 ms\n" * 20, error=True)
    nothing = used(session, "grep", text="No matches found for pattern: " + "x" * 100)
    used(session, "bash", text="Traceback: in 47 ms\n" * 20, error=True)
    used(session, "bash", 200)
    found = _planned(session, BEYOND)
    assert found == [(error, "useless"), (nothing, "useless"), (old, "old"), (error + 4, "old")]
    assert {why for _, why in _planned(session, OMP)} == {"old"}


def test_of_the_merely_old_no_more_than_needed_goes_the_oldest_first() -> None:
    session = Session()
    stale = used(session, "read", arguments={"path": "a.py"})
    used(session, "write", arguments={"path": "a.py"})
    old = [used(session, "bash") for _ in range(4)]
    used(session, "bash", 200)
    assert len(_planned(session, BEYOND)) == 6
    found = [entry for entry, _ in _planned(session, BEYOND, needed=200)]
    assert found[0] == stale and found[-1] < old[-1] and len(found) == 3
    assert len(_planned(session, replace(BEYOND, amount="everything"), needed=1)) == 6


def test_what_a_compaction_dropped_is_only_counted_by_the_rules_that_look_at_the_path() -> None:
    session = Session()
    gone = used(session, "bash")
    kept = session.user()
    inside = used(session, "bash")
    session.compaction(kept)
    used(session, "bash", 200)
    assert _planned(session, OMP) == [(gone, "old"), (inside, "old")]
    assert _planned(session, BEYOND) == [(inside, "old")]


def test_what_the_agent_pruned_in_its_file_is_not_pruned_again() -> None:
    session = Session()
    at = used(session, "bash")
    session.entries[at]["message"]["prunedAt"] = 1
    again = Session()
    for entry in session.entries:
        again.add({key: value for key, value in entry.items() if key != "id"})
    used(again, "bash", 200)
    assert _planned(again, OMP) == []


@pytest.mark.parametrize("kind", ["omit", "pin"])
@pytest.mark.parametrize("policy", [OMP, BEYOND])
def test_what_a_person_omitted_or_pinned_is_not_pruned(policy: Pruning, kind: str) -> None:
    session = Session()
    first, second, *_protected = (used(session, "bash", size) for size in (300, 300, 90, 50))
    assert _planned(session, replace(policy, amount="everything"))[:1] == [(first, "old")]
    data = {"entries": [f"e{first - 1}", f"e{first}"]}
    session.add({"type": "custom", "customType": f"session-explorer/{kind}", "data": data})
    assert _planned(session, replace(policy, amount="everything"))[:1] == [(second, "old")]


def test_a_tokenizers_counts_are_used_where_they_are() -> None:
    session = Session()
    at = used(session, "bash", 50)
    used(session, "bash", 200)
    weights = list(session.tree.columns.estimate)
    weights[at], weights[-1] = 777, -1
    plan = plan_pruning(session.tree, session.leaf, OMP, weights=weights)
    assert plan.results[0].tokens == 777


def test_a_branch_from_before_a_prune_is_not_pruned() -> None:
    session = Session()
    result = used(session, "bash")
    fork = used(session, "bash", 200)
    pruned = prune(session, plan_pruning(session.tree, session.leaf, OMP))
    assert list(pruned_at(session.tree, pruned)) == [result]
    assert not pruned_at(session.tree, fork)
    other = session.user(under=fork)
    assert not pruned_at(session.tree, other) and not context_at(session.tree, other).pruned


def test_a_prune_taken_back_holds_no_longer_and_can_be_planned_again() -> None:
    session = Session()
    used(session, "bash")
    used(session, "bash", 200)
    plan = plan_pruning(session.tree, session.leaf, OMP)
    pruned = prune(session, plan)
    assert not plan_pruning(session.tree, session.leaf, OMP).results
    session.user()
    take_back(session, pruned)
    assert not pruned_at(session.tree, session.leaf)
    assert plan_pruning(session.tree, session.leaf, OMP).results == plan.results


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"results": 3}, {"results": [None, {"id": 1}, {"id": "e1"}]},
     {"results": [{"id": "nowhere", "text": "n"}], "saved": "x"}, {"undoes": 4},
     {"results": [{"id": "e0", "text": "n", "tokens": -3}], "saved": 10**30}],
)  # fmt: skip
def test_a_prune_entry_of_any_shape_breaks_nothing(data: object) -> None:
    session = Session()
    session.user()
    used(session, "bash")
    at = session.add({"type": "custom", "customType": "session-explorer/prune", "data": data})
    assert not pruned_at(session.tree, at), "none of them names a tool result above it"


TOOLS = st.sampled_from(["bash", "read", "edit", "grep", "skill", "mcp__a"])
STEPS = st.lists(
    st.tuples(
        TOOLS,
        st.sampled_from([0, 2, 9, 40, 150]),
        st.sampled_from(["a", "b", "c"]),
        st.booleans(),
        st.sampled_from(["", "", "", "user", "compaction", "back"]),
    ),
    max_size=30,
)
POLICIES = st.builds(
    Pruning,
    protect_tokens=st.sampled_from([0, 1, 60, 200]),
    minimum_savings=st.sampled_from([0, 1, 100]),
    protected_tools=st.sampled_from([(), ("skill", "read"), ("mcp__*",), ("*",)]),
    superseded_first=st.booleans(),
    useless=st.booleans(),
    current_reads=st.sampled_from(["pruned", "kept"]),
    amount=st.sampled_from(["everything", "needed"]),
    scope=st.sampled_from(["path", "context"]),
    smallest_result=st.sampled_from([0, 5]),
)


def _built(steps: list[tuple[str, int, str, bool, str]]) -> Session:
    session = Session()
    session.user()
    for tool, tokens, path, error, then in steps:
        used(session, tool, tokens, {"path": path}, error=error)
        if then == "user":
            session.user()
        elif then == "compaction":
            session.compaction(max(0, session.leaf - 3))
        elif then == "back":
            session.leaf = max(0, session.leaf - 4)
    return session


@settings(max_examples=300, deadline=None)
@given(STEPS, POLICIES, st.sampled_from([None, 0, 50, 1000]))
def test_what_holds_for_every_plan(
    steps: list[tuple[str, int, str, bool, str]], policy: Pruning, needed: int | None
) -> None:
    session = _built(steps)
    tree, columns = session.tree, session.tree.columns
    plan = plan_pruning(tree, session.leaf, policy, needed=needed)
    chosen = [one.entry for one in plan.results]
    assert plan == plan_pruning(tree, session.leaf, policy, needed=needed)
    assert len(set(chosen)) == len(chosen)
    path = tree.path(session.leaf)
    results = [at for at in path if columns.kind[at] == Kind.TOOL_RESULT]
    assert set(chosen) <= set(results)
    # Never a protected tool.
    assert not {one.tool for one in plan.results} & _protected(policy)
    # The protected window is untouched: what is newer than any pruned one fills it.
    if chosen:
        newer = results[results.index(max(chosen)) + 1 :]
        assert sum(columns.estimate[at] for at in newer) >= policy.protect_tokens
    # What is saved is the sum, and not below the floor.
    assert plan.saved == sum(one.saved for one in plan.results)
    assert plan.saved >= policy.minimum_savings or not chosen
    assert bool(chosen) is (plan.code == "")
    ranks = [(ORDER.index(one.why), one.entry) for one in plan.results]
    assert ranks == sorted(ranks)


def _protected(policy: Pruning) -> set[str]:
    names = {"bash", "read", "edit", "grep", "skill", "mcp__a"}
    if "*" in policy.protected_tools:
        return names
    return {name for name in names if name in policy.protected_tools} | (
        {"mcp__a"} if "mcp__*" in policy.protected_tools else set()
    )


@settings(max_examples=200, deadline=None)
@given(STEPS, POLICIES)
def test_pruning_again_prunes_nothing_that_was_pruned(
    steps: list[tuple[str, int, str, bool, str]], policy: Pruning
) -> None:
    session = _built(steps)
    first = plan_pruning(session.tree, session.leaf, policy)
    if not first.results:
        return
    prune(session, first)
    again = plan_pruning(session.tree, session.leaf, policy)
    assert not {one.entry for one in first.results} & {one.entry for one in again.results}
    assert set(pruned_at(session.tree, session.leaf)) == {one.entry for one in first.results}

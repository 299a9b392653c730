"""What leaving a branch leaves behind, and its summary (A31 to A36, B16, B17, E10)."""

from __future__ import annotations

from msgspec.structs import replace

from explorer.compaction.branch_summaries import (
    BranchPreparation,
    branch_request,
    finish_branch,
    prepare_branch,
)
from explorer.compaction.profile import Profile, Settings
from explorer.settings.prompt_templates import load_templates
from tests.compaction.sessions import EXPLORER, PI, Session

TEMPLATES = load_templates()


def forked() -> Session:
    """A root of two entries; a branch of work below it; another branch of one entry, e-last."""
    session = Session()
    session.user(10)
    root = session.reply(10)
    session.user(10, text="try the other way")
    session.called("edit", "tried.py")
    session.reply(10, text="it works")
    session.user(10, under=root)
    return session


OLD, TARGET = 5, 6


def leave(session: Session, profile: Profile = EXPLORER, budget: int = 0) -> BranchPreparation:
    return prepare_branch(session.tree, OLD, TARGET, profile, Settings(), budget=budget)


def test_a31_what_is_left_behind_reaches_down_to_the_deepest_common_ancestor() -> None:
    left = leave(forked())
    assert left.common_ancestor == 1
    assert left.entries == [2, 3, 4, 5]


def test_a31_compactions_and_earlier_branch_summaries_are_told() -> None:
    session = Session()
    session.user(10)
    session.compaction(kept=0)
    session.branch_summary()
    session.user(10, under=0)
    left = prepare_branch(session.tree, 2, 3, EXPLORER, Settings())
    assert left.messages == [1, 2]


def test_a34_a35_the_summary_goes_to_the_target_and_names_where_the_branch_was_left() -> None:
    left = leave(forked())
    assert (left.old_leaf, left.target) == (OLD, TARGET)


def test_a32_the_default_budget_is_the_window_less_the_reserve_for_branches() -> None:
    settings = Settings(context_window=1000, reserve_tokens=1)
    own = replace(EXPLORER, branch_reserve_tokens=300, small_windows="as-set")
    left = prepare_branch(forked().tree, OLD, TARGET, own, settings)
    assert left.budget == 700
    scaled = prepare_branch(forked().tree, OLD, TARGET, EXPLORER, settings)
    assert scaled.budget == 750, "the reserve is a quarter of a small window at most"


def test_a32_the_newest_messages_fit_first() -> None:
    session = forked()
    everything = leave(session)
    assert everything.messages == [2, 3, 5]
    tail = leave(session, budget=5)
    assert tail.messages == [5]
    assert tail.total_tokens <= 5


def test_a32_files_of_all_entries_count_however_little_fits() -> None:
    assert leave(forked(), budget=1).modified_files == ("tried.py",)
    assert leave(forked(), PI, budget=1).modified_files == ()


def test_a32_a_large_summary_near_the_edge_is_still_told() -> None:
    session = Session()
    session.user(10)
    session.branch_summary("word" * 500)
    session.user(10)
    session.user(10, under=0)
    near = prepare_branch(session.tree, 2, 3, EXPLORER, Settings(), budget=100)
    assert near.messages == [1, 2]
    full = prepare_branch(session.tree, 2, 3, EXPLORER, Settings(), budget=11)
    assert full.messages == [2]


def test_a28_files_of_earlier_summaries_count_unless_an_extension_made_them() -> None:
    session = Session()
    session.user(10)
    session.branch_summary(modified=["ours.py"])
    session.branch_summary(modified=["theirs.py"], by_extension=True)
    session.compaction(kept=0, read=["earlier.py"])
    session.user(10, under=0)
    left = prepare_branch(session.tree, 3, 4, EXPLORER, Settings())
    assert left.modified_files == ("ours.py",)
    assert left.read_files == ("earlier.py",)


def test_b17_tool_results_are_left_out() -> None:
    for profile in (EXPLORER, PI):
        assert 4 not in leave(forked(), profile).messages


def test_e10_failed_replies_and_hidden_messages_are_left_out() -> None:
    session = Session()
    session.user(10)
    session.user(10)
    session.reply(stop="error")
    session.reply(stop="aborted")
    session.note(shown=False)
    shown = session.note()
    session.bash(excluded=True)
    session.user(10, under=0)
    clean = prepare_branch(session.tree, 6, 7, EXPLORER, Settings())
    assert clean.messages == [1, shown]
    assert prepare_branch(session.tree, 6, 7, PI, Settings()).messages == [1, 2, 3, 4, 5, 6]


def test_b16_nothing_left_behind_makes_no_request() -> None:
    session = forked()
    for old, target in ((OLD, OLD), (1, OLD), (-1, OLD)):
        left = prepare_branch(session.tree, old, target, EXPLORER, Settings())
        assert left.entries == left.messages == []
        assert branch_request(left, session.read, "", TEMPLATES) is None


def test_going_to_the_start_leaves_the_whole_path() -> None:
    left = prepare_branch(forked().tree, OLD, -1, EXPLORER, Settings())
    assert left.common_ancestor == -1
    assert left.entries == [0, 1, 2, 3, 4, 5]


def test_a33_the_request_tells_the_branch_and_the_result_has_preamble_and_files() -> None:
    session = forked()
    left = leave(session)
    request = branch_request(left, session.read, "", TEMPLATES)
    assert request is not None
    assert (request.purpose, request.max_output_tokens) == ("branch", 2048)
    assert request.prompt == (
        "<conversation>\n[User]: try the other way\n\n[Assistant]: word\n\n"
        '[Assistant tool calls]: edit(path="tried.py")\n\n[Assistant]: it works\n'
        f"</conversation>\n\n{TEMPLATES.sections['explorer'].branch}"
    )
    assert [span.entry for span in request.sources] == left.messages
    assert finish_branch(left, "## Goal\nx", TEMPLATES) == (
        f"{TEMPLATES.branch_preamble}\n\n## Goal\nx"
        "\n\n<modified-files>\ntried.py\n</modified-files>"
    )


def test_a36_instructions_follow_the_prompt_or_take_its_place() -> None:
    session = forked()
    left = leave(session)
    follow = branch_request(left, session.read, "only the API", TEMPLATES)
    instead = branch_request(left, session.read, "only the API", TEMPLATES, replace=True)
    assert follow is not None
    assert instead is not None
    assert TEMPLATES.sections["explorer"].branch in follow.prompt
    assert follow.prompt.endswith("only the API")
    assert TEMPLATES.sections["explorer"].branch not in instead.prompt
    assert instead.prompt.endswith("</conversation>\n\nonly the API")
    # Empty instructions replace nothing.
    blank = branch_request(left, session.read, " ", TEMPLATES, replace=True)
    assert blank is not None
    assert blank.prompt.endswith(TEMPLATES.sections["explorer"].branch)

"""The figures of a profile's card."""

from __future__ import annotations

from explorer.compaction.partition import Verdict
from explorer.compaction.profile import PROFILES
from explorer.compaction.profile_comparison import compare_profiles
from tests.compaction.sessions import Session
from ui.profiles.compare_window import cells_of


def figures(session: Session, name: str) -> dict[str, str]:
    """The card's figures by their captions, entries counted by a tokenizer."""
    counted = session.tree.columns.estimate
    (found,) = compare_profiles(
        session.tree, session.leaf, [PROFILES[name]], weights_of=lambda _profile: counted
    )
    return {caption: figure for caption, figure, _ in cells_of(found)}


def test_the_card_says_what_its_strip_draws_as_summarized() -> None:
    session = Session()
    first = session.user(200)
    session.reply(100)
    assert figures(session, "pi")["summarized"] == "nothing"
    session.compaction(first, "word" * 3_000)
    session.reply(50)
    (found,) = compare_profiles(session.tree, session.leaf, [PROFILES["pi"]])
    assert found.compacts and not found.messages
    assert found.shown.verdicts.count(Verdict.TO_SUMMARIZE) == 1
    assert figures(session, "pi")["summarized"] == "the summary alone"
    for _ in range(30):
        session.user(2_000)
        session.reply(2_000)
    assert figures(session, "pi")["summarized"].endswith(" messages + the summary")


def test_a_size_after_a_compaction_has_the_mark_of_a_guess() -> None:
    session = Session()
    for _ in range(30):
        session.user(2_000)
        session.reply(2_000, usage=150_000)
    for name in PROFILES:
        assert figures(session, name)["afterwards"].startswith("≈"), name

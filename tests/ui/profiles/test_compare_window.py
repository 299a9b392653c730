"""The figures of a profile's card."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from explorer.compaction.partition import Verdict
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.profile_comparison import compare_profiles
from explorer.services.effective_rules import next_mark
from tests.compaction.sessions import Session
from ui.profiles.compare_window import cells_of
from ui.widgets.figures import short
from ui.widgets.gauge import ContextGauge


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


def test_a_card_says_where_a_compaction_is_due_as_the_gauge_does(app: QApplication) -> None:
    session, gauge = Session(), ContextGauge()
    session.user(170_000)
    session.reply(100, usage=170_100)
    for name, profile in PROFILES.items():
        settings = Settings.of(profile)
        mark = next_mark(profile, settings, None)
        gauge.set_context(170_100, settings.context_window, mark.tokens, "estimate", mark.about)
        told = figures(session, name)["starts above"]
        assert short(mark.tokens) in told
        assert ("due now" in told) == ("due !" in gauge.text()), name

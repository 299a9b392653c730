"""What is stored of what holds automatic compaction back, and who answers its question."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.triggers import Guards
from explorer.models.client import Cancelled, CancelToken, ChatMessage, ImagePart, TextPart
from explorer.models.client import ThinkingPart as SentThinking
from explorer.models.client import ToolCall as SentCall
from explorer.prompting.turns import PromptImage, PromptMessage, Thinking, ToolUse
from explorer.services.auto_compaction.guards import (
    SETTING,
    CompactHere,
    CompactionQuestion,
    Confirmation,
    MadeByHand,
    NotNow,
    StoredGuards,
    WatchedDocument,
)
from explorer.services.auto_compaction.prompt import chat_message
from explorer.services.changes import AutomaticChanged, ChangeHub, LeafMoved
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.session.context import context_at
from tests.compaction.sessions import Session

EXPLORER = PROFILES["explorer"]


class Choices:
    """The settings of a session, in memory."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def all(self) -> dict[str, Any]:
        return dict(self.values)

    def set(self, name: str, value: Any) -> None:
        self.values[name] = value


def document(session: Session | None = None, **choices: Any) -> Any:
    """A document with what guards look at."""
    talk = session or Session()
    return SimpleNamespace(
        key=1, tree=talk.tree, leaf=talk.leaf, choices=Choices(**choices),
        context=lambda: context_at(talk.tree, talk.leaf),
        shared=SimpleNamespace(hub=ChangeHub()), writer=SimpleNamespace(now_ms=lambda: 77),
        models=SimpleNamespace(info=lambda _model: SimpleNamespace(window=50_000)),
        tokens=SimpleNamespace(
            context_size=lambda _profile: SimpleNamespace(tokens=900),
            counted_size=lambda _profile: 800,
        ),
    )  # fmt: skip


def guards_of(made: Any) -> tuple[StoredGuards, list[bool]]:
    rested: list[bool] = []
    guards = StoredGuards(cast(Document, made), lambda: rested.append(guards.now.resting))
    return guards, rested


def test_a_rest_is_stored_and_said_when_it_begins_and_ends() -> None:
    made = document()
    guards, rested = guards_of(made)
    guards.now = guards.now.failed("one", 5)
    guards.now = guards.now.failed("two", 6)
    assert (rested, made.choices.values) == ([], {})
    guards.now = guards.now.failed("three", 7)
    assert made.choices.values == {SETTING: {"reason": "three", "held": False}} and rested == [True]
    again, _ = guards_of(made)
    assert again.now == Guards(failures=3, reason="three") and again.now.resting
    guards.now = guards.now.reset()
    assert made.choices.values == {SETTING: None} and rested == [True, False]
    guards.now = guards.now.rest("Taken back.")
    assert made.choices.values == {SETTING: {"reason": "Taken back.", "held": True}}
    assert guards_of(made)[0].now == Guards(reason="Taken back.", paused=True)


@pytest.mark.parametrize(
    "stored", [None, [], {}, {"reason": "x"}, {"held": True}, {"reason": 3, "held": True},
               {"reason": "x", "held": 1}],
)  # fmt: skip
def test_what_is_stored_wrongly_holds_nothing(stored: Any) -> None:
    assert guards_of(document(**{SETTING: stored}))[0].now == Guards()


def test_the_last_step_is_undone_by_going_to_what_it_was_made_below() -> None:
    session = Session()
    session.user()
    session.reply()
    session.compaction(1)
    made = document(session)
    guards, _ = guards_of(made)
    assert not guards.undoes_last_step(1)
    guards.note_step(2)
    assert made.choices.values == {SETTING: {"last": "e2"}}
    assert [guards.undoes_last_step(at) for at in (0, 1, 2, -1)] == [False, True, False, False]
    assert guards_of(made)[0].undoes_last_step(1)
    guards.now = guards.now.rest("Why.")
    assert made.choices.values == {SETTING: {"last": "e2", "reason": "Why.", "held": True}}
    guards.note_step(-1)
    assert made.choices.values == {SETTING: {"reason": "Why.", "held": True}}
    assert not guards.undoes_last_step(1)
    assert not guards_of(document(session, **{SETTING: {"last": "e9"}}))[0].undoes_last_step(-1)
    assert not guards_of(document(session, **{SETTING: {"last": 3}}))[0].undoes_last_step(1)


def test_put_off_is_until_so_many_tokens_more_or_the_next_message() -> None:
    guards, _ = guards_of(document())
    guards.postpone(EXPLORER, 100)
    assert guards.now.is_left(1_000) and not guards.now.is_left(1_001)
    guards.postpone(EXPLORER, 0)
    assert guards.now.is_left(10**9)
    guards.now = guards.now.person_spoke()
    assert guards.now.is_left(1_000) and not guards.now.is_left(1_001)


def test_the_situation_counts_messages_since_the_last_compaction() -> None:
    settings = Settings(context_window=80_000, reserve_tokens=10_000)
    rules = EffectiveRules.of(EXPLORER, "offline/extractive", settings)
    for steps, new in ((0, 4), (1, 0), (2, 1), (3, 1)):
        session = Session()
        session.user()
        session.reply()
        session.metadata()
        session.user()
        session.reply()
        if steps > 0:
            session.compaction(3)
        if steps > 1:
            session.user()
        if steps > 2:
            session.metadata()
        made = document(session)
        watched = WatchedDocument(
            cast(Document, made), lambda: rules, guards_of(made)[0], "openai/x"
        )
        now = watched.situation()
        assert now.new_messages == new
        assert (now.tokens, now.counted, now.window, now.now_ms) == (900, 800, 50_000, 77)
        assert now.threshold == rules.limits(50_000).threshold
        assert (now.model, now.reply, now.requested) == ("openai/x", None, False)
        assert watched.rules == (EXPLORER, rules.enabled, rules.auto_continue)


# the question -------------------------------------------------------------------------------------

QUESTION = CompactionQuestion("threshold", 900, 1_000, 800)


def asked(made: Any, *steps: Any) -> tuple[Any, list[Any]]:
    """What comes of a question while things happen, and what was published."""
    published: list[Any] = []
    made.shared.hub.subscribe(published.append)

    async def story() -> Any:
        confirmation = Confirmation(cast(Document, made))
        cancel = CancelToken()
        task = asyncio.ensure_future(confirmation.ask(QUESTION, cancel))
        await asyncio.sleep(0)
        assert confirmation.question == QUESTION
        for step in steps:
            step(confirmation, cancel)
        try:
            return await task
        except Cancelled:
            return "cancelled"
        finally:
            assert confirmation.question is None
            confirmation.answer(NotNow(3))  # nobody asks any more

    return asyncio.run(story()), published


def test_the_first_answer_counts() -> None:
    found, published = asked(
        document(), lambda one, _: one.answer(NotNow(5)), lambda one, _: one.answer(CompactHere())
    )
    assert found == NotNow(5)
    assert published == [AutomaticChanged(1)] * 2


def test_a_compaction_by_hand_is_an_answer_and_other_moves_are_none() -> None:
    session = Session()
    session.user()
    session.compaction(0)
    session.leaf = 0
    session.reply()
    made = document(session)

    def move(old: int, new: int, key: int = 1) -> Any:
        return lambda _one, _cancel: made.shared.hub.publish(LeafMoved(key, old, new))

    others = (move(0, 2), move(1, 0), move(0, -1), move(0, 1, key=9), move(2, 1))
    assert asked(made, *others, move(0, 1))[0] == MadeByHand(1)
    assert asked(made, *others, lambda one, _: one.answer(NotNow(1)))[0] == NotNow(1)
    assert asked(made, *others, lambda _one, cancel: cancel.cancel())[0] == "cancelled"


def test_nothing_is_asked_after_a_stop() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        asyncio.run(Confirmation(cast(Document, document())).ask(QUESTION, cancel))


# a rendered message -------------------------------------------------------------------------------


def test_a_rendered_message_goes_out_as_providers_take_it() -> None:
    call, picture = ToolUse("c", "read", {"path": "a"}), PromptImage("image/png", "AA")
    made = PromptMessage(
        "assistant", "said", (call,), thinking=Thinking("hm", "sig"), sources=(7, 8)
    )
    assert chat_message(made) == ChatMessage(
        "assistant", "said", (SentCall("c", "read", {"path": "a"}),), None,
        SentThinking("hm", "sig"), source=7,
    )  # fmt: skip
    unsigned = PromptMessage("assistant", "said", thinking=Thinking("hm", ""))
    assert chat_message(unsigned) == ChatMessage("assistant", "said", source=-1)
    shown = PromptMessage("user", "look", pictures=(picture,))
    sent = ImagePart("image/png", "AA")
    assert chat_message(shown).content == (TextPart("look"), sent)
    bare = PromptMessage("user", "", pictures=(picture,))
    assert chat_message(bare).content == (sent,)

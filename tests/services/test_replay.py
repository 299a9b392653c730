"""A recorded session is played again through the agent's own loop, under rules of one's choice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from explorer.agent.tools.port import ToolOutcome
from explorer.agent.turn_interface import Stored
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    Event,
    Finished,
    ImagePart,
    ModelError,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
    Usage,
    UsageReport,
)
from explorer.services.changes import CompactionEnded
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.recorded_session import (
    EntryMap,
    RecordedSession,
    recorded_session,
    scenes,
)
from explorer.services.session_replay import (
    PIECE,
    Pace,
    Played,
    Player,
    RecordedModel,
    RecordedTools,
    in_proportion,
    model_of,
    rules_of_play,
)
from explorer.session.edit_entries import ShapeFacts
from explorer.session.entries import (
    AssistantMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
)
from explorer.session.kinds import Kind
from explorer.tokens.estimate import estimate_message, estimate_text
from explorer.workbench import Workbench
from tests.compaction.sessions import Session

WINDOW = 30_000


def rules(profile: str) -> EffectiveRules:
    settings = replace(
        Settings.of(PROFILES[profile]),
        context_window=WINDOW, keep_recent_tokens=4_000, reserve_tokens=4_000,
    )  # fmt: skip
    return EffectiveRules.of(PROFILES[profile], "offline/extractive", settings)


def play(
    bench: Workbench,
    source: Document,
    asked: Callable[[], EffectiveRules],
    window: int | None = WINDOW,
    watch: Callable[[Player, Any], None] = lambda player, event: None,
    cancel: CancelToken | None = None,
) -> tuple[Player, Played, list[CompactionEnded]]:
    """Play the whole recording at once."""
    ended: list[CompactionEnded] = []

    async def work() -> tuple[Player, Played]:
        stage = await bench.create("/work", "Replay")
        forget = bench.subscribe(lambda c: ended.append(c) if isinstance(c, CompactionEnded) else 0)
        player = Player(recorded_session(source), stage, asked, Pace(0), window)
        token = cancel or CancelToken()
        try:
            return player, await player.run(token, lambda event: watch(player, event))
        finally:
            forget()

    player, played = asyncio.run(work())
    return player, played, ended


def said(document: Document, kind: Kind) -> list[Any]:
    """The contents of all messages of a kind on the path, calls without their ids."""
    columns = document.tree.columns
    path = document.tree.path(document.leaf).indices()
    found = [e for e in path if columns.kind[e] == kind and not columns.flags[e] & 3]
    return [e.recorded["message"]["content"] for e in document.payloads.shown.entries(found)]


def test_all_that_was_said_is_said_again_in_its_order(bench: Workbench, document: Document) -> None:
    player, played, _ended = play(bench, document, lambda: rules("explorer"), None)
    assert played == Played("done", len(player.play))
    assert said(player.target, Kind.USER) == said(document, Kind.USER)
    texts = [
        ["".join(b.get("text", b.get("thinking", b.get("name", ""))) for b in content)
         for content in said(one, Kind.ASSISTANT)]
        for one in (player.target, document)
    ]  # fmt: skip
    assert texts[0] == texts[1]
    assert said(player.target, Kind.TOOL_RESULT) == said(document, Kind.TOOL_RESULT)
    for at, kind in enumerate(player.target.tree.columns.kind):
        if kind == Kind.ASSISTANT:
            usage = player.target.payloads.shown.entry(at).usage
            assert usage is not None and min(usage.input, usage.output) > 0
            assert usage.context == usage.input + usage.output


def test_the_same_recording_is_compacted_elsewhere_under_each_profile(
    bench: Workbench, document: Document
) -> None:
    places: dict[str, list[int]] = {}
    for name in ("explorer", "pi", "pyagent", "copilot"):
        at: list[int] = []
        # pi and pyagent look after a turn only: the model itself has no limit here.
        player, played, ended = play(bench, document, lambda name=name: rules(name), None)
        assert played.end == "done", played
        # Where a summary made in the background arrives decides how much the next one replaces:
        # too little to gain anything, at times, and then it is refused.
        made = [one for one in ended if "nothing is gained" not in one.problem]
        assert made and not any(one.problem for one in made), name
        at += [player.target.tree.columns.parent[one.entry] for one in made]
        places[name] = at
        for one in made:
            assert one.tokens_after < one.tokens_before
    # pi and pyagent may cut alike.
    assert len({tuple(at) for at in places.values()}) >= 3


def test_another_profile_counts_from_the_next_decision_on(
    bench: Workbench, document: Document
) -> None:
    """A12: the rules are read anew for every decision."""
    chosen = ["explorer"]

    def change(player: Player, _event: object) -> None:
        if player.position > 30:
            chosen[0] = "pi"

    _player, _played, mixed = play(bench, document, lambda: rules(chosen[0]), watch=change)
    _player, _played, alone = play(bench, document, lambda: rules("explorer"))
    assert mixed[0].tokens_before == alone[0].tokens_before
    assert [one.tokens_before for one in mixed] != [one.tokens_before for one in alone]


def test_a_request_larger_than_the_window_is_refused_and_the_reply_waits_for_the_next(
    bench: Workbench, document: Document
) -> None:
    """A10: an overflow is recovered from, and no reply of the recording is passed over."""
    base = rules("pi")  # which looks at the threshold after a turn alone
    late = replace(base, settings=replace(base.settings, reserve_tokens=1))
    player, played, ended = play(bench, document, lambda: late)
    assert ended[0].trigger == "overflow" and not ended[0].problem
    assert played.end == "done"
    assert said(player.target, Kind.TOOL_RESULT) == said(document, Kind.TOOL_RESULT)


def test_it_stops_at_once_and_can_be_gone_on_with_from_there(
    bench: Workbench, document: Document
) -> None:
    cancel, stored = CancelToken(), []

    def watch(_player: Player, event: object) -> None:
        stored.append(event) if isinstance(event, Stored) else None
        if len(stored) == 5:
            cancel.cancel()

    player, played, _ended = play(bench, document, lambda: rules("explorer"), None, watch, cancel)
    assert played.end == "stopped" and 0 < played.steps < len(player.play)


def test_a_play_that_stands_still_plays_nothing(bench: Workbench, document: Document) -> None:
    async def work() -> tuple[int, int, Played]:
        stage = await bench.create("/work", "Replay")
        pace = Pace(0)
        player = Player(recorded_session(document), stage, lambda: rules("explorer"), pace, None)
        cancel = CancelToken()
        pace.pause()
        task = asyncio.ensure_future(player.run(cancel, lambda event: None))
        await asyncio.sleep(0.2)
        before = len(stage.tree)
        player.step()
        while not pace.is_paused:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        after = len(stage.tree)
        cancel.cancel()
        return before, after, await task

    before, after, played = asyncio.run(work())
    first = next(scenes(recorded_session(document)))
    assert played.end == "stopped"
    # The name of the session alone, then one scene.
    assert before <= 1 and after > before + len(first.replies)


def test_sizes_shrink_with_the_window_and_never_grow() -> None:
    base = EffectiveRules.of(PROFILES["explorer"], "offline/extractive")
    small = in_proportion(base, base.settings.context_window // 10).settings
    assert small.keep_recent_tokens == round(base.settings.keep_recent_tokens / 10)
    assert small.reserve_tokens == round(base.settings.reserve_tokens / 10)
    assert in_proportion(base, base.settings.context_window * 2) == base


def test_nothing_is_reserved_or_kept_of_less_than_a_token() -> None:
    base = EffectiveRules.of(PROFILES["explorer"], "offline/extractive")
    assert in_proportion(base, base.settings.context_window) is base
    least = in_proportion(base, 1).settings
    assert (least.keep_recent_tokens, least.reserve_tokens) == (1, 1)
    assert least.context_window == base.settings.context_window


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix: the  Wake!", "fix-the-wake"),
        ("Größe_1", "grösse-1"),
        ("x" * 41, "x" * 40),
        ("x" * 39 + " y", "x" * 39),
        ("?!", "7"),
        ("", "7"),
    ],
)
def test_a_recording_answers_under_its_title(title: str, name: str) -> None:
    assert model_of(cast(Document, SimpleNamespace(title=title, key=7))) == f"replay/{name}"


def test_a_replay_asks_nobody() -> None:
    base = EffectiveRules.of(PROFILES["explorer"], "openai/gpt")
    asked = replace(
        base, profile=replace(base.profile, remote_endpoint="https://example.org"),
        fallbacks=("openai/other",), auto_continue=True, ask_first=True, enabled=False,
    )  # fmt: skip
    played = rules_of_play(asked)
    assert played.profile == replace(base.profile, remote_endpoint="")
    assert (played.summary_model, played.fallbacks) == ("offline/extractive", ())
    assert played.summary_models("openai/gpt") == ("offline/extractive",)
    assert (played.auto_continue, played.ask_first, played.enabled) == (False, False, True)


def recording(session: Session, leaf: int | None = None) -> RecordedSession:
    made = SimpleNamespace(tree=session.tree, leaf=session.leaf)
    return recorded_session(cast(Document, made), leaf)


def varied() -> Session:
    """Each entry at its index: 0 to 3 a turn, 4 to 7 what is not played, 8 to 12 the next."""
    session = Session()
    session.user()
    session.reply(calls=[("read", "a"), ("read", "b")])
    session.result(call="c1.0")
    session.result(call="c1.1")
    session.reply(stop="error")
    session.reply(stop="aborted")
    session.metadata()
    session.compaction(0)
    session.note()
    session.bash()
    session.user()
    session.reply()
    session.reply()
    session.add({
        "type": "custom", "customType": "session-explorer/pin",
        "data": {"entries": [{"id": "e0", "tokens": 3}, {"id": "e4"}]},
    })  # fmt: skip
    session.branch_summary()
    return session


def test_what_is_played_of_a_path_is_cut_into_scenes() -> None:
    session = varied()
    found = recording(session)
    assert [(one.kind, one.entry) for one in found.steps] == [
        ("prompt", 0), ("reply", 1), ("copy", 8), ("copy", 9), ("prompt", 10), ("reply", 11),
        ("reply", 12), ("copy", 13), ("copy", 14),
    ]  # fmt: skip
    assert len(found) == 9 and found.results == {1: [2, 3]} and found.leaf == 14

    def cut(start: int) -> list[tuple[int | None, list[int], int]]:
        return [
            (one.opening.entry if one.opening else None, [each.entry for each in one.replies],
             one.first)
            for one in scenes(found, start)
        ]  # fmt: skip

    whole = [(0, [1], 0), (8, [], 2), (9, [], 3), (10, [11, 12], 4), (13, [], 7), (14, [], 8)]
    assert cut(0) == whole
    assert cut(1) == [(None, [1], 1), *whole[1:]] and cut(6) == [(None, [12], 6), *whole[4:]]
    assert cut(8) == whole[5:] and cut(9) == []
    assert [one.entry for one in recording(session, 3).steps] == [0, 1]


def test_a_pin_of_the_recording_names_what_was_played_for_it() -> None:
    recorded, played = varied(), Session()
    for at in range(3):
        played.metadata()
        if at == 1:
            played.user()
            played.reply()
            played.result()
    entries = EntryMap(recorded.tree, played.tree)
    pin = recorded.tree.columns.shapes[13]
    assert pin.entries == (("e0", 3), ("e4", -1)) and entries.shape(pin) is None
    entries.played([0, 1, 2, 3], [2, 3, 4])
    assert entries.shape(pin) == {"entries": [{"id": "e2", "tokens": 3}]}
    entries.copied(4, 5)
    assert entries.shape(pin) == {"entries": [{"id": "e2", "tokens": 3}, {"id": "e5"}]}
    for facts, data in (
        (ShapeFacts("omit", lifts=("e1", "e3", "e9")), {"lifts": ["e3"]}),
        (ShapeFacts("omit", lifts=("e3",)), None),
        (ShapeFacts("pin", undoes="e2"), {"undoes": "e4"}),
        (ShapeFacts("pin", undoes="e9"), None),
        (ShapeFacts("keep-user-messages", tokens=0), {"tokens": 0}),
    ):
        assert entries.shape(facts) == data


def text_reply(text: str, stop: str = "stop", call: str = "") -> AssistantMessage:
    calls = (ToolCallBlock(call, "read", {"path": "a.py"}),) if call else ()
    content = (ThinkingBlock("thought"), TextBlock(text), *calls)
    return AssistantMessage(content, stop_reason=stop)


def answered(model: RecordedModel, request: ModelRequest) -> list[Event]:
    events: list[Event] = []
    model.answer(request, events.append, lambda: False)
    return events


def test_a_reply_is_played_in_pieces_and_reports_its_tokens() -> None:
    model = RecordedModel(Pace(0))
    text = "one two three four five six seven eight"
    model.load([text_reply("left over")])
    model.load([text_reply(text, "length", "c1"), text_reply("b")])
    assert model.left == 2
    called = ChatMessage("assistant", "", (ToolCall("c0", "read", {"path": "b" * 40}),))
    asked = ModelRequest("replay/x", (ChatMessage("user", "word " * 20), called))
    *events, usage, finished = answered(model, asked)
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == text and {len(one) for one in pieces[:-1]} == {PIECE} == {24}
    assert [e.text for e in events if isinstance(e, ThinkingDelta)] == ["thought"]
    assert events[-1] == ToolCallReady(ToolCall("c1", "read", {"path": "a.py"}))
    assert isinstance(usage, UsageReport) and finished == Finished("length")
    read = estimate_text("word " * 20) + estimate_text(f"read{called.tool_calls[0].arguments}")
    written = sum(map(estimate_text, [*pieces, "thought", "{'path': 'a.py'}"]))
    assert usage.usage == Usage(read, written, total=read + written)
    assert model.left == 1 and answered(model, asked)[-1] == Finished("stop")
    model.load([text_reply("x", "tool_calls")])
    assert answered(model, asked)[-1] == Finished("tool_calls")


def test_a_reply_that_does_not_fit_is_refused_once_and_given_then() -> None:
    asked = ModelRequest("replay/x", (ChatMessage("user", "x"),))
    sizes = iter([101, 101, 100])
    model = RecordedModel(Pace(0), 100, lambda reply: next(sizes))
    reply = text_reply("a b c")
    model.load([reply, reply])
    with pytest.raises(ModelError, match="takes 101 tokens, and the window holds 100") as raised:
        answered(model, asked)
    assert raised.value.kind == "overflow" and model.is_stuck and model.left == 2
    usage = answered(model, asked)[-2]
    assert model.too_large == 1 and not model.is_stuck and model.left == 1
    written = estimate_message(reply)
    assert usage == UsageReport(Usage(101, written, total=101 + written))
    answered(model, asked)
    assert model.too_large == 1
    never = RecordedModel(Pace(0), 100, lambda reply: 101, lambda: False)
    never.load([reply])
    answered(never, asked)
    assert never.too_large == 1 and not never.is_stuck


def test_a_reply_that_is_stopped_reports_nothing() -> None:
    model = RecordedModel(Pace(0))
    model.load([text_reply("x" * 100)])
    events: list[Event] = []
    model.answer(ModelRequest("replay/x", ()), events.append, lambda: len(events) > 1)
    assert [type(event) for event in events] == [ThinkingDelta, TextDelta]


def test_a_pace_takes_its_time_and_can_be_paused() -> None:
    pace = Pace(1_000)
    start = time.monotonic()
    pace.wait(50, lambda: False)
    assert 0.045 <= time.monotonic() - start < 5
    Pace(0.001).wait(1, lambda: True)
    assert not pace.is_paused
    pace.pause()
    looks = iter([False, True])
    pace.wait(0, lambda: next(looks))
    assert pace.is_paused
    pace.go_on()
    pace.wait(0, lambda: False)
    assert not pace.is_paused


def test_recorded_tools_give_what_was_recorded() -> None:
    tools = RecordedTools(Pace(0))
    picture = ImageBlock("image/png", "AAAA")
    result = ToolResultMessage("c1", "read", (TextBlock("out"), picture), True, details={"a": 1})
    tools.load([text_reply("", call="c1"), text_reply("", call="c2")], {"c1": result})
    assert [one.name for one in tools.specs()] == ["read"]

    def run(call: str) -> ToolOutcome:
        asked = ToolCall(call, "read", {})
        assert not tools.is_exclusive(asked)
        return asyncio.run(tools.run(asked, CancelToken(), lambda text: None))

    given = run("c1")
    assert (given.text, given.is_error, given.details) == ("out", True, {"a": 1})
    assert given.images == (ImagePart("image/png", "AAAA"),)
    assert run("c2").is_error and "no result" in run("c2").text


def test_a_recording_without_a_further_reply_says_so() -> None:
    model = RecordedModel(Pace(0))
    with pytest.raises(ModelError) as raised:
        model.answer(ModelRequest("replay/x", ()), lambda event: None, lambda: False)
    assert raised.value.kind == "unavailable"

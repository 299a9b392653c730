"""What is decided of sessions with all that can be in one, as a table: ``python -m
tests.compaction.recorded`` writes it anew.

The tests beside this say why it is so, for sessions that are made for one thing. Here rare things
meet: a split turn after a pin below a pruned result. After a change that is meant, look at the
difference of the table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from explorer.compaction.automatic import (
    Automatic,
    Outcome,
    Preview,
    Prune,
    Recover,
    StepFailed,
    Summarize,
    Switches,
    run,
    run_async,
)
from explorer.compaction.background import (
    Application,
    Applied,
    Apply,
    BudgetedPrompts,
    Exceeded,
    Failed,
    Machine,
    ModelChanged,
    Prepare,
    Render,
    Rendered,
    Rendering,
    RunCancelled,
    RunFinished,
    RunState,
    Sent,
    SummarizeNow,
    Wait,
    step,
)
from explorer.compaction.branch_summaries import branch_request, prepare_branch
from explorer.compaction.context_size import (
    context_size,
    counted_size,
    message_tokens,
    sizes_around,
)
from explorer.compaction.messages import serialize, serialize_message
from explorer.compaction.partition import Partition, partition
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import (
    BASES,
    PROFILES,
    Profile,
    Settings,
    changed,
    profile_values,
    read_profile,
)
from explorer.compaction.profile.rules import Background, Pruning
from explorer.compaction.profile_comparison import causes, compare_profiles
from explorer.compaction.pruning import plan_pruning
from explorer.compaction.requests import build_requests
from explorer.compaction.triggers import (
    Guards,
    LastReply,
    TriggerSituation,
    cooling_ms,
    decide,
    fitted,
    limits_of,
    manual_now,
    may_continue,
    resting_words,
    should_compact,
    unfit_words,
)
from explorer.session.context import context_at
from explorer.session.entries import (
    AssistantMessage,
    ModelMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from explorer.settings.prompt_templates import load_templates
from tests.compaction.mixed_sessions import POLICIES, Dice, session_of
from tests.compaction.pruned_sessions import prune, used
from tests.compaction.sessions import Session
from tests.tables import short, shown

PLACE = Path(__file__).parent / "data"
_LINE = 130
"""Characters of a line: of most it is enough to see that it changed."""
TEMPLATES = load_templates()


# what is told of one ------------------------------------------------------------------------------


def told(session: Session) -> Iterator[str]:
    """A session, and what each profile makes of it."""
    columns, tree = session.tree.columns, session.tree
    yield f"{list(columns.kind)} under {columns.parent.tolist()}"
    measured = [tokens * 3 // 2 if at % 7 else -1 for at, tokens in enumerate(columns.estimate)]
    for weights in (None, measured):
        for entry in columns.compactions:
            yield f"around #{entry}: {sizes_around(tree, entry, weights)}"
        for at in (session.leaf, *tree.leaves()[:2]):
            context = context_at(tree, at)
            yield f"#{at}: {message_tokens(tree, context, weights)}"
            for profile in PROFILES.values():
                size = context_size(tree, context, profile, weights)
                counted = counted_size(tree, context, profile, weights)
                yield f"  {profile.name} {shown(size)}, {size.source}, counted {counted}"
    for at, (name, profile) in enumerate(PROFILES.items()):
        yield f"== {name}"
        for keep in (0, 25, 150, 600):
            settings = replace(
                Settings.of(profile), keep_recent_tokens=keep, keep_rounds=1 + at % 3
            )
            weights = measured if keep == 150 else None
            yield from _parts(session, profile, settings, weights)
        yield from _branches(session, profile)
    for policy in POLICIES:
        for scope in ("context", "path"):
            plan = plan_pruning(tree, session.leaf, replace(policy, scope=scope), needed=100)
            yield f"{_values(plan)} {plan.reason}"
    for outcome in compare_profiles(tree, session.leaf, PROFILES.values(), context_window=4_000):
        yield _values(outcome)
    for profile in PROFILES.values():
        yield shown(causes(tree, session.leaf, profile, PROFILES["explorer"]))


def _parts(
    session: Session, profile: Profile, settings: Settings, weights: Sequence[int] | None
) -> Iterator[str]:
    made = prepare(session.tree, session.leaf, profile, settings, weights=weights)
    parts = partition(made)
    yield f"{settings.keep_recent_tokens}: {_verdicts(parts)} {made.reason}"
    yield _values(made)
    yield "; ".join(parts.reason(at) for at in range(len(parts.path)))
    by_hand = parts.valid_cuts[len(parts.valid_cuts) // 2] if parts.valid_cuts else -1
    if by_hand >= 0:
        other = prepare(session.tree, session.leaf, profile, settings, weights=weights, cut=by_hand)
        yield f"  by hand {by_hand}: {_verdicts(partition(other))} {other.reason}"
    if isinstance(made, Preparation):
        previous = "## Goal\nold" if made.previous_compaction >= 0 else None
        for request in build_requests(made, session.read, previous, "Keep ports.", TEMPLATES):
            yield f"  {_values(request)}"


def _verdicts(parts: Partition) -> str:
    facts = (
        list(parts.tokens), list(parts.valid_cuts), parts.context_estimate, parts.whole_before,
        parts.whole_after, parts.tokens_after_estimate, parts.counted_by,
    )  # fmt: skip
    return f"{''.join(map(str, parts.verdicts))} {shown(facts)}"


def _branches(session: Session, profile: Profile) -> Iterator[str]:
    settings = Settings.of(profile)
    for other in session.tree.leaves()[:2]:
        for budget in (None, 40, 400):
            made = prepare_branch(
                session.tree, session.leaf, other, profile, settings, budget=budget
            )
            yield f"leaving for #{other}: {_values(made)}"
            request = branch_request(made, session.read, "Keep ports.", TEMPLATES)
            yield f"  {request and _values(request)}"


def _values(value: Struct) -> str:
    """The fields that hold values, not the session or the rules."""
    left_out = (
        "cuts", "path", "tree", "view", "profile", "settings", "shown", "material", "policy",
    )  # fmt: skip
    names = (one.name for one in fields(value) if one.name not in left_out)
    return shown({name: getattr(value, name) for name in names})


# the rules by themselves --------------------------------------------------------------------------

_TEXTS = (
    "on",
    "off",
    "0",
    "1",
    "-1",
    "1_000",
    "1.5",
    "2.5",
    "1,5",
    "99",
    "100",
    "1e9",
    "",
    "a, b,,",
    "pi",
    "x",
)


def rules() -> Iterator[str]:
    """Every value of every profile, why others are refused, and when is compacted."""
    for name, profile in BASES.items():
        values = profile_values(profile)
        yield f"== {name}: {shown(values)}"
        yield from (f"{key} = {value!r}" for key, value in values.items())
    base = PROFILES["copilot"]
    known = profile_values(base)
    inner = {
        f"{key}.{name}" for key in known if isinstance(known[key], dict) for name in known[key]
    }
    for key in [
        *known,
        *sorted(inner),
        "pruning.amount",
        "nothing",
        "pruning.nothing",
        "sections.x",
    ]:
        said = []
        for text in _TEXTS:
            try:
                made = profile_values(changed(base, key, text))
                said.append(shown([one for one in made if made[one] != known[one]]))
            except ValueError as error:
                said.append(str(error))
        yield f"{key}: {'; '.join(said)}"
    for value in (None, True, False, 3, -1, 0.5, "x", [], ["a"], [1], {}, {"x": 1}, float("inf")):
        read = read_profile(dict.fromkeys([*known, "odd"], value), base)
        yield f"{value!r}: {shown(read.mistakes)} {shown(dict(read.unknown))}"
    yield from _due()
    yield from _ahead()
    yield from _budgeted()
    yield from _procedures()
    yield from _prunes()
    yield from _written()


def _due() -> Iterator[str]:
    """Limits of windows, and decisions."""
    for name, profile in BASES.items():
        for window, reserve, model in (
            (200_000, 16_384, None), (8_000, 16_384, None), (100, 99, 50), (3, 1, 2), (1, 0, 1),
            (200_000, 16_384, 32_000), (32_000, 1_000, 200_000),
        ):  # fmt: skip
            settings = replace(Settings.of(profile), context_window=window, reserve_tokens=reserve)
            limits = limits_of(profile, settings, model)
            sizes = fitted(profile, settings, model)
            near = [should_compact(limits.threshold + by, profile, sizes) for by in (-1, 0, 1)]
            facts = [limits, sizes.context_window, sizes.reserve_tokens, sizes.keep_recent_tokens]
            yield f"{name} {window}: {shown(facts)} {near} {unfit_words(profile, settings, model)}"
    guards = Guards()
    held = [
        guards, guards.failed("why", 5), guards.failed("a", 1).failed("b", 2),
        guards.failed("a", 1).failed("b", 2).failed("c", 3), guards.rest("Taken back."),
        guards.left(600), guards.left(0), replace(guards, recovered=True),
        replace(guards, unproven=True), guards.ended(700, 500, 9), guards.ended(300, 500, 9),
    ]  # fmt: skip
    now = TriggerSituation(600, 550, 500, 1_000, "m", None, 2, 10_000)
    replies = [
        None, LastReply("m", "answered"), LastReply("m", "failed"), LastReply("m", "stopped"),
        LastReply("m", "overflow"), LastReply("n", "overflow"),
        LastReply("m", "overflow", before_compaction=True),
        LastReply("m", "answered", 1_000), LastReply("m", "answered", 1_001),
    ]  # fmt: skip
    for one in held:
        yield f"{shown(one)} rests: {resting_words(one)!r}"
        for other in (now, replace(now, tokens=500), replace(now, tokens=601, counted=500),
                      replace(now, new_messages=0), replace(now, now_ms=90_000)):  # fmt: skip
            seen = one.observed(other)
            yield f"  {shown(seen)} waits {cooling_ms(seen, other.now_ms)}"
            for reply in replies:
                asked = [replace(other, reply=reply, requested=at) for at in (False, True)]
                decisions = [
                    decide(one, seen, profile, other.tokens != 601)
                    for one in asked
                    for profile in (PROFILES["explorer"], PROFILES["pyagent"])
                ]
                yield f"    {shown(decisions)}"
        for name, profile in BASES.items():
            found = [may_continue(profile, at, one, end) for at in (True, False)
                     for end in (True, False)]  # fmt: skip
            yield f"  {name} goes on {found}, by hand {manual_now(profile, running=True)}"


class _Half:
    def random(self) -> float:
        return 0.5


def _ahead() -> Iterator[str]:
    """The machine that summarizes ahead, in every state."""
    policy = Background()
    events: list[Any] = [
        *(Rendered(ratio, warm) for ratio in (0.5, 0.8, 0.9, 1.2) for warm in (True, False)),
        Rendering(0.6499), Rendering(0.65), Exceeded(), RunCancelled(), ModelChanged(),
        *(made(run) for made in (RunFinished, Applied) for run in (2, 3)), Failed(2, "a"),
        Failed(3, "b"),
    ]  # fmt: skip
    for state in RunState:
        machine = Machine(state, 3, 0.7, 0.1, warm=True, problem="p", note="n")
        for event in events:
            yield f"{state.name} {shown(event)}: {shown(step(machine, event, policy, _Half()))}"


class _Prompts:
    """An agent's prompts: steps are noted and answered from lists, the last again and again."""

    def __init__(self, switches: tuple[bool, bool], answers: dict[type, list[Any]]) -> None:
        self.policy = Background()
        self.enabled, self.ahead = switches
        self.answers = {step: list(values) for step, values in answers.items()}
        self.said: list[str] = []
        self.prompts = BudgetedPrompts(self, _Half())

    def machine_changed(self, now: Machine) -> None:
        self.said.append(f"{now.state.name} {now.run} {now.ratio} {now.note}")

    async def perform(self, step: Any) -> Any:
        self.said.append(shown(step))
        if isinstance(step, Render) and step.shortens:
            return Sent(0.4, warm=False)
        if isinstance(step, Wait):
            self.prompts.step(RunFinished(step.run) if self.enabled else Failed(step.run, "Late."))
        default = Application() if isinstance(step, Apply) else None
        values = self.answers.get(type(step), [default])
        value = values.pop(0) if len(values) > 1 else values[0]
        if isinstance(value, StepFailed):
            raise value
        return value


def _budgeted() -> Iterator[str]:
    """How each prompt is brought within its budget."""
    fits, tight = Sent(0.5, warm=True), Sent(0.95, warm=False)
    every: list[dict[type, list[Any]]] = [
        {Render: [fits]},
        {Prepare: [0.7], Render: [tight]},
        {Prepare: [0.3], Render: [fits]},
        {Prepare: [None], Render: [None, fits], SummarizeNow: [True]},
        {Render: [None, None, fits], SummarizeNow: [False]},
        {Render: [None, None, None, fits], SummarizeNow: [StepFailed("It is empty.")]},
        {Prepare: [0.7], Apply: [Application()], Render: [None, None, tight]},
        {Prepare: [0.7], Apply: [Application("It is gone.", compacted=False)], Render: [fits]},
        {Prepare: [0.7], Apply: [Application("It is gone.")], Render: [None, tight]},
    ]
    for state in RunState:
        for answers in every:
            for switches in ((True, True), (True, False), (False, True)):
                for model_changed in (False, True):
                    watched = _Prompts(switches, answers)
                    watched.prompts.machine = Machine(state, 3, 0.7, note="before")
                    steps = watched.prompts.prompt(model_changed)
                    asyncio.run(run_async(steps, watched.perform))
                    yield f"{state.name} {switches} {model_changed}: {'; '.join(watched.said)}"


class _Watched:
    """A session whose steps are noted; ``saves``: what a prune takes off its context, ``taken``:
    what a summary takes, None where it fails."""

    def __init__(
        self, now: TriggerSituation, rules: Switches, guards: Guards, saves: int,
        taken: int | None, shown: Partition,
    ) -> None:  # fmt: skip
        self.now, self.rules, self.guards = now, rules, guards
        self._saves, self._taken, self._shown = saves, taken, shown
        self.steps: list[Any] = []

    def situation(self) -> TriggerSituation:
        return self.now

    def perform(self, step: Any) -> Any:
        kept = Summarize is not type(step)
        self.steps.append(step if kept else "summarize")
        if isinstance(step, Prune):
            self.now = replace(self.now, tokens=self.now.tokens - self._saves)
            return self._saves > 0
        if isinstance(step, Preview):
            return self._shown
        if isinstance(step, Summarize):
            return self._taken
        return Outcome(self._taken is not None, "" if self._taken else "It failed.")


_PROCEDURES: dict[str, Callable[[Automatic], Any]] = {
    "before": lambda one: one.before_message(),
    "before, refused": lambda one: one.before_message(LastReply("m", "overflow")),
    "between": lambda one: one.between_rounds(),
    "room": lambda one: one.make_room(LastReply("m", "overflow")),
    "no room": lambda one: one.make_room(LastReply("m", "answered")),
    "recovery": lambda one: one.recovery(Recover("why", again=True)),
    "recovery before": lambda one: one.recovery(Recover("why", again=False)),
    "after": lambda one: one.after_turn(LastReply("m", "answered")),
    "after a limit": lambda one: one.after_turn(LastReply("m", "answered"), finished=False),
    "after, asked": lambda one: one.after_turn(LastReply("m", "failed"), requested=True),
    "by hand": lambda one: one.compaction("manual"),
    "by threshold": lambda one: one.compaction("threshold"),
    "asked": lambda one: one.compaction("requested"),
}  # fmt: skip


def _procedures() -> Iterator[str]:
    """What each procedure of automatic compaction does, step by step."""
    session = session_of(1)
    explorer = PROFILES["explorer"]
    some, none = (
        partition(prepare(session.tree, session.leaf, explorer, Settings(keep_recent_tokens=size)))
        for size in (25, 100_000)
    )
    situation = TriggerSituation(900, 900, 500, 1_000, "m", None, 3, 5)
    states = [
        (enabled, guards, saves, taken, parts)
        for enabled in (True, False)
        for guards in (Guards(), Guards(recovered=True), Guards().rest("Taken back."))
        for saves, taken, parts in ((0, 5, some), (500, 9**9, some), (500, 5, none))
    ]
    for title, procedure in _PROCEDURES.items():
        for name in ("explorer", "omp", "copilot"):
            for tokens in (500, 501, 900):
                found: list[Any] = []
                for enabled, guards, saves, taken, parts in states:
                    switches = Switches(PROFILES[name], enabled, auto_continue=tokens == 900)
                    now = replace(situation, tokens=tokens)
                    watched = _Watched(now, switches, guards, saves, taken, parts)
                    ended = run(procedure(Automatic(watched)), watched.perform)
                    found.append([ended, watched.steps, watched.guards])
                yield f"{title}, {name} at {tokens}: {shown(found)}"


def _prunes() -> Iterator[str]:
    """What each policy prunes of sessions that use few files many times over."""
    every = [
        Pruning(protect, least, ("skill", "gr*"), *switches)
        for protect, least in ((0, 0), (40, 1), (41, 1), (300, 600))
        for switches in (
            (False, False, "pruned", "everything", "path", 0),
            (True, False, "pruned", "needed", "context", 20),
            (False, True, "kept", "everything", "path", 21),
            (True, True, "kept", "needed", "context", 0),
        )
    ]
    for seed in range(4):
        session, dice = Session(), Dice(seed + 90)
        for _ in range(45):
            tool = dice.of(("read", "read", "read", "edit", "bash", "grep", "write"))
            arguments: dict[str, Any] = {"path": f"f{dice(3)}.py", "command": "x"}
            if tool == "read" and not dice(2):
                arguments["offset"] = dice(2)
            text = dice.of((None, None, None, "", "No matches found", "boom at 3", "boom at 4"))
            size, failed = dice.of((3, 20, 21, 40, 200)), not dice(4)
            used(session, tool, size, arguments, text=text, error=failed)
            if not dice(12):
                prune(session, plan_pruning(session.tree, session.leaf, every[dice(12)]))
        measured = [tokens + at % 5 - 2 for at, tokens in enumerate(session.tree.columns.estimate)]
        for policy in every:
            for needed, weights in ((None, None), (60, None), (0, measured), (10**6, measured)):
                plan = plan_pruning(
                    session.tree, session.leaf, policy, weights=weights, needed=needed
                )
                gone = [(one.entry, one.saved, one.why, one.by) for one in plan.results]
                said = " ".join(one.reason for one in plan.results)
                counts = f"{plan.saved} of {plan.could_save}"
                yield f"{seed} {needed}: {counts} {shown(gone)} {plan.reason} {said}"


def _written() -> Iterator[str]:
    """Messages as each profile writes them for a summarizer."""
    arguments = {"b": [1, None], "a": "</conversation> é", "2": 1, "1": 0.5}
    call = ToolCallBlock("c", "read", arguments)
    replies = [
        AssistantMessage(tuple(blocks))
        for blocks in (
            [ThinkingBlock("hm"), ThinkingBlock("so"), TextBlock("said"), TextBlock("on"), call],
            [ThinkingBlock(""), TextBlock(""), call, call], [ThinkingBlock("")],
            [TextBlock("")], [],
        )
    ]  # fmt: skip
    texts = [
        "",
        "<summary> is a tag",
        "x" * 2_000,
        "x" * 2_001,
        "🙂" * 1_000 + "x",
        "x" + "🙂" * 1_000,
    ]
    results = [ToolResultMessage("c", "read", (TextBlock(text),)) for text in texts]
    asked = [UserMessage((TextBlock("why"),), synthetic=at) for at in (True, False)]
    messages: list[ModelMessage] = [*replies, *results, *asked]
    for name, profile in BASES.items():
        for window in (200_000, 1_000, 999):
            small = replace(profile, context_window=window)
            yield f"{name} {window}: {shown([serialize_message(one, small) for one in messages])}"
        yield shown(serialize(enumerate(messages), profile))


TABLES = ("rules", *(f"session_{seed:02}" for seed in range(14)))


def table(name: str) -> str:
    """What the rules say by themselves, or what is told of the session of a seed."""
    lines = rules() if name == "rules" else told(session_of(int(name[-2:])))
    return "\n".join([*(short(line, _LINE) for line in lines), ""])


if __name__ == "__main__":
    PLACE.mkdir(exist_ok=True)
    for name in TABLES:
        (PLACE / f"{name}.txt").write_text(table(name), encoding="utf-8")

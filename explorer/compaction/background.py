"""Prompts within a budget, and the summaries that are made ahead for them (A45, A47, A48).

    idle -> in progress -> completed -> idle
                       `-> failed    -> in progress, or idle

``step`` is the state machine: events in, actions out. ``BudgetedPrompts`` are the procedures around
it, as in ``explorer.compaction.automatic``. Nothing here waits, reads a clock or draws a number.
Ratios are of the prompt's tokens to what the prompt may take.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.automatic import StepFailed, Steps
from explorer.compaction.profile.rules import Background
from explorer.compaction.reasons import share_text


class RunState(Enum):
    """Where a summary that is made ahead stands."""

    IDLE = "idle"
    IN_PROGRESS = "in progress"
    COMPLETED = "completed"
    FAILED = "failed"


class Draws(Protocol):
    """Where the jitter comes from."""

    def random(self) -> float:
        """A number from 0 to below 1."""


# what happens ------------------------------------------------------------------------------------


class Rendered(Struct, frozen=True):
    """A prompt was rendered and is on its way. ``warm``: the provider's cache holds most of it."""

    ratio: float
    warm: bool


class Rendering(Struct, frozen=True):
    """A prompt is about to be rendered; ``ratio`` is of the last one, by the sizes of now."""

    ratio: float


class Exceeded(Struct, frozen=True):
    """A prompt did not fit its budget."""


class RunFinished(Struct, frozen=True):
    """The summary of a run is there."""

    run: int


class Failed(Struct, frozen=True):
    """A run gave no summary, or its summary could not be applied."""

    run: int
    problem: str


class Applied(Struct, frozen=True):
    """The summary of a run is in the session."""

    run: int


class RunCancelled(Struct, frozen=True):
    """The person, or a compaction made otherwise, put an end to it."""


class ModelChanged(Struct, frozen=True):
    """The model was changed: a run that began with the other model's cache is discarded."""


BackgroundEvent = (
    Rendered | Rendering | Exceeded | RunFinished | Failed | Applied | RunCancelled | ModelChanged
)  # fmt: skip


# what is to be done ------------------------------------------------------------------------------


class Start(Struct, frozen=True):
    """Fork the prompt that was just rendered and ask for its summary, which is not waited for."""

    run: int


class Stop(Struct, frozen=True):
    """Give up the request of a run."""

    run: int


class Wait(Struct, frozen=True):
    """Wait for a run to end, then say ``Exceeded`` again: never a second request (A47)."""

    run: int


class Apply(Struct, frozen=True):
    """Put the summary of a run into the session; the ``Application``."""

    run: int


class DiscardRun(Struct, frozen=True):
    """Throw the summary of a run away: there is room without it."""

    run: int


class Foreground(Struct, frozen=True):
    """Summarize now, while the person waits."""


Action = Start | Stop | Wait | Apply | DiscardRun | Foreground


class Machine(Struct, frozen=True):
    """One session's state. ``run`` names the latest run, from 1; 0 before the first."""

    state: RunState = RunState.IDLE
    run: int = 0
    ratio: float = 0.0
    """How full the last prompt was."""
    trigger: float = 0.0
    """The line that the last look was compared with; 0 before the first."""
    warm: bool = False
    problem: str = ""
    """Why the last run failed; empty otherwise."""
    note: str = ""
    """What the last event led to, in a sentence."""


Step = tuple[Machine, tuple[Action, ...]]


def trigger_line(policy: Background, warm: bool, draws: Draws) -> float:
    """The ratio at which a summary is begun.

    With a warm cache somewhere between two lines, so that it is not always the same place; with a
    cold one only in need, and nothing is drawn (A47).
    """
    if not warm:
        return policy.cold
    return policy.warm_low + draws.random() * (policy.warm_high - policy.warm_low)


def step(machine: Machine, event: BackgroundEvent, policy: Background, draws: Draws) -> Step:
    """The state after an event, and what is to be done.

    Words of a run that is no longer the current one change nothing.
    """
    match event:
        case Rendered():
            return _rendered(machine, event, policy, draws)
        case Rendering(ratio):
            return _rendering(replace(machine, ratio=ratio), policy)
        case Exceeded():
            return _exceeded(machine)
        case RunFinished(run):
            if machine.state is not RunState.IN_PROGRESS or run != machine.run:
                return machine, ()
            note = "The summary is ready; it is applied before the next prompt."
            return replace(machine, state=RunState.COMPLETED, problem="", note=note), ()
        case Failed(run, problem):
            busy = machine.state in (RunState.IN_PROGRESS, RunState.COMPLETED)
            if not busy or run != machine.run:
                return machine, ()
            return replace(machine, state=RunState.FAILED, problem=problem, note=problem), ()
        case Applied(run):
            if machine.state is not RunState.COMPLETED or run != machine.run:
                return machine, ()
            note = "The summary took the place of what it tells."
            return replace(machine, state=RunState.IDLE, problem="", note=note), ()
        case RunCancelled():
            return _ended(machine, "Stopped.")
        case ModelChanged():
            if machine.state is not RunState.IN_PROGRESS:
                return machine, ()
            return _ended(machine, "Stopped: another model goes on.")


def _rendered(machine: Machine, event: Rendered, policy: Background, draws: Draws) -> Step:
    seen = replace(machine, ratio=event.ratio, warm=event.warm)
    if machine.state not in (RunState.IDLE, RunState.FAILED):
        return seen, ()
    line = trigger_line(policy, event.warm, draws)
    seen = replace(seen, trigger=line)
    cache = "warm" if event.warm else "cold"
    drawn = f"the line of {share_text(line, 1)} with a {cache} cache."
    if event.ratio < line:
        return replace(seen, note=f"{share_text(event.ratio)} full, below {drawn}"), ()
    run = machine.run + 1
    note = f"{share_text(event.ratio)} full, above {drawn}"
    begun = replace(seen, state=RunState.IN_PROGRESS, run=run, problem="", note=note)
    return begun, (Start(run),)


def _rendering(machine: Machine, policy: Background) -> Step:
    if machine.state is not RunState.COMPLETED:
        return machine, ()
    if machine.ratio >= policy.apply_minimum:
        return machine, (Apply(machine.run),)
    least = share_text(policy.apply_minimum)
    note = f"Thrown away: only {share_text(machine.ratio)} full by now, less than {least}."
    return replace(machine, state=RunState.IDLE, note=note), (DiscardRun(machine.run),)


def _exceeded(machine: Machine) -> Step:
    if machine.state is RunState.IN_PROGRESS:
        note = "The prompt does not fit: waiting for the summary that is on its way."
        return replace(machine, note=note), (Wait(machine.run),)
    if machine.state is RunState.COMPLETED:
        return machine, (Apply(machine.run),)
    note = "The prompt does not fit and nothing was prepared: summarizing now."
    return replace(machine, state=RunState.IDLE, problem="", note=note), (Foreground(),)


def _ended(machine: Machine, note: str) -> Step:
    actions: tuple[Action, ...] = ()
    if machine.state is RunState.IN_PROGRESS:
        actions = (Stop(machine.run),)
    elif machine.state is RunState.COMPLETED:
        actions = (DiscardRun(machine.run),)
    return replace(machine, state=RunState.IDLE, problem="", note=note), actions


# procedures --------------------------------------------------------------------------------------


class Application(NamedTuple):
    """What came of applying a summary."""

    problem: str = ""
    """Why it is not in the session; empty when it is."""
    compacted: bool = True
    """The context was compacted, by this summary or meanwhile by another."""


class Sent(NamedTuple):
    """A prompt that fits its budget."""

    ratio: float
    warm: bool
    """See ``Rendered``."""


class Prepare(Struct, frozen=True):
    """Read anew what the prompt is made of; the ratio of the last prompt by the sizes of now, None
    before the first."""


class Render(Struct, frozen=True):
    """Render the prompt; as ``Sent``, or None where it does not fit. ``shortens``: the oldest
    history is dropped for room, and it always fits."""

    shortens: bool


class SummarizeNow(Struct, frozen=True):
    """Summarize while the user waits; whether the context was compacted. May fail."""


class WatchedPrompts(Protocol):
    """An agent's prompts, as the procedures look at them. Everything is read again."""

    @property
    def policy(self) -> Background:
        """The parameters of the state machine."""

    @property
    def enabled(self) -> bool:
        """Off, nothing is summarized: of a prompt that does not fit the oldest history goes."""

    @property
    def ahead(self) -> bool:
        """Off, no summary is begun: the user postponed it."""

    def machine_changed(self, now: Machine) -> None:
        """Take in a new state of the machine."""


class BudgetedPrompts:
    """How each prompt of one session's agent is brought within its budget."""

    def __init__(self, session: WatchedPrompts, draws: Draws) -> None:
        self._session = session
        self._draws = draws
        self.machine = Machine()

    def prompt(self, model_changed: bool = False) -> Steps[None]:
        """Make the next prompt. A finished summary is applied, and one is begun where it is due."""
        session = self._session
        if model_changed:
            yield from self.advance(ModelChanged())
        if not session.enabled:
            yield from self.advance(RunCancelled())
        summarized, ratio = False, (yield Prepare())
        if ratio is not None and (yield from self.advance(Rendering(ratio))):
            summarized = True
            yield Prepare()
        sent: Sent | None = yield Render(shortens=not session.enabled)
        if sent is None:
            sent, summarized = (yield from self._make_room()), True
        if summarized or not session.enabled or not session.ahead:
            self._change(replace(self.machine, ratio=sent.ratio))
        else:
            yield from self.advance(Rendered(sent.ratio, sent.warm))

    def advance(self, event: BackgroundEvent) -> Steps[bool]:
        """Give the machine an event and do what it says; whether the context was compacted."""
        compacted = False
        for action in self.step(event):
            match action:
                case Wait():
                    yield action
                    compacted = (yield from self.advance(Exceeded())) or compacted
                case Apply(run):
                    result: Application = yield action
                    self.step(Failed(run, result.problem) if result.problem else Applied(run))
                    compacted = result.compacted or compacted
                case Foreground():
                    pass  # ``_make_room`` goes on with it
                case _:
                    yield action
        return compacted

    def step(self, event: BackgroundEvent) -> tuple[Action, ...]:
        """Give the machine an event; what is to be done."""
        machine, actions = step(self.machine, event, self._session.policy, self._draws)
        self._change(machine)
        return actions

    def _make_room(self) -> Steps[Sent]:
        """A prompt that fits: after the run that is under way, after a summary made at once, or
        without the oldest history when neither helps."""
        for _ in range(2):
            if (yield from self.advance(Exceeded())):
                yield Prepare()
                if (fitting := (yield Render(shortens=False))) is not None:
                    rendering: Sent = fitting
                    return rendering
        if not self._session.ahead:
            self._note("The summary was left for now; the oldest history goes instead.")
        else:
            try:
                if (yield SummarizeNow()):
                    yield Prepare()
            except StepFailed as error:
                self._note(f"Summarizing at once failed: {error}")
        rendering = yield Render(shortens=True)
        return rendering

    def _note(self, note: str) -> None:
        self._change(replace(self.machine, note=note))

    def _change(self, machine: Machine) -> None:
        self.machine = machine
        self._session.machine_changed(machine)

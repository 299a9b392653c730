"""When a context is compacted without a person pressing a button, and what holds that back: the
reserve, the limit, and the one comparison (A8, B18)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.profile import Profile, Settings

SMALL_WINDOW = 65_536
"""Tokens; the sizes that systems come with were made for larger windows."""
_LOWEST_PERCENT, _HIGHEST_PERCENT = 1.0, 99.0


def fitted(profile: Profile, settings: Settings, model_window: int | None = None) -> Settings:
    """The sizes that hold for a model: its window, where it is known and smaller than the one set;
    and in a small window no larger reserve and kept tail than it has room for, where the profile
    scales them."""
    window = min(settings.context_window, model_window or settings.context_window)
    sized = replace(settings, context_window=window)
    return _scaled(sized) if profile.small_windows == "scaled" else sized


def _scaled(settings: Settings) -> Settings:
    """Reserve and kept tail as they fit a small window."""
    window = settings.context_window
    if window >= SMALL_WINDOW:
        return settings
    reserve = settings.reserve_tokens
    return replace(
        settings,
        # One that leaves half of the window was meant for it.
        reserve_tokens=reserve if reserve < window // 2 else window // 4,
        keep_recent_tokens=min(settings.keep_recent_tokens, window * 5 // 16),
    )


def unfit_words(profile: Profile, settings: Settings, model_window: int | None = None) -> str:
    """Why a model's window is too small for the sizes of a profile that keeps them whatever the
    window, and the smallest change that lets it compact, as sentences; empty where they fit."""
    sized = fitted(profile, settings, model_window)
    limit = limit_of(profile, sized)
    kept = sized.keep_recent_tokens if profile.cut_unit == "tokens" else 0
    if limit > kept or not profile.enabled:
        return ""
    smaller, window = _scaled(sized), sized.context_window
    changes = [
        f"{key} to {now:,}"
        for key, now, before, needed in (
            ("compaction.reserveTokens", smaller.reserve_tokens, sized.reserve_tokens,
             limit <= smaller.keep_recent_tokens),
            ("compaction.keepRecentTokens", smaller.keep_recent_tokens, kept, True),
        )
        if now < before and needed
    ]  # fmt: skip
    sizes = f"keeps {kept:,} tokens and {reserve_of(profile, sized):,} free whatever the window"
    change = f" Set {' and '.join(changes)}." if changes else ""
    return f"{profile.title} {sizes}, so nothing of {window:,} can be summarized.{change}"


def reserve_of(profile: Profile, settings: Settings) -> int:
    """Tokens that stay free: the configured reserve, or the profile's share of the window where
    that is more."""
    share = settings.context_window * profile.reserve_floor_percent // 100
    return max(share, fitted(profile, settings).reserve_tokens)


def limit_of(profile: Profile, settings: Settings) -> int:
    """Tokens that a context may take before it is compacted.

    A number of tokens goes before a share of the window, and both before the reserve. It is
    negative where the reserve is larger than the window: then every context is too full.
    """
    window = settings.context_window
    if profile.threshold_tokens > 0:
        return max(1, min(profile.threshold_tokens, window - 1))
    if profile.threshold_percent > 0:
        percent = max(_LOWEST_PERCENT, min(profile.threshold_percent, _HIGHEST_PERCENT))
        return int(window * (percent / 100))
    return window - reserve_of(profile, settings)


class ContextLimits(NamedTuple):
    """Tokens that a context may take."""

    window: int
    threshold: int
    """Above it the context is compacted."""


def limits_of(profile: Profile, settings: Settings, model_window: int | None) -> ContextLimits:
    """The limits for a model: the model's window, where it is known and smaller than the one
    set."""
    sized = fitted(profile, settings, model_window)
    return ContextLimits(sized.context_window, max(0, limit_of(profile, sized)))


def should_compact(context_tokens: int, profile: Profile, settings: Settings) -> bool:
    """Whether a context of so many tokens is to be compacted without being asked: strictly more
    than the limit, and never while that is switched off (A8, A12)."""
    return profile.enabled and context_tokens > limit_of(profile, settings)


Trigger = Literal["manual", "requested", "threshold", "overflow"]
"""``manual`` is a person's order, ``requested`` one that waited for the end of a turn."""
TriggerOutcome = Literal["answered", "overflow", "failed", "stopped"]
Hold = Literal[
    "", "off", "breaker", "cooldown", "nothing-new", "recovered", "no-recovery", "put-off"
]
"""Which rule blocked a compaction that was due; empty when none did."""

MOST_FAILURES = 3
"""Failures in a row after which automatic compaction rests until it is reset (C3)."""
COOLDOWN_MS = 20_000
"""No attempt for so long after a failure; twice as long after the second in a row."""


class LastReply(Struct, frozen=True):
    """The model's last reply, as far as a decision needs it."""

    model: str
    outcome: TriggerOutcome
    read_tokens: int = 0
    """Input and cache reads that the provider reported; 0 when it reported nothing."""
    before_compaction: bool = False
    """Older than the last compaction: what it says is about a context that is gone (B13)."""


class TriggerSituation(Struct, frozen=True):
    """What is known when it is decided. Sizes in tokens."""

    tokens: int
    """The context's size: the number that is shown (E13)."""
    counted: int
    """The same entries counted on this side, whatever a provider reported."""
    threshold: int
    """The context may take this much; above it, it is compacted (A8: strict)."""
    window: int
    model: str
    """The model that answers now."""
    reply: LastReply | None
    """None where no reply is looked at, as before a message is sent."""
    new_messages: int
    """Messages on the active path since its last compaction."""
    now_ms: int
    requested: bool = False
    """A compaction was asked for while the turn ran."""


class Guards(Struct, frozen=True):
    """What happened so far, as far as it blocks further compactions (C3, E15)."""

    failures: int = 0
    """In a row; a context that was found below its threshold, or a person's reset, ends the row."""
    reason: str = ""
    """Why the last one failed."""
    failed_at_ms: int = -1
    paused: bool = False
    """Resting until it is reset, whatever the number of failures."""
    recovered: bool = False
    """An overflow was recovered from since the last user message (B13)."""
    continued: bool = False
    """A continue prompt was sent since the last user message (E17)."""
    unproven: bool = False
    """A compaction went well, and no later check has found the context below its threshold."""
    put_off: bool = False
    """Left until the person says something: asked and answered, or cancelled."""
    put_off_to: int = 0
    """Left until the context takes more tokens than these; 0: not left."""

    @property
    def resting(self) -> bool:
        """The breaker is open: no automatic compaction until it is reset."""
        return self.paused or self.failures >= MOST_FAILURES

    def person_spoke(self) -> Guards:
        """A message of the person: one more recovery and one more continuation are allowed."""
        return replace(self, recovered=False, continued=False, put_off=False)

    def failed(self, reason: str, now_ms: int) -> Guards:
        """An attempt failed, or changed nothing for the better."""
        return replace(
            self, failures=self.failures + 1, reason=reason, failed_at_ms=now_ms, unproven=False
        )

    def compacted(self) -> Guards:
        """An attempt went well; whether it helped is seen at the next check."""
        return replace(self, unproven=True, failed_at_ms=-1, put_off_to=0)

    def ended(self, after: int, threshold: int, now_ms: int) -> Guards:
        """An automatic compaction was stored, and the entries take ``after`` tokens now."""
        if after > threshold:
            return self.failed(
                f"After the compaction the context still takes {after:,} tokens, more than the"
                f" threshold of {threshold:,}.",
                now_ms,
            )
        return self.compacted()

    def left(self, until_tokens: int = 0) -> Guards:
        """The person does not want it now: not before the context takes more than so many
        tokens, or, with 0, not before the next message."""
        if until_tokens > 0:
            return replace(self, put_off_to=until_tokens)
        return replace(self, put_off=True)

    def is_left(self, tokens: int) -> bool:
        """Whether a context of so many tokens is left as it is for now."""
        return self.put_off or tokens <= self.put_off_to

    def rest(self, reason: str) -> Guards:
        """Pause automatic compaction until it is reset."""
        return replace(self, paused=True, reason=reason)

    def reset(self) -> Guards:
        """A person wants it to go on: everything but this turn's limits is reset."""
        return Guards(recovered=self.recovered, continued=self.continued)

    def observed(self, now: TriggerSituation) -> Guards:
        """What the present context shows of the last compaction.

        Below the threshold it helped. Above it, although the entries themselves are few, two
        counts contradict each other: compacting again would go on for ever (E13).
        """
        if now.tokens <= now.threshold:
            reason = self.reason if self.paused else ""
            return replace(
                self, failures=0, reason=reason, failed_at_ms=-1, unproven=False, put_off_to=0
            )
        if self.unproven and now.counted <= now.threshold and now.new_messages:
            return self.failed(
                f"The provider counts {now.tokens:,} tokens right after a compaction, where the"
                f" entries take {now.counted:,}.",
                now.now_ms,
            )
        return replace(self, unproven=False)


class Decision(Struct, frozen=True):
    """What is to be done, and why."""

    trigger: Trigger | None
    """None: nothing."""
    retry: bool
    """The reply that was looked at is to be made again (A10)."""
    reason: str
    """A sentence for a person."""
    blocked_by: Hold = ""

    @property
    def compacts(self) -> bool:
        return self.trigger is not None


def decide(now: TriggerSituation, guards: Guards, profile: Profile, enabled: bool) -> Decision:
    """Whether to compact automatically. ``guards`` are those after ``Guards.observed`` (A8 to A12).

    ``enabled``: the switch as it stands at this moment; off stops everything but what a person
    asked for (E18).
    """
    if now.requested:
        if not now.new_messages:
            return _blocked("nothing-new", "Nothing was said since the last compaction.")
        return Decision("requested", False, "A compaction was asked for during the turn.")
    overflow = _overflow(now)
    if overflow:
        return _recovery(guards, profile, enabled, overflow)
    if now.tokens <= now.threshold:
        return _blocked("", f"{now.tokens:,} tokens are within the threshold of {now.threshold:,}.")
    if now.reply is not None and now.reply.outcome in ("stopped", "failed"):
        return _blocked("", "Only a turn that went well is followed by a compaction.")
    return _threshold(now, guards, enabled)


def _overflow(now: TriggerSituation) -> str:
    """Why the last reply tells that the window is too small for the context, or nothing."""
    reply = now.reply
    # Another model's window says nothing of this one's, and an old reply nothing of this context.
    if reply is None or reply.before_compaction or reply.model != now.model:
        return ""
    if reply.outcome == "overflow":
        return "The model refused the request: it is larger than its window."
    if reply.outcome == "answered" and reply.read_tokens > now.window:
        return (
            f"The model answered to {reply.read_tokens:,} tokens, more than its window of"
            f" {now.window:,}: it did not see all of them."
        )
    return ""


def _recovery(guards: Guards, profile: Profile, enabled: bool, why: str) -> Decision:
    if not profile.overflow_recovery:
        return _blocked(
            "no-recovery", f"The profile {profile.name} does not recover from overflows."
        )
    if not enabled:
        return _blocked("off", "Automatic compaction is off.")
    if guards.recovered:
        return _blocked(
            "recovered", "The request is too large even after one compaction for this message."
        )
    if guards.resting:
        return _blocked("breaker", resting_words(guards))
    return Decision("overflow", True, why)


def _threshold(now: TriggerSituation, guards: Guards, enabled: bool) -> Decision:
    why = f"{now.tokens:,} tokens are more than the threshold of {now.threshold:,}."
    if not enabled:
        return _blocked("off", f"{why} Automatic compaction is off.")
    if not now.new_messages:
        return _blocked("nothing-new", f"{why} Nothing was said since the last compaction.")
    if guards.resting:
        return _blocked("breaker", f"{why} {resting_words(guards)}")
    if cooling_ms(guards, now.now_ms) > 0:
        return _blocked("cooldown", f"{why} The last attempt failed a moment ago.")
    if guards.is_left(now.tokens):
        return _blocked("put-off", f"{why} It was left for now.")
    return Decision("threshold", False, why)


def _blocked(by: Hold, reason: str) -> Decision:
    return Decision(None, False, reason, by)


def cooling_ms(guards: Guards, now_ms: int) -> int:
    """Milliseconds until a next attempt by the threshold; 0 when there is nothing to wait for."""
    if guards.failed_at_ms < 0 or not guards.failures:
        return 0
    wait: int = COOLDOWN_MS << (guards.failures - 1)
    # A clock that was set back must not hold for ever what it should hold for seconds.
    return max(0, min(wait, guards.failed_at_ms + wait - now_ms))


def resting_words(guards: Guards) -> str:
    """Why automatic compaction is paused, as a sentence; empty while it is not."""
    if not guards.resting:
        return ""
    if guards.paused:
        return guards.reason
    return f"Automatic compaction rests after {guards.failures} failures in a row: {guards.reason}"


def shrinks(before: int, after: int) -> bool:
    """Whether a compaction is worth storing: the context must get smaller (E16). Both counted
    the same way, in tokens."""
    return after < before


def may_continue(profile: Profile, auto_continue: bool, guards: Guards, finished: bool) -> bool:
    """Whether the agent is prompted to go on after a compaction by the threshold (A11, E17).

    ``finished``: the turn ended normally. A finished turn is left alone, but for a profile
    that prompts always, as oh-my-pi does. Never twice for one message of the person.
    """
    if not auto_continue or guards.continued:
        return False
    return not finished or profile.finished_turn == "prompted"


def looks_between_rounds(profile: Profile) -> bool:
    """Whether the threshold counts within a turn too, before each request after the first (A8)."""
    return profile.threshold_check == "between-rounds"


def manual_now(profile: Profile, running: bool) -> Literal["run", "abort", "refuse"]:
    """How a manual compaction is handled while a turn runs (A9)."""
    return profile.manual_while_running if running else "run"

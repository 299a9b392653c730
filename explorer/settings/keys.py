"""The settings: what each is called, what it may hold, and what it does, as a table; the kinds of
values, defined once for the check, the schema and the screen; and the table as JSON Schema, for
editors that complete and check settings files.

Names are spelled as the systems spell them that have the setting. Unset, a setting leaves a rule to
the profile. Everything that shows, checks or publishes settings reads this table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeGuard

from msgspec import Struct

from explorer.compaction.profile import PROFILES, Profile

MOST = 10_000_000
"""No size in tokens or milliseconds is larger than this."""


class ValueKind(Protocol):
    """What a setting may hold."""

    def problem(self, value: object) -> str:
        """Why a JSON value does not fit, as the end of a sentence; empty when it does."""
        ...

    def schema(self) -> dict[str, Any]:
        """The same as JSON Schema (2020-12)."""
        ...


class OnOff(Struct, frozen=True):
    """``true`` or ``false``."""

    def problem(self, value: object) -> str:
        return "" if isinstance(value, bool) else f"expected true or false, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Whole(Struct, frozen=True):
    """A whole number from ``minimum`` to ``maximum``; ``unit`` is tokens, ms, rounds."""

    minimum: int
    maximum: int
    unit: str

    def problem(self, value: object) -> str:
        if not is_number(value) or value != int(value):
            return f"expected a whole number of {self.unit}, not {shown(value)}"
        return between(value, self.minimum, self.maximum)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


class Percent(Struct, frozen=True):
    """A number of per cent, from ``minimum`` to ``maximum``."""

    minimum: float
    maximum: float

    def problem(self, value: object) -> str:
        if not is_number(value):
            return f"expected a number of per cent, not {shown(value)}"
        return between(value, self.minimum, self.maximum)

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.minimum, "maximum": self.maximum}


class RatioOrTokens(Struct, frozen=True):
    """A share in (0, 1], or a whole number of tokens from ``lowest`` on; between them lies a gap
    in which it is not clear which one was meant (A46)."""

    lowest: int = 100

    def problem(self, value: object) -> str:
        if not is_number(value) or value <= 0:
            return f"expected a share above 0 up to 1, or tokens, not {shown(value)}"
        if value <= 1:
            return ""
        if value < self.lowest:
            return (
                f"{shown(value)} is neither a share (above 0 up to 1)"
                f" nor a number of tokens ({self.lowest} or more)"
            )
        if value != int(value):
            return f"expected a whole number of tokens, not {shown(value)}"
        return between(value, self.lowest, MOST)

    def schema(self) -> dict[str, Any]:
        share = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
        tokens = {"type": "integer", "minimum": self.lowest, "maximum": MOST}
        return {"anyOf": [share, tokens]}


class ChoiceKind(Struct, frozen=True):
    """One of several words; ``options`` says what each does."""

    options: Mapping[str, str]

    def problem(self, value: object) -> str:
        if isinstance(value, str) and value in self.options:
            return ""
        words = ", ".join(f'"{word}"' for word in self.options)
        return f"expected one of {words}, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options), "enumDescriptions": list(self.options.values())}


class TextKind(Struct, frozen=True):
    """A text that a pattern describes; ``what`` says it in words."""

    pattern: str
    what: str

    def problem(self, value: object) -> str:
        if isinstance(value, str) and re.search(self.pattern, value):
            return ""
        return f"expected {self.what}, not {shown(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": self.pattern}


class Names(Struct, frozen=True):
    """A list of words without blanks at their ends. ``single``: one alone may stand without a
    list; ``least``: how many there must be."""

    what: str
    single: bool = False
    least: int = 0
    pattern: str = r"^\S(.*\S)?$(?!\n)"

    def problem(self, value: object) -> str:
        if self.single and isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            alone = f"the name of {self.what} or " if self.single else ""
            return f"expected {alone}a list of {self.what}s, not {shown(value)}"
        wrong = [n for n in value if not (isinstance(n, str) and re.search(self.pattern, n))]
        if wrong:
            return f"expected names of {self.what}s, and {shown(wrong[0])} is none"
        return "" if len(value) >= self.least else f"expected at least {self.least} {self.what}"

    def schema(self) -> dict[str, Any]:
        one = {"type": "string", "pattern": self.pattern}
        several = {"type": "array", "items": one, "minItems": self.least}
        return {"anyOf": [one, several]} if self.single else several


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number that can be compared; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or abs(value) < float("inf")


def between(value: Any, minimum: float, maximum: float) -> str:
    """Why a number is out of its range; empty when it is not."""
    if minimum <= value <= maximum:
        return ""
    return f"expected a number from {minimum:,} to {maximum:,}, not {shown(value)}"


def shown(value: object) -> str:
    """A value as it is written in a file, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}…"


def tidy(kind: ValueKind, value: Any) -> Any:
    """A value that fits, as the program uses it: whole numbers as int, single names as a list."""
    if isinstance(kind, Names) and isinstance(value, str):
        return [value]
    if isinstance(value, float) and isinstance(kind, Whole | RatioOrTokens) and value > 1:
        return int(value)
    if isinstance(value, float) and isinstance(kind, Whole):
        return int(value)
    return value


def parsed(kind: ValueKind, text: str) -> Any:
    """What a person typed, as a value of this kind. Raises ValueError saying what was expected.

    JSON is taken as such, a list of names also with commas alone, and words without quotes.
    """
    readings: list[Any] = []
    try:
        readings.append(json.loads(text))
    except (ValueError, RecursionError):
        if isinstance(kind, OnOff) and text.strip().lower() in ("on", "off", "yes", "no"):
            readings.append(text.strip().lower() in ("on", "yes"))
    if isinstance(kind, Names):
        readings.append([name.strip() for name in text.split(",") if name.strip()])
    readings.append(text)
    for value in readings:
        if not kind.problem(value):
            return tidy(kind, value)
    raise ValueError(kind.problem(readings[0]))


ADDRESS = r"^(https?://[^\s@]+)?$(?!\n)"
"""An address without a user name or password, or nothing."""
PROFILE = r"^[a-z0-9][a-z0-9._-]{0,63}$(?!\n)"
MODEL = r"^[^\s/]+/\S+$(?!\n)"
ALLOWED = r"^(bash|edit|write)\(\s*\S[^\n]*\)$(?!\n)"
GROUPS = {
    "Compaction": "When a context is compacted, and how much of it stays word for word",
    "Summaries": "Who writes the summaries",
    "Branch summaries": "Leaving a branch of a session",
    "Pruning": "Old tool results that give way before anything is summarized",
    "Copilot": "What only the Copilot profile has",
    "Agent and models": "Who answers, and where",
    "Extensions": "A person's own code, asked before and after",
    "Privacy": "What is seen of keys, tokens and passwords, where they are recognised",
    "Sessions": "Where sessions are found, and how their own agents go on with them",
}


class SettingKey(Struct, frozen=True):
    """One setting."""

    name: str
    group: str
    title: str
    """A few words for a person."""
    sentence: str
    """What it does, in one sentence."""
    kind: ValueKind
    needs: Literal["", "tokens", "budget"] = ""
    """What a profile must have for it to have an effect: ``tokens`` is a cut counted in tokens,
    ``budget`` a prompt rendered to a budget."""
    unset: str = "the profile's own"
    """What holds where it is not set."""
    field: str = ""
    """The field of a profile that it sets, where it is as simple as that."""
    set_by: Literal["anyone", "trusted", "person"] = "anyone"
    """``trusted``: it decides where text goes, so a project's file sets it only where the person
    trusts the project. ``person``: it is for the whole program; no project sets it."""

    def has_effect(self, profile: Profile) -> bool:
        """Whether it changes anything under a profile."""
        if self.needs == "tokens":
            return profile.cut_unit == "tokens"
        return self.needs != "budget" or profile.prompt_budget is not None

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in which it has an effect."""
        return tuple(name for name, profile in PROFILES.items() if self.has_effect(profile))


def _table() -> tuple[SettingKey, ...]:
    return (
        *_compaction(), *_summaries(), *_branches(), *_pruning(), *_copilot(), *_models(),
        *_extensions(), *_privacy(), *_sessions(),
    )  # fmt: skip


def _compaction() -> tuple[SettingKey, ...]:
    return (
        SettingKey("compaction.profile", "Compaction", "Profile",
            "The system whose rules are followed where a session chose none of its own.",
            TextKind(PROFILE, "the name of a profile"), unset="the one chosen last in the window"),
        SettingKey("compaction.enabled", "Compaction", "Compact by itself",
            "Compacts by itself when the context is too full; else only when you ask for it.",
            OnOff(), field="enabled"),
        SettingKey("compaction.keepRecentTokens", "Compaction", "Keep recent",
            "Tokens at the end of the path that stay word for word.",
            Whole(1, MOST, "tokens"), needs="tokens", field="keep_recent_tokens"),
        SettingKey("compaction.reserveTokens", "Compaction", "Reserve",
            "Tokens of the window that are kept free for the reply and the summary.",
            Whole(1, MOST, "tokens"), field="reserve_tokens"),
        SettingKey("compaction.contextWindow", "Compaction", "Window",
            "Tokens that a model can take in at once; a smaller window of the model itself counts.",
            Whole(1_000, MOST, "tokens"), field="context_window"),
        SettingKey("compaction.thresholdPercent", "Compaction", "Threshold in per cent",
            "Share of the window above which the context is compacted, instead of by the reserve.",
            Percent(1, 99), field="threshold_percent"),
        SettingKey("compaction.thresholdTokens", "Compaction", "Threshold in tokens",
            "Tokens above which the context is compacted, before the share and the reserve.",
            Whole(1, MOST, "tokens"), field="threshold_tokens"),
        SettingKey("compaction.autoContinue", "Compaction", "Go on after a compaction",
            "Prompts the agent to go on after a compaction that happened by itself.",
            OnOff(), field="auto_continue"),
        SettingKey("compaction.askFirst", "Compaction", "Ask first",
            "Waits for a person's word before each compaction that would happen by itself; where"
            " nobody can be asked, it happens without.",
            OnOff(), unset="off"),
    )  # fmt: skip


def _summaries() -> tuple[SettingKey, ...]:
    return (
        SettingKey("compaction.model", "Summaries", "Model for summaries",
            "The model that writes summaries; of a list, the next is asked where one fails.",
            Names("model", single=True, least=1, pattern=MODEL),
            unset="the one chosen last in the window", set_by="trusted"),
        SettingKey("compaction.servedModels", "Summaries", "Models that it serves",
            "The agent's models whose sessions that model summarizes, * for any ending; others"
            " summarize their own.",
            Names("model"), unset="all models"),
        SettingKey("compaction.remoteEndpoint", "Summaries", "Service for summaries",
            "Address of a service that summarizes in place of a model; it is sent the request.",
            TextKind(
                ADDRESS, "an address that begins with http:// or https://, without a password"
            ),
            field="remote_endpoint", set_by="trusted"),
    )  # fmt: skip


def _branches() -> tuple[SettingKey, ...]:
    return (
        SettingKey("branchSummary.enabled", "Branch summaries", "Ask for a summary",
            "Asks for a summary of the branch that is left; off, the leaf only moves.", OnOff()),
        SettingKey("branchSummary.reserveTokens", "Branch summaries", "Reserve",
            "Tokens of the window that a branch's summary leaves to its prompt and answer.",
            Whole(1, MOST, "tokens"), field="branch_reserve_tokens"),
    )  # fmt: skip


def _pruning() -> tuple[SettingKey, ...]:
    return (
        SettingKey("pruning.enabled", "Pruning", "Prune old tool results",
            "Old tool results give way to a note before a compaction is decided on.", OnOff()),
        SettingKey("pruning.protectTokens", "Pruning", "Protected tokens",
            "The newest tool results up to this many tokens are never pruned.",
            Whole(0, MOST, "tokens")),
        SettingKey("pruning.minimumSavings", "Pruning", "Least saving",
            "Nothing is pruned where fewer tokens than these would be saved.",
            Whole(0, MOST, "tokens")),
        SettingKey("pruning.protectedTools", "Pruning", "Protected tools",
            "Results of these tools are never pruned for their age.", Names("tool")),
        SettingKey("pruning.supersededFirst", "Pruning", "Superseded reads first",
            "A read of a file that was read or written again later is pruned first.", OnOff()),
        SettingKey("pruning.useless", "Pruning", "Useless results too",
            "Results that say nothing any more are pruned too: empty, or failed and done again.",
            OnOff()),
    )  # fmt: skip


def _copilot() -> tuple[SettingKey, ...]:
    modes = {
        "auto": "the full request, and the simple one where that fails",
        "simple": "the conversation as text, with short arguments and results",
        "full": "the conversation as it is, with its tools",
    }
    return (
        SettingKey(
            "chat.summarizeAgentConversationHistory.enabled", "Copilot", "Summarize the history",
            "The master switch of Copilot: no compaction by itself, and none ahead of time.",
            OnOff(), needs="budget"),
        SettingKey("chat.advanced.summarizeAgentConversationHistoryThreshold", "Copilot",
            "Lower the budget",
            "The budget of a prompt: a share of the window up to 1, or tokens from 100 on.",
            RatioOrTokens(), needs="budget", unset="the model's window"),
        SettingKey("chat.advanced.agentHistorySummarizationMode", "Copilot", "Kind of request",
            "How the summary is asked for.", ChoiceKind(modes), needs="budget"),
    )  # fmt: skip


def _models() -> tuple[SettingKey, ...]:
    return (
        SettingKey("agent.model", "Agent and models", "Model of the agent",
            "The model that answers in the window, where a session chose none of its own.",
            TextKind(MODEL, "the name of a model, such as provider/model"),
            unset="the one chosen last in the window", set_by="trusted"),
        SettingKey("agent.allow", "Agent and models", "Allowed without asking",
            "What the agent may do without asking, such as bash(pytest *) for commands that begin"
            " so and edit(src/**) for files.",
            Names("pattern", pattern=ALLOWED), unset="nothing", set_by="trusted"),
        SettingKey("agent.mostRounds", "Agent and models", "Most rounds of a turn",
            "The turn ends after so many replies, and can be gone on with.",
            Whole(1, 100_000, "replies"), unset="100"),
        SettingKey("agent.mostTurnTokens", "Agent and models", "Most tokens of a turn",
            "The turn ends once its replies have read and written so many tokens together.",
            Whole(1_000, MOST, "tokens"), unset="no limit"),
        SettingKey("agent.sameCalls", "Agent and models", "Going in circles",
            "The agent is warned when the same calls gave the same results so many times in a row,"
            " and the turn ends after two more; 0 never ends it.",
            Whole(0, 1_000, "times"), unset="3"),
        SettingKey("models.apiBase", "Agent and models", "Address of the models",
            "Address of a server of your own that speaks for the models; keys stay in the"
            " environment.",
            TextKind(
                ADDRESS, "an address that begins with http:// or https://, without a password"
            ),
            unset="the provider's own", set_by="person"),
        SettingKey("models.silenceSeconds", "Agent and models", "Patience with models",
            "A call ends when not a byte of its answer has come for so long; what came before"
            " stays.",
            Whole(5, 86_400, "seconds"), unset="300 seconds", set_by="person"),
        SettingKey("models.scriptedPace", "Agent and models", "Pace of scripted runs",
            "How fast the runs play that come along as scripts, in per cent of how they are"
            " written; 0 is all at once.",
            Whole(0, 1_000, "per cent"), unset="as they are written", set_by="person"),
    )  # fmt: skip


def _privacy() -> tuple[SettingKey, ...]:
    return (
        SettingKey("privacy.maskShown", "Privacy", "Mask what is shown",
            "Shows and audits sessions with secrets masked; what is copied is what is shown.",
            OnOff(), unset="on", set_by="person"),
        SettingKey("privacy.maskSent", "Privacy", "Mask what is sent",
            "Masks secrets in requests for summaries, and in what an agent is sent of imported"
            " entries.",
            OnOff(), unset="on", set_by="person"),
        SettingKey("privacy.maskExports", "Privacy", "Mask what is exported",
            "Masks secrets in reports, transcripts and exports for pi; a session in its own agent's"
            " form is written as it was recorded.",
            OnOff(), unset="on", set_by="person"),
    )  # fmt: skip


def _sessions() -> tuple[SettingKey, ...]:
    return (
        SettingKey("sessions.find", "Sessions", "Find sessions",
            "Looks for sessions of agents in their usual places at each start, imports the new ones"
            " and keeps all up to date; nothing leaves this computer.",
            OnOff(), unset="asked once", set_by="person"),
        SettingKey("sessions.places", "Sessions", "More places",
            "Folders in which sessions are looked for besides the usual places.",
            Names("folder"), unset="none", set_by="person"),
        SettingKey("sessions.agents", "Sessions", "Agents to look for",
            "The only agents whose sessions are looked for, such as Claude Code.",
            Names("agent"), unset="all", set_by="person"),
        SettingKey("sessions.terminal", "Sessions", "Terminal",
            "Command of the terminal in which an agent goes on with a session; what the terminal"
            " shall run is put at its end.",
            TextKind(r"^\S[^\n]*$(?!\n)", "a command"),
            unset="the first that is found", set_by="person"),
    )  # fmt: skip


def _extensions() -> tuple[SettingKey, ...]:
    return (
        SettingKey("extensions.enabled", "Extensions", "Ask extensions",
            "Asks the extensions that are loaded before and after compactions and navigations.",
            OnOff(), unset="on", set_by="person"),
        SettingKey("extensions.timeoutMs", "Extensions", "Patience",
            "Milliseconds that one handler of an extension may take before it is left out.",
            Whole(100, 3_600_000, "ms"), unset="30,000 ms", set_by="person"),
    )  # fmt: skip


KEYS: dict[str, SettingKey] = {key.name: key for key in _table()}
"""Every setting by its name, in the order in which they are shown."""
NAMES = frozenset(KEYS)


def profile_default(key: SettingKey, profile: Any) -> Any:
    """What the profile itself has for a setting; None where that is not a single value."""
    if key.field:
        value = getattr(profile, key.field)
        return None if value in (-1, "") else value
    if key.name == "branchSummary.enabled":
        return profile.branch_summaries != "off"
    if key.name == "compaction.profile":
        return profile.name
    if key.name in _PROGRAM:
        return _PROGRAM[key.name]
    return _default_of_policy(key.name, profile)


_PROGRAM = {
    "extensions.enabled": True,
    "compaction.askFirst": False,
    "privacy.maskShown": True,
    "privacy.maskSent": True,
    "privacy.maskExports": True,
}
"""What holds of the program itself, whatever the profile."""
_PRUNING = {
    "pruning.protectTokens": "protect_tokens",
    "pruning.minimumSavings": "minimum_savings",
    "pruning.protectedTools": "protected_tools",
    "pruning.supersededFirst": "superseded_first",
    "pruning.useless": "useless",
}


def _default_of_policy(name: str, profile: Any) -> Any:
    if name == "pruning.enabled":
        return profile.pruning is not None
    if name in _PRUNING and profile.pruning is not None:
        value = getattr(profile.pruning, _PRUNING[name])
        return list(value) if isinstance(value, tuple) else value
    if profile.prompt_budget is not None:
        if name == "chat.summarizeAgentConversationHistory.enabled":
            return profile.enabled
        if name == "chat.advanced.agentHistorySummarizationMode":
            return profile.prompt_budget.mode
        if name == "chat.advanced.summarizeAgentConversationHistoryThreshold":
            return profile.prompt_budget.threshold
    return None


def settings_schema() -> dict[str, Any]:
    """The schema (2020-12) of a settings file. Names that are no settings are allowed."""
    properties: dict[str, Any] = {"$schema": {"type": "string"}}
    for key in KEYS.values():
        described = _described(key)
        properties[key.name] = described
        _add_nested(properties, key.name.split("."), described)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of Session Explorer",
        "type": "object",
        "properties": properties,
        "allowTrailingCommas": True,
    }


def _described(key: SettingKey) -> dict[str, Any]:
    words = f"{key.sentence} Unset: {key.unset}."
    if key.set_by == "trusted":
        words += " A project's file sets it only where the project is trusted."
    elif key.set_by == "person":
        words += " No project's file sets it."
    return {"title": key.title, "description": words, **key.kind.schema()}


def _add_nested(properties: dict[str, Any], parts: list[str], described: dict[str, Any]) -> None:
    """Put a setting below the object that its name begins with, under every split of the name."""
    for at in range(1, len(parts)):
        name, rest = ".".join(parts[:at]), parts[at:]
        group = properties.setdefault(name, {"type": "object", "properties": {}})
        group["properties"][".".join(rest)] = described
        _add_nested(group["properties"], rest, described)


def schema_text() -> str:
    """The schema as it is published: ``resources/settings.schema.json``."""
    return json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n"

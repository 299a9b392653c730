"""How the settings stand for one key, as words and values that a row shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from explorer.compaction.profile import Profile
from explorer.settings.files import SettingsLevel, SettingsProblem, refused
from explorer.settings.keys import SettingKey, profile_default, shown
from explorer.settings.live import LiveSettings, Set, Source

SOURCE_WORDS = {
    "session": "This session",
    "project": "Project",
    "global": "Global",
    "profile": "Profile",
}
UNSET = "Not set"
"""The badge of a setting that nothing sets, where the profile has nothing to say."""


class SettingsSurroundings(Struct, frozen=True):
    """What the dialog needs to know of the window, asked again whenever it shows something."""

    project: Path | None
    """The folder of the session's project; None where it is not on this computer."""
    own: Profile
    """The session's profile without any settings."""
    chosen: Mapping[str, Any]
    """What the session chose for itself, by the name of the setting."""
    models: Sequence[str]
    """Names of models that can be asked."""
    profiles: Mapping[str, str] = field(default_factory=dict)
    """Names of all profiles, with their titles."""
    pick_model: Callable[[Callable[[str], None]], None] | None = None
    """Lets a person choose among all models; the function is given the name."""
    no_project: str = ""
    """Why there is no project, in a sentence."""


Ask = Callable[[], SettingsSurroundings]


class KeyStatus(Struct, frozen=True):
    """One setting at this moment, seen from one level."""

    key: SettingKey
    value: Any
    """What holds; None where nothing says it in one value."""
    source: Source
    badge: str
    """Where the value comes from, in a word or two."""
    here: bool
    """It is set at the level shown."""
    here_value: Any
    note: str
    """What else there is to know, in a sentence or two."""
    problem: str
    blocked: str
    """Why it cannot be set at the level shown; empty when it can."""


def key_status(
    live: LiveSettings, key: SettingKey, level: SettingsLevel, around: SettingsSurroundings
) -> KeyStatus:
    """How one setting stands."""
    found = live.explain(key.name, around.project, around.chosen)
    sets = [Set(found.value, found.source), *found.overridden]
    here = next((one for one in sets if one.source == level), None)
    value = profile_default(key, around.own) if found.source == "profile" else found.value
    problems = [one for one in live.problems(around.project) if one.key == key.name]
    return KeyStatus(
        key,
        value,
        found.source,
        UNSET if found.source == "profile" and value is None else SOURCE_WORDS[found.source],
        here is not None,
        here.value if here is not None else None,
        _note(key, found.source, sets, around.own),
        "\n".join(problem_text(one) for one in problems),
        _blocked(key, level, live, around.project),
    )


def _note(key: SettingKey, source: Source, sets: list[Set], unchanged: Profile) -> str:
    parts: list[str] = []
    if not key.has_effect(unchanged):
        parts.append(f"No effect with {unchanged.title}.")
    for other in sets[1:]:
        parts.append(
            f"{SOURCE_WORDS[other.source]} says {shown(other.value)}, which does not hold."
        )
    if source == "profile" and profile_default(key, unchanged) is None:
        parts.append(f"Not set: {key.unset}.")
    return " ".join(parts)


def _blocked(
    key: SettingKey, level: SettingsLevel, live: LiveSettings, project: Path | None
) -> str:
    trusted = project is not None and live.trust.is_trusted(project)
    refusal = refused(key.name, level, trusted)
    return f"{refusal[0].upper()}{refusal[1:]}." if refusal else ""


def problem_text(problem: SettingsProblem) -> str:
    """A problem of one setting, for its row."""
    return f"{_file(problem)}, line {problem.line}: {problem.reason}."


def file_problem_text(problem: SettingsProblem) -> str:
    """A problem of a whole file, or of a name that is no setting."""
    name = f"{problem.key}: " if problem.key else ""
    line = f", line {problem.line}" if problem.line else ""
    column = f", column {problem.column}" if problem.column else ""
    end = "" if problem.reason.endswith(".") else "."
    return f"{_file(problem)}{line}{column}: {name}{problem.reason}{end}"


def _file(problem: SettingsProblem) -> str:
    owner = "The project's" if problem.level == "project" else "Your"
    return f"{owner} {problem.file.name}"


def matches(words: str, key: SettingKey) -> bool:
    """Whether every word typed occurs in a setting's name, title, group or sentence."""
    text = f"{key.name} {key.title} {key.group} {key.sentence}".casefold()
    return all(word in text for word in words.casefold().split())

"""What a session chose for itself, over the settings of the person and the project.

Only what differs is kept, value by value: everything else goes on following the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from explorer.compaction.profile import BASES, Profile, Settings, profile_values, read_profile
from explorer.settings.effective import Values, effective, profile_named
from explorer.settings.keys import KEYS, profile_default

_SIZES = Settings.__struct_fields__


class Chosen(Struct, frozen=True):
    """The choices of a session. ``rules`` are a profile's plain values, ``sizes`` tokens."""

    profile: str = ""
    """Name of the profile; empty where the session follows the settings."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As it is kept with the session."""
        return {"profile": self.profile, "rules": dict(self.rules), "sizes": dict(self.sizes)}

    def by_key(self, rules: Rules) -> dict[str, Any]:
        """The choices that a setting stands for, by its name. ``rules``: what came of them."""
        values: dict[str, Any] = {"compaction.profile": self.profile} if self.profile else {}
        for key in KEYS.values():
            if key.field in self.sizes:
                values[key.name] = self.sizes[key.field]
            elif key.field in self.rules:
                values[key.name] = self.rules[key.field]
            elif key.name.partition(".")[0] == "pruning" and "pruning" in self.rules:
                values[key.name] = profile_default(key, rules.profile)
        if "branch_summaries" in self.rules:
            values["branchSummary.enabled"] = self.rules["branch_summaries"] != "off"
        return values


class Rules(NamedTuple):
    """What a session follows, and which of its choices could not be used, in sentences."""

    profile: Profile
    settings: Settings
    mistakes: tuple[str, ...] = ()


WINDOW_KEY = "compaction.contextWindow"


def with_window(values: Values, recorded: int | None) -> Values:
    """The settings, with the window that a session recorded (in tokens; 0 and None: none) where a
    person has set no other."""
    return {WINDOW_KEY: recorded, **values} if recorded else values


class Ground(Struct, frozen=True):
    """What a session's choices stand on."""

    values: Values = field(default_factory=dict)
    """The settings that are set, by name."""
    otherwise: str = "explorer"
    """The profile where neither the session nor a setting names one."""
    profiles: Mapping[str, Profile] = field(default_factory=lambda: BASES)
    """All there are, the user's included."""


def rules_of(chosen: Chosen, ground: Ground) -> Rules:
    """The rules of a session: its choices, over the settings that are set, over the profile."""
    values, profiles = ground.values, ground.profiles
    base = profiles.get(chosen.profile) or profile_named(values, ground.otherwise, profiles)
    read = read_profile(chosen.rules, effective(base, values))
    sizes = {name: size for name, size in chosen.sizes.items() if name in _SIZES}
    settings = replace(Settings.of(read.profile), **sizes)
    return Rules(read.profile, settings, tuple(str(mistake) for mistake in read.mistakes))


def with_profile(chosen: Chosen, name: str) -> Chosen:
    """The choices under another profile, without rules and sizes chosen under the last one."""
    return Chosen(profile=name)


def with_rules(chosen: Chosen, profile: Profile, ground: Ground) -> Chosen:
    """The choices after a person changed rules of the profile that was shown.

    What is as it would be without a choice is none; the profile's rules, restored, are none
    either.
    """
    if profile == ground.profiles.get(profile.name):
        return replace(chosen, rules={})
    now = profile_values(rules_of(chosen, ground).profile)
    without = profile_values(rules_of(replace(chosen, rules={}), ground).profile)
    rules = dict(chosen.rules)
    for name, value in profile_values(profile).items():
        if value != now.get(name):
            rules[name] = value
            if value == without.get(name):
                del rules[name]
    return replace(chosen, rules=rules)


def with_sizes(chosen: Chosen, settings: Settings, ground: Ground) -> Chosen:
    """The choices after a person moved a size; one put back where it comes from is none."""
    now = asdict(rules_of(chosen, ground).settings)
    without = asdict(rules_of(replace(chosen, sizes={}), ground).settings)
    sizes = dict(chosen.sizes)
    for name, size in asdict(settings).items():
        if size != now[name]:
            sizes[name] = size
            if size == without[name]:
                del sizes[name]
    return replace(chosen, sizes=sizes)


def without_key(chosen: Chosen, name: str) -> Chosen:
    """The choices without the choice of one setting."""
    if name == "compaction.profile":
        # Rules and sizes were changed under the profile that goes.
        return Chosen()
    gone = {KEYS[name].field}
    if name.startswith("pruning."):
        gone = {"pruning"}
    elif name.startswith("chat."):
        gone = {"prompt_budget", "background", "enabled"}
    elif name == "branchSummary.enabled":
        gone = {"branch_summaries"}
    return replace(
        chosen,
        rules={key: value for key, value in chosen.rules.items() if key not in gone},
        sizes={key: value for key, value in chosen.sizes.items() if key not in gone},
    )


def chosen_from(kept: Any) -> Chosen:
    """What was kept with a session; nothing where it is none of ours. Raises ValueError when it
    is of a kind that is not known here."""
    if not isinstance(kept, dict):
        return Chosen()
    profile, rules, sizes = (kept.get(name) for name in ("profile", "rules", "sizes"))
    if isinstance(profile, dict):
        return _from_whole(profile, kept.get("settings"))
    if not (isinstance(profile, str) and isinstance(rules, dict) and isinstance(sizes, dict)):
        raise ValueError("The rules kept with this session are not known here.")
    return Chosen(profile, rules, _whole_numbers(sizes))


def _from_whole(profile: Mapping[str, Any], settings: Any) -> Chosen:
    """Version 0.1.0 kept all rules and all sizes: those that differ from the profile's."""
    name = str(profile.get("name", ""))
    base = BASES.get(name) or BASES["explorer"]
    defaults = profile_values(base)
    rules = {
        key: value for key, value in profile.items() if key in defaults and value != defaults[key]
    }
    kept = settings if isinstance(settings, dict) else {}
    sizes = _whole_numbers(kept)
    default_sizes = asdict(Settings.of(base))
    changed = {key: size for key, size in sizes.items() if size != default_sizes.get(key)}
    rules.pop("name", None), rules.pop("title", None)
    return Chosen(base.name, rules, changed)


def _whole_numbers(sizes: Mapping[str, Any]) -> dict[str, int]:
    return {key: size for key, size in sizes.items() if type(size) is int and size >= 0}

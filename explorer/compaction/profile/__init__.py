"""Profiles: the systems' rules as data.

- ``rules``: what a profile is, the sizes of one compaction, the five systems, and documented
  variants of them.
- ``descriptions``: every choice and every number explained in a
  sentence, with what each value does.
- ``values``: a profile as plain values, as files keep it, with every mistake named.
"""

from explorer.compaction.profile.descriptions import (
    POLICIES,
    POLICY_SWITCHES,
    SIZES,
    SWITCHES,
    PolicyToTell,
    Size,
    Switch,
)
from explorer.compaction.profile.rules import (
    BASES,
    DEFAULT_WINDOW,
    PROFILES,
    VARIANTS,
    Profile,
    Settings,
)
from explorer.compaction.profile.values import (
    ProfileMistake,
    ReadProfile,
    changed,
    profile_values,
    read_profile,
)

__all__ = [
    "BASES",
    "DEFAULT_WINDOW",
    "POLICIES",
    "POLICY_SWITCHES",
    "PROFILES",
    "SIZES",
    "SWITCHES",
    "VARIANTS",
    "PolicyToTell",
    "Profile",
    "ProfileMistake",
    "ReadProfile",
    "Settings",
    "Size",
    "Switch",
    "changed",
    "profile_values",
    "read_profile",
]

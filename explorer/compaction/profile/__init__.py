"""Profiles: the systems' rules as data.

- ``rules``: what a profile is, and the sizes of one compaction.
- ``switches``: every rule explained in a sentence, with what each of its values does.
- ``systems``: the five systems, and documented variants of them.
"""

from explorer.compaction.profile.rules import DEFAULT_WINDOW, Profile, Settings
from explorer.compaction.profile.switches import SWITCHES, Switch
from explorer.compaction.profile.systems import PROFILES

__all__ = ["DEFAULT_WINDOW", "PROFILES", "SWITCHES", "Profile", "Settings", "Switch"]

"""The person's settings as a command follows them; what the command line says goes before."""

from __future__ import annotations

import sys
from typing import NamedTuple

from explorer.commands.profiles import named_profile
from explorer.compaction.profile import Profile
from explorer.profiles import ProfileFiles
from explorer.session.visible_text import visible_line
from explorer.settings.effective import Values, effective, profile_named
from explorer.settings.live import project_of
from explorer.settings.opening import live_settings


class Settled(NamedTuple):
    """What holds for one session."""

    profile: Profile
    values: Values


def settled(profile: str | None, folder: str) -> Settled:
    """The rules for a session that worked in a folder. ``profile``: the name on the command line;
    without it, the one that the settings name. What is wrong in a file is told on standard error.

    Raises UsageError for a profile that there is not.
    """
    live, project = live_settings(), project_of(folder)
    for problem in live.problems(project):
        if not problem.unknown:
            print(f"session-explorer: {visible_line(str(problem))}", file=sys.stderr)
    values = live.values(project)
    if profile is not None:
        return Settled(effective(named_profile(profile), values), values)
    named = profile_named(values, profiles=ProfileFiles().shelf().profiles())
    return Settled(effective(named, values), values)

"""The person's settings where this installation keeps them, and the parts of the program that
follow their changes."""

from __future__ import annotations

from collections.abc import Callable, Collection

from explorer.extensions.hooks import TIME_LIMIT_S
from explorer.extensions.manager import Extensions, TrustStore
from explorer.settings import paths
from explorer.settings.effective import extension_limit_s
from explorer.settings.live import LiveSettings
from explorer.settings.profile_files import ProfileFiles


def live_settings(profiles: Callable[[], Collection[str]] | None = None) -> LiveSettings:
    """The files of the person and of projects, as they are now. ``profiles``: names of all that
    there are; those of the program and the user's when it is left out."""
    if profiles is None:
        names = ProfileFiles().shelf().profiles()
        return LiveSettings(paths.settings_path(), TrustStore(), lambda: names)
    return LiveSettings(paths.settings_path(), TrustStore(), profiles)


def following_extensions(live: LiveSettings) -> Extensions:
    """Extensions that are asked, and waited for, as the settings say at every call."""

    def limit_s() -> float:
        live.refresh()
        return extension_limit_s(live.values(), TIME_LIMIT_S)

    def is_enabled(_name: str) -> bool:
        live.refresh()
        return live.get("extensions.enabled") is not False

    return Extensions(limit_s=limit_s, is_enabled=is_enabled)

"""What the agent is always allowed, kept in the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.settings.files import SettingsError
from explorer.settings.live import LiveSettings

KEY = "agent.allow"


class SettingsAllowList:
    """The patterns of the person and, where it is trusted, of the project: both hold.

    One that is added goes into the project's file where the person trusts the project, so that it
    holds there alone, and into the person's own file otherwise.
    """

    def __init__(
        self,
        settings: LiveSettings,
        project: Path | None,
        on_trouble: Callable[[str], None],
    ) -> None:
        """``on_trouble`` is told, as a sentence, when a pattern could not be kept."""
        self._settings = settings
        self._project = project
        self._on_trouble = on_trouble

    @property
    def kept_in_project(self) -> bool:
        """Whether a pattern that is added holds in this project alone."""
        return self._project is not None and self._settings.trust.is_trusted(self._project)

    def patterns(self) -> Sequence[str]:
        """Those that hold now."""
        found = list(self._settings.get(KEY) or ())
        if self._project is not None:
            found += self._settings.get(KEY, self._project) or ()
        return tuple(dict.fromkeys(found))

    def add(self, pattern: str) -> None:
        """Keep one more."""
        if pattern in self.patterns():
            return
        project = self._project if self.kept_in_project else None
        try:
            before = self._own(project)
            self._settings.set(KEY, [*before, pattern], project)
        except SettingsError as error:
            self._on_trouble(str(error))

    def _own(self, project: Path | None) -> list[str]:
        """What one file alone sets."""
        if project is None:
            return list(self._settings.get(KEY) or ())
        told = self._settings.explain(KEY, project)
        return list(told.value or ()) if told.source == "project" else []

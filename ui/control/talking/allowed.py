"""What a person always allows the agent, kept in the settings as ``agent.allow``."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.settings.files import SettingsError
from ui.control.desk import Desk

KEY = "agent.allow"


class AlwaysAllowed:
    """The ``AllowList`` of the window: what the person's settings say, and a trusted project's."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def patterns(self) -> Sequence[str]:
        """Those that hold now; a file that was changed a moment ago counts already."""
        self._desk.live.refresh()
        own = self._desk.live.values().get(KEY, ())
        here = self._desk.values.get(KEY, ())
        return tuple(dict.fromkeys((*own, *here)))

    def add(self, pattern: str) -> None:
        """Keep one more in the person's own settings; tells the person where that fails."""
        own = list(self._desk.live.values().get(KEY, ()))
        if pattern in own:
            return
        try:
            self._desk.live.set(KEY, [*own, pattern])
        except SettingsError as error:
            self._desk.notice(
                "warning", str(error), f"{pattern} is allowed in this session all the same.",
                "Add it to “Allowed without asking” in the settings.",
            )  # fmt: skip

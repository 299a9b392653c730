"""The states of the window, each reached by keys and the mouse."""

from tests.screens.states import compacting, dialogs, leaving, looking, opening, settings, talking
from tests.screens.states.registry import JOBS

__all__ = ["JOBS", "compacting", "dialogs", "leaving", "looking", "opening", "settings", "talking"]

"""The states of the window, each reached by keys and the mouse."""

from tests.screens.states import (
    automatic,
    branching,
    compacting,
    conversing,
    dialogs,
    fidelity,
    leaving,
    looking,
    models,
    opening,
    pruning,
    scripted,
    settings,
    shaping,
    talking,
    what_if,
)
from tests.screens.states.registry import JOBS

__all__ = [
    "JOBS",
    "automatic",
    "branching",
    "compacting",
    "conversing",
    "dialogs",
    "fidelity",
    "leaving",
    "looking",
    "models",
    "opening",
    "pruning",
    "scripted",
    "settings",
    "shaping",
    "talking",
    "what_if",
]

"""An entry as it is, and the context that the model sees at it."""

from ui.inspector.context import ContextPane
from ui.inspector.entry import EntryPane

__all__ = ["ContextPane", "EntryPane"]

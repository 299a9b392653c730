"""An entry as it is, and the context that the model sees at it."""

from ui.inspector.context_pane import ContextPane
from ui.inspector.entry_pane import EntryPane
from ui.inspector.ports import InspectedDocument

__all__ = ["ContextPane", "EntryPane", "InspectedDocument"]

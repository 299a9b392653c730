"""The session map: the tree drawn over time, its list, its minimap, and the cut on it."""

from ui.map.pane import MapPane

__all__ = ["MapPane"]

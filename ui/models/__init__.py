"""Models: which there are, what is known of them, their keys, and servers of one's own."""

from ui.models.dialog import ModelsDialog

__all__ = ["ModelsDialog"]

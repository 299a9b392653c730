"""Models: which there are, what is known of them, their keys, and the user's servers."""

from ui.models.dialog import ModelsDialog

__all__ = ["ModelsDialog"]

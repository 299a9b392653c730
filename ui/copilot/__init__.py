"""A prompt within a budget: its tree, what goes first, and the summary made ahead."""

from ui.copilot.page import PromptPage

__all__ = ["PromptPage"]

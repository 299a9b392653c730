"""An agent without a language model, to try the window with: simple rules and every tool.

It reads, searches, creates, changes and runs what it is plainly asked to, repairs some kinds of
failing tests, keeps to the limits that it understands, and says what it is. It remembers nothing
between two requests: what it did stands in the conversation.
"""

from explorer.models.offline.demo.answering import answer

__all__ = ["answer"]

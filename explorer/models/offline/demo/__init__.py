"""The demonstration agent: simple rules and the workspace tools, without a language model.

It reads, searches, creates, edits and runs what it is plainly asked to, obeys the limits that it
understands, and says what it is. It has no state: what it did is read from the conversation.
"""

from explorer.models.offline.demo.agent import answer

__all__ = ["answer"]

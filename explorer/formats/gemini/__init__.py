"""Gemini CLI: a log of messages and checkpoints, or one document, replayed as its loader does."""

"""GitHub Copilot CLI: JSON lines, one event each."""

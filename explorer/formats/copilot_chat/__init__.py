"""VS Code Copilot Chat: one JSON document per session, or a log of changes to one."""

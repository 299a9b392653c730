"""The list of sessions at the left: open, import, find, search."""

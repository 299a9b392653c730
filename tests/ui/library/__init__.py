"""The list of sessions and the list of those found, by themselves."""

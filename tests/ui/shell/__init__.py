"""Header, search, palette, page of keys, questions, progress and tasks, each by itself."""

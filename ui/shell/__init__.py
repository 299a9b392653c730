"""The frame of the window: header, command palette, page of keys, questions, tasks and notices."""

"""The frame of the window: header, status bar, search box, command palette, splitters."""

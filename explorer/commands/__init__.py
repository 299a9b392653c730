"""The headless commands, over the same workbench as the window."""

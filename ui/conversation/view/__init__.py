"""The conversation as blocks: read when they are shown, laid out when they come into sight."""

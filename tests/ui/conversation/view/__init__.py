"""The conversation: its pieces, and the whole of it under real events."""

"""Lessons on the open session: the panel, the overlay that lights a part, the controller."""

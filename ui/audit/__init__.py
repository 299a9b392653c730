"""Seeing what was kept and what was lost."""

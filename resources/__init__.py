"""Data that comes with the program: icons, samples; see ``explorer/settings/paths.py``."""

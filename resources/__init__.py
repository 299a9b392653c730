"""Data that comes with the program: icons and the sample session; see ``explorer.paths``."""

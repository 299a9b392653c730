"""Data that comes with the program: icons and the sample session. Found through ``explorer.paths``."""

"""Pictures of the real window in its states: ``python -m tests.screens OUTDIR``."""

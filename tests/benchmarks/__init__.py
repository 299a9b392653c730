"""Measurements of size and speed against their bars: `python -m tests.benchmarks`.

Nothing here passes or fails a test; figures move with the machine and its load. So every bar that
can be one is a ratio to a baseline that is measured in the same run.
"""

"""What is measured, each in a process of its own; see ``tests.benchmarks.child``."""

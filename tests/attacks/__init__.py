"""Attacks on the program from outside, with random input: `python -m tests.attacks`.

Each module holds one attack: a function that makes hostile input from a random source, gives it to
the program as it is used, and returns what broke a promise of SECURITY.md. The test suite runs each
for a few rounds with fixed seeds; the command runs them for minutes or hours with fresh ones.
"""

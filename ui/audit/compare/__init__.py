"""Summaries beside each other: their sections, what each won and lost, what they took."""

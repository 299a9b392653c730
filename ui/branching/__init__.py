"""Branching with the agent: stop and go, a message anew, forks, runs side by side, comparisons."""

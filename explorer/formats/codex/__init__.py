"""Codex CLI: rollouts, threads of several files, and the copies that its forks are."""

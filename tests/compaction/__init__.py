"""Tests of what a compaction would do and what it sends."""

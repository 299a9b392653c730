"""Tests of counting tokens."""

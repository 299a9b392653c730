"""Tests of the lessons' own parts."""

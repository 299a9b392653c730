"""Tests of Session Explorer; the directories mirror the code."""

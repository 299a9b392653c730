"""Tests of the project itself: packaging, layers, setup, house rules."""

"""Notices: what was done, and the button that goes with it."""

from __future__ import annotations

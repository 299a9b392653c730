"""Keys struck out of every text that may be shown or written."""

from __future__ import annotations

import os
import re

STRUCK_OUT = "[key]"
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|AIza)[-_A-Za-z0-9*]{12,}")
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_LEAST = 8
"""Shorter values are words, not keys."""
_known: set[str] = set()


def remember_secret(value: str) -> None:
    """Strike ``value`` out of texts from now on, wherever it came from."""
    if len(value) >= _LEAST:
        _known.add(value)


def redact(text: str) -> str:
    """The text with every key of the environment and of the keyring, and all that looks like a
    key, struck out."""
    for name, value in os.environ.items():
        if len(value) >= _LEAST and _SECRET_NAME.search(name):
            text = text.replace(value, STRUCK_OUT)
    for value in _known:
        text = text.replace(value, STRUCK_OUT)
    return _KEY_SHAPE.sub(STRUCK_OUT, text)

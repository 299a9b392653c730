"""A report has the colours of the window, and text that can be read in both."""

from __future__ import annotations

import re

from PySide6.QtGui import QColor

from explorer.settings import paths
from ui.theme.tokens import DARK, LIGHT, contrast

STYLE = paths.resource("report", "style.css").read_text("utf-8")
SCREEN_LIGHT, SCREEN_DARK = (
    dict(re.findall(r"--(\w+):([^;}]+)", rules))
    for rules in re.findall(r":root\{color-scheme:[^}]+\}", STYLE)
)
COLOURS = {name: (light, SCREEN_DARK[name]) for name, light in SCREEN_LIGHT.items()}
FILLS = dict(re.findall(r"^\.fill-(\w+)\{([^}]+)\}", STYLE, re.M))


def _as_written(colour: QColor) -> str:
    alpha = f"{colour.alpha():02x}" if colour.alpha() < 255 else ""
    return colour.name() + alpha


def test_the_colours_are_those_of_the_window() -> None:
    assert len(COLOURS) == 14 and set(SCREEN_LIGHT) == set(SCREEN_DARK)
    for name, (light, dark) in COLOURS.items():
        assert light == _as_written(getattr(LIGHT, name)), name
        assert dark == _as_written(getattr(DARK, name)), name


def test_text_can_be_read_in_light_in_dark_and_on_paper() -> None:
    for at in (0, 1):
        for name in ("ink", "dim", "accent", "comp", "lost"):
            for ground in ("paper", "panel", "card"):
                pair = QColor(COLOURS[name][at]), QColor(COLOURS[ground][at])
                assert contrast(*pair) >= 4.5, (name, ground)
    for name in ("ink", "dim", "accent", "comp", "lost"):
        assert contrast(QColor(COLOURS[name][0]), QColor("#ffffff")) >= 4.5


def test_every_state_of_the_strip_has_a_texture_of_its_own() -> None:
    assert set(FILLS) == {"kept", "exact", "lost", "aside"}
    assert len(set(FILLS.values())) == len(FILLS)

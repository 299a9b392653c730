"""Whether the system asks for less motion, where Qt does not tell."""

from __future__ import annotations

import configparser
import os
import plistlib
import sys
from collections.abc import Mapping
from pathlib import Path

_GTK = ("gtk-4.0/settings.ini", "gtk-3.0/settings.ini")
_NO = ("0", "false", "no")


def system_asks_for_less_motion(
    platform: str = sys.platform,
    home: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> bool:
    """What the desktop's own settings say; False where they say nothing or cannot be read.

    On Windows Qt tells itself (``QApplication.isEffectEnabled``).
    """
    home = home or Path.home()
    if platform == "darwin":
        return _asked_on_mac(home / "Library/Preferences/com.apple.universalaccess.plist")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    if any(_value(config / name, "Settings", "gtk-enable-animations") in _NO for name in _GTK):
        return True
    factor = _value(config / "kdeglobals", "KDE", "AnimationDurationFactor")
    try:
        return bool(factor) and float(factor) == 0
    except ValueError:
        return False


def _value(path: Path, section: str, key: str) -> str:
    """A value of an ini file in lower case; empty when it is not there."""
    found = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        found.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return ""
    return found.get(section, key, fallback="").strip().lower()


def _asked_on_mac(path: Path) -> bool:
    try:
        return bool(plistlib.loads(path.read_bytes()).get("reduceMotion"))
    except (OSError, plistlib.InvalidFileException, ValueError):
        return False

"""What Qt's binding does with modules that are no business of its own."""

from __future__ import annotations

import sys
from typing import Any

from PySide6 import QtCore

assert QtCore, "the binding is there once a part of Qt is"


def leave_sources_unread() -> None:
    """Keep the binding from reading the source of every module that is imported from now on.

    It looks there for its own name, for the sake of modules that chose another way of writing Qt's
    functions, and Python keeps what was read: 60 MB and a fifth of the time of importing litellm.
    Whoever chooses that way tells the binding so by the import of its own.
    """
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = _never


def _never(_module: object) -> bool:
    return False

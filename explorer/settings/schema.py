"""The table of settings as JSON Schema, for editors that complete and check settings files.

Both spellings are described: dotted names, and objects within objects.
"""

from __future__ import annotations

import json
from typing import Any

from explorer.settings.keys import KEYS, Key

SCHEMA_FILE = "settings.schema.json"
"""Its name among the resources."""


def settings_schema() -> dict[str, Any]:
    """The schema (2020-12) of a settings file. Names that are no settings are allowed."""
    properties: dict[str, Any] = {"$schema": {"type": "string"}}
    for key in KEYS.values():
        described = _described(key)
        properties[key.name] = described
        _nest(properties, key.name.split("."), described)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of Session Explorer",
        "type": "object",
        "properties": properties,
        "allowTrailingCommas": True,
    }


def _described(key: Key) -> dict[str, Any]:
    words = f"{key.sentence} Unset: {key.unset}."
    if key.set_by == "trusted":
        words += " A project's file sets it only where the project is trusted."
    elif key.set_by == "person":
        words += " No project's file sets it."
    return {"title": key.title, "description": words, **key.kind.schema()}


def _nest(properties: dict[str, Any], parts: list[str], described: dict[str, Any]) -> None:
    """Put a setting below the object that its name begins with, under every split of the name."""
    for at in range(1, len(parts)):
        name, rest = ".".join(parts[:at]), parts[at:]
        group = properties.setdefault(name, {"type": "object", "properties": {}})
        group["properties"][".".join(rest)] = described
        _nest(group["properties"], rest, described)


def schema_text() -> str:
    """The schema as it is published: ``resources/settings.schema.json``."""
    return json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n"

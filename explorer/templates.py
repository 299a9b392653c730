"""Reads the words sent to models from the ``prompts`` package."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.resources import files

from explorer.compaction.wording import Templates

_COMMENT = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)


def load_prompt(name: str) -> str:
    """The text of ``prompts/NAME.md`` without the comment that may open it.

    Raises FileNotFoundError when there is no such prompt.
    """
    text = (files("prompts") / f"{name}.md").read_text("utf-8")
    return _COMMENT.sub("", text).strip("\n")


def load_templates() -> Templates:
    """All templates of summaries; raises FileNotFoundError naming a prompt that is missing."""
    return Templates(
        **{field.name: load_prompt(field.name.replace("_", "-")) for field in fields(Templates)}
    )

"""Reads the words sent to models from the ``prompts`` package."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.resources import files

from explorer.compaction.validation import SECTION_SETS
from explorer.compaction.wording import SectionTemplates, Templates

_COMMENT = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)


def load_prompt(name: str) -> str:
    """The text of ``prompts/NAME.md`` without the comment that may open it.

    Raises FileNotFoundError when there is no such prompt.
    """
    text = (files("prompts") / f"{name}.md").read_text("utf-8")
    return _COMMENT.sub("", text).strip("\n")


def load_provenance(profile: str) -> str:
    """What a profile that came with the program stands for and where its numbers come from, as
    Markdown. Raises FileNotFoundError when there is no such profile."""
    return load_prompt(f"profiles/{profile}")


def load_templates() -> Templates:
    """All templates of summaries; raises FileNotFoundError naming a prompt that is missing."""
    texts = {
        field.name: load_prompt(_file(field.name))
        for field in fields(Templates)
        if field.name != "sections"
    }
    return Templates(sections={name: _sections(name) for name in SECTION_SETS}, **texts)


def _sections(name: str) -> SectionTemplates:
    """A set's own texts; what it has none for is asked with the words of ``explorer``."""
    texts = {}
    for field in fields(SectionTemplates):
        own = f"{name}-{_file(field.name)}"
        has_own = (files("prompts") / f"{own}.md").is_file()
        texts[field.name] = load_prompt(own if has_own else _file(field.name))
    return SectionTemplates(**texts)


def _file(field: str) -> str:
    return field.replace("_", "-")

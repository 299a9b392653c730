"""The words sent to models: the person's own where there are any, else those of ``prompts``.

A text of the person's own that cannot be used is never sent: the one that came with the program
takes its place, and ``template_problems`` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from importlib.resources import files

from explorer.compaction.validation import SECTION_SETS
from explorer.compaction.wording import SectionTemplates, Templates
from explorer.template_catalogue import TEMPLATES, check_template
from explorer.template_files import TemplateError, TemplateFiles, without_comment

Overrides = Mapping[str, str]
"""Texts by name that are tried out: they stand before the person's own."""


@lru_cache(maxsize=128)
def shipped_prompt(name: str) -> str:
    """The text of ``prompts/NAME.md`` without the comment that may open it.

    Raises FileNotFoundError when there is no such prompt.
    """
    return without_comment((files("prompts") / f"{name}.md").read_text("utf-8"))


def load_prompt(name: str, overrides: Overrides | None = None) -> str:
    """The text that is in force under a name: the person's own, where it can be used.

    Raises FileNotFoundError when there is no such prompt.
    """
    if overrides and name in overrides:
        return without_comment(overrides[name])
    own, problem = _own(name)
    return shipped_prompt(name) if own is None or problem else own


def _own(name: str) -> tuple[str | None, str]:
    """The person's own text and why it cannot be used; None where there is none."""
    if name not in TEMPLATES:
        return None, ""
    store = TemplateFiles()
    if store.stamp(name) is None:
        return None, ""
    try:
        text = store.read(name)
    except TemplateError as error:
        return "", str(error)
    if text is None:
        return None, ""
    broken = [one.message for one in check_template(name, text) if one.breaks]
    return text, f"{store.path(name)}: {broken[0]}" if broken else ""


def template_problems() -> dict[str, str]:
    """Texts of the person's own that are not used, by name, and why, a sentence each."""
    found = {name: _own(name)[1] for name in TEMPLATES}
    return {name: problem for name, problem in found.items() if problem}


def changed_prompts() -> frozenset[str]:
    """The names of the texts in force that are not those that came with the program."""
    names = [name for name in TemplateFiles().stamps() if load_prompt(name) != shipped_prompt(name)]
    return frozenset(names)


def load_provenance(profile: str) -> str:
    """What a profile that came with the program stands for and where its numbers come from, as
    Markdown. Raises FileNotFoundError when there is no such profile."""
    return shipped_prompt(f"profiles/{profile}")


def load_templates(overrides: Overrides | None = None) -> Templates:
    """All templates of summaries; raises FileNotFoundError naming a prompt that is missing."""
    texts = {
        field.name: load_prompt(_file(field.name), overrides)
        for field in fields(Templates)
        if field.name != "sections"
    }
    sections = {name: _sections(name, overrides) for name in SECTION_SETS}
    return Templates(sections=sections, **texts)


def _sections(name: str, overrides: Overrides | None) -> SectionTemplates:
    """A set's own texts; what it has none for is asked with the words of ``explorer``."""
    texts = {}
    for field in fields(SectionTemplates):
        own = f"{name}-{_file(field.name)}"
        has_own = (files("prompts") / f"{own}.md").is_file()
        texts[field.name] = load_prompt(own if has_own else _file(field.name), overrides)
    return SectionTemplates(**texts)


def _file(field: str) -> str:
    return field.replace("_", "-")

"""The words that go to a model, as values; ``explorer.settings.prompt_templates`` reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.profile import Profile

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with every ``{{name}}`` replaced in one pass, so that what is put in is never
    read as a template. Raises KeyError for a name without a value."""
    return _VARIABLE.sub(lambda found: values[found.group(1)], template)


class SectionTemplates(Struct, frozen=True):
    """The texts that ask for one set of sections (A24, A26)."""

    history_first: str
    """Asks for a summary of the history."""
    history_update: str
    """Asks to bring a previous summary up to date (A27)."""
    branch: str
    """Asks for a summary of a branch that is left behind."""


class Templates(Struct, frozen=True):
    """One text per prompt (A23); the fields are named like the files in ``prompts``."""

    system: str
    """System prompt of the summarizer."""
    sections: Mapping[str, SectionTemplates]
    """The texts that ask for sections, by the name of the set (``Profile.sections``, A24)."""
    turn_prefix: str
    """Asks for a summary of the first part of a split turn."""
    short: str
    """Asks for a few sentences to be shown, from the most recent messages (A25)."""
    continued: str
    """Stands before a text that cannot update, when a long record is read in parts (C6)."""
    reminder: str
    """Asks once more for an answer whose ``{{problems}}`` are named (C7)."""
    branch_preamble: str
    """Stands before every stored branch summary (A33)."""
    compaction_context: str
    """How a compaction's ``{{summary}}`` is sent to the model (A6)."""
    conversation_summary_context: str
    """The same, for profiles whose summaries stand between special tags (A6)."""
    branch_context: str
    """How a branch's ``{{summary}}`` is sent to the model (A6)."""
    custom_instructions: str
    """How a person's ``{{instructions}}`` follow a prompt (A23)."""
    verify_system: str
    """System prompt of the request that has a summary mended."""
    verify: str
    """Asks for a ``{{summary}}`` to be mended by its ``{{findings}}`` within a ``{{budget}}``."""

    def worded(self, profile: Profile) -> Templates:
        """The templates with the profile's form of a compaction's summary in the context (A6)."""
        if profile.context_wrapper == "summary":
            return self
        return replace(self, compaction_context=self.conversation_summary_context)

    def compaction_message(self, summary: str) -> str:
        """The context message of a compaction's summary."""
        return fill(self.compaction_context, {"summary": summary})

    def branch_message(self, summary: str) -> str:
        """The context message of a branch's summary."""
        return fill(self.branch_context, {"summary": summary})

    def with_instructions(self, prompt: str, instructions: str) -> str:
        """The prompt followed by what a person asked for; as it is without."""
        words = instructions.strip()
        if not words:
            return prompt
        return f"{prompt}\n\n{fill(self.custom_instructions, {'instructions': words})}"

    def going_on(self, prompt: str) -> str:
        """The prompt for a later part of a record that is read in parts (C6)."""
        return f"{self.continued}\n\n{prompt}"

    def reminded(self, problems: Sequence[str]) -> str:
        """The error for an answer that cannot be used (C7)."""
        return fill(self.reminder, {"problems": "\n".join(f"- {each}" for each in problems)})

"""The words sent to models as a person sees and changes them: versions, differences, problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from explorer.compaction.wording import Templates
from explorer.session.text_difference import Line, changed_lines
from explorer.template_catalogue import (
    TEMPLATES,
    TemplateInfo,
    TemplateProblem,
    check_template,
)
from explorer.template_files import TemplateError, TemplateFiles, Version, without_comment
from explorer.templates import (
    changed_prompts,
    load_prompt,
    load_templates,
    shipped_prompt,
    template_problems,
)
from explorer.work.changes import ChangeHub, PromptsChanged

SHIPPED = 0
"""The number of the version that came with the program."""


@dataclass(frozen=True, slots=True)
class TemplateState:
    """One text as it stands now."""

    info: TemplateInfo
    changed: bool
    """Whether the text that is sent is another one than came with the program."""
    problem: str = ""
    """Why a text of the person's own is not sent; empty when it is."""


class PromptVersions:
    """The texts, their versions, and who is told when they change. Small files, read at once."""

    def __init__(self, hub: ChangeHub, clock_ms: Callable[[], int]) -> None:
        self._hub = hub
        self._clock_ms = clock_ms
        self._files = TemplateFiles()
        self._stamps = self._files.stamps()

    # what there is -------------------------------------------------------------------------------

    def states(self) -> tuple[TemplateState, ...]:
        """Every text, in the order of the catalogue."""
        changed, problems = changed_prompts(), template_problems()
        return tuple(
            TemplateState(info, name in changed, problems.get(name, ""))
            for name, info in TEMPLATES.items()
        )

    def info(self, name: str) -> TemplateInfo:
        """What a text is for. Raises TemplateError for a name that no text has."""
        if name not in TEMPLATES:
            raise TemplateError(f"there is no prompt {name!r}; there are: {', '.join(TEMPLATES)}")
        return TEMPLATES[name]

    def text(self, name: str) -> str:
        """The text that is sent. Raises TemplateError."""
        return load_prompt(self.info(name).name)

    def own(self, name: str) -> str | None:
        """The person's own text, as it stands in its file, whether it can be used or not; None
        where there is none. Raises TemplateError."""
        return self._files.read(self.info(name).name)

    def shipped(self, name: str) -> str:
        """The text that came with the program. Raises TemplateError."""
        return shipped_prompt(self.info(name).name)

    def check(self, name: str, text: str) -> tuple[TemplateProblem, ...]:
        """What is wrong with a text under a name. Raises TemplateError."""
        return check_template(self.info(name).name, without_comment(text))

    def history(self, name: str) -> tuple[Version, ...]:
        """All versions that were kept, the oldest first, after the one that came with the program.
        Raises TemplateError."""
        first = Version(SHIPPED, 0, "Came with the program", self.shipped(name))
        return (first, *self._files.history(name))

    def version(self, name: str, number: int) -> Version:
        """One version; 0 is the one that came with the program. Raises TemplateError."""
        found = next((one for one in self.history(name) if one.number == number), None)
        if found is None:
            raise TemplateError(f"{name} has no version {number}")
        return found

    def difference(self, name: str, one: int, other: int) -> tuple[Line, ...]:
        """The lines in which two versions differ, with some around them. Raises TemplateError."""
        return changed_lines(self.version(name, one).text, self.version(name, other).text)

    def templates_with(self, texts: Mapping[str, str]) -> Templates:
        """The templates of summaries as they would be with these texts in force. Nothing is
        stored. Raises TemplateError naming a text that cannot be used."""
        for name, text in texts.items():
            self._refuse_broken(name, text)
        return load_templates(texts)

    # what can be done ----------------------------------------------------------------------------

    def save(self, name: str, text: str, note: str = "") -> Version:
        """Put a text in force. Raises TemplateError, for a text that cannot be used too; what was
        in force stays so then."""
        self._refuse_broken(name, text)
        saved = self._files.save(name, text, note, self._clock_ms())
        self.refresh()
        return saved

    def reset(self, name: str, note: str = "") -> Version | None:
        """Put the text that came with the program in force again; None where it is already. The
        versions stay. Raises TemplateError."""
        shipped = self.shipped(name)
        words = note or "Back to the text that came with the program"
        version = self._files.reset(name, shipped, words, self._clock_ms())
        self.refresh()
        return version

    def unsaved(self) -> dict[str, str]:
        """Texts by name that were edited and not saved."""
        return self._files.unsaved()

    def keep_unsaved(self, texts: Mapping[str, str]) -> None:
        """Keep texts that were edited and not saved; nothing is sent of them. Raises
        TemplateError."""
        self._files.keep_unsaved(texts)

    def refresh(self) -> bool:
        """Look at the files again, and tell everybody when texts changed; whether they did."""
        before, self._stamps = self._stamps, self._files.stamps()
        names = {
            name
            for name in before.keys() | self._stamps.keys()
            if before.get(name) != self._stamps.get(name)
        }
        if names:
            self._hub.publish(PromptsChanged(frozenset(names)))
        return bool(names)

    def _refuse_broken(self, name: str, text: str) -> None:
        broken = [one.message for one in self.check(name, text) if one.breaks]
        if broken:
            raise TemplateError(f"{name}: {' '.join(broken)}")

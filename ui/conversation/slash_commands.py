"""The commands that are typed into the message box: ``/compact keep the rules about 409``.

A line that begins with one slash and a word is a command and never goes to a model; with two
slashes it is a message that begins with one. A path such as ``/etc/hosts`` is a message as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from ui.widgets.dialogs import HelpDialog, fit

_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\s*", re.DOTALL)


class CommandOffer(Struct, frozen=True):
    """Something that can be put in the place of what was typed."""

    text: str
    """What is put there."""
    note: str = ""
    """A few words about it."""


def _no_offers() -> Sequence[CommandOffer]:
    return ()


class SlashCommand(Struct, frozen=True):
    """A command: how it is written, what it does, and what is called with its argument.

    ``arguments`` is shown: ``[instructions]`` may be left out, ``TEXT`` may not. ``run`` is given
    the argument without spaces around it, and may raise ValueError with a sentence for the person;
    what was typed stays then. ``offers`` are the arguments that there are to choose from.
    """

    name: str
    arguments: str
    sentence: str
    run: Callable[[str], object]
    offers: Callable[[], Sequence[CommandOffer]] = _no_offers

    @property
    def needs_argument(self) -> bool:
        return bool(self.arguments) and not self.arguments.startswith("[")

    @property
    def usage(self) -> str:
        """How it is written: ``/compact [instructions]``."""
        return f"/{self.name} {self.arguments}".rstrip()


class TypedMessage(Struct, frozen=True):
    """What was typed is a message to the agent."""

    text: str


class CommandCall(Struct, frozen=True):
    """What was typed is a command, with its argument."""

    command: SlashCommand
    argument: str


class CommandMistake(Struct, frozen=True):
    """What was typed is meant as a command and cannot be one; ``reason`` says why."""

    reason: str


class SlashCommands:
    """All commands, in the order in which they are listed."""

    def __init__(self, commands: Sequence[SlashCommand] = ()) -> None:
        self._commands: dict[str, SlashCommand] = {}
        for command in commands:
            self.add(command)

    def add(self, command: SlashCommand) -> None:
        """Register a command. Raises ValueError where the name is taken."""
        if command.name in self._commands:
            raise ValueError(f"the command /{command.name} is registered twice")
        self._commands[command.name] = command

    def __iter__(self) -> Iterator[SlashCommand]:
        return iter(self._commands.values())

    def __getitem__(self, name: str) -> SlashCommand:
        return self._commands[name]

    def read(self, text: str) -> TypedMessage | CommandCall | CommandMistake:
        """What a person means by what was typed."""
        text = text.strip()
        if text.startswith("//"):
            return TypedMessage(text[1:])
        found = _COMMAND.fullmatch(text)
        if found is None:
            return TypedMessage(text)
        name, argument = found[1].lower(), (found[2] or "").strip()
        command = self._commands.get(name)
        if command is None:
            return CommandMistake(
                f"There is no command /{found[1]}. /help lists the commands; a message that begins "
                "with a slash is written with two."
            )
        if argument and not command.arguments:
            return CommandMistake(f"/{name} takes no argument; “{_short(argument)}” is not used.")
        if command.needs_argument and not argument:
            return CommandMistake(f"/{name} needs {command.arguments}: {command.sentence}")
        return CommandCall(command, argument)

    def matching(self, typed: str) -> list[SlashCommand]:
        """The commands whose name begins with what was typed, then those that hold it."""
        typed = typed.lower()
        first = [c for c in self if c.name.startswith(typed)]
        return first + [c for c in self if typed in c.name and c not in first]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


MORE = (
    ("@name", "Mention a file of the agent's folder; it reads the file itself."),
    ("//text", "Send a message that begins with a slash."),
    ("Shift+Enter", "Start a new line."),
    ("Alt+Enter", "While the agent works: let the message wait until it is done."),
    ("Up, Down", "Earlier messages."),
    ("Esc", "Stop the agent."),
)


class CommandsPage(HelpDialog):
    """Shown by ``/help``."""

    def __init__(self, commands: SlashCommands, parent: QWidget) -> None:
        sections = {
            "Commands": [(command.usage, command.sentence) for command in commands],
            "Also in the message box": MORE,
        }
        name = "Commands and what they do"
        super().__init__("Commands of the message box", name, sections, parent)
        fit(self, 620, 560)

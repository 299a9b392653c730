"""What a turn needs of tools: whoever brings a box of them can be asked by the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from explorer.models.events import CancelToken
from explorer.models.request import ImagePart, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool call gave."""

    text: str
    """For the model."""
    is_error: bool = False
    images: tuple[ImagePart, ...] = ()
    """For the model too, after the text."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """For people and views, stored with the result and never sent: plain JSON values. As pi
    spells them: ``diff`` and ``firstChangedLine`` of an edit, ``truncation`` and
    ``fullOutputPath`` of what was cut, ``exitCode`` of a command."""


class ToolBox(Protocol):
    """The tools of one turn. Used on the loop that the turn runs on."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """What is offered to the model now."""

    def is_exclusive(self, call: ToolCall) -> bool:
        """Whether the call may change things, so that no other may run beside it."""

    async def run(
        self, call: ToolCall, cancel: CancelToken, on_output: Callable[[str], None]
    ) -> ToolOutcome:
        """Run one call to its end, asking the person first where that is needed.

        ``on_output`` is given pieces of the output as they come, on the loop. Whatever goes wrong
        becomes an outcome that says so. When cancelled it returns soon, with what had come, after
        everything that it started is dead.
        """

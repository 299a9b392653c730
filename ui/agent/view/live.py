"""The reply that is arriving: an item of its own until its entry is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from explorer.models.client import ToolCall
from explorer.session.describe import call_title
from ui.agent.view.calls import CallStates, call_parts
from ui.agent.view.parts import AGENT, Code, Part, Prose, Role, Row
from ui.agent.view.reading import thinking_parts
from ui.agent.view.segments import Segment, Splitter
from ui.inspector.blocks import CallBlock

THINKING_SHOWN = 20_000
"""Characters of thinking, from the end, that are laid out while it goes on arriving."""


@dataclass(slots=True)
class _Words:
    splitter: Splitter = field(default_factory=Splitter)
    made: list[Part] = field(default_factory=list)
    """Of the pieces that cannot change any more."""


@dataclass(slots=True)
class _Thoughts:
    text: str = ""


class LiveReply:
    """Takes what the model sends; its parts are those that the stored reply will have."""

    def __init__(self) -> None:
        self._blocks: list[_Words | _Thoughts | ToolCall] = []
        self.waiting = ""
        """Why a call is made again, while that is waited for."""

    @property
    def empty(self) -> bool:
        """Nothing has arrived."""
        return not self._blocks and not self.waiting

    def said(self, text: str) -> None:
        if not self._blocks or not isinstance(self._blocks[-1], _Words):
            self._blocks.append(_Words())
            text = text.lstrip("\n")
        words = self._blocks[-1]
        assert isinstance(words, _Words)
        self.waiting = ""
        words.splitter.feed(text)

    def thought(self, text: str) -> None:
        if not self._blocks or not isinstance(self._blocks[-1], _Thoughts):
            self._blocks.append(_Thoughts())
        thoughts = self._blocks[-1]
        assert isinstance(thoughts, _Thoughts)
        self.waiting = ""
        thoughts.text += text

    def called(self, call: ToolCall) -> None:
        self._blocks.append(call)
        self.waiting = ""

    def parts(self, states: CallStates, is_open: Callable[[str], bool]) -> list[Part]:
        """What has arrived; finished pieces are the same objects from one call to the next."""
        found: list[Part] = []
        role: Role | None = AGENT
        for at, block in enumerate(self._blocks):
            if isinstance(block, _Thoughts):
                found += self._thinking(f"k{at}", block.text, is_open)
            elif isinstance(block, _Words):
                found += _pieces(f"t{at}", block, role)
                role = None
            else:
                shown = CallBlock(
                    block.name, call_title(block.name, dict(block.arguments)), block.arguments,
                    block.id,
                )  # fmt: skip
                found += call_parts(f"c{at}", shown, None, states, is_open)
        if self.waiting:
            waits = Role("Waiting", "history", "lost")
            found.append(Row(key="wait", role=waits, text=self.waiting, tint="dim"))
        return found

    def _thinking(self, key: str, text: str, is_open: Callable[[str], bool]) -> list[Part]:
        if is_open(key):
            return thinking_parts(key, text[-THINKING_SHOWN:], False, is_open)
        last = next((line for line in reversed(text[-600:].split("\n")) if line.strip()), "")
        role = Role("Thinking", "thinking", "think")
        return [Row(key=key, role=role, text=last.strip("#* "), tint="dim", opens=key)]


def _pieces(key: str, words: _Words, role: Role | None) -> list[Part]:
    done = words.splitter.done
    for at in range(len(words.made), len(done)):
        words.made.append(_piece(f"{key}.{at}", done[at], role if not at else None))
    first = len(done)
    tail = [
        _piece(f"{key}.{first + at}", piece, role if first + at == 0 else None)
        for at, piece in enumerate(words.splitter.tail())
    ]
    return words.made + tail


def _piece(key: str, piece: Segment, role: Role | None) -> Part:
    if not piece.is_code:
        return Prose(key=key, role=role, text=piece.text)
    return Code(
        key=key, role=role, text=piece.text, language=piece.language,
        opens=piece.opens, closes=piece.closes,
    )  # fmt: skip

"""The agent's system prompt for the workspace and the tools of a turn."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from explorer.agent.keeping import Outgoing
from explorer.agent.tools.port import ToolBox
from explorer.compaction.wording import fill
from explorer.models.door import ToolCall
from explorer.templates import load_prompt


@runtime_checkable
class InFolder(Protocol):
    """Tools that have a workspace."""

    @property
    def folder(self) -> str:
        """The workspace, as it stands in the system prompt."""


def system_prompt(template: str, tools: ToolBox | None, date: str = "") -> str:
    """``template`` with the variables ``workspace`` and ``date`` filled in.

    ``date`` is today's as people write it; empty leaves it out.
    """
    today = fill(load_prompt("agent-date"), {"date": date}) if date else ""
    return fill(template, {"workspace": _workspace(tools), "date": today}).strip()


def outgoing_of(template: str, model: str, tools: ToolBox | None, date: str = "") -> Outgoing:
    """What a request of the agent is made of beside the conversation; see ``system_prompt``."""
    specs = tools.specs() if tools is not None else ()
    return Outgoing(model, system_prompt(template, tools, date), specs)


def _workspace(tools: ToolBox | None) -> str:
    if tools is None:
        return load_prompt("agent-no-workspace")
    folder = tools.folder if isinstance(tools, InFolder) else ""
    changes = any(tools.is_exclusive(ToolCall("", spec.name)) for spec in tools.specs())
    words = load_prompt("agent-changes" if changes else "agent-looks")
    return fill(words, {"folder": folder or "the folder that the developer chose"})

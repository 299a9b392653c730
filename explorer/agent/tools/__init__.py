"""The tools of the agent, with pi's names and arguments. ``box`` has all of them together."""

from explorer.agent.tools.cutting import MOST_BYTES, MOST_LINES
from explorer.agent.tools.offered import read_only_tools
from explorer.agent.tools.port import ToolBox, ToolOutcome

__all__ = [
    "MOST_BYTES",
    "MOST_LINES",
    "ToolBox",
    "ToolOutcome",
    "read_only_tools",
]

"""The tools of the agent, with pi's names and arguments; ``workspace_tools`` runs them."""

from explorer.agent.tools.content import MOST_BYTES, MOST_LINES
from explorer.agent.tools.port import ToolOutcome, ToolSet

__all__ = [
    "MOST_BYTES",
    "MOST_LINES",
    "ToolOutcome",
    "ToolSet",
]

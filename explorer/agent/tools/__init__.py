"""The tools of the agent, with pi's names and arguments."""

from explorer.agent.tools.looking import MOST_BYTES, read_only_tools, run_tool
from explorer.agent.tools.port import ToolBox, ToolOutcome

__all__ = ["MOST_BYTES", "ToolBox", "ToolOutcome", "read_only_tools", "run_tool"]

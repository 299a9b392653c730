"""The live agent: the loop of replies and tool calls, and the tools that it may use."""

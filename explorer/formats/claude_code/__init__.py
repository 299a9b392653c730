"""Sessions of Claude Code: JSONL files of nodes that name their parents, a reply in several."""

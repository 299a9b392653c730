"""What became of everything that a compaction summarized."""

"""The recall test in the window: what a model still knows after a compaction, or with a draft."""

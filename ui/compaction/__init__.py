"""The audit panel: what a compaction would do, the words that ask for it, and its drafts."""

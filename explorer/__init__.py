"""Session Explorer without its window: sessions, compaction, models, storage, commands."""

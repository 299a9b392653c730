"""opencode as a format: its database, the files that it wrote before, and what it exports."""

"""What is known of other agents' session files without any importer, one module per agent."""

"""The dialog of settings: every key of the table, where its value comes from, and its change."""

"""The page without a session, and the callouts that point at things in the example."""

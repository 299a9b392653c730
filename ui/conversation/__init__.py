"""The conversation at the leaf, and the composer under it."""

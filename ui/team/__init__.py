"""Libraries that a team shares: listed, opened to be read, annotated, published into."""

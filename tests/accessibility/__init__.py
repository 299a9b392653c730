"""The window as a screen reader meets it: through the accessibility bus."""

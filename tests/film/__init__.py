"""A film of the bundled example, and the README's moving picture."""

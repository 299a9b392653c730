"""Reference vectors: what real implementations computed from real session files."""

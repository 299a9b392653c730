"""pi and oh-my-pi: JSON lines, one header, then one entry per line."""

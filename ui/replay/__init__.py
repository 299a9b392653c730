"""Playing a recorded session again: what is chosen before, and the line that steers it."""

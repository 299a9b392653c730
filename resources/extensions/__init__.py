"""Example extensions, to be installed into one's own folder and changed there."""

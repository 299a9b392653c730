"""The whole window, run as it is run by a person: real keys, real mouse, a database of its own."""

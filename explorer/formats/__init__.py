"""The session files of agents: recognising, finding and reading them, and writing them back."""

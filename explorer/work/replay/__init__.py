"""Playing a recorded session again, message by message, to watch when it is compacted.

- ``recorded``: a session's path as the steps of a play.
- ``answering``: the model and the tools that answer with what was recorded.
- ``player``: the play itself, in a session of its own.
"""

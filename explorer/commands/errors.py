"""What ends a command before it is done, each with its exit status."""

from __future__ import annotations

INTERRUPTED = 130
"""Exit status after Ctrl+C."""


class UsageError(Exception):
    """The command line asks for something that does not exist (exit status 2)."""


class CommandFailed(Exception):
    """The command was understood and could not be done (exit status 1). Has a sentence for each
    thing that went wrong."""

    status = 1


class CommandStopped(CommandFailed):
    """The person stopped it; what it had done is in good order (exit status 128 and the signal)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

"""A keyring that keeps keys in this process alone, and can be told to fail."""

from __future__ import annotations

from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """For one test."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = 0
        self.broken = ""
        """What it answers to everything, as a keyring that is locked does."""

    def get_password(self, service: str, username: str) -> str | None:
        self._answer()
        self.asked += 1
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._answer()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._answer()
        if (service, username) not in self.kept:
            raise PasswordDeleteError("not there")
        del self.kept[service, username]

    def _answer(self) -> None:
        if self.broken:
            raise KeyringError(self.broken)

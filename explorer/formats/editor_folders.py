"""Where VS Code and the editors that are built on it keep what their extensions store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

_EDITIONS = (
    "Code", "Code - Insiders", "Code - Exploration", "Code - OSS", "VSCodium",
    "VSCodium - Insiders", "Cursor", "Windsurf",
)  # fmt: skip
_SERVERS = (
    ".vscode-server", ".vscode-server-insiders", ".vscode-server-oss", ".vscodium-server",
    ".vscodium-server-insiders", ".vscode-remote", ".cursor-server", ".windsurf-server",
)  # fmt: skip


def editor_folders(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """The folders of settings of all editors, on Linux, macOS and Windows, each once; they need not
    be there. ``XDG_CONFIG_HOME``, ``APPDATA`` and ``VSCODE_PORTABLE`` name further places."""
    bases = [home / ".config", home / "Library" / "Application Support", home / "AppData/Roaming"]
    bases += [
        Path(found) for name in ("XDG_CONFIG_HOME", "APPDATA") if (found := environment.get(name))
    ]
    folders = [base / edition / "User" for base in bases for edition in _EDITIONS]
    folders += [home / server / "data" / "User" for server in _SERVERS]
    if portable := environment.get("VSCODE_PORTABLE"):
        folders.append(Path(portable) / "user-data" / "User")
    yield from dict.fromkeys(folders)

"""A power cut: what the disk holds of a folder when only what was synced is on it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).with_name("power.c")


def why_not() -> str:
    """Why no power can be cut here; empty where it can."""
    if not sys.platform.startswith("linux"):
        return "a library is put before the system's only on Linux"
    return "" if shutil.which("gcc") else "there is no gcc to make a library with"


def build(place: Path) -> Path:
    """Make the library in a folder."""
    library = place / "power.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"], check=True)
    return library


class Power:
    """Watches the syncs that processes make in ``folder``; its own files are in ``place``."""

    def __init__(self, folder: Path, place: Path) -> None:
        self.folder = folder
        self._kept = place / "kept"
        self._kept.mkdir(parents=True)
        self.environment = {"POWER_FROM": str(folder), "POWER_TO": str(self._kept)}
        """Of a process that is watched, and has the library."""

    def keep(self) -> None:
        """Count all that is in the folder now as synced."""
        for path in (self.folder, *self.folder.rglob("*")):
            kept = self._kept / str(path.stat().st_ino)
            if path.is_dir():
                names = [
                    (one.stat().st_ino, "fd"[one.is_dir()], one.name) for one in path.iterdir()
                ]
                kept.write_text("".join(f"{inode} {kind} {name}\n" for inode, kind, name in names))
            else:
                shutil.copyfile(path, kept)

    def syncs(self) -> Counter[str]:
        """How often each file and folder was synced, by its path in the folder ("." itself)."""
        log = self._kept / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return Counter(str(Path(line).relative_to(self.folder)) for line in lines)

    def cut(self, target: Path) -> Path:
        """Put what a power cut would leave of the folder into ``target``, a new folder."""
        self._restore(str(self.folder.stat().st_ino), "d", target)
        return target

    def _restore(self, inode: str, kind: str, target: Path) -> None:
        kept = self._kept / inode
        content = kept.read_bytes() if kept.exists() else b""
        if kind == "f":
            target.write_bytes(content)
            return
        target.mkdir()
        for line in content.decode().splitlines():
            child, child_kind, name = line.split(" ", 2)
            self._restore(child, child_kind, target / name)

"""What a command works on: a stored session, or a file opened for this command alone."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import exists, isfile
from pathlib import Path

from explorer import paths
from explorer.cli import CommandFailed, UsageError
from explorer.formats import FormatError
from explorer.models.client import ModelClient, ModelClientConfig
from explorer.session.visible_text import visible_line
from explorer.settings.opening import following_extensions, live_settings
from explorer.store import DamagedError, SessionRow, Store, StoreError
from explorer.work.document import Document
from explorer.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Target:
    """A session that a command works on."""

    bench: Workbench
    document: Document
    at: int
    """The entry named by --at, or the leaf."""
    stored: bool
    """False when the session was read from a file for this command only."""


@contextmanager
def workbench(database: Path | None) -> Iterator[Workbench]:
    """The workbench over the person's database, or another one."""
    path = database or paths.database_path()
    try:
        paths.ensure(path.parent)
        store = Store.open(path)
    except DamagedError as error:
        hint = f"session-explorer salvage {path} COPY.db copies what can still be read."
        raise CommandFailed(f"{error} {hint}") from error
    except (StoreError, OSError) as error:
        raise CommandFailed(str(error)) from error
    client, live = ModelClient(ModelClientConfig(user_models=paths.models_path())), live_settings()
    client.use_api_base(live.get("models.apiBase") or "")
    client.use_silence(live.get("models.silenceSeconds"))
    extensions = following_extensions(live)
    try:
        yield Workbench(store, client, extensions=extensions)
    except (StoreError, FormatError) as error:
        raise CommandFailed(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandFailed(f"{error.filename or path}: {error.strerror or error}") from error
    finally:
        extensions.close()
        client.close()
        store.close()


@dataclass(frozen=True, slots=True)
class Named:
    """The session that a person names, in a workbench that holds it."""

    bench: Workbench
    key: int
    stored: bool


@contextmanager
def session_named(name: str, database: Path | None) -> Iterator[Named]:
    """The stored session of a number or the start of an id, or the session of a file.

    A file is read for this command only; lines of it that were kept aside are told on standard
    error. Raises UsageError, CommandFailed.
    """
    file = Path(name)
    if isfile(name):
        folder = Path(tempfile.mkdtemp(prefix="session-explorer-"))
        try:
            with workbench(folder / "one.db") as bench:
                report = bench.import_blocking(file)
                for problem in report.problems:
                    note = f"{file}, line {problem.line}: {problem.reason}"
                    print(visible_line(note), file=sys.stderr)
                yield Named(bench, report.key, stored=False)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    with workbench(database) as bench:
        yield Named(bench, find_session(bench.sessions(), name).key, stored=True)


@contextmanager
def target(arguments: argparse.Namespace) -> Iterator[Target]:
    """The session and the entry that the command names. Raises UsageError, CommandFailed."""
    with session_named(arguments.session, arguments.database) as named:
        document = named.bench.open_blocking(named.key)
        at = entry_named(document, arguments.at)
        yield Target(named.bench, document, at, named.stored)


def entry_named(document: Document, name: str | None) -> int:
    """The entry that a person names, by default the leaf. Raises UsageError."""
    if name is None:
        return document.leaf
    try:
        return document.resolve(name)
    except ValueError as error:
        raise UsageError(str(error)) from error


def find_session(rows: list[SessionRow], name: str) -> SessionRow:
    """The stored session of a number or the start of a session id. Raises UsageError."""
    if name.isdigit():
        for row in rows:
            if row.key == int(name):
                return row
    found = [row for row in rows if name and row.session_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{len(found)} sessions have an id that starts with {name!r}")
    if exists(name):
        raise UsageError(f"{name!r} is not a file, and there is no stored session of that name")
    raise UsageError(f"{name!r}: no such file, and no stored session of that number or id")

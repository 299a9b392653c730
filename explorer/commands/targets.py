"""What a command works on, a stored session or a file, under which rules, and where the result
goes; and the options by which several commands name that.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import exists, isfile
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from explorer.commands.output import CommandFailed, UsageError
from explorer.commands.run_terminal import typed_line
from explorer.compaction.profile import BASES, Profile
from explorer.formats.adapter import FormatError
from explorer.formats.pi.export import ExportError
from explorer.models.client import CancelToken, ModelClient, ModelClientConfig
from explorer.services.changes import Change, ExtensionsActed
from explorer.services.document import Document
from explorer.services.open_session import resolve_entry
from explorer.services.privacy import Privacy, Sending
from explorer.services.publication import connect, pull
from explorer.services.session_export import changed_form
from explorer.session.visible_text import visible_line
from explorer.settings import paths
from explorer.settings.effective import Values, effective, profile_named, with_window
from explorer.settings.libraries import LibrariesError, read_libraries
from explorer.settings.live import LiveSettings, following_extensions, live_settings, project_of
from explorer.settings.profile_files import ProfileError, ProfileFiles
from explorer.store import DamagedError, SessionRow, Store, StoreError
from explorer.store.postgres import TeamLibrary
from explorer.workbench import Workbench


class Target(Struct, frozen=True):
    """A session that a command works on."""

    bench: Workbench
    document: Document
    at: int
    """The entry named by --at, or the leaf."""
    stored: bool
    """False when the session was read from a file for this command only."""


@contextmanager
def workbench(database: Path | None, *, maintained: bool = True) -> Iterator[Workbench]:
    """The workbench over the person's database, or another one. ``maintained``: see
    ``Store.open``."""
    path = database or paths.database_path()
    try:
        paths.ensure(path.parent)
        store = Store.open(path, maintained=maintained)
    except DamagedError as error:
        hint = f"session-explorer salvage {path} COPY.db copies what can still be read."
        raise CommandFailed(f"{error} {hint}") from error
    except (StoreError, OSError) as error:
        raise CommandFailed(str(error)) from error
    live = live_settings()
    client = model_client(live)
    extensions = following_extensions(live)
    try:
        bench = Workbench(store, client, extensions=extensions)
        bench.privacy.follow(live.get)
        yield bench
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


def model_client(live: LiveSettings) -> ModelClient:
    """The client of models as the person's settings have it; the caller closes it."""
    client = ModelClient(ModelClientConfig(user_models=paths.models_path()))
    client.use_api_base(live.get("models.apiBase") or "")
    client.use_silence(live.get("models.silenceSeconds"))
    return client


class Named(Struct, frozen=True):
    """The session that a person names, in a workbench that holds it."""

    bench: Workbench
    key: int
    stored: bool


def file_named(name: str) -> tuple[Path, str]:
    """A file, and the id of the session in it that ``FILE#SESSION`` names; else empty."""
    path, mark, session_id = name.rpartition("#")
    if mark and not isfile(name) and isfile(path):
        return Path(path), session_id
    return Path(name), ""


@contextmanager
def _passing_workbench() -> Iterator[Workbench]:
    """A workbench whose sessions are gone when the command ends."""
    folder = Path(tempfile.mkdtemp(prefix="session-explorer-"))
    try:
        with workbench(folder / "one.db") as bench:
            yield bench
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def team_library(name: str | None, *, any_version: bool = False) -> Iterator[TeamLibrary]:
    """The team library of a name, or the one in use. ``any_version``: also one without tables.
    Raises CommandFailed."""
    try:
        team = connect(name, any_version=any_version)
        try:
            yield team
        finally:
            team.close()
    except (LibrariesError, StoreError) as error:
        raise CommandFailed(str(error)) from error


def is_team_library(name: str) -> bool:
    """Whether a team's library has that name. Raises CommandFailed."""
    try:
        return name in read_libraries().libraries
    except LibrariesError as error:
        raise CommandFailed(str(error)) from error


@contextmanager
def session_named(name: str, database: Path | None) -> Iterator[Named]:
    """The stored session of a number or the start of an id, or the session of a file.

    A file is read for this command only, and so is a session of a team, named as
    ``LIBRARY:NUMBER``; lines of a file that were set aside are reported on standard error. Raises
    UsageError, CommandFailed.
    """
    file, session_id = file_named(name)
    if isfile(file):
        with _passing_workbench() as bench:
            report = bench.import_blocking(file, session_id=session_id, alone=True)
            for problem in report.problems:
                print(visible_line(problem.at(str(file))), file=sys.stderr)
            yield Named(bench, report.key, stored=False)
        return
    library, _, number = name.partition(":")
    if number.isdigit() and is_team_library(library):
        with _passing_workbench() as bench:
            with team_library(library) as team:
                key = pull(bench.store, team, int(number)).key
            yield Named(bench, key, stored=False)
        return
    with workbench(database) as bench:
        yield Named(bench, find_session(bench.sessions(), name).key, stored=True)


@contextmanager
def target(arguments: argparse.Namespace) -> Iterator[Target]:
    """The session and the entry that the command names. Raises UsageError, CommandFailed."""
    with session_named(arguments.session, arguments.database) as named:
        use_privacy(named.bench.privacy, arguments)
        document = named.bench.open_blocking(named.key)
        document.tokens.take_stored_blocking()
        at = entry_named(document, arguments.at)
        yield Target(named.bench, document, at, named.stored)


def use_privacy(privacy: Privacy, arguments: argparse.Namespace) -> None:
    """What the command line says of secrets, and of text that leaves this computer."""
    if getattr(arguments, "show_secrets", False):
        privacy.mask_shown = privacy.mask_exports = False
    is_agreed = getattr(arguments, "send", False)

    async def ask(sending: Sending) -> bool:
        _print_note(sending.sentence)
        if is_agreed:
            return True
        if not sys.stdin.isatty():
            _print_note("Give --send to agree; a local or offline model needs no consent.")
            return False
        print("Send it? [y/N] ", end="", file=sys.stderr, flush=True)
        answer = await typed_line(sys.stdin, CancelToken())
        return answer.strip().lower() in ("y", "yes")

    privacy.ask = ask


def entry_named(document: Document, name: str | None) -> int:
    """The entry that a person names, by default the leaf. Raises UsageError."""
    if name is None:
        return document.leaf
    try:
        return resolve_entry(document, name)
    except ValueError as error:
        raise UsageError(str(error)) from error


def find_session(rows: list[SessionRow], name: str) -> SessionRow:
    """The stored session of a number or the start of a session id. Raises UsageError."""
    if name.isdigit():
        for row in rows:
            if row.key == int(name):
                return row
    rows_matching = [row for row in rows if name and row.session_id.startswith(name)]
    if len(rows_matching) == 1:
        return rows_matching[0]
    if rows_matching:
        raise UsageError(f"{len(rows_matching)} sessions have an id that starts with {name!r}")
    if exists(name):
        raise UsageError(f"{name!r} is not a file, and there is no stored session of that name")
    raise UsageError(f"{name!r}: no such file, and no stored session of that number or id")


def named_profile(name: str) -> Profile:
    """The profile that a command line names, of the program or the user. Raises
    UsageError."""
    if name in BASES:
        return BASES[name]
    try:
        return ProfileFiles().shelf().named(name)
    except ProfileError as error:
        raise UsageError(str(error)) from error


class SessionRules(NamedTuple):
    """What holds for one session."""

    profile: Profile
    values: Values


def session_rules(profile: str | None, folder: str, window: int | None = None) -> SessionRules:
    """The rules for a session that worked in a folder. ``profile``: the name on the command line;
    without it, the one that the settings name. ``window``: the tokens that the session itself
    records, see ``with_window``. Mistakes in a file are reported on standard error.

    Raises UsageError for a profile that there is not.
    """
    live, project = live_settings(), project_of(folder)
    for problem in live.problems(project):
        if not problem.unknown:
            print(f"session-explorer: {visible_line(str(problem))}", file=sys.stderr)
    values = with_window(live.values(project), window)
    if profile is not None:
        return SessionRules(effective(named_profile(profile), values), values)
    named = profile_named(values, profiles=ProfileFiles().shelf().profiles())
    return SessionRules(effective(named, values), values)


def why_not_stored(arguments: argparse.Namespace) -> str:
    """Why nothing of what was done is kept."""
    if arguments.dry_run:
        return "dry run: nothing was stored"
    return "the file was not changed; name --output FILE to keep the result"


def check_output(arguments: argparse.Namespace) -> None:
    """Raise CommandFailed before any work when the output file has no folder to be in."""
    output = arguments.output
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        reason = "is a folder" if output.is_dir() else "there is no such folder"
        raise CommandFailed(f"{output}: {reason}. Nothing was changed.")


async def export_result(arguments: argparse.Namespace, chosen: Target, done: str) -> None:
    """Write the session where --output says; ``done`` is what had been stored before that."""
    form = changed_form(chosen.document)
    try:
        await chosen.bench.export(chosen.document.key, arguments.output, form)
    except (OSError, ExportError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
        kept = f" In the database {done} all the same." if chosen.stored else ""
        raise CommandFailed(f"{arguments.output}: {reason}.{kept}") from error


def report_extensions(arguments: argparse.Namespace, chosen: Target) -> None:
    """Tell what fails and what extensions do; with ``--no-extensions`` none is called.

    Standard error only: the output belongs to the command.
    """
    document = chosen.document
    if arguments.no_extensions:
        document.shared.extensions = None
    if document.shared.extensions is None:
        return
    cwd = document.header.cwd
    for row in document.shared.extensions.listing(cwd):
        if row.problem is not None:
            _print_note(f"extension {row.name or 'folder'} is not loaded: {row.problem}")
    project = document.shared.extensions.project(cwd)
    if project is not None and not project.trusted:
        _print_note(f"extensions of {project.folder} are not loaded, since it is not trusted")
    chosen.bench.subscribe(_report_actions)


def _report_actions(change: Change) -> None:
    if isinstance(change, ExtensionsActed):
        for record in change.records:
            if record.did != "nothing":
                _print_note(f"extension {record.extension}: {record.sentence}")


def _print_note(text: str) -> None:
    print(f"session-explorer: {visible_line(text)}", file=sys.stderr)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what a program asks for, and where sessions are stored."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--database", type=Path, metavar="FILE", help="use this database")


def add_session(
    parser: argparse.ArgumentParser,
    at: str = "an entry id, its unique start, or #index",
    *,
    is_needed: bool = True,
) -> None:
    """Add a session, and an entry of it; ``at``: what the entry is named by."""
    parser.add_argument(
        "session", nargs=None if is_needed else "?",
        help="number from `list`, start of a session id, path to a session file, or LIBRARY:NUMBER "
        "of a team",
    )  # fmt: skip
    parser.add_argument("--at", metavar="ENTRY", help=f"{at} (default: the leaf)")
    add_show_secrets(parser)


def add_show_secrets(parser: argparse.ArgumentParser) -> None:
    """Keys, tokens and passwords as they are."""
    parser.add_argument(
        "--show-secrets", action="store_true", help="do not mask keys, tokens and passwords"
    )


def add_send(parser: argparse.ArgumentParser) -> None:
    """Add the consent that text of an imported session needs before it goes to a provider."""
    parser.add_argument(
        "--send",
        action="store_true",
        help="agree that text of an imported session goes to the provider of the model",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add a file for the session that results from a command."""
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the resulting session to a file"
    )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add a profile and its sizes, in tokens."""
    add_profile(parser)
    add_sizes(parser)


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the profile to follow."""
    parser.add_argument(
        "--profile", metavar="NAME", help="rules to follow (default: your settings', else explorer)"
    )


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Sizes in tokens that stand before those of the profile; see `check_positive`."""
    parser.add_argument("--keep-recent", type=int, metavar="N", help="tokens kept verbatim")
    parser.add_argument("--reserve", type=int, metavar="N", help="tokens kept free for the answer")
    parser.add_argument("--window", type=int, metavar="N", help="context window in tokens")


def add_summarizing(parser: argparse.ArgumentParser) -> None:
    """Rules, words and who summarizes."""
    add_rules(parser)
    parser.add_argument("--instructions", default="", metavar="TEXT", help="added to the prompt")
    parser.add_argument(
        "--model",
        metavar="M[,M...]",
        help="the model that summarizes (default: offline/extractive); of several the next is "
        "asked where one fails",
    )
    parser.add_argument(
        "--endpoint",
        default="",
        metavar="URL",
        help="a service that summarizes instead of a model; it is asked before those",
    )


SIZES = ("keep_recent", "reserve", "window")
"""The arguments that `add_sizes` adds."""


def check_positive(arguments: argparse.Namespace, *names: str) -> None:
    """Raise UsageError for an option that is given and below 1. ``names``: as in ``arguments``."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be at least 1, not {value}")

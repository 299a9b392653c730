"""publish, pull, withdraw, and the actions of library that are about a team's."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from explorer.commands.output import (
    INTERRUPTED,
    CommandFailed,
    CommandStopped,
    ProgressLine,
    UsageError,
    local_time,
    print_json,
    print_table,
)
from explorer.commands.session_list import NOT_RECORDED, add_filters, filtered, moment
from explorer.commands.targets import (
    add_common,
    check_positive,
    find_session,
    team_library,
    workbench,
)
from explorer.services.library import LibraryRow, shared_library
from explorer.services.publication import (
    PULLED,
    PublishPlan,
    plan_publishing,
    publish,
    pull,
    pulled,
)
from explorer.session.kinds import Kind
from explorer.session.visible_text import visible_line
from explorer.settings.libraries import (
    Libraries,
    LibrariesError,
    add_library,
    read_libraries,
    remove_library,
    use_library,
)
from explorer.store import SessionRow, StoreError
from explorer.store.postgres import Note, Shared, TeamLibrary
from explorer.store.rows import OnProgress
from explorer.workbench import Workbench

ACTIONS = {
    "add": "name a team's library: NAME postgresql://...",
    "list": "the team libraries that are named",
    "remove": "forget a team's library; its server is left as it is",
    "use": "choose the team library that commands mean",
    "setup": "make or renew the tables and roles of a team's library",
    "sessions": "what a team's library holds",
    "search": "search the text of a team's sessions",
    "note": "write a note or a label on a session of the team, or on an entry of it",
    "notes": "the notes and labels on the team's sessions",
    "watch": "print what is published and noted, as it happens",
}
"""What ``library`` does with those of teams."""


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the arguments of publish, pull or withdraw."""
    if command == "publish":
        parser.add_argument("sessions", nargs="*", metavar="SESSION", help="number or id")
        parser.add_argument("--since", metavar="DATE", help="all used on this day or later")
        parser.add_argument("--yes", action="store_true", help="do not ask; for scripts")
    else:
        parser.add_argument("sessions", nargs="+", metavar="SESSION", help="its number there")
    _add_library(parser)
    add_common(parser)


def add_action(parser: argparse.ArgumentParser, action: str) -> None:
    """Add the arguments of an action of library."""
    if action in ("add", "remove", "use"):
        parser.add_argument("name", metavar="NAME")
    elif action in ("setup", "sessions", "watch"):
        parser.add_argument("library", nargs="?", metavar="NAME", help="default: the one in use")
    match action:
        case "add":
            parser.add_argument("address", help="postgresql://HOST/DATABASE, without a password")
            parser.add_argument(
                "--password", action="store_true", help="ask for it, for the system's keyring"
            )
        case "search":
            parser.add_argument("query")
            parser.add_argument("--session", type=int, metavar="N", help="only in this one")
            parser.add_argument("--limit", type=int, default=50, metavar="N")
        case "note":
            parser.add_argument("session", type=int, help="its number there")
            parser.add_argument("text", nargs="?", default="")
            parser.add_argument("--at", default="", metavar="ENTRY", help="the id of an entry")
            parser.add_argument(
                "--finding", default="", metavar="ID", help="of `audit --json`, at that entry"
            )
            parser.add_argument("--label", action="store_true", help="a label, not a note")
            parser.add_argument("--remove", type=int, metavar="N", help="take this one away")
        case "notes":
            parser.add_argument("session", type=int, nargs="?", help="its number there")
    if action == "sessions":
        add_filters(parser)
        parser.add_argument("--by", metavar="B", help="only what this person published")
    if action in ("search", "note", "notes"):
        _add_library(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _add_library(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--library", metavar="NAME", help="default: the one in use")


def run(arguments: argparse.Namespace) -> None:
    """Run a command or an action. Raises UsageError, CommandFailed."""
    name = arguments.command if arguments.command != "library" else arguments.action
    try:
        _COMMANDS[name](arguments)
    except LibrariesError as error:
        raise CommandFailed(str(error)) from error


# names --------------------------------------------------------------------------------------------


def _add(arguments: argparse.Namespace) -> None:
    password = getpass.getpass("Password: ") if arguments.password else None
    _print_names(arguments, add_library(arguments.name, arguments.address, password))


def _list(arguments: argparse.Namespace) -> None:
    _print_names(arguments, read_libraries())


def _remove(arguments: argparse.Namespace) -> None:
    _print_names(arguments, remove_library(arguments.name))


def _use(arguments: argparse.Namespace) -> None:
    _print_names(arguments, use_library(arguments.name))


def _print_names(arguments: argparse.Namespace, known: Libraries) -> None:
    rows = [
        {"name": name, "address": one.address, "used": name == known.used, "keyring": one.keyring}
        for name, one in sorted(known.libraries.items())
    ]
    if arguments.json:
        print_json(rows)
    elif not rows:
        print("No team library is named; your own needs none.")
    else:
        heads = ("name", "in use", "password in keyring", "address")
        print_table(heads, [(r["name"], r["used"], r["keyring"], r["address"]) for r in rows])


def _setup(arguments: argparse.Namespace) -> None:
    with team_library(arguments.library, any_version=True) as team:
        before = team.version
        team.setup()
    if arguments.json:
        print_json({"library": team.name, "before": before, "version": team.version})
    else:
        print(f"{team.place} has version {team.version}; grant people their roles, such as")
        print("  GRANT session_explorer_publisher TO ada;")


# publishing ---------------------------------------------------------------------------------------


def _publish(arguments: argparse.Namespace) -> None:
    if bool(arguments.sessions) == bool(arguments.since):
        raise UsageError("name sessions, or --since DATE")
    with workbench(arguments.database) as bench, team_library(arguments.library) as team:
        rows = _rows_meant(arguments, bench)
        plans = [plan_publishing(bench.store, row.key, team) for row in rows]
        if not arguments.json:
            _print_plans(plans, team)
        wanted = [one for one in plans if not one.unchanged]
        if wanted and not arguments.yes and not _agreed(len(wanted), team):
            raise CommandFailed("Nothing was published.")
        done: list[dict[str, Any]] = []
        failure, status = "", 1
        line = ProgressLine()
        try:
            for at, plan in enumerate(wanted):
                progress = _progress(line, plans=wanted, at=at)
                report = publish(bench.store, plan.row.key, team, progress)
                done.append(
                    {"session": plan.row.key, "published": report.key, "new": report.created}
                )
                line.end()
                if not arguments.json:
                    words = f"published session {plan.row.key} as {report.key}"
                    print(visible_line(words), flush=True)
        except StoreError as error:
            failure = str(error)
        except KeyboardInterrupt:
            failure, status = "interrupted", INTERRUPTED
        finally:
            line.end()
    if arguments.json:
        print_json({"library": team.name, "plans": [_plan_values(one) for one in plans],
                    "published": done, "failed": failure or None})  # fmt: skip
    if failure:
        count = f"{len(done):,} of {len(wanted):,} sessions were published and stay"
        raise CommandStopped(f"{failure}. {count}.", status)


def _progress(line: ProgressLine, plans: Sequence[PublishPlan], at: int) -> OnProgress:
    """Shows how much of the entries of all sessions has gone while the one at ``at`` goes."""
    before = sum(one.row.entries for one in plans[:at])
    total = sum(one.row.entries for one in plans)

    def show(done: int, _of: int) -> None:
        words = f"publishing session {at + 1:,} of {len(plans):,}, "
        line.show(before + done, total, f"{words}{before + done:,} of {total:,} entries")

    return show


def _rows_meant(arguments: argparse.Namespace, bench: Workbench) -> list[SessionRow]:
    rows = bench.sessions()
    if arguments.sessions:
        return [find_session(rows, name) for name in arguments.sessions]
    since = moment(arguments.since)
    used = [row for row in rows if row.last_ms >= since]
    return [row for row in used if PULLED not in bench.store.session_settings(row.key)]


def _print_plans(plans: Sequence[PublishPlan], team: TeamLibrary) -> None:
    """What would go, how large it is, and what is masked in it."""
    print_table(
        ("no", "entries", "characters", "masked", "folder", "title"),
        [
            (one.row.key, one.row.entries, one.characters,
             "as it is there" if one.unchanged else sum(one.masked.values()),
             one.row.cwd, one.row.title)
            for one in plans
        ],
        right=(0, 1, 2, 3),
    )  # fmt: skip
    for one in plans:
        if one.masked and not one.unchanged:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(one.masked.items()))
            places = ", ".join(f"#{at}" for at in one.masked_entries[:20])
            more = ", …" if len(one.masked_entries) > 20 else ""
            print(visible_line(f"masked in session {one.row.key}: {kinds} ({places}{more})"))
    print(
        f"Everyone who may read {team.place} sees the lines of all branches, the folder and the "
        "title. Secrets are found by how they are written: read what you publish."
    )


def _agreed(count: int, team: TeamLibrary) -> bool:
    if not sys.stdin.isatty():
        print("session-explorer: Give --yes to publish without being asked.", file=sys.stderr)
        return False
    what = "this session" if count == 1 else f"these {count:,} sessions"
    print(f"Publish {what} in {team.place}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _plan_values(plan: PublishPlan) -> dict[str, Any]:
    return {
        "session": plan.row.key, "title": plan.row.title, "entries": plan.row.entries,
        "characters": plan.characters, "unchanged": plan.unchanged, "masked": dict(plan.masked),
        "masked_entries": list(plan.masked_entries),
    }  # fmt: skip


def _withdraw(arguments: argparse.Namespace) -> None:
    gone: list[int] = []
    with team_library(arguments.library) as team:
        for shared in [team.shared_session(key) for key in _numbers(arguments.sessions)]:
            if not team.delete(shared.row.key).result():
                raise CommandFailed(
                    f"session {shared.row.key} was published by {shared.publisher}: only they or a "
                    f"steward withdraw it. {len(gone):,} sessions were withdrawn."
                )
            gone.append(shared.row.key)
            if not arguments.json:
                print(visible_line(f"withdrew session {shared.row.key}: {shared.row.title}"))
    if arguments.json:
        print_json({"library": team.name, "withdrawn": gone})


def _pull(arguments: argparse.Namespace) -> None:
    done = []
    with workbench(arguments.database) as bench, team_library(arguments.library) as team:
        here = pulled(bench.store)
        for shared in [team.shared_session(key) for key in _numbers(arguments.sessions)]:
            key = shared.row.key
            known = here.get((team.name, key, shared.published_ms))
            own = pull(bench.store, team, key).key if known is None else known
            done.append({"session": own, "pulled": key, "new": known is None})
            if not arguments.json:
                word = "pulled" if known is None else "is here already:"
                print(visible_line(f"{word} session {key} as {own}: {shared.row.title}"))
    if arguments.json:
        print_json({"library": team.name, "pulled": done})


def _numbers(words: Sequence[str]) -> list[int]:
    if bad := [one for one in words if not one.isdigit()]:
        raise UsageError(f"{bad[0]!r} is no number of `session-explorer library sessions`")
    return [int(one) for one in words]


# reading ------------------------------------------------------------------------------------------


def _sessions(arguments: argparse.Namespace) -> None:
    with team_library(arguments.library) as team:
        library = shared_library(team.shared(), team.notes())
    found = [row for row in filtered(arguments, library) if arguments.by in (None, row.publisher)]
    if arguments.json:
        print_json([_row_values(one) for one in found])
    elif not found:
        print(f"{team.place} has no such session.")
    else:
        heads = ("no", "published", "by", "agent", "model", "entries", "compactions", "folder",
                 "title")  # fmt: skip
        print_table(
            heads,
            [
                (one.session.key, local_time(one.published_ms), one.publisher, one.agent,
                 one.model or NOT_RECORDED, one.session.entries, one.session.compactions,
                 one.session.cwd, one.session.title)
                for one in found
            ],
            right=(0, 5, 6),
        )  # fmt: skip


def _row_values(row: LibraryRow) -> dict[str, Any]:
    session = row.session
    return {
        "session": session.key, "id": session.session_id, "title": session.title,
        "format": session.format, "model": row.model or None, "entries": session.entries,
        "compactions": session.compactions, "folder": session.cwd, "updated_ms": session.last_ms,
        "labels": list(session.labels), "by": row.publisher, "published_ms": row.published_ms,
    }  # fmt: skip


def _search(arguments: argparse.Namespace) -> None:
    if not arguments.query.strip():
        raise UsageError("search for at least one word")
    check_positive(arguments, "limit")
    with team_library(arguments.library) as team:
        hits = team.search(arguments.query, arguments.session, arguments.limit)
    rows = [(hit.key, f"#{hit.index}", Kind(hit.kind).name.lower(), hit.snippet) for hit in hits]
    if arguments.json:
        print_json(
            [
                {"session": hit.key, "index": hit.index, "kind": kind, "snippet": hit.snippet}
                for hit, (_, _, kind, _) in zip(hits, rows, strict=True)
            ]
        )
    elif not rows:
        print(f"nothing found for {arguments.query!r}")
    else:
        print_table(("session", "#", "kind", "text"), rows, right=(0, 1))


def _note(arguments: argparse.Namespace) -> None:
    with team_library(arguments.library) as team:
        if arguments.remove is not None:
            if not team.remove_note(arguments.remove):
                raise CommandFailed(f"{team.place} has no note {arguments.remove} of yours")
            number = arguments.remove
        elif not arguments.text.strip():
            raise UsageError("write at least one word")
        elif arguments.finding and not arguments.at:
            raise UsageError("name the entry of the finding: --at ENTRY")
        else:
            kind = "label" if arguments.label else "note"
            text = arguments.text.strip()
            number = team.add_note(arguments.session, text, arguments.at, kind, arguments.finding)
    if arguments.json:
        print_json({"note": number, "removed": arguments.remove is not None})
    else:
        print(f"{'removed' if arguments.remove is not None else 'wrote'} note {number}")


def _notes(arguments: argparse.Namespace) -> None:
    with team_library(arguments.library) as team:
        found = team.notes(arguments.session)
    if arguments.json:
        print_json([_note_values(one) for one in found])
    elif not found:
        print("There is no note.")
    else:
        print_table(
            ("note", "session", "entry", "finding", "by", "written", "kind", "text"),
            [
                (one.id, one.key, one.entry_id, one.finding, one.author, local_time(one.made_ms),
                 one.kind, one.text)
                for one in found
            ],
            right=(0, 1),
        )  # fmt: skip


def _note_values(note: Note) -> dict[str, Any]:
    return {
        "note": note.id, "session": note.key, "entry": note.entry_id or None,
        "finding": note.finding or None, "kind": note.kind, "text": note.text, "by": note.author,
        "written_ms": note.made_ms,
    }  # fmt: skip


def _watch(arguments: argparse.Namespace) -> None:
    with team_library(arguments.library) as team:
        changed = threading.Event()
        team.watch(changed.set)
        sessions = {(one.row.key, one.published_ms) for one in team.shared()}
        notes = {one.id for one in team.notes()}
        print(f"watching {team.place}; Ctrl+C ends it", file=sys.stderr, flush=True)
        try:
            while changed.wait():
                changed.clear()
                shared, written = team.shared(), team.notes()
                new = [one for one in shared if (one.row.key, one.published_ms) not in sessions]
                _print_news(arguments, new, [one for one in written if one.id not in notes])
                sessions = {(one.row.key, one.published_ms) for one in shared}
                notes = {one.id for one in written}
        except KeyboardInterrupt:
            return


def _print_news(
    arguments: argparse.Namespace, sessions: Sequence[Shared], notes: Sequence[Note]
) -> None:
    """A line for each, the oldest first."""
    if arguments.json:
        values = map(_row_values, reversed(shared_library(sessions, ()).rows))
        lines = [json.dumps(one) for one in (*values, *map(_note_values, notes))]
    else:
        lines = [
            f"{one.publisher} published session {one.row.key}: {one.row.title}"
            for one in reversed(sessions)
        ]
        lines += [f"{one.author} on session {one.key} ({one.kind}): {one.text}" for one in notes]
    for line in lines:
        print(visible_line(line), flush=True)


_COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "publish": _publish, "pull": _pull, "withdraw": _withdraw, "add": _add, "list": _list,
    "remove": _remove, "use": _use, "setup": _setup, "sessions": _sessions, "search": _search,
    "note": _note, "notes": _notes, "watch": _watch,
}  # fmt: skip

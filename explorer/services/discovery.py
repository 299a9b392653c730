"""Sessions of all agents on this computer: which there are, which of them are stored already, and
importing them one by one, which can be paused, cancelled and begun again.

Only the agents' usual places and those that the person added are looked at, and of each file no
more than its beginning is read.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from explorer.formats.adapter import FormatError, FoundSession, ReadCancelled
from explorer.formats.registry import ADAPTERS, HEAD_BYTES, LIST_STARTED, adapter_of, discover
from explorer.services.library import project_name
from explorer.session.describe import describe
from explorer.session.kinds import Flag, Kind
from explorer.session.records import FormatName
from explorer.session.secrets import mask
from explorer.session.text import first_topic, is_command, legible, title_line
from explorer.store import ImportCancelled, Store, StoreError
from explorer.store.rows import ImportReport, SourceFile
from explorer.workbench import Workbench

State = Literal["new", "changed", "stored"]
"""``changed``: it is stored, and its file was written to since. ``stored``: and was not."""
FIND, PLACES, AGENTS = "sessions.find", "sessions.places", "sessions.agents"
"""The settings: whether sessions are looked for, where besides, and of which agents."""

SUFFIXES = (".jsonl", ".json", ".db", ".md", ".zst")
"""Of session files."""
_TITLE_BYTES = 64 << 10
"""How much of a file is read for the first message in it."""
_MOST_FILES = 50_000
"""Files that are looked at in one place."""
_SAME_MS = 0.01
"""Times this close are the same: a file's time in milliseconds as a float is cut off there."""


class Places(Struct, frozen=True):
    """Where sessions are looked for."""

    home: Path
    environment: Mapping[str, str]
    """Variables by which agents move their places."""
    added: tuple[Path, ...] = ()
    agents: frozenset[FormatName] = frozenset()
    """Only these; all where none is named."""


def places_of(settings: Mapping[str, Any]) -> Places:
    """Where the person's settings say."""
    added = tuple(Path(name).expanduser() for name in settings.get(PLACES) or ())
    return Places(Path.home(), os.environ, added, agents_named(settings.get(AGENTS) or ()))


def agents_named(words: Iterable[str]) -> frozenset[FormatName]:
    """Agents by their name for people or that of their format, in any case. A word that names none
    stays in: it finds nothing, while no name at all would find everything."""
    names = {adapter.title.casefold(): name for name, adapter in ADAPTERS.items()}
    names |= {name.casefold(): name for name in ADAPTERS}
    return frozenset(names.get(word.strip().casefold(), word) for word in words)


class ListedSession(NamedTuple):
    """A session that was found."""

    found: FoundSession
    state: State
    size: int
    """Bytes; of a file that holds several sessions, its part."""
    title: str = ""
    """As the library has it, or would; empty where neither its agent's name for it nor its first
    message stands at the beginning of its file."""

    @property
    def agent(self) -> str:
        """The agent's name for people."""
        return adapter_of(self.found.format).title

    @property
    def project(self) -> str:
        """The last part of its working folder; empty where none is recorded."""
        return project_name(self.found.cwd)


class SearchFailure(NamedTuple):
    """A place, or the places of an agent, that could not be searched to the end."""

    where: str
    """The agent's name for people, or the folder."""
    reason: str


class SessionGroup(Struct):
    """The sessions of one agent in one project."""

    agent: str
    project: str
    sessions: list[int] = field(default_factory=list)
    """Positions in ``Scan.sessions``."""
    size: int = 0
    """Bytes."""
    new: int = 0
    changed: int = 0
    modified_ms: float = 0.0
    """Of the newest."""


class Scan(Struct, frozen=True):
    """What was found."""

    sessions: tuple[ListedSession, ...] = ()
    """The newest first."""
    failures: tuple[SearchFailure, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all."""
        return sum(one.size for one in self.sessions)

    def groups(self) -> list[SessionGroup]:
        """By agent and project, in the order of the agents, the projects used last first."""
        groups: dict[tuple[str, str], SessionGroup] = {}
        for at, one in enumerate(self.sessions):
            name = one.agent, one.project
            group = groups.setdefault(name, SessionGroup(*name))
            group.sessions.append(at)
            group.size += one.size
            group.new += one.state == "new"
            group.changed += one.state == "changed"
            group.modified_ms = max(group.modified_ms, one.found.modified_ms)
        order = {adapter.title: at for at, adapter in enumerate(ADAPTERS.values())}
        return sorted(groups.values(), key=lambda one: (order[one.agent], -one.modified_ms))


def scan(store: Store, places: Places) -> Scan:
    """Look for sessions; what could not be searched is named among the failures.

    Blocks for about a second per 5,000 files; meant for a worker thread. Raises StoreError.
    """
    failures: list[SearchFailure] = []
    found: dict[tuple[Path, str], FoundSession] = {}
    for one in _search(places, failures):
        found.setdefault((one.path, one.session_id), one)
    return listing(store, found.values(), failures)


def listing(
    store: Store, found: Iterable[FoundSession], failures: Iterable[SearchFailure] = ()
) -> Scan:
    """Found sessions, with which of them are stored. Raises StoreError."""
    sessions = sorted(found, key=lambda one: -one.modified_ms)
    in_file = Counter(one.path for one in sessions)
    known: dict[str, list[SourceFile]] = defaultdict(list)
    for source in store.source_files():
        known[source.path].append(source)
    titles = {row.key: row.title for row in store.sessions(all_places=True)}
    listed: list[ListedSession] = []
    for one in sessions:
        state, key = _state(one, known)
        title = titles.get(key, "") or _title(one)
        listed.append(ListedSession(one, state, one.size // in_file[one.path], title))
    return Scan(tuple(listed), tuple(failures))


def _title(found: FoundSession) -> str:
    """What a session will be called once it is imported; see ``ListedSession.title``."""
    title = found.header.title if found.header is not None else ""
    return mask(legible(title or title_line(_first_said(found))))


def _first_said(found: FoundSession) -> str:
    """The first line that a person typed and that says something of the session, where an entry is
    a line and its file begins so."""
    adapter = adapter_of(found.format)
    try:
        with found.path.open("rb") as file:
            lines = file.read(_TITLE_BYTES).split(b"\n")
    except OSError:
        return ""  # it was there when it was found
    found_facts = (describe(adapter.read(line)) for line in lines[:-1])
    return first_topic(
        facts.preview
        for facts in found_facts
        if facts.kind == Kind.USER
        and (not facts.flags & Flag.SYNTHETIC or is_command(facts.preview))
    )


def _search(places: Places, failures: list[SearchFailure]) -> Iterator[FoundSession]:
    def failed(name: FormatName, error: Exception) -> None:
        failures.append(SearchFailure(adapter_of(name).title, _reason(error)))

    yield from discover(places.home, places.environment, places.agents, failed)
    for place in places.added:
        if not place.is_dir():
            failures.append(SearchFailure(str(place), "there is no such folder"))
            continue
        seen = set()
        # It may be a copy of a home, of this computer's or another's.
        for one in discover(place, {}, places.agents, failed):
            seen.add(one.path)
            yield one
        yield from _files_below(place, places.agents, seen, failures)


def _files_below(
    place: Path, agents: frozenset[FormatName], seen: set[Path], failures: list[SearchFailure]
) -> Iterator[FoundSession]:
    """Session files that lie anywhere below a folder; links to folders are not followed."""
    looked_at = 0
    for folder, _, names in os.walk(place):
        for path in (Path(folder, name) for name in names if name.endswith(SUFFIXES)):
            if path in seen:
                continue
            looked_at += 1
            if looked_at > _MOST_FILES:
                reason = f"only the first {_MOST_FILES:,} files were looked at"
                failures.append(SearchFailure(str(place), reason))
                return
            if (one := _look_at(path)) is not None and (not agents or one.format in agents):
                yield one


def _look_at(path: Path) -> FoundSession | None:
    try:
        if not path.is_file():
            return None  # opening a pipe would wait for who writes to it
        with path.open("rb") as file:
            status, head = os.fstat(file.fileno()), file.read(HEAD_BYTES)
        name = next((n for n, one in ADAPTERS.items() if one.recognises(path, head)), None)
    except OSError:
        return None  # as in the usual places: nobody named this file
    if name is None or not head:
        return None
    return FoundSession(path, name, "", status.st_size, status.st_mtime_ns / 1e6, None)


def _reason(error: Exception) -> str:
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return text or type(error).__name__


def _state(found: FoundSession, known: Mapping[str, Sequence[SourceFile]]) -> tuple[State, int]:
    """With the key of the stored session, -1 for none. A session may be read from several files,
    of which its agent's search names one; the stored size and time are those of all together. So a
    file that is neither younger nor larger than that counts as unchanged."""
    sources = known.get(str(found.path.absolute()), ())
    name = found.session_id or (found.header.session_id if found.header is not None else "")
    stored = next((one for one in sources if one.session_id == name), None)
    if stored is None:
        if found.session_id or not sources:
            return "new", -1
        stored = sources[0]
    if found.modified_ms > stored.modified_ms + _SAME_MS:
        return "changed", stored.key
    # The size of a file with several sessions says nothing of one of them.
    has_grown = found.size > stored.size and not found.session_id
    return "changed" if has_grown else "stored", stored.key


class ImportState(Struct, frozen=True):
    """How far an import is."""

    sessions_done: int
    sessions: int
    bytes_done: int
    size: int
    """Bytes in all."""
    name: str
    """Path of the file that is read; empty at the end."""


class ImportOutcome(Struct):
    """What became of the sessions."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    entries: int = 0
    """Added in all."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Path of a file that was skipped, and why."""
    left: int = 0
    """Sessions that were not reached, because it was cancelled."""


class FoundImport:
    """Imports sessions in the order given. ``run`` blocks and is meant for a worker thread; the
    other methods may be called from any thread."""

    def __init__(
        self,
        bench: Workbench,
        sessions: Sequence[ListedSession],
        progress: Callable[[ImportState], object] | None = None,
        imported: Callable[[ImportReport], object] | None = None,
    ) -> None:
        """``progress`` and ``imported`` (after each session that gave something) are called from
        the thread that imports."""
        self._bench = bench
        self._sessions = sessions
        self._progress = progress
        self._imported = imported
        self._size = sum(one.size for one in sessions)
        self._bytes_done = 0
        self._goes_on = threading.Event()
        self._goes_on.set()
        self._cancelled = threading.Event()

    def pause(self) -> None:
        """Wait before the next session; the one that is being read is finished."""
        self._goes_on.clear()

    def resume(self) -> None:
        """Go on."""
        self._goes_on.set()

    def cancel(self) -> None:
        """End. What is imported stays; of the session that is being read nothing does."""
        self._cancelled.set()
        self._goes_on.set()

    def run(self) -> ImportOutcome:
        """Import all, skipping those that are stored and unchanged. A file that cannot be imported
        is named in the outcome. Raises StoreError when the database takes no more."""
        outcome = ImportOutcome()
        for at, one in enumerate(self._sessions):
            self._goes_on.wait()
            if self._cancelled.is_set():
                outcome.left = len(self._sessions) - at
                break
            if one.state == "stored":
                outcome.unchanged += 1
            else:
                self._report(at, 0, one)
                if not self._import(at, one, outcome):
                    outcome.left = len(self._sessions) - at
                    break
            self._bytes_done += one.size
        else:
            self._report(len(self._sessions), 0, None)
        return outcome

    def _import(self, at: int, one: ListedSession, outcome: ImportOutcome) -> bool:
        """Import one session; False when that was cancelled."""

        def progress(done: int, total: int) -> None:
            self._report(at, one.size * done // total if total else 0, one)

        found = one.found
        try:
            report = self._bench.import_blocking(
                found.path, progress, self._cancelled.is_set, found.session_id,
                alone=found.format in LIST_STARTED,
            )  # fmt: skip
        except (ImportCancelled, ReadCancelled):
            return False
        except (StoreError, MemoryError):
            raise
        except (FormatError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            outcome.failed.append((str(found.path), reason or str(error)))
        except Exception as error:  # noqa: BLE001 -- one file in thousands does not end the import
            outcome.failed.append((str(found.path), f"{type(error).__name__}: {error}"))
        else:
            outcome.new += report.created
            outcome.updated += not report.created and not report.unchanged
            outcome.unchanged += report.unchanged
            outcome.entries += report.added
            if self._imported is not None and not report.unchanged:
                self._imported(report)
        return True

    def _report(self, done: int, of_this: int, one: ListedSession | None) -> None:
        if self._progress is not None:
            name = str(one.found.path) if one is not None else ""
            sizes = self._bytes_done + of_this, self._size
            self._progress(ImportState(done, len(self._sessions), *sizes, name))

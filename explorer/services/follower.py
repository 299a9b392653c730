"""Following a session that its own agent is writing: read again whenever its files change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

from watchfiles import Change, awatch

from explorer.formats import FormatError
from explorer.store.rows import ImportReport, StoreError
from explorer.workbench import Workbench

_log = logging.getLogger(__name__)
STEP_MS = 50
"""How long nothing more must have been written before it is read."""
PATIENCE_MS = 200
"""How long changes that never pause are waited for."""


async def follow(
    bench: Workbench, path: Path, session_id: str = "", stop: asyncio.Event | None = None
) -> AsyncIterator[ImportReport]:
    """Import a session, and again each time its agent has written to it: a report whenever there
    is something new. ``path``: absolute. ``session_id``: which one, of a file that holds several.

    Ends when ``stop`` is set. A file that cannot be read for a moment (it is being replaced, or
    half a line is there) is read at its next change. Raises what the first import raises.
    """
    changes = awatch(
        path.parent,
        watch_filter=lambda _change, name: _is_of(path, session_id, Path(name)),
        step=STEP_MS,
        debounce=PATIENCE_MS,
        stop_event=stop,
        recursive=False,
    )
    # Watched before it is read, so that nothing is missed between the two.
    pending = asyncio.ensure_future(anext(changes, None))
    try:
        await asyncio.sleep(0)
        yield await bench.import_file(path, session_id=session_id)
        while (changed := await pending) is not None:
            pending = asyncio.ensure_future(anext(changes, None))
            if all(kind is Change.deleted for kind, _ in changed):
                continue
            try:
                report = await bench.import_file(path, session_id=session_id)
            except (FormatError, OSError, StoreError) as error:
                _log.info("%s is read at its next change: %s", path, error)
                continue
            if report.added or report.replaced:
                yield report
    finally:
        pending.cancel()


def _is_of(path: Path, session_id: str, changed: Path) -> bool:
    """Whether a file that changed belongs to a session: it is its own, the log of its database, or
    named after it."""
    if changed.name.startswith(path.name):
        return True
    return bool(session_id) and session_id in changed.name

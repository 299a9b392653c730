"""The audit of an opened session: what a summary keeps, with what a person pinned (D)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from explorer.audit.atoms.model import Atom
from explorer.audit.fidelity import Fidelity
from explorer.compaction.profile import PROFILES, Settings
from explorer.work.auditing import Auditor
from explorer.work.document import Document

NOTHING = "## Goal\nNothing of it all."


def lost_of(found: Fidelity, entry: int) -> list[Atom]:
    """What an entry alone says and nothing after the summary does."""
    return [
        finding.atom
        for finding in found.findings
        if finding.fate.name == "LOST" and finding.atom.sources == (entry,)
    ]


def test_what_is_pinned_is_kept_whatever_the_summary_says(document: Document) -> None:
    profile = PROFILES["explorer"]
    settings = replace(Settings.of(profile), keep_recent_tokens=2_000)
    found = Auditor(document).draft(document.preview(None, profile, settings), NOTHING).fidelity
    alone = [each.atom.sources[0] for each in found.findings if len(each.atom.sources) == 1]
    entry = next(at for at in alone if lost_of(found, at))
    asyncio.run(document.pin([entry]))
    shown = document.preview(None, profile, settings)
    assert not lost_of(Auditor(document).draft(shown, NOTHING).fidelity, entry)

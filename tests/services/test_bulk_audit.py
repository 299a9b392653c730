"""The audits of a library's sessions: kept, and made old by a change."""

from __future__ import annotations

import asyncio

from msgspec import to_builtins
from msgspec.structs import replace

from explorer.formats.registry import write_record
from explorer.services.bulk_audit import stored_audits
from explorer.services.document import Document
from explorer.services.session_audit import (
    SessionAudit,
    audit_session,
    begun_row,
    position_of,
    rules_of,
    stamp_of,
)
from explorer.session.entries import Entry, UserMessage, text_content
from explorer.tokens.counters import DEFAULT_ENCODING
from explorer.workbench import Workbench


def audited(document: Document) -> SessionAudit:
    asyncio.run(document.usage.follow())
    source = document.shared.store.source_file(document.key)
    position = position_of(document.row, source, document.tokens.weights is not None)
    begun = begun_row(document.row, position, rules_of(None))
    found = audit_session(document, document.usage.branch(document.leaf), begun)
    return replace(found, findings=(), needed=())


def test_an_audit_is_kept_until_its_session_changes(bench: Workbench, document: Document) -> None:
    store, found = bench.store, audited(document)
    known = stored_audits(store, store.sessions())
    assert not known.audits and [one.session for one in known.left] == [document.key]
    store.keep_audit(document.key, stamp_of(found.row), to_builtins(found)).result()
    assert stored_audits(store, store.sessions()) == ({document.key: found}, [])

    older = replace(found, row=replace(found.row, version=1))
    store.keep_audit(document.key, stamp_of(found.row), to_builtins(older)).result()
    assert stored_audits(store, store.sessions()).left, "figures of other fields are not read"

    store.keep_audit(document.key, stamp_of(found.row), to_builtins(found)).result()
    counts = [2 * tokens for tokens in document.tree.columns.estimate]
    store.set_token_counts(document.key, DEFAULT_ENCODING, 0, counts[:-1]).result()
    assert not stored_audits(store, store.sessions()).left, "one entry is not counted yet"
    store.set_token_counts(document.key, DEFAULT_ENCODING, 0, counts).result()
    assert stored_audits(store, store.sessions()).left, "other sizes are shown from now on"
    document.tokens.take_stored_blocking()
    counted = audited(document)
    store.keep_audit(document.key, stamp_of(counted.row), to_builtins(counted)).result()
    assert stored_audits(store, store.sessions()) == ({document.key: counted}, [])

    parent = document.tree.columns.ids[-1]
    entry = Entry.of(UserMessage(text_content("more")), "e-new", parent, 1.8e12)
    store.append(document.key, [(write_record("pi", entry), parent)], "e-new").result()
    assert [one.session for one in stored_audits(store, store.sessions()).left] == [document.key]

    store.keep_audit(99, "none", {}).result()
    assert 99 not in store.audits(), "nothing is kept of a session that is gone"

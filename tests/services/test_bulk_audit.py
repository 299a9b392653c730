"""The audits of a library's sessions: kept, made old by a change, summed up by agent."""

from __future__ import annotations

import asyncio

from msgspec.structs import asdict, replace

from explorer.formats import write_record
from explorer.services.bulk_audit import AgentNeeds, needs_by_agent, stored_audits
from explorer.services.document import Document
from explorer.services.session_audit import (
    AuditRow,
    audit_session,
    begun_row,
    position_of,
    rules_of,
    stamp_of,
)
from explorer.session.entries import Entry, UserMessage, text_content
from explorer.tokens.counters import DEFAULT_ENCODING
from explorer.workbench import Workbench


def audited(document: Document) -> AuditRow:
    asyncio.run(document.usage.follow())
    source = document.shared.store.source_file(document.key)
    position = position_of(document.row, source, document.tokens.weights is not None)
    begun = begun_row(document.row, position, rules_of(None))
    return audit_session(document, document.usage.branch(document.leaf), begun).row


def test_an_audit_is_kept_until_its_session_changes(bench: Workbench, document: Document) -> None:
    store, row = bench.store, audited(document)
    known = stored_audits(store, store.sessions())
    assert not known.rows and [one.session for one in known.left] == [document.key]
    store.keep_audit(document.key, stamp_of(row), asdict(row)).result()
    assert stored_audits(store, store.sessions()) == ({document.key: row}, [])

    store.keep_audit(document.key, stamp_of(row), asdict(replace(row, version=1))).result()
    assert stored_audits(store, store.sessions()).left, "figures of other fields are not read"

    store.keep_audit(document.key, stamp_of(row), asdict(row)).result()
    counts = [2 * tokens for tokens in document.tree.columns.estimate]
    store.set_token_counts(document.key, DEFAULT_ENCODING, 0, counts[:-1]).result()
    assert not stored_audits(store, store.sessions()).left, "one entry is not counted yet"
    store.set_token_counts(document.key, DEFAULT_ENCODING, 0, counts).result()
    assert stored_audits(store, store.sessions()).left, "other sizes are shown from now on"
    document.tokens.take_stored_blocking()
    counted = audited(document)
    store.keep_audit(document.key, stamp_of(counted), asdict(counted)).result()
    assert stored_audits(store, store.sessions()) == ({document.key: counted}, [])

    parent = document.tree.columns.ids[-1]
    entry = Entry.of(UserMessage(text_content("more")), "e-new", parent, 1.8e12)
    store.append(document.key, [(write_record("pi", entry), parent)], "e-new").result()
    assert [one.session for one in stored_audits(store, store.sessions()).left] == [document.key]

    store.keep_audit(99, "none", {}).result()
    assert 99 not in store.audits(), "nothing is kept of a session that is gone"


def test_what_was_needed_again_is_summed_up_by_agent(document: Document) -> None:
    row = replace(
        audited(document), compactions=2, needed_again=7, said_again=1, read_again=4,
        needed_again_tokens=900, needed_compared=3, needed_expected=0.5,
    )  # fmt: skip
    none = replace(row, agent="zed", compactions=0)
    assert needs_by_agent([row, none, replace(row, agent="Claude"), row]) == [
        AgentNeeds("Claude", 1, 2, 1, 4, 2, 900, 3, 0.5),
        AgentNeeds(row.agent, 2, 4, 2, 8, 4, 1_800, 6, 1.0),
    ]
    silent = replace(row, agent="Aider", said_again=0)
    more = replace(row, agent="Zed", needed_again=8)
    found = needs_by_agent([silent, row, replace(row, agent="omp", said_again=2), more])
    assert [one.agent for one in found] == ["omp", "Zed", row.agent, "Aider"]

"""What a session says does not depend on what it was asked before, nor on how it came to be."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.compaction.context_size import context_size, message_tokens
from explorer.compaction.profile import PROFILES
from explorer.formats.pi.entries import read_entry
from explorer.session.columns import Facts
from explorer.session.context import context_at
from explorer.session.describe import describe
from explorer.session.edits import shape_at
from explorer.session.tree import SessionTree
from explorer.tokens.estimate import estimate_entry
from tests.compaction.mixed_sessions import session_of
from tests.compaction.sessions import Session


def facts_of(entry: dict[str, Any]) -> tuple[Facts, int]:
    return describe(read_entry(entry)), estimate_entry(read_entry(entry))


def mixed(seed: int) -> Session:
    """A session in which most things meet, with names and labels."""
    session = session_of(seed, 30)
    for target, label in ((2, "one"), (5, "two"), (2, ""), (7, "three")):
        session.add({"type": "label", "targetId": f"e{target}", "label": label})
        session.metadata()
        session.user(2)
    session.add({"type": "session_info", "name": "a name"})
    return session


def answers(tree: SessionTree) -> list[Any]:
    """What the whole tree and each of its leaves say."""
    found: list[Any] = [tree.leaves(), tree.branch_points(), dict(tree.labels()), tree.name()]
    for leaf in tree.leaves():
        context = context_at(tree, leaf)
        found += [
            context.messages, context.compaction, context.kept_from, context.model,
            context.thinking_level, dict(context.pruned), dict(context.again),
            dict(context.omitted), shape_at(tree, leaf), message_tokens(tree, context),
        ]  # fmt: skip
        found += [context_size(tree, context, profile) for profile in PROFILES.values()]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_session_that_is_asked_as_it_grows_says_in_the_end_what_one_says_that_was_not(
    seed: int,
) -> None:
    session = mixed(seed)
    tree = SessionTree()
    for entry, parent in zip(session.entries, session.tree.columns.parent, strict=True):
        tree.append(entry["id"], parent, *facts_of(entry))
        answers(tree)
    assert answers(tree) == answers(session.tree)


@pytest.mark.parametrize("seed", range(4))
def test_an_entry_that_is_said_anew_counts_as_if_it_had_been_said_so_at_first(seed: int) -> None:
    session = mixed(seed)
    parents, entries = session.tree.columns.parent, session.entries
    for at in range(0, len(entries), 2):
        other = {**entries[(at + 3) % len(entries)], "id": entries[at]["id"]}
        said = [other if one is entries[at] else one for one in entries]
        fresh, changed = SessionTree(), SessionTree()
        for one, was, parent in zip(said, entries, parents, strict=True):
            fresh.append(one["id"], parent, *facts_of(one))
            changed.append(one["id"], parent, *facts_of(was))
        answers(changed)
        changed.replace(at, *facts_of(other))
        assert answers(changed) == answers(fresh)

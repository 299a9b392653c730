"""The words of stored rows have a version that follows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from explorer.session.describe import WORDS_VERSION, describe
from explorer.session.entries import Entry
from explorer.store.entry_rows import WordsMark, shown
from tests.compaction.recorded import session_of
from tests.formats.agents.reading import Reading
from tests.formats.claude_lines import Lines
from tests.formats.codex_rollouts import Rollout
from tests.services.clock import SAMPLE


def entries(folder: Path) -> Iterator[Entry]:
    """Of the bundled session, of made ones in which rare things meet, and of other agents."""
    yield from Reading(SAMPLE).entries
    for seed in (2, 5):
        session = session_of(seed, steps=80)
        yield from session.read(range(len(session.entries)))
    claude = Lines().user("a", "**Tides** of /tide").reply("b", "m1", "# Plan", ("c1", "Bash"))
    claude.result("c", "c1", "done").boundary("d", "c", trigger="manual").summary("e", "It is.")
    yield from claude.read(folder).entries
    codex = Rollout(1).turn(1).exchange("- tides\n- winds", "`ok`").call("c1", command="ls")
    codex.result("c1").add("compacted", message="Tides were asked for.").exchange("on", "yes")
    yield from Reading(codex.write(folder)).entries


def test_rows_are_old_from_the_mark_on_back_to_the_first_session() -> None:
    mark = WordsMark(key=3, done=5)
    asked = [(2, 9), (3, 4), (3, 5), (3, 6), (4, 0)]
    assert [mark.is_old(*one) for one in asked] == [True, False, True, True, False]


def test_the_version_of_words_follows_the_words(tmp_path: Path) -> None:
    """Else rows that earlier rules described would stay as they are in every library."""
    words = [(shown(facts.preview), facts.compaction) for facts in map(describe, entries(tmp_path))]
    assert len(words) > 400 and sum(facts is not None for _, facts in words) > 10
    found = crc32(repr(words).encode("utf-8", "backslashreplace"))
    assert found == WORDS_VERSION, (
        "Rows are described otherwise than before. Where that is meant, set WORDS_VERSION in "
        f"explorer/session/describe.py to {found}."
    )

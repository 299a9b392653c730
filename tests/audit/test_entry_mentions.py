"""What several ranges of entries mention, gathered for one after the other."""

from __future__ import annotations

from explorer.audit.stated_wrongly import EntryMentions
from explorer.facts import scan
from tests.audit.texts import conversation

ENTRIES = conversation()
TABLE = scan(range(len(ENTRIES)), lambda at: [ENTRIES[i] for i in at])
RANGES = ([0], [0, 1, 2], [1], [], range(len(ENTRIES)), [3], [3, 99])


def said(gathered: EntryMentions, indices: list[int]) -> tuple[object, ...]:
    """All that is gathered of some entries."""
    figures = [(item.text, entry) for _value, item, entry in gathered.figures(indices)]
    return gathered.mentions, sorted(gathered.paths), figures


def test_a_range_says_the_same_whatever_was_read_before_it() -> None:
    one = EntryMentions()
    for each in RANGES:
        alone, indices = EntryMentions(), list(each)
        one.read(TABLE, indices)
        alone.read(TABLE, indices)
        assert said(one, indices) == said(alone, indices)
    one.read(TABLE, [0])
    assert "src/load/orders.py" in one.paths and "orjson==3.10.12" not in one.mentions
    assert {"14 s", "1,500 rows"} <= {item.text for _value, item, _entry in one.figures([0])}

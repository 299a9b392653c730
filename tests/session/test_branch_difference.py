"""Two branches side by side: what each did, turn by turn, and where their answers differ."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from explorer.compaction.context_size import entries_size
from explorer.formats.pi.entries import read_entry, read_usage
from explorer.session.branch_difference import _spent, as_markdown, compare_branches, duration
from explorer.session.kinds import Kind
from explorer.session.text_difference import MOST_LINES, MOST_WORDS, word_differences
from explorer.session.usage_sums import UNCOUNTED, UsageSum, usage_sum
from tests.ui.sessions import MemoryDocument

USAGE = {"input": 100, "output": 20, "cacheRead": 30, "cacheWrite": 0, "cost": {"total": 0.25}}


class Branches:
    """Writes two branches below the entry ``a``."""

    def __init__(self) -> None:
        self.document = MemoryDocument()
        self.time = 1_767_603_600_000
        self.say("a", None, "user", "Look at the retry.")

    def say(self, name: str, parent: str | None, role: str, text: str, **more: object) -> int:
        self.time += 1_000
        content: list[dict[str, object]] = [{"type": "text", "text": text}] if text else []
        for tool, path in more.pop("calls", ()):  # type: ignore[attr-defined]
            call = {"type": "toolCall", "id": f"{name}-{tool}", "name": tool}
            content.append(call | {"arguments": {"path": path}})
        message = {"role": role, "content": content, **more}
        entry = {"type": "message", "id": name, "parentId": parent, "timestamp": self.time}
        return self.document.add({**entry, "message": message})


def two() -> Branches:
    talk = Branches()
    talk.say("l1", "a", "user", "Fix it.")
    talk.say("l2", "l1", "assistant", "", calls=[("edit", "retry.py")], usage=USAGE,
             provider="openai", model="one")  # fmt: skip
    talk.say("l3", "l2", "toolResult", "done", toolCallId="l2-edit", toolName="edit")
    talk.say("l4", "l3", "assistant", "I fixed the flaky clock.", usage=USAGE,
             provider="openai", model="one")  # fmt: skip
    talk.say("r1", "a", "user", "Fix it.")
    talk.say("r2", "r1", "assistant", "I fixed the broken clock.", provider="openai", model="two")
    talk.say("r3", "r2", "user", "And test it.")
    talk.say("r4", "r3", "assistant", "", calls=[("read", "test.py")])
    talk.say("r5", "r4", "toolResult", "no", toolCallId="r4-read", toolName="read", isError=True)
    return talk


def compare(talk: Branches, left: str, right: str):  # type: ignore[no-untyped-def]
    tree = talk.document.tree
    return compare_branches(
        tree, talk.document.payloads.shown, tree.index_of(left), tree.index_of(right)
    )


def test_what_has_no_time_is_not_counted_from_1970_on() -> None:
    talk, known = two(), compare(two(), "l4", "r5").right.elapsed_ms
    talk.time = -1_000
    talk.say("r6", "r5", "assistant", "It is tested.")
    assert compare(talk, "l4", "r6").right.elapsed_ms == known > 0


def test_each_side_is_told_from_the_common_ancestor_on() -> None:
    found = compare(two(), "l4", "r5")
    assert found.ancestor == 0
    assert [len(turn.messages) for turn in found.left.turns] == [4]
    assert [len(turn.messages) for turn in found.right.turns] == [2, 3]
    assert found.right.turns[1].prompt == "And test it."
    assert (found.left.models, found.right.models) == (("openai/one",), ("openai/two",))
    assert (found.left.tools, found.right.tools) == ({"edit": 1}, {"read": 1})
    assert (found.left.failures, found.right.failures) == (0, 1)
    assert (found.left.files, found.right.files) == (
        {"retry.py": ("edit",)}, {"test.py": ("failed",)},
    )  # fmt: skip


def test_tokens_cost_and_time_are_summed_and_what_nobody_counted_is_told() -> None:
    found = compare(two(), "l4", "r5")
    left = found.left.spent
    assert (left.input, left.output, left.cache_read, left.cost) == (200, 40, 60, 0.5)
    assert (left.calls, left.uncounted) == (2, 0)
    assert (found.right.spent.calls, found.right.spent.uncounted) == (0, 2)
    assert found.left.elapsed_ms == 3_000
    assert found.right.elapsed_ms == 1_000 + 2_000


def test_messages_stand_beside_each_other_turn_by_turn() -> None:
    rows = compare(two(), "l4", "r5").rows()
    shown = [
        (row.turn, row.left and row.left.entry, row.right and row.right.entry, row.same)
        for row in rows
    ]
    assert shown == [
        (0, 1, 5, True), (0, 2, 6, False), (0, 3, None, False), (0, 4, None, False),
        (1, None, 7, False), (1, None, 8, False), (1, None, 9, False),
    ]  # fmt: skip
    assert rows[1].left is not None and rows[1].left.calls == ("edit retry.py",)


def test_the_last_answers_are_compared_word_by_word() -> None:
    found = compare(two(), "l4", "r5")
    assert (found.left.answer_entry, found.right.answer_entry) == (4, 6)
    assert [p.text for p in found.left_answer if p.differs] == ["flaky"]
    assert [p.text for p in found.right_answer if p.differs] == ["broken"]


def test_a_branch_that_goes_on_is_compared_with_its_beginning() -> None:
    found = compare(two(), "l1", "l4")
    assert found.ancestor == 1
    assert found.left.turns == ()
    assert found.left.answer_entry == -1
    assert found.right.turns[0].messages[0].kind is Kind.ASSISTANT
    assert found.right.turns[0].prompt == ""
    assert "| Time | 0 ms | 2.0 s |" in as_markdown(found, "left", "right")


def test_a_lone_word_between_two_other_sentences_is_nothing_in_common() -> None:
    mine, theirs = word_differences(
        "Ten clean runs, so the race is gone.", "No test, and the log has it."
    )
    assert [piece.differs for piece in mine] == [piece.differs for piece in theirs] == [True, False]
    assert mine[-1].text == "."


def test_pieces_together_are_the_text_however_long_it_is() -> None:
    short = ("a b, c", "a x, c d")
    words = (" ".join(map(str, range(MOST_WORDS))), "else\n" * 3)
    lines = ("same\n" + "l\n" * MOST_LINES, "same\n" + "r\n" * MOST_LINES)
    for one, other in (short, words, lines, ("", "only this"), ("equal", "equal")):
        mine, theirs = word_differences(one, other)
        assert "".join(piece.text for piece in mine) == one
        assert "".join(piece.text for piece in theirs) == other
    assert not any(piece.differs for piece in word_differences("equal", "equal")[0])
    assert not word_differences(*lines)[0][0].differs


def test_a_glance_has_600_characters_of_a_message() -> None:
    talk = Branches()
    talk.say("l1", "a", "assistant", "x" * 601)
    talk.say("r1", "a", "assistant", "x" * 599)
    found = compare(talk, "l1", "r1")
    assert found.left.turns[0].messages[0].text == "x" * 600
    assert found.right.turns[0].messages[0].text == "x" * 599


def test_the_comparison_as_markdown() -> None:
    told = as_markdown(compare(two(), "l4", "r5"), "one | first", "two")
    assert "| Models | openai/one | openai/two |" in told
    assert told.startswith("# Two branches from #0\n")
    assert "| | one \\| first | two |" in told
    assert "| Tools | edit 1 | read 1 |" in told
    assert "| `retry.py` | edit | — |" in told
    assert "| Cost | $0.5000 | not recorded |" in told
    assert "## Turn 2" in told
    assert "**assistant** #2 → edit retry.py" in told
    assert told.endswith("## Final answer: two\n\n```text\nI fixed the broken clock.\n```\n")


def test_durations_are_read_at_a_glance() -> None:
    told = {
        850: "850 ms", 1_000: "1.0 s", 12_400: "12.4 s", 60_000: "1 min 00 s",
        185_000: "3 min 05 s", 3_600_000: "1 h 00 min", 7_620_000: "2 h 07 min",
    }  # fmt: skip
    assert {one: duration(one) for one in told} == told


def test_what_a_reply_took_is_the_figure_of_the_status_bar() -> None:
    """A sum without its parts, and parts of a cost without their sum, count here too."""
    for usage in (
        {"totalTokens": 700},
        {"input": 5, "output": 2, "cost": {"input": 0.25, "output": 0.5}},
    ):
        entry = {"type": "message", "message": {"role": "assistant", "usage": usage}}
        assert _spent(read_entry(entry)) == usage_sum(read_usage(usage)) != UNCOUNTED


def test_a_cost_of_which_a_part_is_not_known_is_a_least_one() -> None:
    talk = Branches()
    talk.say("l1", "a", "assistant", "Priced.", usage=USAGE)
    talk.say("l2", "l1", "assistant", "Unpriced.", usage={"input": 5, "output": 2})
    talk.say("r1", "a", "assistant", "Priced.", usage=USAGE)
    markdown = as_markdown(compare(talk, "l2", "r1"), "left", "right")
    (line,) = [line for line in markdown.splitlines() if line.startswith("| Cost")]
    assert line.count("at least") == 1 and line.count("0.2500") == 2
    assert "| Time | 1.0 s | not recorded |" in markdown


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        (UsageSum(), "not recorded"),
        (UsageSum(calls=2, unpriced=2), "not recorded"),
        (UsageSum(uncounted=1), "not recorded"),
        (UsageSum(cost=0.01, calls=1), "$0.0100"),
        (UsageSum(cost=0.009, calls=1), "$0.009000"),
        (UsageSum(cost=0.5, calls=2, unpriced=1), "at least $0.5000"),
        (UsageSum(cost=0.5, calls=1, uncounted=1), "at least $0.5000"),
        (UsageSum(cost=0.5, calls=2, unpriced=1, listed=1, listed_cost=0.25),
         "$0.7500 by listed prices"),
        (UsageSum(cost=0.5, calls=3, unpriced=2, listed=1, listed_cost=0.25),
         "at least $0.7500 by listed prices"),
        (UsageSum(calls=1, unpriced=1, listed=1, listed_cost=0.25, low_priced=9),
         "at least $0.2500 by listed prices"),
        (UsageSum(calls=1, uncounted=1, listed=1, listed_cost=0.25),
         "at least $0.2500 by listed prices"),
    ],
)  # fmt: skip
def test_what_a_branch_cost_is_said_as_far_as_it_is_known(spent: UsageSum, words: str) -> None:
    assert cost(spent) == words


def cost(usage: UsageSum) -> str:
    """What the table says of a branch whose replies took this."""
    found = compare(two(), "l4", "r5")
    turns = (replace(found.left.turns[0], spent=usage),)
    markdown = as_markdown(replace(found, left=replace(found.left, turns=turns)), "left", "right")
    (line,) = [line for line in markdown.splitlines() if line.startswith("| Cost")]
    return line.split("|")[2].strip()


def test_a_branch_that_ends_with_a_compaction_frees_what_it_summarized() -> None:
    talk = two()
    talk.say("b1", "l4", "user", "Now the rest: " + "word " * 900)
    talk.document.add(
        {
            "type": "compaction", "id": "c", "parentId": "b1", "timestamp": talk.time + 1,
            "summary": "The clock was fixed.", "firstKeptEntryId": "none", "tokensBefore": 1_000,
        }
    )  # fmt: skip
    talk.say("d1", "b1", "assistant", "And more of it.")
    tree = talk.document.tree

    def size_at(entry: int) -> int:
        return entries_size(tree, entry)

    ends = (tree.index_of("c"), tree.index_of("d1"))
    found = compare_branches(tree, talk.document.payloads.shown, *ends, size_at=size_at)
    assert found.left.freed > 900 and found.right.freed == 0
    told = as_markdown(found, "one", "two")
    freed = f"≈ {found.left.freed:,} tokens less, by its compaction"
    assert f"| Entries in context | {freed} | ≈ " in told
    assert "tokens more |" in told

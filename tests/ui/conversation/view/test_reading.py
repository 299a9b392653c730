"""What an entry reads as: its parts, what they open to, and the words that are copied of them."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from explorer.agent.loop import NOT_RUN, STOPPED_BEFORE
from tests.ui.conversation.view.talks import Opened, Talk, call, image, thinking
from ui.conversation.view.calls import CallStates
from ui.conversation.view.item_reader import parts_of, read_item
from ui.conversation.view.items import PathItems
from ui.conversation.view.parts import (
    MOST_SHOWN,
    Code,
    Diff,
    ItemPart,
    Note,
    PicturePart,
    Prose,
    Row,
)
from ui.conversation.view.selection import item_markdown


def shown(talk: Talk, item: int = 0, *opened: str, states: Any = None) -> list[ItemPart]:
    document, items = Opened(talk), PathItems()
    items.show(document.tree, document.leaf)
    read = read_item(
        document, items.heads[item], items.results(item), states or CallStates()
    )  # fmt: skip
    return parts_of(read, lambda key: key in opened or "*" in opened)


def rows(parts: list[ItemPart]) -> list[tuple[str, str, str]]:
    return [
        (p.role.name if p.role else "", p.text, p.tail) for p in parts if isinstance(p, Row)
    ]  # fmt: skip


@pytest.fixture(autouse=True)
def _app(app: QApplication) -> None:
    """Pictures are made with Qt."""


def test_a_reply_is_its_thinking_its_words_its_calls_and_what_it_took() -> None:
    talk = Talk()
    talk.reply(
        thinking("First this.\nThen that."), "Let me *see*.", call("a", "read", path="src/q.py"),
        call("b", "bash", command="pytest -q"),
    )  # fmt: skip
    talk.result("b", "bash", "....\n4 passed in 0.1s")
    talk.result("a", "read", "one\ntwo")
    parts = shown(talk)
    assert rows(parts) == [
        ("Thinking", "First this.", "2 lines"),
        ("read", "src/q.py", "2 lines"),
        ("bash", "pytest -q", "4 passed in 0.1s"),
    ]
    assert [p.text for p in parts if isinstance(p, Prose)] == ["Let me *see*."]
    (figures,) = [p.text for p in parts if isinstance(p, Note)]
    assert "gpt-5.1 · 21.7k in · 20.5k cached · 612 out · $0.0184" in figures
    assert parts[2].entry == 2, "a call leads to its result"


def test_what_a_program_put_in_is_one_line_until_it_is_opened() -> None:
    talk = Talk()
    talk.message("user", "Caveat: run by the user.\nDo not answer it.", synthetic=True)
    assert rows(shown(talk)) == [("Automatic", "Caveat: run by the user.", "")]
    assert not [part for part in shown(talk) if isinstance(part, Prose)]
    (words,) = [part for part in shown(talk, 0, "auto") if isinstance(part, Prose)]
    assert "Do not answer it." in words.text


def notes(talk: Talk, own: bool = False) -> list[Note]:
    document, items = Opened(talk), PathItems()
    document.is_own = own
    items.show(document.tree, document.leaf)
    read = read_item(document, items.heads[0], items.results(0), CallStates())
    return [part for part in parts_of(read, lambda _key: False) if isinstance(part, Note)]


def test_what_a_foreign_reply_does_not_tell_is_not_recorded() -> None:
    """What this program did not record was never there."""
    talk = Talk()
    talk.reply("Done.")
    usage = talk.entries[0]["message"]["usage"]
    assert notes(talk)[0].tip == "", "all of it is recorded"
    usage["cost"] = {"input": 0.25, "output": 0.5}
    assert notes(talk)[0].text.endswith("· $0.75")
    del usage["cost"]
    assert notes(talk)[0].text.endswith("out · cost not recorded")
    assert notes(talk, own=True)[0].text.endswith(" out")
    del talk.entries[0]["message"]["usage"], talk.entries[0]["message"]["model"]
    (figures,) = notes(talk)
    assert figures.text.endswith("model, tokens and cost not recorded")
    assert "Model: not recorded. The file does not name the model." in figures.tip.split("\n")


def test_a_call_opens_to_its_change_its_output_and_the_file_with_all_of_it() -> None:
    talk = Talk()
    talk.reply(call("a", "edit", path="q.py", oldText="a\nb\n", newText="a\nc\n"))
    talk.result("a", "edit", "done", details={"fullOutputPath": "/tmp/out.txt"})
    folded, opened = shown(talk), shown(talk, 0, "c0")
    assert rows(folded) == [("edit", "q.py", "+1 −1")]
    assert not any(isinstance(p, Diff) for p in folded)
    (change,) = [p for p in opened if isinstance(p, Diff)]
    assert ("-", "b") in change.lines
    assert ("+", "c") in change.lines
    assert [p.address for p in opened if isinstance(p, Row)][-1] == "/tmp/out.txt"


def test_the_change_that_a_result_tells_stands_for_its_arguments() -> None:
    talk = Talk()
    talk.reply(call("a", "write", path="q.py", content="a\nb\n"))
    talk.result("a", "write", "Created q.py.", details={"diff": "+1 a\n+2 b"})
    assert rows(shown(talk)) == [("write", "q.py", "+2 −0")]
    opened = shown(talk, 0, "c0")
    assert [p.lines for p in opened if isinstance(p, Diff)] == [(("+", "1 a"), ("+", "2 b"))]
    assert [p.text for p in opened if isinstance(p, Note)] == ["Created q.py."]
    assert not any(isinstance(p, Code) for p in opened)


def test_calls_that_gave_nothing_are_no_failures() -> None:
    talk = Talk()
    talk.reply(call("a", "bash", command="x"), call("b", "bash", command="y"))
    for name, outcome in (("a", STOPPED_BEFORE), ("b", NOT_RUN)):
        talk.result(name, "bash", outcome.text, isError=True, details=dict(outcome.details))
    assert [tail for _, _, tail in rows(shown(talk))] == ["not run", "broken off"]


def test_a_long_output_is_shown_in_part_until_asked_for() -> None:
    talk = Talk()
    talk.reply(call("a", "bash", command="seq 500"))
    talk.result("a", "bash", "\n".join(map(str, range(500))))
    part = shown(talk, 0, "c0")
    assert ("", "Show all 500 lines", "") in rows(part)
    # What Codex says above an output is no line of it.
    said = talk.reply(call("b", "exec_command", cmd="seq 40"))
    head = "Chunk ID: 4f\nWall time: 0.1 seconds\nOutput:\n"
    talk.result("b", "exec_command", head + "\n".join(map(str, range(40))))
    assert said
    part = shown(talk, 1, "c0")
    assert rows(part)[0][2] == "40 lines" and ("", "Show all 40 lines", "") in rows(part)
    whole = shown(talk, 0, "c0", "c0.all")
    assert "\n".join(p.text for p in whole if isinstance(p, Code)).endswith("499")
    assert ("", "Show less", "") in rows(whole)


def test_failures_say_why() -> None:
    talk = Talk()
    talk.reply("I", stopReason="aborted", errorMessage="Stopped by the person")
    talk.reply("We", stopReason="error", errorMessage="The server is overloaded")
    talk.reply("And", stopReason="length")
    talk.reply(call("a", "bash", command="false"))
    talk.result("a", "bash", "no\nsuch thing", isError=True, details={"exitCode": 2})
    notes = [p.text for at in range(3) for p in shown(talk, at) if isinstance(p, Note)]
    assert "Stopped by you" in notes
    assert "Failed: The server is overloaded" in notes
    assert any("Cut short" in note for note in notes)
    assert rows(shown(talk, 3)) == [("bash", "false", "failed: exit code 2")]


def test_calls_without_a_result_are_told_apart_by_whether_a_turn_runs() -> None:
    talk = Talk()
    talk.reply(call("a", "bash", command="sleep 9"))
    states = CallStates()
    assert rows(shown(talk, states=states))[0][2] == "no result on this path", "it may have run"
    states.running = True
    assert rows(shown(talk, states=states))[0][2] == "arriving"
    states.started("a")
    states.waits("a", True)
    assert rows(shown(talk, states=states))[0][2] == "waiting for your approval"
    states.waits("a", False)
    states.add_output("a", "half\nof it")
    parts = shown(talk, states=states)
    assert rows(parts)[0][2] == "running"
    assert [p.text for p in parts if isinstance(p, Code)] == ["half\nof it"]
    states.ended("a", "all of it", False)
    assert rows(shown(talk, states=states))[0][2] == "done"


def test_marks_open_to_their_summaries() -> None:
    talk = Talk()
    talk.user("go")
    talk.add("compaction", summary="## Goal\nNo flake.", firstKeptEntryId="e0000000",
             tokensBefore=9)  # fmt: skip
    talk.add("branch_summary", summary="Tried a fake clock.", fromId="e0000000")
    talk.add("model_change", provider="openai", modelId="gpt-5.1")
    ((name, told, _),) = rows(shown(talk, 1))
    assert name == "Compacted"
    before, _, after = told.split(" · ")[0].partition(" → ")
    assert before.startswith("entries ≈") and after.startswith("≈"), "no file tells them"
    (mark,) = (part for part in shown(talk, 1) if isinstance(part, Row))
    assert mark.tip.startswith("Sizes: inferred.") and "recorded 9 tokens" in mark.tip
    assert "about" in mark.words and "≈" not in mark.words
    assert "No flake." in told
    assert any(isinstance(p, Prose) and "## Goal" in p.text for p in shown(talk, 1, "m"))
    assert rows(shown(talk, 2))[0][1] == "Tried a fake clock."
    assert rows(shown(talk, 3)) == [("Model", "from here on: openai/gpt-5.1", "")]


def test_the_sizes_of_a_compaction_are_those_of_the_provider_where_both_are_recorded() -> None:
    talk = Talk()
    talk.user("go")
    talk.add("compaction", summary="No flake.", firstKeptEntryId="e0000000",
             tokensBefore=184_200)  # fmt: skip
    talk.reply("Done.")
    (mark,) = (part for part in shown(talk, 1) if isinstance(part, Row))
    assert "184.2k → 22.3k" in mark.words and not mark.tip


def test_before_the_next_reply_the_size_after_a_compaction_goes_by_the_reports_before_it() -> None:
    talk = Talk()
    talk.user("go")
    talk.reply("Done.")
    talk.add("compaction", summary="No flake.", firstKeptEntryId="e0000000",
             tokensBefore=22_296)  # fmt: skip
    (mark,) = (part for part in shown(talk, 2) if isinstance(part, Row))
    assert "22.3k → about 22.3k" in mark.words, "but for a few words nothing was freed"


def test_pictures_and_very_long_messages() -> None:
    talk = Talk()
    talk.user("see", image())
    talk.user("x " * MOST_SHOWN)
    assert [type(p) for p in shown(talk)] == [Prose, PicturePart]
    cut = shown(talk, 1)
    assert isinstance(cut[-1], Row)
    assert "shown whole in the inspector" in cut[-1].text


def test_a_file_of_a_message_is_one_line_until_it_is_opened() -> None:
    talk = Talk()
    talk.message("fileMention", files=[{"path": "src/q.py", "content": "a = 1\nb = 2"}])
    assert rows(shown(talk)) == [("Note", "src/q.py", "2 lines")]
    assert [p.text for p in shown(talk, 0, "f0") if isinstance(p, Code)] == ["a = 1\nb = 2"]


def test_a_message_is_copied_as_markdown() -> None:
    talk = Talk()
    talk.user("**why** does `q` wait?\n\n```py\nq.get()\n```")
    talk.reply("It *does*.", call("a", "ls", path="src"))
    talk.result("a", "ls", "q.py")
    assert item_markdown(shown(talk)) == (
        "**You**\n\n**why** does `q` wait?\n\n```py\nq.get()\n```"
    )
    assert item_markdown(shown(talk, 1)) == "**Agent**\n\nIt *does*.\n\n**ls** `src` — q.py"

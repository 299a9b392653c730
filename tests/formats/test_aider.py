"""Aider's chat histories, constructed to show one rule each."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from explorer.formats.adapter import FormatError
from explorer.formats.aider import AIDER
from explorer.session.context import context_at
from explorer.session.entries import (
    AssistantMessage,
    CustomData,
    ModelChange,
    ShellMessage,
    UserMessage,
)
from tests.formats.agents.reading import Reading
from tests.formats.test_mutated_files import mutated

CHAT = "\n# aider chat started at 2026-01-02 03:04:05\n\n"
START = "> Aider v0.86.1  \n> Main model: gemini/g-pro with diff edit format  \n\n"
REPLY = "\n# Plan\n\nI change it.\n\n"
USED = "> Tokens: 12k sent, 2.5k cache hit, 345 received. Cost: $0.01 message, $0.20 session.  \n"


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_text(text: str | bytes) -> Reading:
        path = tmp_path / "shop" / ".aider.chat.history.md"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Reading(path)

    return read_text


def joined(reading: Reading) -> str:
    """All records, without what this program noted in them."""
    return "\n".join(one.raw.partition('\n{"sessionExplorer"')[0] for one in reading.records)


def sent(reading: Reading) -> list[str]:
    messages = context_at(reading.tree, len(reading.records) - 1).messages
    found = [reading.entries[at] for at in messages]
    return [one.text for one in found if not getattr(one.body, "excluded", False)]


def test_a_turn_with_its_tokens(read: Any) -> None:
    text = CHAT + START + "#### Change a.py  \n#### and b.py  \n" + REPLY + USED + "> Commit 1f  \n"
    reading = read(text)
    assert [type(one.body) for one in reading.entries] == [
        CustomData, ModelChange, UserMessage, AssistantMessage, CustomData,
    ]  # fmt: skip
    assert reading.prompts == ["Change a.py\nand b.py"]
    (body,) = reading.replies
    assert (body.provider, body.model) == ("gemini", "g-pro")
    assert body.content[0].text == "# Plan\n\nI change it.", "a heading of a reply belongs to it"
    assert (body.usage.input, body.usage.cache_read, body.usage.output) == (9500, 2500, 345)
    assert (body.usage.context, body.usage.cost) == (12_345, 0.01)
    assert sent(reading) == ["Change a.py\nand b.py", "# Plan\n\nI change it."]
    assert joined(reading) + "\n" == text
    assert reading.entries[-1].body == CustomData("Aider: Commit 1f", {"text": "Commit 1f"})
    (problem,) = reading.report.problems
    assert "does not record its summaries" in problem.reason


def test_a_chat_begins_anew(read: Any) -> None:
    reading = read(CHAT + "#### One  \n" + REPLY + CHAT + "#### Two  \n" + REPLY)
    assert sent(reading) == ["Two", "# Plan\n\nI change it."]
    assert [one.parent for one in reading.records] == [-1, 0, 1, -1, 3, 4]
    assert not reading.replies[0].model


def test_commands_are_not_sent_but_questions_are(read: Any) -> None:
    reading = read(
        CHAT + "#### /add **  \n> Added a.py to the chat  \n\n#### !ls  \n\n#### /ask Why?  \n"
        + REPLY + "#### /clear  \n> All chat history cleared.  \n\n#### Again  \n" + REPLY
    )  # fmt: skip
    shells = [one.body for one in reading.entries if isinstance(one.body, ShellMessage)]
    assert [one.command for one in shells] == ["/add **", "!ls", "/clear"]
    assert all(one.excluded for one in shells)
    assert reading.prompts == ["/ask Why?", "Again"]
    assert sent(reading) == ["Again", "# Plan\n\nI change it."], "nothing from before /clear"


def test_quotations_of_a_reply_are_read_as_aider_reads_them(read: Any) -> None:
    reading = read(CHAT + "#### Say  \n\nFirst.\n\n> quoted\n\nSecond.\n\n" + USED)
    assert [one.content[0].text for one in reading.replies] == ["First.", "Second."]
    first, second = reading.replies
    assert first.usage is None and second.usage is not None


def test_a_heading_parts_nothing(read: Any) -> None:
    text = CHAT + "#### One  \n# a note  \n#### Two  \n> Out  \n# more  \n> Put  \n\n# Head\nText\n"
    reading = read(text)
    assert reading.prompts == ["One\nTwo"]
    assert reading.entries[2].body == CustomData("Aider: Out", {"text": "Out\nPut"})
    assert reading.replies[0].content[0].text == "# Head\nText"
    assert joined(reading) + "\n" == text


def test_what_stands_before_any_chat_and_other_line_ends(read: Any) -> None:
    text = "\ufeff\r\n> Early  \r\n" + (CHAT + "#### One  \n" + REPLY).replace("\n", "\r\n")
    reading = read(text)
    assert reading.prompts == ["One"] and joined(reading) == text.removesuffix("\n")
    assert reading.replies[0].content[0].text == "# Plan\n\nI change it."


def test_damaged_bytes_are_kept_aside(read: Any) -> None:
    reading = read(CHAT.encode() + b"#### One  \n#### \xff\n#### Two  \n")
    assert reading.prompts == ["One\nTwo"]
    assert [one.raw for one in reading.report.asides] == [b"#### \xff"]
    assert len(reading.report.problems) == 1
    with pytest.raises(FormatError):
        read(" \n\n")


def test_mutated_histories_lose_no_line(read: Any) -> None:
    text = (CHAT + START + "#### Change  \n" + REPLY + USED + "> Commit  \n") * 3
    for seed in range(500):
        changed = mutated(text.encode(), Random(seed), False)
        if changed.strip():
            reading = read(changed)
            assert joined(reading).strip() == changed.decode().strip(), seed


def test_tokens_of_every_size(read: Any) -> None:
    for line, expected in (
        ("Tokens: 800 sent, 1.2M received.", (800, 1_200_000, 0.0)),
        ("Tokens: 5.1k sent, 1k cache write, 1k cache hit, 9 received. Cost: $1.50 message, $2 "
         "session.", (3100, 9, 1.5)),
        ("Tokens: many", None), ("Tokens: ... sent", (0, 0, 0.0)),
    ):  # fmt: skip
        (body,) = read(f"{CHAT}#### A  \n\nB\n\n> {line}  \n").replies
        used = body.usage and (body.usage.input, body.usage.output, body.usage.cost)
        assert used == expected


def test_found_at_home_and_where_the_environment_says(read: Any, tmp_path: Path) -> None:
    reading = read(CHAT + START)
    assert list(AIDER.find(tmp_path, {})) == []
    environment = {"AIDER_CHAT_HISTORY_FILE": reading.source.path}
    (found,) = AIDER.find(tmp_path, environment)
    assert (str(found.path), found.cwd) == (reading.source.path, str(tmp_path / "shop"))
    assert found.header == reading.header and found.header.agent_version == "0.86.1"
    assert [one.path for one in AIDER.find(tmp_path / "shop", {})] == [found.path]
    assert AIDER.resume(found.header) == ("aider", "--restore-chat-history")
    assert AIDER.recognises(Path("other.md"), CHAT.encode())
    assert not AIDER.recognises(Path("other.md"), b"text of # aider chat started at")

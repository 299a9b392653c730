"""What is shown of an entry."""

from __future__ import annotations

from explorer.formats.pi.entries import read_entry
from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.entries import (
    AssistantMessage,
    CustomData,
    Entry,
    FileMention,
    FilesMessage,
    ShellMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    text_content,
)
from tests.ui.sessions import Talk, call_block
from ui.widgets.message_blocks import (
    Block,
    CallBlock,
    FactsBlock,
    JsonBlock,
    PlainBlock,
    blocks,
    result_block,
    shell_remarks,
    words_of,
)


def test_edits_of_every_spelling_become_diffs() -> None:
    talk = Talk()
    at = talk.reply(
        call_block("a", "edit", path="x", oldText="1", newText="2"),
        call_block("b", "edit", path="x", edits=[{"oldText": "3", "newText": "4"}]),
        call_block("c", "Edit", file_path="x", old_string="5", new_string="6"),
    )
    found = blocks(talk.document.payloads.shown.entry(at))
    changed = [d.lines for b in found if isinstance(b, CallBlock) for d in b.diffs]
    pairs = [tuple(line.text for line in lines) for lines in changed]
    assert pairs == [("1", "2"), ("3", "4"), ("5", "6")]


def test_a_command_shows_exit_code_and_remarks() -> None:
    talk = Talk()
    at = talk.message(
        "bashExecution", command="false", output="no", exitCode=3, excludeFromContext=True
    )
    (block,) = blocks(talk.document.payloads.shown.entry(at))
    assert isinstance(block, ShellMessage)
    assert (block.exit_code, shell_remarks(block)) == (3, ["left out of the context"])


def test_a_compaction_shows_its_facts_in_either_spelling() -> None:
    """A1, A3."""
    talk = Talk()
    first = talk.entry(
        "compaction", summary="S", firstKeptEntryId="e1", tokensBefore=1234, fromHook=True,
        details={"readFiles": ["a.py"], "modifiedFiles": ["b.py"]},
    )  # fmt: skip
    second = talk.entry(
        "compaction", summary="S", retained_from_id="e1", tokens_before=99, fromExtension=True
    )
    for at, before in ((first, "1,234"), (second, "99")):
        facts, text = blocks(talk.document.payloads.shown.entry(at))
        assert isinstance(facts, FactsBlock) and isinstance(text, TextBlock)
        named = {fact.name: fact for fact in facts.facts}
        assert named["Tokens before (recorded)"].value == before
        assert named["First kept"].entry_id == "e1"
        assert named["Made by"].value == "an extension"
    named = {f.name: f.value for f in blocks(talk.document.payloads.shown.entry(first))[0].facts}  # type: ignore[union-attr]
    assert (named["Files read"], named["Files modified"]) == ("a.py", "b.py")


def test_what_an_agent_records_for_itself_is_told_in_words() -> None:
    hooks = [{"command": "tmux mark"}, {"command": "make test"}]
    data = {"hookCount": 2, "hookInfos": hooks, "hookErrors": [], "stopReason": "",
            "preventedContinuation": False, "timing": {"startMs": 1, "endMs": 2}}  # fmt: skip
    (told,) = blocks(Entry.of(CustomData("stop_hook_summary", data)))
    assert isinstance(told, FactsBlock)
    assert [(fact.name, fact.value) for fact in told.facts] == [
        ("What", "Stop hook summary"),
        ("Hook count", "2"),
        ("Hook infos", "tmux mark\nmake test"),
        ("Prevented continuation", "no"),
        ("Timing", "Start ms: 1\nEnd ms: 2"),
    ]


def test_recorded_data_is_shown_as_deep_and_as_long_as_can_be_read() -> None:
    deep: list[object] = ["end"]
    for _ in range(5_000):
        deep = [deep]
    data = {"deep": deep, "long": "x" * 100_000, **{f"k{at}": at for at in range(1, 1_000)}}
    (told,) = blocks(Entry.of(CustomData("odd", data)))
    assert isinstance(told, FactsBlock)
    assert (told.facts[1].value, len(told.facts[2].value)) == ("…", 2_000)
    assert len(told.facts) <= 101


def test_what_is_not_known_is_named_and_an_unknown_block_is_shown_raw() -> None:
    talk = Talk()
    at = talk.entry("brand_new_type", payload={"x": 1})
    (block,) = blocks(talk.document.payloads.shown.entry(at))
    assert isinstance(block, FactsBlock) and block.facts[0].value == "Brand new type"
    odd = talk.reply("text", {"type": "hologram", "data": 1})
    shown = blocks(talk.document.payloads.shown.entry(odd))
    assert [type(part) for part in shown] == [TextBlock, JsonBlock]


def test_malformed_messages_never_raise() -> None:
    for message in (None, "text", {}, {"role": "assistant", "content": [1, None, {"type": 3}]}):
        blocks(read_entry({"type": "message", "id": "a", "message": message}))
    blocks(read_entry({"type": "compaction", "summary": 3, "details": "no"}))
    blocks(read_entry({}))


def _custom(data: object) -> list[Block]:
    return blocks(Entry.of(CustomData(PRUNE_TYPE, data)))


def test_a_prune_tells_how_many_what_it_saved_why_and_which() -> None:
    results = [{"id": f"e{at}", "tokens": 1_200, "text": "[note]"} for at in range(3)]
    data = {"results": results, "saved": 3_576, "reason": "3 tool results: 3 superseded."}
    told, named = _custom(data)
    assert isinstance(told, FactsBlock) and isinstance(named, FactsBlock)
    assert [fact.value for fact in told.facts] == ["3", "3,576", data["reason"]]
    assert [fact.entry_id for fact in named.facts] == ["e0", "e1", "e2"]
    many = {**data, "results": results[:1] * 150}
    named = _custom(many)[1]
    assert isinstance(named, FactsBlock)
    assert (len(named.facts), named.facts[-1].value) == (101, "50"), "the rest is counted"


def test_what_takes_a_prune_back_names_it_and_one_that_cannot_be_read_is_named() -> None:
    (told,) = _custom({"undoes": "e9"})
    assert isinstance(told, FactsBlock) and told.facts[0].entry_id == "e9"
    (named,) = _custom("?")
    assert isinstance(named, FactsBlock) and named.facts[1].value == "?"


def test_arguments_that_nothing_else_shows_are_left_for_a_line_or_json() -> None:
    def call(**arguments: object) -> CallBlock:
        reply = AssistantMessage((ToolCallBlock("a", "read", arguments),))
        (block,) = blocks(Entry.of(reply))
        assert isinstance(block, CallBlock)
        return block

    assert call(path="a.py", offset=3).more_words == "offset: 3"
    assert call(path="a.py", content="x").more == {}
    assert not call(path="a.py", lines=[1, 2]).more_words
    assert not call(path="a.py", note="y" * 200).more_words


def test_a_result_holds_what_its_tool_recorded_beside_the_text() -> None:
    def result(**details: object) -> ToolResultMessage:
        return ToolResultMessage("a", "edit", text_content("done"), details=details)

    diff = result_block(result(diff="--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y")).diff
    assert diff is not None
    assert [line.sign for line in diff.lines] == ["@", "-", "+"]
    assert diff.figures == "+1 −1"
    cut = result_block(result(exitCode=2, fullOutputPath="/tmp/out"))
    assert (cut.exit_code, cut.full_output_path) == (2, "/tmp/out")
    assert result_block(result(persistedOutputPath="/tmp/of")).full_output_path == "/tmp/of"
    assert result_block(result(notRun=True)).missing == "not run"


def test_of_a_call_without_a_result_it_is_not_said_that_it_did_not_run() -> None:
    def missing(**more: bool) -> str:
        (block,) = blocks(Entry.of(AssistantMessage((ToolCallBlock("a", "ls", {}, **more),))))
        assert isinstance(block, CallBlock)
        return block.missing

    assert (missing(), missing(hosted=True)) == ("no result on this path", "run by the provider")


def test_the_words_of_an_entry_are_all_that_can_be_read_of_it() -> None:
    reply = AssistantMessage(
        (ThinkingBlock("hm"), TextBlock("yes"), ToolCallBlock("a", "ls", {"path": "src"}))
    )
    assert [words_of(block) for block in blocks(Entry.of(reply))] == [
        "hm", "yes", 'ls {"path": "src"}',
    ]  # fmt: skip
    (file,) = blocks(Entry.of(FilesMessage((FileMention("a.py", "x = 1"),))))
    assert file == PlainBlock("x = 1", "a.py", "a.py")
    assert words_of(ShellMessage("ls", "a.py")) == "ls\na.py"

"""From JSON to blocks, without a window."""

from __future__ import annotations

from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import plan_pruning
from explorer.formats.pi.entries import read_entry
from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.entries import CustomData, Entry, ShellMessage, TextBlock, ThinkingBlock
from explorer.session.text_difference import changed_lines
from tests.compaction.pruned_sessions import prune, take_back, used
from tests.compaction.sessions import Session
from tests.ui.sessions import Talk, call_block
from ui.inspector.code import spans
from ui.inspector.gather import caller_of, gather, pruned_facts, related_entries, results_after
from ui.inspector.markdown_view import can_render, keep_breaks
from ui.widgets.message_blocks import Block, CallBlock, FactsBlock, JsonBlock, blocks, shell_remarks


def test_a_reply_is_shown_in_its_own_order_with_results_by_call_id() -> None:
    talk = Talk()
    talk.user("go")
    at = talk.reply(
        {"type": "thinking", "thinking": "hm"},
        "text",
        call_block("a", "read", path="x.py"),
        call_block("b", "bash", command="ls"),
    )
    second = talk.result("b", "listing", "bash")
    first = talk.result("a", "print(1)")
    talk.reply("later")
    tree = talk.document.tree
    assert sorted(results_after(tree, at)) == [second, first]
    shown = gather(talk.document.payloads, at, related_entries(tree, at)).blocks
    assert [type(block) for block in shown] == [ThinkingBlock, TextBlock, CallBlock, CallBlock]
    read, bash = shown[2], shown[3]
    assert isinstance(read, CallBlock) and isinstance(bash, CallBlock)
    assert [(r.entry, r.text) for r in read.results] == [(first, "print(1)")]
    assert [(r.entry, r.text) for r in bash.results] == [(second, "listing")]
    assert read.results[0].path == "x.py"


def test_a_result_is_shown_with_the_call_that_it_answers() -> None:
    talk = Talk()
    call = talk.reply(call_block("a", "read", path="x.py"), call_block("b", "bash", command="ls"))
    talk.result("a", "text")
    result = talk.result("b", "listing", "bash", isError=True)
    tree = talk.document.tree
    assert caller_of(tree, result) == call
    (block,) = gather(talk.document.payloads, result, related_entries(tree, result)).blocks
    assert isinstance(block, CallBlock)
    assert (block.tool, block.entry) == ("bash", call)
    assert block.results[0].is_error


def test_a_call_answered_on_two_branches_shows_both() -> None:
    talk = Talk()
    at = talk.reply(call_block("a", "bash", command="ls"))
    branch = talk.last
    talk.result("a", "one", "bash")
    talk.last = branch
    talk.result("a", "two", "bash")
    tree = talk.document.tree
    (block,) = gather(talk.document.payloads, at, related_entries(tree, at)).blocks
    assert isinstance(block, CallBlock)
    assert sorted(result.text for result in block.results) == ["one", "two"]


def test_edits_of_every_spelling_become_diffs() -> None:
    talk = Talk()
    at = talk.reply(
        call_block("a", "edit", path="x", oldText="1", newText="2"),
        call_block("b", "edit", path="x", edits=[{"oldText": "3", "newText": "4"}]),
        call_block("c", "Edit", file_path="x", old_string="5", new_string="6"),
    )
    found = blocks(talk.document.payloads.entry(at))
    changed = [d.lines for b in found if isinstance(b, CallBlock) for d in b.diffs]
    pairs = [tuple(line.text for line in lines) for lines in changed]
    assert pairs == [("1", "2"), ("3", "4"), ("5", "6")]


def test_a_command_shows_exit_code_and_remarks() -> None:
    talk = Talk()
    at = talk.message(
        "bashExecution", command="false", output="no", exitCode=3, excludeFromContext=True
    )
    (block,) = blocks(talk.document.payloads.entry(at))
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
        facts, text = blocks(talk.document.payloads.entry(at))
        assert isinstance(facts, FactsBlock) and isinstance(text, TextBlock)
        named = {fact.name: fact for fact in facts.facts}
        assert named["Tokens before"].value == before
        assert named["First kept"].entry_id == "e1"
        assert named["Made by"].value == "an extension"
    named = {f.name: f.value for f in blocks(talk.document.payloads.entry(first))[0].facts}  # type: ignore[union-attr]
    assert (named["Files read"], named["Files modified"]) == ("a.py", "b.py")


def test_what_is_not_known_is_shown_raw() -> None:
    talk = Talk()
    at = talk.entry("brand_new_type", payload={"x": 1})
    (block,) = blocks(talk.document.payloads.entry(at))
    assert isinstance(block, JsonBlock)
    odd = talk.reply("text", {"type": "hologram", "data": 1})
    shown = blocks(talk.document.payloads.entry(odd))
    assert [type(part) for part in shown] == [TextBlock, JsonBlock]


def test_malformed_messages_never_raise() -> None:
    for message in (None, "text", {}, {"role": "assistant", "content": [1, None, {"type": 3}]}):
        blocks(read_entry({"type": "message", "id": "a", "message": message}))
    blocks(read_entry({"type": "compaction", "summary": 3, "details": "no"}))
    blocks(read_entry({}))


def test_diff_has_signs_and_context() -> None:
    old = "\n".join(f"line {n}" for n in range(40))
    new = old.replace("line 20", "changed")
    lines = changed_lines(old, new)
    assert [line for line in lines if line.sign in "+-"] == [("-", "line 20"), ("+", "changed")]
    assert len(lines) == 8
    assert changed_lines("same", "same") == ()
    assert [line.sign for line in changed_lines("--- a", "+++ b")] == ["-", "+"]


def test_a_huge_replacement_is_not_compared_line_by_line() -> None:
    lines = changed_lines("a\nsame\n" * 1_000, "b\nsame\n" * 1_000 + "c")
    assert [line.sign for line in lines] == ["-"] * 2_000 + ["+"] * 2_001


def test_markdown_is_only_for_texts_that_are_quickly_laid_out() -> None:
    assert can_render("# short")
    assert not can_render("x" * 70_000)
    assert not can_render("x" * 5_000)


def test_line_breaks_of_typed_text_stay() -> None:
    assert keep_breaks("one\ntwo\n\nthree") == "one\u2028two\n\nthree"
    code = "```\na\nb\n```"
    assert keep_breaks(code) == code
    for structure in ("- a\n- b", "1. a\n2. b", "# a\nb", "| a |\n|---|\n| b |", "a\n> b"):
        assert keep_breaks(structure) == structure


def test_code_is_coloured_by_language_or_file_name() -> None:
    python = spans("def f():\n    return 'x'  # no", "python")
    assert {name for _, _, name in python} >= {"think", "user", "tool", "dim"}
    assert spans("def f(): pass", path="src/a.py")
    assert spans("plain", "no-such-language") == []
    assert spans("def f(): pass\n" * 10_000, "python") == []


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


def test_what_takes_a_prune_back_names_it_and_one_that_cannot_be_read_is_raw() -> None:
    (told,) = _custom({"undoes": "e9"})
    assert isinstance(told, FactsBlock) and told.facts[0].entry_id == "e9"
    (raw,) = _custom("?")
    assert isinstance(raw, JsonBlock)


def test_a_pruned_result_names_the_prune_and_what_took_it_back() -> None:
    session = Session()
    result, *_ = (used(session, "bash", 300), used(session, "bash", 200))
    policy = Pruning(protect_tokens=100, minimum_savings=1)
    pruned = prune(session, plan_pruning(session.tree, session.leaf, policy))
    (told,) = pruned_facts(session.tree, result)
    assert isinstance(told, FactsBlock)
    assert [fact.value for fact in told.facts][::2] == [f"#{pruned}", "300 → 8"]
    undo = take_back(session, pruned)
    (told,) = pruned_facts(session.tree, result)
    assert isinstance(told, FactsBlock) and told.facts[-1].value == f"#{undo}"
    assert pruned_facts(session.tree, result + 2) == []

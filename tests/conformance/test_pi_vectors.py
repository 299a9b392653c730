"""The profile ``pi`` computes what pi computed, entry by entry, from the same session files.

Runs on the vectors kept here and on any directory that ``EXPLORER_CONFORMANCE_DIR`` names.
"""

from __future__ import annotations

from typing import Any

from explorer.compaction.branch_summaries import prepare_branch
from explorer.compaction.context_size import context_size
from explorer.compaction.cut_point import Cuts
from explorer.compaction.messages import entry_to_llm, serialize_message
from explorer.compaction.partition import Verdict, partition
from explorer.compaction.path_view import view_of
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.summary import footer
from explorer.formats.pi.entries import read_entry
from explorer.session.context import context_at
from explorer.session.entries import AssistantMessage, ToolResultMessage, UserMessage
from explorer.settings.prompt_templates import load_templates
from explorer.tokens.estimate import estimate_entry, utf16_units
from tests.conformance.vectors import Vector, utf8_hash

ROLE_LETTERS = {UserMessage: "u", AssistantMessage: "a", ToolResultMessage: "t"}


def test_every_entry_of_the_session_is_in_the_tree(vector: Vector) -> None:
    assert len(vector.tree) == vector.expected["entries"]


def test_estimates_of_messages_are_pis(vector: Vector) -> None:
    """B8: ceil(UTF-16 units / 4), arguments as JSON.stringify writes them."""
    expected = vector.expected["estimate_tokens"]
    got = {
        name: estimate_entry(read_entry(vector.entries[vector.index(name)])) for name in expected
    }
    assert got == expected


def test_messages_are_serialized_as_pi_does(vector: Vector, pi: Profile) -> None:
    """B11: the text that a summarizer reads, to the last UTF-16 unit."""
    templates = load_templates()
    for name, expected in vector.expected["serialized"].items():
        message = entry_to_llm(read_entry(vector.entries[vector.index(name)]), templates)
        text = serialize_message(message, pi) if message is not None else ""
        if "text" in expected:
            assert text == expected["text"], name
        else:
            assert utf8_hash(text) == expected["sha256_16"], name
            assert utf16_units(text) == expected["utf16_length"], name


def test_contexts_hold_the_messages_that_pi_rebuilt(vector: Vector) -> None:
    """A5, B2: the entries behind the messages, their roles after conversion, level and model."""
    templates = load_templates()
    for expected in vector.expected["contexts"]:
        context = context_at(vector.tree, vector.index(expected["leaf"]))
        assert vector.names(context.messages) == [str(name) for name in expected["messages"]]
        assert context.thinking_level == expected["thinking_level"]
        assert (context.model or None) == expected["model"]
        sent = [
            message
            for entry in context.messages
            if (message := entry_to_llm(read_entry(vector.entries[entry]), templates)) is not None
        ]
        letters = "".join(ROLE_LETTERS[type(message)] for message in sent)
        assert letters == expected["roles_in_llm"]


def test_context_sizes_are_pis(vector: Vector, pi: Profile) -> None:
    """A7, B9: the last reply's usage plus an estimate of what follows."""
    for expected in vector.expected["contexts"]:
        size = context_size(
            vector.tree, context_at(vector.tree, vector.index(expected["leaf"])), pi
        )
        assert size.tokens == expected["tokens"]
        assert size.usage_tokens == expected["usage_tokens"]
        assert size.trailing_tokens == expected["trailing_tokens"]
        last = expected["last_usage_index"]
        assert size.last_usage == (-1 if last is None else last)


def test_cut_points_are_pis(vector: Vector, pi: Profile) -> None:
    """A15 to A18, with B4 and B5."""
    for expected in vector.expected["cut_points"]:
        cuts = Cuts(view_of(vector.tree, vector.index(expected["leaf"]), pi), pi)
        cut = cuts.find(expected["start"], expected["end"], expected["keep_recent_tokens"])
        assert cut.first_kept == expected["first_kept_index"], expected
        assert vector.names([cuts.view.path[cut.first_kept]]) == [str(expected["first_kept_entry"])]
        assert cut.turn_start == expected["turn_start_index"], expected
        assert cut.is_split_turn == expected["is_split_turn"], expected


def test_preparations_are_pis(vector: Vector, pi: Profile) -> None:
    """A14, A28, B1, B3: what would be summarized, what stays, and the files."""
    for expected in vector.expected["preparations"]:
        settings = Settings(keep_recent_tokens=expected["keep_recent_tokens"])
        prepared = prepare(vector.tree, vector.index(expected["leaf"]), pi, settings)
        result = expected["result"]
        if result is None:
            assert not isinstance(prepared, Preparation), expected["leaf"]
            continue
        assert isinstance(prepared, Preparation), expected["leaf"]
        _compare(vector, prepared, result)


def _compare(vector: Vector, prepared: Preparation, result: dict[str, Any]) -> None:
    assert vector.names([prepared.first_kept]) == [str(result["first_kept_entry"])]
    assert prepared.is_split_turn == result["is_split_turn"]
    assert prepared.tokens_before == result["tokens_before"]
    history = [str(name) for name in result["messages_to_summarize"]]
    prefix = [str(name) for name in result["turn_prefix_messages"]]
    assert vector.names(prepared.history) == history
    assert vector.names(prepared.turn_prefix) == prefix
    assert list(prepared.read_files) == result["read_files"]
    assert list(prepared.modified_files) == result["modified_files"]
    assert footer(prepared.read_files, prepared.modified_files) == result["file_operations_footer"]
    previous = None
    if prepared.previous_compaction >= 0:
        summary = vector.entries[prepared.previous_compaction]["summary"]
        previous = utf8_hash(summary) if summary else None
    assert previous == result["previous_summary_sha256_16"]


def test_partitions_of_pis_preparations_add_up(vector: Vector, pi: Profile) -> None:
    """Every entry of the path has one verdict, and the verdicts are pi's lists."""
    for expected in vector.expected["preparations"]:
        settings = Settings(keep_recent_tokens=expected["keep_recent_tokens"])
        prepared = prepare(vector.tree, vector.index(expected["leaf"]), pi, settings)
        parts = partition(prepared)
        assert len(parts.verdicts) == len(parts.path)
        weighed = sum(parts.weight(position) for position in range(len(parts.path)))
        assert sum(parts.tokens) == weighed
        if isinstance(prepared, Preparation):
            prefix = [
                parts.path[at]
                for at, verdict in enumerate(parts.verdicts)
                if verdict == Verdict.TURN_PREFIX
            ]
            sent = set(prepared.cuts.view.entries(0, len(parts.path), prepared.cuts.view.sent))
            assert prefix == [entry for entry in prepared.turn_prefix if entry in sent]


def test_branches_are_pis(vector: Vector, pi: Profile) -> None:
    """A31, A32, B17: what is left behind, and what of it fits each budget."""
    for expected in vector.expected["branches"]:
        old, target = vector.index(expected["old_leaf"]), vector.index(expected["target"])
        for fits in expected["prepared"]:
            left = prepare_branch(
                vector.tree, old, target, pi, Settings(), budget=fits["token_budget"]
            )
            assert left.common_ancestor == vector.index(expected["common_ancestor"])
            assert vector.names(left.entries) == [str(name) for name in expected["entries"]]
            assert vector.names(left.messages) == [str(name) for name in fits["messages"]]
            assert left.total_tokens == fits["total_tokens"]
            assert list(left.read_files) == fits["read_files"]
            assert list(left.modified_files) == fits["modified_files"]

"""Settings files as text: read with their places, changed without losing anything else."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonyx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonyx.allow import COMMENTS, TRAILING_COMMA

from explorer.settings.jsonc import JsonError, leaves, line_of, read, with_value, without
from explorer.settings.keys import NAMES

blanks = st.sampled_from(
    ["", " ", "\n", "\r\n  ", '// mine, {"\n', '/* a\n* "b": , } */', "\t", " // é\n "]
)
words = st.sampled_from(["compaction", "enabled", "pruning", "other", "a.b", "", 'q"\\', "$schema"])
names = words | st.sampled_from(sorted(NAMES))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=5)
)


@st.composite
def texts(draw: st.DrawFn, depth: int = 3, root: bool = True) -> str:
    """A file as people write them: comments, blanks, trailing commas, names twice."""
    kinds = ["object"] if root else ["scalar", "object", "array"][: 1 if not depth else 3]
    kind = draw(st.sampled_from(kinds))
    gap = lambda: draw(blanks)  # noqa: E731
    if kind == "scalar":
        return json.dumps(draw(scalars), ensure_ascii=draw(st.booleans()))
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        value = draw(texts(depth=depth - 1, root=False))
        name = f"{json.dumps(draw(names))}{gap()}:{gap()}" if kind == "object" else ""
        parts.append(f"{gap()}{name}{value}{gap()}")
    end = "," + gap() if parts and draw(st.booleans()) else ""
    inside = ",".join(parts) + end if parts else gap()
    text = f"{{{inside}}}" if kind == "object" else f"[{inside}]"
    return f"{gap()}{text}{gap()}" if root else text


def loaded(text: str) -> Any:
    return jsonyx.loads(text, allow=COMMENTS | TRAILING_COMMA)


def settings_of(text: str) -> list[tuple[str, Any]]:
    return [(leaf.name, leaf.member.value.value) for leaf in leaves(read(text), NAMES)]


def comments_of(text: str) -> list[str]:
    """Comments outside of strings."""
    found = re.findall(r'"(?:[^"\\]|\\.)*"|(//[^\n\r]*|/\*.*?\*/)', text, re.DOTALL)
    return [comment for comment in found if comment]


@given(texts())
def test_what_is_read_is_what_the_parser_reads(text: str) -> None:
    root = read(text)
    assert root.value == loaded(text)
    for leaf in leaves(root, NAMES):
        place = text[leaf.member.value.start : leaf.member.value.end]
        assert loaded(place) == leaf.member.value.value
        assert text[leaf.member.start] == '"'


@given(texts(), st.sampled_from(sorted(NAMES)), scalars | st.lists(st.text("ab"), max_size=2))
def test_setting_a_value_changes_nothing_else(text: str, name: str, value: Any) -> None:
    before = settings_of(text)
    after_text = with_value(text, name, value, NAMES, flat=name.startswith("chat."))
    after = settings_of(after_text)
    assert dict(after)[name] == value
    assert [kept for kept in after if kept[0] != name] == [k for k in before if k[0] != name]
    inside = [leaf.member for leaf in leaves(read(text), NAMES) if leaf.name == name]
    if inside:
        assume(not comments_of(text[inside[-1].value.start : inside[-1].end]))
    assert comments_of(after_text) == comments_of(text)


@given(texts(), st.sampled_from(sorted(NAMES)))
def test_resetting_takes_one_setting_out_and_nothing_else(text: str, name: str) -> None:
    before = settings_of(text)
    after_text = without(text, name, NAMES)
    assert settings_of(after_text) == [kept for kept in before if kept[0] != name]
    if name not in dict(before):
        assert after_text == text


@given(texts(), st.sampled_from(sorted(NAMES)))
def test_what_is_set_and_reset_leaves_the_same_settings(text: str, name: str) -> None:
    assume(name not in dict(settings_of(text)))
    again = without(with_value(text, name, 1, NAMES), name, NAMES)
    assert settings_of(again) == settings_of(text)
    assert comments_of(again) == comments_of(text)


@given(st.text(max_size=40) | st.text('{}[]",:/* \n1a\\', max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        root = read(text)
    except JsonError as error:
        assert error.reason
        assert 1 <= error.line <= text.count("\n") + text.count("\r") + 1
        assert error.column >= 1
    else:
        assert root.end <= len(text)


def test_a_file_is_changed_as_a_person_would() -> None:
    text = '{\n\t// Mine.\n\t"compaction": {\n\t\t"enabled": true // on\n\t}\n}\n'
    text = with_value(text, "compaction.keepRecentTokens", 9, NAMES)
    text = with_value(text, "pruning.enabled", False, NAMES)
    text = with_value(text, "chat.advanced.agentHistorySummarizationMode", "full", NAMES, True)
    assert text == (
        '{\n\t// Mine.\n\t"compaction": {\n\t\t"enabled": true, // on\n'
        '\t\t"keepRecentTokens": 9\n\t},'
        '\n\t"pruning": {\n\t\t"enabled": false\n\t},'
        '\n\t"chat.advanced.agentHistorySummarizationMode": "full"\n}\n'
    )
    for name in ("chat.advanced.agentHistorySummarizationMode", "compaction.keepRecentTokens"):
        text = without(text, name, NAMES)
    assert text == (
        '{\n\t// Mine.\n\t"compaction": {\n\t\t"enabled": true // on\n\t},'
        '\n\t"pruning": {\n\t\t"enabled": false\n\t}\n}\n'
    )


@pytest.mark.parametrize("text", ["", " \n", "// nothing yet\n", "/* a */"])
def test_a_file_with_nothing_in_it_gets_an_object(text: str) -> None:
    assert read(text).value == {}
    made = with_value(text, "compaction.enabled", False, NAMES)
    assert made.startswith(text.rstrip())
    assert loaded(made) == {"compaction": {"enabled": False}}


def test_windows_line_ends_stay() -> None:
    made = with_value('{\r\n  "a": 1\r\n}\r\n', "pruning.enabled", True, NAMES)
    assert made.count("\n") == made.count("\r\n") == 6


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a": ' + "1" * 5000 + "}", '{"a": NaN}', "{'a': 1}"]
)
def test_what_no_file_should_hold_is_refused_without_a_crash(text: str) -> None:
    with pytest.raises(JsonError) as error:
        read(text)
    assert len(error.value.reason) < 200


def test_lines_are_counted_from_one() -> None:
    text = '{\n "a": 1,\n "compaction": {\n  "enabled": 2}}'
    places = {leaf.name: line_of(text, leaf.member.start) for leaf in leaves(read(text), NAMES)}
    assert places == {"a": 2, "compaction.enabled": 4}

"""Facts: what they are, where they stand, what makes them one, what makes them stale."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.facts import FactKind, ScanCancelled, extract, scan
from explorer.facts.commands import is_command
from explorer.facts.entry_texts import Speaker, texts_of
from explorer.facts.fact_table import scan_text
from explorer.facts.figures import figure
from explorer.facts.identifiers import path_key
from explorer.facts.text import sentences, stem
from explorer.formats.pi.entries import read_entry
from explorer.session.entries import (
    AssistantMessage,
    Entry,
    TextBlock,
    ThinkingBlock,
    ToolResultMessage,
    text_content,
)
from tests.audit.texts import assistant, call, compaction, conversation, result, user


def texts(entries: Sequence[Entry], kind: FactKind) -> list[str]:
    return [fact.text for fact in extract(entries).of(kind)]


def test_places_count_utf16_units_of_their_block() -> None:
    text = "🚀 naïve — see src/app.py, max 5 retries"
    (fact,) = extract([user(text)]).of(FactKind.PATH)
    (span,) = fact.spans
    units = text.encode("utf-16-le")
    assert units[span.start * 2 : span.end * 2].decode("utf-16-le") == "src/app.py"


def test_mentions_of_one_thing_are_one_fact_with_all_its_places() -> None:
    entries = [
        user("look at ./src/App.py"),
        assistant("reading", call("read", path="src/App.py")),
        result("..."),
        assistant("src/App.py is empty"),
    ]
    (fact,) = extract(entries).of(FactKind.PATH)
    assert fact.sources == (0, 1, 3)
    assert [(span.entry, span.block, span.argument) for span in fact.spans] == [
        (0, 0, ""),
        (1, 1, "path"),
        (3, 0, ""),
    ]


def test_a_markdown_link_is_its_words_and_its_target() -> None:
    link = user("see [the renderer](src/cli/image.go:236) and app/[id]/page.tsx")
    assert texts([link], FactKind.PATH) == ["src/cli/image.go", "app/[id]/page.tsx"]


def test_a_piece_of_an_id_that_looks_like_a_power_is_no_figure() -> None:
    assert figure("2238e857") is None
    assert (figure("1.5e3 rows"), figure("2e-3 s")) == (figure("1500 rows"), figure("2 ms"))
    assert not texts([user("chunk 2238e857 of 3")], FactKind.NUMBER)[1:]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,500 rows", "1500 rows"),
        ("1.5k", "1500"),
        ("250 ms", "0.25 s"),
        ("5 retries", "5 retry"),
        ("2 min", "120 seconds"),
        ("70%", "70 percent"),
        ("1 048 576 rows", "1048576 rows"),
    ],
)
def test_figures_that_say_the_same_have_one_key(one: str, other: str) -> None:
    first, second = figure(one), figure(other)
    assert first and second and first.key == second.key


def test_figures_of_different_things_differ() -> None:
    first, second = figure("5 retries"), figure("5 s")
    assert first and second and first.key != second.key


def test_windows_paths_are_paths_and_escapes_are_not() -> None:
    entry = user(r"C:\src\main.cpp and .\run\all.bat, not \n\timport or 0\nwhile or re\n\nwith")
    assert texts([entry], FactKind.PATH) == [r"C:\src\main.cpp", r".\run\all.bat"]
    assert path_key(r"Source\Nav\Grid.cpp:41") == "source/nav/grid.cpp"


@pytest.mark.parametrize(
    ("said", "versions"),
    [
        ("It has to run on python 3.9 and Node 18.", ["3.9", "18"]),
        ("I upgraded from 4.1 to 4.3, and a frame takes 1.5 s.", ["4.1", "4.3"]),
        ("That is for 0.11, not before.", ["0.11"]),
        ("Score 0.8, 3 of 112 rows, Redis 3 nodes, 12.5 ms.", []),
    ],
)
def test_versions_are_told_by_what_stands_before_them(said: str, versions: list[str]) -> None:
    assert texts([user(said)], FactKind.VERSION) == versions


def test_a_version_that_is_a_number_alone_is_shown_with_its_name() -> None:
    facts = extract([user("It runs on PostgreSQL 15 and python 3.9.")]).of(FactKind.VERSION)
    assert [(one.text, one.title) for one in facts] == [("15", "PostgreSQL 15"), ("3.9", "3.9")]


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ("FAILED (failures=2, errors=1)", True),
        ("web1 : ok=3 changed=1 unreachable=1 failed=0", True),
        ("web1 : ok=3 changed=1 unreachable=0 failed=0", False),
        ("app/main.py:3:8: F401 [*] `os` imported but unused", True),
        ("web-1   0/1   CrashLoopBackOff   5 (20s ago)   3m", True),
        ("nginx: [emerg] unknown directive alow", True),
        ("2 offenses detected", True),
        ("0 offenses detected", False),
        ("If the connection failed, the client retries.", False),
        ("a1b2c3d Fix crash on empty list", False),
        ("✓ handles errors (3 ms)", False),
    ],
)
def test_failures_are_told_by_how_tools_print_them(line: str, tells: bool) -> None:
    assert bool(texts([result(f"start\n{line}\nend")], FactKind.ERROR)) is tells


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("hands off the billing module", FactKind.CONSTRAINT),
        ("whatever you do, the API is public", FactKind.CONSTRAINT),
        ("I'd rather you didn't touch main", FactKind.CONSTRAINT),
        ("the schema stays as it is", FactKind.CONSTRAINT),
        ("comments in English please", FactKind.CONSTRAINT),
        ("no feature flag then", FactKind.DECISION),
        ("sqlite it is", FactKind.DECISION),
        ("settled: 30 days", FactKind.DECISION),
        ("the export can wait", FactKind.DECISION),
        ("any chance to get this faster?", FactKind.REQUEST),
        ("would be nice if the table was sortable", FactKind.REQUEST),
        ("Payments fail for customers from Norway.", FactKind.REQUEST),
        ("that one's for tomorrow", FactKind.TODO),
    ],
)
def test_what_people_lay_down_is_told_by_its_form(said: str, kind: FactKind) -> None:
    assert texts([user(said)], kind) == [said]


@pytest.mark.parametrize(
    ("said", "decides"),
    [
        ("I went with a queue instead of polling.", True),
        ("I'll run the tests now.", False),
        ("I fixed the off-by-one error in the loop.", False),
        ("The race is in the backoff, not in the test.", False),
        ("I could use a queue or a cron job for that.", False),
    ],
)
def test_a_choice_is_no_report_and_no_next_step(said: str, decides: bool) -> None:
    assert bool(texts([assistant(said)], FactKind.DECISION)) is decides


def test_thinking_is_left_out() -> None:
    thinking = ThinkingBlock("never touch src/secret.py, 12 ms")
    assert not len(extract([Entry.of(AssistantMessage((thinking, TextBlock("ok"))))]))


def test_only_the_user_lays_down_rules() -> None:
    rule = "Never touch the lock file."
    assert texts([user(rule)], FactKind.CONSTRAINT) == [rule]
    assert texts([assistant(rule)], FactKind.CONSTRAINT) == []


def test_a_failed_call_tells_its_failure_even_in_words_of_its_own() -> None:
    entries = [assistant("", call("deploy", target="x")), result("nope\n\ncome back", error=True)]
    assert texts(entries, FactKind.ERROR) == ["nope", "come back"]


def test_programs_that_speak_of_errors_are_no_failures() -> None:
    source = 'class LoadError(Exception):\n    raise LoadError("failed to load")\n# error: none\n'
    assert texts([result(source)], FactKind.ERROR) == []


def test_a_limit_that_was_changed_is_stale_and_tells_what_holds() -> None:
    facts = extract(
        [
            user("Use at most 5 retries."),
            assistant("Done: 5 retries."),
            user("Actually, make that 8, not 5."),
        ]
    )
    old, new = facts.of(FactKind.CONSTRAINT)
    assert old.stale and "make that 8" in old.replaced_by
    assert not new.stale


def test_an_old_value_is_told_by_the_first_word_of_a_message_too() -> None:
    old, new = "Use at most 5 retries.", "Use at most 8 retries now."
    for said, is_stale in (("Not 5 retries any more.", True), ("Got 5 retries in the log.", False)):
        facts = extract([user(old), user(new), assistant(said)])
        (number,) = (one for one in facts.of(FactKind.NUMBER) if 2 in one.sources)
        assert [bool(one.stale) for one in facts.of(FactKind.NUMBER)] == [is_stale, False]
        assert number.key == "5 retry"


def test_a_rule_that_was_lifted_is_stale() -> None:
    facts = extract(
        [
            user("Always run the slow integration tests."),
            user("We no longer need to run the slow integration tests."),
        ]
    )
    assert [fact.stale for fact in facts.of(FactKind.CONSTRAINT)] == [True, False]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Don't touch the auth module.", "You may touch the auth module now."),
        ("Uploads up to 5 MB only.", "Forget the 5 MB rule."),
        ("Memory stays under 64 MB.", "The new box has more, so let's say 96 MB."),
        ("The deadline is Friday.", "The deadline moved to Monday."),
    ],
)
def test_what_is_changed_in_other_words_is_stale(old: str, new: str) -> None:
    first = next(iter(extract([user(old), user(new)]).of(FactKind.CONSTRAINT)))
    assert first.text == old and first.stale


def test_limits_of_different_things_leave_each_other_alone() -> None:
    facts = extract(
        [
            user("Use at most 5 retries."),
            user("Uploads must stay under 20 MB."),
            user("Set the timeout to 30 seconds."),
        ]
    )
    assert not any(fact.stale for fact in facts)


def test_what_is_said_again_after_it_was_changed_holds_again() -> None:
    facts = extract(
        [
            user("Use at most 5 retries."),
            user("Make that 8 retries."),
            user("Use at most 5 retries."),
        ]
    )
    first = facts.of(FactKind.CONSTRAINT)[0]
    assert first.sources == (0, 2)
    assert not first.stale


def test_the_latest_request_is_of_the_last_message_that_asks() -> None:
    facts = extract(
        [user("Fix the login test."), assistant("Done."), user("Thanks. Add a changelog entry.")]
    )
    assert facts.request and facts.request.text == "Add a changelog entry."
    facts = extract([user("Fix the login test."), user("why is it slow?")])
    assert facts.request and facts.request.text == "why is it slow?"


def test_an_entry_is_read_and_scanned_once() -> None:
    entries = conversation()
    asked: list[int] = []

    def read(indices: Sequence[int]) -> list[Entry]:
        asked.extend(indices)
        return [entries[index] for index in indices]

    first = scan(range(3), read)
    both = scan(range(len(entries)), read, first)
    assert sorted(asked) == list(range(len(entries)))
    assert len(first) == 3 and len(both) == len(entries)
    assert both.entry(1) is first.entry(1)


def test_a_scan_tells_how_far_it_is_and_stops_when_told() -> None:
    entries = [user(f"see src/file{number}.py") for number in range(700)]
    told: list[tuple[int, int]] = []
    table = scan(
        range(700),
        lambda at: [entries[i] for i in at],
        progress=lambda *of: told.append(of),
    )
    assert told[-1] == (700, 700) and len(told) > 1 and len(table) == 700
    with pytest.raises(ScanCancelled):
        scan(range(700), lambda at: [entries[i] for i in at], cancelled=lambda: True)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"type": "message"},
        {"type": "message", "message": {"role": "user", "content": None}},
        {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall"}]}},
        {"type": "compaction", "summary": 7},
        {"type": "label", "label": "src/app.py"},
    ],
)
def test_entries_without_words_hold_nothing(entry: dict[str, Any]) -> None:
    assert not len(extract([read_entry(entry)]))


WORDS = st.sampled_from(
    [
        *("src/app.py", r"C:\\a\\b.txt", "must", "never", "5 retries", "250 ms", "🚀", "«naïve»"),
        *("`npm test`", "v1.2.3", "https://example.org/a?b=c#d", "4f2a91c0", "MAX_SIZE", "run()"),
        *("Error: no", "TypeError: x", "\n", "\n- [ ] ", "\n```sh\n", "\n```\n", ". ", "? "),
        *("please fix it", "we decided", "TODO:", "(", ")"),
    ]
)


@settings(deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=25).map(" ".join)))
def test_places_lead_to_what_they_name(text: str) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    for fact in extract([user(text)]):
        span = fact.spans[0]
        assert (
            units[span.start * 2 : span.end * 2].decode("utf-16-le", "surrogatepass") == fact.text
        )


def test_the_rules_of_an_earlier_summary_are_those_under_its_heading() -> None:
    summary = (
        "## Goal\nNever mind.\n\n## Constraints & Preferences\nThe rules, word for word:\n"
        "1. Never retry a 409.\n- Half a page at most\n\n## Next Steps\n1. Write the test"
    )
    entries = [compaction(summary)]
    assert texts(entries, FactKind.CONSTRAINT)[-2:] == ["Never retry a 409.", "Half a page at most"]
    assert texts(entries, FactKind.TODO) == ["Write the test"]


@pytest.mark.parametrize(
    ("role", "words"),
    [("fileMention", ["src/app.py\nx = 1"]), ("hookMessage", ["see src/app.py"]), ("odd", [])],
)
def test_words_of_programs_are_read_and_those_of_unknown_roles_are_not(
    role: str, words: list[str]
) -> None:
    content = [{"type": "text", "text": "see src/app.py"}]
    files = [{"path": "src/app.py", "content": "x = 1"}]
    message = {"role": role, "content": content, "files": files}
    entry = read_entry({"type": "message", "message": message})
    assert [one.text for one in texts_of(entry)] == words


def test_words_deep_in_the_arguments_of_a_call_are_read() -> None:
    edits = [{"files": [{"name": "src/app.py"}], "line": 3, "all": True}]
    entry = assistant("", call("patch", edits=edits))
    assert [one.text for one in texts_of(entry)] == ["src/app.py", "3"]


@pytest.mark.parametrize("command", ["./build now", "~/bin/deploy now", "setup.exe /quiet"])
def test_a_program_that_is_named_by_its_file_is_a_command(command: str) -> None:
    assert is_command(command) and not is_command(command.split()[0])


@pytest.mark.parametrize(
    ("said", "commands"),
    [
        ("Auto-connect, kill switch, lifecycle.", []),
        ("Then find all routes.", []),
        ("We make this a hosted product/service.", []),
        ("make *in the demo* a note", []),
        ("Then run make test again.", ["make test"]),
        ("find src -name routes.py", ["find src -name routes.py"]),
    ],
)
def test_an_english_verb_is_no_program(said: str, commands: list[str]) -> None:
    assert texts([user(said)], FactKind.COMMAND) == commands


def test_of_a_script_the_line_that_runs_it_is_the_command() -> None:
    script = "# Get all files\n\n# and their sizes\nwc -c *.json\nls"
    assert texts([assistant("", call("bash", command=script))], FactKind.COMMAND) == [
        "wc -c *.json"
    ]
    assert not texts([assistant("", call("bash", command="# only a note"))], FactKind.COMMAND)


@pytest.mark.parametrize(
    ("above", "is_open"),
    [
        ("Still blocked:", True),
        ("Since all tasks were blocked, I read the files below to see how it is built:", False),
        ("The profiles (in progress by the others):", False),
    ],
)
def test_a_sentence_above_a_list_makes_no_open_work_of_it(above: str, is_open: bool) -> None:
    found = texts([assistant(f"{above}\n- Storage wrappers of the app")], FactKind.TODO)
    assert bool(found) is is_open


def test_what_a_thing_is_for_is_no_open_work() -> None:
    assert not texts([assistant("`listen` is for waiting on state changes.")], FactKind.TODO)
    assert texts([assistant("The test is waiting on state changes.")], FactKind.TODO)


def test_values_written_for_a_program_state_nothing() -> None:
    said = '{"description": "Keep it small. P1, no dependencies.","by": "lead"}'
    assert not texts([user(said)], FactKind.CONSTRAINT)
    assert texts([user("P1, no dependencies.")], FactKind.CONSTRAINT)


def test_what_a_plan_says_of_failures_did_not_happen() -> None:
    shown = text_content("Task #2\nDescription: Handle the timeout (10 s).")
    failures = [
        texts([Entry.of(ToolResultMessage("c", tool, shown))], FactKind.ERROR)
        for tool in ("TaskGet", "Bash")
    ]
    assert failures == [[], ["Description: Handle the timeout (10 s)."]]


@pytest.mark.parametrize(
    ("word", "stem_of_it"),
    [("retries", "retry"), ("stopped", "stop"), ("file", "file"), ("tables", "tabl"),
     ("table", "tabl"), ("it's", "it")],
)  # fmt: skip
def test_a_word_without_its_ending(word: str, stem_of_it: str) -> None:
    assert stem(word) == stem_of_it


def test_list_items_lose_the_marks_that_join_them() -> None:
    assert [one.text for one in sentences("- Use tabs;\n- Run lint,\n", [])] == [
        "Use tabs",
        "Run lint",
    ]


def test_the_collector_goes_through_nothing_that_is_kept_of_an_entry() -> None:
    found = scan_text("Read `src/queue.py` and keep 3 retries, please.", Speaker.USER)
    assert found.items and found.mentions and found.words
    gc.collect()
    assert not any(map(gc.is_tracked, (found, found.items, found.mentions, found.words)))

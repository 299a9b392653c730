"""Findings of a summary against what it took the place of (D)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Carriage, Fidelity, Finding, Group
from explorer.audit.stated_wrongly import EntryMentions
from explorer.audit.words import (
    NOTHING_FOUND,
    finding_words,
    headline,
    none_sentence,
    not_carried_words,
    standing_lines,
    standing_words,
)
from explorer.compaction.summary import SECTION_SETS
from explorer.facts import FactKind, scan
from explorer.facts.summary_notes import NOT_FOLLOWED
from explorer.session.entries import Entry, all_texts
from tests.audit.texts import assistant, call, compaction, conversation, result, user
from tests.facts.test_fact_table import WORDS


def judge(
    summary: str | Sequence[str],
    entries: Sequence[Entry],
    *,
    kept: Sequence[Entry] = (),
    **more: Any,
) -> Fidelity:
    everything = [*entries, *kept]
    table = scan(range(len(everything)), lambda at: [everything[index] for index in at])
    first = len(entries)
    return fidelity(summary, range(first), range(first, len(everything)), table, **more)


def texts(found: Fidelity, group: Group) -> list[str]:
    return [one.text for one in found.of(group)]


def missing(summary: str, *said: str, kept: Sequence[Entry] = ()) -> list[str]:
    """The standing instructions that a summary of these messages lacks."""
    return texts(judge(summary, [user(text) for text in said], kept=kept), Group.INSTRUCTION)


def wrong(summary: str, *said: str) -> list[tuple[str, str]]:
    """What the record has and what the summary says instead."""
    found = judge(summary, [user(text) for text in said]).of(Group.WRONG)
    return [(one.fact.text, one.stated) for one in found]


def shown(finding: Finding, summary: str) -> str:
    (place,) = finding.places
    return summary.encode("utf-16-le")[place.start * 2 : place.end * 2].decode("utf-16-le")


CARRIED = {
    "Do NOT change what handlers RETURN.": {
        "Do not change what handlers return": "found",
        "`a.py` returns `int` / route handlers expect a list.": "not-clear",
        "Change what handlers return": "wrong",
        "The importer, exporter, mailer and biller change what handlers return": "not-clear",
        "The build is green.": "missing",
    },
    "Never use globals in this project.": {
        "No globals in the project": "found",
        "No loop over the widgets of the project reads globals twice while painting": "not-clear",
    },
    "Always put composition above inheritance.": {
        "Put composition above inheritance": "found",
        "Put inheritance above composition": "not-clear",
    },
    "Log lines must always be JSON.": {
        "Log lines are JSON": "found",
        "Log lines: JSON no": "not-clear",
    },
    "Always build the metricts from the output files.": {
        "Build metrics from the output files": "found",
    },
    "Never work outside /home/x/shop/backend/src/.": {
        "No work outside `backend/src/`": "found",
        "Work outside goes on in `backend/src/`": "not-clear",
        "No work outside `frontend/src/`": "not-clear",
    },
    "All user-facing strings must go via AppLocalizations.": {
        "User-facing strings go via AppLocalizations": "found",
        "User-facing strings go via ARB keys": "not-clear",
        "Added user-facing strings that go via AppLocalizations": "not-clear",
    },
    "Always use AnimDurations tokens from tokens.dart.": {
        "AnimDurations tokens come from `lib/tokens.dart`": "found",
        "AnimDurations tokens: fast=150ms, slow=500ms": "not-clear",
    },
    "Always set a fixed value on any CircularProgressIndicator, please.": {
        "Fetch button with loading state (CircularProgressIndicator), save button": "missing",
    },
    "Never use more than 5 workers per queue.": {
        "Never more than 5 workers per queue": "found",
        "Never use more workers per queue than the machine has": "not-clear",
    },
    "Always wrap widget tests in `ProviderScope(overrides: [...])`.": {
        "Widget tests: `ProviderScope(overrides: [...])` wrapping": "found",
        "Widget tests: `ProviderScope(overrides: [...])`\n- Wrapping": "not-clear",
    },
    'From me, officially: rule 2 is now "At most 5 attempts per push".': {
        "At most 5 attempts per push": "found",
    },
}


@pytest.mark.parametrize(
    ("said", "told", "carriage"),
    [(said, told, carriage) for said, tellings in CARRIED.items()
     for told, carriage in tellings.items()],
)  # fmt: skip
def test_an_instruction_is_found_only_where_a_line_says_it(
    said: str, told: str, carriage: str
) -> None:
    (one,) = judge(f"## Notes\n- {told}", [user(said)]).standing
    assert one.carriage == carriage
    if carriage == "found":
        assert one.line and one.line in told


def test_what_is_not_clear_does_not_count_as_found() -> None:
    said = [user("Do NOT change what handlers RETURN."), user("Never touch backend/tests/.")]
    told = "- Route handlers return a list.\n- Never touch backend/tests/"
    found = judge(told, said)
    assert headline(found) == (
        "1 of 2 standing instructions found in the summary or the kept tail; 1 not clear"
    )
    assert standing_lines(found)[1] == (
        "#1 “Never touch backend/tests/.”: found in “Never touch backend/tests/”"
    )
    unclear = judge(told, said[:1])
    assert headline(unclear) == "1 of 1 standing instruction not clear"
    assert "instruction" not in none_sentence(unclear), "it may be missing after all"
    assert headline(Fidelity(instructions=2)).startswith("Both standing instructions found in")
    (kept,) = judge("## Goal\nFix it.", [user("Fix it.")], kept=said[1:]).standing
    assert kept.carriage is Carriage.KEPT


# standing instructions ----------------------------------------------------------------------------

NEVER = "Never write to the production database."


def test_what_the_summarizer_says_that_it_did_not_follow_is_not_stated() -> None:
    echo = f"## Notes\n- {NOT_FOLLOWED}: “{NEVER}”"
    assert missing(echo, NEVER) == [NEVER]
    assert missing(f"## Notes\n- {NEVER}", NEVER) == []


@pytest.mark.parametrize(
    ("summary", "is_missing"),
    [
        ("## Goal\nFix it.", True),
        (f"## Constraints\n- {NEVER}", False),
        ("- the production database is not written to", False),
        ("- Only staging is written\n- production is read-only, as a database", False),
        ("The database is fast.", True),
    ],
)  # fmt: skip
def test_an_instruction_is_missing_where_nothing_may_be_a_rewording(
    summary: str, is_missing: bool
) -> None:
    assert missing(summary, f"Fix the importer. {NEVER}") == ([NEVER] if is_missing else [])


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("I don't like semicolons.", "- Style: no semi-colons"),
        ("i dont like emojis", '- All messages: "too long + i dont like emojis"'),
        ("Too many words in the error text.", "- Error texts are to be short"),
        ("I only want browser tests for the shop.", "User prefers browser tests only."),
        ("You don't have access to the cluster.", "The agent has no access to the cluster"),
        ("Show me your ideas before you change anything.", "Propose options before any edits"),
        ("Follow STYLE.md.", "- STYLE.md holds"),
    ],
)  # fmt: skip
def test_a_preference_in_other_words_is_not_missing(said: str, summary: str) -> None:
    assert not missing(summary, said)
    assert missing("The build is green.", said) == [said]


def test_what_the_kept_tail_says_is_not_missing() -> None:
    tail = [assistant("As you said, I never write to the production database.")]
    assert not missing("Nothing.", NEVER, kept=tail)
    assert missing("Nothing.", NEVER, kept=[assistant("Done.")]) == [NEVER]


def test_an_instruction_is_one_however_often_it_was_given_and_leads_to_its_entries() -> None:
    found = judge("Nothing.", [user(NEVER), assistant("Done."), user(f"Again: {NEVER.lower()}")])
    (one,) = found.of(Group.INSTRUCTION)
    assert one.fact.sources == (0, 2) and found.instructions == 1
    assert headline(found).startswith("1 of 1 standing instruction not found in the summary")
    assert one.reason == "Not found in the summary or the kept tail; given 2 times."
    assert finding_words(one) == (
        "Instructions missing, #2: Again: never write to the production database. " + one.reason
    )


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("The database of production is slow.", "The database of production is slow"),
        ("production database " + "x " * 80, "production database " + "x " * 69 + "x…"),
    ],
)
def test_the_line_that_says_a_part_of_an_instruction_is_quoted(line: str, quoted: str) -> None:
    said = "Never copy raw tables from production database backups."
    (one,) = judge(line, [user(said)]).of(Group.INSTRUCTION)
    assert one.reason == (
        f"Not found in the summary or the kept tail; the nearest line of the summary: “{quoted}”."
    )


def test_the_newer_instruction_counts() -> None:
    said = ("Use at most 5 retries for uploads.", "Actually, make that 8 retries for uploads.")
    assert missing("Nothing.", *said) == [said[1]]
    assert not missing("- At most 8 retries for uploads (it was 5)", *said)
    (stale,) = wrong("## Constraints\n- Use at most 5 retries for uploads", *said)
    assert stale[0] == said[0]


def test_an_instruction_of_an_earlier_compaction_still_holds() -> None:
    entries = [user(NEVER), compaction("## Goal\nFix it."), user("Go on.")]
    table = scan(range(3), lambda at: [entries[index] for index in at])
    found = fidelity("## Goal\nFix it.", [1, 2], [], table, earlier=[0])
    assert texts(found, Group.INSTRUCTION) == [NEVER]


def test_a_part_that_is_there_is_quoted() -> None:
    found = judge("- A 409 is a conflict and is not retried", [user("Never retry a 409, whatever "
                  "the header of the hub says.")])  # fmt: skip
    (one,) = found.of(Group.INSTRUCTION)
    assert "A 409 is a conflict" in one.reason


# open state ---------------------------------------------------------------------------------------


def test_the_latest_request_is_missing_only_where_its_turn_was_cut() -> None:
    asked = user("Write the changelog of the importer in German.")
    running = [asked, assistant("I look.", call("read", path="a.md")), result("old")]
    found = judge("The login test was fixed.", running)
    assert texts(found, Group.STATE) == ["Write the changelog of the importer in German."]
    assert not judge("Asked for: the changelog of the importer, in German.", running).of(
        Group.STATE
    )
    assert not judge("Nothing.", [*running, assistant("It is written.")]).of(Group.STATE)
    assert not judge("Nothing.", running, kept=[user("Stop.")]).of(Group.STATE)


def test_the_last_failure_is_missing_until_something_succeeds() -> None:
    failed = [
        assistant("", call("bash", command="make")),
        result("make: ValueError: row 17 has no price", error=True),
    ]
    (one,) = judge("It is being built.", failed).of(Group.STATE)
    assert "row 17" in one.text and one.fact.last == 1
    assert not judge("ValueError: row 17 has no price", failed).of(Group.STATE)
    solved = [*failed, assistant("", call("bash", command="make")), result("built")]
    assert not judge("It is being built.", solved).of(Group.STATE)


def test_a_failure_is_told_by_its_file_in_other_words() -> None:
    output = "Exit code 3\nChecking ...\n  error - src/tide/add_port.dart:17:13 - Not a class."
    failed = [assistant("", call("bash", command="check src")), result(output, error=True)]
    assert not judge("The check found 27 errors in `add_port.dart`.", failed).of(Group.STATE)
    (one,) = judge("Wrote `add_port.dart`.", failed).of(Group.STATE)
    assert one.fact.last == 1


def test_what_was_changed_long_before_the_last_changes_is_not_open() -> None:
    entries = [user("Build it."), *(assistant(f"Step {at}.") for at in range(9)), user("And?")]
    changed = {f"src/part_{at}.py": [at] for at in range(1, 10)}
    named = ", ".join(list(changed)[1:])

    def found(summary: str, files: dict[str, list[int]]) -> list[str]:
        return [one.text for one in judge(summary, entries, changed=files).of(Group.STATE)]

    assert found(f"Edited {named}.", changed) == []
    assert found("Edited src/part_1.py.", {**changed, "src/part_2.py": [9]})[0].count("part_2") == 1
    assert found("Nothing.", {"src/kept.py": [11]}) == [], "it was not summarized"
    assert found("Made a package.", {"src/one/__init__.py": [3]}) == []


def test_changed_files_that_nothing_names_are_one_finding() -> None:
    entries = [assistant("", call("edit", path=f"src/{name}.py")) for name in "abc"]
    changed = {"src/a.py": [0], "src/b.py": [1], "src/c_d.py": [2], "/tmp/x.py": [2],
               "REDACTED.ts": [2]}  # fmt: skip
    (one,) = judge("Edited b.py.", entries, changed=changed).of(Group.STATE)
    assert "src/a.py" in one.text and "src/c_d.py" in one.text and "src/b.py" not in one.text
    assert "/tmp" not in one.text and "REDACTED" not in one.text and one.fact.sources == (0, 2)
    assert not judge("Edited `a.py`, b.py and src/c_d.py.", entries, changed=changed).of(
        Group.STATE
    )


def test_a_next_step_that_nothing_followed_is_missing() -> None:
    entries = [user("Fix it."), assistant("Fixed. Next: add a test for the empty file.")]
    (one,) = judge("It is fixed.", entries).of(Group.STATE)
    assert "empty file" in one.text
    assert not judge("Next: a test for the empty file.", entries).of(Group.STATE)
    assert not judge("It is fixed.", [*entries, user("Thanks.")]).of(Group.STATE)


def test_an_instruction_is_quoted_with_the_question_that_it_answers() -> None:
    asked = user("Stop. What does @PYTHON.md say? You're supposed to follow that.")
    found = judge("Go on.", [asked, user("Never touch the parser by hand.")])
    assert standing_words(found) == (
        "Given: “What does @PYTHON.md say? You're supposed to follow that.” at #0, "
        "“Never touch the parser by hand.” at #1."
    )


def test_of_commands_those_that_are_whole_are_listed() -> None:
    scripts = (
        'source venv && python -c "\nimport a\n"',
        "git commit -m \"$(cat <<'EOF'\nA.\nEOF\n)\"",
    )
    ran = [assistant("", call("bash", command=one)) for one in (*scripts, "git log --oneline -5")]
    said = user("Look at the aws list and the mypy settings, then run pytest -q tests/unit.")
    found = judge("Nothing.", [said, *ran]).not_carried[FactKind.COMMAND]
    assert sorted(fact.text for fact in found) == ["git log --oneline -5", "pytest -q tests/unit"]


# stated wrongly -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("Take a budget of 45 s for the whole call.", "A budget of 54 s for the whole call."),
        ("The factor of the budget stays 2.0.", "- The factor of the budget stays 3.0"),
        ("Never wait longer than 30 s for the header.", "Waits for the header, never over 300 s."),
        ("Main loses 8 of 41 wakes.", "Read: main loses 11 of 41 wakes."),
        ("60 of 60 on my laptop.", "59 of 60 full runs"),
        ("No test sleeps for longer than 50 ms.", "- Tests may sleep as long as they like"),
        ("No new dependencies.", "- New dependencies are fine"),
        ("Never commit generated files by hand.", "- Commit generated files by hand"),
        ("Fix src/load/orders.py", "Edited src/store/orders.py."),
        ("Fix src/load/orders.py", "Edited src/load/order.py."),
        ("It is at commit 4f2a91c0d3.", "It is at commit 4f2a91c0e4."),
    ],
)  # fmt: skip
def test_what_the_record_contradicts_is_reported_with_its_source(said: str, summary: str) -> None:
    found = judge(summary, [user(said)])
    (one,) = found.of(Group.WRONG)
    assert one.fact.sources == (0,) and shown(one, summary) in one.stated + summary
    assert not found.of(Group.INSTRUCTION), "what is turned round is not missing besides"
    assert not wrong(said, said)


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        # rounded, counted anew, a complement, another thing, nothing of the kind
        ("The epoch of the training took 412.7 s.", "One epoch of the training took 413 s."),
        ("Main loses 8 of 41 wakes.", "33 of 41 wakes are right."),
        ("Change the upload worker timeout to 971 seconds.", "The login timeout is 775 seconds."),
        ("Fix src/a/login.py", "Edited src/b/cart.py, 3 files in all."),
        ("See src/tools/readme.md", "Wrote docs/readme.md."),
        ("Fix src/load/orders_git.py", "Edited src/load/orders.py."),
        ("See /home/ada/tmp/0f3a/run-09.json", "Read `/home/ada/.../run-09.json`."),
        ("Never push to main.", "Pushing to develop is fine."),
        ("No new dependencies.", "No new dependencies were added, tests are fine."),
    ],
)  # fmt: skip
def test_what_the_record_does_not_speak_of_is_not_reported(said: str, summary: str) -> None:
    assert not wrong(summary, said)


def test_both_figures_of_the_record_may_be_stated() -> None:
    said = ("Change the upload worker timeout to 971 seconds.",
            "Change the login worker timeout to 775 seconds.")  # fmt: skip
    assert not wrong("- Change login worker timeout to 775 seconds", *said)


def test_a_total_is_no_other_figure_for_one_of_its_parts() -> None:
    said = "All 54 tests of the harbour pass with zero failures and zero skipped."
    summary = "- Harbour: 54 tests\n- Tides: 46 tests\n= 100 tests total, all pass, zero skipped"
    assert not wrong(summary, said)
    assert wrong("= 100 tests of the harbour, all pass, zero failures, zero skipped", said)


def test_a_newer_value_counts_whatever_stands_beside_it() -> None:
    old = "The analysis of the full project showed 36 issues, all errors of the harbour."
    summary = "The analysis of the full project shows 30 issues, all errors of the harbour."
    assert wrong(summary, old)
    newer = [user(old), assistant("", call("bash", command="check")), result("30 issues found.")]
    assert not judge(summary, newer).of(Group.WRONG)


def test_what_only_an_output_or_a_call_says_is_known() -> None:
    entries = [
        assistant("", call("write", path="src/a.py", content="LIMIT = 4711\nsee src/hidden/b.py")),
        result("listening on 10.0.0.7:8443, build 9f3c2d1e"),
    ]
    summary = "src/hidden/b.py has 4711; 10.0.0.7:8443 answers; build 9f3c2d1e."
    assert not judge(summary, entries).of(Group.WRONG)


def test_places_lead_into_the_right_part_in_utf16_units() -> None:
    parts = ["🚀 first", "second 🚀: src/b/orders.py"]
    (one,) = judge(parts, [user("see src/a/orders.py")]).of(Group.WRONG)
    (place,) = one.places
    raw = parts[place.part].encode("utf-16-le")
    assert raw[place.start * 2 : place.end * 2].decode("utf-16-le") == "src/b/orders.py"


# what else is not carried -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "summary", "is_carried"),
    [
        ("see src/load/orders.py", "Works on ./src/load/Orders.py.", True),
        ("see src/load/orders.py", "Works on `orders.py`.", True),
        ("see src/load/orders.py", "Works on reorders.py.", False),
        ("it holds 1,500 rows", "It holds 1.5k rows.", True),
        ("it holds 1,500 rows", "It holds 11,500 rows.", False),
        ("takes 250 ms", "Takes 0.25 seconds.", True),
        ("takes 250 ms", "Takes 1,250 ms.", False),
        ("at commit 4f2a91c0d3", "Commit 4f2a91c is in.", True),
        ("run `npm run build -- --prod`", "Run “npm  run build -- --prod”.", True),
        ("see https://a.example/x", "See https://a.example/y.", False),
    ],
)
def test_an_exact_thing_may_be_spelled_otherwise(said: str, summary: str, is_carried: bool) -> None:
    assert bool(judge(summary, [user(said)]).not_carried) is not is_carried


def test_a_file_name_that_two_paths_share_is_neither() -> None:
    found = judge("Works on orders.py.", [user("see a/orders.py and b/orders.py")])
    assert len(found.not_carried[FactKind.PATH]) == 2
    assert not_carried_words(found) == "Not in these words: 2 paths"


def test_of_many_kinds_the_line_names_three_and_counts_the_rest() -> None:
    said = "see a/orders.py, https://a.example/x, at commit 4f2a91c0d3, run `npm run build`, 250 ms"
    found = judge("Works on it.", [user(said)])
    assert len(found.not_carried) > 3
    words = not_carried_words(found)
    rest = [len(facts) for facts in list(found.not_carried.values())[3:]]
    assert words.count(",") == 3 and words.endswith(f", {sum(rest)} more")


FILE = "/home/me/app/src/load/orders.py"


@pytest.mark.parametrize(
    ("summary", "is_carried"),
    [
        ("Changed orders.py.", True),
        ("Changed load/orders.py.", True),
        ("Changed app/src/load/orders.py.", True),
        ("Changed src/save/orders.py.", False),
        ("Changed reorders.py.", False),
        ("Changed orders.pyi.", False),
    ],
)
def test_a_file_is_named_by_the_end_of_its_path(summary: str, is_carried: bool) -> None:
    # The three are one file: each is the end of the next.
    said = user(f"See src/load/orders.py, that is app/src/load/orders.py, or {FILE}.")
    for found in (judge(summary, [said]), judge("", [said], kept=[assistant(summary)])):
        assert (FactKind.PATH not in found.not_carried) is is_carried


def test_strings_count_in_no_finding() -> None:
    found = judge("Nothing.", [user("see src/a.py"), assistant("src/b.py failed: E1234")])
    assert found.not_carried and not found.findings
    assert not judge("x", [user("see src/a.py")], cancelled=lambda: True).not_carried


MESSAGES = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


@settings(deadline=None)
@given(MESSAGES)
def test_a_whole_session_as_its_summary_has_no_finding(text: str) -> None:
    entries = [*conversation(), user(text)]
    told = "\n\n".join(text for entry in entries for text in all_texts(entry) if text)
    found = judge(told, entries)
    assert not found.of(Group.INSTRUCTION) and not found.of(Group.STATE) and not found.not_carried


@settings(deadline=None)
@given(MESSAGES, MESSAGES, MESSAGES)
def test_more_text_never_takes_away_what_was_there(source: str, summary: str, more: str) -> None:
    entries = [user(source)]
    before, after = judge(summary, entries), judge(f"{summary}\n\n{more}", entries)
    missing = {one.key for one in before.of(Group.INSTRUCTION)}
    assert {one.key for one in after.of(Group.INSTRUCTION)} <= missing | {
        one.key for one in before.of(Group.WRONG)
    }


# the rest -----------------------------------------------------------------------------------------


def test_sections_are_those_of_the_form() -> None:
    form = SECTION_SETS["pi"]["history"]
    found = judge("## Goal\nx\n## Progress\ny\n## Progress\nz", [user("go")], form=form)
    assert [(one.name, one.count) for one in found.sections][:3] == [
        ("Goal", 1),
        ("Constraints", 0),
        ("Progress", 2),
    ]


def test_an_updated_summary_is_a_source_too() -> None:
    entries = [compaction("## Goal\nBuild it.\n\nEdited src/old/x.py"), user("go on")]
    assert not judge("Edited src/old/x.py.", entries).findings


def test_tokens_and_ratio() -> None:
    found = judge("a" * 400, [user("b")], tokens_before=1000)
    assert (found.tokens_before, found.tokens_after, found.ratio) == (1000, 100, 0.1)


def test_an_empty_range_is_judged_too() -> None:
    found = judge("", [])
    assert found.instructions == 0
    assert not found.findings and headline(found) == NOTHING_FOUND


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

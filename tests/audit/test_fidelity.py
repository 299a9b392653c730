"""Fates, slips and inventions of summaries against what they took the place of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.audit.fidelity import fidelity
from explorer.audit.file_evidence import changed_by_command
from explorer.audit.findings import STATED_WRONGLY, SURVIVED, Fate, Fidelity, Finding
from explorer.compaction.validation import SECTION_SETS
from explorer.facts import FactKind, scan
from explorer.session.entries import Entry, all_texts
from tests.audit.texts import assistant, call, compaction, conversation, result, user
from tests.facts.test_fact_table import WORDS

_NEAR = Fate.NORMALIZED


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


def fate_of(found: Fidelity, text: str) -> Fate:
    (one,) = [
        one for one in found.findings if one.fact.text == text and one.fate not in STATED_WRONGLY
    ]
    return one.fate


def wrong(found: Fidelity) -> list[tuple[Fate, FactKind, str]]:
    return [(one.fate, one.fact.kind, one.fact.text) for one in found.of(*STATED_WRONGLY)]


def shown(finding: Finding, summary: str) -> str:
    (place,) = finding.places
    return summary.encode("utf-16-le")[place.start * 2 : place.end * 2].decode("utf-16-le")


@pytest.mark.parametrize(
    ("said", "summary", "fate"),
    [
        ("see src/load/orders.py", "Works on src/load/orders.py.", Fate.EXACT),
        ("see src/load/orders.py", "Works on ./src/load/Orders.py.", Fate.NORMALIZED),
        ("see src/load/orders.py", "Works on `orders.py`.", Fate.NORMALIZED),
        ("see src/load/orders.py", "Works on the importer.", Fate.LOST),
        ("see src/load/orders.py", "Works on reorders.py.", Fate.LOST),
        ("it holds 1,500 rows", "It holds 1500 rows.", Fate.NORMALIZED),
        ("it holds 1,500 rows", "It holds 1.5k rows.", Fate.NORMALIZED),
        ("it holds 1,500 rows", "It holds 11,500 rows.", Fate.LOST),
        ("takes 250 ms", "Takes 0.25 seconds.", Fate.NORMALIZED),
        ("takes 250 ms", "Takes 1,250 ms.", Fate.LOST),
        ("at commit 4f2a91c0d3", "Commit 4f2a91c is in.", Fate.NORMALIZED),
        ("run `npm run build -- --prod`", "Run “npm  run build -- --prod”.", Fate.NORMALIZED),
        ("see https://a.example/x", "See https://a.example/x.", Fate.EXACT),
        ("see https://a.example/x", "See https://a.example/y.", Fate.LOST),
        ("Never push to main.", "- never push to main", Fate.NORMALIZED),
        ("Never push directly to main.", "- The user never pushes directly to main", _NEAR),
        ("Never push directly to main.", "- Push directly to main", Fate.LOST),
    ],
)  # fmt: skip
def test_fates_by_how_the_summary_spells_it(said: str, summary: str, fate: Fate) -> None:
    found = judge(summary, [user(said)])
    assert found.findings[0].fate is fate


def test_a_file_name_that_two_paths_share_is_neither() -> None:
    found = judge("Works on orders.py.", [user("see a/orders.py and b/orders.py")])
    assert [one.fate for one in found.findings] == [Fate.LOST, Fate.LOST]


def test_what_the_tail_says_is_kept() -> None:
    found = judge("Nothing.", [user("see src/a.py")], kept=[assistant("src/a.py is done")])
    assert fate_of(found, "src/a.py") is Fate.KEPT


def test_a_breadcrumb_makes_what_is_lost_recoverable() -> None:
    summary = "The transcript is at /tmp/full.txt."
    assert judge(summary, [user("see src/a.py")]).findings[0].fate is Fate.LOST
    found = judge(summary, [user("see src/a.py")], transcript="/tmp/full.txt")
    assert found.findings[0].fate is Fate.RECOVERABLE
    assert found.survival == 0


def test_places_lead_into_the_right_part_in_utf16_units() -> None:
    parts = ["🚀 first", "second 🚀: src/a.py"]
    finding = judge(parts, [user("see src/a.py")]).findings[0]
    (place,) = finding.places
    assert place.part == 1
    assert (
        parts[1].encode("utf-16-le")[place.start * 2 : place.end * 2].decode("utf-16-le")
        == "src/a.py"
    )


def test_a_path_nobody_named_is_invented() -> None:
    found = judge("Edited src/b/cart.py.", [user("Fix src/a/login.py")])
    assert wrong(found) == [(Fate.INVENTED, FactKind.PATH, "src/b/cart.py")]


def test_a_path_in_another_folder_is_mutated_and_leads_to_its_source() -> None:
    summary = "Edited src/store/orders.py."
    found = judge(summary, [user("Fix src/load/orders.py")])
    (one,) = found.of(Fate.MUTATED)
    assert one.source and one.source.text == "src/load/orders.py"
    assert one.fact.sources == (0,) and one.fact.spans[0].entry == 0
    assert shown(one, summary) == "src/store/orders.py"


def test_a_figure_that_changed_is_mutated() -> None:
    summary = "The upload timeout of the worker is 45 s."
    found = judge(summary, [user("The upload timeout of the worker is 30 s.")])
    (one,) = found.of(Fate.MUTATED)
    assert one.fact.kind is FactKind.NUMBER and one.source and one.source.text == "30 s"


def test_figures_that_were_rounded_or_counted_are_not_invented() -> None:
    entries = [result("epoch took 412.7s, 21840332 kbytes"), user("go on")]
    assert not wrong(judge("One epoch took 413 s; 3 files were changed.", entries))


def test_what_only_an_output_or_a_call_says_is_not_invented() -> None:
    entries = [
        assistant("", call("write", path="src/a.py", content="LIMIT = 4711\nsee src/hidden/b.py")),
        result("listening on 10.0.0.7:8443, build 9f3c2d1e"),
    ]
    summary = "src/hidden/b.py has 4711; 10.0.0.7:8443 answers; build 9f3c2d1e."
    assert not wrong(judge(summary, entries))


def test_a_rule_that_lost_its_never_is_mutated() -> None:
    summary = "## Constraints\n- Commit generated files by hand"
    found = judge(summary, [user("Never commit generated files by hand.")])
    (one,) = found.of(Fate.MUTATED)
    assert one.fact.kind is FactKind.CONSTRAINT and one.source
    assert one.source.text == "Never commit generated files by hand."
    assert fate_of(found, "Never commit generated files by hand.") is Fate.LOST


def test_a_rule_that_nobody_laid_down_is_invented() -> None:
    summary = "## Constraints & Preferences\n- All endpoints require OAuth tokens from Keycloak"
    found = judge(summary, [user("Fix the login page. Never push to main.")])
    assert [one.fate for one in found.findings if one.fact.text.startswith("All")] == [
        Fate.INVENTED
    ]


def test_a_stale_limit_stated_as_current_is_told_and_need_not_survive() -> None:
    entries = [
        user("Use at most 5 retries for uploads."),
        assistant("Done."),
        user("Actually, make that 8 retries for uploads."),
    ]
    stale = judge("## Constraints\n- Use at most 5 retries for uploads", entries)
    (one,) = stale.of(Fate.STALE)
    assert one.source and one.source.sources == (0,) and "8 retries" in one.note
    right = judge("## Constraints\n- At most 8 retries for uploads (it was 5)", entries)
    assert not right.of(Fate.STALE)
    assert right.row(FactKind.NUMBER).rate == 1


def test_stale_facts_are_not_counted() -> None:
    entries = [user("Use at most 5 retries."), user("Make that 8 retries.")]
    assert judge("", entries).row(FactKind.NUMBER).total == 1


def test_files_are_held_against_the_calls() -> None:
    found = judge(
        "<modified-files>\nsrc/a.py\n</modified-files>",
        [
            assistant("", call("edit", path="src/a.py")),
            assistant("", call("edit", path="src/b.py")),
        ],
        changed={"src/a.py": [0], "src/b.py": [1]},
        stated_changed=["src/a.py", "src/ghost.py"],
    )
    assert [(one.path, one.called, bool(one.places), one.right) for one in found.files] == [
        ("src/a.py", (0,), True, True),
        ("src/b.py", (1,), False, False),
        ("src/ghost.py", (), False, False),
    ]


def test_a_command_that_writes_a_file_has_changed_it() -> None:
    entries = [
        assistant("", call("bash", command="sed -i 's/1/2/' src/a.py && cat src/b.py")),
        assistant("", call("bash", command="echo done > notes/c.txt")),
    ]
    found = judge("", entries, stated_changed=["src/a.py", "src/b.py", "notes/c.txt"])
    assert {one.path: one.called for one in found.files} == {
        "src/a.py": (0,), "src/b.py": (), "notes/c.txt": (1,),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("rm -rf src/a.py", True),
        ("cp x.py src/a.py", True),
        ("cat x | tee src/a.py", True),
        ("make >src/a.py", True),
        ("git checkout -- src/a.py", True),
        ("cat src/a.py", False),
        ("pytest src/a.py | tee log", False),
        ("sed -n 1,5p src/a.py; rm b.py", False),
        ("rm src/aa.py", False),
    ],
)
def test_commands_that_change_a_file(command: str, changes: bool) -> None:
    assert changed_by_command("src/a.py", command) == changes


def test_sections_are_those_of_the_form() -> None:
    form = SECTION_SETS["pi"]["history"]
    found = judge("## Goal\nx\n## Progress\ny\n## Progress\nz", [user("go")], form=form)
    assert [(one.name, one.count) for one in found.sections][:3] == [
        ("Goal", 1),
        ("Constraints", 0),
        ("Progress", 2),
    ]


def test_the_latest_request_is_looked_for_in_summary_and_tail() -> None:
    entries = [
        user("Fix the flaky login test."),
        assistant("Done."),
        user("Now write the changelog."),
    ]
    lost = judge("The login test was fixed.", entries).request
    assert lost and lost.fate is Fate.LOST and lost.overlap < 1
    there = judge("The user asks: now write the changelog.", entries).request
    assert there and there.fate in SURVIVED and there.overlap == 1
    kept = judge("The login test was fixed.", entries[:2], kept=entries[2:]).request
    assert kept and kept.fate is Fate.KEPT


def test_recency_tells_where_the_loss_is() -> None:
    entries = [user(f"see src/part{number}/file{number}.py") for number in range(10)]
    summary = " ".join(f"src/part{number}/file{number}.py" for number in range(5, 10))
    bands = judge(summary, entries, bands=2).recency
    assert [(band.first, band.last, band.total, band.survived) for band in bands] == [
        (0, 4, 5, 0),
        (5, 9, 5, 5),
    ]


def test_an_updated_summary_is_a_source_too() -> None:
    entries = [compaction("## Goal\nBuild it.\n\nEdited src/old/x.py"), user("go on")]
    assert not wrong(judge("Edited src/old/x.py.", entries))


def test_tokens_and_ratio() -> None:
    found = judge("a" * 400, [user("b")], tokens_before=1000)
    assert (found.tokens_before, found.tokens_after, found.ratio) == (1000, 100, 0.1)


def test_a_cancelled_judgement_ends_early() -> None:
    assert not judge("x", [user("see src/a.py")], cancelled=lambda: True).of(*SURVIVED, Fate.LOST)


def test_an_empty_range_is_judged_too() -> None:
    found = judge("", [])
    assert not found.findings and found.survival == 1 and found.request is None


MESSAGES = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


@settings(deadline=None)
@given(MESSAGES)
def test_a_summary_equal_to_its_source_loses_nothing(text: str) -> None:
    found = judge(text, [user(text)])
    assert not [one for one in found.findings if one.fate is not Fate.EXACT]


@settings(deadline=None)
@given(MESSAGES)
def test_a_whole_session_as_its_summary_loses_nothing(text: str) -> None:
    entries = [*conversation(), user(text)]
    told = "\n\n".join(text for entry in entries for text in all_texts(entry) if text)
    found = judge(told, entries)
    assert not found.of(Fate.LOST, Fate.RECOVERABLE)


@settings(deadline=None)
@given(MESSAGES, MESSAGES, MESSAGES)
def test_more_text_never_loses_what_was_there(source: str, summary: str, more: str) -> None:
    entries = [user(source)]
    before = judge(summary, entries)
    after = judge(f"{summary}\n\n{more}", entries)
    fates = {
        (one.fact.kind, one.fact.key): one.fate
        for one in after.findings
        if one.fate not in STATED_WRONGLY
    }
    for one in before.of(Fate.EXACT):
        assert fates[one.fact.kind, one.fact.key] is Fate.EXACT


@settings(deadline=None)
@given(MESSAGES, MESSAGES, MESSAGES)
def test_every_fact_has_one_fate(source: str, tail: str, summary: str) -> None:
    entries = [user(source)]
    table = scan(range(1), lambda at: [entries[index] for index in at])
    found = judge(summary, entries, kept=[user(tail)])
    fates = [one for one in found.findings if one.fate not in STATED_WRONGLY]
    keys = [(one.fact.kind, one.fact.key) for one in fates]
    assert len(set(keys)) == len(keys)
    assert set(keys) == {(fact.kind, fact.key) for fact in table.facts(range(1))}
    assert sum(found.counts.values()) == len(found.findings)


def test_a_rule_of_one_thing_is_no_slip_of_the_rule_of_another() -> None:
    entries = [
        user("Change the upload worker timeout to 971 seconds."),
        user("Change the login worker timeout to 775 seconds."),
    ]
    assert not wrong(judge("## Constraints\n- Change login worker timeout to 775 seconds", entries))

"""Lessons without a window: files checked, places found, answers, predictions, bundles."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.services.document import Document
from explorer.services.lessons.answer import (
    Answer,
    NoAnswer,
    Place,
    Prediction,
    Situation,
    judge,
    situation_at,
)
from explorer.services.lessons.answers import ANSWERS
from explorer.services.lessons.lesson import PARTS, Lesson, Step
from explorer.services.lessons.lesson_file import (
    BundleError,
    read_bundle,
    read_lesson,
    read_shelf,
    user_folder,
    write_bundle,
)
from explorer.services.lessons.places import PLACES, find_place, rules_sentence
from explorer.settings.paths import resource_path
from explorer.workbench import Workbench
from tests.generated import write_session
from tests.services.test_unreadable_compaction import rollout
from tests.store.sources import chain, message, write_file

PROFILE = PROFILES["explorer"]
SETTINGS = Settings.of(PROFILE)

GOOD = """+++
id = "one"
title = "One"
about = "A lesson."
place = "compaction"
+++

## First

Where does the cut fall when {keep_recent} tokens are kept?

```toml
light = "map"
kind = "entry"
answer = "cut_entry"
```

There.
"""


def lesson_of(text: str = GOOD) -> Lesson:
    read = read_lesson(text)
    assert read.lesson is not None, read.mistakes
    return read.lesson


def situation(document: Document, name: str) -> Situation:
    place = find_place(document, name, PROFILE, SETTINGS)
    assert place is not None, name
    return situation_at(document, place)


def step(kind: str, **more: object) -> Step:
    return Step("A step", "Its words", kind=kind, **more)  # type: ignore[arg-type]


# files --------------------------------------------------------------------------------------------


def test_the_lessons_that_come_along_are_sound() -> None:
    shelf = read_shelf()
    assert not shelf.mistakes
    assert [lesson.number for lesson in shelf.lessons] == list(range(1, 12))
    for lesson in shelf.lessons:
        assert 3 <= lesson.minutes <= 5
        assert 3 <= len(lesson.steps) <= 5
        assert lesson.about
        for one in lesson.steps:
            assert one.kind is not None, "every step has a prediction"
            assert one.after
            assert one.text.count(". ") + one.text.count("? ") <= 3, one.text


def test_every_answer_and_place_is_taught() -> None:
    """What no lesson uses is there for nobody."""
    lessons = read_shelf().lessons
    steps = [one for lesson in lessons for one in lesson.steps]
    assert {one.answer for one in steps} == set(ANSWERS)
    used = {lesson.place for lesson in lessons} | {one.place for one in steps if one.place}
    assert used == set(PLACES)


def test_a_lesson_is_read() -> None:
    lesson = lesson_of()
    assert (lesson.id, lesson.minutes, lesson.place) == ("one", 4, "compaction")
    first = lesson.steps[0]
    assert (first.title, first.kind, first.answer, first.line) == ("First", "entry", "cut_entry", 8)
    assert first.after == "There."
    assert lesson.source == GOOD


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("+++\nid", "id", 1, "begins with a line of +++"),
        ('place = "compaction"\n+++\n', "", 1, "no second line"),
        ('id = "one"', 'id = "One two"', 2, "small letters"),
        ('title = "One"', 'title = ""', 3, "missing"),
        ('title = "One"', "title = 3", 3, "expected a text"),
        ('title = "One"', 'title = "One', 3, "no TOML"),
        ('place = "compaction"', 'place = "nowhere"', 5, "there is no 'nowhere'"),
        ('place = "compaction"', 'colour = "red"', 5, "no such key"),
        ('light = "map"', 'light = "moon"', 13, "there is no 'moon'"),
        ('kind = "entry"', 'kind = "number"', 14, "answered by entry or cut"),
        ('kind = "entry"\n', "", 14, "kind is missing"),
        ('answer = "cut_entry"', 'answer = "cut"', 15, "there is no 'cut'"),
        ('answer = "cut_entry"', 'answer = "cut_entry"\n[options]\na = "A"', 16, "has none"),
        ("{keep_recent}", "{keep}", 8, "no figure {keep}"),
        ("```toml", "```", 8, "no block"),
        ("```\n\nThere.", "", 8, "does not end"),
        ("Where does", "\n\n## Second\n\nWhere does", 8, "no block"),
        ("## First", "Before.\n\n## First", 8, "Words before the first step"),
    ],
)
def test_a_mistake_is_named_by_its_line(old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    read = read_lesson(GOOD.replace(old, new, 1))
    assert read.lesson is None
    assert any(one.line == line and words in one.reason for one in read.mistakes), read.mistakes


@pytest.mark.parametrize("text", ["", "\n", "+++", "++"])
def test_a_text_that_is_no_lesson_is_a_mistake(text: str) -> None:
    read = read_lesson(text)
    assert read.lesson is None and [one.line for one in read.mistakes] == [1]


def test_all_that_a_file_can_say_is_taken_over() -> None:
    text = """ +++
id = "a-1"
title = "All"
about = "Of it."
minutes = 0
number = 999
place = "any"
profile = "pi"
keep_recent = 2000000
  +++

## Who counts?

Some
words {at}.
```
no block
```

 ```toml
light = "gauge"
then = "map"
kind = "choose"
answer = "token_source"
several = true
tolerance = 100
place = "update"
cut = "shown"
sums = true
[options]
provider = "The provider"
```
And
then.
## Look

Here.
```toml
tolerance = 0
```
"""
    asked = Step(
        "Who counts?", "Some words {at}. ``` no block ```", "And then.", "gauge", "map", "choose",
        "token_source", {"provider": "The provider"}, True, 100, "update", "shown", True, 12,
    )  # fmt: skip
    shown = Step("Look", "Here.", tolerance=0, line=35)
    assert lesson_of(text) == Lesson(
        "a-1", "All", "Of it.", 0, "any", (asked, shown), 999, "pi", 2_000_000, text
    )
    plain = Step("Look", "Here.", "", "map", "", None, "", {}, False, 10, "", "hidden", False, 5)
    short = '+++\nid = "a"\ntitle = "A"\n+++\n## Look\nHere.\n```toml\n```'
    assert lesson_of(short) == Lesson("a", "A", "", 4, "any", (plain,), 0, "", 0, short)


ID, KIND, ANSWER = 'id = "one"', 'kind = "entry"', 'answer = "cut_entry"'


PREDICTED = f"{KIND}\n{ANSWER}"


def choice(answer: str, more: str = "") -> str:
    return f'kind = "choose"\nanswer = "{answer}"{more}'


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        (ID, f'id = "o{"1" * 40}"', []),
        (ID, f'id = "o{"1" * 41}"', ["2 id: small letters"]),
        (ID, 'id = "1o"', ["2 id: small letters"]),
        (ID, ' "id" = " "', ["2 id: is missing", "2 id: small letters"]),
        (ID, "", ["2 id: is missing"]),
        ('title = "One"', "", ["2 title: is missing"]),
        (ID, "minutes = 60\n" + ID, []),
        (ID, ID + "\nminutes = 61", ["3 minutes: expected 0 to 60."]),
        (ID, ID + "\nminutes = -1", ["3 minutes: expected 0 to 60."]),
        (ID, ID + "\nminutes = true", ["3 minutes: expected a whole number, not True"]),
        (ID, ID + "\nnumber = 1000", ["3 number: expected 0 to 999."]),
        (ID, ID + "\nnumber = -1", ["3 number: expected 0 to 999."]),
        (ID, ID + "\nkeep_recent = 2000001", ["3 keep_recent: expected 0 to 2,000,000."]),
        (ID, ID + "\nkeep_recent = 0", []),
        (ID, ID + '\nprofile = "omp"', []),
        (ID, ID + '\nprofile = "none"', ["3 profile: there is no 'none'; there are"]),
        (ID, ID + "\n[about]", ["3 about: expected a text, not {", "4 title: is missing"]),
        (ID + '\ntitle = "One"', "id = [\n", ["4 This is no TOML"]),
        ("Where does", "{at} {window} {reserve} does", []),
        ("There.", "{then}", ["8 There is no figure {then}; there are {keep_recent}, {res"]),
        ("## First", "##  ", ["8 The step has no title."]),
        (
            "\n\nWhere does the cut fall when {keep_recent} tokens are kept?\n", "",
            ["8 The step has no words before its block."],
        ),
        ("Where does the cut fall when {keep_recent} tokens are kept?", "",
         ["8 The step has no words before its block."]),
        ("## First", "First\n\nOne\n## First", ["8 Words before the first step"]),
        ("## First", "## Zero\nWords.\n```toml\n\n## First", ["8 The step “Zero” has a block"]),
        ('light = "map"', "light =", ["13 This is no TOML"]),
        ('light = "map"', 'then = "gauge"\ncut = "after"', []),
        ('light = "map"', 'then = "moon"', ["13 then: there is no 'moon'; there are map,"]),
        ('light = "map"', 'cut = "half"', ["13 cut: there is no 'half'; there are hidden,"]),
        ('light = "map"', 'place = "moon"', ["13 place: there is no 'moon'; there are any,"]),
        ('light = "map"', "tolerance = 101", ["13 tolerance: per cent, 0 to 100."]),
        ('light = "map"', "tolerance = -1", ["13 tolerance: per cent, 0 to 100."]),
        ('light = "map"', "sums = 1", ["13 sums: expected true or false, not 1."]),
        (KIND, 'kind = "cut"', []),
        (KIND, 'kind = "guess"',
         ["14 kind: there is no 'guess'; there are entry, cut, ", "14 kind: cut_entry is ans"]),
        (ANSWER, "", ["14 kind: a prediction has a kind and an answer; answer is missing."]),
        (KIND, "", ["15 answer: a prediction has a kind and an answer; kind is missing."]),
        (PREDICTED, choice("token_source"), ["14 kind: the options are missing: provider, tok"]),
        (PREDICTED, choice("keeps_most"), []),
        (PREDICTED, choice("keeps_most", '\n[options]\npi = "Pi"'), []),
        (PREDICTED, choice("keeps_most", "\noptions = {}"), []),
        (PREDICTED, choice("split_turn", '\n[options]\nsplit = " "'),
         ["17 split: expected the words of the option."]),
        (PREDICTED, choice("split_turn", "\n[options]\nwhole = 3"),
         ["17 whole: expected the words of the option."]),
        (ANSWER, ANSWER + "\n[options]", []),
        (ANSWER, ANSWER + '\n[options]\na = "A"', ["16 options: a prediction of kind entry has"]),
        (KIND + "\n" + ANSWER, '[options]\na = "A"', []),
    ],
)  # fmt: skip
def test_each_bound_of_a_file_is_named_at_its_line(old: str, new: str, wrong: list[str]) -> None:
    assert old in GOOD
    found = [f"{one.line} {one.reason}" for one in read_lesson(GOOD.replace(old, new, 1)).mistakes]
    assert len(found) == len(wrong), found
    for one, words in zip(found, wrong, strict=True):
        assert one.startswith(words)


def test_a_file_has_a_size_and_a_number_of_steps() -> None:
    assert lesson_of(GOOD.ljust(200_000)).id == "one"
    (wrong,) = read_lesson(GOOD.ljust(200_001)).mistakes
    assert (wrong.line, wrong.reason) == (1, "A lesson has at most 200,000 characters.")
    head, first = GOOD.split("\n\n", 1)
    assert len(lesson_of(f"{head}\n{first * 12}").steps) == 12
    (wrong,) = read_lesson(f"{head}\n{first * 13}").mistakes
    assert (wrong.line, wrong.reason) == (7 + 12 * 11, "A lesson has at most 12 steps.")
    (wrong,) = read_lesson(head).mistakes
    assert (wrong.line, wrong.reason[:16]) == (6, "There is no step")


def test_options_are_those_that_the_answer_knows() -> None:
    text = GOOD.replace('kind = "entry"', 'kind = "choose"')
    text = text.replace('answer = "cut_entry"', 'answer = "split_turn"\n[options]\nhalf = "Half"')
    reasons = [one.reason for one in read_lesson(text).mistakes]
    assert reasons == ["half: split_turn knows no such option; it knows split, whole."]


def test_a_lesson_of_the_users_is_offered_and_a_wrong_one_named(explorer_home: Path) -> None:
    user_folder().mkdir(parents=True)
    (user_folder() / "mine.md").write_text(GOOD, "utf-8")
    (user_folder() / "wrong.md").write_bytes(b"+++\n\xff")
    shelf = read_shelf()
    assert shelf.lessons[-1].id == "one"
    assert [(path.name, one.line) for path, one in shelf.mistakes] == [("wrong.md", 2)]


# places and answers -------------------------------------------------------------------------------


def test_every_place_is_found_in_the_bundled_session(document: Document) -> None:
    before = document.leaf, len(document.tree), document.choices.all()
    for name in PLACES:
        place = find_place(document, name, PROFILE, SETTINGS)
        assert place is not None, name
        assert place.sentence.startswith("In this session"), place.sentence
    assert (document.leaf, len(document.tree), document.choices.all()) == before


def check_steps(document: Document, places_may_be_missing: bool) -> None:
    """Every step of every lesson has an answer of its kind, where its place is there."""
    for lesson in read_shelf().lessons:
        names = {one.place or lesson.place for one in lesson.steps}
        places = {name: find_place(document, name, PROFILE, SETTINGS) for name in names}
        if places_may_be_missing and None in places.values():
            continue
        for one in lesson.steps:
            now = situation(document, one.place or lesson.place)
            answer = ANSWERS[one.answer].find(now)
            assert answer.reason.endswith("."), answer.reason
            known = {name for name, _ in one.options.items()} or dict(answer.options).keys()
            if one.kind == "choose":
                assert answer.chosen <= set(known), (lesson.id, one.title)
            elif one.kind == "number":
                assert answer.number > 0
            elif one.kind == "cut":
                assert answer.cuts
            else:
                assert answer.entries


def test_every_step_has_an_answer_on_the_bundled_session(document: Document) -> None:
    check_steps(document, places_may_be_missing=False)


def test_no_step_asks_for_what_an_earlier_one_has_shown(document: Document) -> None:
    """The answer to a step gives none to a later one away."""
    for lesson in read_shelf().lessons:
        shown = ""
        for one in lesson.steps:
            now = situation(document, one.place or lesson.place)
            answer = ANSWERS[one.answer].find(now)
            if one.kind == "number" and answer.number > 9:
                assert not re.search(rf"(?<![\d,]){answer.number:,}(?![\d,])", shown), one.title
            # The summary of a branch is mostly put where the branches part: another question.
            elif one.kind == "entry" and len(answer.entries) < 3 and one.answer != "summary_parent":
                assert all(f"#{entry}" not in shown for entry in answer.entries), one.title
            shown += f" {answer.reason}"


def test_whose_rules_a_lesson_goes_by_is_said(
    bench: Workbench, document: Document, tmp_path: Path
) -> None:
    assert rules_sentence(document, PROFILE) == "", "its own agent is only inferred"
    codex = bench.open_blocking(bench.import_blocking(rollout(tmp_path)).key)
    assert rules_sentence(codex, PROFILE) == (
        "Codex CLI does not record its rules; the lesson goes by those of the profile Explorer."
    )


def test_every_step_has_an_answer_on_a_short_session_or_no_place(
    bench: Workbench, tmp_path: Path
) -> None:
    file = write_session(tmp_path / "short.jsonl", 60, seed=5, branches=False, compactions=False)
    check_steps(bench.open_blocking(bench.import_blocking(file).key), places_may_be_missing=True)


def test_every_step_has_an_answer_on_another_agents_session_or_no_place(
    bench: Workbench, tmp_path: Path
) -> None:
    key = bench.import_blocking(rollout(tmp_path)).key
    check_steps(bench.open_blocking(key), places_may_be_missing=True)


def test_answers_are_the_engines_figures(document: Document) -> None:
    now = situation(document, "compaction")
    shown = document.compaction.preview(now.place.at, PROFILE, SETTINGS)
    made = shown.preparation
    assert isinstance(made, Preparation)
    assert made.path[made.cut_point] in ANSWERS["cut_entry"].find(now).entries
    assert ANSWERS["cut_entry"].find(now).reason == made.reason
    assert ANSWERS["tokens_summarized"].find(now).number == shown.tokens_summarized
    assert ANSWERS["sent_messages"].find(now).number == len(document.context(made.leaf).messages)
    requests = document.compaction.requests(shown)
    assert ANSWERS["request_count"].find(now).number == len(requests)


def test_a_place_that_is_not_there_is_none(bench: Workbench, tmp_path: Path) -> None:
    file = write_session(tmp_path / "s.jsonl", 12, seed=2, branches=False, compactions=False)
    short = bench.open_blocking(bench.import_blocking(file).key)
    for name in ("branched", "update", "left-branch"):
        assert find_place(short, name, PROFILE, SETTINGS) is None


def test_what_has_no_answer_says_why(document: Document) -> None:
    place = Place(document.leaf, PROFILE, SETTINGS, "")
    with pytest.raises(NoAnswer, match="No branch is left"):
        ANSWERS["common_ancestor"].find(situation_at(document, place))


def test_every_part_is_a_name_once() -> None:
    assert len(set(PARTS)) == len(PARTS)


# predictions --------------------------------------------------------------------------------------


def test_an_entry_is_compared(document: Document) -> None:
    now = situation(document, "compaction")
    answer = Answer("Because.", entries=(5,))
    assert judge(step("entry"), answer, Prediction(entry=5), now).is_right
    wrong = judge(step("entry"), answer, Prediction(entry=9), now)
    assert not wrong.is_right
    assert wrong.difference == "You pointed at #9; the right one is #5. Yours is 4 further down."


@pytest.mark.parametrize(
    ("number", "right", "words"),
    [
        (1000, True, "exactly"),
        (1100, True, "Close enough: 10 % more"),
        (900, True, "10 % less"),
        (1101, False, "10 % more"),
        (0, False, "100 % less"),
    ],
)
def test_a_number_has_a_tolerance(document: Document, number: int, right: bool, words: str) -> None:
    now, answer = situation(document, "any"), Answer("Because.", number=1000)
    judged = judge(step("number", tolerance=10), answer, Prediction(number=number), now)
    assert judged.is_right is right
    assert words in judged.difference


def test_options_are_compared_as_a_whole(document: Document) -> None:
    now = situation(document, "any")
    asked = step("choose", options={"a": "An apple", "b": "A pear"}, several=True)
    answer = Answer("Because.", chosen=frozenset({"a", "b"}))
    assert judge(asked, answer, Prediction(chosen=frozenset({"a", "b"})), now).is_right
    half = judge(asked, answer, Prediction(chosen=frozenset({"a"})), now)
    assert half.difference == "You chose “An apple”; the right choice is “An apple” and “A pear”."


# bundles ------------------------------------------------------------------------------------------


def test_a_bundle_comes_back_as_it_was(explorer_home: Path, tmp_path: Path) -> None:
    session = resource_path("samples", "retry-that-flakes.jsonl")
    file = tmp_path / "one.lesson"
    write_bundle(file, lesson_of(), session)
    bundle = read_bundle(file)
    assert bundle.lesson == lesson_of()
    assert bundle.session.read_bytes() == session.read_bytes()
    assert read_bundle(file).session == bundle.session
    other = tmp_path / "other.jsonl"
    other.write_text("another session")
    write_bundle(file, lesson_of(), other)
    assert read_bundle(file).session.read_text() == "another session" != bundle.session.read_text()


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"session.jsonl": "{}"}, "has no lesson.md"),
        ({"lesson.md": GOOD}, "has no session.jsonl"),
        ({"lesson.md": "+++\n", "session.jsonl": "{}"}, "line 1 of its lesson"),
        ({"lesson.md": "x" * 300_000, "session.jsonl": "{}"}, "too large"),
    ],
)
def test_a_bad_bundle_is_refused(
    explorer_home: Path, tmp_path: Path, members: dict[str, str], words: str
) -> None:
    file = tmp_path / "bad.lesson"
    with zipfile.ZipFile(file, "w") as out:
        for name, text in members.items():
            out.writestr(name, text)
    with pytest.raises(BundleError, match=words):
        read_bundle(file)


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bad.lesson"
    file.write_text("no zip", "utf-8")
    with pytest.raises(BundleError, match="no zip"):
        read_bundle(file)


def test_no_member_of_a_bundle_leaves_its_folder(explorer_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.lesson"
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("lesson.md", GOOD)
        out.writestr("session.jsonl", "{}\n")
        out.writestr("../../outside.txt", "gone")
    bundle = read_bundle(file)
    assert not (bundle.session.parent.parent.parent / "outside.txt").exists()
    assert [one.name for one in bundle.session.parent.iterdir()] == [bundle.session.name]


def test_a_compaction_that_was_undone_makes_no_second_branch(
    bench: Workbench, tmp_path: Path
) -> None:
    compaction = {
        "type": "compaction", "id": "c", "parentId": "e1", "summary": "All.",
        "firstKeptEntryId": "e1", "tokensBefore": 9, "timestamp": "2026-01-02T03:04:06.000Z",
    }  # fmt: skip
    path = write_file(tmp_path / "undone.jsonl", [*chain(2), compaction, message(2, "e1", "on")])
    document = bench.open_blocking(bench.import_blocking(path).key)
    assert find_place(document, "branched", PROFILE, SETTINGS) is None
    place = find_place(document, "any", PROFILE, SETTINGS)
    assert place is not None
    reason = ANSWERS["path_entries"].find(situation_at(document, place)).reason
    assert "has 4 entries on 1 branch." in reason

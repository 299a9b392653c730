"""What lessons answer is true of the place that they are run at, whatever the session."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.reasons import count_text
from explorer.compaction.triggers import fitted, limit_of, should_compact
from explorer.services.document import Document
from explorer.services.lessons.answer import (
    Answer,
    Judged,
    NoAnswer,
    Place,
    Prediction,
    Situation,
    answer_words,
    judge,
    options_of,
    situation_at,
)
from explorer.services.lessons.answers import ANSWERS
from explorer.services.lessons.context_answers import running_sums, size_at
from explorer.services.lessons.lesson import Step
from explorer.services.lessons.places import PLACES, find_place, instructions_in, situations
from explorer.session.kinds import CONTEXT_KINDS, Kind
from explorer.workbench import Workbench
from tests.formats.files import header, reply, user, write
from tests.generated import write_session

PROFILE = PROFILES["explorer"]
SETTINGS = Settings.of(PROFILE)


@pytest.fixture
def places(bench: Workbench, document: Document, tmp_path: Path) -> list[Situation]:
    """Situations of the bundled session and of generated ones."""
    found = []
    files = [write_session(tmp_path / f"{seed}.jsonl", 120, seed=seed) for seed in (2, 3)]
    documents = [document, *(bench.open_blocking(bench.import_blocking(one).key) for one in files)]
    for each in documents:
        for name in PLACES:
            place = find_place(each, name, PROFILE, SETTINGS)
            if place is not None:
                found.append(situation_at(each, place))
    found += list(situations(document, PROFILE, SETTINGS))[:12]
    # Of this one a provider counted less than the estimate.
    less = [header(), user("e1", None, "word " * 400), reply("e2", "e1")]
    short = bench.open_blocking(bench.import_blocking(write(tmp_path / "less.jsonl", less)).key)
    found.append(situation_at(short, Place(short.leaf, PROFILE, SETTINGS, "")))
    assert len(found) > 15
    return found


def answered(places: list[Situation], name: str) -> Iterator[tuple[Situation, Answer]]:
    """Where there is an answer, which must be at one place at least."""
    count = 0
    for now in places:
        try:
            found = ANSWERS[name].find(now)
        except NoAnswer:
            continue
        count += 1
        yield now, found
    assert count, name


def compacting(places: list[Situation], name: str) -> Iterator[tuple[Situation, Answer]]:
    ready = [one for one in places if isinstance(one.shown.preparation, Preparation)]
    return answered(ready, name)


def test_what_the_model_is_sent(places: list[Situation]) -> None:
    for now, found in answered(places, "path_entries"):
        assert found.number == len(now.tree.path(now.place.at)) and found.unit == "entries"
        assert f"{len(now.tree):,} entries on" in found.reason
    for now, found in answered(places, "sent_messages"):
        assert found.number == len(now.context.messages)
        assert ("first the summary" in found.reason) is (now.context.compaction >= 0)
    for now, found in answered(places, "unseen_entries"):
        kinds, path = now.tree.columns.kind, now.tree.path(now.place.at)
        unseen = {at for at in range(len(now.tree)) if kinds[at] in CONTEXT_KINDS}
        unseen -= set(now.context.messages)
        apart = [at for at in unseen if at not in path]
        assert list(found.entries) == [
            *sorted(apart, reverse=True), *sorted(unseen - {*apart}, reverse=True),
        ]  # fmt: skip
        assert f"the {count_text(len(apart), 'message')} on other branches" in found.reason
        assert found.explain is not None
        assert "no message" in found.explain(min(unseen))
        assert found.explain(now.context.messages[-1]).endswith(" is sent.")
    for now, found in answered(places, "heaviest_entry"):
        assert set(found.entries) <= set(now.context.messages)
        assert f"#{found.entries[0]} takes" in found.reason and found.explain is not None
        assert "is not sent here" in found.explain(-5)


def test_the_entries_and_what_lies_beyond_them_come_to_the_context(
    places: list[Situation],
) -> None:
    signs: set[str] = set()
    for now, found in answered(places, "entries_tokens"):
        shown = {at: now.document.tokens.shown_tokens(at) for at in now.context.messages}
        if now.place.at == now.document.leaf and now.place.profile == now.document.tokens.profile:
            assert found.number == sum(shown.values()), "what is added up on the map"
        size = size_at(now).shown
        terms = re.search(r"([\d,]+) ([+−]) ([\d,]+) .*= ([\d,]+), which", found.reason)
        if terms is None:
            assert found.number == size and "the same" in found.reason
            continue
        entries, beyond, whole = (int(terms[at].replace(",", "")) for at in (1, 3, 4))
        assert (entries, whole) == (found.number, size)
        assert whole == entries + (beyond if terms[2] == "+" else -beyond)
        signs.add(terms[2])
    assert signs == {"+", "−"}


def test_when_a_compaction_is_due(places: list[Situation]) -> None:
    rules = [
        PROFILE, replace(PROFILE, threshold_tokens=5_000), replace(PROFILE, threshold_percent=1),
        replace(PROFILE, enabled=False), replace(PROFILE, threshold_tokens=900),
    ]  # fmt: skip
    due: set[str] = set()
    for now in [
        situation_at(one.document, replace(one.place, profile=rule))
        for one in places[::3]
        # The last one is full to the token, which is not too full.
        for rule in (*rules, replace(PROFILE, threshold_tokens=size_at(one).tokens or 1))
    ]:
        profile, settings = now.place.profile, fitted(now.place.profile, now.place.settings)
        limit = max(0, limit_of(profile, settings))
        size = size_at(now).shown
        found = ANSWERS["threshold"].find(now)
        assert found.number == limit and f"above {limit:,} tokens" in found.reason
        is_set = profile.threshold_tokens > 0 or profile.threshold_percent > 0
        assert ("as the profile" in found.reason) is is_set
        assert ("less the reserve" in found.reason) is not is_set
        half = replace(now.place.settings, context_window=now.place.settings.context_window // 2)
        half = fitted(profile, half)
        smaller = max(0, limit_of(profile, half))
        is_due = ANSWERS["is_due_in_half"].find(now)
        assert is_due.chosen == {"yes" if should_compact(size, profile, half) else "no"}
        assert ("not more than" in is_due.reason) is (size <= smaller)
        assert f"{half.context_window:,} tokens the threshold lies at {smaller:,}" in is_due.reason
        assert ("never compacts" in is_due.reason) is not profile.enabled
        assert ANSWERS["room_left"].find(now).number == max(0, limit - size)
        source = ANSWERS["token_source"].find(now)
        counted = size_at(now)
        expected = {"provider"} if counted.usage_tokens else set()
        if counted.trailing_tokens or not expected:
            expected.add(
                "estimate" if now.document.tokens.weights_for(profile) is None else "tokenizer"
            )
        assert source.chosen == expected
        assert ("No provider has counted" in source.reason) is ("provider" not in source.chosen)
        due |= is_due.chosen
    assert due == {"yes", "no"}


def test_where_the_cut_falls(places: list[Situation]) -> None:
    for now, found in compacting(places, "cut_entry"):
        made = now.made
        assert {*found.entries} == {made.path[made.cut_point], made.path[made.cut]}
        assert found.cuts == (made.cut, made.cut_point)
    for now, found in compacting(places, "cut_of_half"):
        half = now.made.settings.keep_recent_tokens // 2
        settings = replace(now.place.settings, keep_recent_tokens=half)
        other = situation_at(now.document, replace(now.place, settings=settings))
        assert found.reason == other.made.reason
        assert other.made.cut >= now.made.cut
    for now, found in compacting(places, "walk_reached"):
        view, (entry,) = now.made.cuts.view, found.entries
        at, wanted = view.path.position(entry), now.made.keep.tokens
        assert view.weight(at, len(view)) >= wanted > view.weight(at + 1, len(view))
        sums = running_sums(now)
        assert sums[entry] == (view.weights[at], view.weight(at, len(view)))
        assert len(sums) == len(view) - now.shown.boundary
        assert found.explain is not None and "not on this path" in found.explain(10**6)
        assert f"{view.weight(at, len(view)):,} tokens" in found.explain(entry)
    for now, found in compacting(places, "tokens_summarized"):
        assert found.number == now.shown.tokens_summarized
    for now, found in compacting(places, "valid_cuts"):
        shown = now.shown
        assert found.cuts == tuple(shown.valid_cuts)
        assert found.entries == tuple(shown.path[at] for at in reversed(shown.valid_cuts))
        assert found.explain is not None and "is valid" in found.explain(found.entries[0])
        assert "on another branch" in found.explain(10**6)
        count = ANSWERS["valid_cut_count"].find(now)
        assert count.number == len(found.cuts) and count.unit == "places"
        length = len(shown.path) - shown.boundary
        assert f"has {length:,} entr" in count.reason
    for now, found in compacting(places, "forbidden_cuts"):
        shown, kinds = now.shown, now.tree.columns.kind
        results = [
            shown.path[at]
            for at in range(shown.boundary, len(shown.path))
            if kinds[shown.path[at]] == Kind.TOOL_RESULT
        ]
        assert list(found.entries) == results[::-1]


def test_why_a_cut_is_not_valid_is_told_where_nothing_is_compacted(document: Document) -> None:
    settings = replace(SETTINGS, keep_recent_tokens=10**6)
    now = situation_at(document, Place(document.leaf, PROFILE, settings, ""))
    assert not isinstance(now.shown.preparation, Preparation)
    found = ANSWERS["valid_cuts"].find(now)
    wrong = next(entry for entry in now.shown.path if entry not in found.entries)
    assert found.explain is not None and "a cut falls after that" in found.explain(wrong)


def test_what_a_split_turn_is(places: list[Situation]) -> None:
    both: set[str] = set()
    for now, found in compacting(places, "split_turn"):
        both |= found.chosen
        assert found.chosen == {"split" if now.made.is_split_turn else "whole"}
        assert found.selected == (now.made.first_kept if now.made.is_split_turn else -1)
    assert "split" in both
    for now, found in compacting(places, "turn_start"):
        made = now.made
        assert found.entries == (made.path[made.turn_start],) and made.turn_start < made.cut
        assert f"Turn {made.cuts.view.turn(made.turn_start)} starts" in found.reason
    for now, found in compacting(places, "prefix_tokens"):
        made = now.made
        assert found.number == made.cuts.view.weight(made.turn_start, made.cut) > 0
    for now, found in compacting(places, "unsplit_cuts"):
        made = now.made
        cuts = [made.cuts.at(made.boundary, at) for at in now.shown.valid_cuts]
        whole = {one.point for one in cuts if not one.is_split_turn and one.point > made.boundary}
        places_of = [now.shown.path.position(entry) for entry in found.entries]
        assert set(places_of) <= whole
        assert places_of[0] == min(places_of, key=lambda at: (abs(at - made.cut), at))
        assert set(found.cuts) >= set(places_of) and len(found.cuts) == 2 * len(places_of)
        assert found.explain is not None
        assert "a turn starts: none is split" in found.explain(found.entries[0])
        assert "not on this path" in found.explain(10**6)


def test_what_the_summarizer_is_asked(places: list[Situation]) -> None:
    chosen: set[str] = set()
    for now, found in compacting(places, "request_count"):
        requests = now.document.compaction.requests(now.shown)
        assert found.number == len(requests)
        assert found.unit == ("request" if len(requests) == 1 else "requests")
    for now, found in compacting(places, "request_parts"):
        chosen |= found.chosen
        has_previous = now.made.previous_compaction >= 0
        assert ("previous-summary" in found.chosen) is has_previous
        assert (f"the summary of #{now.made.previous_compaction}," in found.reason) is has_previous
        assert "kept" not in found.chosen and "it holds 0:" in found.reason
    assert chosen == {"conversation", "previous-summary"}
    for now, found in compacting(places, "newest_asked"):
        (entry,) = found.entries
        assert entry < now.made.first_kept and entry in {*now.made.history, *now.made.turn_prefix}


def test_what_branches_share(places: list[Situation]) -> None:
    for now, found in answered(places, "common_ancestor"):
        tree, place = now.tree, now.place
        assert found.entries == (tree.common_ancestor(place.at, place.target),)
        assert found.explain is not None
        assert "on both paths" in found.explain(0)
        assert "on one of the two" in found.explain(place.at)
        assert f"#{found.entries[0]}, and part there" in found.reason
        left = ANSWERS["left_entries"].find(now)
        below = [at for at in tree.path(place.at) if at > found.entries[0]]
        assert left.number == len(below) and left.unit == "entries"
        assert ANSWERS["summary_parent"].find(now).entries == (place.target,)


def test_what_pruning_saves(places: list[Situation]) -> None:
    for now, found in answered(places, "pruned_results"):
        assert ANSWERS["pruned_count"].find(now).number == len(found.entries)
        assert found.explain is not None and "It saves" in found.explain(found.entries[0])
        kinds = now.tree.columns.kind
        assert {kinds[entry] for entry in found.entries} == {Kind.TOOL_RESULT}
        other = next(at for at in now.shown.path if kinds[at] != Kind.TOOL_RESULT)
        assert "is no tool result" in found.explain(other)
        saved = ANSWERS["pruned_saved"].find(now)
        each = [found.explain(entry) for entry in found.entries]
        sums = [int(words.split("It saves ")[1].split()[0].replace(",", "")) for words in each]
        assert saved.number == sum(sums)


def test_what_is_lost_of_instructions(places: list[Situation]) -> None:
    for now, found in compacting(places, "lost_instructions"):
        held = instructions_in(now)
        assert sorted(found.entries) == sorted(held)
        if now.place.instruction >= 0:
            assert found.entries[0] == now.place.instruction
        keeps = ANSWERS["keeps_words"].find(now)
        assert "pin" in keeps.chosen and "instruction" not in keeps.chosen
        assert keeps.selected in held
        cost = ANSWERS["pins_cost"].find(now)
        tokens, profile = now.document.tokens, now.place.profile
        assert cost.number >= sum(tokens.entry_tokens(entry, profile) for entry in held)
        kinds, read = now.tree.columns.kind, (*now.made.history, *now.made.turn_prefix)
        said = [at for at in read if kinds[at] == Kind.USER]
        assert cost.number == sum(tokens.entry_tokens(entry, profile) for entry in said)


def test_how_the_systems_compare(places: list[Situation]) -> None:
    for now, found in compacting(places[:4], "cuts_by_profile"):
        names = [name for name, _ in found.options]
        assert names == [*PROFILES, "none"]
        window = now.place.settings.context_window
        outcomes = now.document.compaction.compare(now.place.at, PROFILES.values(), window)
        same = {one.profile.name for one in outcomes if one.first_kept == now.made.first_kept}
        assert found.chosen == (same or {"none"})
        most = ANSWERS["keeps_most"].find(now)
        kept = {one.profile.name: one.shown.tokens_kept for one in outcomes if one.compacts}
        assert most.chosen == {name for name, size in kept.items() if size == max(kept.values())}
        due = ANSWERS["due_by_profile"].find(now)
        assert due.chosen == ({one.profile.name for one in outcomes if one.is_due} or {"none"})


def test_places_are_looked_for_at_the_sizes_that_are_set_first(document: Document) -> None:
    small = replace(SETTINGS, keep_recent_tokens=1_000)
    found = list(situations(document, PROFILE, small))
    kept = [one.place.settings.keep_recent_tokens for one in found]
    usual = kept.index(next(size for size in kept if size != 1_000))
    assert kept[:usual] == [1_000] * usual and found[0].place.at == document.leaf
    size = found[0].shown.context_estimate
    after = [one for one in found[usual:] if one.place.at == document.leaf]
    assert {one.place.settings.keep_recent_tokens for one in after} <= {
        max(1, size // share) for share in (2, 4, 8, 16, 32)
    }
    assert "at its leaf" in found[0].place.sentence and "to keep" in after[0].place.sentence
    rounds = replace(PROFILE, cut_unit="rounds")
    assert {one.place.profile for one in situations(document, rounds, SETTINGS)} == {PROFILE}


# predictions --------------------------------------------------------------------------------------


def step(kind: str, **more: object) -> Step:
    return Step("A step", "Its words", kind=kind, **more)  # type: ignore[arg-type]


@pytest.fixture
def said(document: Document) -> Callable[[Step, Answer, Prediction], Judged]:
    now = situation_at(document, Place(document.leaf, PROFILE, SETTINGS, ""))
    return lambda asked, answer, prediction: judge(asked, answer, prediction, now)


def test_a_prediction_is_judged_in_words(
    said: Callable[[Step, Answer, Prediction], Judged],
) -> None:
    one, two = Answer("", entries=(5,)), Answer("", entries=(5, 8), explain=lambda at: f"#{at}!")
    asked = step("entry")
    for answer, entry, words in (
        (one, 5, "You pointed at #5."),
        (two, 8, "You pointed at #8, one of 2."),
        (one, 3, "You pointed at #3; the right one is #5. Yours is 2 further up."),
        (two, 9, "You pointed at #9. #9! One that is right is #5."),
    ):
        judged = said(asked, answer, Prediction(entry=entry))
        assert judged.difference == words and judged.is_right is (entry in answer.entries)
    cuts = Answer("", cuts=(2, 3), explain=lambda at: "Why.")
    assert said(step("cut"), cuts, Prediction(cut=3)).is_right
    wrong = said(step("cut"), cuts, Prediction(cut=4))
    assert not wrong.is_right and wrong.difference.endswith("is right lies before #2. Why.")
    none = Answer("", number=0, unit="results")
    assert said(step("number"), none, Prediction(number=0)).is_right
    away = said(step("number"), none, Prediction(number=3))
    assert away.difference == "You predicted 3; it is 0 results. That is 3 more."
    chosen = said(step("choose", options={"a": "A"}), Answer(""), Prediction())
    assert chosen.difference == "You chose none of them."


@pytest.mark.parametrize("tolerance", [0, 10, 50])
def test_a_number_is_right_within_the_tolerance(
    said: Callable[[Step, Answer, Prediction], Judged], tolerance: int
) -> None:
    for true, number in itertools.product((0, 1, 10, 20), range(34)):
        asked = step("number", tolerance=tolerance)
        found = said(asked, Answer("", number=true), Prediction(number=number))
        assert found.is_right is (100 * abs(number - true) <= tolerance * true)
        assert ("exactly" in found.difference) is (number == true)
        assert found.difference.endswith(" more.") is (number > true)
        assert found.difference.endswith(" less.") is (number < true)


def test_an_answer_alone_in_words() -> None:
    assert answer_words(step("number"), Answer("", number=1234)) == "1,234 tokens."
    assert answer_words(step("entry"), Answer("", entries=(7, 8))) == "#7."
    assert answer_words(step("cut"), Answer("")) == ""
    own = Answer("", chosen=frozenset("b"), options=(("a", "A"), ("b", "B")))
    assert answer_words(step("choose"), own) == "“B”."
    assert options_of(step("choose", options={"b": "Bee"}), own) == (("b", "Bee"),)
    assert Answer("", entries=(4,)).selected == 4 and Answer("", show=0).selected == 0

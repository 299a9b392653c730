"""What a later statement changed: the earlier one goes, or tells the new value in its place.

By ``explorer.facts.comparison`` where both use the same words; besides, where the later one says
that something changed ("now", "moved", "too small", "from now on"), by the measure of the value
(a date for a date, shops for shops) and a telling word in common; and for names: somebody who takes
over or is away, a thing that is called otherwise.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from explorer.facts import FactKind, Mention
from explorer.facts.comparison import Rule, mark_changed
from explorer.facts.entry_texts import Speaker
from explorer.facts.statements import is_question, kinds_of
from explorer.facts.text import statement_key, terms
from explorer.models.offline.extractive.items import STANDING, Item, ItemKind
from explorer.models.offline.extractive.sections import LISTED
from explorer.models.offline.extractive.values import MEASURED, Value, in_digits, values_in

_NOT_STATED = (ItemKind.LATEST, ItemKind.ERROR, *LISTED)
_REPORTED = (ItemKind.DONE, ItemKind.DOING, ItemKind.BLOCKED, ItemKind.NEXT)
_LOOK_BACK = 200
"""Earlier clauses with a value that a change is looked for in."""
_GENERAL = terms("set raise make take use new change")
"""Words that two different things have in common."""
_MORE = 2
"""Telling words that an earlier statement must have of its own to be told with the new value."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_CLAUSE = re.compile(
    r"(?<=[.!?;])(?<!\b(?:Dr|Mr|Ms)\.)(?<!Prof\.)(?<!Mrs\.)\s+|[,;:]\s+(?:and |but |so )?|"
    r"\s+(?:and|but|while)\s+"
)
_CHANGES = re.compile(
    r"\b(?:now|instead|actually|after all|any ?more|correction|from (?:now|here|today) on|as of|"
    r"scratch that|moved|slipped|put back|postponed|brought forward|extended|back to|no longer|"
    r"rather|shorter|longer|too (?:small|big|large|tight|much|many|little|few|short|long|"
    r"low|high|slow)|let it be|make (?:it|that|them)|brings? (?:us|it|them) to|this (?:week|"
    r"month))\b",
    re.IGNORECASE,
)
_WEAK = re.compile(r"\b(?:now|from (?:now|here|today) on|as of|rather|this (?:week|month))\b", re.I)
"""Of these, those that may as well open something else."""
_CHANGES_NAMED = re.compile(
    r"\b(?:change[sd]?|raised?|lower(?:ed)?|bump|increased?|decreased?|reduced?|relax|"
    r"tighten|set)\b",
    re.IGNORECASE,
)
"""Say that the very thing that is named gets another value."""
_DEADLINE = re.compile(r"\b(?:deadline|due|ends?|until|hand(?:ed)? in|deliver\w*|by)\b", re.I)
_COUNTS_ONLY = re.compile(
    r"\b(?:another|more|further|extra|additional|took|takes|ran|after)\b", re.I
)
_OF_THEM = re.compile(r"\bof (?:them|those|these)\b", re.IGNORECASE)
_INSTEAD_OF = re.compile(
    r"\b(?:instead of|rather than|in place of|no longer(?: use)?|away from) "
    r"(?:the |an? |our |using )?([\w./@+-]+(?: (?!for\b|in\b|to\b|because\b|let)[\w./@+-]+)?)",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|must|may|can|should|will|do|does|did|isn't|don't|\w{3,}s|"
    r"\w{3,}ed)\b",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"^(?:\W*+(?:noted|now|so|the|our|and)\b\W*+)*+(?P<subject>[\w'-]+(?: [\w'-]+){0,3}?) (?:is|"
    r"are|takes|"
    r"uses|has|comes|stands) ",
    re.IGNORECASE,
)
_HANGS = re.compile(
    r"(?:down|up|to|in|at|with|from|mostly|most of|because|so|which|who|by|for|on|of|than|"
    r"until|then)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"\b(?P<name>[A-ZÀ-Þ][\wÀ-ÿ-]+) (?:is|has|goes|went|was|will be)(?: just| now)? "
    r"(?:ill|sick|away|off|out|gone|retired|left|on (?:leave|holiday|vacation|parental)\b|quit)"
)
_DUTY = re.compile(
    r"\b(?P<name>[A-ZÀ-Þ][\wÀ-ÿ-]+)(?: from \w+| in \w+)? (?P<verb>owns?|manages?|tests?|checks?|"
    r"maintains?|supervises?|leads?|handles?|runs?|reviews?|approves?|does|looks? after|has the|"
    r"is (?:on call|on duty|responsible|in charge|our|my|the))\b(?P<rest>[^,.;]*)"
)
_ROLE = re.compile(
    r"\b(?:owner|lead|contact|reviewer|manager|maintainer|supervisor|boss|"
    r"on call)\b[^,.;]{0,20}\bis "
    r"(?:\w+\. )?(?P<name>[A-ZÀ-Þ][\wÀ-ÿ-]+)"
)
_CALLED = re.compile(
    r"\bcall(?:ing|ed)? (?P<what>it|this|that|them|(?:the|our|my) [\w -]+?) "
    r"(?:[\"“](?P<quoted>[^\"”]+)[\"”]|(?P<plain>[A-ZÀ-Þ]\w*(?: [A-ZÀ-Þ]\w*)*|\w+[_-][\w-]+))"
)
_NAMING = re.compile(
    r"\b(?:title|name|called|calling|named|codename)\b[^\"“`]{0,20}[\"“`](?P<old>[^\"”`]+)[\"”`]",
    re.I,
)
_WAS = re.compile(r"[,;] (?P<old>\w+[_-][\w-]+) (?:was|used to)\b")
_RENAME = re.compile(
    r"\brename[sd]? [`\"“]?(?P<old>[\w./-]+)[`\"”]? (?:to|into) [`\"“]?(?P<new>[\w./-]+)"
)
_NOT_SO = re.compile(r"\b(?P<new>[A-ZÀ-Þ]\w+), not (?P<old>[A-ZÀ-Þ]\w+)\b")


class _Clause(Struct):
    """A clause of an item that holds values."""

    item: Item
    text: str
    values: tuple[Value, ...]
    subject: frozenset[str]
    """See ``_subject``."""


def drop_changed(items: Sequence[Item]) -> None:
    """Takes out of the items what later ones of the user's changed."""
    stated = [item for item in items if item.alive and _is_stated(item)]
    _by_words(stated, items)
    _by_values([item for item in items if item.alive and item.kind not in _NOT_STATED])
    duties = _duties(items)
    for item in stated:
        if item.alive and not item.inherited and item.speaker is Speaker.USER:
            _by_person(item, duties)
            _by_name(item, items)


def _is_stated(item: Item) -> bool:
    said = item.speaker is Speaker.USER or (
        item.speaker is Speaker.SUMMARY and item.kind not in _REPORTED
    )
    return said and item.kind not in _NOT_STATED and not is_question(item.text)


# by words --------------------------------------------------------------------------------------


def _by_words(stated: Sequence[Item], items: Sequence[Item]) -> None:
    rules: list[tuple[Item, str, Rule]] = []
    # "config.toml" is a path still where TOML is given up.
    words = [item.terms - terms(" ".join(fact.text for fact in item.facts)) for item in items]
    places: dict[str, list[Item]] = defaultdict(list)
    for item, own in zip(items, words, strict=True):
        for word in own if item.kind not in _NOT_STATED else ():
            places[word].append(item)
    for item in stated:
        for old, named in _named_old(item, places):
            about = words[old.order] - named
            is_one_thing = len(about) == 1 or about & (item.terms - named)
            if named <= words[old.order] and is_one_thing:
                old.alive = False
        rules += [(item, text, rule) for text, rule in _rules(item)]
    mark_changed([rule for _, _, rule in rules])
    changed = [(item, text, rule) for item, text, rule in rules if rule.replaced_by]
    for item, text, _ in changed:
        _take_out(item, text)
    for item in items:
        if item.speaker is Speaker.ASSISTANT and item.facts:
            values = {figure.key for figure in _rule(item, item.text).figures}
            item.alive &= not any(_echoes(item, values, rule) for _, _, rule in changed)


def _rules(item: Item) -> list[tuple[str, Rule]]:
    """The clauses of a sentence that give a value; all of it where none does so alone."""
    parts = [(part, _rule(item, part)) for part in _CLAUSE.split(item.text)]
    parts = [(part, rule) for part, rule in parts if rule.figures]
    if parts and all(rule.about for _, rule in parts):
        return parts
    whole = _rule(item, item.text)
    return [(item.text, whole)] if whole.figures or item.kind in STANDING else []


def _rule(item: Item, text: str) -> Rule:
    text = in_digits(text)
    mention = Mention(FactKind.CONSTRAINT, text, statement_key(text), 0, len(text))
    return Rule(item.order, [mention])


def _echoes(item: Item, values: Container[str], old: Rule) -> bool:
    """Whether an item says what was changed, and the old value with it."""
    if not any(figure.key in values for figure in old.figures):
        return False
    return bool(old.about) and old.about <= item.terms


def _named_old(
    new: Item, places: Mapping[str, Sequence[Item]]
) -> Iterator[tuple[Item, frozenset[str]]]:
    """Earlier items with what a decision names as that which it takes the place of."""
    for match in _INSTEAD_OF.finditer(new.text) if new.kind in STANDING else ():
        if named := terms(match[1]):
            rarest = min((places.get(word, ()) for word in named), key=len)
            yield from ((old, named) for old in rarest if old.order < new.order)


# by values ---------------------------------------------------------------------------------------


def _by_values(items: Sequence[Item]) -> None:
    earlier: list[_Clause] = []
    for item in items:
        if not item.alive:
            continue
        says_so = _CHANGES.search(item.text) or _CHANGES_NAMED.search(item.text)
        if says_so and item.speaker is Speaker.USER and not item.inherited:
            for sentence in _SENTENCE.split(item.text):
                for clause in () if is_question(sentence) else _clauses_of(item, sentence):
                    for value in clause.values:
                        _replace(clause, sentence, value, earlier)
        elif item.speaker is Speaker.ASSISTANT:
            for clause in _clauses_of(item, item.text):
                _measured_again(clause, earlier)
        earlier += _clauses_of(item, item.text)
        del earlier[:-_LOOK_BACK]


def _clauses_of(item: Item, text: str) -> Iterator[_Clause]:
    for part in _CLAUSE.split(text):
        if values := values_in(part):
            yield _Clause(item, part, values, _subject(part))


def _replace(clause: _Clause, sentence: str, value: Value, earlier: Sequence[_Clause]) -> None:
    """Puts a value in the place of the one that it changed, and out of every echo of that; a
    sentence that names no subject ("make it four weeks") changes the last of its measure."""
    bare = not _about(sentence, value)
    new = clause.item
    best, most, newest = None, 0.0, True
    others = {_digits(one) for one in values_in(new.text) if one.key != value.key}
    for old in reversed(earlier):
        for was in old.values if old.item.alive else ():
            of_them = was.family == "" and _counts(value) and _OF_THEM.search(old.text)
            if was.family != value.family and not of_them:
                continue
            if any(one.key == value.key for one in old.values):
                continue
            shared = _in_common(clause, value, old, was)
            shared += _digits(was) in others
            stated = f"{was.text} less" not in old.text and f"{was.text} more" not in old.text
            if newest and stated and bare and not shared:
                shared = 0.5
            newest = newest and not stated
            if shared > most:
                best, most = (old, was), shared
    if best is not None:
        _settle(new, value, *best, earlier)


def _settle(new: Item, value: Value, old: _Clause, was: Value, earlier: Sequence[_Clause]) -> None:
    """Tells the new value in the place of the old one, here and in every echo."""
    about = _about(old.item.text, was) | _about(new.text, value)
    _put(old.item, old.text, was, value)
    for one in earlier:
        echo = next((each for each in one.values if each[:2] == was[:2]), None)
        if one.item is old.item or not one.item.alive or echo is None:
            continue
        if about & _about(one.item.text, echo):
            _put(one.item, one.text, echo, value)


def _digits(value: Value) -> str:
    return re.sub(r"\D.*", "", value.text)


def _counts(value: Value) -> bool:
    return value.family not in MEASURED and value.family not in ("date", "clock")


def _in_common(clause: _Clause, value: Value, old: _Clause, was: Value) -> float:
    """How many telling words say that two statements are about one thing; 0 for two things."""
    new, is_count = clause.item, _counts(value) and value.family == was.family
    if _COUNTS_ONLY.search(new.text) and not _counts(value):
        return 0
    mine, theirs = _about(clause.text, value), _about(old.text, was)
    related = mine <= theirs or theirs <= mine or (is_count and mine & theirs)
    if not _CHANGES.search(new.text) and not related:
        return 0
    strong = _CHANGES.search(_WEAK.sub("", new.text)) is not None
    if not strong and min(len(mine - theirs), len(theirs - mine)) > 1:
        return 0  # "the upload workers" and "the export workers" are two things
    shared = float(len(_about(new.text, value) & _about(old.item.text, was)))
    shared += is_count or (_counts(value) and value.family in old.item.terms)
    if value.family == "date":
        shared += bool(_DEADLINE.search(new.text) and _DEADLINE.search(old.item.text))
    return shared


@lru_cache(maxsize=16384)
def _about(text: str, value: Value) -> frozenset[str]:
    words = terms(text.replace(value.text, " ")) - _GENERAL
    return frozenset(word for word in words if not word[0].isdigit())


def _measured_again(new: _Clause, earlier: Sequence[_Clause]) -> None:
    """A state that the assistant reports anew takes the place of the one it reported before."""
    for old in earlier if new.subject else ():
        if new.subject != old.subject or old.item is new.item or not old.item.alive:
            continue
        if old.item.speaker is Speaker.ASSISTANT or old.item.kind is ItemKind.DONE:
            families = {one.family: one.key for one in new.values if one.family}
            if any(families.get(one.family, one.key) != one.key for one in old.values):
                _take_out(old.item, old.text)


def _subject(clause: str) -> frozenset[str]:
    """The telling words before the verb of a clause that says how large something is."""
    match = _STATE.match(clause)
    return terms(match["subject"]) if match else frozenset()


def _put(item: Item, clause: str, was: Value, value: Value) -> None:
    """Takes a clause out where the rest is whole; else tells the new value in brackets."""
    rest = _without(item.text, clause)
    own = _about(clause, was)
    if item.speaker is Speaker.ASSISTANT:
        item.alive = False
    elif rest and _is_whole(rest):
        item.text = rest
    elif len(own) > _MORE or (rest and len(own) >= _MORE):
        item.text = item.text.replace(was.text, f"[{value.text}]", 1)
    else:
        _take_out(item, clause)


def _take_out(item: Item, clause: str) -> None:
    rest = _without(item.text, clause)
    item.alive = bool(rest) and _is_whole(rest) and item.speaker is not Speaker.ASSISTANT
    if item.alive:
        item.text = rest
        item.facts = tuple(fact for fact in item.facts if fact.text in rest)


def _without(text: str, clause: str) -> str:
    """The text without a clause and the joint beside it, begun with a capital letter."""
    at = text.find(clause)
    if at < 0 or clause == text:
        return ""
    head = re.sub(r"(?:[,;:]|\s+(?:and|but|so|while))*\s*$", "", text[:at])
    tail = re.sub(r"^\s*(?:[,;:.!?]|(?:and|but|so|while)\b|\s)*", "", text[at + len(clause) :])
    if head and head[-1] not in ".!?" and tail:
        ends = clause.rstrip()[-1:] in ".!?" or text[at + len(clause) :].lstrip()[:1] in ".!?"
        return f"{head}. {tail}" if ends else f"{head}, {tail}"
    rest = f"{head} {tail}".strip()
    if rest and rest[-1] not in ".!?":
        rest += text.rstrip()[-1] if text.rstrip()[-1] in ".!?" else ""
    return rest[:1].upper() + rest[1:] if not head else rest


def _is_whole(text: str) -> bool:
    """Whether what is left of a sentence is one."""
    words = text.split()
    return (
        len(words) >= 3
        and not _HANGS.match(text)
        and (_FINITE.search(text) is not None or bool(kinds_of(text, by_user=True)))
    )


# by names ----------------------------------------------------------------------------------------


def _duties(items: Sequence[Item]) -> list[tuple[Item, str]]:
    """The clauses that say what somebody has to do, with their items."""
    return [
        (item, clause)
        for item in items
        if item.kind not in _NOT_STATED and (_DUTY.search(item.text) or _ROLE.search(item.text))
        for clause in _CLAUSE.split(item.text)
    ]


def _by_person(new: Item, duties: Sequence[tuple[Item, str]]) -> None:
    """Duties of somebody who is away, and those that somebody else has now."""
    away = [match["name"] for match in _AWAY.finditer(new.text)]
    taken = list(_DUTY.finditer(new.text)) if _CHANGES.search(new.text) else []
    for old, clause in duties if away or taken else ():
        if not old.alive or old.order >= new.order:
            continue
        had = _DUTY.search(clause)
        role = _ROLE.search(clause)
        name = had["name"] if had else role["name"] if role else ""
        if name in away or (had and any(_same_duty(had, now) for now in taken)):
            _take_out(old, clause)


def _same_duty(had: re.Match[str], now: re.Match[str]) -> bool:
    if had["name"] == now["name"]:
        return False
    same_verb = had["verb"].rstrip("s") == now["verb"].rstrip("s")
    return same_verb and bool(terms(had["rest"]) & terms(now["rest"]))


def _by_name(new: Item, items: Sequence[Item]) -> None:
    """What is called otherwise now: it is named by its new name."""
    pairs = [(m["old"], m["new"]) for form in (_RENAME, _NOT_SO) for m in form.finditer(new.text)]
    called = _CALLED.search(new.text) if _CHANGES.search(new.text) else None
    if not pairs and not called:
        return
    before = [one for one in items[: new.order] if one.alive and one.kind not in _NOT_STATED]
    if called:
        was = _WAS.search(new.text)
        names = [match["old"] for one in before for match in _NAMING.finditer(one.text)]
        old = was["old"] if was else names[-1] if names else ""
        pairs += [(old, called["quoted"] or called["plain"])] if old else []
    for old_name, name in pairs:
        form = re.compile(rf"(?<!\w){re.escape(old_name)}(?!\w)")
        for item in before:
            if item.alive and form.search(item.text):
                _rename(item, form, name)


def _rename(item: Item, form: re.Pattern[str], name: str) -> None:
    clause = next((one for one in _CLAUSE.split(item.text) if form.search(one)), item.text)
    naming = _NAMING.search(clause) or name in item.text
    if item.speaker is Speaker.ASSISTANT or naming:
        _take_out(item, clause)
    else:
        item.text = form.sub(f"[{name}]", item.text)

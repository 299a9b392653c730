"""What a sentence says a thing is: its subject, and the value given to it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.models.offline.extractive.atoms import Atom
from explorer.models.offline.extractive.statement import Statement
from explorer.models.offline.extractive.words import STOP, WORD, stem, word_set

CHANGE = re.compile(
    r"""\b(?:rais(?:e|ed|ing)|lower(?:ed|ing)?|bump(?:ed|ing)?|increas(?:e|ed|ing)|decreas(?:e|ed|ing)|
    reduc(?:e|ed|ing)|chang(?:ed|ing)|change\s+(?:the|our|that|this|it|its|\S+\s+(?:\S+\s+)?to\b)|switch(?:ed|ing)?|mov(?:e|ed|ing)|updat(?:e|ed|ing)|cut|
    drop(?:ped|ping)?|extend(?:ed|ing)?|shorten(?:ed)?|set|make|made|instead|actually|now|no\s+longer|
    correction|renam(?:e|ed|ing)|replac(?:e|ed|ing)|revis(?:e|ed)|adjust(?:ed)?|doubl(?:e|ed)|halv(?:e|ed)|
    tighten(?:ed)?|relax(?:ed)?|shift(?:ed)?|push(?:ed)?\s+back|postpon(?:e|ed)|new|became|become|
    from\s+now\s+on|second\s+thought|scratch\s+that|turns?\s+out|upgrad(?:e|ed)|downgrad(?:e|ed)|bring|
    brought|grow|grew|shrink|shrank|slipped|go(?:es)?\s+(?:up|down)|went\s+(?:up|down)|(?:go|going|went|are|is|changed?)\s+back\s+to|
    anymore|any\s+more|changed\s+(?:my|our)\s+mind|migrat(?:e|ed)|swap(?:ped)?|point(?:ed)?|relocat(?:e|ed))\b""",
    re.IGNORECASE | re.VERBOSE,
)
HYPOTHETICAL = re.compile(
    r"\b(?:could|might|would|maybe|perhaps|should\s+we|shall\s+we|what\s+if|if\s+(?:we|you|i)|"
    r"whether|consider(?:ed|ing)?|considering|used\s+to|previously|was\s+previously|originally)\b",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\b(?:do\s+not|don['’]?t|never|must\s+not|mustn['’]t|should\s+not|shouldn['’]t|cannot|can['’]t)\s+"
    r"(?:\w+\s+)?(?:rais|lower|bump|increas|decreas|reduc|chang|switch|mov|updat|set|renam|replac|exceed)",
    re.IGNORECASE,
)
CLAUSE = re.compile(
    r"[;,]\s+(?:and\s+|but\s+|so\s+|then\s+|while\s+)?|\s+(?:and|but|while|whereas)\s+|"
    r"\s+[-–—]+\s+|(?<=[a-z]):\s+(?=\w+ \w+ )"
)
_LINK = re.compile(
    r"""(?:(?:^|(?<=[\s(]))(?:is|are|was|were|be|been|being|becomes?|became|to|of|at|in|on|by|as|from|now|
    currently|set|equals?|stays?|remains?|about|around|roughly|exactly|only|just|most|least|than|more|
    less|up|under|below|above|over|within|after|every|max(?:imum)?|min(?:imum)?|limited|capped|should|must|will|
    can|may|has|have|runs?|running|listens?|listening|lives?|sits|located|found|called|named|defaults?|default|
    the|a|an|our|its|new|current|it|not|exceed|still|always|back|down|per|goes|points?|kept|keep|there|here|
    that|this|due|today|version|value)|[=:(~≈<>≤≥]+)\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_TRUE_LINKS = word_set(
    """
    is are was were be been becomes become became to of at in on = : equals equal stays stay
    remains remain now most least than max maximum min minimum limited capped under below
    above over within runs run listens lives live sits called named defaults default exceed
    after every points goes from
    """
)
_FROM_OLD = re.compile(r"\s+from\s+\S+(?:\s+[A-Za-z%]+)?\s*$", re.IGNORECASE)
_CHANGE_VERBS = frozenset(
    stem(w)
    for w in word_set(
        """
    raise raised lower lowered bump bumped increase increased decrease reduce reduced change
    changed switch switched move moved update updated cut drop dropped extend extended set
    make made rename renamed replace adjust double tighten relax shift push postpone upgrade
    upgraded downgrade bring keep allow use let require support want need run
    """
    )
)
_PRONOUN = re.compile(r"\b(?:it|that|this|them)\b", re.IGNORECASE)
_TIME = word_set(
    """
    ms s sec secs second seconds m min mins minute minutes h hr hrs hour hours day days week
    weeks month months year years us ns µs
    """
)
_SIZE = word_set(
    """
    b kb mb gb tb kib mib gib tib byte bytes k
    """
)
_SHARE = frozenset(["%", "percent", "pct"])
_BLANK_UNITS = word_set(
    """
    times x per of total max each or more
    """
)
GENERIC = frozenset(
    stem(w)
    for w in word_set(
        """
    line step test phase case item issue page section part option attempt file function
    class method module package commit bug error thing one number value row column index
    example task branch ticket pr request response call job run result output time version
    """
    )
)


_MOST_THINGS = 40
"""Exact things of a sentence; one with more is a list of data and claims nothing."""
# Two commands or tickets after like words are two commands; none takes the other's place.
_NEVER_REPLACED = ("command", "ticket")


@dataclass(slots=True)
class Claim:
    """That `heads` (its possible names) have this value, said in a clause of a statement."""

    statement: Statement
    kind: str
    value: str
    dimension: str
    heads: frozenset[str]
    modifiers: frozenset[str]
    subject: frozenset[str]
    linked: bool
    change: bool
    clause: str


def claims_of(statement: Statement) -> list[Claim]:
    """The claims of a sentence: one for each exact value in it that has a subject."""
    text = statement.text
    if not 0 < len(statement.atoms) <= _MOST_THINGS or text.endswith("?") or len(text) > 500:
        return []
    words = _without_atoms(statement)  # "make" in a command changes nothing
    if HYPOTHETICAL.search(words) or REFUSAL.search(words):
        return []
    change = CHANGE.search(words) is not None
    claims: list[Claim] = []
    for start, end in clause_spans(text, statement.atoms):
        clause = text[start:end]
        for atom in statement.atoms:
            if start <= atom.start < end:
                claims.append(_claim(statement, clause, atom, start, change))
    return claims


def _without_atoms(statement: Statement) -> str:
    text = statement.text
    for atom in reversed(statement.atoms):
        text = text[: atom.start] + " # " + text[atom.end :]
    return text


def clause_spans(text: str, atoms: tuple[Atom, ...]) -> list[tuple[int, int]]:
    """Offsets of the clauses; never cut inside an exact thing."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in CLAUSE.finditer(text):
        if any(a.start < match.end() and match.start() < a.end for a in atoms):
            continue
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return spans


def _claim(statement: Statement, clause: str, atom: Atom, offset: int, change: bool) -> Claim:
    before = clause[: atom.start - offset].rstrip()
    before, linked = _unlinked(before)
    before = _FROM_OLD.sub("", before)
    value, unit = _value_and_unit(atom)
    words = before.split()
    near: list[str] = []
    for word in reversed(words):
        bare = word.strip("\"'`*_()[]")
        if not WORD.match(bare) or bare.lower() in STOP or bare[0].isdigit():
            if near or bare.lower() in ("it", "that", "this"):
                break
            continue
        low = stem(bare)
        if low in _CHANGE_VERBS:
            break
        near.append(low)
        if len(near) == 4:
            break
    dimension = _dimension(unit)
    heads, modifiers = set(near[:1]), set(near[1:])
    if dimension == "count" and unit not in _BLANK_UNITS:
        counted = _counted(clause, atom, offset)
        heads |= set(counted[-1:])
        modifiers |= set(counted[:-1])
    rest = clause[: atom.start - offset] + " " + clause[atom.end - offset :]
    if not near and _PRONOUN.search(clause):
        rest = statement.text.replace(atom.text, " ")  # "the limit is too low, make it 80"
    subject = frozenset(
        stem(w)
        for w in WORD.findall(rest)
        if w.lower() not in STOP and stem(w) not in _CHANGE_VERBS and not w[0].isdigit()
    )
    return Claim(
        statement,
        _family(atom),
        value,
        dimension,
        frozenset(heads),
        frozenset(modifiers),
        subject,
        linked,
        change,
        clause,
    )


def _counted(clause: str, atom: Atom, offset: int) -> list[str]:
    """The stems of what a number counts: "80 concurrent upload workers" gives all three."""
    found: list[str] = []
    for word in clause[atom.start - offset :].split()[1:6]:
        bare = word.strip(".,;:!?()")
        if not bare.isalpha() or bare.lower() in STOP:
            break
        found.append(stem(bare))
        if bare != word:
            break
    return found


def _unlinked(before: str) -> tuple[str, bool]:
    linked = False
    while True:
        match = _LINK.search(before)
        if match is None:
            return before, linked
        word = match.group().strip(" (").lower()
        linked = linked or word in _TRUE_LINKS or word[:1] in "=:~<>≤≥"
        before = before[: match.start()].rstrip()


def _value_and_unit(atom: Atom) -> tuple[str, str]:
    if atom.kind != "number":
        return atom.key, ""
    match = re.match(r"([-+$€£~<>≤≥≈]*[\d.,_ ]*\d|\w+)\s*(.*)", atom.text)
    if match is None:
        return atom.key, ""
    return match.group(1).strip("~≈").replace(",", "").replace("_", ""), match.group(2).lower()


def _dimension(unit: str) -> str:
    if not unit:
        return ""
    if unit in _TIME:
        return "time"
    if unit in _SIZE:
        return "size"
    if unit in _SHARE:
        return "share"
    return "count"


def _family(atom: Atom) -> str:
    """Kinds of value that can take each other's place."""
    if atom.kind in ("code", "symbol", "name", "env", "quote"):
        return "word"
    if atom.kind in ("host", "url"):
        return "address"
    return atom.kind


def same_subject(new: Claim, old: Claim) -> float:
    """How surely two claims speak of one thing, 0 for not. They must differ in value."""
    if new.kind != old.kind or new.value == old.value:
        return 0.0
    if new.dimension and old.dimension and new.dimension != old.dimension:
        return 0.0
    core = new.heads & old.heads
    if new.kind in _NEVER_REPLACED:
        return 0.0
    if new.kind == "word" and not core:
        return 0.0
    if new.kind not in ("number", "version") and not (new.linked and old.linked):
        return 0.0
    if not core:
        if not new.change or not (new.heads & old.subject or old.heads & new.subject):
            return 0.0
        if old.heads - new.subject and new.modifiers - old.subject:
            return 0.0
        core = (new.heads & old.subject) | (old.heads & new.subject)
    mine, theirs = new.modifiers - core, old.modifiers - core
    if not (mine <= theirs or theirs <= mine):
        return 0.0
    if (mine or theirs) and not (mine & theirs) and _told_apart(new, old, core):
        return 0.0
    if not new.change:
        # Two like sentences may both hold ("the spec is at ..."); only a figure for the very
        # same subject is taken for a correction.
        if new.kind not in ("number", "version") or not (new.linked and old.linked):
            return 0.0
        if core <= GENERIC or mine != theirs or not new.subject <= old.subject | core:
            return 0.0
    elif (
        core <= GENERIC
        and new.subject != old.subject
        and not mine & theirs
        and not (new.subject & old.subject) - core
    ):
        return 0.0
    shared = new.subject & old.subject
    return 1.0 + len(core & new.heads & old.heads) + len(shared) / (1 + len(new.subject))


def _told_apart(new: Claim, old: Claim, core: frozenset[str]) -> bool:
    """Whether other words of both clauses name different things ("for uploads", "for logins")."""
    mine = new.subject - old.subject - core
    theirs = old.subject - new.subject - core
    shared = (new.subject & old.subject) - core
    return len(mine) >= 2 and len(theirs) >= 2 and not shared

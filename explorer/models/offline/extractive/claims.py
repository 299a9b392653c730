"""What a sentence says a thing is, or that one thing was chosen over another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from explorer.models.offline.extractive.statement import (
    STOP,
    WORD,
    Atom,
    Kind,
    Statement,
    lower_words,
    stem,
    terms_of,
    word_set,
)

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


_PHRASE = (
    r"[`\"'*]*([\w@./+#:-]+(?:\s+"
    r"(?!to\b|for\b|with\b|in\b|because\b|and\b|as\b|by\b|since\b|so\b)[\w@./+#-]+){0,2})[`\"'*]*"
)
_REPLACED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bfrom\s+(?:the\s+|our\s+|using\s+)?{_PHRASE}\s+(?:over\s+)?to\s+",
        rf"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|and\s+not|,\s*not|away\s+from|no\s+longer(?:\s+(?:use|using|on|in|need))?)\s+(?:the\s+|our\s+|using\s+)?{_PHRASE}",
        rf"\b(?:replac(?:e|ed|ing)|swap(?:ped|ping)?(?:\s+out)?|renam(?:e|ed|ing)|mov(?:e|ed|ing)|chang(?:e|ed|ing)|convert(?:ed)?|migrat(?:e|ed))\s+(?:the\s+|our\s+|all\s+)?{_PHRASE}\s+(?:to|with|by|for|into)\s+",
        rf"\b(?:drop(?:ped|ping)?|ditch(?:ed|ing)?|abandon(?:ed|ing)?|scrap(?:ped|ping)?|get\s+rid\s+of|stop\s+using|retir(?:e|ed|ing)|forget(?:\s+about)?|forget)\s+(?:the\s+|our\s+)?{_PHRASE}",
        rf"\bnot\s+{_PHRASE}\s*,?\s+but\s+",
    )
)
_NAMING = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|go(?:ing)?\s+(?:with|for)|went\s+with|cho(?:o)?s(?:e|en|ing)|pick(?:ed)?|stor(?:e|ed|ing)|"
    r"adopt(?:ed)?|build|built|runs?\s+on|written\s+in|write|on|with|in|is|are|via|through|to|prefer|settled\s+on|"
    r"decided\s+on|agreed\s+on|opted\s+for|stick(?:ing)?\s+with|keep|call(?:ed)?|named?|indent(?:ed)?)\b",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"\b(?:for|as)\s+(?:the\s+|our\s+|all\s+|a\s+)?([\w\s/-]{3,40})", re.IGNORECASE
)
_LIFT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:you|we|it)(?:['’]re|\s+are|\s+is)?\s+(?:can|may|could)\s+now\s+(?P<what>.+)",
        r"\b(?:you|we)\s+(?:are\s+now\s+|now\s+)?(?:may|allowed\s+to|free\s+to)\s+(?P<what>.+)",
        r"\b(?:it['’]?s|is)\s+(?:now\s+)?(?:ok(?:ay)?|fine|alright)\s+(?:now\s+)?to\s+(?P<what>.+)",
        r"\bfeel\s+free\s+to\s+(?P<what>.+)",
        r"\b(?:forget|ignore|disregard|drop|scrap|remove|lift|relax|cancel|scratch|waive)\s+(?:about\s+)?(?:what\s+i\s+said\s+"
        r"about|the|that|my|our)\s+(?P<what>.+?)(?:\s+(?:rule|requirement|constraint|restriction|part|idea|plan|limit|ban))?\s*(?:[.,;!]|$)",
        r"\bnever\s*mind\s+(?:about\s+)?(?:the\s+)?(?P<what>.+)",
        r"\bno\s+(?:longer\s+)?need\s+(?:to|for)\s+(?P<what>.+?)(?:\s+any\s?more)?[.!]?$",
        r"^(?:\W*(?:the|that|this|our)\s+)?(?P<what>.+?)\s+(?:is|are|does|do|has|have)(?:\s+not|n['’]t|\s+been)?\s+(?:no\s+longer\s+"
        r"(?:needed|required|necessary|relevant|a\s+(?:requirement|constraint|concern|goal)|apply|applies|in\s+scope|wanted)"
        r"|(?:needed|required|necessary|apply)\s+any\s?more|lifted|out\s+of\s+scope|cancelled|canceled|off\s+the\s+table|dropped)",
        r"^(?P<what>.+?)\s+no\s+longer\s+(?:applies|holds|matters)",
    )
)
_REPLACING = word_set(
    """
    from instead rather place not away longer replace replaced replacing swap swapped swapping
    rename renamed renaming move moved moving change changed changing convert converted migrate
    migrated drop dropped dropping ditch ditched ditching abandon abandoned abandoning scrap
    scrapped scrapping rid stop retire retired retiring forget
    """
)
_LIFTING = word_set(
    """
    now may allowed free fine ok okay alright forget ignore disregard drop scrap remove lift relax
    cancel scratch waive mind need longer anymore any lifted scope cancelled canceled table dropped
    """
)
_LIFT_NOISE = frozenset(
    stem(w)
    for w in word_set(
        """
    rule requirement constraint restriction part idea plan thing limit ban longer needed
    need required anymore said allowed free touch change edit modify
    """
    )
)
_NEGATION = re.compile(
    r"\b(?:never|not|no|don['’]?t|must\s*n['’]?t|cannot|can['’]?t|avoid|without|shouldn['’]t|stop|"
    r"forbidden|disable[ds]?|off|refrain)\b",
    re.IGNORECASE,
)
_RIVALS: tuple[frozenset[str], ...] = tuple(
    frozenset(stem(word) for word in line.split())
    for line in (
        "postgres postgresql mysql mariadb sqlite mongodb mongo dynamodb cassandra cockroachdb",
        "redis memcached valkey hazelcast",
        "npm pnpm yarn bun",
        "tabs spaces",
        "rest graphql grpc soap trpc",
        "kafka rabbitmq sqs nats pulsar kinesis",
        "pytest unittest nose",
        "jest vitest mocha jasmine ava",
        "react vue svelte angular solid preact",
        "flask django fastapi starlette tornado",
        "aws gcp azure hetzner digitalocean",
        "jwt cookies sessions oauth saml",
        "docker podman",
        "webpack vite rollup esbuild parcel",
        "yaml toml json ini xml",
        "staging production",
        "rust golang python typescript java kotlin ruby elixir",
        "poetry uv pipenv hatch pdm",
        "terraform pulumi cloudformation",
        "jenkins circleci gitlab buildkite",
        "websocket websockets sse polling",
        "squash rebase merge",
        "playwright cypress selenium",
    )
)
_STRONG = re.compile(
    r"\b(?:instead|actually|changed\s+(?:my|our)\s+mind|second\s+thought|scratch\s+that|switch(?:ed|ing)?|"
    r"no\s+longer|from\s+now\s+on|now|after\s+all|mov(?:e|ed|ing)\s+to|migrat(?:e|ed|ing)|replac(?:e|ed)|"
    r"renam(?:e|ed|ing)|swap(?:ped)?|convert(?:ed)?|drop(?:ped)?|ditch(?:ed)?|abandon(?:ed)?|scrap(?:ped)?)\b",
    re.IGNORECASE,
)


def rivals_of(terms: frozenset[str]) -> frozenset[str]:
    """Words that name an alternative to something in `terms`."""
    found: frozenset[str] = frozenset()
    for rivals in _RIVALS:
        if rivals & terms:
            found |= rivals - terms
    return found


def replaced_phrases(text: str) -> list[str]:
    """What a sentence names as the old one ("use Y instead of X" gives X)."""
    found: list[str] = []
    if lower_words(text).isdisjoint(_REPLACING):
        return found
    for pattern in _REPLACED:
        for match in pattern.finditer(text):
            phrase = match.group(1).strip(" .,;:!?")
            words = [w for w in WORD.findall(phrase) if w.lower() not in STOP]
            if words or any(ch.isdigit() for ch in phrase):
                found.append(phrase)
    return found


def rival_choice(new: str, old: str, phrase: str) -> bool:
    """Whether an older sentence chooses `phrase` for what the newer one chooses otherwise."""
    index = _word_index(old.lower(), phrase.lower().split()[0])
    if index < 0 or not _NAMING.search(old[max(0, index - 40) : index]):
        return False
    if _NEGATION.search(old[max(0, index - 40) : index]):
        return False
    # "I fixed the test, not the code" replaces nothing that merely stands in the code.
    shared = (terms_of(new) & terms_of(old)) - terms_of(phrase)
    if not shared and not _STRONG.search(new):
        return False
    mine, theirs = purpose(new), purpose(old)
    return not (mine and theirs and not mine & theirs)


def _word_index(text: str, word: str) -> int:
    """Where a word stands by itself: "toml" does not stand in "config.toml"; -1 for nowhere."""
    index = text.find(word)
    while index >= 0:
        end = index + len(word)
        inner = text[end : end + 2]
        before_ok = index == 0 or not (text[index - 1].isalnum() or text[index - 1] in "./-_")
        after_ok = not inner or not (
            inner[0].isalnum() or inner[0] in "/-_" or (inner[0] == "." and inner[1:].isalnum())
        )
        if before_ok and after_ok:
            return index
        index = text.find(word, index + 1)
    return -1


@lru_cache(maxsize=8192)
def purpose(text: str) -> frozenset[str]:
    """What something is chosen for: the words after "for" or "as"."""
    terms: frozenset[str] = frozenset()
    for match in _PURPOSE.finditer(text):
        terms |= terms_of(" ".join(match.group(1).split()[:4]))
    return terms


def lifted_terms(text: str) -> frozenset[str]:
    """The words of the rule that a sentence takes back; empty when it takes none back."""
    if lower_words(text).isdisjoint(_LIFTING):
        return frozenset()
    for pattern in _LIFT:
        match = pattern.search(text)
        if match:
            return terms_of(match.group("what")[:120]) - _LIFT_NOISE
    return frozenset()


@lru_cache(maxsize=8192)
def _negates(text: str) -> bool:
    return _NEGATION.search(text) is not None


@lru_cache(maxsize=8192)
def _strong(text: str) -> bool:
    return _STRONG.search(text) is not None


def turned_round(new: Statement, olds: Iterable[Statement]) -> list[Statement]:
    """Those of the older choices that a newer one says the opposite of, or picks the rival of."""
    rivals = [group for group in _RIVALS if group & new.terms]
    negates = _negates(new.text)
    return [old for old in olds if _turned(new, old, rivals, negates)]


def _turned(new: Statement, old: Statement, rivals: list[frozenset[str]], negates: bool) -> bool:
    if new.order <= old.order or new is old:
        return False
    shared = new.terms & old.terms
    alike = len(shared) >= 3 and len(shared) / len(new.terms | old.terms) >= 0.6
    if alike and negates != _negates(old.text):
        return True
    if rivals and old.kind in (Kind.DECISION, Kind.PREFERENCE):
        for group in rivals:
            mine, theirs = new.terms & group, old.terms & group
            if theirs and not mine & theirs:
                here, there = purpose(new.text), purpose(old.text)
                strong = _strong(new.text)
                same = bool(here & there) if here and there else len(shared) >= 2 or strong
                if same and (strong or (here and here == there)):
                    return True
    return _same_frame(new, old, shared)


def _same_frame(new: Statement, old: Statement, shared: frozenset[str]) -> bool:
    """ "Use X for Y" and later "use Z for Y instead"."""
    if new.kind not in (Kind.DECISION, Kind.PREFERENCE) or old.kind is not new.kind:
        return False
    if not shared or not _strong(new.text):
        return False
    here, there = purpose(new.text), purpose(old.text)
    return bool(here) and here == there

"""Choices and rules without a number in them: which one takes the place of which."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from explorer.models.offline.extractive.statement import Kind, Statement
from explorer.models.offline.extractive.words import (
    STOP,
    WORD,
    lower_words,
    stem,
    terms_of,
    word_set,
)

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

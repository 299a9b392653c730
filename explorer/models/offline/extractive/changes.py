"""Drops what no longer holds: changed values, replaced choices, lifted rules, finished work."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from explorer.models.offline.extractive.claims import (
    Claim,
    claims_of,
    clause_spans,
    lifted_terms,
    replaced_phrases,
    rival_choice,
    rivals_of,
    same_subject,
    turned_round,
)
from explorer.models.offline.extractive.request import stoppable
from explorer.models.offline.extractive.statement import (
    Kind,
    Speaker,
    Statement,
    atoms_of,
    terms_of,
)

_PROSE = (Speaker.USER, Speaker.ASSISTANT, Speaker.SUMMARY)
_TURNING = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.REQUEST, Kind.FACT)
_EXACT = (Kind.LATEST, Kind.ERROR, Kind.OUTPUT, Kind.COMMAND, Kind.FILE)
_POINTS_BACK = re.compile(
    r"^\W*(?:no,?\s+|ok,?\s+|actually,?\s+|please\s+)*(?:(?:make|set|change|bump|raise|lower|keep|cut)\s+)"
    r"(?:it|that|this|them)\b|^\W*(?:actually|no|sorry|rather)\b,?\s+\S+(?:\s+\w+)?\W*$",
    re.IGNORECASE,
)
_LOOK_BACK = 24
_CHOICES = (
    Kind.DECISION,
    Kind.CONSTRAINT,
    Kind.PREFERENCE,
    Kind.NEXT,
    Kind.REQUEST,
    Kind.DOING,
    Kind.GOAL,
    Kind.FACT,
)


def settle(statements: list[Statement], cancelled: Callable[[], bool]) -> None:
    """Marks every superseded statement, oldest first; works in place."""
    register = _Register()
    prose = [s for s in statements if s.alive and s.speaker in _PROSE and s.kind not in _EXACT]
    for statement in stoppable(prose, cancelled):
        if statement.text.endswith("?") and statement.kind is not Kind.REQUEST:
            continue
        register.take(statement)


class _Register:
    """What holds so far, findable by subject, by value and by word."""

    def __init__(self) -> None:
        self._by_head: dict[tuple[str, str], list[Claim]] = defaultdict(list)
        self._by_value: dict[tuple[str, str], list[Claim]] = defaultdict(list)
        self._choices: dict[str, list[Statement]] = defaultdict(list)
        self._retired: set[tuple[str, str, str]] = set()
        self._recent: list[Claim] = []

    def take(self, statement: Statement) -> None:
        """Let a newer statement overrule older ones, then remember it."""
        replaced = self._apply_replacements(statement)
        claims = claims_of(statement)
        for claim in claims:
            self._apply_claim(claim, replaced)
        self._apply_choice(statement)
        if not statement.alive:
            return
        for claim in claims:
            for head in claim.heads | (claim.subject if len(claim.subject) <= 12 else frozenset()):
                self._by_head[claim.kind, head].append(claim)
            self._by_value[claim.kind, claim.value].append(claim)
            self._recent.append(claim)
        if statement.kind in _CHOICES:
            for term in statement.terms:
                self._choices[term].append(statement)

    def _apply_claim(self, claim: Claim, replaced: bool) -> None:
        if any((claim.kind, head, claim.value) in self._retired for head in claim.heads):
            if not claim.change:
                # An echo of what was already overruled must not bring it back.
                excise(claim.statement, claim)
                return
            self._retired -= {(claim.kind, head, claim.value) for head in claim.heads}
        old = self._best(claim)
        if old is None and claim.change and not replaced and _POINTS_BACK.search(claim.clause):
            old = self._latest_alike(claim)
        if old is None:
            return
        self._retire(old, claim)

    def _best(self, claim: Claim) -> Claim | None:
        best: Claim | None = None
        best_score = 0.0
        heads = claim.heads | (claim.subject if claim.change else frozenset())
        for head in heads:
            for old in self._by_head.get((claim.kind, head), [])[-_LOOK_BACK:]:
                if not old.statement.alive or old.statement is claim.statement:
                    continue
                if old.clause not in old.statement.text:
                    continue
                score = same_subject(claim, old)
                newer = best is not None and old.statement.order > best.statement.order
                if score > best_score or (score and score == best_score and newer):
                    best, best_score = old, score
        return best

    def _latest_alike(self, claim: Claim) -> Claim | None:
        """For "make it 80": the latest thing that had a value of this sort."""
        for old in reversed(self._recent[-6:]):
            alike = old.kind == claim.kind and old.dimension == claim.dimension
            if alike and old.value != claim.value and old.statement.alive and old.linked:
                return old
        return None

    def _retire(self, old: Claim, new: Claim) -> None:
        """Every older mention of this value for this subject goes."""
        for head in old.heads & new.heads or old.heads or new.heads:
            self._retired.add((old.kind, head, old.value))
        subject = old.heads | new.heads
        for mention in self._by_value[old.kind, old.value][-_LOOK_BACK:]:
            about = mention.heads | mention.subject
            if mention is old or (
                subject & about and mention.statement.order < new.statement.order
            ):
                excise(mention.statement, mention)
        strip_old_mention(new.statement, old.value)

    def _apply_replacements(self, statement: Statement) -> bool:
        """ "from X to Y", "Y instead of X", "rename X to Y": X is named outright."""
        found = False
        for phrase in replaced_phrases(statement.text):
            terms = terms_of(phrase)
            values = {atom.key for atom in atoms_of(phrase)}
            for value in values:
                for kind in ("number", "path", "version", "word", "address", "date", "hash"):
                    for mention in self._by_value.get((kind, value), [])[-_LOOK_BACK:]:
                        shares = (
                            mention.subject & statement.terms or mention.heads & statement.terms
                        )
                        if kind == "path" or shares:
                            excise(mention.statement, mention)
                            found = True
            if terms and self._retire_choices(statement, phrase, terms):
                found = True
            if found:
                strip_old_mention(statement, phrase)
        return found

    def _retire_choices(self, statement: Statement, phrase: str, terms: frozenset[str]) -> bool:
        rarest = min(terms, key=lambda term: len(self._choices.get(term, ())))
        hit = False
        for old in self._choices.get(rarest, [])[-_LOOK_BACK:]:
            if old.alive and terms <= old.terms and rival_choice(statement.text, old.text, phrase):
                drop_part(old, terms, "replaced")
                hit = True
        return hit

    def _apply_choice(self, statement: Statement) -> None:
        lifted = lifted_terms(statement.text)
        if lifted:
            self._lift(statement, lifted)
        elif statement.kind in _TURNING:
            for old in turned_round(statement, self._alike(statement)):
                drop_part(old, statement.terms, "turned round")

    def _lift(self, statement: Statement, lifted: frozenset[str]) -> None:
        rules = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.NEXT, Kind.REQUEST)
        for term in lifted:
            for old in self._choices.get(term, [])[-_LOOK_BACK:]:
                if not old.alive or old.kind not in rules or old is statement:
                    continue
                shared = lifted & old.terms
                enough = len(shared) >= max(1, round(0.6 * min(len(lifted), len(old.terms))))
                if enough and (len(shared) > 1 or len(lifted) == 1):
                    drop_part(old, lifted, "lifted")

    def _alike(self, statement: Statement) -> Iterable[Statement]:
        """Older choices that share words with this one, or name a rival of one of its words."""
        counts: dict[int, tuple[int, Statement]] = {}
        for term in statement.terms | rivals_of(statement.terms):
            weight = 1 if term in statement.terms else 2
            for old in self._choices.get(term, [])[-_LOOK_BACK:]:
                if old.alive:
                    count = counts.get(id(old), (0, old))[0]
                    counts[id(old)] = (count + weight, old)
        return [old for count, old in counts.values() if count >= 2]


def drop_part(statement: Statement, terms: frozenset[str], reason: str) -> None:
    """Drop the clauses that speak of `terms`; the whole sentence when they are most of it."""
    text = statement.text
    spans = clause_spans(text, statement.atoms)
    scored = [(len(terms_of(text[start:end]) & terms), (start, end)) for start, end in spans]
    most = max(score for score, _ in scored)
    kept = [span for score, span in scored if score < max(1, most)]
    if most == 0 or not _keep(statement, kept):
        statement.dropped = reason


def _keep(statement: Statement, spans: list[tuple[int, int]]) -> bool:
    """Reduce a sentence to some of its clauses; False when too little would be left."""
    text = statement.text
    rest = ", ".join(text[start:end].strip(" ,;.") for start, end in spans if start < end)
    atoms = atoms_of(rest)
    if len(terms_of(rest)) < (2 if atoms else 3):
        return False
    _reword(statement, rest[:1].upper() + rest[1:] + ("." if text.endswith(".") else ""))
    return True


def excise(statement: Statement, claim: Claim) -> None:
    """Take one clause out of a sentence; drop the sentence when little else is left."""
    if not statement.alive:
        return
    text = statement.text
    if claim.clause not in text:
        return
    spans = [
        (start, end)
        for start, end in clause_spans(text, statement.atoms)
        if text[start:end] != claim.clause
    ]
    if not _keep(statement, spans):
        statement.dropped = "changed later"


def strip_old_mention(statement: Statement, old: str) -> None:
    """Take "from 50", "(was 50)", "instead of 50" out of the sentence that gives the new value."""
    text = statement.text
    wanted = old.strip().lower()
    place = text.lower().find(wanted)
    while place >= 0:
        before = _OLD_BEFORE.search(text[:place])
        end = place + len(wanted)
        whole = end >= len(text) or not (text[end].isalnum() or text[end] == "_")
        if before is not None and whole:
            if wanted[-1:].isdigit():
                end += len(_UNIT_AFTER.match(text, end).group())  # type: ignore[union-attr]
            end += len(_CLOSING.match(text, end).group())  # type: ignore[union-attr]
            shorter = (text[: before.start()] + text[end:]).strip(" ,;")
            if len(shorter) >= 8:
                _reword(statement, re.sub(r"\s{2,}", " ", shorter))
            return
        place = text.lower().find(wanted, place + 1)


_OLD_BEFORE = re.compile(
    r"\s*(?:[,(]\s*)?\b(?:(?:up|down|away)\s+)?(?:from|instead\s+of|rather\s+than|was|previously|formerly|"
    r"used\s+to\s+be|replacing|not|no\s+longer|in\s+place\s+of|over)\s+(?:(?:the|our|old|current|previous|"
    r"using|at)\s+)*[`\"'*]*$",
    re.IGNORECASE,
)
_UNIT_AFTER = re.compile(r"(?:\s?(?:%|(?!to\b|and\b|or\b|for\b|in\b|on\b|as\b)[A-Za-z]{1,12}\b))?")
_CLOSING = re.compile(r"[`\"'*]*\)?")


def _reword(statement: Statement, text: str) -> None:
    statement.text = text
    statement.atoms = atoms_of(text)
    statement.terms = terms_of(text)
    statement.keys = frozenset(atom.key for atom in statement.atoms)


_OPEN = (Kind.DOING, Kind.NEXT, Kind.BLOCKED, Kind.REQUEST)
_OPEN_LOOK_BACK = 64
_LATE = 0.2
_LAST_ANNOUNCED = 2
_WEAK = ("name", "symbol", "code", "number", "quote")
_SAME_WORDS = (Kind.ERROR, Kind.OUTPUT, Kind.COMMAND, Kind.DONE, Kind.FILE)
_SAID_AGAIN = (Speaker.ASSISTANT, Speaker.THINKING)


def close_finished(statements: list[Statement]) -> None:
    """Drops open work that a later report of done work covers; works in place.

    Work announced long before the end of the conversation and never reported is dropped
    as well when it was only the assistant's own next move.
    """
    by_term: dict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        if not statement.alive:
            continue
        if statement.kind is Kind.DONE:
            _close(statement, by_term)
        if statement.kind in _OPEN:
            for term in statement.terms:
                by_term[term].append(statement)
    _keep_last_announced(statements)


def _keep_last_announced(statements: list[Statement]) -> None:
    """What was announced and then followed by other work has its results, or none to tell."""
    left = _LAST_ANNOUNCED
    for statement in reversed(statements):
        if statement.kind is not Kind.DOING or statement.inherited or not statement.alive:
            continue
        begun = statement.text.endswith(":") and left < _LAST_ANNOUNCED  # what follows was done
        if statement.age > _LATE or left == 0 or begun:
            strong = any(atom.kind not in _WEAK for atom in statement.atoms)
            if strong and not statement.text.endswith(":"):
                statement.kind = Kind.FACT
            else:
                statement.dropped = "passed"
        else:
            left -= 1


def drop_repeated(statements: list[Statement]) -> None:
    """Of failures, outputs, commands, results and the assistant's sentences in the same words
    only the latest counts, and a file that was changed is not told as read."""
    seen: set[tuple[bool, str]] = set()
    changed = {s.text for s in statements if s.kind is Kind.FILE and s.firm}
    for statement in reversed(statements):
        if not statement.alive:
            continue
        if statement.kind in _SAME_WORDS or statement.speaker in _SAID_AGAIN:
            key = (statement.kind is Kind.FILE, statement.text)
            if key in seen or (
                statement.kind is Kind.FILE and not statement.firm and statement.text in changed
            ):
                statement.dropped = "said again later"
            seen.add(key)


def _close(done: Statement, by_term: dict[str, list[Statement]]) -> None:
    shared: dict[int, tuple[int, Statement]] = {}
    for term in done.terms:
        for opened in by_term.get(term, [])[-_OPEN_LOOK_BACK:]:
            if opened.alive:
                count = shared.get(id(opened), (0, opened))[0]
                shared[id(opened)] = (count + 1, opened)
    for count, opened in shared.values():
        share = count / max(1, len(opened.terms))
        if opened.kind is Kind.REQUEST:
            if share >= 0.6 and count >= 2:
                opened.worth -= 2.0
        elif (share >= 0.5 and count >= 2) or (share == 1.0 and len(opened.terms) == 1):
            if opened.keys - done.keys and share < 0.8:
                continue  # it holds exact things that the report does not
            opened.dropped = "finished"

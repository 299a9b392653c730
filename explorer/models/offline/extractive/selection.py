"""Ranks statements and chooses those that fit the budget, in shorter wordings where needed."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.claims import clause_spans
from explorer.models.offline.extractive.cues import names_failure
from explorer.models.offline.extractive.focus import Focus
from explorer.models.offline.extractive.record import is_telling
from explorer.models.offline.extractive.request import stoppable
from explorer.models.offline.extractive.sections import list_part
from explorer.models.offline.extractive.statement import (
    WEIGHTS,
    Atom,
    Kind,
    Speaker,
    Statement,
    atoms_of,
    is_torn,
    word_set,
)
from explorer.tokens.estimate import (
    utf16_units,
)

_BASE: dict[Kind, float] = {
    Kind.LATEST: 100.0,
    Kind.GOAL: 9.0,
    Kind.REQUEST: 2.6,
    Kind.CONSTRAINT: 12.0,
    Kind.PREFERENCE: 8.0,
    Kind.DECISION: 11.0,
    Kind.DONE: 4.0,
    Kind.DOING: 5.0,
    Kind.BLOCKED: 6.0,
    Kind.ERROR: 6.0,
    Kind.NEXT: 4.5,
    Kind.FINDING: 6.5,
    Kind.FACT: 4.0,
    Kind.COMMAND: 1.0,
    Kind.FILE: 0.6,
    Kind.OUTPUT: 0.4,
}
_VOICE: dict[Speaker, float] = {
    Speaker.USER: 1.0,
    Speaker.SUMMARY: 1.0,
    Speaker.ASSISTANT: 0.75,
    Speaker.THINKING: 0.35,
    Speaker.RESULT: 1.0,
    Speaker.CALL: 1.0,
}
_STANDING = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.GOAL)
_FADING = (Kind.NEXT, Kind.DOING, Kind.REQUEST)
_BY_PLACE = (Kind.FACT, Kind.DONE, Kind.ERROR, Kind.REQUEST, Kind.OUTPUT)
_ATOM_CAP = 6.0
_NUMBER_WORD = 0.4
_SOLVED = 0.7
_RECENT = 0.15
_AT_THE_END = 4.0
_UNWANTED = 0.1
_SURELY = 3
_BARE_RESULT = 0.5


def rank(
    statements: list[Statement], focus: Focus, cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Sets the worth of every live statement; works in place. Atoms count at selection."""
    mentions = Counter(key for s in statements for key in s.keys)
    places = _places(statements)
    if focus.wishes:
        focus = focus.told_apart(s for s in statements if s.alive)
    for statement in stoppable(statements, cancelled):
        if not statement.alive:
            continue
        worth = _BASE[statement.kind] * _voice(statement)
        if statement.firm:
            worth += 3.0 if statement.kind is Kind.CONSTRAINT else 1.2
        if statement.noted:
            worth += 2.5
        if id(statement) in places:
            worth *= 1.15 - 0.35 * places[id(statement)]
        elif statement.kind in _FADING:
            worth *= 1.0 - 0.6 * statement.age
        elif statement.kind not in _STANDING and not statement.inherited:
            worth *= 1.15 - 0.25 * statement.age
        if statement.kind in (Kind.COMMAND, Kind.FILE):
            worth += min(2.0, 0.5 * (sum(mentions[key] for key in statement.keys) - 1))
        if statement.kind is Kind.ERROR:
            worth *= cues.error_weight(statement.text)
        if statement.text.endswith(":") or _fragment(statement):
            worth *= 0.4
        if _empty(statement):
            worth *= _emptiness(statement)
        if statement.solved:
            worth *= _SOLVED
        if focus.unwanted and focus.refuses(statement):
            worth *= _UNWANTED
        met = focus.meets(statement) if focus.wishes else 0
        if met:
            worth *= 1.0 + met
            statement.wanted = met >= _SURELY
        statement.worth += worth


def raise_end(statements: list[Statement]) -> None:
    """Where there is some room, how the conversation ended is told before smaller facts."""
    for statement in statements:
        open_work = statement.kind in (Kind.DOING, Kind.NEXT, Kind.BLOCKED)
        if stands(statement) or (
            open_work and statement.age <= _RECENT and statement.speaker is Speaker.ASSISTANT
        ):
            statement.worth += _AT_THE_END


def stands(statement: Statement) -> bool:
    """Whether a statement is a failure at the end of the conversation that nothing solved."""
    if statement.kind is not Kind.ERROR or statement.speaker is not Speaker.RESULT:
        return False
    return statement.age <= _RECENT and not statement.solved


def _voice(statement: Statement) -> float:
    if statement.kind is Kind.CONSTRAINT and statement.speaker is Speaker.RESULT:
        return 0.6
    if statement.kind is Kind.DONE and statement.speaker is Speaker.RESULT:
        return 1.5 if is_telling(statement.text) else _BARE_RESULT
    if statement.kind is Kind.CONSTRAINT and statement.speaker is Speaker.ASSISTANT:
        return 0.5
    return _VOICE[statement.speaker]


def _fragment(statement: Statement) -> bool:
    """A few words around a name or a bare number: a title, a cell of a table."""
    weak = all(atom.kind in ("name", "number", "code", "symbol") for atom in statement.atoms)
    if statement.kind is Kind.FACT and statement.speaker is Speaker.ASSISTANT:
        names = all(atom.kind == "name" for atom in statement.atoms)
        return bool(statement.atoms) and names
    return statement.kind is Kind.FACT and weak and len(statement.text.split()) <= 3


def _emptiness(statement: Statement) -> float:
    """What is left of the worth of words without anything exact in them."""
    if statement.kind is Kind.FINDING and cues.CAUSE.search(statement.text):
        return 0.8
    if statement.speaker is Speaker.USER and len(statement.terms) >= 3:
        return 0.65
    return 0.25 if cues.PROCESS.match(statement.text) else 0.55


def _empty(statement: Statement) -> bool:
    """Words without any exact thing, in a kind that lives by them."""
    if statement.atoms or statement.noted:
        return False
    if statement.kind in (Kind.FACT, Kind.REQUEST):
        return True
    lives_by_them = statement.kind in (Kind.DONE, Kind.FINDING, Kind.DOING)
    return lives_by_them and statement.speaker is not Speaker.SUMMARY


def _places(statements: list[Statement]) -> dict[int, float]:
    """Where an inherited item stood in its section, 0 first to 1 last.

    Sections are written best first, so that a rank survives from one summary to the next.
    """
    places: dict[int, float] = {}
    for kind in _BY_PLACE:
        row = [s for s in statements if s.kind is kind and s.speaker is Speaker.SUMMARY]
        for index, statement in enumerate(row):
            places[id(statement)] = index / max(1, len(row) - 1)
    return places


def exact_worth(statement: Statement, covered: set[str]) -> float:
    """What the exact things of a statement add that no chosen statement holds yet."""
    seen: set[str] = set()
    total = 0.0
    for atom in statement.atoms:
        if atom.key not in covered and atom.key not in seen:
            seen.add(atom.key)
            spelled = atom.kind == "number" and atom.text[:1].isalpha()
            total += _NUMBER_WORD if spelled else WEIGHTS[atom.kind]
    if statement.kind is Kind.ERROR:
        return min(total, 1.5)
    if statement.kind in (Kind.FILE, Kind.COMMAND) and not statement.firm:
        return 0.0
    return min(total, _ATOM_CAP) * (0.5 if statement.kind is Kind.OUTPUT else 1.0)


_LEAD = re.compile(
    r"""^(?:(?:ok(?:ay)?|so|well|also|and|but|oh|alright|right|great|thanks|thank\s+you|hi|hey|hello|please|
    now|then|just|btw|by\s+the\s+way|fyi|note\s+that|note|remember(?:\s+that)?|
      keep\s+in\s+mind(?:\s+that)?|
    one\s+(?:more\s+)?thing|actually|i\s+think|i\s+guess|i\s+believe|as\s+i\s+(?:said|mentioned)|
      it\s+
    (?:seems|looks\s+like)|for\s+the\s+record|just\s+so\s+you\s+know|heads[- ]up|important|done|
      got\s+it|
    sure|understood|perfect|anyway|additionally|furthermore|moreover|finally|first|second|however|
    in\s+addition|good|yes|yeah|for\s+reference|quick\s+note)(?:[,:;.!—–-]+\s*|\s+))+(?=\S{2,})""",
    re.IGNORECASE | re.VERBOSE,
)
_PARENTHESIS = re.compile(r"\s*\([^()]{3,160}\)")
_TAIL_STOP = word_set(
    """
    and but so because since which that when while if then to for as with before after
    though although unless until where who
    """
)
_WORD = re.compile(r"\S+")
_WINDOW_KINDS = (
    Kind.FACT,
    Kind.FINDING,
    Kind.DONE,
    Kind.NEXT,
    Kind.REQUEST,
    Kind.BLOCKED,
)
_ERROR_LIMIT = 240
_BEFORE = 7
_AFTER = 3
_TO_THE_END = 7


def wordings(statement: Statement) -> list[str]:
    """The text in full, then shorter, each a good deal shorter than the one before."""
    full = " ".join(statement.text.split())
    options = [full]
    if statement.kind is Kind.ERROR:
        return [full[:_ERROR_LIMIT]]
    if statement.kind is Kind.DOING:
        return [full]  # "let me check, it looks like X" must not become "X"
    lead = _without_lead(full)
    options.append(lead)
    if statement.kind in _WINDOW_KINDS and statement.atoms:
        window = _window(full, statement.atoms)
        options += [window, _terse(window)]
    elif len(lead) > 120:
        options.append(_without_asides(lead, statement.atoms))
    result = [options[0]]
    for option in options[1:]:
        torn = is_torn(option) and not is_torn(full)
        if option and not torn and len(option) <= len(result[-1]) - 4:
            result.append(option)
    return result


def _without_lead(text: str) -> str:
    cut = _LEAD.sub("", text, count=1)
    if len(cut) < 12 or cut == text:
        return text
    return cut[:1].upper() + cut[1:] if cut[:1].islower() and cut.split()[0].isalpha() else cut


def _without_asides(text: str, atoms: tuple[Atom, ...]) -> str:
    """Parentheses that hold nothing exact go."""
    keys = [atom.text for atom in atoms]
    return _PARENTHESIS.sub(
        lambda m: m.group() if any(key in m.group() for key in keys) else "", text
    )


_ARTICLES = word_set(
    """
    the a an this that these those we you you'll you’ll i please there our my your it's it’s also
    just about
    """
)


def _terse(text: str) -> str:
    """Without articles and pronouns, as in a note; words inside exact things stay."""
    atoms = atoms_of(text)
    kept: list[str] = []
    for word in _WORD.finditer(text):
        inside = any(a.start < word.end() and word.start() < a.end for a in atoms)
        if inside or word.group().lower() not in _ARTICLES:
            kept.append(word.group())
    return " ".join(kept)


def _window(text: str, atoms: tuple[Atom, ...]) -> str:
    """From a few words before the first exact thing to a few after the last."""
    spans = [
        (start, end)
        for start, end in clause_spans(text, atoms)
        if any(start <= atom.start < end for atom in atoms)
    ]
    if not spans:
        return text
    start, end = spans[0][0], spans[-1][1]
    first = min(atom.start for atom in atoms)
    # What an exact thing stands for may reach beyond a text that was cut.
    last = max((atom.end for atom in atoms if atom.end <= len(text)), default=end)
    before = list(_WORD.finditer(text, start, first))
    if len(before) > _BEFORE:
        start = before[-_BEFORE].start()
    after = list(_WORD.finditer(text, last, end))
    stop = last
    if len(after) <= _TO_THE_END:
        after, stop = [], end
    for count, word in enumerate(after):
        if count >= _AFTER or word.group().lower().strip(",.;") in _TAIL_STOP:
            break
        stop = word.end()
    window = _without_lead(text[start:stop].strip(" ,;:"))
    return window.rstrip(".")


FLOOR = 1.5
LEFTOVER_FLOOR = 0.6
_BULLET = 3
_SELF_STANDING = (
    Kind.CONSTRAINT,
    Kind.PREFERENCE,
    Kind.DECISION,
    Kind.GOAL,
    Kind.NEXT,
    Kind.DOING,
    Kind.BLOCKED,
    Kind.LATEST,
    Kind.DONE,
    Kind.FINDING,
)
_AHEAD = (Kind.LATEST, Kind.GOAL, Kind.REQUEST, Kind.NEXT, Kind.DOING)
LISTED = (Kind.FILE, Kind.COMMAND)
_LABELLED = {Kind.ERROR: 7, Kind.OUTPUT: 8, Kind.LATEST: 16, Kind.REQUEST: 7}


@dataclass(slots=True)
class Choice:
    """A statement that goes into the summary. `texts` are its wordings, longest first."""

    statement: Statement
    texts: list[str]
    level: int
    worth: float

    @property
    def text(self) -> str:
        """The wording in use."""
        return self.texts[self.level]

    @property
    def size(self) -> int:
        """Its cost in UTF-16 units, with the bullet or comma that it needs."""
        return size_of(self.statement.kind, self.text)


def size_of(kind: Kind, text: str) -> int:
    """UTF-16 units of an item as it is written."""
    if kind in LISTED:
        return utf16_units(list_part(text)) + 2
    label = 0 if kind is Kind.ERROR and names_failure(text) else _LABELLED.get(kind, 0)
    # "Asked: " is counted for all requests: most stand outside the goal.
    return utf16_units(text) + _BULLET + label


class Selection:
    """Fills a budget, given in UTF-16 units."""

    def __init__(self, budget: int) -> None:
        self.room = budget
        self.chosen: list[Choice] = []
        self._taken: set[int] = set()
        self._covered: set[str] = set()
        self._by_term: dict[str, list[Statement]] = defaultdict(list)

    def force(self, statement: Statement, texts: list[str]) -> None:
        """Take a statement whatever it costs, in its shortest wording for now."""
        self._accept(Choice(statement, texts, len(texts) - 1, 1000.0))

    def fill_wanted(self, statements: list[Statement], share: float) -> None:
        """Take what the person asked for, whole, the worthiest first and of equals the latest;
        one of them whatever it takes of the room, more of them up to a share of it."""
        most = self.room
        spare = int(most * (1 - share))
        for statement in sorted(statements, key=lambda s: (-s.worth, -s.order)):
            choice = Choice(statement, [" ".join(statement.text.split())], 0, 500.0)
            if choice.size <= most and not self._said_already(statement):
                self._accept(choice)
                most = self.room - spare

    def holds(self, statement: Statement) -> bool:
        """Whether a statement was chosen."""
        return id(statement) in self._taken

    def fill(
        self,
        statements: list[Statement],
        cancelled: Callable[[], bool],
        keep_free: int = 0,
        floor: float = FLOOR,
    ) -> None:
        """Greedy by worth per size, with shortest wordings; worth sinks as things get covered.

        Leaves `keep_free` UTF-16 units of room, and out what is worth less than `floor`.
        """
        heap: list[tuple[float, int, Statement, list[str]]] = []
        for statement in stoppable(statements, cancelled):
            worth = self._worth(statement)
            if worth < floor:
                continue
            texts = wordings(statement)
            heap.append(
                (-self._density(statement, texts[-1], worth), statement.order, statement, texts)
            )
        heapq.heapify(heap)
        steps = 0
        while heap:
            steps += 1
            if steps % 32 == 0 and cancelled():
                return
            density, order, statement, texts = heapq.heappop(heap)
            worth = self._worth(statement)
            if worth < floor or self._said_already(statement):
                continue
            now = -self._density(statement, texts[-1], worth)
            if now > density + 1e-9 and heap and now > heap[0][0]:
                heapq.heappush(heap, (now, order, statement, texts))
                continue
            choice = Choice(statement, texts, len(texts) - 1, worth)
            if choice.size <= self.room - keep_free:
                self._accept(choice)

    def lengthen(self) -> None:
        """Give the room that is left to fuller wordings, the worthiest first."""
        for choice in sorted(self.chosen, key=lambda c: (-c.statement.worth, c.statement.order)):
            for level in range(choice.level):
                more = size_of(choice.statement.kind, choice.texts[level]) - choice.size
                if more <= self.room:
                    choice.level = level
                    self.room -= more
                    break

    def drop_repeated(self, statement: Statement) -> None:
        """Give back what now stands word for word inside the wording of one chosen statement."""
        inside = next((c.text for c in self.chosen if c.statement is statement), "")
        for choice in list(self.chosen):
            if choice.statement is not statement and choice.texts[-1].rstrip(".") in inside:
                self.chosen.remove(choice)
                self.room += choice.size

    def _density(self, statement: Statement, text: str, worth: float) -> float:
        return worth / math.pow(size_of(statement.kind, text) + 14, 0.7)

    def _worth(self, statement: Statement) -> float:
        exact = exact_worth(statement, self._covered)
        if statement.kind in _SELF_STANDING or stands(statement):
            return statement.worth + exact
        if not exact and statement.atoms:
            return statement.worth * 0.2
        return statement.worth + exact

    def _said_already(self, statement: Statement) -> bool:
        """Whether something chosen holds (nearly) all the words and exact things of this."""
        if statement.kind in LISTED:
            return statement.keys <= self._covered
        if not statement.terms:
            return not statement.atoms
        if not statement.keys <= self._covered:
            return False
        lax = statement.speaker in (Speaker.ASSISTANT, Speaker.THINKING)
        size = len(statement.terms)
        need = math.ceil((0.9 if lax else 0.99) * size)
        # Whatever has that many of the words has at least one of so many rarest ones.
        rare = sorted(statement.terms, key=lambda term: len(self._by_term.get(term, ())))
        for term in rare[: size - need + 1]:
            for chosen in self._by_term.get(term, ()):
                # "Fix the parser" does not say that it was fixed.
                done = statement.kind is not Kind.DONE or chosen.kind not in _AHEAD
                if done and len(statement.terms & chosen.terms) >= need:
                    return True
        return False

    def _accept(self, choice: Choice) -> None:
        self.chosen.append(choice)
        self._taken.add(id(choice.statement))
        self.room -= choice.size
        short = choice.texts[-1]
        self._covered |= {atom.key for atom in choice.statement.atoms if atom.text in short} or (
            choice.statement.keys if choice.statement.kind is Kind.LATEST else set()
        )
        for term in choice.statement.terms:
            self._by_term[term].append(choice.statement)

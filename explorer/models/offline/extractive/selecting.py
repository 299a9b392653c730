"""Chooses what fits: coverage of exact things and rules first, full wording with what is left."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from explorer.models.offline.extractive.cues import names_failure
from explorer.models.offline.extractive.previous import list_part
from explorer.models.offline.extractive.ranking import exact_worth, stands
from explorer.models.offline.extractive.statement import Kind, Speaker, Statement
from explorer.models.offline.extractive.thinning import stoppable
from explorer.models.offline.extractive.wording import wordings
from explorer.tokens.estimate import utf16_units

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

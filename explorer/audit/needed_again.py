"""What was needed again after a compaction: a recorded session knows its own future.

Whatever is done again (``repeats``), or said again by the person, counts against a compaction where
the model saw it before, that compaction took it out of the context, and nothing of it was in the
context when it was done again. Later compactions that lie between took nothing of it. What is done
again in a context that still holds it is habit; how often that happens at other places of the same
path is the number that would be expected without a compaction.

A person says the same sentence a second time in the same or nearly the same words, or one that says
of itself that it was said before. The rules of thumb for that are strict: short everyday orders
("run the tests", "commit this") are said again by habit and are none, nor is what was pasted.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from explorer.audit.generations import ReadEntries
from explorer.audit.repeats import READS, NeedKind, Repeat, Repeats, ShownLines
from explorer.compaction.context_size import message_tokens
from explorer.facts.commands import fences
from explorer.facts.fact import FactKind
from explorer.facts.fact_table import ScanCancelled
from explorer.facts.statements import kinds_of
from explorer.facts.text import sentences, terms_of_message
from explorer.session.context import context_at
from explorer.session.entries import UserMessage
from explorer.session.kinds import Flag, Kind, selector
from explorer.session.tree import Path, SessionTree

_LEAST_TERMS = 4
"""Telling words of a sentence that is compared."""
_LEAST_OF_RULE = 3
"""The same of a rule, which nobody says by habit."""
_LOOK_BACK = 60
"""Earlier sentences with a word that are looked at."""
_ALIKE = 0.8
"""The share of their telling words that two sentences have in common to be nearly the same."""
_REMINDED = 0.5
"""The same share where the later one says that it was said before; two words at least."""
_LONGEST = 400
"""Characters of a sentence; longer ones were pasted."""
_MOST_SENTENCES = 12
"""Sentences of a message that somebody types; of more it is a document."""
_PASTED = re.compile(
    r"^(?:\s*[>$|#{}\[\]<+]|\s{2,}\S|\t|\s*(?:at |File \"|Traceback|\w+Error\b)).*|"
    r"^.*[{};=]\s*$|[❯│╭╰⎿●✓✗✘].*",
    re.MULTILINE,
)
"""Where what was pasted begins: output, code, a quote. Nothing below it is taken for typed."""
_REMINDS = re.compile(
    r"\b(?:as i (?:already )?(?:said|typed you|mentioned|wrote|asked)|like i said|"
    r"i (?:have |'ve )?(?:already )?(?:typed|asked) you|i (?:have |'ve )?already "
    r"(?:said|mentioned|explained|wrote|asked|answered)|i said(?! (?:that )?i\b)|"
    r"(?:that(?:'s| is|s)? )?not what i (?:asked|said|wanted|meant)|"
    r"(?:did(?:n't| not) )i (?:say|tell|ask|mention)|how (?:many|often) times|"
    r"(?:you|did you) (?:forgot|forget)\b|(?:we|we've|we have) (?:already )?"
    r"(?:agreed|discussed|decided|talked about|settled)|i (?:just )?repeat)\b",
    re.IGNORECASE,
)
_ASKS = frozenset({FactKind.CONSTRAINT, FactKind.DECISION, FactKind.REQUEST, FactKind.QUESTION})


class _Sentence(NamedTuple):
    entry: int
    words: frozenset[str]
    text: str


@dataclass
class RepeatedRequests:
    """Finds what was said again on one path. ``extend`` takes what a person typed, in its order;
    what was found is in ``found``."""

    found: list[Repeat] = field(default_factory=list)
    _sentences: list[_Sentence] = field(default_factory=list)
    _by_word: dict[str, list[int]] = field(default_factory=dict)
    """By telling word: indices into ``_sentences``."""

    def extend(self, messages: Iterable[tuple[int, str]]) -> None:
        """Go on with further messages, each with its entry."""
        for entry, text in messages:
            typed = list(_typed_sentences(text))
            best = max(
                (repeat for one in typed if (repeat := self._compared(entry, one)) is not None),
                key=lambda repeat: len(repeat.text), default=None,
            )  # fmt: skip
            if best is not None:
                self.found.append(best)
            for one in typed:
                self._remember(_Sentence(entry, _telling(one), one))

    def _compared(self, entry: int, text: str) -> Repeat | None:
        words = _telling(text)
        reminds = _REMINDS.search(text) is not None
        kinds = kinds_of(text, by_user=True)
        fewest = _LEAST_OF_RULE if FactKind.CONSTRAINT in kinds else _LEAST_TERMS
        if not reminds and (len(words) < fewest or _ASKS.isdisjoint(kinds)):
            return None
        shared: dict[int, int] = {}
        for word in words:
            for at in self._by_word.get(word, ())[-_LOOK_BACK:]:
                shared[at] = shared.get(at, 0) + 1
        least = _REMINDED if reminds else _ALIKE
        for at in sorted(shared, reverse=True):
            earlier, number = self._sentences[at], shared[at]
            sizes = len(words), len(earlier.words)
            most = min(sizes) if reminds else max(sizes)
            # "the light theme" and "the dark theme" are two things.
            is_other = not reminds and number < min(sizes)
            if not is_other and number >= max(2 if reminds else fewest, least * most):
                return Repeat(NeedKind.REQUEST, earlier.entry, entry, 0, text)
        return None

    def _remember(self, one: _Sentence) -> None:
        at = len(self._sentences)
        self._sentences.append(one)
        for word in one.words:
            self._by_word.setdefault(word, []).append(at)


def _telling(text: str) -> frozenset[str]:
    """The stems of its telling words; no names, numbers and ids, of which lists are made."""
    return frozenset(word for word in terms_of_message(text) if word.isalpha() and len(word) > 2)


def _typed_sentences(text: str) -> Iterable[str]:
    """The sentences of a message that look as if they were typed."""
    pasted = _PASTED.search(text[: _LONGEST * _MOST_SENTENCES])
    typed = text[: pasted.start()] if pasted is not None else text
    if len(typed) > _LONGEST * _MOST_SENTENCES:
        return
    skip = [(start, end) for start, end, _ in fences(typed)]
    found = [one.text.strip() for one in sentences(typed, skip)]
    if len(found) <= _MOST_SENTENCES:
        yield from (one for one in found if one and len(one) <= _LONGEST)


_READ_AT_ONCE = 256
_ACTING = selector({
    Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH_EXECUTION, Kind.FILE_MENTION,
    Kind.COMPACTION,
})  # fmt: skip
_FOLLOWING = selector({
    Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH_EXECUTION, Kind.FILE_MENTION,
})  # fmt: skip
_MARKS = (Kind.COMPACTION, Kind.RESET_BOUNDARY)
LEAST_STRETCH = 12
"""Entries on either side of a place that are compared at least."""
MOST_AFTER = 40
"""Entries after a place that are compared at most: what was lost is missed soon."""
LEAST_PLACES = 20
"""So many places without a compaction are needed for a comparison; and a fifth of the longest
stretch, since places side by side look at much the same entries."""
WORTH = 1 / 250
"""The share of the largest context before a compaction from which a read is worth a mention ..."""
WORTH_TOKENS = (150, 400)
"""... but so many tokens at least, and never more than so many. Of 16 reads of less than 400
tokens in contexts of about 100,000 that somebody judged none was worth it."""
LEAST_BEHIND = 0.5
"""The share of what was summarized that a stretch must look back over."""


class Tail(NamedTuple):
    """The end of a context, which a compaction may keep word for word. Sizes are tokens."""

    needed: int
    """From the first entry that was needed again to the compaction."""
    kept: int
    """What the compaction kept."""
    of: int
    """The entries of the context before the compaction."""


class Need(NamedTuple):
    """Something that was needed again."""

    repeat: Repeat
    """Of a read: the lines alone that were not in the context any more."""
    taken_by: int
    """The compaction that took it out of the context, after which others may have followed."""
    tail: Tail | None = None
    """What would have kept it. None: no single tail, since others followed."""

    @property
    def kind(self) -> NeedKind:
        return self.repeat.kind


class Expected(NamedTuple):
    """How often the same happens without a compaction."""

    number: float
    """Repeats in one stretch, on average."""
    found: int
    """Those of this compaction in a stretch of the same length."""
    before: int
    """The length of a stretch: so many entries before what the compaction kept ..."""
    after: int
    """... and so many after the compaction."""
    places: int
    """Places of the path that were compared; their stretches overlap."""
    soon: int = 0
    """Of this compaction in so many entries after it, however far back they were done before:
    ``found`` are those within ``before``, which alone can be compared."""


class NeededAfter(Struct, frozen=True):
    """What a compaction took out of the context that was needed again, however late."""

    compaction: int
    needs: tuple[Need, ...]
    """In the order in which they were needed."""
    expected: Expected | None
    """None: the path is too short to compare."""
    is_followed: bool = True
    """Whether anything was done after it at all."""
    in_doubt: tuple[Need, ...] = ()
    """Reads that are not counted, since the agent's program may have put back what they show
    without recording it."""

    @property
    def tokens(self) -> int:
        """What it took the second time."""
        return sum(need.repeat.tokens for need in self.needs)


class NeedGroup(Struct, frozen=True):
    """One thing that was needed again several times after one compaction: several parts of a file,
    say."""

    needs: tuple[Need, ...]
    """In the order in which they were needed; two at least."""

    @property
    def kind(self) -> NeedKind:
        return self.needs[0].kind

    @property
    def text(self) -> str:
        """The path, the command, what was searched for, or the words."""
        return self.needs[0].repeat.text

    @property
    def tokens(self) -> int:
        """What it took all the times together."""
        return sum(need.repeat.tokens for need in self.needs)


def grouped(needs: Sequence[Need]) -> list[Need | NeedGroup]:
    """Each thing once, in the order of the first time. Edits are other edits each time."""
    things: dict[tuple[NeedKind, str, int], list[Need]] = {}
    for at, need in enumerate(needs):
        which = at if need.kind is NeedKind.UNDONE_EDIT else -1
        things.setdefault((need.kind, need.repeat.text, which), []).append(need)
    return [all_[0] if len(all_) == 1 else NeedGroup(tuple(all_)) for all_ in things.values()]


class NeededAgain(Struct, frozen=True):
    """What was needed again after each compaction of a path."""

    after: tuple[NeededAfter, ...] = ()
    """One for each compaction, in their order."""

    @property
    def needs(self) -> tuple[Need, ...]:
        """All of the path, in the order in which they were needed."""
        needs = (need for one in self.after for need in one.needs)
        return tuple(sorted(needs, key=lambda need: need.repeat.after))

    def at(self, compaction: int) -> NeededAfter | None:
        """What one compaction made necessary again; None where it is not on the path."""
        return next((one for one in self.after if one.compaction == compaction), None)

    @property
    def unfollowed(self) -> int:
        """The latest compaction, where nothing was done after it yet; -1 else."""
        latest = self.after[-1:]
        return latest[0].compaction if latest and not latest[0].is_followed else -1

    @property
    def expected(self) -> Expected | None:
        """Of the whole path: the sums over the compactions that can be compared."""
        some = [one.expected for one in self.after if one.expected is not None]
        if not some:
            return None
        return Expected(
            sum(one.number for one in some), sum(one.found for one in some),
            max(one.before for one in some), max(one.after for one in some),
            sum(one.places for one in some), sum(one.soon for one in some),
        )  # fmt: skip


def needed_again(
    tree: SessionTree,
    leaf: int,
    read: ReadEntries,
    weights: Sequence[int] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> NeededAgain:
    """What was needed again on the path to ``leaf`` (-1: nothing). ``read`` gives entries, a few
    hundred at once; ``weights``: tokens of each entry of the session, -1 for one that is not
    counted yet; None or -1: the estimate. Time grows with the text of the path. Raises
    ScanCancelled."""
    path = tree.path(leaf)
    marks = path.select(tree.columns.kind, selector(set(_MARKS)))
    if not any(tree.columns.kind[at] == Kind.COMPACTION for at in marks):
        return NeededAgain()
    tokens: Sequence[int] = tree.columns.estimate
    if weights is not None:
        tokens = [e if w < 0 else w for w, e in zip(weights, tokens, strict=False)]
    contexts = _contexts(tree, path, marks)
    least = _worth(path, contexts, tokens)
    repeats = _repeats(tree, path, read, tokens, least, cancelled)
    stretches = [
        _Stretch(*map(path.position, (one.shown_from, one.edited, one.after))) for one in repeats
    ]
    needs = [need for repeat in repeats for need in _needs(repeat, contexts, least)]
    doubted = [
        need
        for repeat in repeats
        if any(one.back >= 0 for one in repeat.shown)
        for need in _needs(_as_recorded(repeat), contexts, least)
    ]
    sure = {(need.taken_by, need.repeat.after) for need in needs}
    last = max(map(path.position, path.select(tree.columns.kind, _FOLLOWING)), default=-1)
    found = []
    for context in contexts:
        if not context.is_compaction:
            continue
        these = _with_tails(
            tree, path, context, [need for need in needs if need.taken_by == context.mark], weights
        )
        in_doubt = tuple(
            need for need in doubted
            if need.taken_by == context.mark and (context.mark, need.repeat.after) not in sure
        )  # fmt: skip
        expected = _expected(context, contexts, these, stretches, path)
        is_followed = context.position < last
        found.append(NeededAfter(context.mark, these, expected, is_followed, in_doubt))
    return NeededAgain(tuple(found))


def _worth(path: Path, contexts: Sequence[_Context], tokens: Sequence[int]) -> int:
    """Tokens of a read that is worth a mention on a path."""
    entries = list(path)
    largest = max(sum(tokens[e] for e in entries[one.start : one.position]) for one in contexts)
    fewest, most = WORTH_TOKENS
    return min(most, max(fewest, int(largest * WORTH)))


def _repeats(
    tree: SessionTree,
    path: Path,
    read: ReadEntries,
    tokens: Sequence[int],
    least: int,
    cancelled: Callable[[], bool],
) -> list[Repeat]:
    done, requests = Repeats(tokens, least), RepeatedRequests()
    entries = path.select(tree.columns.kind, _ACTING)
    flags, synthetic = tree.columns.flags, int(Flag.SYNTHETIC)
    for start in range(0, len(entries), _READ_AT_ONCE):
        if cancelled():
            raise ScanCancelled
        some = entries[start : start + _READ_AT_ONCE]
        pairs = list(zip(some, read(some), strict=True))
        done.extend(pairs)
        requests.extend(
            (index, entry.text)
            for index, entry in pairs
            if isinstance(entry.body, UserMessage) and not flags[index] & synthetic
        )
    return sorted([*done.found, *requests.found], key=lambda one: one.after)


# where it was -------------------------------------------------------------------------------------


class _Context(NamedTuple):
    """What the model saw right after a compaction or a new start. Positions count on the path."""

    mark: int
    """The entry."""
    is_compaction: bool
    position: int
    stop: int
    """Where the next one stands, or the path ends."""
    kept_from: int
    """The first position that is kept; its own where nothing before it is."""
    start: int
    """Where the context before it began."""
    shown: frozenset[int]
    """The entries before it that the model still saw."""


def _contexts(tree: SessionTree, path: Path, marks: Sequence[int]) -> list[_Context]:
    found: list[_Context] = []
    start = 0
    for mark, following in zip(marks, [*marks[1:], -1], strict=True):
        position = path.position(mark)
        seen = context_at(tree, mark)
        kept = seen.kept_from if 0 <= seen.kept_from < position else position
        stop = path.position(following) if following >= 0 else len(path)
        shown = frozenset(one for one in seen.messages if one != mark)
        is_compaction = tree.columns.kind[mark] == Kind.COMPACTION
        found.append(_Context(mark, is_compaction, position, stop, kept, start, shown))
        start = kept if kept < position else position + 1
    return found


def _needs(repeat: Repeat, contexts: Sequence[_Context], least: int) -> Iterator[Need]:
    """What a repeat is to the compactions: of a read, one for each that took a part of it. None
    where the model still saw what was repeated, or where it was not a compaction that took it
    away."""
    if repeat.kind not in READS:
        taken = _taken_by(repeat.shown_from, repeat.after, contexts)
        if taken >= 0:
            yield Need(repeat, taken)
        return
    by_taken: dict[int, list[ShownLines]] = {}
    for lines in repeat.shown:
        taken = _taken_by(lines.shown_from, repeat.after, contexts)
        by_taken.setdefault(taken, []).append(lines)
    for taken, shown in by_taken.items():
        # Of what may have been put back meanwhile nobody knows which compaction took it: it is told
        # where nothing else of the file is.
        sure = [one for one in shown if _taken_by(one.entry, repeat.after, contexts) == taken]
        shown = sure or shown
        narrowed = repeat.narrowed(shown, least, by_taken.get(-1, ()))
        # What was edited after the compaction may be read to see what the edit made of it.
        if taken > repeat.edited and taken >= 0 and narrowed is not None:
            yield Need(narrowed, taken)


def _as_recorded(repeat: Repeat) -> Repeat:
    """A read as if nothing had been put back but what is recorded."""
    return repeat._replace(since=-1, shown=tuple(one._replace(back=-1) for one in repeat.shown))


def _taken_by(before: int, after: int, contexts: Sequence[_Context]) -> int:
    """The compaction that took an entry out of the context; -1 where a later one still saw it, or
    a new start lies between, which takes everything. A summary was seen after its compaction."""
    marks = [one.mark for one in contexts]
    between = contexts[bisect_right(marks, before) : bisect_left(marks, after)]
    if not between or before in between[-1].shown:
        return -1
    if not all(one.is_compaction for one in between):
        return -1
    return next(one.mark for one in between if before not in one.shown)


def _with_tails(
    tree: SessionTree,
    path: Path,
    taking: _Context,
    needs: Sequence[Need],
    weights: Sequence[int] | None,
) -> tuple[Need, ...]:
    """Say of what one compaction took how long a tail would have held it, where no other compaction
    or new start lies between."""
    if not needs or taking.position == 0:
        return tuple(needs)
    before = context_at(tree, path[taking.position - 1])
    sizes = message_tokens(tree, before, weights)
    places = sorted(
        (path.position(entry), size) for entry, size in zip(before.messages, sizes, strict=True)
    )
    positions = [position for position, _ in places]
    ends = list(accumulate(reversed([size for _, size in places]), initial=0))

    def size_from(position: int) -> int:
        return ends[len(places) - bisect_left(positions, position)]

    kept = size_from(taking.kept_from)
    found = []
    for need in needs:
        first = path.position(
            min([need.repeat.shown_from, *(one.shown_from for one in need.repeat.shown)])
        )
        is_last = path.position(need.repeat.after) < taking.stop
        tail = Tail(size_from(first), kept, ends[-1])
        found.append(need._replace(tail=tail if is_last and tail.needed > kept else None))
    return tuple(found)


# what would be expected ---------------------------------------------------------------------------


class _Stretch(NamedTuple):
    """Where something was done and done again. Positions count on the path."""

    before: int
    edited: int
    """Where the agent last edited the file that it read again; -1 where it did not."""
    after: int


def _expected(
    this: _Context,
    contexts: Sequence[_Context],
    needs: Sequence[Need],
    repeats: Sequence[_Stretch],
    path: Path,
) -> Expected | None:
    """How often something is done again where no compaction is.

    Every place of the path is taken for a compaction that keeps as many entries as this one did,
    if the same number of entries lies before what it would keep and after it, and no compaction
    between. What was done there in the entries after it that was done the last time in the entries
    before it is counted, and the average over all places taken. A stretch is as long as leaves
    enough places; this compaction is counted by the same one.
    """
    tail = this.position - this.kept_from
    free = list(_free(contexts, len(path)))
    summarized = this.kept_from - this.start
    longest = max(stop - start for start, stop in free)
    fewest = max(LEAST_PLACES, longest // 5)
    ahead = min(this.stop - this.position - 1, MOST_AFTER, longest // 4)
    behind = next(
        (n for n in range(summarized, LEAST_STRETCH - 1, -1)
         if sum(max(0, stop - start - n - tail - ahead + 1) for start, stop in free)
         >= fewest), 0,
    )  # fmt: skip
    if ahead < LEAST_STRETCH or behind < LEAST_BEHIND * summarized:
        return None
    places = total = 0
    for start, stop in free:
        first, last = start + behind + tail, stop - ahead
        if last < first:
            continue
        places += last - first + 1
        # A place p sees a repeat when p - tail - behind <= before < p - tail, and
        # p <= after < p + ahead; and no edit lies between p and after.
        for before, edited, after in repeats:
            if start <= before and after < stop:
                low = max(first, before + tail + 1, edited + 1, after - ahead + 1)
                high = min(last, after, before + tail + behind)
                total += max(0, high - low + 1)
    soon = [need for need in needs if path.position(need.repeat.after) <= this.position + ahead]
    found = sum(
        this.kept_from - behind <= path.position(need.repeat.shown_from) < this.kept_from
        for need in soon
    )
    return Expected(total / places, found, behind, ahead, places, len(soon))


def _free(contexts: Sequence[_Context], stop: int) -> Iterator[tuple[int, int]]:
    """The stretches of positions without a compaction or a new start."""
    start = 0
    for one in contexts:
        yield start, one.position
        start = one.position + 1
    yield start, stop

"""What was needed again, in words: one line for each, and sentences for a compaction or a path."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.audit.needed_again import Expected, Need, NeededAgain, NeedKind, grouped
from explorer.audit.repeats import Repeat
from explorer.compaction.reasons import tokens_text

NEED_TITLES = {
    NeedKind.READ: "read again",
    NeedKind.COMMAND: "run again",
    NeedKind.SEARCH: "searched again",
    NeedKind.FAILURE: "failed again",
    NeedKind.MISSING_PATH: "missing, tried again",
    NeedKind.UNDONE_EDIT: "edit taken back",
    NeedKind.REQUEST: "asked for again",
}
"""What a row is, in two or three words."""
MEANING = (
    "What was done again after a compaction although it had been done before and nothing had "
    "changed but by edits of the agent's own before it, where the model saw nothing of it any "
    "more. Both entries are there to be compared."
)
TAIL_MEANING = (
    "A tail is the end of the context that a compaction keeps word for word. The last column says "
    "how many tokens of it would have held the row; it is empty where other compactions followed."
)
NOT_COMPARED = "None of these can be compared with stretches without a compaction."
_LONGEST = 160
_MOST_PLACES = 4
_LEAST_PART = 0.1
"""The share of the lines of a read; one that a search showed besides is not where it was read."""
_PATHS = (NeedKind.READ, NeedKind.MISSING_PATH, NeedKind.UNDONE_EDIT)


def need_text(repeat: Repeat, longest: int = _LONGEST) -> str:
    """What was done again: the file and its lines, the command, the words."""
    text = " ".join(repeat.text.split())
    if len(text) > longest:
        # The end of a path tells more than its beginning.
        is_path = repeat.kind in _PATHS
        text = f"…{text[1 - longest :]}" if is_path else f"{text[: longest - 1]}…"
    if lines := lines_text(repeat):
        text += f", {lines}"
    return text if repeat.edited < 0 else f"{text}, as edited at #{repeat.edited}"


def lines_text(repeat: Repeat) -> str:
    """``lines 1 to 80``; ``part of lines 1 to 80`` where others stand between, ``lines 1 to 80 but
    for some already in the context`` where these are such as something had shown since: how many is
    not certain, since they are known by their text alone. Nothing but of a read."""
    if repeat.kind is not NeedKind.READ or not repeat.first:
        return ""
    gap = repeat.last - repeat.first + 1 - repeat.lines
    words = f"{'part of ' if gap > repeat.held else ''}lines {repeat.first:,} to {repeat.last:,}"
    return f"{words} but for some already in the context" if gap and repeat.held else words


def before_words(repeat: Repeat) -> str:
    """Where it was before, ``#231``; of a read all entries that show a part of it worth a mention,
    ``#231 and #233``."""
    least = _LEAST_PART * repeat.lines
    places = sorted({repeat.before, *(one.entry for one in repeat.shown if one.number > least)})
    first = ", ".join(f"#{place}" for place in places[:_MOST_PLACES])
    left = len(places) - _MOST_PLACES
    return f"{first} and {left:,} more" if left > 0 else " and ".join(first.rsplit(", ", 1))


def short_text(repeat: Repeat) -> str:
    """The same where there is little room: of a path the last parts."""
    if "/" in repeat.text and repeat.kind in _PATHS:
        repeat = repeat._replace(text="/".join(repeat.text.rsplit("/", 2)[-2:]))
    return need_text(repeat)


def needs_words(needs: Sequence[Need]) -> str:
    """``At least 7 files read again, 1 command run again (3 times); 12.4k tokens``; what a person
    said with its place. Only what the session proves is found, hence the first words. ``Nothing
    was needed again`` for none."""
    if not needs:
        return "Nothing was found to be needed again"
    parts = [_count(kind, [one for one in needs if one.kind is kind]) for kind in NeedKind]
    tokens = sum(need.repeat.tokens for need in needs)
    words = ", ".join(part for part in parts if part)
    if any(need.kind is not NeedKind.REQUEST for need in needs):
        words = f"At least {words}"
    return f"{words}; {tokens_text(tokens)} tokens" if tokens else words


def _count(kind: NeedKind, needs: Sequence[Need]) -> str:
    if not needs:
        return ""
    things = len(grouped(needs))
    times = f" ({len(needs):,} times)" if len(needs) > things else ""
    if kind is NeedKind.REQUEST:
        places = ", ".join(f"#{need.repeat.after}" for need in needs[:_MOST_PLACES])
        more = f" and {left:,} more" if (left := len(needs) - _MOST_PLACES) > 0 else ""
        return f"asked for again by the user at {places}{more}"
    name = {
        NeedKind.READ: "file", NeedKind.COMMAND: "command", NeedKind.SEARCH: "search",
        NeedKind.FAILURE: "failure", NeedKind.MISSING_PATH: "missing path",
        NeedKind.UNDONE_EDIT: "edit",
    }[kind]  # fmt: skip
    verb = {
        NeedKind.READ: "read again", NeedKind.COMMAND: "run again",
        NeedKind.SEARCH: "made again", NeedKind.FAILURE: "met again",
        NeedKind.MISSING_PATH: "tried again", NeedKind.UNDONE_EDIT: "taken back",
    }[kind]  # fmt: skip
    plural = "searches" if kind is NeedKind.SEARCH else f"{name}s"
    return f"{things:,} {name if things == 1 else plural} {verb}{times}"


def repeated_words(needs: Sequence[Need]) -> str:
    """What one thing took when it was needed again, in a sentence: of what was read then, where
    some of it was new; nothing where that is not known."""
    tokens = sum(need.repeat.tokens for need in needs)
    if not tokens:
        return ""
    read = sum(need.repeat.read for need in needs)
    of = f" of the {read:,} that were read" if tokens < read else ""
    times = "the second time" if len(needs) == 1 else "these times"
    return f"It took {tokens:,}{of or ' tokens'} {times}."


def tail_words(need: Need) -> str:
    """What would have kept it, in a sentence; nothing where that is not known."""
    if need.tail is None:
        return ""
    kept = f"; the compaction kept the last {tokens_text(need.tail.kept)}" if need.tail.kept else ""
    return (
        f"Keeping the last {tokens_text(need.tail.needed)} of {tokens_text(need.tail.of)} tokens "
        f"word for word would have held it{kept}."
    )


def tails_words(needs: Sequence[Need]) -> str:
    """The same of all that one compaction took: the tail that would have held every one of them;
    nothing where that is known of none."""
    known = [need for need in needs if need.tail is not None]
    if not known:
        return ""
    longest = max(known, key=_needed)
    words = tail_words(longest)
    if len(needs) == 1:
        return words
    held = "all of it" if len(known) == len(needs) else f"{len(known):,} of these {len(needs):,}"
    return words.replace("would have held it", f"would have held {held}")


def _needed(need: Need) -> int:
    return need.tail.needed if need.tail is not None else 0


def expected_words(expected: Expected | None) -> str:
    """How much of it can be compared, and how much would be expected without a compaction, in a
    sentence."""
    if expected is None or not expected.found:
        return NOT_COMPARED
    return (
        f"{expected.found:,} of these can be compared with stretches without a compaction, where "
        f"{expected.number:.1f} would be expected."
    )


def path_words(needed: NeededAgain) -> str:
    """All of a path in a sentence, and in another how much of it would be expected anyway, where
    that can be said; before them where nothing was done yet after the latest compaction."""
    words, expected = f"{needs_words(needed.needs)}.", needed.expected
    if needed.unfollowed >= 0:
        unfollowed = unfollowed_words(needed.unfollowed)
        words = f"{unfollowed}. {words}" if len(needed.after) > 1 else f"{unfollowed}."
    return f"{words} {expected_words(expected)}" if expected and expected.found else words


def unfollowed_words(compaction: int) -> str:
    """Why nothing can have been needed again after a compaction, in a sentence without its end."""
    return f"Nothing follows compaction #{compaction} yet"

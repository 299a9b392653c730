"""Groups, kinds, verdicts, losses and what was needed again as people read them: one name for each,
wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.audit.findings import Carriage, Fidelity, Finding, Group, Severity, Standing
from explorer.audit.ledger import LedgerVerdict
from explorer.audit.needed_again import Expected, Need, NeededAfter, NeededAgain, grouped
from explorer.audit.provenance import Provenance
from explorer.audit.repeats import READS, NeedKind, Repeat, ShownLines
from explorer.compaction.reasons import count_text, tokens_text
from explorer.facts import FactKind
from explorer.session.text import title_line

_MOST_QUOTED = 3
"""Standing instructions that a sentence quotes."""
_LONGEST_LINE = 400
"""Characters that are quoted of a line of a summary."""

GROUP_TITLES = {
    Group.INSTRUCTION: "Instructions missing",
    Group.STATE: "Open work not named",
    Group.WRONG: "Stated wrongly",
}
GROUP_MEANINGS = {
    Group.INSTRUCTION: "Laid down by the user for good, and not found after the compaction.",
    Group.STATE: "Work under way that is not named.",
    Group.WRONG: "What the record contradicts.",
}
_NONE_OF_GROUP = {
    Group.INSTRUCTION: "no instruction found missing",
    Group.STATE: "no open work unnamed",
    Group.WRONG: "no contradiction",
}
KIND_TITLES = {
    FactKind.PATH: "Paths",
    FactKind.SYMBOL: "Symbols",
    FactKind.COMMAND: "Commands",
    FactKind.ERROR: "Error lines",
    FactKind.NUMBER: "Figures",
    FactKind.VERSION: "Versions",
    FactKind.URL: "Addresses",
    FactKind.HASH: "Identifiers",
    FactKind.CONSTRAINT: "Constraints",
    FactKind.DECISION: "Decisions",
    FactKind.QUESTION: "Questions",
    FactKind.REQUEST: "Requests",
    FactKind.TODO: "To-dos",
}
ONE_KIND = {
    FactKind.PATH: "path",
    FactKind.SYMBOL: "symbol",
    FactKind.COMMAND: "command",
    FactKind.ERROR: "error line",
    FactKind.NUMBER: "figure",
    FactKind.VERSION: "version",
    FactKind.URL: "address",
    FactKind.HASH: "identifier",
    FactKind.CONSTRAINT: "constraint",
    FactKind.DECISION: "decision",
    FactKind.QUESTION: "question",
    FactKind.REQUEST: "request",
    FactKind.TODO: "to-do",
}
LEDGER_TITLES = {
    LedgerVerdict.VERBATIM: "word for word",
    LedgerVerdict.IN_THIS_SUMMARY: "summarized",
    LedgerVerdict.IN_EARLIER_SUMMARY: "summarized earlier",
    LedgerVerdict.IN_BRANCH_SUMMARY: "in a branch summary",
    LedgerVerdict.PRUNED: "pruned",
    LedgerVerdict.NEVER_SENT: "never sent",
    LedgerVerdict.LOST: "lost",
    LedgerVerdict.PINNED: "pinned",
    LedgerVerdict.OMITTED: "omitted",
}
LEDGER_MEANINGS = {
    LedgerVerdict.VERBATIM: "The model is sent it as it is.",
    LedgerVerdict.IN_THIS_SUMMARY: "Only the summary in force may tell of it.",
    LedgerVerdict.IN_EARLIER_SUMMARY: "It was summarized, and that summary was summarized again.",
    LedgerVerdict.IN_BRANCH_SUMMARY: "It is on an abandoned branch; a summary tells of it.",
    LedgerVerdict.PRUNED: "A note stands for it.",
    LedgerVerdict.NEVER_SENT: "It is not for a model.",
    LedgerVerdict.LOST: "It is neither kept nor summarized.",
    LedgerVerdict.PINNED: "The model is sent it as it is, after the summary.",
    LedgerVerdict.OMITTED: "The model is not sent it.",
}
SEVERITY_TITLES = {Severity.LOST: "lost", Severity.RISK: "at risk", Severity.WASTE: "wasted"}
NOT_RECORDED = "not recorded"
"""In place of a figure that is neither recorded nor to be worked out."""
PROVENANCE_TITLES = {
    Provenance.EXACT: "exact",
    Provenance.INFERRED: "inferred",
    Provenance.UNREADABLE: NOT_RECORDED,
}
PROVENANCE_MEANINGS = {
    Provenance.EXACT: "It is recorded.",
    Provenance.INFERRED: "It is worked out from what is recorded.",
    Provenance.UNREADABLE: "It is not in the file in a form that can be read.",
}
LOSSES_TITLE = "Compaction faults"
"""What people read for losses, which they take for what a summary leaves out."""
LOSSES_MEANING = (
    "entries neither kept nor summarized, and other mistakes of the compacting itself; what its "
    "summaries left out is listed apart"
)
"""Beside their number."""
RULE_OF_THUMB = (
    "Found by rules of thumb that report only what is not in doubt: some of what is missing is "
    "not found."
)


UNREADABLE_SUMMARY = (
    "Its summary is encrypted by the provider or was not recorded: what it says cannot be read."
)
_MOST_UNREAD = 4
"""Summaries that cannot be read and are named."""


def unreadable_words(fidelity: Fidelity) -> str:
    """What is known where a summary cannot be read."""
    if not fidelity.kept:
        return f"{UNREADABLE_SUMMARY} What went to the summarizer may or may not be in it."
    are = "entry from before it is" if fidelity.kept == 1 else "entries from before it are"
    return (
        f"{UNREADABLE_SUMMARY} {fidelity.kept:,} {are} kept beside it, word for word; what else "
        "went to the summarizer may or may not be in it."
    )


def unread_words(compactions: Sequence[int]) -> str:
    """What nobody knows of the compactions whose summaries cannot be read; empty for none."""
    if not compactions:
        return ""
    if len(compactions) == 1:
        return (
            f"The summary of #{compactions[0]} is encrypted or was not recorded: what went to its "
            "summarizer may or may not be in it."
        )
    named = [f"#{at}" for at in compactions[:_MOST_UNREAD]]
    more = len(compactions) - len(named)
    names = (
        f"{', '.join(named)} and {more:,} more"
        if more
        else " and ".join([", ".join(named[:-1]), named[-1]])
    )
    return (
        f"The summaries of {names} are encrypted or were not recorded: what went to their "
        "summarizers may or may not be in them."
    )


NOTHING_FOUND = "Nothing found missing, nothing wrong. The rules see only clear cases"
NOTHING_BEFORE = "What it summarized is not in the file: what it left out cannot be told"


def headline(fidelity: Fidelity) -> str:
    """What was found of a summary, in a sentence."""
    if not fidelity.is_readable:
        return unreadable_words(fidelity).removesuffix(".")
    if not fidelity.is_comparable:
        return NOTHING_BEFORE
    missing = len(fidelity.of(Group.INSTRUCTION))
    parts = []
    if fidelity.instructions:
        total = count_text(fidelity.instructions, "standing instruction")
        unclear, wrong = fidelity.count(Carriage.UNCLEAR), fidelity.count(Carriage.WRONG)
        found = fidelity.instructions - missing - unclear - wrong
        if missing:
            parts.append(f"{missing} of {total} not found in the summary or the kept tail")
        elif found:
            all_of = total if fidelity.instructions == 1 else f"All {total}"
            if fidelity.instructions == 2:
                all_of = "Both standing instructions"
            what = all_of if found == fidelity.instructions else f"{found} of {total}"
            parts.append(f"{what} found in the summary or the kept tail")
        if unclear:
            is_first = not parts
            parts.append(f"{unclear} of {total} not clear" if is_first else f"{unclear} not clear")
    if state := len(fidelity.of(Group.STATE)):
        parts.append(f"{state} open {'point is' if state == 1 else 'points are'} not named")
    if wrong := len(fidelity.of(Group.WRONG)):
        parts.append(f"{count_text(wrong, 'statement')} {'is' if wrong == 1 else 'are'} wrong")
    return "; ".join(parts) or NOTHING_FOUND


def standing_words(fidelity: Fidelity, most: int = _MOST_QUOTED) -> str:
    """The standing instructions that hold, quoted in short, and where the user gave each; empty
    for none."""
    given = sorted({(one.fact.sources[0], one.fact.text) for one in fidelity.standing
                    if one.fact.sources})  # fmt: skip
    quoted = [f"“{_in_short(text)}” at #{at}" for at, text in given[:most]]
    if len(given) > most:
        quoted.append(f"{len(given) - most:,} more")
    return f"Given: {', '.join(quoted)}." if quoted else ""


def standing_lines(fidelity: Fidelity) -> tuple[str, ...]:
    """Of each standing instruction that holds: what became of it, and the line that says it."""
    return tuple(
        f"#{one.fact.sources[0]} “{_in_short(one.fact.text)}”: {_carriage_words(one)}"
        for one in fidelity.standing
    )


def _carriage_words(one: Standing) -> str:
    line = " ".join(one.line.split())
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_LONGEST_LINE].rstrip()}…"
    match one.carriage:
        case Carriage.FOUND:
            return f"found in “{line}”"
        case Carriage.KEPT:
            return "kept word for word"
        case Carriage.UNCLEAR:
            return f"not clear; the nearest line is “{line}”" if line else "not clear"
        case Carriage.MISSING:
            return "not found"
        case Carriage.WRONG:
            return "stated otherwise"


def _in_short(text: str) -> str:
    """Its first sentence; all of it where that only asks what another lays down."""
    first = title_line(text)
    return " ".join(text.split()) if first.endswith("?") else first


def none_words(fidelity: Fidelity) -> list[str]:
    """Of each group without findings that there is none: ``No open work unnamed``, ``no
    contradiction``; the first as a sentence begins."""
    if not fidelity.is_comparable:
        return []
    empty = [group for group in _NONE_OF_GROUP if not fidelity.of(group)]
    if Group.INSTRUCTION in empty and fidelity.count(Carriage.UNCLEAR):
        # Some may be missing after all.
        empty.remove(Group.INSTRUCTION)
    return [
        _NONE_OF_GROUP[group] if at else _NONE_OF_GROUP[group].capitalize()
        for at, group in enumerate(empty)
    ]


def none_sentence(fidelity: Fidelity) -> str:
    """The same as a sentence, or empty."""
    return f"{', '.join(found)}." if (found := none_words(fidelity)) else ""


_NAMED = 3
"""Kinds that are named in one line."""


def not_carried_words(fidelity: Fidelity) -> str:
    """``Not in these words: 9 commands, 30 symbols``, of many kinds the first; empty for none."""
    kinds = list(fidelity.not_carried.items())
    counts = [
        f"{len(facts):,} {KIND_TITLES[kind].lower() if len(facts) > 1 else ONE_KIND[kind]}"
        for kind, facts in kinds[:_NAMED]
    ]
    if more := sum(len(facts) for _, facts in kinds[_NAMED:]):
        counts.append(f"{more:,} more")
    return f"Not in these words: {', '.join(counts)}" if counts else ""


def size_text(tokens: int | None) -> str:
    """Tokens as figures; in words where nobody can count them."""
    return NOT_RECORDED if tokens is None else f"{tokens:,}"


def shrunk_words(fidelity: Fidelity) -> str:
    """``, 23 to 1``: how much shorter a summary is than what it took the place of; empty where
    that is not known."""
    if not (fidelity.is_readable and fidelity.tokens_before):
        return ""
    times = fidelity.tokens_before / fidelity.tokens_after if fidelity.tokens_after else 0.0
    if times < 1:
        return ", not shorter"
    return f", {times:.0f} to 1" if times >= 10 else f", {times:.1f} to 1"


def size_words(fidelity: Fidelity) -> str:
    """How large the summary is against what it took the place of, in a sentence."""
    if not fidelity.is_readable:
        return UNREADABLE_SUMMARY
    shrunk = shrunk_words(fidelity).removeprefix(", ")
    sizes = f"{fidelity.tokens_after:,} tokens in place of {fidelity.tokens_before:,}"
    return f"The summary takes {sizes}: {shrunk}." if shrunk else ""


def section_words(fidelity: Fidelity) -> str:
    """Required sections that are missing, and any that are there twice."""
    missing = [each.name for each in fidelity.sections if each.required and not each.count]
    twice = [each.name for each in fidelity.sections if each.count > 1]
    parts = []
    if missing:
        parts.append(f"Sections missing: {', '.join(missing)}.")
    if twice:
        parts.append(f"There more than once: {', '.join(twice)}.")
    if fidelity.sections and not parts:
        parts.append("All sections of its form are there, each once.")
    return " ".join(parts)


def finding_words(finding: Finding) -> str:
    """A finding as a sentence of one line, for lists and screen readers."""
    fact = finding.fact
    source = f"#{fact.last}" if fact.sources else "no source"
    return f"{GROUP_TITLES[finding.group]}, {source}: {finding.text.rstrip('.')}. {finding.reason}"


NEED_TITLES = {
    NeedKind.READ: "read again",
    NeedKind.READ_BACK: "read back",
    NeedKind.COMMAND: "run again",
    NeedKind.SEARCH: "searched again",
    NeedKind.FAILURE: "failed again",
    NeedKind.MISSING_PATH: "missing, tried again",
    NeedKind.UNDONE_EDIT: "edit taken back",
    NeedKind.REQUEST: "asked for again",
}
"""What a row is, in two or three words."""
NEEDED_MEANING = (
    "What was done a second time after a compaction, or read back after the agent had written it, "
    "when the model saw nothing of it any more. Nothing had changed it since, but for edits of the "
    "agent's own before the compaction."
)
TAIL_MEANING = (
    "A tail is the end of the context that a compaction keeps word for word. The last column says "
    "how many tokens of it would have held the row; it is empty where other compactions followed."
)
NOT_COMPARED = "There is no like stretch of the path without a compaction to compare with."
_LONGEST = 160
_MOST_NEEDED_PLACES = 4
_LEAST_PART = 0.1
"""The share of the lines of a read; one that a search showed besides, among others, is not where it
was read."""
_PATHS = (*READS, NeedKind.MISSING_PATH, NeedKind.UNDONE_EDIT)


def need_text(repeat: Repeat, longest: int = _LONGEST) -> str:
    """What was done again: the file and its lines, the command, the words."""
    text = " ".join(repeat.text.split())
    if len(text) > longest:
        # The end of a path tells more than its beginning.
        is_path = repeat.kind in _PATHS
        text = f"…{text[1 - longest :]}" if is_path else f"{text[: longest - 1]}…"
    if lines := lines_text(repeat):
        text += f", {lines}"
    return text if repeat.edited < 0 else f"{text}, as last edited at #{repeat.edited}"


def lines_text(repeat: Repeat) -> str:
    """``lines 1 to 80``; ``part of lines 1 to 80`` where others stand between, ``lines 1 to 80 but
    for some already in the context`` where these are such as something had shown since: how many is
    not certain, since they are known by their text alone. Nothing but of a read."""
    if repeat.kind not in READS or not repeat.first:
        return ""
    gap = repeat.last - repeat.first + 1 - repeat.lines
    words = f"{'part of ' if gap > repeat.held else ''}lines {repeat.first:,} to {repeat.last:,}"
    return f"{words} but for some already in the context" if gap and repeat.held else words


def before_words(repeat: Repeat) -> str:
    """Where it was before, ``#231``; of a read all entries that show a part of it worth a mention,
    ``#231 and #233``."""
    places = sorted({repeat.before, *(one.entry for one in _worth_naming(repeat))})
    first = ", ".join(f"#{place}" for place in places[:_MOST_NEEDED_PLACES])
    left = len(places) - _MOST_NEEDED_PLACES
    return f"{first} and {left:,} more" if left > 0 else " and ".join(first.rsplit(", ", 1))


def _worth_naming(repeat: Repeat) -> list[ShownLines]:
    """The larger parts, and the smaller ones without which the first or the last of the lines that
    are named would be nowhere."""
    least = _LEAST_PART * repeat.lines
    found: list[ShownLines] = []
    for one in sorted(repeat.shown, key=lambda one: -one.number):
        is_beyond = not found or (
            one.first < min(each.first for each in found)
            or one.last > max(each.last for each in found)
        )
        if one.number > least or is_beyond:
            found.append(one)
    return found


def known_words(repeat: Repeat) -> str:
    """How it was there before, and where: ``before at #231``, ``written at #231``."""
    return f"{_known(repeat)} at {before_words(repeat)}"


def again_words(repeat: Repeat) -> str:
    """Both entries of one: ``before at #231, again at #240``, ``written at #231, read at #240``."""
    again = "read" if repeat.kind is NeedKind.READ_BACK else "again"
    return f"{known_words(repeat)}, {again} at #{repeat.after}"


def _known(repeat: Repeat) -> str:
    if repeat.kind is not NeedKind.READ_BACK:
        return "before"
    return "written" if all(one.is_written for one in _worth_naming(repeat)) else "written or shown"


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


def doubt_words(found: Iterable[NeededAfter]) -> str:
    """What is not counted of these compactions, since the agent's program may have shown it again
    itself, in a sentence; nothing where there is no such read."""
    needs = [need for one in found for need in one.in_doubt]
    if not needs:
        return ""
    files = len(grouped(needs))
    tokens = tokens_text(sum(need.repeat.tokens for need in needs))
    return (
        f"Not counted: {count_text(files, 'file')} read, {tokens} tokens, that the agent's "
        "program may have shown again after the compaction; it does not record that."
    )


def _count(kind: NeedKind, needs: Sequence[Need]) -> str:
    if not needs:
        return ""
    things = len(grouped(needs))
    times = f" ({len(needs):,} times)" if len(needs) > things else ""
    if kind is NeedKind.REQUEST:
        places = ", ".join(f"#{need.repeat.after}" for need in needs[:_MOST_NEEDED_PLACES])
        more = f" and {left:,} more" if (left := len(needs) - _MOST_NEEDED_PLACES) > 0 else ""
        return f"asked for again by the user at {places}{more}"
    name = {
        NeedKind.READ: "file", NeedKind.READ_BACK: "file", NeedKind.COMMAND: "command",
        NeedKind.SEARCH: "search",
        NeedKind.FAILURE: "failure", NeedKind.MISSING_PATH: "missing path",
        NeedKind.UNDONE_EDIT: "edit",
    }[kind]  # fmt: skip
    verb = {
        NeedKind.READ: "read again", NeedKind.READ_BACK: "written and read back",
        NeedKind.COMMAND: "run again", NeedKind.SEARCH: "made again", NeedKind.FAILURE: "met again",
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


def expected_words(expected: Expected | None, rows: int = 0) -> str:
    """How often the same happens on the path without a compaction, in a sentence. ``rows``: how
    many are listed beside it, of which some may lie further apart than what is compared."""
    if expected is None or not expected.found:
        return NOT_COMPARED
    counted = "is" if expected.found == 1 else "are"
    more = rows - expected.found
    lie = "lies" if more == 1 else "lie"
    further = f", and {more:,} more that {lie} further apart than that" if more > 0 else ""
    return (
        f"Without a compaction, a stretch this long ({expected.before:,} entries before, "
        f"{expected.after:,} after) has {expected.number:.1f} such repeats on average; here there "
        f"{counted} {expected.found:,}{further}."
    )


def path_words(needed: NeededAgain) -> str:
    """All of a path in a sentence, and in another what is not counted; before them where nothing
    was done yet after the latest compaction."""
    words = f"{needs_words(needed.needs)}."
    if needed.unfollowed >= 0:
        unfollowed = unfollowed_words(needed.unfollowed)
        words = f"{unfollowed}. {words}" if len(needed.after) > 1 else f"{unfollowed}."
    doubt = doubt_words(needed.after)
    return f"{words} {doubt}" if doubt else words


def unfollowed_words(compaction: int) -> str:
    """Why nothing can have been needed again after a compaction, in a sentence without its end."""
    return f"Nothing follows compaction #{compaction} yet"

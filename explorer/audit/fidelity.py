"""How true a summary is to what it took the place of, and whether it names the work under way: what
was asked for, what failed, what was changed.

    table = scan([*earlier, *summarized, *kept], payloads.entries)
    found = fidelity(summary, summarized, kept, table)

One list of findings, which every view shows: what the user laid down for good and nothing says,
what is open and not named, what is stated wrongly. Precision comes first: what is in doubt is not
reported, and of open work only what the record shows to be open: a request whose turn the
compaction cut, a call that failed last, files that calls changed, a next step that nothing
followed. Strings that are merely absent are listed by kind and count in no figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from explorer.audit.carried import Carried, telling_words
from explorer.audit.findings import Carriage, Fidelity, Finding, Group, SectionCheck, Standing
from explorer.audit.stated_wrongly import EntryMentions, Sources, stated_wrongly
from explorer.audit.summary_text import SummaryText
from explorer.compaction.summary import FREE, Form, section_counts
from explorer.facts import Fact, FactKind, Facts, FactTable, Mention, Span
from explorer.facts.commands import is_whole
from explorer.facts.entry_texts import Speaker
from explorer.facts.identifiers import base_name, path_key
from explorer.tokens.estimate import estimate_text

_MOST_FILES = 5
"""Changed files that are named in one finding."""
_NOT_LOOKED_FOR = re.compile(
    r"^/(?:private/)?(?:tmp|dev|var/folders)/|[/\\](?:temp|tmp|scratchpad|\.claude)[/\\]"
    r"|\bREDACTED\b|(?:^|[/\\])__init__\.py$",
    re.IGNORECASE,
)
"""Where files lie that nobody goes on with, or what they are called; and a name that was taken out
of the record, which a summary may have all the same."""
_TURNS = 2
"""The newest turns whose changes are under way ..."""
_CHANGES = 8
"""... and the newest entries that changed files: in a turn of hours most is done and over with."""
_COMMITS = re.compile(r"\bgit\b[^|;&]*\bcommit\b")
_TAKES_AWAY = re.compile(r"\brm\b|\bgit\b[^|;&]*\b(?:checkout|restore|reset|stash)\b")
_EXIT = re.compile(r"(?:process )?exit(?:ed)?(?: with)?(?: code| status)?:? *\d+\.?", re.IGNORECASE)
_FILE = re.compile(r"[\w-][\w.-]*\.[A-Za-z]\w{0,5}(?![\w.])")
_SHOWN_PARTS = 3
"""The last parts of a long path that are shown."""
_DOCUMENT = 3_000
"""UTF-16 units of a message from which it was pasted: no sentence of it is the request."""
_AT_ONCE = 600
"""UTF-16 units of a message in which its request stands; what comes later details it."""
_LEAST_WORDS = 3
"""Telling words of a request or a step; "go on" tells nothing."""


def open_state(
    table: FactTable,
    summarized: Sequence[int],
    kept: Sequence[int],
    changed: Mapping[str, Sequence[int]],
    carried: Carried,
) -> Iterator[Finding]:
    """What is open at a compaction and in neither its summary nor its kept tail."""
    request = _request(table, summarized, kept, carried)
    failure = _failure(table, summarized, kept, carried)
    files = _files(table, changed, summarized, carried)
    # What the last reply announces is the beginning of what was asked for, or of a mending.
    is_known = request is not None or failure is not None
    step = None if is_known else _next_step(table, summarized, kept, carried)
    yield from (found for found in (request, failure, files, step) if found is not None)


def _request(
    table: FactTable, summarized: Sequence[int], kept: Sequence[int], carried: Carried
) -> Finding | None:
    """The latest request, where it was summarized and its turn was not over."""
    if any(table.entry(index).speaker is Speaker.USER for index in kept):
        return None
    entries = [*summarized, *kept]
    at = next((at for at in reversed(range(len(entries)))
               if table.entry(entries[at]).speaker is Speaker.USER), -1)  # fmt: skip
    if at < 0 or _is_over(table, entries[at + 1 :]):
        return None
    items = table.entry(entries[at]).items
    # What a message lays down for good is no request; where it asks for several things, the last
    # is what is begun last.
    rules = {one.key for one in table.entry(entries[at]).instructions}
    wanted = [one for one in items if one.kind is FactKind.REQUEST and one.key not in rules]
    asked = wanted[-1] if wanted else None
    if asked is None or asked.start > _AT_ONCE or items[-1].end > _DOCUMENT:
        return None
    if len(telling_words(asked.text)) < _LEAST_WORDS:
        return None
    if carried.says(asked.text):
        return None
    reason = "The latest request: its turn was not over, and the summary does not name it."
    return Finding(Group.STATE, _fact(entries[at], asked), reason)


def _is_over(table: FactTable, entries: Sequence[int]) -> bool:
    """Whether a turn ended with a reply that called nothing and announces nothing."""
    for index in reversed(entries):
        entry = table.entry(index)
        if entry.failed is not None or entry.calls:
            return False
        if entry.speaker is Speaker.ASSISTANT:
            return not entry.announced
    return False


def _failure(
    table: FactTable, summarized: Sequence[int], kept: Sequence[int], carried: Carried
) -> Finding | None:
    """The last result, where it is a failure and no reply came after it."""
    entries = [*summarized, *kept]
    last = next((at for at in reversed(range(len(entries)))
                 if table.entry(entries[at]).failed is not None), -1)  # fmt: skip
    if last < 0 or entries[last] in set(kept) or not table.entry(entries[last]).failed:
        return None
    if _is_over(table, entries[last + 1 :]):
        return None
    lines = [one for one in table.entry(entries[last]).items if one.kind is FactKind.ERROR]
    if not lines or any(carried.has(_fact(entries[last], one)) for one in lines):
        return None
    # A summary tells a failure in words of its own; the file that it is in, it names.
    if carried.tells_of_failure({name for one in lines for name in _FILE.findall(one.text)}):
        return None
    reason = "The last call failed, nothing after it succeeded, and the summary does not say so."
    telling = next((one for one in lines if not _EXIT.fullmatch(one.text.strip())), lines[0])
    return Finding(Group.STATE, _fact(entries[last], telling), reason)


def _files(
    table: FactTable,
    changed: Mapping[str, Sequence[int]],
    summarized: Sequence[int],
    carried: Carried,
) -> Finding | None:
    """The files that the last calls of the last turns changed and nothing names, in one finding;
    what was committed or taken back since is not open."""
    here = set(summarized)
    changes = sorted(here.intersection(at for entries in changed.values() for at in entries))
    if not changes:
        return None
    since = max(_last_turns(table, summarized), changes[-_CHANGES:][0])
    commands = [
        (index, one.text)
        for index in summarized
        if index >= since
        for one in table.entry(index).items
        if one.kind is FactKind.COMMAND
    ]
    unnamed: dict[str, int] = {}
    for path, entries in changed.items():
        last = max(here.intersection(entries), default=-1)
        if last < since or _NOT_LOOKED_FOR.search(path) or carried.names(path_key(path)):
            continue
        name = base_name(path_key(path))
        if not any(at > last and _is_settled(name, command) for at, command in commands):
            unnamed[path] = last
    if not unnamed:
        return None
    paths = sorted(unnamed, key=lambda path: -unnamed[path])
    named = ", ".join(map(_short, paths[:_MOST_FILES]))
    if len(paths) > _MOST_FILES:
        named += f" and {len(paths) - _MOST_FILES} more"
    what = "Calls changed it" if len(paths) == 1 else f"Calls changed these {len(paths)} files"
    named_by = "it" if len(paths) == 1 else "them"
    sources = tuple(sorted(set(unnamed.values())))
    fact = Fact(FactKind.PATH, named, "\n".join(sorted(map(path_key, paths))), sources)
    reason = f"{what} last; neither the summary nor the kept tail names {named_by}."
    return Finding(Group.STATE, fact, reason)


def _last_turns(table: FactTable, summarized: Sequence[int]) -> int:
    """The entry with which the last turns begin; -1 where there are fewer."""
    typed = [index for index in summarized if table.entry(index).speaker is Speaker.USER]
    return typed[-_TURNS] if len(typed) >= _TURNS else -1


def _is_settled(name: str, command: str) -> bool:
    """Whether a command commits, or takes a file away or back."""
    return _COMMITS.search(command) is not None or (
        name in command.lower() and _TAKES_AWAY.search(command) is not None
    )


def _short(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    return path if len(parts) <= _SHOWN_PARTS + 1 else f"…/{'/'.join(parts[-_SHOWN_PARTS:])}"


def _next_step(
    table: FactTable, summarized: Sequence[int], kept: Sequence[int], carried: Carried
) -> Finding | None:
    """The next step that the last reply names, where nothing came after it."""
    if any(table.entry(index).speaker is not None for index in kept) or not summarized:
        return None
    for index in reversed(summarized):
        entry = table.entry(index)
        if entry.speaker is Speaker.USER or entry.calls or entry.failed is not None:
            return None
        if entry.speaker is Speaker.ASSISTANT:
            steps = [one for one in entry.items if one.kind is FactKind.TODO]
            # A reply that only announces begins what was asked for: the request is what is open.
            announced = [one for one in entry.announced if one.start]
            for one in (*announced, *steps):
                if len(telling_words(one.text)) >= _LEAST_WORDS and not carried.says(one.text):
                    reason = "The last reply leaves it open; the summary does not name it."
                    return Finding(Group.STATE, _fact(index, one), reason)
            return None
    return None


def _fact(entry: int, one: Mention) -> Fact:
    span = Span(entry, one.start, one.end, one.block, one.argument)
    return Fact(one.kind, one.text, one.key, (entry,), (span,))


_LONGEST_NEAR = 160
"""Characters that are quoted of a line."""
_CANCEL_EVERY = 512
_NO_FILES: Mapping[str, Sequence[int]] = {}


def fidelity(
    summary: str | Sequence[str],
    summarized: Sequence[int],
    kept: Sequence[int],
    table: FactTable,
    *,
    earlier: Sequence[int] = (),
    form: Form = FREE,
    changed: Mapping[str, Sequence[int]] = _NO_FILES,
    tokens_before: int = 0,
    tokens_after: int | None = None,
    gathered: EntryMentions | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Fidelity:
    """The fidelity of a summary, or of several parts that stand for it together.

    ``summarized``, ``kept``: entry indices, the summarized ones with the compaction whose summary
    was updated; all scanned into ``table``. ``earlier``: entries that an earlier summary covers:
    what the user laid down there still holds. ``changed``: the files that calls of the summarized
    entries changed, with those entries. ``tokens_after``: None counts the estimate. ``gathered``:
    what the audit of another compaction of the session has read, and this one need not read again.

    When ``cancelled`` returns True the findings end early; ask it before they are shown.
    """
    parts = (summary,) if isinstance(summary, str) else tuple(summary)
    text = SummaryText(parts)
    facts = table.facts([*summarized, *kept])
    carried = Carried(text, table, kept, facts)
    known = [*earlier, *summarized, *kept]
    given = table.instructions(known)
    holding = [one for one in given if not one.stale and telling_words(one.text)]
    sources = Sources(table, facts, known, gathered or EntryMentions())
    wrong = stated_wrongly(text, sources, given)
    standing = _standing(holding, wrong, frozenset(kept), carried)
    after = estimate_text("\n".join(parts)) if tokens_after is None else tokens_after
    return Fidelity(
        findings=(
            *_missing(standing, carried),
            *open_state(table, summarized, kept, changed, carried),
            *wrong,
        ),
        instructions=len(holding),
        not_carried=_not_carried(facts, frozenset(summarized), carried, cancelled),
        sections=_sections(parts, form),
        tokens_before=tokens_before,
        tokens_after=after,
        standing=standing,
    )


def _standing(
    holding: Sequence[Fact], wrong: Sequence[Finding], kept: frozenset[int], carried: Carried
) -> tuple[Standing, ...]:
    turned = {one.fact.key for one in wrong}
    found = []
    for fact in holding:
        carriage, line = Carriage.MISSING, ""
        if fact.key in turned:
            carriage = Carriage.WRONG
        elif not kept.isdisjoint(fact.sources):
            carriage = Carriage.KEPT
        elif line := carried.line_of(fact.text):
            carriage = Carriage.FOUND
        elif carried.says(fact.text):
            carriage, line = Carriage.UNCLEAR, carried.part_of(fact.text)
        found.append(Standing(fact, carriage, line))
    return tuple(found)


def _missing(standing: Sequence[Standing], carried: Carried) -> list[Finding]:
    """The standing instructions that nothing says, the newest first."""
    found = []
    for one in reversed(standing):
        if one.carriage is not Carriage.MISSING:
            continue
        fact = one.fact
        reason = "Not found in the summary or the kept tail"
        if part := carried.part_of(fact.text):
            cut = f"{part[:_LONGEST_NEAR].rstrip()}…"
            near = part.rstrip(".") if len(part) <= _LONGEST_NEAR else cut
            reason += f"; the nearest line of the summary: “{near}”"
        if len(fact.sources) > 1:
            reason += f"; given {len(fact.sources)} times"
        reason += "."
        found.append(Finding(Group.INSTRUCTION, fact, reason))
    return found


def _not_carried(
    facts: Facts,
    summarized: frozenset[int],
    carried: Carried,
    cancelled: Callable[[], bool],
) -> Mapping[FactKind, tuple[Fact, ...]]:
    """Other facts of the summarized entries that are missing from the context, by kind."""
    found: dict[FactKind, list[Fact]] = {}
    for number, fact in enumerate(facts):
        if number % _CANCEL_EVERY == 0 and cancelled():
            break
        if fact.stale or summarized.isdisjoint(fact.sources) or carried.has(fact):
            continue
        if fact.kind is FactKind.COMMAND and not is_whole(fact.text):
            continue  # Of a script the first line alone is known, and tells nothing.
        found.setdefault(fact.kind, []).append(fact)
    return {kind: tuple(found[kind]) for kind in FactKind if kind in found}


def _sections(parts: Sequence[str], form: Form) -> tuple[SectionCheck, ...]:
    counts = section_counts("\n\n".join(parts), form)
    return tuple(
        SectionCheck(name, count, name in form.required)
        for name, count in counts.items()
        if count or name in form.required
    )

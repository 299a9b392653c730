"""What is done a second time on a path though nothing has changed: files read, commands run,
searches, failures, edits taken back. Whether a compaction lies between is not looked at here.

A repeat counts only where the session itself proves it: the same lines of the same file with the
same text, as the agent saw it or as its own edits made it; the same command with the same output
and no change of a file between. What is in doubt is none, nor is what is asked at any time because
it may have changed: lists of files, and how the work stands.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import compress
from operator import eq
from typing import NamedTuple

from msgspec import Struct

from explorer.audit.known_content import (
    DIGITS,
    LEAST_LINES,
    Failure,
    KnownFile,
    KnownOutput,
    UntoldLines,
    first_words,
    is_telling,
    line_difference,
    put_back,
    shows_whole,
)
from explorer.session.describe import error_mark
from explorer.session.entries import (
    AssistantMessage,
    CompactionSummary,
    Entry,
    FilesMessage,
    PutBack,
    ShellMessage,
    ToolResultMessage,
    UserMessage,
)
from explorer.session.result_text import (
    bare_lines,
    exit_code,
    failed,
    is_diff,
    is_running,
    numbered_lines,
    output_of,
    part_shown,
    printed_files,
)
from explorer.session.tool_actions import (
    ActionKind,
    ToolAction,
    same_path,
    shell_action,
    tool_actions,
)


class NeedKind(StrEnum):
    """What was done again."""

    READ = "read"
    READ_BACK = "read-back"
    """Most of what was read had been written by the agent itself, and not been read since."""
    COMMAND = "command"
    SEARCH = "search"
    FAILURE = "failure"
    MISSING_PATH = "missing-path"
    UNDONE_EDIT = "undone-edit"
    REQUEST = "request"


READS = (NeedKind.READ, NeedKind.READ_BACK)


class ShownLines(NamedTuple):
    """Lines of a read that one earlier entry shows, the last time before."""

    entry: int
    first: int
    last: int
    number: int
    tokens: int
    """What they took in the later read, by the estimate."""
    back: int = -1
    """The entry before which the agent's program may have put them back, unrecorded; -1: none."""
    is_written: bool = False
    """The entry is a call of the agent's that wrote or edited them."""

    @property
    def shown_from(self) -> int:
        """Up to this entry they may have been shown."""
        return max(self.entry, self.back)


class Repeat(NamedTuple):
    """Something that was done at one entry and again at a later one."""

    kind: NeedKind
    before: int
    """The entry that shows it the last time before; of a read, most of it."""
    after: int
    """The entry that shows it again."""
    tokens: int
    """What it took the second time, by the estimate; 0 where that says nothing."""
    text: str
    """The path, the command, what was searched for, or the words."""
    first: int = 0
    """Of a read: the first line that was there before; 0 for none."""
    last: int = 0
    shown: tuple[ShownLines, ...] = ()
    """Of a read: all lines that were there before, by the entry that shows them."""
    read: int = 0
    """Of a read: the tokens of all of it, by the estimate."""
    edited: int = -1
    """Of a read: the last entry before it at which the agent edited the file that it had seen or
    written; -1 for none. What is read again is what these edits made of it, to the letter."""
    since: int = -1
    """Of a command, a search and a failure: from this entry on all of it was shown, also by
    something else, such as the same command with its output cut; of a read: the entry before which
    most of it may have been put back; -1 for nothing."""
    held: int = 0
    """Of a read: how many lines between the first and the last were in the context already."""

    @property
    def shown_from(self) -> int:
        """From this entry on all of it was shown the last time before."""
        return max(self.before, self.since)

    @property
    def lines(self) -> int:
        """Of a read: how many lines were there before at least, which need not be side by side:
        others may have been shown since."""
        return sum(one.number for one in self.shown)

    def narrowed(
        self, shown: Sequence[ShownLines], least: int, held: Sequence[ShownLines] = ()
    ) -> Repeat | None:
        """A read as if only some of its lines had been there before, and others (``held``) were
        in the context already; None where they are fewer tokens than ``least``, or a small part of
        it."""
        tokens = sum(one.tokens for one in shown)
        if abs(self.read - tokens) <= len(shown):
            tokens = self.read  # The rest is what rounding makes of the lines.
        if tokens < max(least, _LEAST_SHARE * self.read):
            return None
        most = max(shown, key=lambda one: one.number)
        first, last = min(one.first for one in shown), max(one.last for one in shown)
        between = (one.number for one in held if one.first <= last and one.last >= first)
        return self._replace(
            kind=NeedKind.READ_BACK if most.is_written else NeedKind.READ,
            before=most.entry, since=most.back, tokens=tokens, first=first,
            last=last, shown=tuple(shown), held=sum(between),
        )  # fmt: skip


_SAME = 0.98
"""The share of the common lines that must be the same: else the file has changed."""
_LEAST_OUTPUT = 40
"""Characters of an output that is worth a mention."""
_LEAST_SHARE = 0.25
"""The share of a read that was there before."""
_CHECKS = re.compile(
    r"\b(?:tests?|pytest|jest|vitest|mocha|rspec|lint\w*|check\w*|build|vet|tsc|mypy|ruff|eslint|"
    r"clippy|compile|doctor|validate|verify)\b"
)
"""Programs that are run for what they say; others are run for what they do."""
_OPEN_FAILURES = 40
"""Failures that are remembered until the same succeeds."""
_LEAST_EDIT = 12
_STANDS = (ActionKind.WAIT, ActionKind.STATE, ActionKind.LIST)
"""What is asked to see how something stands by now."""
_TELLING = (ActionKind.SEARCH, ActionKind.RUN, ActionKind.OTHER)
"""What may print lines of files that it does not name."""
_OF_FILES = (ActionKind.EDIT, ActionKind.WRITE, ActionKind.DELETE)
_TAKE_BACK = re.compile(
    r"\b(?:revert|undo|roll(?:ed)? ?back|restore|remove|put .{0,40}back|go back|"
    r"take .{0,40}(?:back|out)|as it was|(?:old|previous|original) (?:one|way|version))\b",
    re.IGNORECASE,
)
_LONGEST_ORDER = 4_000
"""Characters of a message in which an order is looked for."""
_NOT_MET = re.compile(
    r"doesn't want to (?:proceed|take this action)|request interrupted|user (?:rejected|declined)|"
    r"tool use was rejected|sibling tool call|parallel tool call|permission to use|cancell?ed|"
    r"requested permissions|timed out|updated successfully|not found in file|"
    r"No changes to make|hook",
    re.IGNORECASE,
)
"""Failures that say nothing of what was known: a person's no, a hook, an edit by a wrong text."""
_UNREAD = re.compile(
    r"has not been read yet|must (?:first )?read|read the file first|"
    r"modified since (?:\w+ ){0,3}read",
    re.IGNORECASE,
)
"""The agent's program refuses a change until the file is read: that is no failure of the model."""
_MISSING = re.compile(
    r"no such file or directory|does not exist|ENOENT|file not found|cannot find (?:the )?path|"
    r"path not found|os error 2",
    re.IGNORECASE,
)


class _Ran(Struct):
    """The last time that something was run or asked."""

    entry: int
    mark: int
    changes: int
    """How many changes of files there had been by then."""


@dataclass
class Repeats:
    """Finds the repeats of one path. Give it the entries in their order; what it found is in
    ``found``, ordered by ``after``."""

    tokens: Sequence[int]
    """Of each entry of the session."""
    least: int
    """Tokens of a read that is worth a mention."""
    found: list[Repeat] = field(default_factory=list)
    _calls: dict[str, tuple[int, tuple[ToolAction, ...]]] = field(default_factory=dict)
    """By id: the entry of the call, and what it does."""
    _open: list[str] = field(default_factory=list)
    """The calls of the last reply."""
    _files: dict[str, list[KnownFile]] = field(default_factory=dict)
    """By the last part of the path."""
    _ran: dict[str, _Ran] = field(default_factory=dict)
    _output: KnownOutput = field(default_factory=KnownOutput)
    """What was run, searched for or failed."""
    _changed: list[str] = field(default_factory=list)
    """The last parts of the paths that were changed, in order; empty for a change that does not
    name its files."""
    _failures: deque[Failure] = field(default_factory=lambda: deque(maxlen=_OPEN_FAILURES))
    _missing: dict[str, int] = field(default_factory=dict)
    _edits: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _written: set[int] = field(default_factory=set)
    """The entries of calls that wrote or edited a file."""
    _asked_back: int = -1
    """Where a person last asked to take something back."""
    _put_back: PutBack | None = None
    """What the agent's program may be putting back, after a compaction; until it is known."""

    def extend(self, entries: Iterable[tuple[int, Entry]]) -> None:
        """Go on with further entries of the path, each with its index."""
        for index, entry in entries:
            body = entry.body
            if isinstance(body, AssistantMessage):
                self._show_put_back(index)
                self._show(index, entry.text)
                self._call(index, body)
            elif isinstance(body, CompactionSummary):
                self._show(index, entry.summary)
                self._put_back = body.put_back
            elif isinstance(body, ToolResultMessage):
                at, actions = self._calls.pop(body.call_id, (-1, ()))
                # What its agent took out of the context was not there to be known.
                if actions and not body.is_pruned:
                    text = output_of(entry.text)
                    self._result(index, entry, text, at, actions)
                    if actions[0].kind in _TELLING:
                        self._output.show(index, text, actions[0].key)
            elif isinstance(body, UserMessage):
                self._show(index, entry.text)
                if not body.synthetic and _TAKE_BACK.search(entry.text[:_LONGEST_ORDER]):
                    self._asked_back = index
            elif isinstance(body, ShellMessage):
                if not body.excluded:
                    self._show(index, f"{body.command}\n{body.output}")
                self._change(shell_action(body.command))
            elif isinstance(body, FilesMessage):
                self._put_back = None  # It is recorded.
                for file in body.files:
                    self._learn_whole(file.path.replace("\\", "/"), index, file.content)

    def _show(self, index: int, text: str) -> None:
        """Know again what a message or a summary quotes."""
        self._see(index, text, text)
        self._output.show(index, text)

    def _call(self, index: int, reply: AssistantMessage) -> None:
        for call_id in self._open:
            # Without a result: whether it changed its files is not known.
            for action in self._calls.get(call_id, (-1, ()))[1]:
                self._change(action)
        self._open = [call.id for call in reply.calls]
        for call in reply.calls:
            self._calls[call.id] = index, tool_actions(call.name, call.named_arguments)

    def _show_put_back(self, index: int) -> None:
        """Count what the agent's program may have put back without recording it as shown before
        the first reply: what is in doubt was not needed again."""
        back, self._put_back = self._put_back, None
        if back is not None:
            put_back((one for some in self._files.values() for one in some), back, index)

    # one result ----------------------------------------------------------------------------------

    def _result(
        self,
        index: int,
        entry: Entry,
        text: str,
        called: int,
        actions: tuple[ToolAction, ...],
    ) -> None:
        """``text``: the output that the result holds."""
        body, action = entry.body, actions[0]
        assert isinstance(body, ToolResultMessage)
        has_failed = body.is_error or failed(entry.text)
        is_read = action.kind is ActionKind.READ
        is_told = bool(action.prints) and self._printed(index, action, entry.text, text)
        # What one read shows is told by the numbers of its lines.
        if not is_read or len(actions) > 1 or (action.prints and not (is_told and action.path)):
            named = " ".join(one.key or one.text or one.path for one in actions)
            # A search in a folder, a difference, a test and another agent name the files in what
            # they print.
            tells = action.kind in _TELLING or is_diff(text)
            self._see(index, named + text if tells else named, text)
        if has_failed:
            if not is_read or (not is_told and len(action.prints) < 2):
                self._fail(index, action, text)
            if action.kind not in _OF_FILES:
                self._change(action)
            return
        self._succeed(action)
        for each in actions:
            if each.kind in (ActionKind.EDIT, ActionKind.WRITE):
                self._undone(called, each)
            self._change(each, called)
            if each.kind is ActionKind.WRITE and each.added:
                self._learn_whole(each.path, called, each.added)
        if is_read and not action.prints:
            if len(actions) == 1:
                if body.tool.lower() == "read":
                    self._seen(action.path).used = index
                numbers, lines = numbered_lines(text, action.first, action.last)
                is_whole = shows_whole(action, numbers) and part_shown(text) is None
                self._read(index, action.path, numbers, lines, is_whole, self.tokens[index])
        elif action.key and not is_told:
            self._again(index, action, text, self.tokens[index])

    def _change(self, action: ToolAction, made_at: int = -1) -> None:
        """Forget what was seen of files that an action changes, but for what an edit that was made
        (``made_at``: its entry) makes of a file that is known."""
        if action.kind in _OF_FILES:
            file = self._seen(action.path)
            if made_at >= 0:
                self._written.add(made_at)
                file.used = file.changed = made_at
            known = file if action.kind is ActionKind.EDIT else None
            is_known = known is not None and made_at >= 0 and known.apply(action, made_at)
            self._forget(action.path, known if is_known else None)
        for path in action.written:
            self._forget(path)
        if action.changes_any:
            # What was seen of files that it does not name is remembered: their text proves
            # whether it is the same.
            for name in self._files:
                if name and name in action.text:
                    self._forget(name)
            self._missing.clear()
            self._changed.append("")

    def _forget(self, path: str, but: KnownFile | None = None) -> None:
        name = _name(path)
        self._changed.append(name)
        for one in self._files.get(name, ()):
            if one is not but and (same_path(one.path, path) or path.startswith("..")):
                one.clear()
        for missing in [one for one in self._missing if _name(one) == name or f"/{name}/" in one]:
            del self._missing[missing]

    # files ---------------------------------------------------------------------------------------

    def _seen(self, path: str) -> KnownFile:
        known = self._files.setdefault(_name(path), [])
        for one in known:
            if same_path(one.path, path):
                return one
        known.append(KnownFile(path))
        return known[-1]

    def _learn_whole(self, path: str, index: int, text: str) -> None:
        lines = text.split("\n")
        seen = self._seen(path)
        seen.show(index, range(1, len(lines) + 1), lines)
        seen.text, seen.edited = text if text.endswith("\n") else f"{text}\n", -1

    def _see(self, index: int, named: str, text: str) -> None:
        """Know again the lines of files that other output shows, such as that of several reads in
        one command. ``named``: what names the files."""
        named_files = [one for name, some in self._files.items() if name and name in named
                       for one in some]  # fmt: skip
        files = [one for one in named_files if one.marks]
        untold = [one for one in named_files if one.untold and one.untold[-1].entry != index]
        if not files and not untold:
            return
        lines = bare_lines(text)
        for one in untold:
            one.remember(UntoldLines(index, None, tuple(form for forms in lines for form in forms)))
        output = [tuple(map(hash, forms)) for forms in lines]
        places: dict[int, list[int]] = {}
        for at, forms in enumerate(lines):
            for form in filter(is_telling, forms):
                places.setdefault(hash(form), []).append(at)
        for one in files:
            one.shown_at.update(dict.fromkeys(one.lines_among(output, places), index))

    def _printed(self, index: int, action: ToolAction, result: str, text: str) -> bool:
        """A command that reads files; whether it is known which lines of one it showed. ``text``:
        the output that its result holds."""
        if action.changes_any or is_running(result):
            return False  # It may have changed them first, or is not at its end.
        found_nothing = action.finds_last and exit_code(result) == 1
        is_told = False
        shown: dict[str, dict[int, str]] = {}
        whole: set[str] = set()
        for at, one in enumerate(printed_files(text, action.prints, found_nothing)):
            path, first = one.asked.path, one.asked.first
            if any(_name(path) == _name(other) for other in action.written):
                continue
            if one.text is None:
                self._miss(index, path)
                is_told = True
                continue
            lines = one.text.split("\n")[:-1]
            if one.among:
                is_first = at == 0 and one.asked == action.prints[0]
                untold = UntoldLines(index, one.asked, one.among, is_first)
                place = untold.place(self._seen(path).marks)
                if place is None:
                    self._seen(path).remember(untold)
                    continue
                lines = list(one.among[place.start : place.stop])
            elif not one.is_cut and shows_whole(one.asked, range(first, first + len(lines))):
                whole.add(path)
            shown.setdefault(path, {}).update(enumerate(lines, first))
        each = self.tokens[index] / (len(text) or 1)
        for path, of_file in shown.items():
            numbers, lines = sorted(of_file), [of_file[number] for number in sorted(of_file)]
            size = round(each * sum(len(line) + 1 for line in lines))
            tokens = self.tokens[index] if len(action.prints) == 1 else size
            self._read(index, path, numbers, lines, path in whole, tokens)
        return is_told or any(shown.values())

    def _read(
        self,
        index: int,
        path: str,
        numbers: Sequence[int],
        lines: Sequence[str],
        is_whole: bool,
        tokens: int,
    ) -> None:
        """Lines of a file that are shown, in order; ``is_whole``: all that there are."""
        if not numbers:
            return
        seen = self._seen(path)
        seen.learn_earlier(numbers, lines)
        refused, seen.refused = seen.refused, None
        # Who quotes a file knows it: it is only read since an edit is refused without.
        is_forced = refused is not None and refused.strip("\n") in "\n".join(lines)
        if seen.marks:
            before = list(map(seen.marks.get, numbers))
            same = list(map(eq, before, map(hash, lines)))
            if seen.edited >= 0:
                is_changed = not seen.is_to_the_letter(lines, before, same, is_whole)
            else:
                is_changed = sum(same) < _SAME * (len(before) - before.count(None))
            if is_changed:
                seen.clear()  # Something that is not recorded has changed it.
            elif any(same) and not is_forced:
                self._compare(index, seen, tokens, numbers, lines, same)
            if not is_whole and not all(same):
                seen.text = None
        if is_whole:
            self._learn_whole(path, index, "\n".join(lines))
        else:
            seen.show(index, numbers, lines)

    def _compare(
        self,
        index: int,
        seen: KnownFile,
        tokens: int,
        numbers: Sequence[int],
        lines: Sequence[str],
        same: Sequence[bool],
    ) -> None:
        """``same``: which of the lines were seen before."""
        if sum(map(is_telling, compress(lines, same))) < min(LEAST_LINES, len(lines)):
            return
        by_entry: dict[int, list[tuple[int, int]]] = {}
        for number, line in compress(zip(numbers, lines, strict=True), same):
            by_entry.setdefault(seen.shown_at[number], []).append((number, len(line) + 1))
        each = tokens / sum(len(line) + 1 for line in lines)
        shown = [
            ShownLines(entry, some[0][0], some[-1][0], len(some), round(each * sum(
                size for _, size in some
            )), seen.back if entry < seen.back else -1, entry in self._written)
            for entry, some in by_entry.items()
        ]  # fmt: skip
        edited = seen.edited if min(by_entry) <= seen.edited else -1
        whole = Repeat(NeedKind.READ, 0, index, 0, seen.path, read=tokens, edited=edited)
        repeat = whole.narrowed(shown, self.least)
        if repeat is not None:
            self.found.append(repeat)

    # commands and searches -----------------------------------------------------------------------

    def _again(self, index: int, action: ToolAction, text: str, tokens: int) -> None:
        if action.kind in _STANDS or action.written or action.changes_any:
            return
        is_search = action.kind is ActionKind.SEARCH
        words = text.strip()
        is_run = action.kind is ActionKind.RUN
        if is_run and not _CHECKS.search(action.text):
            return
        mark = hash(DIGITS.sub("#", words) if is_run else words)
        ran, shown = self._ran.get(action.key), self._output.learn(index, words, action.key)
        self._ran[action.key] = _Ran(index, mark, len(self._changed))
        if ran is None or ran.mark != mark or len(words) < (1 if is_search else _LEAST_OUTPUT):
            return
        since = self._changed[ran.changes :]
        if (is_run and since) or any(name and name in words for name in since):
            return
        kind = NeedKind.SEARCH if is_search else NeedKind.COMMAND
        self.found.append(Repeat(kind, ran.entry, index, tokens, action.text, since=shown))

    # failures ------------------------------------------------------------------------------------

    def _fail(self, index: int, action: ToolAction, text: str) -> None:
        if _UNREAD.search(text) and action.kind in (ActionKind.EDIT, ActionKind.WRITE):
            self._seen(action.path).refused = action.removed
            return
        if _NOT_MET.search(text[:400]) or action.kind in (ActionKind.WAIT, ActionKind.SEARCH):
            return
        if action.kind in (ActionKind.READ, ActionKind.LIST) and _MISSING.search(text[:400]):
            self._miss(index, action.path or action.text)
            return
        if action.kind is not ActionKind.RUN or len(text.strip()) < _LEAST_OUTPUT // 2:
            return
        mark = error_mark(text)
        shown = self._output.learn(index, text, f"error {mark}")
        for one in self._failures:
            if one.mark == mark and one.is_alike(action):
                if one.solved:
                    words = first_words(text)
                    self.found.append(
                        Repeat(NeedKind.FAILURE, one.entry, index, 0, words, since=shown)
                    )
                self._failures.remove(one)
                break
        self._failures.append(Failure(index, action, mark, len(self._changed)))

    def _miss(self, index: int, path: str) -> None:
        if path in self._missing:
            self.found.append(Repeat(NeedKind.MISSING_PATH, self._missing[path], index, 0, path))
        self._missing[path] = index

    def _succeed(self, action: ToolAction) -> None:
        if action.kind is ActionKind.RUN:
            for one in self._failures:
                # The same command without a change proves that it failed by chance.
                is_other = one.action.key != action.key or len(self._changed) > one.changes
                if not one.solved and is_other and one.is_alike(action):
                    one.solved = True

    # edits ---------------------------------------------------------------------------------------

    def _undone(self, index: int, action: ToolAction) -> None:
        """An edit that puts back exactly what an earlier one took out, and takes out what that
        put in. What was only put in and is taken out again was meant to go, as a trial is;
        and what a person asked to take back is none."""
        removed, added = line_difference(action.removed, action.added)
        if action.kind is not ActionKind.EDIT or not removed or not added or removed == added:
            return
        before = self._edits.pop((action.path, added, removed), -1)
        if before > self._asked_back and len(removed) + len(added) >= _LEAST_EDIT:
            self.found.append(Repeat(NeedKind.UNDONE_EDIT, before, index, 0, action.path))
        else:
            self._edits[action.path, removed, added] = index


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]

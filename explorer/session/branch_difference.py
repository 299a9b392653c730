"""Two branches of a session side by side, from their last common entry on, and that as Markdown.

Pure: everything is computed from the tree and from the payloads of the entries that differ. It
takes as long as reading those does, so it is meant for a worker thread.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct

from explorer.session.columns import OP_KINDS
from explorer.session.entries import Entry, TokenUsage
from explorer.session.kinds import CONTEXT_KINDS, TURN_START_KINDS, Flag, Kind, selector
from explorer.session.records import Payloads
from explorer.session.text import call_title
from explorer.session.text_difference import DifferencePiece, word_differences
from explorer.session.tree import Path, SessionTree
from explorer.session.usage_sums import NOT_LISTED, NOTHING, Listed, UsageSum, usage_sum
from explorer.session.visible_text import block, code, plain

MOST_TEXT = 600
"""Characters of a message that are kept for a glance; the entry itself has all of it."""
_AT_ONCE = 256
_SHOWN = selector(CONTEXT_KINDS | {Kind.COMPACTION})
_COMPACTED = selector({Kind.COMPACTION})


class BranchMessage(Struct, frozen=True):
    """One message of a branch, as much of it as a glance takes."""

    entry: int
    kind: Kind
    flags: int
    text: str
    """What it says, at most ``MOST_TEXT`` characters."""
    calls: tuple[str, ...]
    """Of a reply: its tool calls, a line for each."""
    tokens: int
    """An estimate, ceil(UTF-16 units / 4)."""

    @property
    def begins_turn(self) -> bool:
        """Whether somebody said it; a program may have put it in the user's place."""
        return self.kind in TURN_START_KINDS and not self.flags & Flag.SYNTHETIC


class BranchTurn(Struct, frozen=True):
    """A user message, and everything up to the next one."""

    messages: tuple[BranchMessage, ...]
    spent: UsageSum
    elapsed_ms: float
    """From its first entry to its last; 0 where the entries have no times."""

    @property
    def prompt(self) -> str:
        """What began it; empty for what goes on with a turn that began above."""
        first = self.messages[0]
        return first.text if first.begins_turn else ""


class Side(Struct, frozen=True):
    """One of the two branches, below the common ancestor."""

    leaf: int
    turns: tuple[BranchTurn, ...]
    models: tuple[str, ...]
    """``provider/model`` of its replies, in the order of their first."""
    tools: Mapping[str, int]
    """How often each tool gave a result, the most used first."""
    failures: int
    """Tool results that are errors, and replies that failed or were stopped."""
    files: Mapping[str, tuple[str, ...]]
    """What was done to each file, in the order of the first time; ``failed`` where nothing of it
    worked."""
    answer: str
    """The text of its last reply that has some, whole."""
    answer_entry: int
    """Where that is, or -1."""
    freed: int = 0
    """Tokens that its compactions took out of the context, less what it added."""

    @property
    def messages(self) -> int:
        return sum(len(turn.messages) for turn in self.turns)

    @property
    def tokens(self) -> int:
        """Tokens that it adds to the context, by estimate."""
        return sum(message.tokens for turn in self.turns for message in turn.messages)

    @property
    def spent(self) -> UsageSum:
        return sum((turn.spent for turn in self.turns), NOTHING)

    @property
    def elapsed_ms(self) -> float:
        """The time that its turns took, without what lies between them."""
        return sum(turn.elapsed_ms for turn in self.turns)


class MessagePair(Struct, frozen=True):
    """Two messages at the same place of the same turn; None where a branch has none there."""

    turn: int
    """Number of the turn, from 0."""
    left: BranchMessage | None
    right: BranchMessage | None
    same: bool
    """Both say the same."""


class BranchDifference(Struct, frozen=True):
    """Two branches, and where they part."""

    ancestor: int
    """The last entry on both paths, or -1."""
    left: Side
    right: Side
    left_answer: tuple[DifferencePiece, ...]
    right_answer: tuple[DifferencePiece, ...]
    """The final answers in pieces, those that the other has not marked."""

    def rows(self) -> list[MessagePair]:
        """All messages, turn by turn, the first beside the first."""
        found: list[MessagePair] = []
        for number, (left, right) in enumerate(zip_longest(self.left.turns, self.right.turns)):
            pairs = zip_longest(left.messages if left else (), right.messages if right else ())
            found += [MessagePair(number, one, other, _same(one, other)) for one, other in pairs]
        return found


def compare_branches(
    tree: SessionTree,
    payloads: Payloads,
    left: int,
    right: int,
    listed_cost: Callable[[TokenUsage | None, str], Listed] = lambda _usage, _model: NOT_LISTED,
    size_at: Callable[[int], int] | None = None,
) -> BranchDifference:
    """Compare the branches that end in two entries. ``listed_cost``: what a call of a model cost
    by listed prices, where no cost is recorded. ``size_at``: tokens of the context at an entry,
    where it is to be said what compactions freed. Raises what the payloads raise."""
    ancestor = tree.common_ancestor(left, right)
    one = _side(tree, payloads, left, ancestor, listed_cost, size_at)
    other = _side(tree, payloads, right, ancestor, listed_cost, size_at)
    mine, theirs = word_differences(one.answer, other.answer)
    return BranchDifference(ancestor, one, other, mine, theirs)


def _same(message: BranchMessage | None, other: BranchMessage | None) -> bool:
    if message is None or other is None:
        return False
    return (message.kind, message.text, message.calls, message.tokens) == (
        other.kind, other.text, other.calls, other.tokens,
    )  # fmt: skip


def _side(
    tree: SessionTree,
    payloads: Payloads,
    leaf: int,
    ancestor: int,
    listed_cost: Callable[[TokenUsage | None, str], Listed],
    size_at: Callable[[int], int] | None,
) -> Side:
    path = tree.path(leaf)
    part = path[path.position(ancestor) + 1 :] if ancestor >= 0 else path
    entries = part.select(tree.columns.kind, _SHOWN)
    turns: list[BranchTurn] = []
    answer, answer_entry = "", -1
    waiting: list[tuple[BranchMessage, UsageSum]] = []
    for at, entry in _read(payloads, entries):
        message = _message(tree, at, entry)
        if message.begins_turn and waiting:
            turns.append(_turn(tree, waiting))
            waiting = []
        model = tree.columns.models[tree.columns.model[at]]
        waiting.append((message, _spent(entry, listed_cost(entry.usage, model))))
        if message.kind is Kind.ASSISTANT and (text := entry.text.strip()):
            answer, answer_entry = text, at
    if waiting:
        turns.append(_turn(tree, waiting))
    columns = tree.columns
    results = [at for at in entries if columns.kind[at] == Kind.TOOL_RESULT]
    tools = Counter(columns.tools[columns.tool[at]] or "tool" for at in results)
    models = (columns.models[columns.model[at]] for at in entries if columns.model[at])
    return Side(
        leaf,
        tuple(turns),
        tuple(dict.fromkeys(models)),
        dict(tools.most_common()),
        sum(bool(columns.flags[at] & (Flag.ERROR | Flag.ABORTED)) for at in entries),
        _files(tree, part),
        answer,
        answer_entry,
        _freed(tree, leaf, ancestor, part, size_at),
    )


def _freed(
    tree: SessionTree, leaf: int, ancestor: int, part: Path, size_at: Callable[[int], int] | None
) -> int:
    """Tokens by which the context is smaller at the end of a branch than where it begins; 0 where
    nothing was compacted on it, or nobody can say."""
    compacted = part.select(tree.columns.kind, _COMPACTED)
    if size_at is None or not compacted or any(map(tree.columns.is_size_unknown, compacted)):
        return 0
    return max(0, size_at(ancestor) - size_at(leaf))


def _read(payloads: Payloads, entries: Sequence[int]) -> Iterator[tuple[int, Entry]]:
    for start in range(0, len(entries), _AT_ONCE):
        some = entries[start : start + _AT_ONCE]
        yield from zip(some, payloads.entries(some), strict=True)


def _turn(tree: SessionTree, found: Sequence[tuple[BranchMessage, UsageSum]]) -> BranchTurn:
    times = [time for message, _ in found if (time := tree.columns.time[message.entry]) > 0]
    elapsed = max(times) - min(times) if times else 0.0
    spent = sum((one for _, one in found), NOTHING)
    return BranchTurn(tuple(message for message, _ in found), spent, elapsed)


def _message(tree: SessionTree, at: int, entry: Entry) -> BranchMessage:
    columns = tree.columns
    text = entry.text
    if not text and columns.kind[at] in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
        text = entry.summary
    calls = tuple(call_title(call.name, call.arguments) for call in entry.calls)
    return BranchMessage(
        at, Kind(columns.kind[at]), columns.flags[at], text[:MOST_TEXT], calls, columns.estimate[at]
    )


def _spent(entry: Entry, listed: Listed = NOT_LISTED) -> UsageSum:
    """What a reply took, as its provider counted it."""
    return usage_sum(entry.usage, listed) if entry.kind is Kind.ASSISTANT else NOTHING


def _files(tree: SessionTree, part: Path) -> dict[str, tuple[str, ...]]:
    ops = tree.columns.ops
    if not len(part):
        return {}
    done: dict[str, dict[str, bool]] = {}
    for row in range(bisect_right(ops.entry, part[0] - 1), len(ops.entry)):
        if ops.entry[row] in part:
            kinds = done.setdefault(ops.paths[ops.path[row]], {})
            kind = OP_KINDS[ops.kind[row]]
            kinds[kind] = kinds.get(kind, False) or not ops.failed[row]
    return {
        path: tuple(kind for kind, worked in kinds.items() if worked) or ("failed",)
        for path, kinds in done.items()
    }


# as Markdown ------------------------------------------------------------------------------------


_MOST_LINE = 160
_KIND_NAMES = {
    Kind.USER: "user",
    Kind.ASSISTANT: "assistant",
    Kind.TOOL_RESULT: "result",
    Kind.BASH_EXECUTION: "shell",
    Kind.COMPACTION: "compaction",
    Kind.BRANCH_SUMMARY: "branch summary",
}


def duration(elapsed_ms: float) -> str:
    """``850 ms``, ``12.4 s``, ``3 min 05 s``, ``2 h 07 min``."""
    if elapsed_ms < 1000:
        return f"{elapsed_ms:.0f} ms"
    seconds = elapsed_ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def _money(side: Side) -> str:
    """What a branch cost, as far as that is known."""
    spent = side.spent
    calls = spent.calls + spent.uncounted
    silent = spent.unpriced + spent.uncounted - spent.listed
    if silent == calls:
        return "not recorded"
    cost = spent.whole_cost
    known = f"${cost:.4f}" if cost >= 0.01 else f"${cost:.6f}"
    if spent.listed:
        known = f"{known} by listed prices"
    return f"at least {known}" if silent or spent.cost_is_least else known


def _usage(side: Side) -> str:
    """What providers counted for a branch."""
    spent = side.spent
    if not spent.calls:
        return "not recorded"
    words = f"{spent.input + spent.cache_read + spent.cache_write:,} in, {spent.output:,} out"
    if spent.cache_read:
        words += f", {spent.cache_read:,} of it from cache"
    return words


def _elapsed(side: Side) -> str:
    """The time that a branch's turns took, as far as entries have times."""
    return duration(side.elapsed_ms) if side.elapsed_ms or not side.turns else "not recorded"


def _tool_counts(tools: Side) -> str:
    """``read 3, bash 1``."""
    return ", ".join(f"{name} {count}" for name, count in tools.tools.items()) or "none"


def _context(side: Side) -> str:
    """What a branch does to the context."""
    if side.freed:
        return f"≈ {side.freed:,} tokens less, by its compaction"
    return f"≈ {side.tokens:,} tokens more"


FIGURES = (
    ("Models", lambda side: ", ".join(side.models) or "none"),
    ("Turns", lambda side: f"{len(side.turns):,}"),
    ("Messages", lambda side: f"{side.messages:,}"),
    ("Entries in context", _context),
    ("Counted by providers", _usage),
    ("Cost", _money),
    ("Time", _elapsed),
    ("Tools", _tool_counts),
    ("Failed or stopped", lambda side: f"{side.failures:,}"),
)
"""What is compared of two branches: its name, and the words for one of them."""


def as_markdown(difference: BranchDifference, left: str, right: str) -> str:
    """The whole comparison. ``left`` and ``right``: what the branches are called."""
    return "\n".join(_markdown_lines(difference, left, right)) + "\n"


def _markdown_lines(difference: BranchDifference, left: str, right: str) -> Iterator[str]:
    where = f"#{difference.ancestor}" if difference.ancestor >= 0 else "the start"
    yield f"# Two branches from {where}"
    yield ""
    yield f"| | {plain(left)} | {plain(right)} |"
    yield "|---|---|---|"
    for title, words in FIGURES:
        yield f"| {title} | {plain(words(difference.left))} | {plain(words(difference.right))} |"
    files = dict.fromkeys([*difference.left.files, *difference.right.files])
    for path in files:
        mine, theirs = (
            ", ".join(side.files.get(path, ())) for side in (difference.left, difference.right)
        )
        yield f"| {code(path)} | {plain(mine) or '—'} | {plain(theirs) or '—'} |"
    turn = -1
    for row in difference.rows():
        if row.turn != turn:
            turn = row.turn
            yield from ("", f"## Turn {turn + 1}", "", f"| {plain(left)} | {plain(right)} |")
            yield "|---|---|"
        yield f"| {_message_cell(row.left)} | {_message_cell(row.right)} |"
    for name, side in ((left, difference.left), (right, difference.right)):
        answer = block(side.answer) if side.answer else "_None._"
        yield from ("", f"## Final answer: {plain(name)}", "", answer)


def _message_cell(message: BranchMessage | None) -> str:
    if message is None:
        return ""
    text = " ".join(message.text.split())
    text = text[: _MOST_LINE - 1] + "…" if len(text) > _MOST_LINE else text
    parts = [text, *(f"→ {call}" for call in message.calls)]
    who = _KIND_NAMES.get(message.kind, message.kind.name.lower().replace("_", " "))
    return f"**{who}** #{message.entry} " + plain(" ".join(part for part in parts if part))

"""The words of the map's rows, cached for those that were shown lately."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from explorer.audit.provenance import (
    Known,
    Provenance,
    model_known,
    sizes_known,
    time_known,
    weight_known,
)
from explorer.compaction.path_view import EntrySizes
from explorer.session.edit_entries import Pruned, Shape
from explorer.session.kinds import Kind
from explorer.session.text import says_nothing
from explorer.session.tree import SessionTree
from ui.audit.known import entry_tokens_words, marked, reason, spoken
from ui.map.folds import Fold, clock
from ui.map.layout import Lanes
from ui.theme import role_name, verdict_title
from ui.widgets.row_lines import RowLines

MadeHere = Callable[[int], bool]

_TOPIC_WITHIN = 200
"""Entries of a branch among which its first message is looked for."""


class RowSource(Protocol):
    """What the words of a row are made of."""

    tree: SessionTree
    leaf: int
    folded: set[int]
    labels: dict[int, str]
    started: dict[int, str]
    partition: Any
    has_verdicts: bool
    tells_context: bool
    sizes: EntrySizes
    sums: Mapping[int, tuple[int, int]]

    @property
    def lanes(self) -> Lanes: ...
    @property
    def pruned(self) -> Pruned: ...
    @property
    def shape(self) -> Shape: ...
    def fold(self, compaction: int) -> Fold | None: ...
    def is_hit(self, entry: int) -> bool: ...
    def origin_of(self, summary: int) -> int: ...


class TextCache:
    """The words of the rows that were shown lately, fetched in one call per paint."""

    def __init__(
        self,
        model: RowSource,
        lines: RowLines,
        made_here: MadeHere = lambda _entry: False,
    ) -> None:
        self._model = model
        self._lines = lines
        self._made_here = made_here
        self._sizes: dict[int, Known] = {}
        self._folds: dict[int, Fold] = {}
        self._left: dict[int, tuple[str, int]] = {}

    def fetch(self, entries: Sequence[int], near: Iterable[int] = ()) -> None:
        """Have the words of these entries ready. ``near``: those that may be scrolled to next."""
        self._lines.fetch(entries, near)

    def line(self, entry: int) -> str:
        """The text of a row, as far as it is known at once."""
        return self._worded(entry, self._lines.line)

    def _worded(self, entry: int, line: Callable[[int], str]) -> str:
        kind = self._model.tree.columns.kind[entry]
        if kind == Kind.COMPACTION:
            return self.compaction(entry)
        text = line(entry)
        if kind == Kind.BRANCH_SUMMARY:
            return self._branch(entry, text)
        if started := self._model.started.get(entry):
            return f"↳ sub-agent {started} · {text}"
        return text

    def _branch(self, entry: int, text: str) -> str:
        """``Branch summary (12 entries): fix the retry``: what it is about, by its own words or by
        the message that the branch began with, and how much it tells of."""
        if not text:
            return "Branch left without a summary"
        topic, number = self._branch_left(entry)
        if not (text.startswith("#") or says_nothing(text)):
            topic = text
        elif not topic:
            origin = self._model.origin_of(entry)
            topic = f"what ended at #{origin}" if origin >= 0 else "a branch that was left"
        size = f" ({_entries(number)})" if number else ""
        return f"Branch summary{size}: {topic}"

    def _branch_left(self, entry: int) -> tuple[str, int]:
        """The first message of a summarized branch, and its number of entries."""
        if entry not in self._left:
            tree, origin = self._model.tree, self._model.origin_of(entry)
            if origin < 0:
                return "", 0
            above = tree.columns.parent[entry]
            path = tree.path(origin)
            shared = tree.common_ancestor(origin, above) if above >= 0 else -1
            first = path.position(shared) + 1 if shared >= 0 else 0
            asked = path[first:].indices()[:_TOPIC_WITHIN]
            message = next((at for at in asked if tree.columns.kind[at] == Kind.USER), -1)
            topic = self._lines.whole(message) if message >= 0 else ""
            self._left[entry] = topic, len(path) - first
        return self._left[entry]

    def fold(self, entry: int, make: Callable[[int], Fold]) -> Fold:
        """What a compaction summarized, worked out once."""
        if entry not in self._folds:
            self._folds[entry] = make(entry)
        return self._folds[entry]

    def forget(self, entries: Sequence[int]) -> None:
        """Forget what rows say of these entries: they have changed."""
        self._lines.forget(entries)
        for entry in entries:
            self._sizes.pop(entry, None)
        self._folds.clear()

    def forget_folds(self) -> None:
        """Forget the sizes of folds: the counts have changed."""
        self._folds.clear()

    def forget_unanswered(self) -> None:
        """Forget the sizes of folds that no reply followed yet: one may have come."""
        self._folds = {at: fold for at, fold in self._folds.items() if fold.sizes.reported}

    def sizes_known(self, entry: int) -> Known:
        """How a compaction's sizes are known, looked up once."""
        if entry not in self._sizes:
            recorded = self._model.tree.columns.compactions[entry].tokens_before
            self._sizes[entry] = sizes_known(recorded, self._made_here(entry))
        return self._sizes[entry]

    def compaction(self, entry: int) -> str:
        """``Compaction 14:31 · 184.2k → 23.8k · 312 entries folded · I fixed it``: the sizes, and
        at the end its short summary, or the first that its summary says."""
        fold = self._model.fold(entry)
        parts = [f"Compaction {clock(self._model.tree.columns.time[entry])}".strip()]
        if self._model.tree.is_undone(entry, self._model.leaf):
            parts.append("undone")
        if fold is not None:
            parts.append(fold.sizes.words(self.sizes_known(entry)))
            word = "folded" if entry in self._model.folded else "summarized"
            parts.append(f"{_entries(fold.summarized)} {word}")
        if summary := self.summary_line(entry):
            parts.append(summary)
        return " · ".join(parts)

    def summary_line(self, entry: int) -> str:
        """A compaction's short summary, or the first that its summary says."""
        return self._lines.line(entry)

    def short(self, entry: int) -> str:
        """The line without what must be worked out, for views of everything."""
        if self._model.tree.columns.kind[entry] != Kind.COMPACTION:
            return self.line(entry)
        moment = clock(self._model.tree.columns.time[entry])
        return " · ".join(
            part for part in (f"Compaction {moment}".strip(), self.badge(entry)) if part
        )

    def badge(self, entry: int) -> str:
        """How much a folded compaction hides: ``312 folded``; empty for what hides nothing."""
        fold = self._model.fold(entry) if entry in self._model.folded else None
        return f"{fold.summarized:,} folded" if fold is not None else ""

    def describe(self, entry: int) -> str:
        """One sentence that says what a row shows, for screen readers."""
        columns = self._model.tree.columns
        name = role_name(columns.kind[entry], columns.flags[entry])
        parts = [f"{name[:1].upper()}{name[1:]}, entry {entry}"]
        if text := self._worded(entry, self._lines.whole):
            parts.append(spoken(text) if columns.kind[entry] == Kind.COMPACTION else text)
        parts.append(entry_tokens_words(columns, entry, self._model.sizes[entry]))
        if entry in self._model.sums:
            parts.append(f"{self._model.sums[entry][1]:,} from the newest up to it")
        parts += self._notes(entry)
        return ". ".join(part.rstrip(".") for part in parts) + "."

    def _notes(self, entry: int) -> list[str]:
        model = self._model
        notes = []
        if label := model.labels.get(entry):
            notes.append(f"Label {label}")
        if model.tree.is_undone(entry, model.leaf):
            notes.append("Undone")
        if entry == model.leaf:
            notes.append("The current leaf")
        elif not model.lanes.is_active(entry):
            notes.append("On an abandoned branch")
        if model.is_hit(entry):
            notes.append("Search hit")
        if result := model.pruned.get(entry):
            notes.append(f"Pruned by #{result.by}, which recorded {result.saved:,} tokens saved")
        if pin := model.shape.pinned.get(entry):
            notes.append(f"Pinned by #{pin.by}")
        if (by := model.shape.omitted.get(entry)) is not None:
            notes.append(f"Omitted by #{by}")
        verdict = verdict_of(model, entry)
        if verdict >= 0:
            notes.append(verdict_title(verdict))
        return notes

    def tip(self, entry: int) -> list[str]:
        """The lines of a hover tip: id, kind, time, tokens, verdict."""
        columns = self._model.tree.columns
        name = role_name(columns.kind[entry], columns.flags[entry])
        lines = [f"#{entry} · {columns.ids[entry]} · {name}"]
        moment = self.moment(entry)
        tokens = entry_tokens_words(columns, entry, self._model.sizes[entry])
        if columns.usage[entry] > 0 and self._model.tells_context:
            by = "estimate" if columns.is_counted_here(entry) else "provider"
            tokens += f" · {columns.usage[entry]:,} in the context, by the {by}"
        lines.append(f"{moment} · {tokens}")
        lines += self._reasons(entry)
        if columns.kind[entry] == Kind.COMPACTION and (summary := self.summary_line(entry)):
            lines.append(summary)
        lines += self._notes(entry)
        partition = self._model.partition
        if verdict_of(self._model, entry) >= 0:
            lines.append(partition.reason(partition.path.position(entry)))
        return lines

    def moment(self, entry: int) -> str:
        """When an entry was made, to the second."""
        made = self._model.tree.columns.time[entry]
        words = clock(made, "%Y-%m-%d %H:%M:%S")
        return words or f"time {marked('', time_known(made))}"

    def _reasons(self, entry: int) -> list[str]:
        """How the figures of an entry are known, where they are not simply recorded."""
        model, columns = self._model, self._model.tree.columns
        known = {"Tokens": weight_known(model.sizes.measured is not None)}
        if columns.kind[entry] == Kind.ASSISTANT:
            known["Model"] = model_known(model.tree, entry)
        elif (fold := model.fold(entry)) is not None and not fold.sizes.is_recorded:
            known["Sizes"] = self.sizes_known(entry)
        return [
            reason(of, one)
            for of, one in known.items()
            if one.provenance is not Provenance.EXACT and not self._made_here(entry)
        ]


def _entries(number: int) -> str:
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def verdict_of(model: RowSource, entry: int) -> int:
    """The verdict on an entry, -1 where there is none or none is shown."""
    partition = model.partition
    if partition is None or not model.has_verdicts:
        return -1
    at = partition.path.position(entry)
    return partition.verdicts[at] if 0 <= at < len(partition.verdicts) else -1

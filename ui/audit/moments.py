"""The one moment that all pages of the tab Audit are at."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from explorer.audit.generations import compactions_on_path
from explorer.services.changes import EntriesAppended, LeafMoved
from explorer.services.document import Document
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from ui.app_state import AppState
from ui.audit.compare.subjects import NOW, SummaryKey
from ui.widgets.figures import place


def path_leaf(tree: SessionTree, leaf: int, entry: int) -> int:
    """The end of the path that an entry is on: the active leaf, else its branch's newest."""
    if entry < 0 or tree.is_ancestor(entry, leaf):
        return leaf
    return tree.deepest_leaf(entry)


class Moments(QObject):
    """Now, the compactions of the path that the map's selection is on, and drafts: one is chosen,
    in the tab's box, on the map or by ``choose``."""

    changed = Signal()
    """Another moment is looked at."""
    followed = Signal()
    """What can be looked at was seen to anew."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._tab = state.window.audit
        self._document: Document | None = None
        self._compactions: tuple[int, ...] = ()
        self._drafts: list[SummaryKey] = []
        self.key = NOW
        self.leaf = -1
        """The end of the path that is looked at, or -1."""
        self._tab.moment_chosen.connect(lambda code: self.choose(SummaryKey.of(code)))
        state.window.map.selection_changed.connect(self._selected)
        state.window.compaction.drafts_changed.connect(self.follow)
        state.document_changed.connect(self._other_document)
        state.fillers.append(self.follow)
        for kind in (EntriesAppended, LeafMoved):
            state.bus.on_shown(kind, lambda _change: self.follow())

    @property
    def compaction(self) -> int | None:
        """The compaction after which it is; None for now."""
        return self.key.number if self.key.kind == "entry" else None

    @property
    def summary(self) -> SummaryKey | None:
        """The summary that is looked at; now, the newest of the path, or a draft of the first."""
        if self.key != NOW:
            return self.key
        if self._compactions:
            return SummaryKey("entry", self._compactions[-1])
        return self._drafts[0] if self._drafts else None

    @property
    def summary_name(self) -> str:
        """What that one is called; empty without one."""
        key = self.summary
        if key is None:
            return ""
        if key.kind == "draft":
            return f"Draft {self._drafts.index(key) + 1}"
        return f"Compaction #{key.number}"

    @property
    def draft_words(self) -> str:
        """Which draft is looked at, and of what the pages are; empty for another moment."""
        if self.key.kind != "draft":
            return ""
        return f"{self.summary_name}, not in force: Findings are of it, the other pages of now."

    @property
    def number_of_summaries(self) -> int:
        """How many there are to look at."""
        return len(self._drafts) + len(self._compactions)

    def choose(self, key: SummaryKey) -> None:
        """Look at a moment; at ``NOW`` where it is none of this path."""
        before, self.key = self.key, key
        self._follow(before)

    def follow(self) -> None:
        """The leaf, the drafts or the path may be others."""
        self._follow(self.key)

    def _follow(self, before: SummaryKey) -> None:
        document, items = self._state.document, []
        self._drafts = []
        if document is None:
            self._compactions, self.key, self.leaf = (), NOW, -1
        else:
            tree, newest = document.tree, self._compactions[-1:]
            self.leaf = path_leaf(tree, document.leaf, self._state.selected)
            self._compactions = compactions_on_path(tree, self.leaf)
            items = [(f"Now, at {place(self.leaf)}", NOW.code)]
            for number, (draft, _, _) in enumerate(self._state.window.compaction.drafts(), 1):
                self._drafts.append(SummaryKey("draft", draft.id))
                when = "Now" if draft.leaf == document.leaf else f"At {place(draft.leaf)}"
                words = f"{when}, with draft {number}, {draft.model}"
                items.append((words, self._drafts[-1].code))
            for number, entry in reversed(list(enumerate(self._compactions, 1))):
                words = f"After #{entry}, compaction {number} of {len(self._compactions)}"
                undone = ", undone" if tree.is_undone(entry, document.leaf) else ""
                items.append((f"{words}{undone}", SummaryKey("entry", entry).code))
            # Whoever looks at the newest compaction looks at a newer one once it is made.
            was_newest = before == self.key and (self.compaction,) == newest
            is_newer = was_newest and newest != self._compactions[-1:]
            if is_newer or self.key.code not in [code for _, code in items]:
                self.key = NOW
        self._tab.offer_moments(items, self.key.code)
        self.followed.emit()
        if self.key != before:
            self.changed.emit()

    def _selected(self, entry: int) -> None:
        document = self._state.document
        if document is None or entry < 0:
            return
        if document.tree.kind(entry) is Kind.COMPACTION:
            self.choose(SummaryKey("entry", entry))
        elif self.leaf != path_leaf(document.tree, document.leaf, entry):
            self.follow()

    def _other_document(self) -> None:
        if self._state.document is not self._document:
            self._document = self._state.document
            self._compactions, self.key = (), NOW
            self._tab.offer_moments([], NOW.code)

"""What the session, its branch and the last turn took, in the status bar."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer

from explorer.audit.provenance import Provenance, spending_known, tokens_known
from explorer.services.changes import DraftChanged, EntriesAppended, LeafMoved
from explorer.services.document import Document
from explorer.session.usage_sums import PartUsage, UsageSum
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.audit.known import AT_LEAST, MARK, NOT_RECORDED, marked, reason
from ui.conversation.view.item_reader import cost_words
from ui.widgets.figures import count, full, short

REST_MS = 300
"""Entries come in quick succession; they are summed once they rest."""


class UsageLabelController(QObject):
    """Follows the session shown, off the window's thread."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._is_following = False
        self._again = False
        self._task: asyncio.Task[None] | None = None
        self._followed: Document | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._follow)
        state.fillers.append(self._document_changed)
        for kind in (EntriesAppended, LeafMoved, DraftChanged):
            state.bus.on_shown(kind, lambda _change: self._rest.start())

    def _document_changed(self) -> None:
        self._state.window.spent.say("", "", "")
        if self._task is not None and self._followed is not self._state.document:
            self._task.cancel()
        if self._state.document is not None:
            self._rest.start()

    def _follow(self) -> None:
        if self._is_following:
            self._again = True
        elif self._state.document is not None:
            self._is_following = True
            self._followed = self._state.document
            work = self._following(self._state.document)
            self._task = self._state.tasks.start("Adding up what was spent", work)

    async def _following(self, document: Document) -> None:
        try:
            await document.usage.follow(gently=True)
        except StoreError as error:
            self._state.say(str(error))
            return
        finally:
            self._is_following, self._task, self._followed = False, None, None
            if self._again:
                self._again = False
                self._rest.start()
        if self._state.document is document:
            self._show(document)

    def _show(self, document: Document) -> None:
        spending, leaf = document.usage, document.leaf
        session, drafts = spending.session(), spending.drafts
        branch, turn = spending.branch(leaf), spending.turn(leaf) if leaf >= 0 else PartUsage()
        whole = session.total
        if not (whole.calls or drafts.calls or whole.uncounted):
            self._state.window.spent.say("", "", "")
            return
        self._state.window.spent.say(*label_of(whole), tip_of(session, branch, turn, drafts))


def label_of(whole: UsageSum) -> tuple[str, str]:
    """The sum in words, and in fewer where there is little room. What is a sum over some of the
    calls only has a mark, and what no call reported says so."""
    calls = whole.calls + whole.uncounted
    if not calls:
        return "0 tokens", "0"
    counted = tokens_known(whole)
    priced = spending_known(whole)
    if counted.provenance is Provenance.UNREADABLE:
        return f"tokens {NOT_RECORDED}", NOT_RECORDED
    figure = short(whole.tokens)
    tokens = f"{AT_LEAST}{figure}" if whole.uncounted else marked(figure, counted)
    if not whole.whole_cost:
        return f"{tokens} tokens", tokens
    words = cost_words(whole.whole_cost)
    cost = f"{AT_LEAST}{words}" if whole.cost_is_least else marked(words, priced)
    return f"{cost} · {tokens} tokens", cost


def tip_of(session: PartUsage, branch: PartUsage, turn: PartUsage, drafts: UsageSum) -> str:
    """Everything that is known, a line each."""
    whole = session.total
    lines = [
        "As the providers counted it:" if whole.estimated < whole.calls else "As counted here:",
        f"This session, all branches: {_words(session.total)}",
        f"This branch: {_words(branch.total)}",
        f"The last turn: {_words(turn.total)}",
    ]
    if session.summaries.calls:
        lines.append(f"Of the session, for its summaries: {_words(session.summaries)}")
    if drafts.calls:
        lines.append(f"Summaries made here, used or not: {_words(drafts)}")
    if whole.cache_read or whole.cache_write:
        for_hour = f" ({full(whole.cache_write_1h)} for an hour)" if whole.cache_write_1h else ""
        lines.append(
            f"Read from a cache: {full(whole.cache_read)}, written to one: "
            f"{full(whole.cache_write)}{for_hour} of the session's tokens"
        )
    if whole.unpriced > whole.listed:
        unknown = count(whole.unpriced - whole.listed, "call")
        lines.append(f"{unknown} without a known price: not in the cost")
    if whole.uncounted:
        calls = count(whole.uncounted, "call")
        lines.append(f"{calls} reported no tokens, or only the first count: there are more")
    known = {
        "Tokens": tokens_known(whole),
        "Cost": spending_known(whole),
    }
    lines += [
        reason(of, one) for of, one in known.items() if one.provenance is not Provenance.EXACT
    ]
    return "\n".join(lines)


def _words(spent: UsageSum) -> str:
    if not spent.tokens and not spent.calls:
        return "nothing that was counted"
    cost = cost_words(spent.whole_cost)
    if cost and (spent.listed or spent.cost_is_least):
        cost = f"{AT_LEAST if spent.cost_is_least else MARK}{cost}"
    calls = count(spent.calls + spent.uncounted, "call")
    tokens = f"{AT_LEAST if spent.uncounted else ''}{full(spent.tokens)} tokens in {calls}"
    return f"{tokens}, {cost}" if cost else tokens

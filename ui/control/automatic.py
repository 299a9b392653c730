"""Compactions that happen by themselves, or at once on a word: one watch per opened session."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.models.retry import Retry
from explorer.work.auto_compaction.controller import AutomaticCompaction
from explorer.work.changes import Change
from explorer.work.document import Document
from explorer.work.effective_rules import EffectiveRules
from ui.control.automatic_line import AutomaticLine
from ui.control.desk import Desk

CHOICE, ASK = "automatic", "automatic_asks"
"""Under which a session keeps whether it is compacted by itself, and whether that asks first."""
ASK_FIRST = "compaction.askFirst"


class AutomaticControl(QObject):
    """One automatic compaction per opened session, its switches, and the line that tells of it."""

    def __init__(self, desk: Desk, stop: Callable[[], None]) -> None:
        """``stop`` ends what the agent is doing."""
        super().__init__(desk)
        self._desk = desk
        self._kept: dict[int, AutomaticCompaction] = {}
        self._chosen: dict[tuple[int, str], bool] = {}
        self._forgotten: set[tuple[int, str]] = set()
        """Choices that were given up here, which the database may not know yet."""
        self.line = AutomaticLine(desk, self.of)
        self.line.is_on, self.line.stop = self.is_on, stop
        bar = desk.window.agent.bar
        bar.automatic_switch.clicked.connect(lambda on: self._choose(CHOICE, on))
        bar.ask_switch.clicked.connect(lambda on: self._choose(ASK, on))
        desk.fillers.append(self._document_changed)
        desk.settings_changed.connect(self._show_switches)

    def ready(self) -> None:
        """The workbench is there."""
        assert self._desk.bench is not None
        self._desk.bench.subscribe(self._changed)
        self._document_changed()

    async def stop_ahead(self) -> None:
        """End every summary that is made ahead, whichever session it is of."""
        for automatic in list(self._kept.values()):
            await automatic.prompts.stop()

    # one per session ---------------------------------------------------------------------------

    def of(self, document: Document) -> AutomaticCompaction:
        """What compacts a session by itself; the same for as long as the session is open."""
        kept = self._kept.get(document.key)
        if kept is None or kept.document is not document:
            if kept is not None:
                kept.close()
            kept = AutomaticCompaction(document, lambda: self.rules(document))
            kept.confirmation.attended = True
            self._kept[document.key] = kept
        return kept

    def now(self) -> AutomaticCompaction | None:
        """That of the session shown."""
        document = self._desk.document
        return self.of(document) if document is not None else None

    def adopt(self, document: Document, automatic: AutomaticCompaction) -> Callable[[], None]:
        """Show what another one does in a session as long as that is at work; returns its end."""
        before = self._kept.pop(document.key, None)
        if before is not None:
            before.close()
        self._kept[document.key] = automatic

        def release() -> None:
            if self._kept.get(document.key) is automatic:
                del self._kept[document.key]
                self.show()

        return release

    def rules(self, document: Document) -> EffectiveRules:
        """The rules as they stand now: those that the window shows."""
        desk = self._desk
        # What was written to a file a moment ago counts already (A12).
        desk.live.refresh()
        profile, (model, *fallbacks) = desk.profile, desk.summary_models()
        return EffectiveRules(
            profile,
            desk.settings,
            model,
            fallbacks=tuple(fallbacks),
            enabled=self.is_on(document),
            summary_models=self._for_prompts,
            auto_continue=profile.auto_continue,
            ask_first=self.asks_first(document),
        )

    def _for_prompts(self, model: str) -> tuple[str, ...]:
        """Whom the session or the settings name for conversations with a model; else itself."""
        return self._desk.models_for(model)

    # choices of a session ------------------------------------------------------------------------

    def is_on(self, document: Document) -> bool:
        """Whether a session is compacted by itself: its own choice, else the profile's."""
        own = self._own(document, CHOICE)
        return self._desk.profile.enabled if own is None else own

    def asks_first(self, document: Document) -> bool:
        """Whether that waits for a word each time: the session's choice, else the settings'."""
        own = self._own(document, ASK)
        return self._desk.values.get(ASK_FIRST) is True if own is None else own

    def _own(self, document: Document, name: str) -> bool | None:
        at = document.key, name
        if at not in self._chosen and at not in self._forgotten:
            kept = document.choices().get(name)
            if isinstance(kept, bool):
                self._chosen[at] = kept
            else:
                self._forgotten.add(at)
        return self._chosen.get(at)

    def own_choice(self, name: str = CHOICE) -> bool | None:
        """What the session shown chose for itself; None where it follows the settings."""
        document = self._desk.document
        return self._own(document, name) if document is not None else None

    def forget_choice(self, name: str = CHOICE) -> None:
        """Let the session shown follow the settings again."""
        document = self._desk.document
        if document is not None and self._own(document, name) is not None:
            del self._chosen[document.key, name]
            self._forgotten.add((document.key, name))
            document.choose(name, None)
            self._show_switches()
            self.show()

    def _choose(self, name: str, on: bool) -> None:
        document = self._desk.document
        if document is not None:
            self._chosen[document.key, name] = on
            document.choose(name, on)
            self._show_switches()
            self.show()

    # what is shown -----------------------------------------------------------------------------

    def _document_changed(self) -> None:
        self._let_go()
        self._show_switches()
        self.show()

    def _let_go(self) -> None:
        """A session that was closed is watched no longer, and nothing is made ahead for it."""
        for key, automatic in list(self._kept.items()):
            if automatic.document is not self._desk.document:
                automatic.close()
                del self._kept[key]
                self._desk.tasks.start("Ending a summary", automatic.prompts.stop())

    def _show_switches(self) -> None:
        document, bar = self._desk.document, self._desk.window.agent.bar
        on = document is not None and self.is_on(document)
        bar.automatic_switch.setEnabled(document is not None)
        bar.automatic_switch.setChecked(on)
        bar.ask_switch.setEnabled(on)
        bar.ask_switch.setChecked(document is not None and self.asks_first(document))
        self._show_gauge()

    def _show_gauge(self) -> None:
        document = self._desk.document
        by_itself = document is not None and self.is_on(document) and not self.of(document).resting
        self._desk.window.header.gauge.set_automatic(by_itself)

    def _changed(self, change: Change) -> None:
        self.line.changed(change)

    def show(self) -> None:
        """What is under way, waits or rests."""
        self.line.show()
        self._show_gauge()

    def waiting(self, retry: Retry) -> None:
        """A call is made again after a while."""
        self.line.waiting(retry)

    def goes_on(self) -> None:
        """Something arrived, or the turn is over: nothing is waited for any more."""
        self.line.goes_on()

"""The inspector's tab for an entry: its header, and its content rendered or raw."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from explorer.audit.findings import QuotedText, quoted
from explorer.audit.provenance import weight_known
from explorer.facts.fact import Span
from explorer.services.document import Document
from explorer.session.kinds import Kind
from ui.audit.known import NOT_RECORDED, marked, spoken
from ui.audit.verdict_line import VerdictLine
from ui.inspector.block_views import CodeView, view_of
from ui.inspector.entry_content import (
    EntryContent,
    gather,
    is_large,
    pretty,
    pruned_facts,
    related_entries,
    shaped_facts,
    with_numbers,
)
from ui.inspector.place import PlaceMarker, PlaceStrip
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    S24,
    bind_font,
    bind_icon,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    role_icon,
    role_name,
    role_token,
    scaled,
    set_tone,
)
from ui.widgets.figures import full, moment
from ui.widgets.labels import Caption, Hairline, Heading
from ui.widgets.loader import READ_ERRORS, Loader
from ui.widgets.notice import AddressStrip, Notice, NoticeStrip
from ui.widgets.panels import EmptyState, column_in, reach_behind, row, scroll_area
from ui.widgets.plain_text import PlainTextView


class EntryHeader(QWidget):
    """What the entry is, in two lines, with the choice of view."""

    raw_chosen = Signal(bool)
    copy_asked = Signal()
    edit_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = self._flags = 0
        self._told: list[str] = []
        self._id = ""
        self.sign = QLabel(self)
        self.title = Heading(self)
        self.number = QLabel(self)
        bind_font(self.number, mono_font)
        set_tone(self.number, "dim")
        self.facts = Caption(parent=self, wraps=True)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label = QLabel(self)
        self.label.setProperty("keycap", True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.rendered = self._choice("&Rendered", "The entry as text, code and pictures")
        self.raw = self._choice("Ra&w", "The JSON of the entry, as it was read")
        self.rendered.setChecked(True)
        group = QButtonGroup(self)
        group.addButton(self.rendered)
        group.addButton(self.raw)
        self.raw.toggled.connect(self.raw_chosen)
        self.copy = QToolButton(self)
        bind_icon(self.copy, "copy", "dim")
        self.copy.setToolTip("Copy what is shown")
        self.copy.setAccessibleName("Copy what is shown")
        self.copy.clicked.connect(self.copy_asked)
        self.edit = QToolButton(self)
        bind_icon(self.edit, "edit", "dim")
        self.edit.setToolTip("Edit and send again, as a branch of its own (Ctrl+E)")
        self.edit.setAccessibleName("Edit and send again")
        self.edit.clicked.connect(self.edit_asked)
        self.edit.hide()
        self._lay_out()
        on_theme_changed(self._restyle)

    def _choice(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(True)
        return button

    def _lay_out(self) -> None:
        self._views = QWidget(self)
        choice = row(self.rendered, self.raw, self.edit, self.copy)
        self._views.setLayout(choice)
        name = row(self.sign, self.title, self.number, 1)
        # What the entry is must be read whole: the choice of view goes below it instead.
        self._lines = QGridLayout()
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setHorizontalSpacing(S8)
        self._lines.setVerticalSpacing(S4)
        self._lines.setColumnStretch(0, 1)
        self._lines.addLayout(name, 0, 0)
        self._lines.addWidget(self._views, 0, 1)
        self._is_roomy = True
        column = column_in(self, S4, (S16, S12, S12, S8))
        column.addLayout(self._lines)
        column.addLayout(row(self.label, 1))
        column.addWidget(self.facts)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._make_room()

    def minimumSizeHint(self) -> QSize:
        """As narrow as one line of the two below each other."""
        named = self.sign.sizeHint().width() + self.number.sizeHint().width() + 3 * S8
        named += self.title.minimumSizeHint().width()
        wide = max(named, self._views.minimumSizeHint().width()) + S16 + S12
        return QSize(wide, super().minimumSizeHint().height())

    def _make_room(self) -> None:
        """Name and choice of view side by side where both fit, else one below the other."""
        named = self.sign.sizeHint().width() + self.number.sizeHint().width()
        wanted = named + self.title.sizeHint().width() + self._views.sizeHint().width() + 4 * S8
        roomy = self.width() - S16 - S12 >= wanted
        if roomy != self._is_roomy:
            self._is_roomy = roomy
            left = Qt.AlignmentFlag.AlignLeft
            self._lines.removeWidget(self._views)
            if roomy:
                self._lines.addWidget(self._views, 0, 1)
            else:
                self._lines.addWidget(self._views, 1, 0, 1, 2, left)
        self._show_facts()

    def _show_facts(self) -> None:
        """What the columns know; an id that no line has room for loses its middle to the tip."""
        metrics = self.facts.fontMetrics()
        room = self.width() - S16 - S12 - metrics.horizontalAdvance("id   ")
        parts = self._id.replace("/", "-").split("-")  # after these a line may end
        fits = all(metrics.horizontalAdvance(part) <= room for part in parts)
        middle = Qt.TextElideMode.ElideMiddle
        shown = self._id if fits else metrics.elidedText(self._id, middle, room)
        self.facts.setText(" · ".join([*self._told, f"id {shown}"]))
        self.facts.setToolTip(self._id if shown != self._id else "")

    def show_entry(self, document: Document, index: int, label: str) -> None:
        """Show what the columns know; needs no payload."""
        columns = document.tree.columns
        self._kind, self._flags = columns.kind[index], columns.flags[index]
        self.title.setText(role_name(self._kind, self._flags).capitalize())
        self.number.setText(f"#{index}")
        self.edit.setVisible(self._kind == Kind.USER and not document.read_only)
        self.label.setText(label)
        self.label.setVisible(bool(label))
        self.label.setAccessibleName(f"label {label}")
        self._told, self._id = self._facts(document, index), document.tree.columns.ids[index]
        told = spoken(" · ".join([*self._told, f"id {self._id}"]))
        self.setAccessibleName(f"Entry {index}, {self.title.text()}, {told}")
        self._restyle()

    @staticmethod
    def _facts(document: Document, index: int) -> list[str]:
        columns, is_ours = document.tree.columns, document.writer.made_here(index)
        tokens, source = document.tokens.shown_tokens(index), document.tokens.counted_by
        counted = weight_known(source == "tokenizer")
        figure = full(tokens) if is_ours else marked(full(tokens), counted)
        recorded = document.tokens.entry_tokens(index)
        stored = f" as sent, {full(recorded)} as stored" if recorded != tokens else ""
        taken = f"{figure} tokens{stored} ({source})"
        if columns.is_size_unknown(index):
            taken = f"tokens {NOT_RECORDED}"
        parts = [moment(columns.time[index]) or f"time {NOT_RECORDED}", taken]
        if columns.usage[index] > 0:
            by = "estimate" if columns.is_counted_here(index) else "provider"
            parts.append(f"context {full(columns.usage[index])} ({by})")
        if columns.model[index]:
            parts.append(columns.models[columns.model[index]])
        elif columns.kind[index] == Kind.ASSISTANT and not is_ours:
            parts.append(f"model {NOT_RECORDED}")
        return parts

    def _restyle(self) -> None:
        token = role_token(self._kind, self._flags)
        name = role_icon(self._kind, self._flags)
        self.sign.setPixmap(icon_pixmap(name, token, scaled(16), self.devicePixelRatioF()))
        self._make_room()


LOW = 420
"""Height at a text scale of 100 % below which the entry has the room before its verdict's rule."""
_WEB = ("http", "https")


def _open_in_browser(address: str) -> None:
    QDesktopServices.openUrl(QUrl(address))


class EntryPane(QWidget):
    """The inspector's tab for the selected entry."""

    entry_requested = Signal(int)
    """A link to another entry was followed."""
    edit_requested = Signal(int)
    """A message is to be rewritten."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self._index = -1
        self._gathered: EntryContent | None = None
        self._raw_text = ""
        self._span: Span | None = None
        self._quoted: QuotedText | None = None
        self._raw_for_place = False
        self._marker = PlaceMarker()
        self.header = EntryHeader(self)
        self.verdict = VerdictLine(self)
        """What has become of the entry by now."""
        self.header.raw_chosen.connect(lambda: self._show_view())
        self.header.copy_asked.connect(self._copy)
        self.header.edit_asked.connect(lambda: self.edit_requested.emit(self._index))
        self.notice = NoticeStrip(self)
        self.place = PlaceStrip(self)
        """Whose place is marked here, and the way back."""
        self.address = AddressStrip(_open_in_browser, self)
        self.area = scroll_area(self, "Content of the entry")
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.raw = CodeView("", language="json", fit=0, parent=self)
        self.raw.setAccessibleName("JSON of the entry")
        self.raw.document().setDocumentMargin(S12)
        self.empty = EmptyState(
            "target", "No entry selected", "Click an entry on the map, or move to one with the "
            "arrow keys, to read it here.", parent=self,
        )  # fmt: skip
        self._views = QStackedWidget(self)
        for view in (self.empty, self.area, self.raw):
            self._views.addWidget(view)
        # What is shown scrolls; of the pages it is not the tallest that says how low it may be.
        self._views.setMinimumHeight(S24)
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        self._raw_loader = Loader(self)
        self._raw_loader.loaded.connect(self._raw_loaded)
        self._raw_loader.failed.connect(self._failed)
        column = column_in(self, 0)
        self._line = Hairline(parent=self)
        for part in (
            self.place, self.header, self.verdict, self._line, self.notice, self.address,
        ):  # fmt: skip
            column.addWidget(part)
        column.addWidget(self._views, 1)
        on_theme_changed(self._theme_changed)
        self.clear()

    def add_foot(self, foot: QWidget) -> None:
        """Put something below the content."""
        layout = self.layout()
        assert layout is not None
        layout.addWidget(foot)

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._follow_height()

    def _follow_height(self) -> None:
        self.verdict.set_low(self.height() < scaled(LOW))

    # what is shown -----------------------------------------------------------------------------

    @property
    def index(self) -> int:
        """The entry shown, or -1."""
        return self._index

    def clear(self) -> None:
        """Show that nothing is selected."""
        self._document, self._index, self._gathered = None, -1, None
        self._loader.forget()
        self._raw_loader.forget()
        for part in (self.header, self.verdict, self._line, self.address):
            part.hide()
        self.forget_place()
        self.notice.dismiss()
        self._views.setCurrentWidget(self.empty)

    def show_entry(self, document: Document | None, index: int) -> None:
        """Show an entry; -1 or no document shows that nothing is selected.

        Answers at once with what the columns know. A large payload is read in a thread, and its
        text streams in.
        """
        if document is None or index < 0:
            self.clear()
            return
        if self._span is not None and (index != self._span.entry or document != self._document):
            self.forget_place()
        self._document, self._index, self._gathered = document, index, None
        self._raw_text = ""
        self._loader.forget()
        self._raw_loader.forget()
        self.notice.dismiss()
        self.address.hide()
        self.header.show_entry(document, index, document.tree.labels().get(index, ""))
        self.header.show()
        self._line.show()
        self._show_view()

    def show_place(self, span: Span, words: str, number: int = 1, count: int = 1) -> None:
        """Mark a place of the entry that is shown, and bring it into sight.

        ``words``: what stands there; it is the ``number``-th of ``count`` places. Another entry
        that is shown later takes the mark away.
        """
        self._span = span
        self.place.show_place(words, number, count)
        if self.header.raw.isChecked():
            self.header.rendered.setChecked(True)  # shows it anew, unless it is there already
        if self._gathered is not None:
            self._mark_soon()

    def forget_place(self) -> None:
        """Take the mark away with the next entry that is shown."""
        self._span = self._quoted = None
        self._marker.forget()
        self.place.hide()
        if self._raw_for_place:
            self._raw_for_place = False
            self.header.rendered.setChecked(True)

    def refresh_labels(self) -> None:
        """Show labels and counts that changed meanwhile."""
        if self._document is not None:
            labels = self._document.tree.labels()
            self.header.show_entry(self._document, self._index, labels.get(self._index, ""))

    def _show_view(self) -> None:
        if self._document is None:
            return
        if self.header.raw.isChecked():
            self._show_raw(self._document)
        else:
            self._show_rendered(self._document)

    def _show_rendered(self, document: Document) -> None:
        self._views.setCurrentWidget(self.area)
        if self._gathered is not None:
            return
        tree, payloads, index = document.tree, document.payloads.shown, self._index
        related = related_entries(tree, index)
        if is_large(tree, index):
            self._fill([Caption(f"Reading {full(tree.columns.estimate[index])} tokens…", self)])
            self._loader.load(lambda: gather(payloads, index, related))
            return
        try:
            self._loaded(gather(payloads, index, related))
        except READ_ERRORS as error:
            self._failed(f"{type(error).__name__}: {error}")

    def _loaded(self, gathered: EntryContent) -> None:
        self._gathered = gathered
        content = QWidget(self.area.viewport())
        views = []
        tree = self._document.tree if self._document is not None else None
        shown = gathered.blocks
        if tree is not None:
            shown = with_numbers(shown, tree, gathered.index)
            about = (*pruned_facts(tree, gathered.index), *shaped_facts(tree, gathered.index))
            shown = [*about, *shown]
        for block in shown:
            view = view_of(block, content)
            for name, slot in (
                ("link_asked", self._link_asked),
                ("entry_asked", self.entry_requested.emit),
                ("entry_id_asked", self._entry_id_asked),
            ):
                if hasattr(view, name):
                    getattr(view, name).connect(slot)
            views.append(view)
        if not views:
            views.append(Caption("This entry is empty.", content))
        self._fill(views, content)
        if self._span is not None and self._span.entry == gathered.index:
            self._mark_soon()

    def _fill(self, views: list[QWidget], content: QWidget | None = None) -> None:
        content = content or QWidget(self.area.viewport())
        column = column_in(content, S16, (S16, S12, S12, S16))
        for view in views:
            column.addWidget(view)
        column.addStretch(1)
        self._marker.forget()
        focus = self.focusWidget()
        if focus is not None and focus.hasFocus() and self.area.isAncestorOf(focus):
            # Else it would go to a part of the window that nobody looks at.
            self.area.setFocus()
        old = self.area.takeWidget()
        if old is not None:
            for text in old.findChildren(PlainTextView):
                text.release()
            old.deleteLater()
        self.area.setWidget(content)
        reach_behind(self.area, content)
        self.area.verticalScrollBar().setValue(0)

    def _show_raw(self, document: Document) -> None:
        self._views.setCurrentWidget(self.raw)
        if self._raw_text:
            return
        payloads, index = document.payloads.shown, self._index
        if is_large(document.tree, index):
            self.raw.set_text("Reading…")
            self._raw_loader.load(lambda: pretty(payloads, index))
            return
        try:
            self._raw_loaded(pretty(payloads, index))
        except READ_ERRORS as error:
            self._failed(f"{type(error).__name__}: {error}")

    def _raw_loaded(self, text: str) -> None:
        self._raw_text = text
        self.raw.show_code(text)
        if self._raw_for_place:
            self._mark_json()

    # the place that is marked -------------------------------------------------------------------

    def _mark_soon(self) -> None:
        """Once what was just put in has its size."""
        QTimer.singleShot(0, self, self._mark)

    def _mark(self) -> None:
        gathered, span, content = self._gathered, self._span, self.area.widget()
        if gathered is None or span is None or content is None or gathered.index != span.entry:
            return
        self._quoted = quoted(gathered.entry, span)
        if self._quoted is None:
            return
        view = None if self._raw_for_place else self._marker.mark(content, self._quoted)
        if view is None:
            # What is not shown as text stands in the JSON.
            self._raw_for_place = True
            self.header.raw.setChecked(True)
            self._mark_json()
        elif not self._waits_for(view, self._mark_soon):
            self._reveal_soon(self.area)

    def _mark_json(self) -> None:
        if self._raw_text and self._quoted is not None and self.header.raw.isChecked():
            self._marker.mark_json(self.raw, self._quoted)
            if not self._waits_for(self.raw, self._mark_json):
                self._reveal_soon(None)

    @staticmethod
    def _waits_for(view: QWidget, again: Callable[[], None]) -> bool:
        """A long text is still coming in: the place is marked when all of it is there."""
        if not isinstance(view, PlainTextView) or not view.is_loading:
            return False
        view.loaded.connect(again, Qt.ConnectionType.SingleShotConnection)
        return True

    def _reveal_soon(self, area: QScrollArea | None) -> None:
        """What was folded has its size a moment later."""
        QTimer.singleShot(0, self, lambda: self._marker.reveal(area))

    def _theme_changed(self) -> None:
        self._follow_height()
        if self._span is not None:
            self._mark_soon()

    def _failed(self, message: str) -> None:
        self._fill([Caption("The content could not be read.", self)])
        self.notice.show_notice(
            Notice(
                "error",
                f"The content of entry #{self._index} could not be read.",
                "The entry itself, its place in the tree and its figures are kept.",
                "Select it again; if it stays, the database may be damaged.",
                message,
            )
        )

    # what it leads to --------------------------------------------------------------------------

    def _link_asked(self, address: str) -> None:
        scheme = QUrl(address).scheme().lower()
        self.address.ask(address, scheme in _WEB)

    def _entry_id_asked(self, entry_id: str) -> None:
        index = self._document.tree.index_of(entry_id) if self._document is not None else -1
        if index >= 0:
            self.entry_requested.emit(index)
            return
        self.notice.show_notice(
            Notice("info", f"There is no entry {entry_id} in this session.", "Nothing changed.")
        )

    def _copy(self) -> None:
        if self.header.raw.isChecked():
            QGuiApplication.clipboard().setText(self._raw_text)
        elif self._gathered is not None:
            QGuiApplication.clipboard().setText(self._gathered.copy_text)

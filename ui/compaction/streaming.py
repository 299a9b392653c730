"""A summary while it is being written."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QTimer, Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QTabWidget, QVBoxLayout, QWidget

from ui.compaction.request_window import PURPOSES
from ui.theme import S8, S12, S16, bind_font, ui_font
from ui.widgets.figures import count
from ui.widgets.labels import Caption, ElidedLabel
from ui.widgets.panels import row
from ui.widgets.plain_text import StreamView


class StreamingView(QWidget):
    """A summary while it is written, with progress and a way to stop it."""

    cancel_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clock = QElapsedTimer()
        self._tick = QTimer(self)
        self._tick.setInterval(100)
        self._tick.timeout.connect(self._show_progress)
        self._streams: dict[str, StreamView] = {}
        self._model = ""
        self._told = ""
        self.title = ElidedLabel(parent=self)
        bind_font(self.title, lambda: ui_font(0.5, bold=True))
        self.why = Caption(parent=self)
        self.why.setWordWrap(True)
        self.progress = Caption(parent=self)
        self.busy = QProgressBar(self)
        self.busy.setRange(0, 0)
        self.busy.setTextVisible(False)
        self.busy.setFixedHeight(6)
        self.busy.setAccessibleName("Writing the summary")
        self.cancel = QPushButton("Ca&ncel", self)
        self.cancel.setToolTip("Stop writing; nothing is stored")
        self.cancel.clicked.connect(self._cancelled)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        line = row(self.title, self.cancel)
        line.setStretchFactor(self.title, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S12, S16, S12)
        column.setSpacing(S8)
        column.addLayout(line)
        column.addWidget(self.why)
        column.addWidget(self.progress)
        column.addWidget(self.busy)
        column.addWidget(self.tabs, 1)

    def begin(
        self, model: str, purposes: list[str], why: str = "", takes_focus: bool = True
    ) -> None:
        """Start showing the answers to one or two requests; ``why``: where nobody ordered them."""
        self._model, self._told = model, ""
        while self.tabs.count():
            old = self.tabs.widget(0)
            self.tabs.removeTab(0)
            if old is not None:
                old.deleteLater()
        self._streams = {}
        for purpose in purposes:
            stream = StreamView(self)
            stream.setAccessibleName(f"{PURPOSES.get(purpose, purpose)}, as it is written")
            self._streams[purpose] = stream
            self.tabs.addTab(stream, PURPOSES.get(purpose, purpose))
        self.tabs.tabBar().setVisible(len(purposes) > 1)
        self.title.setText(f"{model or 'The model'} is writing")
        self.why.setText(why)
        self.why.setVisible(bool(why))
        self.cancel.setEnabled(True)
        self.cancel.setText("Ca&ncel")
        self._clock.start()
        self._tick.start()
        self._show_progress()
        if takes_focus:
            self.cancel.setFocus()

    def add(self, purpose: str, delta: str) -> None:
        """A piece of an answer."""
        stream = self._streams.get(purpose)
        if stream is None and self._streams:
            stream = next(iter(self._streams.values()))
        if stream is not None:
            stream.add(delta)

    def restart(self, purpose: str) -> None:
        """The pieces of an answer are void: it is asked for again, or its next part is."""
        if (stream := self._streams.get(purpose)) is not None:
            stream.begin()

    def tell(self, sentence: str) -> None:
        """What is waited for: another try, another model, the next part of a long session."""
        self._told = sentence
        self._show_progress()

    def end(self) -> None:
        """The answers are over, one way or another."""
        self._tick.stop()
        for stream in self._streams.values():
            stream.finish()

    def written(self) -> str:
        """What has come so far, for a failure's details."""
        return "\n\n".join(s.text() for s in self._streams.values() if s.text())

    def _show_progress(self) -> None:
        characters = sum(stream.characters() for stream in self._streams.values())
        seconds = self._clock.elapsed() / 1000
        written = f"{count(characters, 'character')} in {seconds:.1f} s"
        self.progress.setText(f"{written} · {self._told}" if self._told else written)

    def _cancelled(self) -> None:
        self.cancel.setEnabled(False)
        self.cancel.setText("Stopping…")
        self.cancel_asked.emit()

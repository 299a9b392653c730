"""One finding in full: its text, why, its sources, and what can be done about it."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from explorer.audit.excerpt import Excerpt
from explorer.audit.findings import Fate, Finding
from ui.audit.fidelity.words import FATE_TITLES, ONE_KIND
from ui.theme import S4, S8, S16, bind_font, mono_font, scaled, small_font, theme
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, LinkButton, RichLabel

MOST_SOURCES = 6
LONGEST = 400
MENDED = (Fate.LOST, Fate.MUTATED, Fate.INVENTED, Fate.STALE, Fate.RECOVERABLE)
ACTIONS = (
    ("pin", "Pin the entr&y", "Keep the entry that says it verbatim, through every compaction"),
    ("instruct", "Add to the instru&ctions", "Ask for it in the instructions of the next summary"),
    ("mend", "Check an&d mend…", "Show the model what was lost, and let it mend the summary"),
)


class FindingPart(QWidget):
    """Below the list; empty while nothing is selected."""

    source_requested = Signal(object, int)
    """The ``Finding``, and one of its sources."""
    summary_requested = Signal(object)
    action_asked = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.finding: Finding | None = None
        self.offered: frozenset[str] = frozenset()
        """Which of the actions there is somebody for."""
        self.text = QLabel(self)
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.text.setMaximumHeight(scaled(76))
        bind_font(self.text, lambda: mono_font(-0.5))
        self.excerpt = RichLabel(self)
        self.excerpt.setWordWrap(True)
        self.excerpt.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.excerpt.setMaximumHeight(scaled(92))
        bind_font(self.excerpt, small_font)
        self.why = Caption("", self)
        self.why.setWordWrap(True)
        self._sources = QWidget(self)
        self._links = FlowLayout(self._sources, across=S8, down=S4)
        self.links: list[LinkButton] = []
        self.in_summary = QPushButton("Show in the &summary", self)
        self.in_summary.setToolTip("Where the summary says it (Shift+Return in the list)")
        self.in_summary.clicked.connect(lambda: self.summary_requested.emit(self.finding))
        self.buttons: dict[str, QPushButton] = {}
        buttons = FlowLayout(across=S8, down=S4)
        buttons.addWidget(self.in_summary)
        for name, title, tip in ACTIONS:
            button = self.buttons[name] = QPushButton(title, self)
            button.setToolTip(tip)
            button.clicked.connect(lambda _=False, name=name: self._act(name))
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S4, S16, S8)
        column.setSpacing(S4)
        for part in (self.text, self.why, self._sources, self.excerpt):
            column.addWidget(part)
        column.addLayout(buttons)
        self.show_finding(None)

    def _act(self, name: str) -> None:
        if self.finding is not None:
            self.action_asked.emit(name, self.finding)

    def offer(self, *names: str) -> None:
        """Offer actions that somebody answers to."""
        self.offered = self.offered | frozenset(names)
        self.show_finding(self.finding)

    def show_finding(self, finding: Finding | None) -> None:
        """Show a finding, or nothing."""
        self.finding = finding
        self.setVisible(finding is not None)
        if finding is None:
            return
        atom = finding.atom
        text = atom.text if len(atom.text) <= LONGEST else atom.text[:LONGEST] + "…"
        self.text.setText(text)
        self.text.setAccessibleName(f"{ONE_KIND[atom.kind]}: {text}")
        why = f"{ONE_KIND[atom.kind].capitalize()}, {FATE_TITLES[finding.fate]}. {finding.note}"
        if atom.stale and finding.fate is not Fate.STALE:
            why += f" Changed later{f': {atom.replaced_by}' if atom.replaced_by else ''}."
        self.why.setText(why.strip())
        self.excerpt.clear()
        self.excerpt.hide()
        self.text.show()
        self._show_sources(finding)
        self.in_summary.setEnabled(bool(finding.places))
        for name, button in self.buttons.items():
            fits = bool(atom.sources) if name == "pin" else finding.fate in MENDED
            button.setVisible(name in self.offered)
            button.setEnabled(fits)

    def show_excerpt(self, finding: Finding, found: Excerpt | None) -> None:
        """Show the words of the source around the place, where the finding is still shown."""
        if finding is not self.finding or found is None:
            return
        before, text, after = (
            escape(" ".join(part.split()))
            for part in (found.before[-140:], found.text, found.after)
        )
        style = f"background-color:{theme().sel.name()};text-decoration:underline;"
        place = f'<span style="{style}">{text}</span>'
        words = f"#{finding.atom.last}: {before} {place} {after}"
        self.excerpt.setText(words)
        self.excerpt.setAccessibleName(
            f"In entry {finding.atom.last}: {found.before}{found.text}{found.after}"
        )
        self.excerpt.show()
        # The same words twice would take the room of the list above.
        self.text.setVisible(found.text.strip() != finding.atom.text.strip())

    def _show_sources(self, finding: Finding) -> None:
        while (item := self._links.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.links = []
        # The entry that said it last comes first: it is the one that counts.
        sources = finding.atom.sources[::-1]
        for source in sources[:MOST_SOURCES]:
            link = LinkButton(f"#{source}", self._sources)
            link.setAccessibleName(f"Show the source, entry {source}, at the place")
            link.setToolTip("Show the place in the inspector, and the entry on the map")
            link.clicked.connect(
                lambda _=False, source=source: self.source_requested.emit(self.finding, source)
            )
            self.links.append(link)
            self._links.addWidget(link)
            link.show()
        if len(sources) > MOST_SOURCES:
            more = Caption(f"and {len(sources) - MOST_SOURCES:,} more", self._sources)
            self._links.addWidget(more)
            more.show()
        self._sources.setVisible(bool(sources))
        self._links.invalidate()

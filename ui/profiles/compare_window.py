"""Every profile's compaction of one place, below each other on one scale."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.profile import Profile
from explorer.compaction.profile_comparison import Cause, ProfileOutcome
from explorer.services.effective_rules import next_mark
from ui.audit.known import MARK
from ui.profiles.strip import StripScale, VerdictStrip
from ui.theme import S4, S8, S12, S16, bind_font, mono_font, on_theme_changed, set_tone
from ui.widgets.choice import ChoiceBox
from ui.widgets.comparison import ComparisonWindow
from ui.widgets.dialogs import fit
from ui.widgets.figures import count, full, place, short
from ui.widgets.flow import FlowLayout
from ui.widgets.labels import Caption, Hairline, Heading, LinkButton, RichLabel
from ui.widgets.loader import Loader
from ui.widgets.panels import column_in, row
from ui.widgets.swatch import Legend, Share

Cell = tuple[str, str, str]
"""A caption, a figure, and what it means in a sentence."""


def cells_of(found: ProfileOutcome) -> list[Cell]:
    """The figures of an outcome, in the same order for every profile."""
    before, after = found.whole_before, found.whole_after
    is_estimate = found.shown.counted_by == "estimate" or found.shown.preparation.size.beyond > 0
    # Where prompts are kept within a budget, summaries are begun before the limit.
    mark = next_mark(found.profile, found.settings, None)
    is_due = found.whole_before > mark.tokens if mark.about else found.is_due
    due = "due now" if is_due else "not due"
    return [
        (
            "context",
            (MARK if is_estimate and found.tokens_source != "provider" else "") + short(before),
            f"{full(before)} tokens; {_counted(found)}",
        ),
        (
            "afterwards",
            MARK + short(after) if found.compacts else "the same",
            f"about {full(after)} tokens, {full(found.tokens_after)} of them the entries; the size "
            "of the summary is a guess",
        ),
        (
            "summarized",
            _summarized(found),
            "What the new summary tells: messages, and the summary that it takes the place of",
        ),
        ("split turn", _split(found), "Whether the cut falls inside a turn, and what comes of it"),
        (
            "starts above",
            f"{MARK if mark.about else ''}{short(mark.tokens)}, {due}",
            f"By itself above {'about ' if mark.about else ''}{full(mark.tokens)} tokens; its own "
            f"count here is {full(found.tokens_before)} ({found.tokens_source})",
        ),
        ("sections", found.profile.sections, "Whose headings the summary has"),
        (
            "lost",
            count(found.lost, "entry", "entries") if found.lost else "none",
            "Entries that are neither kept nor covered by any summary",
        ),
    ]


def _summarized(found: ProfileOutcome) -> str:
    """What is drawn as summarized by it."""
    if not found.compacts:
        return "nothing"
    told = [count(found.messages, "message")] if found.messages else []
    if found.retells_summary:
        told.append("the summary" if told else "the summary alone")
    return " + ".join(told) or "nothing"


def _counted(found: ProfileOutcome) -> str:
    return f"its entries take {full(found.context_tokens)}, counted by the {found.shown.counted_by}"


def _split(found: ProfileOutcome) -> str:
    if not found.is_split_turn:
        return "no"
    if found.profile.split == "one-summary":
        return "yes, in one"
    return f"yes, {found.turn_prefix} apart"


def also(profile: Profile) -> str:
    """Other actions of a profile around a compaction; empty for none."""
    does = []
    if profile.pruning is not None:
        does.append("prunes old tool results first")
    if profile.background is not None:
        does.append("makes summaries ahead")
    if profile.prompt_budget is not None:
        does.append("renders prompts to a budget")
    if profile.short_summary:
        does.append("writes a short summary too")
    if profile.auto_continue:
        does.append("goes on by itself afterwards")
    if not does:
        return ""
    words = ", ".join(does)
    return words[:1].upper() + words[1:] + "."


def decides_alike(one: ProfileOutcome, other: ProfileOutcome) -> bool:
    """Whether two profiles do the same with every entry."""
    return bytes(one.shown.verdicts) == bytes(other.shown.verdicts)


def why(
    found: ProfileOutcome, reference: ProfileOutcome, causes: Sequence[Cause] | None
) -> list[str]:
    """Why a profile decides otherwise than the one it is compared with, in sentences.

    ``causes`` is None while they are looked for.
    """
    if found.profile.name == reference.profile.name:
        return [found.reason]
    name = reference.profile.title
    alike = decides_alike(found, reference)
    if causes is None:
        return ["Looking for the rules that make the difference…"]
    if not causes:
        if alike:
            return [f"Here it decides as {name} does."]
        return [f"No single rule makes the difference to {name}: several do together."]
    first = f"Each entry fares as under {name}, but figures differ:" if alike else ""
    lines = [f"{cause.title}: {cause.says}. ({name}: {cause.instead_of}.)" for cause in causes]
    return [first, *lines] if first else lines


def _marked(line: str, named: bool) -> str:
    """Trusted words as rich text, the name of a rule strong."""
    title, colon, rest = line.partition(": ")
    if not named or not rest:
        return html.escape(line, quote=False)
    return f"<b>{html.escape(title, quote=False)}</b>{colon}{html.escape(rest, quote=False)}"


class _Cell(QWidget):
    """A figure under its caption."""

    def __init__(self, caption: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = caption
        self.caption = Caption(caption, self)
        self.figure = QLabel(self)
        bind_font(self.figure, mono_font)
        column = column_in(self, 0)
        column.addWidget(self.caption)
        column.addWidget(self.figure)

    def show_figure(self, figure: str, meaning: str) -> None:
        self.figure.setText(figure)
        set_tone(self.figure, "lost" if self.is_loss(figure) else "")
        self.setToolTip(meaning)
        self.figure.setAccessibleName(f"{self._name} {figure}")
        self.figure.setAccessibleDescription(meaning)

    def is_loss(self, figure: str) -> bool:
        """Whether the figure tells of something lost."""
        return self._name == "lost" and figure != "none"

    def wanted(self) -> int:
        """Pixels that its words need."""
        return max(self.caption.sizeHint().width(), self.figure.sizeHint().width())


class CompareCard(QWidget):
    """Shows an outcome; wide or narrow, the same figure stands below the same one."""

    entry_requested = Signal(int)
    use_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.outcome: ProfileOutcome | None = None
        self._causes: Sequence[Cause] | None = None
        self._reference: ProfileOutcome | None = None
        self.title = Heading(self)
        self.in_force = Caption("in use", self, tone="accent")
        self.use = LinkButton("Use here", self)
        self.use.clicked.connect(self._use)
        self.first_kept = LinkButton(parent=self)
        self.first_kept.clicked.connect(self._go)
        self._flow = FlowLayout(across=S16, down=S4)
        self.cells: dict[str, _Cell] = {}
        self.strip = VerdictStrip(self)
        self.strip.entry_requested.connect(self.entry_requested)
        self.why = RichLabel(self)
        self.why.setWordWrap(True)
        self.why.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.also = Caption(parent=self, wraps=True)
        column = column_in(self, S4)
        column.addLayout(row(self.title, self.in_force, self.use, 1, self.first_kept))
        column.addWidget(self.strip)
        column.addLayout(self._flow)
        column.addWidget(self.why)
        column.addWidget(self.also)
        column.addSpacing(S8)
        column.addWidget(Hairline(parent=self))
        on_theme_changed(self._restyle)

    def _restyle(self) -> None:
        if self.cells:
            self.set_cell_widths(self.cell_widths())

    def show_outcome(self, found: ProfileOutcome, scale: StripScale, in_force: bool) -> None:
        """Show what a compaction would do under a profile."""
        self.outcome = found
        self.title.setText(found.profile.title)
        self.use.setAccessibleName(f"Use {found.profile.title} here")
        first = found.first_kept
        self.first_kept.setText(f"keeps from #{first}" if first >= 0 else "keeps everything")
        self.first_kept.setEnabled(first >= 0)
        self.first_kept.setToolTip("Select the first entry that is kept, on the map")
        self.strip.show_verdicts(found.profile.title, found.shown, scale)
        for caption, figure, meaning in cells_of(found):
            if caption not in self.cells:
                self.cells[caption] = _Cell(caption, self)
                self._flow.addWidget(self.cells[caption])
            self.cells[caption].show_figure(figure, meaning)
        words = also(found.profile)
        self.also.setText(words)
        self.also.setVisible(bool(words))
        self.show_in_force(in_force)

    def show_in_force(self, in_force: bool) -> None:
        """Whether the session follows this profile."""
        self.in_force.setVisible(in_force)
        self.use.setVisible(not in_force)

    def show_why(self, reference: ProfileOutcome, causes: Sequence[Cause] | None) -> None:
        """Why it decides otherwise than another profile; None while that is looked for."""
        if self.outcome is not None:
            lines = why(self.outcome, reference, causes)
            self.why.setText("<br>".join(_marked(line, bool(causes)) for line in lines))
            self.why.setAccessibleName("\n".join(lines))

    def cell_widths(self) -> list[int]:
        """Pixels that each figure needs."""
        return [cell.wanted() for cell in self.cells.values()]

    def set_cell_widths(self, widths: Sequence[int]) -> None:
        """Give each figure the room that it has in the other cards too."""
        for cell, width in zip(self.cells.values(), widths, strict=True):
            cell.setFixedWidth(width)
        self._flow.invalidate()

    def _use(self) -> None:
        if self.outcome is not None:
            self.use_asked.emit(self.outcome.profile.name)

    def _go(self) -> None:
        if self.outcome is not None and self.outcome.first_kept >= 0:
            self.entry_requested.emit(self.outcome.first_kept)


TEXTURES = (
    (0, "summarized earlier"), (1, "to summarize"), (2, "turn prefix"), (3, "kept"), (6, "lost"),
)  # fmt: skip


class PlaceComparison(Struct, frozen=True):
    """What was found out about one place."""

    at: int
    is_leaf: bool
    window: int
    """Tokens of the context window that all were given."""
    outcomes: Sequence[ProfileOutcome]
    scale: StripScale


Compare = Callable[[], PlaceComparison]
"""Compares the profiles; for a worker thread."""
FindCauses = Callable[[PlaceComparison, str], Mapping[str, Sequence[Cause]]]
"""By profile, the rules that make it differ from a reference; for a worker thread."""


class CompareWindow(ComparisonWindow):
    """A click in a strip selects the entry on the map."""

    use_asked = Signal(str)

    def __init__(self, find_causes: FindCauses, parent: QWidget | None = None) -> None:
        super().__init__("Profiles compared", parent)
        self._find_causes = find_causes
        self._compared: PlaceComparison | None = None
        self._in_force = ""
        self._is_window_known = True
        self.cards: dict[str, CompareCard] = {}
        self._loader = Loader(self)
        self._loader.loaded.connect(self._show)
        self._loader.failed.connect(self._failed)
        self._reasons = Loader(self)
        self._reasons.loaded.connect(self._show_causes)
        self._reasons.failed.connect(self._failed)
        self._make_head()
        self._lay_out()
        fit(self, 980, 700)

    def _make_head(self) -> None:
        self.reference = ChoiceBox(self)
        self.reference.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.reference.setAccessibleName("Profile that the others are compared with")
        self.reference.activated.connect(lambda _at: self._ask_causes())
        label = QLabel("Compared &with", self)
        label.setBuddy(self.reference)
        self._with = row(label, self.reference, 1)
        self.legend = Legend(self)
        self.legend.set_shares(
            [Share(str(v), title, 0, v, filterable=False) for v, title in TEXTURES]
        )

    def _lay_out(self) -> None:
        body = QWidget(self)
        self.area = self.scrolling(body)
        # All of it scrolls: with large text the head would leave the strips no room.
        content = column_in(body, S8, (S16, S12, S16, S12))
        for part in (self.title, self.facts):
            content.addWidget(part)
        content.addLayout(self._with)
        content.addWidget(self.legend)
        content.addWidget(Hairline(parent=body))
        self._cards = QVBoxLayout()
        self._cards.setSpacing(S12)
        content.addLayout(self._cards)
        content.addStretch(1)
        note = Caption("Click a strip to select its entry on the map.", self, wraps=True)
        foot = row(note, self.closing_button(), wide=note)
        self.lay_out(None, self.area, foot)

    # what is shown -----------------------------------------------------------------------------

    def compare(self, compare: Compare, in_force: str, *, is_window_known: bool = True) -> None:
        """Find out and show; ``in_force`` is the profile that the session follows.
        ``is_window_known``: else the window is assumed."""
        self._in_force, self._is_window_known = in_force, is_window_known
        self._loader.load(compare)

    def _show(self, found: PlaceComparison) -> None:
        self._compared = found
        where = f"{place(found.at)}, the leaf" if found.is_leaf else place(found.at)
        inferred = "" if self._is_window_known else " (window inferred)"
        self.tell(
            f"A compaction at {where}, as every profile would do it",
            "The path from its first entry to this place, entries by their tokens; what was "
            "summarized earlier is drawn narrow. The "
            f"window is {short(found.window)} tokens for all{inferred}; other sizes are those in "
            "force for the profile in use, and each other profile's own. ≈ marks an estimate.",
        )
        self._fill_reference(found)
        names = [outcome.profile.name for outcome in found.outcomes]
        for name in [name for name in self.cards if name not in names]:
            self.cards.pop(name).deleteLater()
        self._show_card(found, 0)

    def _show_card(self, found: PlaceComparison, at: int) -> None:
        """One card after the other: the window answers between two of them."""
        if found is not self._compared:
            return
        if at == len(found.outcomes):
            self._align()
            self._ask_causes()
            return
        outcome = found.outcomes[at]
        card = self.cards.get(outcome.profile.name)
        if card is None:
            card = CompareCard(self.area.widget())
            card.entry_requested.connect(self.entry_requested)
            card.use_asked.connect(self.use_asked)
            self._cards.insertWidget(at, card)
            self.cards[outcome.profile.name] = card
        card.show_outcome(outcome, found.scale, outcome.profile.name == self._in_force)
        QTimer.singleShot(0, self, lambda: self._show_card(found, at + 1))

    def _align(self) -> None:
        """The same figure stands at the same place in every card."""
        widths = [card.cell_widths() for card in self.cards.values()]
        for card in self.cards.values():
            card.set_cell_widths([max(column) for column in zip(*widths, strict=True)])

    def _fill_reference(self, found: PlaceComparison) -> None:
        wanted = self.reference.currentData() or self._in_force
        self.reference.clear()
        for outcome in found.outcomes:
            self.reference.addItem(outcome.profile.title, outcome.profile.name)
        self.reference.setCurrentIndex(max(0, self.reference.findData(wanted)))

    def show_in_force(self, name: str) -> None:
        """Mark the profile that the session follows."""
        self._in_force = name
        for key, card in self.cards.items():
            card.show_in_force(key == name)

    # why ---------------------------------------------------------------------------------------

    def _reference(self) -> ProfileOutcome | None:
        name = self.reference.currentData()
        outcomes = self._compared.outcomes if self._compared is not None else ()
        return next((found for found in outcomes if found.profile.name == name), None)

    def _ask_causes(self) -> None:
        found, reference = self._compared, self._reference()
        if found is None or reference is None:
            return
        for card in self.cards.values():
            card.show_why(reference, None)
        name = reference.profile.name
        self._reasons.load(lambda: (found, name, self._find_causes(found, name)))

    def _show_causes(
        self, shown: tuple[PlaceComparison, str, Mapping[str, Sequence[Cause]]]
    ) -> None:
        found, name, causes = shown
        reference = self._reference()
        if found is not self._compared or reference is None or reference.profile.name != name:
            return
        for profile, card in self.cards.items():
            card.show_why(reference, causes.get(profile, ()))

    def _failed(self, message: str) -> None:
        self.tell("The profiles could not be compared", f"{message} Nothing was changed.")

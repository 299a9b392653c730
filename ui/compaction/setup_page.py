"""The first page of the panel: budget, settings, reason, ledger, instructions, outcome."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.profile import PROFILES, Profile, Settings
from ui.compaction.ledger_model import Column, LedgerModel
from ui.compaction.ports import CompactionDocument, ModelChoice
from ui.compaction.words import (
    beyond_words,
    is_possible,
    plain_reason,
    price_text,
    reason_html,
)
from ui.theme import S4, S8, S12, S16, bind_font, on_theme_changed, set_tone, small_font, ui_font
from ui.widgets.budget_bar import BudgetBar
from ui.widgets.choice import Choice
from ui.widgets.entry_table import EntryTable
from ui.widgets.figures import full, round_short, short
from ui.widgets.labels import Caption, ClickLabel, ElidedLabel, Hairline, LinkButton
from ui.widgets.number_slider import NumberSlider
from ui.widgets.panels import row, section
from ui.widgets.swatch import Legend, Share, beyond_share

_SHARES = (
    (Verdict.SUMMARIZED_EARLIER, "summarized earlier"),
    (Verdict.TO_SUMMARIZE, "to summarize"),
    (Verdict.TURN_PREFIX, "turn prefix"),
    (Verdict.KEPT, "kept"),
    (Verdict.PRUNED, "pruned"),
    (Verdict.LOST, "lost"),
    (Verdict.NOT_SENT, "not sent"),
)
_OUTSIDE = (Verdict.SUMMARIZED_EARLIER, Verdict.NOT_SENT, Verdict.LOST)
"""Verdicts of entries that take no room in the context."""


class _Instructions(QPlainTextEdit):
    """The box for instructions; Tab leaves it, Ctrl+Return summarizes."""

    submitted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("What the summary must not lose, in your words")
        self.setAccessibleName("Instructions added to the prompt")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(3 * self.fontMetrics().lineSpacing() + 14)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_return and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.submitted.emit()
            return
        super().keyPressEvent(event)


class SetupPage(QWidget):
    """Shows a partition and lets a person change what it follows from."""

    settings_changed = Signal(object)
    profile_chosen = Signal(str)
    rules_asked = Signal()
    entry_requested = Signal(int)
    automatic_cut_asked = Signal()
    request_asked = Signal()
    summarize_asked = Signal()
    model_chosen = Signal(str)
    instructions_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = Settings()
        self._models: dict[str, ModelChoice] = {}
        self._request_tokens = -1
        self.shown: Partition | None = None
        # Placed before it is filled: a subtree that moves is styled anew, part by part.
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        body = self._body = QWidget(area)
        area.setWidget(body)
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._build_budget()
        self._build_settings()
        self._build_ledger()
        self._build_request()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(area, 1)
        outer.addWidget(Hairline(parent=self))
        outer.addWidget(self._build_outcome())
        on_theme_changed(self._restyle)
        self._restyle()

    # building ----------------------------------------------------------------------------------

    def _add(self, part: QWidget, stretch: int = 0) -> None:
        if self._column.count():
            self._column.addWidget(Hairline(parent=self._body))
        self._column.addWidget(part, stretch)

    def _build_budget(self) -> None:
        part, column = section(self._body)
        column.setSpacing(S4)
        self.heading = ElidedLabel(parent=part)
        bind_font(self.heading, small_font)
        set_tone(self.heading, "dim")
        self.reserve_caption = Caption(parent=part)
        self.bar = BudgetBar(part)
        self.legend = Legend(part)
        line = row(self.heading, self.reserve_caption)
        line.setStretchFactor(self.heading, 1)
        column.addLayout(line)
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        self.legend.filter_changed.connect(self._filter)
        self._add(part)

    def _build_settings(self) -> None:
        part, column = section(self._body)
        column.setSpacing(S4)
        self.profile = Choice(part)
        self.profile.setAccessibleName("Profile: the rules that compaction follows")
        self.profile.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for profile in PROFILES.values():
            self.profile.addItem(profile.title, profile.name)
        self.profile.activated.connect(
            lambda at: self.profile_chosen.emit(self.profile.itemData(at))
        )
        self._profile_label = QLabel("Pro&file", part)
        self._profile_label.setBuddy(self.profile)
        self.rules = LinkButton("Ru&les ▸", part)
        self.rules.setToolTip("The rules of this profile, one sentence each")
        self.rules.clicked.connect(self.rules_asked)
        line = row(self._profile_label, self.profile, self.rules)
        line.setStretchFactor(self.profile, 1)
        column.addLayout(line)
        self.keep = NumberSlider("&Keep recent", 0, 2_000_000, part)
        self.reserve = NumberSlider("&Reserve", 0, 500_000, part)
        self.window_size = NumberSlider("&Window", 8_000, 2_000_000, part)
        for slider in (self.keep, self.reserve, self.window_size):
            slider.changed.connect(self._size_changed)
            column.addWidget(slider)
        self.keep.setToolTip("Tokens at the end of the path that are kept word for word")
        self.reserve.setToolTip("Tokens of the window kept free for the reply and the summary")
        self.window_size.setToolTip("Tokens that the model can take in at once")
        self.why = ClickLabel(part)
        self.why.link.connect(self._follow)
        column.addSpacing(S4)
        column.addWidget(self.why)
        self._add(part)

    def _build_ledger(self) -> None:
        self.ledger = LedgerModel(self)
        figures = (Column.TOKENS, Column.RUNNING)
        self.table = EntryTable(
            Column.WHAT, figures, {Column.WHY: 700, Column.RUNNING: 340}, self._body
        )
        self.table.setAccessibleName("Ledger: every entry of the path and what becomes of it")
        self.table.setModel(self.ledger)
        self.table.restyle()
        self.table.setMinimumHeight(150)
        self.table.entry_chosen.connect(self.entry_requested)
        self._add(self.table, 1)

    def _build_request(self) -> None:
        part, column = section(self._body)
        self.instructions = _Instructions(part)
        self.instructions.submitted.connect(self._summarize)
        self.instructions.textChanged.connect(self.instructions_changed)
        caption = ElidedLabel("Instructions added to the prompt", part)
        bind_font(caption, small_font)
        set_tone(caption, "dim")
        self.request = LinkButton(parent=part)
        bind_font(self.request, small_font)
        self.request.clicked.connect(self.request_asked)
        line = row(caption, self.request)
        line.setStretchFactor(caption, 1)
        column.addLayout(line)
        column.addWidget(self.instructions)
        self._add(part)

    def _build_outcome(self) -> QWidget:
        part = QWidget(self)
        column = QVBoxLayout(part)
        column.setContentsMargins(S16, S8, S16, S12)
        column.setSpacing(2)
        self.outcome_caption = Caption("If you compact now", part)
        self.outcome_caption.setWordWrap(True)
        self.outcome = QLabel(part)
        bind_font(self.outcome, lambda: ui_font(4))
        self.outcome.setTextFormat(Qt.TextFormat.RichText)
        column.addWidget(self.outcome_caption)
        column.addWidget(self.outcome)
        column.addSpacing(S4)
        self.summarize = QPushButton("&Summarize", part)
        self.summarize.setProperty("kind", "primary")
        self.summarize.setToolTip("Make a draft; nothing is stored before it is committed")
        self.summarize.clicked.connect(self._summarize)
        self.model = Choice(part)
        self.model.setAccessibleName("Model that writes the summary")
        self.model.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.model.setMinimumWidth(110)
        self.model.activated.connect(lambda at: self._model_chosen(self.model.itemData(at)))
        self.price = Caption(parent=part)
        line = row(self.summarize, self.model, self.price)
        line.setStretchFactor(self.model, 1)
        column.addLayout(line)
        return part

    def _restyle(self) -> None:
        sliders = (self.keep, self.reserve, self.window_size)
        width = max(slider.label_width() for slider in sliders) + S8
        for slider in sliders:
            slider.set_label_width(width)
        self._profile_label.setFixedWidth(width)
        if self.shown is not None:
            self._show_outcome(self.shown)

    def showEvent(self, event: QShowEvent, /) -> None:
        super().showEvent(event)
        # The table has its height only now.
        QTimer.singleShot(0, self, self._reveal)

    def _reveal(self) -> None:
        if self.shown is not None:
            self._reveal_cut(self.shown)

    # what is shown -----------------------------------------------------------------------------

    def show_settings(self, profile: Profile, settings: Settings) -> None:
        """Put the controls where these settings are, without a signal."""
        self._settings = settings
        self.profile.setCurrentIndex(self.profile.findData(profile.name))
        own = PROFILES.get(profile.name)
        self.rules.setText("Ru&les ▸" if profile == own else "Ru&les (changed) ▸")
        self.keep.set_value(settings.keep_recent_tokens)
        self.reserve.set_maximum(settings.context_window)
        self.reserve.set_value(settings.reserve_tokens)
        self.window_size.set_value(settings.context_window)

    def set_models(self, models: list[ModelChoice], chosen: str) -> None:
        """The models that can summarize."""
        self._models = {model.id: model for model in models}
        self.model.clear()
        for model in models:
            self.model.addItem(model.label, model.id)
            self.model.setItemData(self.model.count() - 1, model.id, Qt.ItemDataRole.ToolTipRole)
        self.model.setCurrentIndex(max(0, self.model.findData(chosen)))
        self._show_price()

    def chosen_model(self) -> str:
        """The id of the model chosen; empty when there is none."""
        return str(self.model.currentData() or "")

    def show_partition(
        self, document: CompactionDocument, shown: Partition, by_hand: bool, at_leaf: bool
    ) -> None:
        """Show what a compaction would do."""
        cut_moved = self.shown is None or self.shown.cut != shown.cut
        self.shown = shown
        settings = self._settings
        where = "at the leaf" if at_leaf else f"at #{shown.preparation.leaf}"
        source = shown.preparation.tokens_source
        self.heading.setText(
            f"Context {where}, {short(shown.tokens_before)} of "
            f"{round_short(settings.context_window)} tokens ({source})"
        )
        self.reserve_caption.setText(f"reserve {short(settings.reserve_tokens)}")
        shares = [
            Share(str(int(verdict)), title, shown.tokens[verdict], int(verdict))
            for verdict, title in _SHARES
            if shown.tokens[verdict]
        ]
        inside = [share for share in shares if share.verdict not in _OUTSIDE]
        if shown.tokens_beyond:
            inside.insert(0, beyond_share(shown.tokens_beyond))
            shares.insert(0, inside[0])
        self.bar.set_budget(inside, settings.context_window, settings.reserve_tokens)
        self.legend.set_shares(shares)
        words = plain_reason(shown, by_hand)
        self.why.set_words(reason_html(shown, by_hand), words)
        self.ledger.show_partition(shown, document.tree, document.payloads.previews)
        if cut_moved:
            self._reveal_cut(shown)
        self.summarize.setEnabled(is_possible(shown) and bool(self.chosen_model()))
        self.request.setEnabled(is_possible(shown))
        self.show_request_size(-1)
        self._show_outcome(shown)

    def _reveal_cut(self, shown: Partition) -> None:
        at = self.ledger.row_of_position(shown.cut if shown.cut >= 0 else len(shown.verdicts) - 1)
        if at >= 0:
            index = self.ledger.index(at, 0)
            self.table.scrollTo(index, EntryTable.ScrollHint.PositionAtCenter)

    def show_request_size(self, tokens: int) -> None:
        """The size of the request; -1 when it is not known yet."""
        self._request_tokens = tokens
        size = f"re&quest {short(tokens)} tokens" if tokens >= 0 else "re&quest"
        self.request.setText(f"{size} · show ▸")
        self._show_price()

    def _show_price(self) -> None:
        model = self._models.get(self.chosen_model())
        tokens = self._request_tokens
        if model is None:
            self.price.setText("")
            return
        known = tokens >= 0 or model.input_price == 0
        answer = self._settings.reserve_tokens * 4 // 5
        price = price_text(max(tokens, 0), answer, model.input_price, model.output_price)
        self.price.setText(price if known else "")
        self.price.setToolTip("What the call may cost at most, by the model's listed prices")

    def _show_outcome(self, shown: Partition) -> None:
        before, after = shown.context_estimate, shown.tokens_after_estimate
        self.outcome.setToolTip(beyond_words(shown))
        if not is_possible(shown):
            before = shown.tokens_before
            self.outcome_caption.setText("There is nothing to compact")
            self.outcome.setText(f"{short(before)}")
            self.outcome.setAccessibleName(f"The context holds {full(before)} tokens")
            return
        what = "the entries take" if shown.tokens_beyond else "the context takes"
        self.outcome_caption.setText(f"If you compact now, {what} (the summary's size is a guess)")
        small = small_font().pointSizeF()
        self.outcome.setText(
            f"{short(before)} → <b>{short(after)}</b> "
            f'<span style="font-size:{small}pt">frees {short(before - after)}</span>'
        )
        self.outcome.setAccessibleName(
            f"From {full(before)} to about {full(after)} tokens, frees {full(before - after)}"
        )

    # what was done -----------------------------------------------------------------------------

    def _filter(self, key: str) -> None:
        self.ledger.set_filter(int(key) if key else -1)
        if not key and self.shown is not None:
            self._reveal_cut(self.shown)

    def _size_changed(self) -> None:
        window = self.window_size.value()
        reserve = min(self.reserve.value(), window)
        self._settings = Settings(window, reserve, self.keep.value())
        if reserve != self.reserve.value() or self.sender() is self.window_size:
            self.reserve.set_maximum(window)
            self.reserve.set_value(reserve)
        self.settings_changed.emit(self._settings)

    def _follow(self, link: str) -> None:
        kind, _, value = link.partition(":")
        if kind == "entry":
            self.entry_requested.emit(int(value))
        else:
            self.automatic_cut_asked.emit()

    def _model_chosen(self, model: str) -> None:
        self._show_price()
        self.model_chosen.emit(model)

    def _summarize(self) -> None:
        if self.summarize.isEnabled():
            self.summarize_asked.emit()

"""The foot of the panel: what a compaction would free, and the button that makes a draft."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from explorer.compaction.partition import Partition
from ui.compaction.ports import ModelChoice
from ui.compaction.words import beyond_words, is_possible, price_text
from ui.theme import S4, S8, S12, S16, bind_font, on_theme_changed, scaled, small_font, ui_font
from ui.widgets.figures import full, short
from ui.widgets.labels import Caption, RichLabel
from ui.widgets.model_box import ModelBox
from ui.widgets.panels import row


class OutcomePart(QWidget):
    """Before and after in one count, the model, and what its call may cost."""

    summarize_asked = Signal()
    model_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models: dict[str, ModelChoice] = {}
        self._shown: Partition | None = None
        self._request_tokens, self._answer_tokens = -1, 0
        self.caption = Caption("If you compact now", self)
        self.caption.setWordWrap(True)
        self.figures = RichLabel(self)
        bind_font(self.figures, lambda: ui_font(4))
        self.summarize = QPushButton("&Summarize", self)
        self.summarize.setProperty("kind", "primary")
        self.summarize.setToolTip("Make a draft; nothing is stored before it is committed")
        self.summarize.clicked.connect(self.press)
        self.model = ModelBox(self, more=True)
        self.model.setAccessibleName("Model that writes the summary")
        self.model.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.model.activated.connect(lambda at: self._model_chosen(self.model.itemData(at)))
        self.price = Caption(parent=self)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S8, S16, S12)
        column.setSpacing(2)
        column.addWidget(self.caption)
        column.addWidget(self.figures)
        column.addSpacing(S4)
        line = row(self.summarize, self.model, self.price)
        line.setStretchFactor(self.model, 1)
        column.addLayout(line)
        on_theme_changed(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self.model.setMinimumWidth(scaled(80))
        if self._shown is not None:
            self.show_partition(self._shown)

    def set_models(self, models: list[ModelChoice], chosen: str) -> None:
        """The models that can summarize."""
        self._models = {model.id: model for model in models}
        self.model.set_models([(model.id, model.label) for model in models], chosen)
        self._show_price()

    def chosen_model(self) -> str:
        """The id of the model chosen; empty when there is none."""
        return str(self.model.currentData() or "")

    def show_partition(self, shown: Partition) -> None:
        """What would be freed."""
        self._shown = shown
        self.summarize.setEnabled(is_possible(shown) and bool(self.chosen_model()))
        before, after = shown.context_estimate, shown.tokens_after_estimate
        self.figures.setToolTip(beyond_words(shown))
        if not is_possible(shown):
            self.caption.setText("There is nothing to compact")
            self.figures.setText(short(before))
            self.figures.setAccessibleName(f"The entries take {full(before)} tokens")
            return
        self.caption.setText("If you compact now, the entries take (the summary's size is a guess)")
        small = small_font().pointSizeF()
        self.figures.setText(
            f"{short(before)} → <b>{short(after)}</b> "
            f'<span style="font-size:{small}pt">frees {short(before - after)}</span>'
        )
        self.figures.setAccessibleName(
            f"From {full(before)} to about {full(after)} tokens, frees {full(before - after)}"
        )

    def show_request_size(self, tokens: int, answer_tokens: int) -> None:
        """Tokens of the requests (-1: not known yet) and of the longest answer."""
        self._request_tokens, self._answer_tokens = tokens, answer_tokens
        self._show_price()

    def _show_price(self) -> None:
        model, tokens = self._models.get(self.chosen_model()), self._request_tokens
        if model is None:
            self.price.setText("")
            return
        known = tokens >= 0 or model.input_price == 0
        price = price_text(
            max(tokens, 0), self._answer_tokens, model.input_price, model.output_price
        )
        self.price.setText(price if known else "")
        self.price.setToolTip("What the call may cost at most, by the model's listed prices")

    def _model_chosen(self, model: str | None) -> None:
        if model:
            self._show_price()
            self.model_chosen.emit(model)

    def press(self) -> None:
        """Ask for a draft, as the button does."""
        if self.summarize.isEnabled():
            self.summarize_asked.emit()

"""Parts of the first page: budget, rules of the cut, instructions, and outcome."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from explorer.audit.provenance import context_known, weight_known, window_known
from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.triggers import unfit_words
from explorer.models.catalogue import ModelInfo
from explorer.services.effective_rules import next_mark
from ui.audit.known import MARK, ProvenanceBadge, reason
from ui.compaction.words import (
    beyond_words,
    is_possible,
    place_words,
    plain_reason,
    price_text,
    provider_words,
    reason_html,
    sum_words,
)
from ui.theme import (
    S4,
    S8,
    S12,
    S16,
    bind_font,
    on_theme_changed,
    scaled,
    set_tone,
    small_font,
    ui_font,
)
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import full, short
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, ClickLabel, LinkButton, RichLabel, SteadyCaption
from ui.widgets.model_box import ModelBox
from ui.widgets.number_slider import NumberSlider
from ui.widgets.panels import column_in, column_of, enable_unless, row
from ui.widgets.swatch import BudgetBar, Legend, Share, beyond_share
from ui.widgets.terms import PRUNED_NOTES, explain

SHARES = (
    (Verdict.SUMMARIZED_EARLIER, "summarized earlier"),
    (Verdict.TO_SUMMARIZE, "to summarize"),
    (Verdict.TURN_PREFIX, "turn prefix"),
    (Verdict.KEPT, "kept"),
    (Verdict.PINNED, "pinned"),
    (Verdict.PRUNED, PRUNED_NOTES),
    (Verdict.LOST, "lost"),
    (Verdict.OMITTED, "omitted"),
    (Verdict.NOT_SENT, "not sent"),
)
OUTSIDE = (Verdict.SUMMARIZED_EARLIER, Verdict.NOT_SENT, Verdict.LOST, Verdict.OMITTED)
"""Verdicts of entries that take no room in the context."""


ALWAYS = (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.KEPT)


def shares_of(shown: Partition, seen: Collection[Verdict] = ()) -> list[Share]:
    """What the path's entries are divided into, with the tokens of each part. What a slider changes
    is always among them, as what was ``seen`` before it is, with room for what it may come to, so
    that the legend keeps its height while one is moved. What takes no room in the context is not in
    the bar, stands last and says so."""
    divided = sum(shown.tokens[verdict] for verdict in ALWAYS)
    found = [
        Share(
            str(int(verdict)), title, shown.tokens[verdict], int(verdict),
            note="not in the bar" if verdict in OUTSIDE else "",
            most=divided if verdict in ALWAYS else 0,
        )
        for verdict, title in SHARES
        if shown.tokens[verdict] or verdict in ALWAYS or verdict in seen
    ]  # fmt: skip
    return sorted(found, key=lambda share: share.verdict in OUTSIDE)


class BudgetPart(QWidget):
    """One count of the entries, everywhere in the panel; the provider's beside it."""

    filter_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = SteadyCaption(self)
        self.bar = BudgetBar(self)
        self.legend = Legend(self)
        self.legend.filter_changed.connect(self.filter_changed)
        self.badge = ProvenanceBadge(self, "Context")
        self.provider_badge = ProvenanceBadge(self, "The provider's count")
        self.provider = SteadyCaption(self)
        self.smaller = Caption(parent=self, wraps=True)
        """Stands below the sliders, which it comes and goes with."""
        self.smaller.hide()
        self._seen: set[Verdict] = set()
        """What was in the legend since the session was opened."""
        self._window, self._model_window = 0, 0
        self._unfit = ""
        self._heading_parts = ["", "", ""]
        self._counted = ""
        self._is_window_known = True
        column = column_in(self, S4, (S16, S12, S16, S12))
        column.addLayout(row(self.heading, self.badge, wide=self.heading))
        for part in (self.bar, self.legend):
            column.addWidget(part)
        column.addLayout(row(self.provider, self.provider_badge, wide=self.provider))

    def begin_anew(self) -> None:
        """Take no room for what another session had."""
        self._seen.clear()
        self.heading.begin_anew()
        self.provider.begin_anew()

    def show_partition(self, shown: Partition, profile: Profile, settings: Settings) -> None:
        """Show how full the window is, and what of it is what."""
        window = self._window = settings.context_window
        self._unfit = unfit_words(profile, settings, self._model_window)
        self._tell_smaller()
        mark = next_mark(profile, settings, None)
        entries, set_here = short(shown.context_estimate), short(window)
        if shown.tokens_before > window and self._model_window <= window:
            # The session itself shows that its window is a larger one.
            taken, set_here = entries, f"window unknown, {set_here} set here"
        else:
            taken, set_here = f"{entries} of {set_here}", ""
        self._heading_parts = [
            f"Entries in the context: {taken} tokens ({shown.counted_by})", set_here,
            f"threshold {'about ' if mark.about else ''}{short(mark.tokens)}",
        ]  # fmt: skip
        self._counted = full(shown.context_estimate)
        self._tell_heading()
        shares = shares_of(shown, self._seen)
        self._seen.update(Verdict(share.verdict) for share in shares)
        in_window = [share for share in shares if share.tokens and share.verdict not in OUTSIDE]
        if shown.tokens_beyond:
            in_window.insert(0, beyond_share(shown.tokens_beyond))
            shares.insert(0, in_window[0])
        self.bar.set_budget(in_window, window, max(0, window - mark.tokens))
        self.legend.set_shares(shares)
        counted = weight_known(shown.counted_by == "tokenizer")
        whole = context_known(shown.preparation.tokens_source)
        self.badge.set_known(counted, "Entries in the context")
        words = provider_words(shown)
        self.provider.setText(words)
        explain(self.provider, "beyond the entries", beyond_words(shown))
        self.provider.setVisible(bool(words))
        self.provider_badge.set_known(whole if words else None)

    def set_model_window(self, window: int, is_window_known: bool) -> None:
        """Set the window of the model that answers, in tokens; 0 where it is not known.
        ``is_window_known``: else the one that is shown is assumed."""
        self._model_window, self._is_window_known = window, is_window_known
        self._tell_smaller()
        self._tell_heading()

    def _tell_heading(self) -> None:
        taken, set_here, threshold = self._heading_parts
        known = window_known(self._is_window_known)
        is_inferred = taken and not set_here and not self._is_window_known
        words = "window inferred" if is_inferred else set_here
        self.heading.setText(" · ".join(filter(None, (taken, words, threshold))))
        explain(
            self.heading, "threshold",
            f"{self._counted} tokens. All figures of this tab are counted alike."
            + (f" {reason('Window', known)}" if is_inferred else ""),
        )  # fmt: skip

    def _tell_smaller(self) -> None:
        """Why the gauge counts by another window than the one that is tried here."""
        words = [self._unfit] if self._unfit else []
        if 0 < self._model_window < self._window:
            words.append(
                f"The agent's model takes {short(self._model_window)} tokens at most: the "
                "gauge, and what happens by itself, go by that."
            )
        self.smaller.setText(" ".join(words))
        self.smaller.setVisible(bool(words))


class RulesPart(QWidget):
    """Tells which settings the person wants; shows those in force."""

    settings_changed = Signal(object)
    settled = Signal()
    """A size was changed, and its slider is let go."""
    profile_chosen = Signal(str)
    rules_asked = Signal()
    compare_asked = Signal()
    entry_requested = Signal(int)
    automatic_cut_asked = Signal()
    place_asked = Signal(int)
    """The entry at which it is to be previewed."""
    prompts_asked = Signal()
    lesson_asked = Signal()
    """Why the cut falls where it does is to be taught."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.settings = Settings()
        self.profile = ChoiceBox(self)
        self.profile.setAccessibleName("Profile: the rules that compaction follows")
        self.profile.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.profile.activated.connect(
            lambda at: self.profile_chosen.emit(self.profile.itemData(at))
        )
        self._label = QLabel("Pro&file", self)
        self._label.setBuddy(self.profile)
        # Made in the order in which they stand, which is that of the Tab key.
        self.keep = NumberSlider("&Keep recent", 0, 2_000_000, self)
        self.rounds = NumberSlider("&Keep rounds", 1, 200, self)
        self.reserve = NumberSlider("&Reserve", 0, 500_000, self)
        self.window_size = NumberSlider("&Window", 8_000, 2_000_000, self)
        self.rules = LinkButton("Ru&les ▸", self)
        self.rules.setToolTip("What the profile stands for, and its rules, one sentence each")
        self.rules.clicked.connect(self.rules_asked)
        self.compare = LinkButton("Co&mpare profiles ▸", self)
        self.compare.setToolTip("What every profile would do here, side by side")
        self.compare.clicked.connect(self.compare_asked)
        self.prompts = LinkButton(parent=self)
        self.prompts.clicked.connect(self.prompts_asked)
        self.show_prompts_changed(())
        explain(self.keep, "kept tail")
        explain(self.rounds, "round")
        explain(self.reserve, "reserve")
        explain(self.window_size, "context window")
        explain(self._label, "profile")
        self.place = ClickLabel(self)
        bind_font(self.place, small_font)
        set_tone(self.place, "dim")
        self.why = ClickLabel(self)
        bind_font(self.why, small_font)
        for label in (self.place, self.why):
            label.link.connect(self._follow)
        self._at = self._leaf = self._selected = -1
        self.learn = LinkButton("Why here? ▸", self)
        self.learn.setToolTip("Opens the lesson on the cut, at this one; Esc leads back here")
        self.learn.clicked.connect(self.lesson_asked)
        self.agent = ""
        """Who wrote the session, where no profile has its rules."""
        self._rules_used = ""
        self._lay_out()
        on_theme_changed(self._align)
        self._align()

    def _lay_out(self) -> None:
        self._column = column = column_in(self, S4, (S16, S12, S16, S12))
        line = row(self._label, self.profile, wide=self.profile)
        links = self._links = wrapping_row(
            self.rules, self.compare, self.prompts, across=S12, down=0
        )
        column.addLayout(line)
        for slider in self._sliders():
            slider.changed.connect(self._size_changed)
            slider.rested.connect(self.settled)
            column.addWidget(slider)
        # Above the sentence, whose lines are more and fewer as the sliders move.
        column.addLayout(links)
        column.addLayout(row(self.place, self.learn, wide=self.place))
        column.addWidget(self.why)

    def add_note(self, note: QWidget) -> None:
        """Have a sentence on the sizes below them."""
        self._column.insertWidget(self._column.indexOf(self._links) + 1, note)

    def set_low(self, is_low: bool) -> None:
        """Stand close together where the reason of the cut would have no room else."""
        self._column.setSpacing(0 if is_low else S4)
        self._column.setContentsMargins(S16, S8 if is_low else S12, S16, S12)

    def _sliders(self) -> tuple[NumberSlider, ...]:
        return (self.keep, self.rounds, self.reserve, self.window_size)

    def _align(self) -> None:
        width = max(slider.label_width() for slider in self._sliders()) + S8
        for slider in self._sliders():
            slider.set_label_width(width)
        self._label.setFixedWidth(width)

    def changeEvent(self, event: QEvent, /) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._align()

    # what is shown -----------------------------------------------------------------------------

    def show_profile_box(self, shown: bool) -> None:
        """Have the profiles to choose from here, or not: the header has them where it has room."""
        self._label.setVisible(shown)
        self.profile.setVisible(shown)

    def offer(self, profiles: Mapping[str, Profile], chosen: str) -> None:
        """Offer the profiles that can be chosen, by name."""
        self.profile.blockSignals(True)
        self.profile.clear()
        for name, profile in profiles.items():
            self.profile.addItem(profile.title, name)
        self.profile.setCurrentIndex(self.profile.findData(chosen))
        self.profile.blockSignals(False)

    def show_settings(self, profile: Profile, settings: Settings, changed: bool) -> None:
        """Put the controls where these are, without a signal."""
        self.settings = settings
        self.profile.setCurrentIndex(self.profile.findData(profile.name))
        self.rules.setText("Ru&les (changed) ▸" if changed else "Ru&les ▸")
        by_rounds = profile.cut_unit == "rounds"
        self.keep.setVisible(not by_rounds)
        self.rounds.setVisible(by_rounds)
        self.rounds.set_value(settings.keep_rounds)
        self.reserve.set_maximum(settings.context_window)
        self.reserve.set_value(settings.reserve_tokens)
        # One that a file sets beyond its end is shown as it is.
        room = settings.context_window - settings.reserve_tokens
        self.keep.set_maximum(max(room, settings.keep_recent_tokens))
        self.keep.set_value(settings.keep_recent_tokens)
        self.window_size.set_value(settings.context_window)

    def show_prompts_changed(self, titles: Sequence[str]) -> None:
        """Say whether the profile's summaries are asked for in other words than it came with;
        ``titles``: of the texts that the user changed."""
        self.prompts.setText("Prompt changed ▸" if titles else "Prompts ▸")
        self.prompts.setToolTip(
            f"Not as this profile came: {', '.join(titles)}"
            if titles
            else "The words that ask for the summary, to be read and changed"
        )

    def show_partition(self, shown: Partition, by_hand: bool, leaf: int) -> None:
        """Say where it is previewed, and why the cut falls where it falls."""
        self._at, self._leaf = shown.preparation.leaf, leaf
        has_cut = isinstance(shown.preparation, Preparation)
        used = f" · {self.profile.currentText()}'s rules, not its own"
        self._rules_used = used if self.agent and has_cut else ""
        is_other = f"No profile has the rules of {self.agent}, which may cut elsewhere."
        self.place.setToolTip(is_other if self._rules_used else "")
        self._show_place()
        self.learn.setVisible(not by_hand and has_cut)
        self.why.set_words(reason_html(shown, by_hand), plain_reason(shown, by_hand))

    def show_selected(self, entry: int) -> None:
        """Offer the preview at the entry that is selected; -1 for none."""
        self._selected = entry
        self._show_place()

    def _show_place(self) -> None:
        where, other, link = place_words(self._at, self._leaf, self._selected)
        html, plain = where, where
        if other >= 0:
            html, plain = f'{where}; <a href="at:{other}">{link}</a>', f"{where}; {link}"
        self.place.set_words(html + escape(self._rules_used), plain + self._rules_used)
        self.place.setVisible(self._leaf >= 0)

    # what was done -----------------------------------------------------------------------------

    def _size_changed(self) -> None:
        window = self.window_size.value()
        reserve = min(self.reserve.value(), window)
        if reserve != self.reserve.value() or self.sender() is self.window_size:
            self.reserve.set_maximum(window)
            self.reserve.set_value(reserve)
        if self.sender() in (self.reserve, self.window_size):
            self.keep.set_maximum(window - reserve)
        self.settings = Settings(window, reserve, self.keep.value(), self.rounds.value())
        self.settings_changed.emit(self.settings)

    def _follow(self, link: str) -> None:
        kind, _, value = link.partition(":")
        if kind == "entry":
            self.entry_requested.emit(int(value))
        elif kind == "at":
            self.place_asked.emit(int(value))
        else:
            self.automatic_cut_asked.emit()


FEWEST, MOST = 1, 6
"""Lines that it shows at least, and at most before it scrolls."""
_FRAME = 26
"""Pixels around the lines: the frame, its padding and the document's margin."""


class InstructionsBox(QPlainTextEdit):
    """Tab leaves it; it is as high as its text, within bounds."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("What must not be lost")
        self.setAccessibleName("Instructions added to the prompt")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        on_theme_changed(self._fit)
        self._fit()

    def _fit(self) -> None:
        # A plain document is measured in lines, those that are wrapped counted too.
        lines = max(FEWEST, min(MOST, round(self.document().size().height())))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + _FRAME)

    def add(self, text: str) -> None:
        """Add a paragraph after what is there, and select it; what is there already is only
        selected. The first of it is visible."""
        before = self.toPlainText().rstrip()
        start = before.find(text)
        if start < 0:
            start = len(before) + 2 if before else 0
            self.setPlainText(f"{before}\n\n{text}" if before else text)
        cursor = self.textCursor()
        cursor.setPosition(start + len(text))
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()


class OutcomePart(QWidget):
    """The model, what its call may cost, and above them before and after in one count."""

    summarize_asked = Signal()
    model_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models: dict[str, ModelInfo] = {}
        self._shown: Partition | None = None
        self.refused = ""
        """Why no summary can be made of this session; empty where one can."""
        self._request_tokens, self._answer_tokens = -1, 0
        self._is_low = False
        self.caption = Caption("If you compact now", self, wraps=True)
        self.figures = RichLabel(self)
        self.figures.setWordWrap(True)
        bind_font(self.figures, lambda: ui_font(4))
        self.summarize = QPushButton("&Summarize", self)
        self.summarize.setProperty("kind", "primary")
        self.summarize.setToolTip("Make a draft; nothing is stored before it is committed")
        self.summarize.clicked.connect(self.press)
        self.model = ModelBox(self, more=True)
        self.model.setAccessibleName("Model that writes the summary")
        self.model.setProperty("tight", True)
        self.model.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.model.activated.connect(lambda at: self._model_chosen(self.model.itemData(at)))
        self.price = Caption(parent=self)
        column = column_in(self, 0)
        column.addLayout(
            column_of(self.caption, self.figures, spacing=2, margins=(S16, S8, S16, 0))
        )
        line = row(self.summarize, self.model, self.price, wide=self.model)
        line.setContentsMargins(S16, S8, S16, S12)
        column.addLayout(line)
        on_theme_changed(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self.model.setMinimumWidth(scaled(98))
        if self._shown is not None:
            self.show_partition(self._shown)

    def set_low(self, is_low: bool) -> None:
        """Leave what the figures are made of to their tip, where they would have no room else."""
        self._is_low = is_low
        if self._shown is not None:
            self.show_partition(self._shown)

    def set_models(self, models: list[ModelInfo], chosen: str) -> None:
        """Set the models that can summarize."""
        self._models = {model.id: model for model in models}
        self.model.set_models([(model.id, model.label) for model in models], chosen)
        self._show_price()

    def chosen_model(self) -> str:
        """The id of the model chosen; empty when there is none."""
        return str(self.model.currentData() or "")

    def show_partition(self, shown: Partition) -> None:
        """Show what would be freed."""
        self._shown = shown
        missing = "" if self.chosen_model() else "Choose a model that writes the summary first."
        possible = is_possible(shown)
        missing = missing if possible else "There is nothing to compact."
        enable_unless(self.summarize, self.refused or missing)
        before, after = shown.whole_before, shown.whole_after
        # As in the header: only what a provider counted, and all of it, is exact.
        size = shown.preparation.size
        is_about = size.beyond or (size.usage_tokens and size.trailing_tokens)
        taken = f"{MARK if is_about else ''}{short(before)}"
        tip = f"The summary's size is a guess. {beyond_words(shown)}"
        for label in (self.caption, self.figures):
            label.setToolTip(tip)
        self.caption.setVisible(not (self._is_low and possible))
        if not is_possible(shown):
            self.caption.setText("There is nothing to compact")
            self.figures.setText(taken)
            self.figures.setAccessibleName(f"The context takes {full(before)} tokens")
            return
        guess = shown.tokens_after_estimate - shown.tokens_kept
        self.caption.setText(f"If you compact now: {sum_words(shown, guess, guessed=True)}")
        if self._is_low:
            self.figures.setToolTip(f"{self.caption.text()}. {tip}")
        small = small_font().pointSizeF()
        self.figures.setText(
            f"{taken} → <b>{MARK}{short(after)}</b> "
            f'<span style="font-size:{small}pt">frees {MARK}{short(before - after)}</span>'
        )
        self.figures.setAccessibleName(
            f"From {full(before)} to about {full(after)} tokens, frees about {full(before - after)}"
        )

    def show_request_size(self, tokens: int, answer_tokens: int) -> None:
        """Show tokens of the requests (-1: not known yet) and of the longest answer."""
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

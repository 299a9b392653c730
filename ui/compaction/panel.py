"""The panel of compaction: what a compaction would do, its drafts, and its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.requests import purposes_of
from explorer.models.catalogue import ModelInfo
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.edits import ShapedRow
from explorer.session.tree import SessionTree
from ui.compaction import notices
from ui.compaction.automatic_bar import AutomaticBar
from ui.compaction.draft_page import DraftPage
from ui.compaction.notices import LeafNoticeStrip
from ui.compaction.request_window import RequestsPart, RequestWindow
from ui.compaction.rules_page import RulesPage
from ui.compaction.setup_page import SetupPage
from ui.compaction.words import is_possible
from ui.widgets.notice import Notice
from ui.widgets.panels import EmptyState, column_in, reach_behind


class ManualCut:
    """A position of the path to the leaf, or none. Each leaf has its own, so that the undo of a
    compaction comes back to the one before it."""

    def __init__(self) -> None:
        self.position: int | None = None
        self._leaf = -1
        """The leaf of the path on which it was chosen."""
        self._by_leaf: dict[int, int] = {}

    def choose(self, position: int | None, leaf: int) -> None:
        """Cut at a position of the path to a leaf; None: where the settings put it."""
        self.position, self._leaf = position, leaf
        if position is None:
            self._by_leaf.pop(leaf, None)
        else:
            self._by_leaf[leaf] = position

    def forget(self) -> None:
        """Cut where the settings put it, at every leaf."""
        self.position = None
        self._by_leaf.clear()

    def follow(self, tree: SessionTree, leaf: int) -> None:
        """Take the place that was chosen at the new leaf; else keep that of the old one where the
        path goes on from there without a compaction."""
        if leaf == self._leaf:
            return
        place = self._by_leaf.get(leaf)
        if place is None and self.position is not None and self._goes_on(tree, leaf):
            place = self._by_leaf[leaf] = self.position
        self.position, self._leaf = place, leaf

    def _goes_on(self, tree: SessionTree, leaf: int) -> bool:
        path = tree.path(leaf)
        at = path.position(self._leaf)
        return at >= 0 and not any(entry in tree.columns.compactions for entry in path[at + 1 :])


class CompactionPanel(QWidget):
    """The inspector's tab for compactions."""

    partition_changed = Signal(object)
    """The partition shown (None: there is no document); for the map."""
    entry_requested = Signal(int)
    drafts_changed = Signal()
    settings_changed = Signal(object)
    """``Settings`` that the person chose."""
    profile_chosen = Signal(str)
    """The name of another profile."""
    profile_changed = Signal(object)
    """A ``Profile`` of which the person changed a rule."""
    model_chosen = Signal(str)
    models_requested = Signal()
    """All models, with their keys and servers, are to be shown."""
    prompts_requested = Signal()
    """The prompt templates of the profile are to be shown."""
    lesson_requested = Signal()
    """A lesson on the cut that is shown is to be opened."""
    unpin_requested = Signal(int)
    take_in_requested = Signal(int)
    """An entry is no longer to be omitted."""
    budget_chosen = Signal(int)
    """Tokens of the user's messages that are kept."""
    entry_menu_requested = Signal(int, QPoint)
    """Entry, and where its menu opens on the screen."""
    summarize_requested = Signal(object, str, str)
    """Partition, instructions, model."""
    cancel_requested = Signal()
    commit_requested = Signal(object, str, object)
    """Draft, text, and the leaf that is left for it (None for none)."""
    discard_requested = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()
    compare_asked = Signal()
    """Show what every profile would do."""
    profiles_asked = Signal()
    """Show all profiles."""
    audit_asked = Signal(str)
    """``fidelity`` or ``compare``, of the draft that is shown."""
    keep_asked = Signal(object)
    """Store this ``Profile`` as a user profile."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self._at: int | None = None
        self._cut = ManualCut()
        self._profile: Profile = PROFILES["explorer"]
        self._unchanged = self._profile
        """The profile in force without the rules that the session changed."""
        self._settings = Settings.of(self._profile)
        self._shown: Partition | None = None
        self._drafted: Partition | None = None
        self._above = LeafNoticeStrip(self)
        self._pages = QStackedWidget(self)
        self.setup = SetupPage(self._pages)
        self._rules: RulesPage | None = None
        self._draft: DraftPage | None = None
        self.automatic = AutomaticBar(self)
        self.empty = EmptyState(
            "compaction", "No session is open", "Open a session to see what a compaction of it "
            "would summarize and what it would keep.", parent=self._pages,
        )  # fmt: skip
        self.blank = QWidget(self._pages)
        """Between two documents."""
        for page in (self.empty, self.blank, self.setup):
            self._pages.addWidget(page)
        column = column_in(self, 0)
        column.addWidget(self.automatic)
        column.addWidget(self._above)
        column.addWidget(self._pages, 1)
        self._pages.currentChanged.connect(lambda _at: self._move_notice())
        self._exact = RequestsPart(self, self._requested)
        self._exact.measured.connect(self.setup.show_request_size)
        self._exact.entry_requested.connect(self.entry_requested)
        self._connect()
        self._profiles: Mapping[str, Profile] = PROFILES
        self.setup.offer(PROFILES)
        self._show_settings()

    @property
    def notice(self) -> LeafNoticeStrip:
        """On the page with the controls it stands below them, where it moves none; else above the
        page, whose buttons are at its foot."""
        return self.setup.notice if self._pages.currentWidget() is self.setup else self._above

    def _move_notice(self) -> None:
        now = self.notice
        now.take(self._above if now is self.setup.notice else self.setup.notice)

    # The parts below are made when they are first wanted: the window is painted sooner.

    @property
    def rules(self) -> RulesPage:
        """The page of rules."""
        if self._rules is None:
            rules = self._rules = RulesPage(self._pages)
            rules.profile_changed.connect(self._rule_changed)
            rules.closed.connect(lambda: self._pages.setCurrentWidget(self.setup))
            rules.profiles_asked.connect(self.profiles_asked)
            rules.keep_asked.connect(lambda: self.keep_asked.emit(self._profile))
            self._show_rules()
            self._pages.addWidget(rules)
            reach_behind(self.setup.model, rules)
        return self._rules

    @property
    def draft(self) -> DraftPage:
        """The page of drafts."""
        if self._draft is None:
            draft = self._draft = DraftPage(self._pages)
            draft.cancel_asked.connect(self.cancel_requested)
            draft.commit_asked.connect(
                lambda made, text: self.commit_requested.emit(made, text, draft.leaving)
            )
            draft.discard_asked.connect(self._discard)
            draft.again_asked.connect(lambda: self._pages.setCurrentWidget(self.setup))
            draft.entry_requested.connect(self.entry_requested)
            draft.audit_asked.connect(self.audit_asked)
            draft.drafts_changed.connect(self.drafts_changed)
            self._pages.addWidget(draft)
            reach_behind(self.setup.model, draft.sources, draft)
        return self._draft

    @property
    def requests(self) -> RequestWindow:
        """The window of the exact requests."""
        return self._exact.window

    def _connect(self) -> None:
        setup = self.setup
        setup.settings_changed.connect(self._settings_chosen)
        setup.profile_chosen.connect(self._profile_named)
        setup.rules_asked.connect(self.show_rules_page)
        setup.compare_asked.connect(self.compare_asked)
        setup.entry_requested.connect(self.entry_requested)
        setup.automatic_cut_asked.connect(lambda: self.set_cut(None))
        setup.place_asked.connect(self.set_at)
        setup.request_asked.connect(self.show_requests)
        setup.summarize_asked.connect(self.summarize)
        setup.model_chosen.connect(self._model_picked)
        setup.outcome_part.model.more_asked.connect(self.models_requested)
        setup.following.prompts_asked.connect(self.prompts_requested)
        setup.following.lesson_asked.connect(self.lesson_requested)
        setup.shaping.unpin_asked.connect(self.unpin_requested)
        setup.shaping.take_in_asked.connect(self.take_in_requested)
        setup.shaping.budget_chosen.connect(self.budget_chosen)
        setup.entry_menu_asked.connect(self.entry_menu_requested)
        setup.instructions_changed.connect(self._exact.measure_soon)

    # what is previewed -------------------------------------------------------------------------

    @property
    def partition(self) -> Partition | None:
        """What is shown."""
        return self._shown

    def leave(self) -> None:
        """Show nothing until another document is set."""
        self.set_document(None)
        self._pages.setCurrentWidget(self.blank)

    def set_document(self, document: Document | None) -> None:
        """Preview a compaction of a document at its leaf."""
        is_other = document is not self._document
        if is_other:
            if self._draft is not None:
                self._draft.clear()
            self._exact.close()
            self.notice.dismiss()
            self._cut.forget()
            self._drafted = None
            self.setup.budget.begin_anew()
        self._document, self._at = document, None
        self.setup.outcome_part.refused = document.read_only if document is not None else ""
        if document is None:
            self._shown = None
            self.setup.forget()
            self._pages.setCurrentWidget(self.empty)
            self.partition_changed.emit(None)
            return
        if is_other:
            self._pages.setCurrentWidget(self.setup)
        self.refresh()

    def set_at(self, at: int | None) -> None:
        """Preview at another entry; None is the leaf, wherever it moves."""
        if self._document is not None and at == self._document.leaf:
            at = None
        if at != self._at:
            self._at = at
            self._cut.forget()
            self.refresh()

    def set_rules(
        self, profile: Profile, settings: Settings, unchanged: Profile | None = None
    ) -> None:
        """Follow a profile and sizes that were chosen in another view. ``unchanged``: the profile
        without the rules that the session changed, where it is another."""
        now = (profile, settings, unchanged or profile)
        if now == (self._profile, self._settings, self._unchanged):
            return
        self._profile, self._settings, self._unchanged = now
        self._show_settings()
        self._show_rules()
        self.refresh()

    def show_rules_page(self) -> None:
        """The rules of the profile, to be changed one by one."""
        if self._document is not None:
            self._pages.setCurrentWidget(self.rules)

    def _show_rules(self) -> None:
        if self._rules is not None:
            self._rules.show_profile(self._profile, self._unchanged, PROFILES["explorer"])

    def _show_settings(self) -> None:
        changed = self._profile != self._unchanged
        self.setup.show_settings(self._profile, self._settings, changed)

    def set_profiles(self, profiles: Mapping[str, Profile]) -> None:
        """Set the profiles that can be chosen, by name."""
        self._profiles = profiles
        self.setup.offer(profiles)
        self._show_settings()
        self._show_rules()

    def set_cut(self, position: int | None) -> None:
        """Cut at a position of the path (None: where the settings put it)."""
        self._cut.choose(position, -1 if self._document is None else self._leaf(self._document))
        self.refresh()

    def _leaf(self, document: Document) -> int:
        return document.leaf if self._at is None else self._at

    def set_models(self, models: Sequence[ModelInfo], chosen: str = "") -> None:
        """Set the models that can write the summary."""
        self.setup.set_models(list(models), chosen)
        if self._shown is not None:
            self.refresh()

    def set_model_window(self, tokens: int, is_window_known: bool = True) -> None:
        """Set the context window of the agent's model; 0 where it is not known.
        ``is_window_known``: else the one that counts here is assumed."""
        self.setup.budget.set_model_window(tokens, is_window_known)

    def show_prompts_changed(self, titles: Sequence[str]) -> None:
        """Show the prompt templates of the profile that the user changed."""
        self.setup.following.show_prompts_changed(titles)

    def show_shaping(self, rows: Sequence[ShapedRow], previews: Sequence[str], tokens: int) -> None:
        """Show what is pinned and omitted, and the tokens of the user's messages that are kept."""
        self.setup.shaping.show_rows(rows, previews, tokens)

    def show_entry(self, entry: int) -> None:
        """Mark an entry in the ledger, with the reason of its verdict."""
        self.setup.show_entry(entry)

    def refresh(self) -> None:
        """Compute the partition anew and show it: after entries, counts or the leaf changed."""
        document = self._document
        if document is None:
            return
        self._cut.follow(document.tree, self._leaf(document))
        self.notice.follow(document.leaf)
        cut = self._cut.position
        shown = document.compaction.preview(self._at, self._profile, self._settings, cut)
        if cut is not None and not isinstance(shown.preparation, Preparation):
            # A cut that is no longer valid falls back to the one that the settings give.
            self._cut.forget()
            shown = document.compaction.preview(self._at, self._profile, self._settings, None)
        self._shown = shown
        self.setup.show_partition(document, shown, self.cut is not None)
        if self._draft is not None:
            self._draft.refresh()
        self.partition_changed.emit(shown)
        self._exact.measure_soon()

    def _settings_chosen(self, settings: Settings) -> None:
        self._settings = settings
        self._cut.forget()
        self.refresh()
        self.settings_changed.emit(settings)

    def _profile_named(self, name: str) -> None:
        self._profile = self._unchanged = self._profiles[name]
        self._settings = Settings.of(self._profile)
        self._cut.forget()
        self._show_settings()
        self._show_rules()
        self.refresh()
        self.profile_chosen.emit(name)

    def _rule_changed(self, profile: Profile) -> None:
        self._profile = profile
        self._show_settings()
        self.refresh()
        self.profile_changed.emit(profile)

    def _model_picked(self, model: str) -> None:
        """Build the requests anew: their output limit depends on the model."""
        self._exact.measure_soon()
        if self._exact.is_shown:
            self.show_requests()
        self.model_chosen.emit(model)

    # the request -------------------------------------------------------------------------------

    def instructions(self) -> str:
        """What the person adds to the prompt."""
        return self.setup.instructions.toPlainText().strip()

    def set_instructions(self, text: str) -> None:
        """Show the session's instructions."""
        self.setup.instructions.setPlainText(text)

    def take_instructions(self, text: str) -> None:
        """Empty the box where it holds what a compaction was made with: it was for that one, and
        the next must not take it along unseen."""
        if text and text == self.instructions():
            self.set_instructions("")
            self.add_to_notice("Its instructions are no longer in the box; Undo puts them back.")

    def chosen_model(self) -> str:
        """The model that is to write the summary."""
        return self.setup.chosen_model()

    def _requested(self) -> tuple[Document | None, Partition | None, str, str]:
        """What a request would be built from."""
        return self._document, self._shown, self.instructions(), self.setup.chosen_model()

    def show_requests(self) -> None:
        """Open the exact requests."""
        if self._document is not None and self._shown is not None and is_possible(self._shown):
            self._exact.show()

    # the draft ---------------------------------------------------------------------------------

    def summarize(self) -> None:
        """Ask for a draft of what is shown, as the button does."""
        if self._shown is None or not is_possible(self._shown):
            return
        self.notice.dismiss()
        self._drafted = self._shown
        model = self.setup.chosen_model()
        self.summarize_requested.emit(self._shown, self.instructions(), model)

    def draft_started(self) -> None:
        """Show that the requests were sent."""
        shown = self._drafted = self._drafted or self._shown
        prepared = shown.preparation if shown is not None else None
        purposes = purposes_of(prepared) if isinstance(prepared, Preparation) else ["history"]
        self._pages.setCurrentWidget(self.draft)
        self.draft.begin(self.setup.chosen_model(), list(purposes))

    def watch(self, model: str, purposes: Sequence[str], message: str) -> None:
        """Show a running summary that was not started here; the focus stays where it is."""
        self.notice.dismiss()
        self._pages.setCurrentWidget(self.draft)
        self.draft.watch(model, list(purposes), message)

    def watched(self, notice: Notice | None) -> None:
        """Show how an automatic compaction ended; None where another view reports it."""
        self._end_draft(takes_focus=False)
        if notice is not None:
            self._tell(notice)

    @property
    def at(self) -> int | None:
        """The entry at which it is previewed; None for the leaf."""
        return self._at

    @property
    def cut(self) -> int | None:
        """The position on the path of a cut that was chosen by hand."""
        return self._cut.position

    def draft_text(self, delta: str, purpose: str = "history") -> None:
        """Append a piece of an answer."""
        self.draft.streaming.add(purpose, delta)

    def draft_waits(self, sentence: str) -> None:
        """Show why there is no answer yet."""
        self.draft.streaming.tell(sentence)

    def draft_restarted(self, purpose: str = "history") -> None:
        """Discard the answer so far: it is requested again."""
        self.draft.streaming.restart(purpose)

    def draft_finished(
        self,
        draft: Draft,
        shown: Partition | None = None,
        takes_focus: bool = True,
        text: str | None = None,
    ) -> None:
        """The draft is there. ``shown``: what it was made from, where that was not seen here;
        ``text``: as it was edited before."""
        shown = shown or self._drafted or self._shown
        if self._document is not None and shown is not None:
            self._pages.setCurrentWidget(self.draft)
            self.draft.finish(self._document, draft, shown, takes_focus, text)

    def draft_failed(self, message: str, details: str = "") -> None:
        """Show why no draft was made."""
        self._end_draft()
        self.notice.show_notice(notices.failed(message, details or self.draft.streaming.written()))

    def draft_cancelled(self) -> None:
        """Show that the draft was stopped."""
        self._end_draft()
        self.notice.show_notice(notices.STOPPED)

    def _end_draft(self, takes_focus: bool = True) -> None:
        self.draft.streaming.end()
        if self.has_drafts:
            self.draft.show_drafts(takes_focus)
            return
        self._pages.setCurrentWidget(self.setup)
        if takes_focus:
            self.setup.summarize.setFocus()

    @property
    def has_drafts(self) -> bool:
        """Drafts are there to be read, edited and committed."""
        return bool(self.drafts())

    def drafts(self) -> list[tuple[Draft, Partition, str]]:
        """The drafts that can be committed, in the order in which they were made, what each was
        made from, and their texts as they are edited by now."""
        return self._draft.drafts() if self._draft is not None else []

    def texts(self) -> list[tuple[Draft, str]]:
        """The drafts with their texts as edited."""
        return [(draft, text) for draft, _, text in self.drafts()]

    @property
    def current_draft(self) -> Draft | None:
        """The draft that is shown."""
        return self._draft.current if self._draft is not None else None

    def set_up(self) -> SetupPage:
        """Show what a draft is made from, with the keyboard on the instructions."""
        self._pages.setCurrentWidget(self.setup)
        self.setup.bring(self.setup.instructions, self.setup.instructions)
        return self.setup

    def put_aside(self, draft: object) -> None:
        """A draft is no longer to be shown, whatever became of it."""
        if not self.draft.remove(draft):
            self._pages.setCurrentWidget(self.setup)
            self.setup.summarize.setFocus()

    def _discard(self, draft: object) -> None:
        self.put_aside(draft)
        self.discard_requested.emit(draft)

    def committed(self, entry: int, sizes: str, left: int = -1) -> None:
        """The compaction is in the session, as ``entry``; ``sizes``: see ``compacted_words``;
        ``left``: the leaf that was left for it, or -1."""
        others = len(self.drafts()) - 1
        self.draft.clear()
        self._drafted, self._at = None, None
        self._pages.setCurrentWidget(self.setup)
        undo = self.undo_requested.emit
        self._tell(notices.committed(entry, sizes, others, undo, left))
        self.refresh()

    def show_notice(self, notice: Notice) -> None:
        """Show a notice."""
        self.notice.show_notice(notice)

    def add_to_notice(self, sentence: str) -> None:
        """Add a sentence to the notice that is shown, if there is one."""
        shown = self.notice.notice
        if shown is not None:
            self.notice.show_notice(replace(shown, todo=f"{shown.todo} {sentence}".strip()))

    def _tell(self, notice: Notice) -> None:
        self.notice.show_of(notice, self._document.leaf if self._document is not None else -1)

    def commit_failed(self, message: str) -> None:
        """Show that the compaction could not be stored."""
        self.notice.show_notice(notices.not_stored(message))

    def undone(self, compaction: int, leaf: int, left: int, made_here: bool) -> None:
        """Show that a compaction was undone; ``left``: the leaf before."""
        redo = self.redo_requested.emit
        self._tell(notices.undone(compaction, leaf, left, made_here, redo))
        self.refresh()

"""All profiles: what each stands for, where its numbers come from, and every rule of it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from explorer.compaction.profile import PROFILES, Profile
from explorer.settings.profile_files import (
    Shelf,
    UserProfile,
)
from explorer.settings.prompt_templates import load_provenance
from ui.inspector.markdown_view import MarkdownView
from ui.profiles.rules import RuleList
from ui.theme import S4, S8, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.dialogs import TwoPaneDialog, fit
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption
from ui.widgets.name_list import NameRow
from ui.widgets.notice import Notice
from ui.widgets.panels import column_in, column_of, enable_unless, scroll_area


class ProfilePage(QWidget):
    """Scrolls; ``profile_changed`` tells a user profile with a rule changed."""

    profile_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._profile: Profile | None = None
        self._base: Profile | None = None
        self._stored: UserProfile | None = None
        self.area = scroll_area(self, "The profile")
        body = QWidget(self.area)
        self.area.setWidget(body)
        self.title = QLabel(body)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(2, bold=True))
        self.state = QLabel(body)
        self.state.setWordWrap(True)
        set_tone(self.state, "accent")
        self.about = MarkdownView(body)
        self.about.setAccessibleName("What the profile stands for, and where its numbers come from")
        self.only = QCheckBox("Only rules that differ", body)
        self.only.toggled.connect(lambda _on: self._show_rules())
        self.compared = Caption(parent=body, wraps=True)
        self.rules = RuleList(body)
        self.rules.changed.connect(self._changed)
        column = column_in(body, S8, (S16, S12, S16, S16))
        for part in (self.title, self.state, self.about, self.only, self.compared, self.rules):
            column.addWidget(part)
        column.addStretch(1)
        column.setSpacing(S4)
        outer = column_in(self)
        outer.addWidget(self.area)

    def show_profile(
        self, profile: Profile, base: Profile | None, user_profile: UserProfile | None
    ) -> None:
        """Show a profile beside ``base``; one that came with the program cannot be changed."""
        is_other = self._profile is None or profile.name != self._profile.name
        self._profile, self._base, self._stored = profile, base, user_profile
        self.title.setText(profile.title)
        if user_profile is None:
            self.state.setText("Came with the program and stays as it is. Copy it to change it.")
            self.about.set_markdown(load_provenance(profile.name))
        else:
            started = base.title if base is not None else user_profile.base
            self.state.setText(
                f"Your own, started from {started}. What you change holds at once, wherever it is "
                "in use."
            )
            self.about.set_markdown(user_profile.about)
        self.about.setVisible(user_profile is None or bool(user_profile.about.strip()))
        compared = base is not None
        self.only.setVisible(compared)
        if base is not None:
            self.only.setText("&Only rules that differ")
            self.compared.setText(f"Beside each rule stands what {base.title} does instead.")
        self.compared.setVisible(compared)
        self._show_rules()
        if is_other:
            self.area.verticalScrollBar().setValue(0)

    def _show_rules(self) -> None:
        if self._profile is not None:
            self.rules.show_profile(
                self._profile,
                self._base,
                read_only=self._stored is None,
                only_differing=self.only.isChecked() and self._base is not None,
            )

    def _changed(self, profile: Profile) -> None:
        self._profile = profile
        self.profile_changed.emit(profile)


FILE_SUFFIX = ".json"


class ProfilesDialog(TwoPaneDialog):
    """Lists and shows; the window does what the signals ask for."""

    use_asked = Signal(str)
    compare_asked = Signal()
    copy_asked = Signal(str)
    rename_asked = Signal(str)
    delete_asked = Signal(str)
    export_asked = Signal(str)
    import_asked = Signal()
    files_dropped = Signal(list)
    """Paths of files that are to become profiles."""
    profile_changed = Signal(object)
    """A user profile with a rule changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Profiles", "Profiles", 230, parent)
        self.setAcceptDrops(True)
        self._shelf = Shelf({}, {}, ())
        self._in_force = ""
        self.list.chosen.connect(self._show_profile)
        self.list.row_activated.connect(self._use)
        self.page = ProfilePage(self)
        self.page.profile_changed.connect(self.profile_changed)
        self.use = self.button("&Use here", "Follow this profile in the session that is open")
        self.use.setProperty("kind", "primary")
        self.copy = self.button("&Copy…", "Start a profile of your own from this one")
        self.rename = self.button("Rena&me…", "Give this profile of yours another name")
        self.delete = self.button("&Delete", "Take this profile of yours away")
        self.export = self.button("&Export…", "Write this profile to a file, to share it")
        self.take = self.button("&Import…", "Keep a profile that somebody shared")
        self.compare = self.button(
            "Com&pare…", "What every profile would do at the selected place, side by side"
        )
        close = self.button("Clo&se", "")
        close.clicked.connect(self.close)
        self._connect()
        self._lay_out(close)
        fit(self, 880, 660)

    def _connect(self) -> None:
        self.use.clicked.connect(lambda: self.use_asked.emit(self.name))
        self.copy.clicked.connect(lambda: self.copy_asked.emit(self.name))
        self.rename.clicked.connect(lambda: self.rename_asked.emit(self.name))
        self.delete.clicked.connect(lambda: self.delete_asked.emit(self.name))
        self.export.clicked.connect(lambda: self.export_asked.emit(self.name))
        self.take.clicked.connect(self.import_asked)
        self.compare.clicked.connect(self.compare_asked)

    def _lay_out(self, close: QPushButton) -> None:
        hint = Caption("A profile's file can also be dropped here.", self, wraps=True)
        files = wrapping_row(self.take, self.compare)
        below = column_of(hint, files, margins=(S16, 0, S8, 0))
        actions = (self.use, self.copy, self.rename, self.export, self.delete)
        buttons = wrapping_row(*actions, close, margins=(S16, S8, S16, S12), closes=close)
        self.lay_out_panes(below, None, self.page, buttons)

    # what is shown -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the profile shown."""
        return self.list.name

    def show_shelf(self, shelf: Shelf, in_force: str, selected: str = "") -> None:
        """Show the profiles there are; ``in_force`` is the one that the session follows."""
        wanted = selected or self.name or in_force
        self._shelf, self._in_force = shelf, in_force
        built_in = shelf.built_in
        rows: list[NameRow] = []
        for heading, profiles in (
            (
                "Came with the program",
                {name: built_in[name] for name in PROFILES if name in built_in},
            ),
            (
                "As documents tell it",
                {name: built_in[name] for name in built_in if name not in PROFILES},
            ),
            ("Your own", {name: one.profile for name, one in shelf.user_profiles.items()}),
        ):
            if profiles:
                rows.append(NameRow("", heading))
                rows += [self._row(name, profile.title) for name, profile in profiles.items()]
        self.list.show_names(rows)
        self.select(wanted if shelf.get(wanted) else "explorer")
        if shelf.problems:
            self.tell("warning", "Some profile files cannot be used.", "\n".join(shelf.problems))

    def _row(self, name: str, title: str) -> NameRow:
        if name != self._in_force:
            return NameRow(name, title, tip=title)
        spoken = f"{title}, in use"
        return NameRow(name, f"✓ {title}", spoken, spoken)

    def select(self, name: str) -> None:
        """Show a profile."""
        self.list.select(name)
        self._show_profile(self.name)

    def _show_profile(self, name: str) -> None:
        profile = self._shelf.get(name)
        if profile is None:
            return
        user_profile = self._shelf.user_profiles.get(name)
        base_name = user_profile.base if user_profile is not None else "explorer"
        base = self._shelf.built_in.get(base_name)
        self.page.show_profile(profile, base if base != profile else None, user_profile)
        self.rename.setVisible(user_profile is not None)
        self.delete.setVisible(user_profile is not None)
        in_force = name == self._in_force
        enable_unless(self.use, "This profile is in force already." if in_force else "")

    def _use(self, row: NameRow) -> None:
        if row.name != self._in_force:
            self.use_asked.emit(row.name)

    def tell(self, level: str, what: str, details: str = "") -> None:
        """Show a message about the last command."""
        self.notice.show_notice(Notice(level, what, details=details))  # type: ignore[arg-type]

    # events ------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent, /) -> None:
        if dropped_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent, /) -> None:
        if files := dropped_files(event.mimeData()):
            event.acceptProposedAction()
            self.files_dropped.emit(files)


def dropped_files(data: QMimeData) -> list[Path]:
    """The files in what is dropped that may be profiles."""
    files = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return [file for file in files if file.suffix.lower() == FILE_SUFFIX]

"""Profiles: choosing, copying, changing and sharing them, and comparing what each would do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from explorer.compaction.profile import BASES, PROFILES, Profile
from explorer.compaction.profile_comparison import Cause, causes, compare_profiles
from explorer.services.document import Document
from explorer.settings.profile_files import (
    ProfileError,
    ProfileFiles,
    Shelf,
    UserProfile,
    read_file,
)
from ui.app_state import AppState
from ui.profiles.compare_window import CompareWindow, PlaceComparison
from ui.profiles.dialog import FILE_SUFFIX, ProfilesDialog
from ui.profiles.strip import scale_of
from ui.shell.dialogs import ask_text, choose_files, confirm, file_dialog, open_once, present

FILE_FILTER = f"Profiles (*{FILE_SUFFIX})"


class ProfilesController(QObject):
    """Owns the dialog; user profiles are files of one folder."""

    compare_asked = Signal()

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._files = ProfileFiles()
        self._dialog: ProfilesDialog | None = None
        self.shelf: Shelf = self._files.shelf()
        self._offered: dict[str, Profile] = {}
        self._in_force = ""
        panel = state.window.compaction
        panel.profiles_asked.connect(lambda: self.show_profiles())
        panel.keep_asked.connect(self.keep)
        state.settings_changed.connect(self._followed)
        self._offer()

    # which there are -----------------------------------------------------------------------------

    def _offer(self) -> None:
        """Tell the views which profiles there are; variants only where one is in force."""
        offered: dict[str, Profile] = dict(PROFILES)
        offered |= {name: one.profile for name, one in self.shelf.user_profiles.items()}
        now = self._state.profile.name
        if now not in offered:
            offered[now] = self.shelf.get(now) or self._state.profile
        if offered == self._offered:
            return
        self._offered = offered
        self._state.window.compaction.set_profiles(offered)
        self._state.window.header.offer([(name, p.title) for name, p in offered.items()])
        self._state.window.header.set_profile(now)

    def _read_again(self, selected: str = "") -> None:
        """The files changed."""
        self.shelf = self._files.shelf()
        # A session that follows a profile follows what was changed in it.
        self._state.settings_file_changed()
        self._offer()
        if self._dialog is not None:
            self._dialog.show_shelf(self.shelf, self._state.profile.name, selected)

    def _followed(self) -> None:
        """Show the profile that came into force, or its changed rules."""
        self._offer()
        name = self._state.profile.name
        if name != self._in_force and self._dialog is not None and self._dialog.isVisible():
            self._dialog.show_shelf(self.shelf, name)
        self._in_force = name

    # the dialog -----------------------------------------------------------------------------------

    def show_profiles(self, name: str = "") -> None:
        """Open the dialog, at a profile."""
        if self._dialog is None:
            dialog = self._dialog = ProfilesDialog(self._state.window)
            dialog.use_asked.connect(self.use)
            dialog.copy_asked.connect(self.ask_copy)
            dialog.rename_asked.connect(self.ask_rename)
            dialog.delete_asked.connect(self.ask_delete)
            dialog.export_asked.connect(self.ask_export)
            dialog.import_asked.connect(self.ask_import)
            dialog.files_dropped.connect(self.take_in)
            dialog.profile_changed.connect(self._changed)
            dialog.compare_asked.connect(self.compare_asked)
        self.shelf = self._files.shelf()
        self._dialog.show_shelf(self.shelf, self._state.profile.name, name)
        present(self._dialog)
        self._dialog.list.setFocus()

    def use(self, name: str) -> None:
        """Follow a profile in the session that is open."""
        self._state.set_profile(name)

    def _tell(self, level: str, what: str, details: str = "") -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.tell(level, what, details)
        elif level == "error":
            self._state.notice("error", what, "No profile was changed.", details=details)
        else:
            self._state.say(what)

    def _try(self, work: Callable[[], str], selected: str = "") -> bool:
        """Do something with the files, and say what came of it."""
        try:
            words = work()
        except ProfileError as error:
            self._tell("error", f"{error}".rstrip(".") + ".")
            return False
        self._read_again(selected)
        if words:
            self._tell("done", words)
        return True

    def _free_name(self, title: str) -> str:
        """A file name made of a title that no profile has yet."""
        plain = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")[:48] or "profile"
        name, number = plain, 2
        while self.shelf.get(name) is not None:
            name, number = f"{plain}-{number}", number + 1
        return name

    def _ask_title(self, what: str, label: str, title: str, then: Callable[[str], None]) -> None:
        parent = self._dialog or self._state.window
        ask_text(parent, what, label, title, lambda text: then(text) if text else None)

    # copies ---------------------------------------------------------------------------------------

    def ask_copy(self, name: str) -> None:
        """Start a user profile from another one."""
        profile = self.shelf.get(name)
        if profile is None:
            return
        user_profile = self.shelf.user_profiles.get(name)
        base = user_profile.base if user_profile is not None else name
        self._ask_title(
            "Copy a profile",
            "Title of your own profile",
            f"{profile.title}, my way",
            lambda title: self._copy(profile, base, title),
        )

    def keep(self, profile: Profile) -> None:
        """Keep the rules of the session as a user profile."""
        user_profile = self.shelf.user_profiles.get(profile.name)
        base = user_profile.base if user_profile is not None else profile.name
        base = base if base in BASES else "explorer"
        settings = self._state.settings
        profile = replace(
            profile,
            context_window=settings.context_window,
            reserve_tokens=settings.reserve_tokens,
            keep_recent_tokens=max(1, settings.keep_recent_tokens),
            keep_rounds=settings.keep_rounds,
        )
        self._ask_title(
            "Keep these rules",
            "Title of your own profile",
            f"{profile.title}, my way",
            lambda title: self._copy(profile, base, title, use=True),
        )

    def _copy(self, profile: Profile, base: str, title: str, use: bool = False) -> None:
        name = self._free_name(title)
        user_profile = UserProfile(replace(profile, name=name, title=title), base)

        def save() -> str:
            self._files.save(user_profile)
            return f"“{title}” is a profile of your own now."

        if self._try(save, name) and use:
            self.use(name)

    def ask_rename(self, name: str) -> None:
        """Ask for another title of a user profile."""
        user_profile = self.shelf.user_profiles.get(name)
        if user_profile is not None:
            self._ask_title(
                "Rename a profile", "Title of the profile", user_profile.profile.title,
                lambda title: self._rename(user_profile, title),
            )  # fmt: skip

    def _rename(self, user_profile: UserProfile, title: str) -> None:
        if title == user_profile.profile.title:
            return
        old = user_profile.profile.name
        in_force = self._state.profile.name == old
        name = self._free_name(title)
        profile = replace(user_profile.profile, name=name, title=title)
        renamed = replace(user_profile, profile=profile, path=None)

        def save() -> str:
            self._files.save(renamed)
            self._files.delete(old)
            return ""

        if self._try(save, name) and in_force:
            self.use(name)

    def ask_delete(self, name: str) -> None:
        """Ask before a user profile is taken away."""
        user_profile = self.shelf.user_profiles.get(name)
        if user_profile is None:
            return
        confirm(
            self._dialog or self._state.window,
            "Delete a profile",
            f"Delete “{user_profile.profile.title}”?",
            "Its file is removed. Sessions keep the rules that they follow.",
            "&Delete",
            lambda: self._delete(user_profile),
        )

    def _delete(self, user_profile: UserProfile) -> None:
        name, title = user_profile.profile.name, user_profile.profile.title

        def delete() -> str:
            self._files.delete(name)
            return f"“{title}” is gone."

        if self._state.profile.name == name:
            self._state.set_profile(user_profile.base)
        self._try(delete, user_profile.base)

    def _changed(self, profile: Profile) -> None:
        """A rule of a user profile was changed in the dialog."""
        user_profile = self.shelf.user_profiles.get(profile.name)
        if user_profile is None:
            return
        changed = replace(user_profile, profile=profile)

        def save() -> str:
            self._files.save(changed, replacing=True)
            return ""

        self._try(save, profile.name)

    # files ----------------------------------------------------------------------------------------

    def ask_export(self, name: str) -> None:
        """Ask for a file to write a profile to."""
        dialog = file_dialog(self._dialog or self._state.window, "Export a profile")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(FILE_FILTER)
        dialog.setDefaultSuffix(FILE_SUFFIX.lstrip("."))
        dialog.selectFile(f"{name}{FILE_SUFFIX}")
        dialog.fileSelected.connect(lambda file: self.export(name, Path(file)))
        open_once(dialog)

    def export(self, name: str, path: Path) -> None:
        """Write a profile to a file that the person named; the dialog has asked already."""

        def write() -> str:
            self._files.hand_out(name, path, replacing=True)
            return f"Written to {path}."

        self._try(write, name)

    def ask_import(self) -> None:
        """Ask for files to keep as profiles."""
        choose_files(
            self._dialog or self._state.window,
            "Import profiles",
            lambda files: self.take_in([Path(file) for file in files]),
            FILE_FILTER,
        )

    def take_in(self, files: Sequence[Path]) -> None:
        """Keep shared profiles; one whose name is taken gets another name."""
        for path in files:
            taken: list[str] = []

            def keep(path: Path = path, taken: list[str] = taken) -> str:
                found = read_file(path)
                name = found.profile.name
                if self.shelf.get(name) is not None:
                    name = self._free_name(name)
                added = self._files.take_in(path, name=name)
                taken.append(added.profile.name)
                return f"“{added.profile.title}” was taken in."

            if self._try(keep) and taken and self._dialog is not None:
                self._dialog.select(taken[0])


class ProfileComparisonController(QObject):
    """Owns the comparison's window, and does its counting in threads."""

    def __init__(self, state: AppState, profiles: ProfilesController) -> None:
        super().__init__(state)
        self._state, self._profiles = state, profiles
        self._compare: CompareWindow | None = None
        profiles.compare_asked.connect(self.compare)
        state.window.compaction.compare_asked.connect(self.compare)
        state.settings_changed.connect(self._followed)
        state.document_changed.connect(self._other_document)

    def _followed(self) -> None:
        if self._compare is not None:
            self._compare.show_in_force(self._state.profile.name)

    def _other_document(self) -> None:
        if self._compare is not None:
            self._compare.close()

    def compare(self) -> None:
        """Compare the profiles at the selected entry, or at the leaf."""
        document, window = self._state.document, self._state.window
        if document is None:
            return
        selected = window.map.selected
        at = selected if selected >= 0 else document.leaf
        if self._compare is None:
            self._compare = CompareWindow(self._causes, window)
            self._compare.entry_requested.connect(lambda entry: window.map.select(entry))
            self._compare.use_asked.connect(self._profiles.use)
        sizes = self._state.settings
        # The sizes and rules that a person changed are what it is really compacted by.
        now = replace(
            self._state.profile,
            reserve_tokens=sizes.reserve_tokens,
            keep_recent_tokens=sizes.keep_recent_tokens,
            keep_rounds=sizes.keep_rounds,
        )
        profiles = list(PROFILES.values())
        profiles += [one.profile for one in self._profiles.shelf.user_profiles.values()]
        profiles = [now if other.name == now.name else other for other in profiles]
        tokens = sizes.context_window
        measured = document.tokens.weights_for(PROFILES["explorer"])
        self._compare.compare(
            lambda: _compared(document, at, profiles, tokens, measured),
            now.name,
            is_window_known=self._state.is_window_known,
        )
        present(self._compare)

    def _causes(self, found: PlaceComparison, reference: str) -> Mapping[str, Sequence[Cause]]:
        """Why each profile differs from one of them; called in a thread."""
        document = self._state.document
        base = next((o.profile for o in found.outcomes if o.profile.name == reference), None)
        if document is None or base is None:
            return {}
        measured = document.tokens.weights
        return {
            outcome.profile.name: causes(
                document.tree,
                found.at,
                outcome.profile,
                base,
                weights_of=_weights(measured),
                prompt_of=document.usage.prompt_of,
            )
            for outcome in found.outcomes
            if outcome.profile.name != reference
        }


def _weights(measured: Sequence[int] | None) -> Callable[[Profile], Sequence[int] | None]:
    """Whose tokens a profile counts with: the tokenizer's for one that counts what is sent."""
    return lambda profile: measured if profile.weights == "sent" else None


def _compared(
    document: Document,
    at: int,
    profiles: Sequence[Profile],
    window: int,
    measured: Sequence[int] | None,
) -> PlaceComparison:
    """What every profile would do at an entry; pure but for payloads that it reads."""
    outcomes = compare_profiles(
        document.tree,
        at,
        profiles,
        context_window=window,
        weights_of=_weights(measured),
        prompt_of=document.usage.prompt_of,
    )
    column = document.tree.columns.estimate
    path = outcomes[0].shown.path
    weights = [column[entry] for entry in path]
    scale = scale_of(weights, [outcome.shown for outcome in outcomes])
    return PlaceComparison(at, at == document.leaf, window, outcomes, scale)

"""What the window of all sessions does with the library of a team: its rows, and what is done with
them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from explorer.services.library import Library, LibraryRow, shared_library
from explorer.services.publication import TeamCheck, check_team
from explorer.settings.libraries import (
    LibrariesError,
    add_library,
    read_libraries,
    remove_library,
)
from explorer.store import SearchHit
from explorer.store.postgres import ROLES, TeamLibrary
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.library.arrangement import named
from ui.library.page import LibraryPage
from ui.shell.dialogs import ask_text, confirm, open_once
from ui.team.libraries import LIBRARY_ERRORS, OWN_SAFE, TeamLibraries, refusal
from ui.team.libraries_dialog import LibrariesDialog
from ui.widgets.figures import count
from ui.widgets.notice import Notice


class TeamShelf(QObject):
    """The library of a team on one page. It asks for signals of the page only while that shows
    one."""

    def __init__(self, state: AppState, libraries: TeamLibraries, page: LibraryPage) -> None:
        super().__init__(page)
        self._state, self._libraries, self._page = state, libraries, page
        self._lost: Notice | None = None
        self._dialog: LibrariesDialog | None = None
        page.withdraw_asked.connect(self._ask_withdraw)
        page.try_again_asked.connect(self._try_again)
        page.filters.libraries_asked.connect(self.manage)

    def show_library(self, name: str) -> None:
        """Show the library of a name on the page, empty for the person's own."""
        if name:
            self._libraries.follow(name)
        content = self._libraries.content(name)
        person = content.person if content is not None else ""
        is_steward = content is not None and content.role == ROLES[-1]
        self._page.show_library(self._libraries.names(), name, person, is_steward=is_steward)
        self._say(self._libraries.error(name))

    def library(self) -> Callable[[], Library] | None:
        """Makes the rows of what was read last, on a thread; None before anything was."""
        content = self._libraries.content(self._page.team)
        if content is None:
            return None
        return lambda: shared_library(content.shared, content.notes)

    def _say(self, error: Exception | None) -> None:
        """Say that the server is gone, for as long as it is."""
        page, name = self._page, self._page.team
        if error is None:
            if self._lost is not None and page.notice.notice is self._lost:
                page.notice.dismiss()
            self._lost = None
        elif self._libraries.content(name) is None:
            page.show_lost(f"{name} cannot be read", f"{error}. {OWN_SAFE}")
        elif self._lost is None:
            safe = "The list is as it was last read."
            self._lost = refusal(name, error, safe, self._try_again)
            page.notice.show_notice(self._lost)

    def _try_again(self) -> None:
        self._libraries.try_again(self._page.team)

    async def search(
        self, words: str, limit: int, cancelled: Callable[[], bool]
    ) -> Sequence[SearchHit]:
        """Entries of all sessions that hold the words. Raises StoreError."""
        return await self._libraries.ask(
            self._page.team, lambda team: team.search(words, None, limit, cancelled)
        )

    # notes and labels ----------------------------------------------------------------------------

    def ask_note(self, rows: Sequence[LibraryRow]) -> None:
        """Ask for a note on sessions."""
        name = self._page.team
        what = f"Note on {named([one.session for one in rows])}, for {name}"
        ask_text(self._page, "Note", what, "", lambda text: self._add(name, rows, text, "note"))

    def label(self, rows: Sequence[LibraryRow], label: str, on: bool) -> None:
        """Put a label on sessions, or take the person's own away; without one, ask for a new."""
        name = self._page.team
        if not label:
            what = f"Label for {named([one.session for one in rows])}, for {name}"
            ask_text(
                self._page, "New label", what, "", lambda text: self._add(name, rows, text, "label")
            )
        elif on:
            without = [one for one in rows if label not in one.session.labels]
            self._add(name, without, label, "label")
        else:
            self._take_away(name, rows, label)

    def _add(self, name: str, rows: Sequence[LibraryRow], text: str, kind: str) -> None:
        words, keys = " ".join(text.split()), [one.session.key for one in rows]

        def write(team: TeamLibrary) -> None:
            for key in keys:
                team.add_note(key, words, kind=kind)

        if words and keys:
            self._write("Writing the note", name, write, "Not all of it was written.")

    def _take_away(self, name: str, rows: Sequence[LibraryRow], label: str) -> None:
        content = self._libraries.content(name)
        keys = {one.session.key for one in rows}
        found = [
            one for one in (content.notes if content is not None else ())
            if one.key in keys and (one.kind, one.text, one.entry_id) == ("label", label, "")
        ]  # fmt: skip
        own = [one.id for one in found if content is not None and one.author == content.person]
        if len(own) < len(found):
            authors = sorted({one.author for one in found if one.id not in own})
            self._page.notice.show_notice(
                Notice("info", f"“{label}” was put there by {', '.join(authors)}.",
                       "Only who wrote a label takes it away.")
            )  # fmt: skip

        def write(team: TeamLibrary) -> None:
            for number in own:
                team.remove_note(number)

        if own:
            self._write("Taking the label away", name, write, "Labels may be left.")

    def _write(self, what: str, name: str, work: Callable[[TeamLibrary], None], safe: str) -> None:
        self._state.tasks.start(what, self._written(name, work, safe))

    async def _written(self, name: str, work: Callable[[TeamLibrary], None], safe: str) -> None:
        try:
            await self._libraries.ask(name, work)
        except StoreError as error:
            self._page.notice.show_notice(refusal(name, error, safe))
        self._libraries.try_again(name)

    # adding and removing -------------------------------------------------------------------------

    def manage(self) -> None:
        """Show the libraries of teams, to add and to remove some."""
        dialog = self._dialog = LibrariesDialog(self._page)
        dialog.finished.connect(self._dialog_closed)
        dialog.add_asked.connect(
            lambda name, address: self._state.tasks.start(
                "Looking for a server", self._add_library(dialog, name, address)
            )
        )
        dialog.remove_asked.connect(lambda name: self._ask_remove(dialog, name))
        self._list_libraries(dialog)
        open_once(dialog)

    def _dialog_closed(self) -> None:
        self._dialog = None

    def _list_libraries(self, dialog: LibrariesDialog) -> None:
        try:
            dialog.show_libraries(read_libraries().libraries)
        except (LibrariesError, OSError) as error:
            dialog.show_end(str(error), failed=True)

    async def _add_library(self, dialog: LibrariesDialog, name: str, address: str) -> None:
        dialog.show_checking()

        def add() -> TeamCheck:
            if name in read_libraries().libraries:
                raise LibrariesError(f"{name} is there already. Remove it first.")
            found = check_team(name, address)
            add_library(name, address, None)
            return found

        try:
            found = await self._libraries.run(add)
        except LIBRARY_ERRORS as error:
            if dialog is self._dialog:
                dialog.show_end(f"Not added. {error}", failed=True)
            return
        self.show_library(self._page.team)
        if dialog is self._dialog:
            self._list_libraries(dialog)
            role = found.role or "somebody without a role"
            password = (
                f"the password came from {found.password}"
                if found.password
                else ("it asked for no password")
            )
            dialog.show_end(f"{name} was added. Its server knows you as {found.person}, {role}; "
                            f"{password}.")  # fmt: skip

    def _ask_remove(self, dialog: LibrariesDialog, name: str) -> None:
        confirm(
            dialog, "Remove", f"Remove {name} from your libraries?",
            "Its server and what is published there are left as they are, and so are the copies "
            "that you made. A password in the system's keyring goes.",
            "Remove",
            lambda: self._state.tasks.start("Removing", self._remove_library(dialog, name)),
        )  # fmt: skip

    async def _remove_library(self, dialog: LibrariesDialog, name: str) -> None:
        try:
            await self._libraries.run(lambda: remove_library(name))
        except LIBRARY_ERRORS as error:
            if dialog is self._dialog:
                dialog.show_end(str(error), failed=True)
            return
        await self._libraries.forget(name)
        self.show_library(self._page.team)
        if dialog is self._dialog:
            self._list_libraries(dialog)
            dialog.words.say(f"{name} was removed.")

    # withdrawing ---------------------------------------------------------------------------------

    def _ask_withdraw(self, rows: Sequence[LibraryRow]) -> None:
        name, keys = self._page.team, [one.session.key for one in rows]
        content = self._libraries.content(name)
        person = content.person if content is not None else ""
        others = sorted({one.publisher for one in rows} - {person})
        whose = f", published by {', '.join(others)}" if others else ""
        steward = "What is not yours you withdraw as a steward. " if others else ""
        confirm(
            self._page, "Withdraw",
            f"Withdraw {named([one.session for one in rows])}{whose} from {name}?",
            f"{steward}The notes of others on it go with it, and this cannot be undone. Your own "
            "library, and copies that others made, stay.",
            "Withdraw",
            lambda: self._state.tasks.start("Withdrawing", self._withdraw(name, keys)),
        )  # fmt: skip

    async def _withdraw(self, name: str, keys: Sequence[int]) -> None:
        gone = 0

        def withdraw(team: TeamLibrary) -> None:
            nonlocal gone
            for key in keys:
                gone += team.delete(key).result()

        try:
            await self._libraries.ask(name, withdraw)
        except StoreError as error:
            left = f"{count(gone, 'session')} of {len(keys):,} withdrawn; the others are there."
            self._page.notice.show_notice(refusal(name, error, left))
        else:
            self._page.notice.show_notice(Notice("done", f"{count(gone, 'session')} withdrawn."))
        self._libraries.try_again(name)

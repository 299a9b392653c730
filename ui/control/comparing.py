"""The comparison of all profiles at one place of the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject

from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.profile_comparison import Cause, causes, compare_profiles
from explorer.work.document import Document
from ui.control.desk import Desk
from ui.control.profiles import ProfilesControl
from ui.profiles.compare_window import Compared, CompareWindow
from ui.profiles.strip import scale_of


class CompareControl(QObject):
    """Owns the comparison's window, and does its counting in threads."""

    def __init__(self, desk: Desk, profiles: ProfilesControl) -> None:
        super().__init__(desk)
        self._desk, self._profiles = desk, profiles
        self._compare: CompareWindow | None = None
        profiles.compare_asked.connect(self.compare)
        desk.window.compaction.compare_asked.connect(self.compare)
        desk.settings_changed.connect(self._followed)
        desk.document_changed.connect(self._other_document)

    def _followed(self) -> None:
        if self._compare is not None:
            self._compare.show_in_force(self._desk.profile.name)

    def _other_document(self) -> None:
        if self._compare is not None:
            self._compare.close()

    def compare(self) -> None:
        """Compare the profiles at the selected entry, or at the leaf."""
        document, window = self._desk.document, self._desk.window
        if document is None:
            return
        selected = window.map.selected
        at = selected if selected >= 0 else document.leaf
        if self._compare is None:
            self._compare = CompareWindow(self._causes, window)
            self._compare.entry_requested.connect(lambda entry: window.map.select(entry))
            self._compare.use_asked.connect(self._profiles.use)
        now = self._desk.profile
        profiles = list(PROFILES.values())
        profiles += [own.profile for own in self._profiles.shelf.own.values()]
        if now not in profiles:
            # A session's own changes of a rule are what it is really compacted by.
            profiles = [now if other.name == now.name else other for other in profiles]
        tokens = self._desk.settings.context_window
        measured = document.weights_for(PROFILES["explorer"])
        self._compare.compare(lambda: _compared(document, at, profiles, tokens, measured), now.name)
        self._compare.show()
        self._compare.raise_()
        self._compare.activateWindow()

    def _causes(self, found: Compared, reference: str) -> Mapping[str, Sequence[Cause]]:
        """Why each profile differs from one of them; called in a thread."""
        document = self._desk.document
        base = next((o.profile for o in found.outcomes if o.profile.name == reference), None)
        if document is None or base is None:
            return {}
        measured = document.weights if document.weights is not None else None
        return {
            outcome.profile.name: causes(
                document.tree,
                found.at,
                outcome.profile,
                base,
                weights_of=_weights(measured),
                prompt_of=document.prompt_of,
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
) -> Compared:
    """What every profile would do at an entry; pure but for payloads that it reads."""
    outcomes = compare_profiles(
        document.tree,
        at,
        profiles,
        context_window=window,
        weights_of=_weights(measured),
        prompt_of=document.prompt_of,
    )
    column = document.tree.columns.estimate
    path = outcomes[0].shown.path
    weights = [column[entry] for entry in path]
    scale = scale_of(weights, [outcome.shown for outcome in outcomes])
    return Compared(at, at == document.leaf, window, outcomes, scale)

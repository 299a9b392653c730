"""What a session would have come to under other rules: the window, and its walks in threads."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.audit.simulation import Past, Policy, simulate
from explorer.audit.simulation.walk import Sweep, sweep
from explorer.compaction.profile import PROFILES
from explorer.services.document import Document
from explorer.services.recorded_session import (
    assumptions_for,
    hour_share,
    prices_of,
    read_past,
)
from explorer.settings.effective import Chosen
from ui.app_state import AppState
from ui.audit.what_if.lines import RECORDED, Drawing, drawing_of
from ui.audit.what_if.window import (
    WalkQuestion,
    WhatIfWindow,
    in_window,
)
from ui.shell.dialogs import present
from ui.widgets.loader import Loader
from ui.widgets.steps import StepRunner


class WhatIfController(QObject):
    """Owns the window."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._view: WhatIfWindow | None = None
        self._turns = StepRunner(self)
        self._leaf = -1
        self._window = 0
        """The window that all walks have; 0: that of the rules in force."""
        self._for_hour = 0.0
        """Which part of what the session wrote into a cache went there for an hour."""
        self._before: Chosen | None = None
        self._models = Loader(self)
        self._models.loaded.connect(self._know_models)
        state.settings_changed.connect(self._followed)
        state.document_changed.connect(self._other_document)

    def open(self) -> None:
        """Walk the path to the leaf under every profile."""
        if self._state.document is None or self._turns.is_running:
            return
        if self._view is None:
            view = WhatIfWindow(self._walk, self._sweep, self._state.window)
            self._turns.start(view.building(), lambda: self._built(view))
        else:
            self._present(self._view)

    def _built(self, view: WhatIfWindow) -> None:
        self._view = view
        view.entry_requested.connect(self._state.select)
        view.use_asked.connect(self._use)
        view.undo_asked.connect(self._undo)
        view.window_changed.connect(self._other_window)
        view.prices_wanted.connect(self._price)
        view.sweep.forget()
        self._present(view)

    def _present(self, view: WhatIfWindow) -> None:
        if self._state.document is None:
            return
        self._leaf = self._state.document.leaf
        self._show_models()
        self._show()
        present(view)

    # what is walked ----------------------------------------------------------------------------

    def _in_force(self) -> Policy:
        policy = Policy(self._state.profile, self._state.settings)
        return in_window(policy, self._window) if self._window else policy

    def _show(self) -> None:
        view = self._view
        if view is None or self._state.document is None:
            return
        policy = self._in_force()
        window = policy.settings.context_window
        policies = [
            policy if name == policy.profile.name else in_window(Policy.of(profile), window)
            for name, profile in PROFILES.items()
        ]
        if policy.profile.name not in PROFILES:
            policies.insert(0, policy)
        view.show_policies(
            policies, policy, list(self._state.profiles.values()),
            self._state.settings.context_window,
        )  # fmt: skip

    def _walk(self, question: WalkQuestion) -> Drawing:
        """Called in a thread."""
        document = self._state.document
        if document is None:
            return Drawing((), (), ())
        leaf = self._leaf
        past = self._past(document, leaf, question.policies[0][1])
        walks = [(RECORDED, past.recorded)]
        for key, policy in question.policies:
            taken = assumptions_for(document, policy.profile)
            found = simulate(document.tree, leaf, policy, assumptions=taken, past=past)
            walks.append((key, found))
        return drawing_of(document.tree, leaf, walks)

    def _past(self, document: Document, leaf: int, policy: Policy) -> Past:
        return read_past(document, leaf, policy, assumptions_for(document, policy.profile))

    def _sweep(
        self, policy: Policy, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> Sweep:
        """Called in a thread. Raises Stopped."""
        document, view = self._state.document, self._view
        if document is None or view is None:
            raise ValueError("The session was closed.")
        past = self._past(document, self._leaf, policy)
        taken = assumptions_for(document, policy.profile)
        return sweep(
            past, policy, assumptions=taken, prices=view.prices, progress=progress,
            cancelled=cancelled,
        )  # fmt: skip

    # what changes ------------------------------------------------------------------------------

    def _followed(self) -> None:
        if self._view is not None and self._view.isVisible():
            self._show()

    def _other_document(self) -> None:
        self._window, self._before = 0, None
        if self._view is not None:
            self._view.close()
            self._view.forget()

    def _other_window(self, tokens: int) -> None:
        self._window = tokens
        self._show()

    # prices ------------------------------------------------------------------------------------

    def _show_models(self) -> None:
        """Offer the models that the session used, and those that can be asked."""
        bench, document = self._state.bench, self._state.document
        if bench is None or document is None:
            return
        client, models = bench.client, [name for name in document.tree.columns.models if name]
        listed = self._state.model_infos()

        def priced() -> tuple[list[tuple[str, str]], float]:
            infos = [*(client.info(name) for name in models), *listed]
            found = {info.id: info.label for info in infos if prices_of(info) is not None}
            return list(found.items()), hour_share(document)

        # The first look into the table of prices takes a tenth of a second.
        self._models.load(priced)

    def _know_models(self, found: tuple[list[tuple[str, str]], float]) -> None:
        models, self._for_hour = found
        if self._view is not None:
            self._view.show_models(models, str(self._view.models.currentData() or ""))

    def _price(self, model: str) -> None:
        bench, view = self._state.bench, self._view
        if bench is not None and view is not None:
            found = prices_of(bench.client.info(model), self._for_hour) if model else None
            view.show_prices(found)

    # rules of the session ----------------------------------------------------------------------

    def _use(self, policy: Policy) -> None:
        """Let the session follow a policy's profile and sizes."""
        self._before = self._state.chosen
        self._state.set_profile(policy.profile.name)
        self._state.set_settings(policy.settings)

    def _undo(self) -> None:
        """Let the session follow what it followed before."""
        before, self._before = self._before, None
        if before is not None:
            self._state.choose_again(before)

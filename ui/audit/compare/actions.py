"""What is done with summaries: their fidelity, and one beside another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from explorer.audit.findings import Finding
from explorer.services.summary_audit import Audited
from explorer.session.kinds import Kind
from ui.actions import ActionRegistry, ActionSpec, Entry
from ui.audit.compare.subjects import Key
from ui.audit.fidelity.control import TITLE
from ui.audit.tab import NOW
from ui.main_window import TABS
from ui.session import WindowSession

COMPACTION = "Com&paction"


def compare_actions(session: WindowSession) -> list[Entry]:
    """For menus and the palette."""
    return [
        (ActionSpec("compare_summaries", "Compare s&ummaries…",
                    "Drafts, compactions and branch summaries side by side, section by section",
                    COMPACTION, ("Ctrl+Alt+M",)),
         lambda: session.draft_comparison.compare_entry(session.window.map.selected)),
        (ActionSpec("fidelity", "What a summary &lost",
                    "What a compaction kept and lost of what it took the place of",
                    COMPACTION, ("Ctrl+Alt+L",)), session.fidelity.show_page),
    ]  # fmt: skip


def follow(session: WindowSession, registry: ActionRegistry) -> None:
    """What can do nothing now cannot be chosen."""
    is_open = session.state.document is not None
    registry.enable(("compare_summaries", "fidelity"), is_open)


def connect(session: WindowSession) -> None:
    """Put the page into the tab Audit, offer both in menus, and answer to findings."""
    fidelity, tab = session.fidelity, session.window.audit
    tab.add_page(TITLE, fidelity.page)
    fidelity.show_page = partial(_show_page, session)
    tab.moment_chosen.connect(lambda entry: None if entry == NOW else fidelity.look_at_entry(entry))
    session.session_views.menu_opening.connect(partial(fill_menu, session))
    mending = session.repairs
    mending.show_fidelity = fidelity.show_page
    fidelity.answer("pin", partial(_mend, session, mending.pin_finding))
    fidelity.answer("instruct", partial(_mend, session, mending.instruct_finding))
    fidelity.answer("mend", partial(_mend, session, partial(_check, session)))


def fill_menu(session: WindowSession, menu: QMenu, entry: int) -> None:
    """What the menu of a summary on the map offers."""
    document = session.state.document
    if document is None:
        return
    kind = document.tree.kind(entry)
    if kind not in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
        return
    menu.addSeparator()
    if kind is Kind.COMPACTION:
        menu.addAction("What this summary lost").triggered.connect(lambda: _look(session, entry))
        check = menu.addAction("Check and mend this summary…")
        check.triggered.connect(lambda: session.summary_check.open_compaction(entry))
    window = session.draft_comparison.window
    is_open = window is not None and window.isVisible()
    words = "Add to the comparison" if is_open else "Compare this summary…"
    menu.addAction(words).triggered.connect(lambda: session.draft_comparison.compare_entry(entry))


def _look(session: WindowSession, entry: int) -> None:
    session.window.map.select(entry)
    session.fidelity.look_at(Key("entry", entry))
    _show_page(session)


def _show_page(session: WindowSession) -> None:
    session.window.inspector.setCurrentIndex(TABS.index("audit"))
    session.window.audit.show_page(TITLE)


def _mend(session: WindowSession, do: Callable[[Finding, Audited], None], finding: Finding) -> None:
    """Do something about a finding of the summary that is looked at."""
    shown = session.fidelity.page.shown
    if shown is not None:
        do(finding, shown.audited)


def _check(session: WindowSession, _finding: Finding, audited: Audited) -> None:
    """Check the summary that is looked at: a draft, or a compaction."""
    if audited.entry >= 0:
        session.summary_check.open_compaction(audited.entry)
    else:
        session.summary_check.open()

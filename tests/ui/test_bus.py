"""Changes reach whoever asked for their type, and nobody else."""

from __future__ import annotations

from explorer.services.changes import Change, ChangeHub, EntriesAppended, LeafMoved, SessionsChanged
from ui.bus import Bus


def connected(shown: int = 7) -> tuple[ChangeHub, Bus]:
    hub = ChangeHub()
    bus = Bus(lambda: shown)
    bus.connect(hub)
    return hub, bus


def test_a_listener_gets_the_type_that_it_asked_for() -> None:
    hub, bus = connected()
    got: list[Change] = []
    bus.on(SessionsChanged, got.append)
    hub.publish(LeafMoved(7, 1, 2))
    hub.publish(SessionsChanged())
    assert got == [SessionsChanged()]


def test_changes_of_other_sessions_are_left_out_where_only_the_shown_one_is_wanted() -> None:
    hub, bus = connected(shown=7)
    of_shown: list[int] = []
    of_all: list[int] = []
    bus.on_shown(LeafMoved, lambda change: of_shown.append(change.new))
    bus.on(LeafMoved, lambda change: of_all.append(change.new))
    hub.publish(LeafMoved(7, 1, 2))
    hub.publish(LeafMoved(8, 1, 3))
    assert (of_shown, of_all) == ([2], [2, 3])


def test_with_no_session_shown_nothing_of_one_arrives() -> None:
    hub, bus = connected(shown=0)
    got: list[object] = []
    bus.on_shown(EntriesAppended, got.append)
    hub.publish(EntriesAppended(1, 0, 1))
    assert got == []


def test_listeners_are_called_in_the_order_in_which_they_came_and_may_leave() -> None:
    hub, bus = connected()
    got: list[str] = []
    forget = bus.on(SessionsChanged, lambda _change: got.append("first"))
    bus.on(SessionsChanged, lambda _change: got.append("second"))
    hub.publish(SessionsChanged())
    forget()
    hub.publish(SessionsChanged())
    assert got == ["first", "second", "second"]

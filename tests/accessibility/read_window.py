"""Reads a window through the accessibility bus and works it by the bus alone.

Run by the system's Python, which has the bindings of at-spi2, beside the program: the program is
``Session Explorer`` on the bus. Prints what it saw as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

PROGRAM = "Session Explorer"
PATIENCE_S = 60.0
_MOST_CHILDREN = 300

Found = TypeVar("Found")


def program() -> Any:
    """The program on the bus, or None; nothing that was read before is believed."""
    desktop = Atspi.get_desktop(0)
    desktop.clear_cache()
    for at in range(desktop.get_child_count()):
        found = desktop.get_child_at_index(at)
        if found is not None and found.get_name() == PROGRAM:
            return found
    return None


def is_showing(node: Any) -> bool:
    return node.get_state_set().contains(Atspi.StateType.SHOWING)


def children(node: Any) -> Iterator[Any]:
    for at in range(min(node.get_child_count(), _MOST_CHILDREN)):
        child = node.get_child_at_index(at)
        if child is not None:
            yield child


def walk(node: Any) -> Iterator[Any]:
    """What can be seen of a node, itself first."""
    yield node
    for child in children(node):
        # A frame has no showing state of its own on some platforms; what it holds has.
        if is_showing(child):
            yield from walk(child)


def wait(what: str, look: Callable[[], Found | None]) -> Found:
    """Look until something is there; what goes while it is looked at is looked for anew."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            found = look()
        except GLib.Error:
            found = None
        if found:
            return found
        time.sleep(0.1)
    sys.exit(f"{what} did not come within {PATIENCE_S:.0f} s")


def find(role: str, name: str) -> Any:
    """The first control in sight with a role and a name that begins so, or None."""
    top = program()
    for node in walk(top) if top is not None else ():
        if node.get_role_name() == role and node.get_name().startswith(name):
            return node
    return None


def press(role: str, name: str) -> None:
    """Do the first action of a control, as soon as it is there and can be pressed."""

    def pressed() -> bool:
        node = find(role, name)
        if node is None or not node.get_state_set().contains(Atspi.StateType.ENABLED):
            return False
        return bool(node.get_n_actions() and node.do_action(0))

    wait(f"{role} {name!r}", pressed)


def told(node: Any) -> dict[str, Any]:
    """What the bus tells of one node."""
    labels = [
        relation.get_target(at).get_name()
        for relation in node.get_relation_set()
        if relation.get_relation_type() == Atspi.RelationType.LABELLED_BY
        for at in range(relation.get_n_targets())
    ]
    return {
        "role": node.get_role_name(),
        "name": node.get_name(),
        "description": node.get_description(),
        "labels": labels,
        "states": [state.value_nick for state in node.get_state_set().get_states()],
    }


def everything() -> list[dict[str, Any]]:
    """All that can be seen of the program."""
    return wait("the window", lambda: [told(node) for node in walk(program())])


def items(role: str, name: str) -> list[dict[str, Any]]:
    """The items in sight of a list that has a name."""

    def look() -> list[dict[str, Any]] | None:
        found = find(role, name)
        return [told(item) for item in children(found)] if found is not None else None

    return wait(name, look)


def choose(menu: str, name: str) -> None:
    """Choose an item of the menu bar, whether its menu is open or not."""

    def chosen() -> bool:
        top = find("menu item", menu)
        for node in children(top) if top is not None else ():
            for item in (node, *children(node)):
                if item.get_name().startswith(name):
                    return bool(item.do_action(0))
        return False

    wait(f"{menu} > {name}", chosen)


def read() -> dict[str, Any]:
    """The first page and the example, which is opened; what was seen."""
    wait("the first page", lambda: find("push button", "Look at an example"))
    seen: dict[str, Any] = {"welcome": everything()}
    press("push button", "Look at an example")
    press("push button", "Skip")
    for tab in ("Entry", "Context", "Audit", "Prompt"):
        press("page tab", tab)
        seen[f"tab {tab}"] = everything()
    seen["map"] = items("list", "Session map")
    seen["conversation"] = items("list", "Conversation at the leaf")
    return seen


def look_around(seen: dict[str, Any]) -> dict[str, Any]:
    """Open the other windows and panels one after the other; adds what each shows."""
    learn = "Close the panel Learn"
    for name, menu, item, there, end in (
        ("settings", "Tools", "Settings", ("dialog", "Settings"), "Close"),
        ("models", "Tools", "Models", ("dialog", "Models"), "Close"),
        ("lessons", "Help", "Learn", ("push button", learn), learn),
        ("library", "Session", "All sessions", ("dialog", "All sessions"), None),
    ):
        choose(menu, item)
        wait(name, partial(find, *there))
        seen[name] = everything()
        if end is not None:
            press("push button", end)
    press("check box", "Archive")
    wait("the archive", lambda: find("label", "1 session") is None)
    seen["archive"] = everything()
    press("check box", "Library")
    wait("the library", partial(find, "label", "1 session"))
    return seen


def compact(seen: dict[str, Any]) -> dict[str, Any]:
    """From the example to a compaction on the map; adds what was seen on the way."""
    press("page tab", "Compaction")
    wait("Summarize", lambda: find("push button", "Summarize"))
    seen["compaction"] = everything()
    press("push button", "Summarize")
    wait("the draft", lambda: find("push button", "Commit"))
    seen["draft"] = everything()
    press("push button", "Commit")

    def grown() -> list[dict[str, Any]] | None:
        now = items("list", "Session map")
        return now if "ompaction" in now[-1]["name"] else None

    seen["map after"] = wait("the compaction on the map", grown)
    return seen


if __name__ == "__main__":
    json.dump(compact(look_around(read())), sys.stdout)

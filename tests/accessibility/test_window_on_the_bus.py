"""The real window on a display and a bus of its own, read and worked through the bus alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

READER = Path(__file__).with_name("read_window.py")
SYSTEM_PYTHON = "/usr/bin/python3"
LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
BINDINGS = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
CONTROLS = {
    "check box", "combo box", "list", "list item", "menu item", "page tab", "push button",
    "radio button", "slider", "spin button", "table", "text",
}  # fmt: skip
PATIENCE_S = 240.0

WORK = """
"$LAUNCHER" --launch-immediately >&2 &
bus=$!
"$PROGRAM" >&2 &
program=$!
"$SYSTEM_PYTHON" "$READER"
status=$?
kill -0 $program || { wait $program; echo "the program ended: $?" >&2; status=1; }
kill $program $bus
exit $status
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What the reader saw of each page, each node with its role, name, labels and states."""
    launcher = next((path for path in LAUNCHERS if os.access(path, os.X_OK)), None)
    tools = [name for name in ("dbus-run-session", "xvfb-run") if shutil.which(name) is None]
    if launcher is None or tools:
        pytest.skip(f"not installed: {', '.join(tools) or 'at-spi2-core'}")
    if subprocess.run([SYSTEM_PYTHON, "-c", BINDINGS], capture_output=True).returncode:
        pytest.skip(f"{SYSTEM_PYTHON} has no bindings of at-spi2 (gir1.2-atspi-2.0, python3-gi)")
    home = tmp_path_factory.mktemp("bus")
    runtime = home / "runtime"
    runtime.mkdir(mode=0o700)
    added = {
        "HOME": home, "SESSION_EXPLORER_HOME": home / "explorer", "XDG_RUNTIME_DIR": runtime,
        "QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "LAUNCHER": launcher,
        "PROGRAM": Path(sys.executable).with_name("session-explorer"), "READER": READER,
        "SYSTEM_PYTHON": SYSTEM_PYTHON,
        # What was freed is written over, so that a look at it ends the program.
        "MALLOC_PERTURB_": "165",
    }  # fmt: skip
    session = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", "dbus-run-session", "--"]
    done = subprocess.run(
        [*session, "sh", "-c", WORK],
        env=os.environ | {name: str(value) for name, value in added.items()},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_every_control_has_a_name_or_says_what_it_is_for(
    seen: dict[str, list[dict[str, Any]]],
) -> None:
    for page, nodes in seen.items():
        for node in nodes:
            if node["role"] in CONTROLS or "focusable" in node["states"]:
                assert node["name"] or node["labels"], (page, node)
            if node["role"] == "combo box":  # its name is what is chosen
                assert node["labels"] or node["description"], (page, node)


def test_the_entries_of_map_and_conversation_are_there(
    seen: dict[str, list[dict[str, Any]]],
) -> None:
    assert len(seen["map"]) > 5
    assert all(", entry " in item["name"] for item in seen["map"])
    assert any(item["name"].startswith("You: ") for item in seen["conversation"])


def test_a_start_button_that_cannot_be_pressed_says_why(
    seen: dict[str, list[dict[str, Any]]],
) -> None:
    starts = [node for node in seen["welcome"] if node["role"] == "push button"]
    assert starts
    for node in starts:
        assert "enabled" in node["states"] or "opened" in node["description"], node


def test_a_place_of_the_library_is_chosen_by_a_toggle(
    seen: dict[str, list[dict[str, Any]]],
) -> None:
    def cells(page: str) -> set[str]:
        return {node["name"] for node in seen[page] if node["role"] == "table cell"}

    assert "todo-api" in cells("library")
    assert "todo-api" not in cells("archive")


def test_a_compaction_is_made_by_the_bus_alone(seen: dict[str, list[dict[str, Any]]]) -> None:
    assert seen["map after"][-1]["name"] != seen["map"][-1]["name"]
    assert any("ompaction" in item["name"] for item in seen["map after"])

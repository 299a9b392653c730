"""Steps that several tests of the window take."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLineEdit

from explorer.compaction.preparation import Preparation
from tests.ui.window.running import NotReached, RunningWindow
from ui.map.navigation import LeavingDialog


async def open_sample(live: RunningWindow) -> None:
    """Open the bundled session as the welcome page offers it, and skip its callouts."""
    assert live.window.welcome.example.hasFocus()
    live.keys("Return")
    await live.until(lambda: live.session.tour.callout.isVisible(), "the first callout")
    live.keys("Esc")
    await live.idle()


def prepared(live: RunningWindow) -> Preparation:
    """The compaction that the panel previews; it must be possible."""
    preparation = live.partition.preparation
    assert isinstance(preparation, Preparation), preparation.reason
    return preparation


async def split_a_turn(live: RunningWindow, most: int = 130) -> Preparation:
    """Lower what is kept, key by key, until the cut falls inside a turn (A12)."""
    track = live.window.compaction.setup.keep.track
    assert track.hasFocus()
    for _ in range(most):
        preparation = live.partition.preparation
        if isinstance(preparation, Preparation) and preparation.is_split_turn:
            return preparation
        live.keys("Left")
        await live.settle(1)
    raise NotReached("no size of the kept tail splits a turn")


async def draft(live: RunningWindow) -> None:
    """Press Summarize and wait for the draft."""
    panel = live.window.compaction
    await live.until(
        lambda: live.session.actions["summarize"].isEnabled(), "what can be summarized"
    )
    live.keys("Ctrl+Shift+K")
    await live.until(lambda: panel.draft.drafts(), "the draft")
    await live.idle()


async def commit(live: RunningWindow) -> int:
    """Commit the draft that is shown; the compaction's entry."""
    before = len(live.document.tree)
    live.press_button("Commit", live.window.compaction)
    await live.until(lambda: len(live.document.tree) > before, "the compaction")
    await live.idle()
    return live.document.leaf


async def ask_to_leave(live: RunningWindow, target: int) -> LeavingDialog:
    """Select an entry on the map and press Enter; the question about the branch left behind."""
    live.click_entry(target)
    live.window.map.setFocus()
    live.keys("Return")
    return await live.dialog(LeavingDialog)


async def choose(live: RunningWindow, dialog: LeavingDialog, keys: str, choice: int) -> None:
    """A mnemonic presses its button for a moment before it is chosen."""
    live.keys(keys)
    await live.until(lambda: dialog.choices.checkedId() == choice, f"what {keys} chooses")


async def choose_file(live: RunningWindow, path: Path) -> None:
    """Type a path into the file dialog that is open, and press Enter."""
    dialog = await live.dialog(QFileDialog)
    line = dialog.findChild(QLineEdit, "fileNameEdit")
    assert line is not None
    line.setFocus()
    line.selectAll()
    live.type(str(path), to=line)
    live.keys("Return", to=line)
    await live.until(lambda: not dialog.isVisible(), "the end of the file dialog")
    await live.back()

"""What the panel tells of a draft, a commit and an undo."""

from __future__ import annotations

from collections.abc import Callable

from ui.widgets.figures import count, place
from ui.widgets.notice import Notice, NoticeStrip

_NO_LEAF = -2


class LeafNoticeStrip(NoticeStrip):
    """A notice of a compaction made or taken back is of the leaf that it left behind."""

    _notice_leaf = _NO_LEAF

    def show_of(self, notice: Notice, leaf: int) -> None:
        """Show a notice for as long as the leaf stays."""
        self.show_notice(notice)
        self._notice_leaf = leaf

    def follow(self, leaf: int) -> None:
        """Dismiss a notice of what was done at another leaf."""
        if self._notice_leaf in (_NO_LEAF, leaf):
            return
        self._notice_leaf = _NO_LEAF
        if self.notice is not None and self.notice.level == "done":
            self.dismiss()

    def take(self, other: LeafNoticeStrip) -> None:
        """Show what another strip shows, in its place."""
        if other.notice is not None:
            self.show_of(other.notice, other._notice_leaf)
            other.dismiss()


CANCELLED = Notice("info", "The compaction was cancelled.", "Nothing was changed.")
STOPPED = Notice("info", "Stopped.", "Nothing was stored; your instructions are still here.")


def failed(message: str, details: str) -> Notice:
    """A notice of why no draft was made."""
    return Notice(
        "error",
        message,
        "The session is as it was, and your instructions are still here.",
        "Try again, or choose another model.",
        details,
    )


def committed(
    entry: int, sizes: str, others: int, undo: Callable[[], None], left: int = -1
) -> Notice:
    """The compaction is in the session; ``others`` drafts were put aside for it. ``sizes``: see
    ``compacted_words``; ``left``: the leaf that was left for it, or -1."""
    safe = "What it summarizes stays in the session."
    if others > 0:
        safe += f" {count(others, 'other draft')} put aside."
    what = f"Compacted as #{entry}: {sizes}."
    if left >= 0:
        safe += f" The session goes on from here; Undo comes back to #{left}."
    return Notice("done", what, safe, action="&Undo", on_action=undo, passes=True)


def happened(why: str, entry: int, sizes: str, undo: Callable[[], None]) -> Notice:
    """A compaction that nobody reviewed is in the session."""
    return Notice(
        "done",
        f"Compacted ({why}) as #{entry}: {sizes}.",
        "What it summarizes stays in the session.",
        action="Undo and go on",
        on_action=undo,
    )


def not_stored(message: str) -> Notice:
    """A notice that the compaction could not be stored."""
    return Notice("error", message, "The draft is still here.", "Try again.")


def undone(
    compaction: int, leaf: int, left: int, made_here: bool, redo: Callable[[], None]
) -> Notice:
    """A notice that a compaction was undone; ``left``: the leaf before."""
    whose = "" if made_here else ", which its own agent made,"
    return Notice(
        "done",
        f"Compaction #{compaction}{whose} was taken back; the leaf is {place(leaf)} again.",
        f"All stays in the session; Redo comes back to #{left}." if left != compaction else "",
        action="&Redo",
        on_action=redo,
        passes=True,
    )

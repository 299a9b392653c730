"""The panel's strip: what it tells of a leaf goes when another one is there."""

from __future__ import annotations

from ui.widgets.notice import Notice, NoticeStrip

_NO_LEAF = -2


class LeafNoticeStrip(NoticeStrip):
    """A notice of a compaction made or taken back is of the leaf that it left behind."""

    _told_leaf = _NO_LEAF

    def show_of(self, notice: Notice, leaf: int) -> None:
        """Show a notice for as long as the leaf stays."""
        self.show_notice(notice)
        self._told_leaf = leaf

    def follow(self, leaf: int) -> None:
        """The leaf is this one now."""
        if self._told_leaf in (_NO_LEAF, leaf):
            return
        self._told_leaf = _NO_LEAF
        if self.notice is not None and self.notice.level == "done":
            self.dismiss()

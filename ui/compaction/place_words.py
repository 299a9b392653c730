"""What committing a draft of another place than the leaf does, said before it is done."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from explorer.session.tree import SessionTree
from ui.widgets.figures import count


def commit_words(at: int, leaf: int) -> str:
    """What the button says that commits a draft of an entry."""
    return "Co&mmit" if at == leaf else f"Go to #{at} and co&mmit"


def leaving_words(tree: SessionTree, at: int, leaf: int) -> str:
    """What becomes of the leaf and of what was said since; empty for a draft of the leaf."""
    if at == leaf or at < 0:
        return ""
    head = f"This draft is of #{at}, and the leaf is #{leaf}: the commit goes there."
    key = QKeySequence(QKeySequence.StandardKey.Undo)
    native = key.toString(QKeySequence.SequenceFormat.NativeText)
    back = f"Undo ({native}) comes back to #{leaf}."
    if leaf < 0:
        return head
    ancestor = tree.common_ancestor(at, leaf)
    path = tree.path(leaf)
    behind = len(path) - path.position(ancestor) - 1
    if not behind:
        return f"{head} {back}"
    left = count(behind, "entry", "entries")
    stay, whose = ("stays", "its") if behind == 1 else ("stay", "their")
    return (
        f"{head} The {left} since #{ancestor} {stay} in the session, on a branch of {whose} own "
        f"that the model no longer sees. {back}"
    )

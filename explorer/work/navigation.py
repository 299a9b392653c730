"""Where a navigation leads: the new leaf, the text for the composer, what is left behind (B16)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.models.request import ImagePart
from explorer.session.describe import blocks_of, text_of
from explorer.session.kinds import METADATA_KINDS, Kind
from explorer.session.tree import SessionTree

_EDITED_AGAIN = (Kind.USER, Kind.CUSTOM_MESSAGE)


@dataclass(frozen=True, slots=True)
class NavigationPlan:
    """What going to ``target`` would do. Nothing has happened yet."""

    old_leaf: int
    target: int
    """The entry that was pointed at, or -1 for the start of the session."""
    new_leaf: int
    composer_text: str
    """The text of a user message that is to be written anew, else empty."""
    left_behind: list[int]
    """Entries of the path that the new one does not have, oldest first."""
    seen_leaf: int
    """The leaf of the session when this was planned."""
    pictures: tuple[ImagePart, ...] = ()
    """The pictures of that message."""
    keeps_shape: bool = False
    """What is pinned, omitted and kept where the branch is left holds at the new place too."""

    @property
    def is_noop(self) -> bool:
        return self.old_leaf == self.new_leaf == self.seen_leaf and not self.writes_anew

    @property
    def writes_anew(self) -> bool:
        """Whether a message goes back into the box, to be sent again."""
        return bool(self.composer_text or self.pictures)

    @property
    def leaves_branch(self) -> bool:
        """Whether something worth a summary is left behind."""
        return bool(self.left_behind)


def plan_navigation(
    tree: SessionTree,
    old_leaf: int,
    target: int,
    payload: Mapping[str, Any] | None,
    seen_leaf: int | None = None,
    anew: bool = False,
) -> NavigationPlan:
    """The plan for going from ``old_leaf`` to ``target``.

    ``payload`` is the target's entry; it is only read for a user or custom message, whose parent
    becomes the leaf and whose text goes to the composer. ``seen_leaf``: the session's leaf where
    the branch that is left ends elsewhere. ``anew``: a message is written anew even where it is
    the leaf itself.
    """
    new_leaf, text = target, ""
    pictures: tuple[ImagePart, ...] = ()
    if target >= 0 and tree.kind(target) in _EDITED_AGAIN and (anew or target != old_leaf):
        new_leaf = tree.columns.parent[target]
        content = _content(payload or {})
        text = text_of(content)
        pictures = tuple(
            ImagePart(str(block.get("mimeType", "")), str(block.get("data", "")))
            for block in blocks_of(content)
            if block.get("type") == "image"
        )
    seen = old_leaf if seen_leaf is None else seen_leaf
    left = _left_behind(tree, old_leaf, new_leaf)
    return NavigationPlan(old_leaf, target, new_leaf, text, left, seen, pictures)


def plan_move(tree: SessionTree, old_leaf: int, target: int) -> NavigationPlan:
    """The plan for going on from an entry itself, a message of the user too: nothing is written
    anew."""
    left = _left_behind(tree, old_leaf, target)
    return NavigationPlan(old_leaf, target, target, "", left, old_leaf)


def _left_behind(tree: SessionTree, old_leaf: int, new_leaf: int) -> list[int]:
    """What only the path to ``old_leaf`` has; nothing when no model would miss it."""
    if old_leaf < 0:
        return []
    ancestor = tree.common_ancestor(old_leaf, new_leaf)
    path = tree.path(old_leaf)
    left = path[path.position(ancestor) + 1 :].indices()
    return left if any(tree.kind(entry) not in METADATA_KINDS for entry in left) else []


def _content(entry: Mapping[str, Any]) -> object:
    message = entry.get("message")
    return message.get("content") if isinstance(message, Mapping) else entry.get("content")

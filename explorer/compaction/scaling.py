"""How many tokens are kept by count: the estimate brought to the provider's measure (A7, B18)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from explorer.compaction.context_size import last_report
from explorer.compaction.path_view import PathView, marked
from explorer.compaction.profile import Profile, Settings
from explorer.session.kinds import Kind, selector
from explorer.session.tree import SessionTree

PromptReader = Callable[[int], int]
"""Tokens of the prompt that the provider reported with a reply (an entry); -1 for none."""

_BRANCHES = selector({Kind.BRANCH_SUMMARY})


class Keep(NamedTuple):
    """How much of the newest part is kept."""

    tokens: int
    """Counted as the entries are."""
    ratio: float
    """What the provider counted for each token of the estimate; 1 where nothing was scaled."""


def kept_tokens(
    tree: SessionTree,
    view: PathView,
    profile: Profile,
    settings: Settings,
    prompt_of: PromptReader | None = None,
) -> Keep:
    """The tokens to keep; fewer where the provider counts more than the estimate does.

    Without ``prompt_of`` the whole report of the last reply stands in, its answer included.
    """
    keep = settings.keep_recent_tokens
    if profile.keep_recent_scale == "none":
        return Keep(keep, 1.0)
    reply = last_report(tree, view.path, 0)
    if reply < 0:
        return Keep(keep, 1.0)
    reported = tree.columns.usage[reply] if prompt_of is None else prompt_of(reply)
    counted = _counted(tree, view, profile)
    if counted <= 0 or reported <= counted:
        return Keep(keep, 1.0)
    ratio = reported / counted
    return Keep(max(1, int(keep / ratio)), ratio)


def _counted(tree: SessionTree, view: PathView, profile: Profile) -> int:
    """The estimate of all that the next compaction looks at."""
    total = view.weight(view.boundary, len(view))
    if profile.weights != "sent":
        # The walk leaves them out; the estimate of the whole does not.
        for position in marked(view.kinds[view.boundary :], _BRANCHES):
            total += tree.columns.estimate[view.path[view.boundary + position]]
    return total

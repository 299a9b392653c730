"""What a file of Gemini CLI says, line after line, as a tree of messages: replayed as its loader
does, but nothing is forgotten that the loader forgets.

The loader has one list of messages by id: a line replaces the message of its id or is put behind
the others, ``$rewindTo`` removes one and all behind it, ``$set.messages`` replaces the list. Here a
message hangs below the last of the list when it came; so what a rewind removed stays as a branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.formats.documents import UnknownTypes, objects_of
from explorer.formats.gemini.messages import MESSAGE_TYPES, is_snapshot, merged, message_text
from explorer.formats.gemini.nodes import AsidePlace, Lines, Looks, Node, Place, above, looks_of
from explorer.formats.json_fields import text_at
from explorer.session.records import Problem, remark


class Replay:
    """The list of messages and the tree, while the lines of a file pass."""

    def __init__(self, lines: Lines, header_line: int = 0) -> None:
        """``lines`` gives again those that have passed; ``header_line``: the line that the
        session's header was read from."""
        self._lines = lines
        self._header_line = header_line
        self.found: list[Node | AsidePlace | Problem] = []
        """All that was found, in the order of the file."""
        self.tip: Node | None = None
        """Where the next message is put."""
        self._listed: dict[str, Node] = {}
        """The loader's list."""
        self._known: dict[str, Node] = {}
        """The latest message of each id, whether listed or not."""
        self._by_looks: dict[Looks, list[Node]] = {}
        self._not_indexed: dict[Node, None] = {}
        """Messages that came since looks were asked for, which is rare."""
        self._beside: dict[Node | None, Node] = {}
        """By a message that is sent: the last notice or mark that follows it, which the lists of
        checkpoints do not hold."""
        self._keys: set[str] = set()
        self._unknown = UnknownTypes()
        self._order = 0
        self._compacted: dict[Node, Node] = {}
        """By compaction: the last message that it put behind its summary."""

    def take(self, value: Any, place: Place) -> None:
        """The JSON value of the next line."""
        if not isinstance(value, dict):
            self._put_aside(place, "the line is not a JSON object")
            self._add_problem(place, "the line is not a JSON object; it was kept aside")
        elif isinstance(value.get("$rewindTo"), str):
            self._rewind(value["$rewindTo"], place)
        elif isinstance(value.get("id"), str):
            self._add_line(value, place)
        elif isinstance(value.get("$set"), dict):
            self._set(value["$set"], place)
        elif isinstance(value.get("sessionId"), str) or place.line == self._header_line:
            self._take_header(value, place)
        else:
            kind = text_at(value, "type") or " ".join(value)
            if kind in MESSAGE_TYPES:
                kind += " without an id"
            self._unknown.add(kind, place.line)
            self._put_aside(place, "a record of a type that is not known")

    def refuse(self, reason: str, place: Place) -> None:
        """A line that is no JSON."""
        self._put_aside(place, reason)
        self._add_problem(place, f"{reason}; the line was kept aside")

    def finish(self) -> None:
        """The end of the file."""
        self.found += self._unknown.problems()
        for first in list(self._compacted)[:1]:
            reason = (
                "Gemini CLI does not record which messages a compaction keeps: those that follow "
                "its summary were looked for among the earlier ones"
            )
            self.found.append(Problem(first.line, reason))

    # the list -------------------------------------------------------------------------------------

    def _add_line(self, message: dict[str, Any], place: Place) -> None:
        name = message["id"]
        node = self._listed.get(name)
        known = self._known.get(name)
        if node is None and known is not None and known.parent is self.tip:
            # Written again after a rewind that went just as far.
            node = known
        if node is None:
            node = self._new_node(name, message, self.tip, place.line)
        if name not in self._listed:
            self._listed[name] = node
            self._move(node)
        self._add(node, message, place)

    def _new_node(
        self, name: str, message: Mapping[str, Any], parent: Node | None, line: int
    ) -> Node:
        kind = text_at(message, "type")
        if kind not in MESSAGE_TYPES:
            self._unknown.add(kind, line)
        return self._make(name, kind, parent, line)

    def _make(self, name: str, kind: str, parent: Node | None, line: int) -> Node:
        key = name or f"line-{line}"
        while key in self._keys:
            key = f"{key}@{line}"
        self._keys.add(key)
        self._order += 1
        node = Node(key, kind, parent, self._order, line)
        if name:
            self._known[name] = node
        self.found.append(node)
        return node

    def _add(self, node: Node, message: dict[str, Any], place: Place | None) -> None:
        """One more recording of a message: a line, or without a place a checkpoint's copy."""
        node.add(message, place)
        if node.looks is None:
            self._not_indexed[node] = None

    def _index(self) -> None:
        """Takes note of how the new messages look."""
        for node in self._not_indexed:
            looks = self._looks(node)
            if looks.text or looks.calls:
                self._by_looks.setdefault(looks, []).append(node)
        self._not_indexed.clear()

    def _looks(self, node: Node) -> Looks:
        if node.looks is None:
            if node.kind == "compaction":
                node.looks = looks_of({"type": "user", "content": node.summary})
            else:
                lines = [self._lines(place).decode() for place in node.places]
                node.looks = looks_of(merged(objects_of("\n".join([*node.copies, *lines]))))
        return node.looks

    def _move(self, node: Node) -> None:
        """Makes a node the last one."""
        self.tip = node
        if not node.is_sent:
            anchor = next((one for one in above(node.parent) if one.is_sent), None)
            self._beside[anchor] = node

    def _rewind(self, name: str, place: Place) -> None:
        names = list(self._listed)
        first = names.index(name) if name in self._listed else 0
        removed = [self._listed.pop(one) for one in names[first:]]
        mark = self._make("", "rewind", self._end_of_list(), place.line)
        mark.places.append(place)
        mark.removed = len(removed)
        self._move(mark)
        compaction = self._latest_compaction()
        if compaction is not None and any(one.order < compaction.order for one in removed):
            reason = "the rewind takes back messages that a compaction kept; they stay in its tail"
            self._add_problem(place, reason)

    def _end_of_list(self) -> Node | None:
        """What follows the list: its last message, or the notice or mark behind that. The kept
        tail of a compaction is listed behind it, but stands above it."""
        last = next(reversed(self._listed.values()), None)
        compaction = self._latest_compaction()
        if last is not None and compaction is not None and last.order < compaction.order:
            last = self._compacted[compaction]
        return self._beside.get(last, last)

    def _latest_compaction(self) -> Node | None:
        listed = reversed(self._listed.values())
        return next((one for one in listed if one in self._compacted), None)

    # other lines ----------------------------------------------------------------------------------

    def _take_header(self, value: dict[str, Any], place: Place) -> None:
        if place.line != self._header_line:
            self._put_aside(place, "a resume repeats the header")
        if isinstance(value.get("messages"), list):
            self._replace_list(value["messages"], place)

    def _set(self, settings: dict[str, Any], place: Place) -> None:
        messages = settings.get("messages")
        if isinstance(messages, list):
            if not self._replace_list(messages, place):
                self._put_aside(place, "a checkpoint of the messages")
        elif isinstance(settings.get("summary"), str):
            node = self._make("", "name", self.tip, place.line)
            node.places.append(place)
            self._move(node)
        else:
            self._put_aside(place, f"sets {', '.join(settings)}")

    def _put_aside(self, place: Place, reason: str) -> None:
        self.found.append(AsidePlace(place, reason))

    def _add_problem(self, place: Place, reason: str) -> None:
        self.found.append(remark(place.line, reason))

    # checkpoints ----------------------------------------------------------------------------------

    def _replace_list(self, messages: Sequence[Any], place: Place) -> bool:
        """Replaces the list; returns whether that is a compaction, whose entry the line is."""
        items = [one for one in messages if isinstance(one, dict)]
        at = next((at for at, one in enumerate(items) if self._is_new_snapshot(one)), -1)
        if at >= 0:
            self._compact(items, at, place)
            return True
        nodes = self._nodes_of(items)
        last: Node | None = None
        self._listed = {}
        for item, node in zip(items, nodes, strict=True):
            if node is None:
                node = self._new_node(text_at(item, "id"), item, last, place.line)
            self._add(node, item, None)
            self._listed[text_at(item, "id") or node.key] = node
            last = node
        self.tip = self._end_of_list()
        return False

    def _is_new_snapshot(self, message: dict[str, Any]) -> bool:
        return is_snapshot(message) and self._same(message, self._order + 1) is None

    def _same(self, message: dict[str, Any], before: int) -> Node | None:
        """The node of a checkpoint's message: of its id, else the last one that looks the same
        before an order."""
        known = self._known.get(text_at(message, "id"))
        if known is not None:
            return known
        self._index()
        same = self._by_looks.get(looks_of(message), ())
        return next((node for node in reversed(same) if node.order < before), None)

    def _nodes_of(self, items: Sequence[dict[str, Any]]) -> list[Node | None]:
        before = self._order + 1
        nodes: list[Node | None] = []
        for item in reversed(items):
            node = self._same(item, before)
            if node is not None and node.order < before:
                before = node.order
            nodes.append(node)
        return nodes[::-1]

    def _compact(self, items: Sequence[dict[str, Any]], at: int, place: Place) -> None:
        """A compaction: the item at a position is its summary, the reply behind it is no model's,
        and the others behind that are the kept tail, which is among the messages above."""
        snapshot = items[at]
        after = at + 1
        if after < len(items) and text_at(items[after], "type") == "gemini":
            after += 1
        matched = self._match_tail(items[after:])
        node = self._make(text_at(snapshot, "id"), "compaction", self.tip, place.line)
        node.places.append(place)
        node.summary = message_text(snapshot)
        node.is_first_snapshot = next(one for one in items if is_snapshot(one)) is snapshot
        self._not_indexed[node] = None
        tail = [one for one in matched if one is not None]
        node.first_kept = tail[0] if tail else None
        if len(tail) < len(matched):
            reason = f"{len(matched) - len(tail)} of the messages that it keeps are not known above"
            self._add_problem(place, reason)
        self._listed = {}
        last = node
        known: list[Node | None] = [*[None] * after, *matched]
        known[at] = node
        for item, one in zip(items, known, strict=True):
            if one is None:
                one = last = self._new_node(text_at(item, "id"), item, last, place.line)
                self._add(one, item, None)
            elif one is not node:
                self._known[text_at(item, "id")] = one
            self._listed[text_at(item, "id") or one.key] = one
        self.tip = self._compacted[node] = last

    def _match_tail(self, items: Sequence[dict[str, Any]]) -> list[Node | None]:
        """For each kept message the one above that it is, from the last upwards as long as they
        follow each other without a gap."""
        path = [one for one in above(self.tip) if one.is_sent]
        found: list[Node | None] = [None] * len(items)
        at = 0
        for number in range(len(items) - 1, -1, -1):
            looks = looks_of(items[number])
            named = self._known.get(text_at(items[number], "id"))
            step = at
            while step < len(path):
                if path[step] is named or self._looks(path[step]).fits(looks):
                    break
                # Results that a reply records are sent with it, whether or not they are listed.
                step = step + 1 if path[step].is_repeat else len(path)
            if step >= len(path) or path[step].kind == "compaction":
                break
            found[number] = path[step]
            at = step + 1
        return found

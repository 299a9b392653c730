"""What a file of Gemini CLI says, line after line, as a tree of messages: replayed as its loader
does, but nothing is forgotten that the loader forgets. Each message becomes an entry with the lines
that it came from, the results of its tool calls behind it.

The loader has one list of messages by id: a line replaces the message of its id or is put behind
the others, ``$rewindTo`` removes one and all behind it, ``$set.messages`` replaces the list. Here a
message hangs below the last of the list when it came; so what a rewind removed stays as a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.formats.gemini.messages import (
    MESSAGE_TYPES,
    call_result,
    entry_of,
    is_finished,
    is_snapshot,
    merged,
    message_text,
    output_tokens,
    read_parts,
    response_result,
    responses,
    tool_calls,
)
from explorer.formats.json_fields import UnknownTypes, compact, objects_of, text_at
from explorer.formats.typed_source import Leaf, ReadEntry
from explorer.session.entries import CompactionSummary, CustomData, Entry, ToolCallBlock
from explorer.session.json_values import time_ms
from explorer.session.records import Aside, Problem, remark


class Place(NamedTuple):
    """A line of the file."""

    line: int
    """From 1."""
    start: int
    """Its first byte."""
    end: int


Lines = Callable[[Place], bytes]
"""Gives a line. Raises OSError."""


class AsidePlace(NamedTuple):
    """A line that is no entry."""

    place: Place
    reason: str


class Looks(NamedTuple):
    """What two copies of a message have in common under different ids."""

    text: int
    """A number made of its type and its texts; 0 where it has none."""
    calls: frozenset[str]
    """The calls that it makes or answers."""

    def fits(self, other: Looks) -> bool:
        """Whether both are the same message. A tool's result may be cut short in a copy."""
        if self.calls or other.calls:
            return self.calls == other.calls
        return self.text == other.text


class Node(Struct, eq=False):
    """A place in the tree: a message, a compaction, a rewind or a name."""

    key: str
    """Id of its entry."""
    kind: str
    parent: Node | None
    order: int
    line: int
    looks: Looks | None = None
    """None until they are asked for."""
    places: list[Place] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """The message as a checkpoint has it, where its own lines lack something."""
    calls: dict[str, bool] = field(default_factory=dict)
    """By call id: whether the message says how it ended."""
    answers: tuple[str, ...] = ()
    """Ids of the calls whose results the message sends back."""
    says_more: bool = True
    """Whether it says anything besides such results."""
    output: int = -1
    """Tokens of the reply; -1 before any were seen."""
    removed: int = 0
    """Of a rewind: messages that it took back."""
    first_kept: Node | None = None
    """Of a compaction: the message that its kept tail begins with."""
    summary: str = ""
    """Of a compaction."""
    is_first_snapshot: bool = True
    """Whether its summary is the first one of its line."""
    first_id: str = ""
    """The first entry that was made of it."""
    last_id: str = ""
    """The entry that what follows hangs on."""

    @property
    def is_sent(self) -> bool:
        """Whether the model is sent anything of it."""
        return self.kind in ("user", "gemini", "compaction")

    @property
    def is_repeat(self) -> bool:
        """Whether it says nothing but results of calls, which their replies record as well."""
        return bool(self.answers) and not self.says_more

    def add(self, message: Mapping[str, Any], place: Place | None) -> None:
        """One more recording of the message: a line of the file, or without a place a checkpoint's
        copy, which counts where it adds something."""
        before = (len(self.calls), sum(self.calls.values()), self.output)
        for number, call in enumerate(tool_calls(message)):
            name = text_at(call, "id") or str(number)
            self.calls[name] = self.calls.get(name, False) or is_finished(call)
        if message.get("tokens") is not None:
            self.output = max(self.output, output_tokens(message))
        found = responses(message)
        if found and not self.answers:
            self.answers = tuple(text_at(one, "id") for one in found)
            self.says_more = len(read_parts(message.get("content"))) > len(found)
        if place is not None:
            self.places.append(place)
            self.looks = None
        elif before != (len(self.calls), sum(self.calls.values()), self.output) or not (
            self.places or self.copies
        ):
            self.copies.append(compact(message))
            self.looks = None


def looks_of(message: Mapping[str, Any]) -> Looks:
    """By what a copy of a message is found under another id."""
    calls = {text_at(one, "id") for one in (*tool_calls(message), *responses(message))}
    for block in read_parts(message.get("content")):
        if isinstance(block, ToolCallBlock):
            calls.add(block.id)
    text = message_text(message)
    kind = message.get("type")
    if calls - {""}:
        # A reply and what answers it name the same calls.
        return Looks(0, frozenset(f"{kind} {one}" for one in calls if one))
    return Looks(hash((str(kind), text)) if text else 0, frozenset())


def above(node: Node | None) -> Iterator[Node]:
    """A node and those above it."""
    while node is not None:
        yield node
        node = node.parent


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


class Entries:
    """Entries, asides and problems of a replay in the order of the file."""

    def __init__(self, replay: Replay, lines: Lines) -> None:
        self._replay = replay
        self._lines = lines
        nodes = [one for one in replay.found if isinstance(one, Node)]
        self._finished = {
            call for node in nodes for call, finished in node.calls.items() if finished
        }
        """Calls whose results their own replies record."""
        self._results: dict[str, str] = {}
        """By call: the entry of its result."""

    def __iter__(self) -> Iterator[ReadEntry | Aside | Problem | Leaf]:
        for one in self._replay.found:
            if isinstance(one, Node):
                yield from self._of_node(one)
            elif isinstance(one, AsidePlace):
                yield Aside(one.place.line, self._lines(one.place), one.reason)
            else:
                yield one
        tip = self._replay.tip
        if tip is not None and tip.last_id:
            yield Leaf(tip.last_id)

    def _of_node(self, node: Node) -> Iterator[ReadEntry | Aside]:
        node.last_id = node.parent.last_id if node.parent is not None else ""
        own = [self._lines(place) for place in node.places]
        record = "\n".join([*node.copies, *(line.decode() for line in own)])
        values = objects_of(record)
        message = merged(values)
        entry = entry_of(values, message)
        match node.kind:
            case "compaction":
                yield self._compaction(node, entry, record)
            case "rewind":
                body = CustomData("rewind", {**_data(entry), "removed": node.removed})
                yield self._put(node, replace(entry, body=body), record, node.key, ("data",))
            case "user":
                yield from self._answers(node, message)
                if node.says_more:
                    yield self._put(node, entry, record, node.key)
                else:
                    for place, line in zip(node.places, own, strict=True):
                        reason = "sends back the results that the calls' reply records"
                        yield Aside(place.line, line, reason)
            case _:
                yield self._put(node, entry, record, node.key)
                yield from self._call_results(node, message)

    def _put(
        self, node: Node, entry: Entry, record: str, key: str, noted: tuple[str, ...] = ()
    ) -> ReadEntry:
        """An entry behind what the node has given so far."""
        entry = replace(entry, id=key, parent_id=node.last_id or None)
        node.first_id = node.first_id or key
        node.last_id = key
        done = node.places[-1].end if node.places else 0
        return ReadEntry(entry, record, node.line, done, noted)

    def _compaction(self, node: Node, entry: Entry, record: str) -> ReadEntry:
        noted = ["first_kept_id"]
        first = node.first_kept
        first_id = ""
        if first is not None:
            # Of results alone, the first that a reply records.
            answers = (self._results.get(one, "") for one in first.answers)
            first_id = first.first_id or next(filter(None, answers), "")
        body = entry.body
        if isinstance(body, CompactionSummary):
            body = replace(body, first_kept_id=first_id)
            if not node.is_first_snapshot:
                body = replace(body, summary=node.summary)
                noted.append("summary")
        return self._put(node, replace(entry, body=body), record, node.key, tuple(noted))

    def _call_results(self, node: Node, message: Mapping[str, Any]) -> Iterator[ReadEntry]:
        calls = tool_calls(message) if node.calls else ()
        for number, call in enumerate(calls):
            if is_finished(call):
                entry = Entry.of(call_result(call), time_ms=time_ms(call.get("timestamp")))
                name = text_at(call, "id") or str(number)
                yield self._result(node, entry, compact(call), name)

    def _answers(self, node: Node, message: Mapping[str, Any]) -> Iterator[ReadEntry]:
        for number, response in enumerate(responses(message)):
            name = text_at(response, "id")
            if name and (name in self._finished or name in self._results):
                continue
            record = compact({"functionResponse": response})
            time = time_ms(message.get("timestamp"))
            entry = Entry.of(response_result(response), time_ms=time)
            yield self._result(node, entry, record, name or str(number), ("time_ms",))

    def _result(
        self, node: Node, entry: Entry, record: str, name: str, noted: tuple[str, ...] = ()
    ) -> ReadEntry:
        key = f"{node.key}/{name}"
        self._results.setdefault(name, key)
        return self._put(node, entry, record, key, noted)


def _data(entry: Entry) -> Mapping[str, Any]:
    data = entry.body.data if isinstance(entry.body, CustomData) else None
    return data if isinstance(data, dict) else {}

"""From the entries of an item to its parts: messages, marks such as compactions, usage footers.
What is too large is not read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from explorer.audit.provenance import (
    NO_MODEL,
    Known,
    Provenance,
    cost_known,
    elapsed_known,
    sizes_known,
    time_known,
    usage_known,
)
from explorer.compaction.profile import PROFILES, Profile
from explorer.session.describe import (
    describe,
    from_extension,
    summary_line,
    token_count,
    usage_tokens,
)
from explorer.session.kinds import Flag, Kind
from explorer.session.payloads import Payloads
from explorer.session.spending import spent_of
from explorer.session.tree import SessionTree
from ui.agent.view.calls import Answer, CallStates, call_parts
from ui.agent.view.parts import (
    AGENT,
    YOU,
    Code,
    Note,
    Part,
    Picture,
    Prose,
    Role,
    Row,
    code_segments,
    segments,
)
from ui.audit.known import NOT_RECORDED, marked, reason
from ui.inspector.blocks import (
    CallBlock,
    CommandBlock,
    ImageBlock,
    Json,
    JsonBlock,
    TextBlock,
    ThinkingBlock,
)
from ui.inspector.content import Related, blocks
from ui.map.folds import clock, fold_of, sized
from ui.theme import role_icon, role_name, role_token
from ui.widgets.figures import count, short, size


def _number(usage: Mapping[str, Any], key: str) -> int:
    value = usage.get(key)
    return token_count(value) if isinstance(value, int | float) else 0


def cost_words(dollars: float) -> str:
    """Dollars with as many places as say something: ``$1.20``, ``$0.0034``."""
    if dollars <= 0:
        return ""
    if dollars < 0.0001:
        return "under $0.0001"
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}".rstrip("0")


class Footer(NamedTuple):
    """What is told below a reply, and how those of its figures are known that are not simply
    recorded."""

    words: str
    tip: str = ""


def _token_words(usage: object) -> list[str]:
    """Tokens of one call; empty where the provider counted nothing."""
    if not isinstance(usage, Mapping):
        return []
    parts = []
    read, written = _number(usage, "cacheRead"), _number(usage, "cacheWrite")
    sent = _number(usage, "input") + read + written
    if sent:
        parts.append(f"{short(sent)} in")
    if read:
        parts.append(f"{short(read)} cached")
    if out := _number(usage, "output"):
        parts.append(f"{short(out)} out")
    if not parts and (total := usage_tokens(usage)) > 0:
        parts.append(f"{short(total)} tokens")
    return parts


def _cost_words(usage: object) -> tuple[str, Known | None]:
    """The cost of a call, and how it is known; None where it is recorded that there is none."""
    cost = usage.get("cost") if isinstance(usage, Mapping) else None
    total = cost.get("total") if isinstance(cost, Mapping) else cost
    is_total = isinstance(total, int | float) and not isinstance(total, bool)
    found = spent_of(usage).cost
    if is_total:
        words = cost_words(found)
        return words, (cost_known(1, 0) if words else None)
    if found:
        known = Known(Provenance.INFERRED, "The sum of the parts that the reply recorded.")
        return marked(cost_words(found), known), known
    return "", cost_known(1, 1)


def tokens_before(entry: Mapping[str, Any]) -> int:
    """What a compaction's agent wrote down as the size before it; 0 where it did not."""
    value = entry.get("tokensBefore", entry.get("tokens_before"))
    return token_count(value) if isinstance(value, int | float) else 0


def footer(message: Mapping[str, Any], time_ms: float, made_here: bool) -> Footer:
    """When a reply was made, by which model, and what it took.

    ``made_here``: this program recorded it; what it does not say was not there to be recorded.
    """
    model, usage = message.get("model"), message.get("usage")
    parts = [clock(time_ms), model if isinstance(model, str) else ""]
    tokens, (cost, cost_is) = _token_words(usage), _cost_words(usage)
    words = [part for part in (*parts, *tokens, cost) if part]
    if made_here:
        return Footer(" · ".join(words))
    known = {
        "time": time_known(time_ms if parts[0] else 0),
        "model": Known(Provenance.EXACT, "") if parts[1] else NO_MODEL,
        "tokens": usage_known(1 if tokens else -1),
        "cost": cost_is,
    }
    missing = [of for of, one in known.items() if one and one.provenance is Provenance.UNREADABLE]
    if missing:
        words.append(f"{_listed(missing)} {NOT_RECORDED}")
    tip = [
        reason(of.capitalize(), one)
        for of, one in known.items()
        if one and one.provenance is not Provenance.EXACT
    ]
    return Footer(" · ".join(words), "\n".join(tip))


def _listed(names: list[str]) -> str:
    """``time, tokens and cost``"""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


_NAMES = {
    Kind.COMPACTION: "Compacted",
    Kind.COMPACTION_SUMMARY_ROLE: "Summary",
    Kind.BRANCH_SUMMARY: "Branch",
    Kind.BRANCH_SUMMARY_ROLE: "Branch",
    Kind.MODEL_CHANGE: "Model",
    Kind.THINKING_LEVEL_CHANGE: "Thinking",
    Kind.RESET_BOUNDARY: "Reset",
    Kind.CUSTOM: "Pruned",
    Kind.SYSTEM: "System",
}


def mark_parts(
    entry: int,
    kind: Kind,
    flags: int,
    data: Json,
    sizes: tuple[int, int] | None,
    known: Known | None,
    is_open: Callable[[str], bool],
) -> list[Part]:
    """A mark, and the words that it opens to. ``known``: how the sizes are."""
    name = _NAMES.get(kind, "Note")
    role = Role(name, role_icon(kind, flags), role_token(kind, flags & ~Flag.ERROR))
    figures = sized(*sizes, known) if sizes is not None and known is not None else ""
    text, tail = _mark_words(kind, data, figures)
    doubted = known is not None and known.provenance is not Provenance.EXACT
    inside = _inside(kind, data)
    opened = bool(inside) and is_open("m")
    row = Row(
        key="m", role=role, text=text, tail=tail, tint="ink" if inside else "dim",
        opens="m" if inside else "", is_open=opened, is_mark=True,
        tip=reason("Sizes", known) if known is not None and doubted else "",
    )  # fmt: skip
    if not opened:
        return [row]
    found: list[Part] = [row]
    for at, piece in enumerate(segments(inside)):
        words = f"```\n{piece.text}\n```" if piece.is_code else piece.text
        found.append(Prose(key=f"m.{at}", text=words, inset=True))
    if from_extension(data):
        found.append(Note(key="m.by", text="written by an extension", inset=True))
    return found


def _mark_words(kind: Kind, data: Json, figures: str) -> tuple[str, str]:
    if kind is Kind.COMPACTION:
        short = data.get("shortSummary")
        words = short if isinstance(short, str) and short else summary_line(_text(data, "summary"))
        return (f"{figures} · {words}" if figures and words else figures or words), "summary"
    if kind in (Kind.BRANCH_SUMMARY, Kind.BRANCH_SUMMARY_ROLE, Kind.COMPACTION_SUMMARY_ROLE):
        words = summary_line(_inside(kind, data))
        return words or "left without a summary", "summary" if words else ""
    facts = describe(dict(data))
    if kind is Kind.MODEL_CHANGE:
        return f"from here on: {facts.model}", ""
    if kind is Kind.THINKING_LEVEL_CHANGE:
        return f"level from here on: {facts.thinking_level or 'off'}", ""
    if kind is Kind.RESET_BOUNDARY:
        return "The context begins anew here", ""
    return facts.preview, "text" if kind is Kind.SYSTEM else ""


def _text(holder: Json, key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _inside(kind: Kind, data: Json) -> str:
    """The words behind a mark."""
    message = data.get("message")
    holder: Json = message if isinstance(message, dict) else data
    if kind is Kind.SYSTEM:
        content = holder.get("content")
        return content if isinstance(content, str) else ""
    return _text(holder, "summary")


FIGURES = "figures"
"""The key of the words that say what a reply took; nothing to stop at."""

MOST_SHOWN = 200_000
"""Characters of one text that are shown; the rest is read in the inspector."""


@dataclass(frozen=True, slots=True)
class ItemRead:
    """An item as far as it was read. ``data`` is None while a large entry is still being read."""

    entry: int
    kind: Kind
    flags: int
    data: Json | None
    preview: str = ""
    time_ms: float = 0.0
    answers: tuple[Answer, ...] = ()
    sizes: tuple[int, int] | None = None
    """Of a compaction: tokens of the context before it and after it."""
    states: CallStates = field(default_factory=CallStates)
    made_here: bool = False
    """Recorded by this program: its figures are exact, and what lacks was never there."""


Opened = Callable[[str], bool]
"""Whether what a row opens is open, by the row's ``opens``."""


def parts_of(item: ItemRead, is_open: Opened) -> list[Part]:
    """What to draw of an item."""
    if item.data is None:
        icon, tint = role_icon(item.kind, item.flags), role_token(item.kind, item.flags)
        role = Role(_short(role_name(item.kind)), icon, tint)
        return [Row(key="wait", role=role, text=item.preview, tail="reading…", tint="dim")]
    if item.kind is Kind.USER:
        return _user(item)
    if item.kind is Kind.ASSISTANT:
        return _reply(item, is_open)
    if item.kind in (Kind.BASH_EXECUTION, Kind.PYTHON_EXECUTION):
        return _execution(item, is_open)
    if item.kind is Kind.TOOL_RESULT:
        return call_parts("r", None, _orphan(item), item.states, is_open)
    if item.kind in (Kind.CUSTOM_MESSAGE, Kind.CUSTOM_ROLE, Kind.FILE_MENTION, Kind.OTHER_ROLE):
        return _note(item)
    known = None
    if item.sizes is not None:
        known = sizes_known(tokens_before(item.data), item.made_here)
    return mark_parts(item.entry, item.kind, item.flags, item.data, item.sizes, known, is_open)


def _short(name: str) -> str:
    return name.split(" ")[0].capitalize()


def text_parts(key: str, text: str, role: Role | None, *, user: bool = False) -> list[Part]:
    """Words of a person or a model, in pieces; the role stands at the first."""
    shown = text.strip("\n")
    rest = len(shown) - MOST_SHOWN
    found: list[Part] = []
    for at, piece in enumerate(segments(shown[:MOST_SHOWN] if rest > 0 else shown)):
        name, by = f"{key}.{at}", role if not at else None
        if piece.is_code:
            found.append(
                Code(
                    key=name, role=by, text=piece.text, language=piece.language,
                    opens=piece.opens, closes=piece.closes, said_by_user=user,
                )
            )  # fmt: skip
        else:
            found.append(Prose(key=name, role=by, text=piece.text, said_by_user=user))
    if rest > 0:
        words = f"{size(rest)} more: shown whole in the inspector"
        found.append(Row(key=f"{key}.more", text=words, tint="accent", goes_to=0))
    return found


def plain_parts(key: str, text: str, *, path: str = "", language: str = "") -> list[Part]:
    """A file or an output in the fixed font, in pieces, below the row that opened it."""
    pieces = code_segments(text, language)
    return [
        Code(
            key=f"{key}.{at}", text=piece.text, language=piece.language, path=path, inset=True,
            opens=piece.opens, closes=piece.closes, fenced=False, coloured=bool(path or language),
        )
        for at, piece in enumerate(pieces)
    ]  # fmt: skip


def _user(item: ItemRead) -> list[Part]:
    assert item.data is not None
    found: list[Part] = []
    for at, block in enumerate(blocks(item.data)):
        role = None if found else YOU
        if isinstance(block, TextBlock):
            found += text_parts(f"t{at}", block.text, role, user=True)
        elif isinstance(block, ImageBlock):
            found.append(Picture(key=f"i{at}", role=role, image=block, said_by_user=True))
        elif isinstance(block, JsonBlock):
            found.append(Note(key=f"j{at}", role=role, text=block.title))
    return found or [Prose(key="t0", role=YOU, text="*(an empty message)*", said_by_user=True)]


def _reply(item: ItemRead, is_open: Opened) -> list[Part]:
    assert item.data is not None
    message: Mapping[str, Any] = item.data.get("message") or {}
    related = [Related(a.entry, a.data) for a in item.answers if a.data is not None]
    by_call = {answer.call_id: answer for answer in item.answers}
    found: list[Part] = []
    said = False
    for at, block in enumerate(blocks(item.data, related)):
        if isinstance(block, ThinkingBlock):
            found += thinking_parts(f"k{at}", block.text, block.redacted, is_open)
        elif isinstance(block, TextBlock) and not block.title and block.text.strip():
            found += text_parts(f"t{at}", block.text, None if said else AGENT)
            said = True
        elif isinstance(block, CallBlock):
            answer = by_call.get(block.call_id)
            found += call_parts(f"c{at}", block, answer, item.states, is_open)
        elif isinstance(block, ImageBlock):
            found.append(Picture(key=f"i{at}", image=block))
    asked = {block.call_id for block in blocks(item.data, related) if isinstance(block, CallBlock)}
    for answer in item.answers:
        if answer.call_id not in asked:
            found += call_parts(f"r{answer.entry}", None, answer, item.states, is_open)
    figures = footer(message, item.time_ms, item.made_here)
    return found + reply_end(item.flags, message, figures, said or not item.answers)


def reply_end(
    flags: int, message: Mapping[str, Any], figures: Footer, with_figures: bool = True
) -> list[Part]:
    """Why a reply broke off, and what it took."""
    found: list[Part] = []
    why = str(message.get("errorMessage") or "")
    if flags & Flag.ERROR:
        words = f"Failed: {why or 'the model did not say why.'}"
        found.append(Note(key="why", text=words, tint="lost", icon="error"))
    elif flags & Flag.ABORTED:
        words = f"Stopped. {why}" if why and why.lower() not in _STOPPED else "Stopped by you"
        found.append(Note(key="why", text=words, tint="comp", icon="stop"))
    elif flags & Flag.LENGTH_STOP:
        words = "Cut short: the answer reached the model's output limit."
        found.append(Note(key="why", text=words, tint="comp", icon="warning"))
    if figures.words and (with_figures or found):
        found.append(Note(key=FIGURES, text=figures.words, tip=figures.tip))
    return found


_STOPPED = ("stopped by the person", "stopped by the person.", "the reply was stopped.")
"""What a stop is recorded as here; what an imported one says otherwise is shown."""


def thinking_parts(key: str, text: str, redacted: bool, is_open: Opened) -> list[Part]:
    """Thinking in one line, and what it opens to."""
    role = Role("Thinking", "thinking", "think")
    if redacted and not text:
        return [Row(key=key, role=role, text="kept back by the provider", tint="dim")]
    first = next((line.strip("#* ") for line in text.split("\n") if line.strip()), "")
    lines = count(text.strip().count("\n") + 1, "line")
    opened = is_open(key)
    row = Row(
        key=key, role=role, text="" if opened else first, tail=lines, tint="dim", opens=key,
        is_open=opened,
    )  # fmt: skip
    if not opened:
        return [row]
    inside = [
        Prose(key=f"{key}.{at}", text=piece.text, inset=True)
        if not piece.is_code
        else Code(
            key=f"{key}.{at}", text=piece.text, language=piece.language, inset=True,
            opens=piece.opens, closes=piece.closes,
        )
        for at, piece in enumerate(segments(text.strip()[:MOST_SHOWN]))
    ]  # fmt: skip
    return [row, *inside]


def _orphan(item: ItemRead) -> Answer:
    return Answer.of(item.entry, item.flags, item.data, item.preview, item.time_ms)


def _execution(item: ItemRead, is_open: Opened) -> list[Part]:
    """A command that the person ran."""
    assert item.data is not None
    (block,) = blocks(item.data)
    assert isinstance(block, CommandBlock)
    failed = bool(item.flags & (Flag.ERROR | Flag.ABORTED))
    lines = count(block.output.rstrip("\n").count("\n") + 1, "line") if block.output else ""
    code = f"exit code {block.exit_code}" if block.exit_code else ""
    tail = " · ".join(word for word in (code, *block.remarks, lines) if word)
    python = block.language == "python"
    role = Role("Python" if python else "Shell", "python" if python else "shell", "shell")
    opened = is_open("x")
    row = Row(
        key="x", role=role, text=block.command.split("\n")[0], mono=True, tail=tail,
        tail_tint="lost" if failed else "dim", opens="x", is_open=opened,
    )  # fmt: skip
    if not opened:
        return [row]
    inside: Sequence[Part] = ()
    if "\n" in block.command:
        inside = plain_parts("x.c", block.command, language=block.language)
    output = plain_parts("x.o", block.output.rstrip("\n")[:MOST_SHOWN]) if block.output else []
    return [row, *inside, *output]


def _note(item: ItemRead) -> list[Part]:
    assert item.data is not None
    role = Role("Note", role_icon(item.kind), "dim")
    found: list[Part] = []
    for at, block in enumerate(blocks(item.data)):
        by = None if found else role
        if isinstance(block, TextBlock):
            found += text_parts(f"t{at}", block.text, by)
        elif isinstance(block, ImageBlock):
            found.append(Picture(key=f"i{at}", role=by, image=block))
    return found


READ_AT_ONCE = 256 * 1024
"""Bytes of an entry that are read while the window waits; larger ones are read in a thread."""


class ShownDocument(Protocol):
    """What the conversation needs of an opened session."""

    @property
    def tree(self) -> SessionTree:
        """The tree; it grows while the document is open."""

    @property
    def payloads(self) -> Payloads:
        """The JSON of the entries; read from any thread."""

    @property
    def leaf(self) -> int:
        """The entry at the end of the active path, or -1."""

    def previews(self, indices: Sequence[int]) -> list[str]:
        """First lines of entries."""

    def made_here(self, index: int) -> bool:
        """Whether this program recorded an entry; what a file brought, it did not."""

    def weights_for(self, profile: Profile) -> Sequence[int] | None:
        """Tokens per entry by a tokenizer; None while the estimate stands in."""


def _is_large(document: ShownDocument, entry: int) -> bool:
    if not document.tree.columns.flags[entry] & Flag.LARGE:
        return False
    size: Any = getattr(document.payloads, "size", None)
    return size is None or size(entry) > READ_AT_ONCE


def read_item(
    document: ShownDocument,
    entry: int,
    results: Sequence[int],
    states: CallStates,
    *,
    whole: bool = False,
) -> ItemRead:
    """Read an entry with the results below it; ``whole`` reads large ones too.

    Raises what the payloads raise.
    """
    columns = document.tree.columns
    wanted = [at for at in (entry, *results) if whole or not _is_large(document, at)]
    loaded = dict(zip(wanted, document.payloads.entries(wanted), strict=True))
    missing = [at for at in (entry, *results) if at not in loaded]
    lines = dict(zip(missing, document.previews(missing), strict=True)) if missing else {}
    kind = Kind(columns.kind[entry])
    own = document.made_here(entry)
    took = 0.0
    if len(results) == 1 and columns.time[entry] and columns.time[results[0]]:
        took = (columns.time[results[0]] - columns.time[entry]) / 1000
    answers = []
    for at in results:
        answer = Answer.of(at, columns.flags[at], loaded.get(at), lines.get(at, ""))
        if at not in loaded:
            answer = replace(answer, tool=columns.tools[columns.tool[at]])
        answers.append(replace(answer, took_s=took, took_known=elapsed_known(own)))
    data = loaded.get(entry)
    if kind is Kind.ASSISTANT and data is not None:
        answers = _named(data, answers)
    return ItemRead(
        entry, kind, columns.flags[entry], data, lines.get(entry, ""), columns.time[entry],
        tuple(answers), _sizes(document, entry, kind), states, own,
    )  # fmt: skip


def _named(data: Json, answers: list[Answer]) -> list[Answer]:
    """Results that were not read belong to the calls that no other result names, in order."""
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    calls = [
        (str(block.get("id", "")), str(block.get("name", "")))
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]
    taken = {answer.call_id for answer in answers if answer.data is not None}
    open_calls = [call for call in calls if call[0] not in taken]
    found = []
    for answer in answers:
        if answer.data is None:
            fitting = [call for call in open_calls if call[1] == answer.tool]
            if fitting:
                open_calls.remove(fitting[0])
                answer = replace(answer, call_id=fitting[0][0])
        found.append(answer)
    return found


def _sizes(document: ShownDocument, entry: int, kind: Kind) -> tuple[int, int] | None:
    if kind is not Kind.COMPACTION:
        return None
    try:
        # As the map counts them.
        weights = document.weights_for(PROFILES["explorer"])
        fold = fold_of(document.tree, entry, weights)
    except KeyError:
        return None
    return fold.tokens_before, fold.tokens_after

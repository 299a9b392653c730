"""From the entries of an item to its parts: messages, marks such as compactions, usage footers.
What is too large is not read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.audit.provenance import (
    NO_MODEL,
    Known,
    Provenance,
    cost_known,
    elapsed_known,
    sizes_known,
    spending_known,
    time_known,
    usage_known,
)
from explorer.services.document import Document
from explorer.session.describe import describe
from explorer.session.entries import (
    AssistantMessage,
    BranchSummary,
    CompactionSummary,
    Entry,
    ImageBlock,
    ModelChange,
    ShellMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
    ThinkingLevelChange,
    TokenUsage,
)
from explorer.session.kinds import Flag, Kind
from explorer.session.text import summary_line
from explorer.session.usage_sums import NOT_LISTED, Listed, UsageSum
from ui.audit.known import AT_LEAST, NOT_RECORDED, marked, reason
from ui.conversation.view.calls import CallAnswer, CallStates, call_parts
from ui.conversation.view.parts import (
    AGENT,
    AUTOMATIC,
    YOU,
    ItemPart,
    Note,
    PicturePart,
    Prose,
    Role,
    Row,
    plain_parts,
    text_parts,
)
from ui.map.folds import ContextSizes, clock, compaction_sizes
from ui.theme import role_icon, role_name, role_token
from ui.widgets.figures import count, short
from ui.widgets.message_blocks import CallBlock, JsonBlock, PlainBlock, blocks, shell_remarks


def cost_words(dollars: float) -> str:
    """Dollars with as many places as say something: ``$1.20``, ``$0.0034``."""
    if dollars <= 0:
        return ""
    if dollars < 0.0001:
        return "under $0.0001"
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}".rstrip("0")


class Footer(NamedTuple):
    """The figures below a reply, and how those of them are known that are not simply recorded."""

    words: str
    tip: str = ""


def _token_words(usage: TokenUsage | None) -> list[str]:
    """Tokens of one call; empty where the provider counted nothing."""
    if usage is None:
        return []
    sent = usage.input + usage.cache_read + usage.cache_write
    figures = [(sent, "in"), (usage.cache_read, "cached"), (usage.output, "out")]
    # What was counted before the answer was written says nothing of it.
    has_output = not (usage.is_partial and figures.pop()[0])
    parts = [f"{short(tokens)} {word}" for tokens, word in figures if tokens]
    parts += [] if has_output else ["output not counted"]
    return parts or ([f"{short(usage.context)} tokens"] if usage.context > 0 else [])


def _cost(usage: TokenUsage | None, listed: Listed) -> tuple[str, Known | None]:
    """The cost of a call, and how it is known; None where it is recorded that there is none."""
    if usage is not None and usage.cost:
        return cost_words(usage.cost), cost_known(1, 0)
    if listed.dollars:
        low, words = listed.low_priced, cost_words(listed.dollars)
        known = spending_known(UsageSum(calls=1, unpriced=1, listed=1, low_priced=low))
        is_least = low > 0 or (usage is not None and usage.is_partial)
        return f"{AT_LEAST}{words}" if is_least else marked(words, known), known
    return "", cost_known(1, 1) if usage is None or usage.costs is None else None


def footer(
    message: AssistantMessage, time_ms: float, made_here: bool, listed: Listed = NOT_LISTED
) -> Footer:
    """When a reply was made, by which model, and what it took. ``listed``: its
    cost by listed prices, where none is recorded.

    ``made_here``: this program recorded it; what it does not say was not there to be recorded.
    """
    moment, tokens = clock(time_ms), _token_words(message.usage)
    cost, cost_is = _cost(message.usage, listed)
    words = [part for part in (moment, message.model, *tokens, cost) if part]
    if made_here:
        return Footer(" · ".join(words))
    known = {
        "time": time_known(time_ms if moment else 0),
        "model": Known(Provenance.EXACT, "") if message.model else NO_MODEL,
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


def _mark(item: ItemRead, entry: Entry, is_open: Opened) -> list[ItemPart]:
    """A mark, and the words that it opens to."""
    kind, body = item.kind, entry.body
    known = None
    if item.sizes is not None:
        before = body.tokens_before if isinstance(body, CompactionSummary) else 0
        known = sizes_known(before, item.made_here)
    figures = item.sizes.words(known) if item.sizes is not None and known is not None else ""
    text, tail = _mark_words(entry, figures)
    doubted = known is not None and known.provenance is not Provenance.EXACT
    doubted &= item.sizes is None or not item.sizes.is_recorded
    words = entry.summary or entry.text
    opened = bool(words) and is_open("m")
    role = Role(
        _NAMES.get(kind, "Note"), role_icon(kind, item.flags),
        role_token(kind, item.flags & ~Flag.ERROR),
    )  # fmt: skip
    row = Row(
        key="m", role=role, text=text, tail=tail, tint="ink" if words else "dim",
        opens="m" if words else "", is_open=opened, is_mark=True,
        tip=reason("Sizes", known) if known is not None and doubted else "",
    )  # fmt: skip
    if not opened:
        return [row]
    found = [row, *text_parts("m", words, inset=True)]
    if isinstance(body, CompactionSummary | BranchSummary) and body.from_extension:
        found.append(Note(key="m.by", text="written by an extension", inset=True))
    return found


def _mark_words(entry: Entry, figures: str) -> tuple[str, str]:
    line = describe(entry).preview
    match entry.body:
        case CompactionSummary():
            return " · ".join(part for part in (figures, line) if part), "summary"
        case BranchSummary(summary) | SummaryMessage(summary):
            line = summary_line(summary)
            return line or "left without a summary", "summary" if line else ""
        case ModelChange(model):
            return f"from here on: {model}", ""
        case ThinkingLevelChange(level):
            return f"level from here on: {level or 'off'}", ""
    if entry.kind is Kind.RESET_BOUNDARY:
        return "The context begins anew here", ""
    return line, "text" if entry.kind is Kind.SYSTEM else ""


FIGURES = "figures"
"""The key of the words that say what a reply took; nothing to stop at."""


class ItemRead(Struct, frozen=True):
    """An item as far as it was read. ``data`` is None while a large entry is still being read."""

    entry: int
    kind: Kind
    flags: int
    data: Entry | None
    preview: str = ""
    time_ms: float = 0.0
    answers: tuple[CallAnswer, ...] = ()
    sizes: ContextSizes | None = None
    """Of a compaction: tokens of the context before it and after it."""
    states: CallStates = field(default_factory=CallStates)
    made_here: bool = False
    """Recorded by this program: its figures are exact, and what lacks was never there."""
    listed: Listed = NOT_LISTED
    """What a reply cost whose cost is not recorded."""


Opened = Callable[[str], bool]
"""Whether what a row opens is open, by the row's ``opens``."""


def parts_of(item: ItemRead, is_open: Opened) -> list[ItemPart]:
    """What to draw of an item."""
    entry = item.data
    if entry is None:
        icon, tint = role_icon(item.kind, item.flags), role_token(item.kind, item.flags)
        role = Role(_short(role_name(item.kind)), icon, tint)
        return [Row(key="wait", role=role, text=item.preview, tail="reading…", tint="dim")]
    if isinstance(entry.body, AssistantMessage):
        return _reply(item, entry, entry.body, is_open)
    if isinstance(entry.body, ShellMessage):
        return _execution(item.flags, entry.body, is_open)
    if item.kind is Kind.USER and item.flags & Flag.SYNTHETIC:
        return _automatic(entry, is_open)
    if item.kind is Kind.USER:
        words = Prose(key="t0", role=YOU, text="*(an empty message)*", by_user=True)
        return _message(entry, YOU, is_open) or [words]
    if item.kind is Kind.TOOL_RESULT:
        answer = CallAnswer.of(item.entry, item.flags, entry, item.preview)
        return call_parts("r", None, answer, item.states, is_open)
    if item.kind in (Kind.CUSTOM_MESSAGE, Kind.CUSTOM_ROLE, Kind.FILE_MENTION, Kind.OTHER_ROLE):
        return _message(entry, Role("Note", role_icon(item.kind), "dim"), is_open)
    return _mark(item, entry, is_open)


def _short(name: str) -> str:
    return name.split(" ")[0].capitalize()


def _automatic(entry: Entry, is_open: Opened) -> list[ItemPart]:
    """What a program put in as the user's, in the line that the map shows until it is opened."""
    opened = is_open("auto")
    line = describe(entry).preview
    row = Row(key="auto", role=AUTOMATIC, text=line, tint="dim", opens="auto", is_open=opened)
    return [row, *(_message(entry, None, is_open) if opened else ())]


def _message(entry: Entry, role: Role | None, is_open: Opened) -> list[ItemPart]:
    """A message of text, pictures and files; the role stands at the first part."""
    found: list[ItemPart] = []
    user = role is YOU
    for at, block in enumerate(blocks(entry)):
        by = None if found else role
        match block:
            case TextBlock():
                found += text_parts(f"t{at}", block.text, by, user=user)
            case ImageBlock():
                found.append(PicturePart(key=f"i{at}", role=by, image=block, by_user=user))
            case PlainBlock():
                found += _file(f"f{at}", block, by, is_open)
            case JsonBlock() if user:
                found.append(Note(key=f"j{at}", role=by, text=block.title))
    return found


def _file(key: str, block: PlainBlock, role: Role | None, is_open: Opened) -> list[ItemPart]:
    """A file of a message, in one line until it is opened."""
    opened, lines = is_open(key), count(block.text.count("\n") + 1, "line")
    row = Row(
        key=key, role=role, text=block.title, mono=True, tail=lines, opens=key, is_open=opened
    )
    return [row, *(plain_parts(f"{key}.c", block.text, path=block.path) if opened else ())]


def _reply(item: ItemRead, entry: Entry, body: AssistantMessage, is_open: Opened) -> list[ItemPart]:
    by_call = {answer.call_id: answer for answer in item.answers}
    found: list[ItemPart] = []
    has_text = False
    for at, block in enumerate(blocks(entry)):
        match block:
            case ThinkingBlock():
                found += thinking_parts(f"k{at}", block.text, is_open)
            case TextBlock() if block.text.strip():
                found += text_parts(f"t{at}", block.text, None if has_text else AGENT)
                has_text = True
            case CallBlock():
                answer = by_call.get(block.call_id)
                found += call_parts(f"c{at}", block, answer, item.states, is_open)
            case ImageBlock():
                found.append(PicturePart(key=f"i{at}", image=block))
    asked = {call.id for call in body.calls}
    for answer in (answer for answer in item.answers if answer.call_id not in asked):
        found += call_parts(f"r{answer.entry}", None, answer, item.states, is_open)
    figures = footer(body, item.time_ms, item.made_here, item.listed)
    return found + _reply_end(item.flags, body.error, figures, has_text or not item.answers)


def _reply_end(flags: int, error: str, figures: Footer, with_figures: bool) -> list[ItemPart]:
    """Why a reply broke off, and what it took."""
    found: list[ItemPart] = []
    if flags & Flag.PLACEHOLDER:
        words = "The agent's program wrote this; no model was asked."
        found.append(Note(key="why", text=words, tint="dim", icon="note"))
    elif flags & Flag.ERROR:
        words = f"Failed: {error or 'the model did not say why.'}"
        found.append(Note(key="why", text=words, tint="lost", icon="error"))
    elif flags & Flag.ABORTED:
        is_plain = not error or error.lower() in _STOPPED
        words = "Stopped by you" if is_plain else f"Stopped. {error}"
        found.append(Note(key="why", text=words, tint="comp", icon="stop"))
    elif flags & Flag.LENGTH_STOP:
        words = "Cut short: the answer reached the model's output limit."
        found.append(Note(key="why", text=words, tint="comp", icon="warning"))
    if figures.words and (with_figures or found):
        found.append(Note(key=FIGURES, text=figures.words, tip=figures.tip))
    return found


_STOPPED = ("stopped by the person", "stopped by the person.", "the reply was stopped.")
"""What a stop is recorded as here; what an imported one says otherwise is shown."""


def thinking_parts(key: str, text: str, is_open: Opened) -> list[ItemPart]:
    """Thinking in one line, and what it opens to."""
    role = Role("Thinking", "thinking", "think")
    if not text:
        return [Row(key=key, role=role, text="not shown by the provider", tint="dim")]
    first = next((line.strip("#* ") for line in text.split("\n") if line.strip()), "")
    lines = count(text.strip().count("\n") + 1, "line")
    opened = is_open(key)
    row = Row(
        key=key, role=role, text="" if opened else first, tail=lines, tint="dim", opens=key,
        is_open=opened,
    )  # fmt: skip
    return [row, *(text_parts(key, text, inset=True) if opened else ())]


def _execution(flags: int, shell: ShellMessage, is_open: Opened) -> list[ItemPart]:
    """A command that the person ran."""
    output = shell.output.rstrip("\n")
    lines = count(output.count("\n") + 1, "line") if shell.output else ""
    code = f"exit code {shell.exit_code:g}" if shell.exit_code else ""
    tail = " · ".join(word for word in (code, *shell_remarks(shell), lines) if word)
    name, icon = ("Python", "python") if shell.language == "python" else ("Shell", "shell")
    opened = is_open("x")
    row = Row(
        key="x", role=Role(name, icon, "shell"), text=shell.command.split("\n")[0], mono=True,
        tail=tail, tail_tint="lost" if flags & (Flag.ERROR | Flag.ABORTED) else "dim", opens="x",
        is_open=opened,
    )  # fmt: skip
    found: list[ItemPart] = [row]
    if opened and "\n" in shell.command:
        found += plain_parts("x.c", shell.command, language=shell.language)
    if opened and shell.output:
        found += plain_parts("x.o", output)
    return found


READ_AT_ONCE = 256 * 1024
"""Bytes of an entry that are read while the window waits; larger ones are read in a thread."""


def _is_large(document: Document, entry: int) -> bool:
    if not document.tree.columns.flags[entry] & Flag.LARGE:
        return False
    size: Any = getattr(document.payloads.shown, "size", None)
    return size is None or size(entry) > READ_AT_ONCE


def read_item(
    document: Document,
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
    loaded = dict(zip(wanted, document.payloads.shown.entries(wanted), strict=True))
    missing = [at for at in (entry, *results) if at not in loaded]
    lines = (
        dict(zip(missing, document.payloads.shown.previews(missing), strict=True))
        if missing
        else {}
    )
    kind = Kind(columns.kind[entry])
    made_here = document.writer.made_here(entry)
    took = 0.0
    if len(results) == 1 and columns.time[entry] and columns.time[results[0]]:
        took = (columns.time[results[0]] - columns.time[entry]) / 1000
    answers = []
    for at in results:
        answer = CallAnswer.of(at, columns.flags[at], loaded.get(at), lines.get(at, ""))
        if at not in loaded:
            answer = replace(answer, tool=columns.tools[columns.tool[at]])
        answers.append(replace(answer, took_s=took, took_known=elapsed_known(made_here)))
    data = loaded.get(entry)
    listed = NOT_LISTED
    if kind is Kind.ASSISTANT and data is not None:
        answers = _named(data, answers)
        listed = document.usage.listed_cost(data.usage, columns.models[columns.model[entry]])
    return ItemRead(
        entry, kind, columns.flags[entry], data, lines.get(entry, ""), columns.time[entry],
        tuple(answers), compaction_sizes(document, entry) if kind is Kind.COMPACTION else None,
        states, made_here, listed,
    )  # fmt: skip


def _named(entry: Entry, answers: list[CallAnswer]) -> list[CallAnswer]:
    """Results that were not read belong to the calls that no other result names, in order."""
    taken = {answer.call_id for answer in answers if answer.result is not None}
    open_calls = [call for call in entry.calls if call.id not in taken]
    found = []
    for answer in answers:
        fitting = [call for call in open_calls if call.name == answer.tool]
        if answer.result is None and fitting:
            open_calls.remove(fitting[0])
            answer = replace(answer, call_id=fitting[0].id)
        found.append(answer)
    return found

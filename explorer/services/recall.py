"""The recall test: questions on what a compaction summarized, put to a model that sees what the
agent sees after it, and as a control to the same model with what it saw before.

All cloze questions go in one request, since the context is what a request costs, and it would be
paid for again with each; no answer stands in any of them. Open questions go in another request,
which the sentences of the cloze questions would answer in part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from msgspec import Struct, field

from explorer.audit.generations import ChangedFiles, recorded_compaction
from explorer.audit.recall import (
    BLANK,
    ClozeQuestion,
    OpenQuestion,
    cloze_questions,
    open_questions,
    question_lines,
)
from explorer.audit.recall_result import (
    SIDES,
    RecallQuestions,
    RecallResult,
    RecallSubject,
    Side,
)
from explorer.compaction.messages import entry_to_llm, user_text, with_notes
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.templates import fill
from explorer.facts import NO_TABLE, FactTable, scan
from explorer.models.catalogue import REMOTE, cost_of
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    ImagePart,
    ModelInfo,
    ModelRequest,
    Usage,
)
from explorer.models.request import ToolSpec
from explorer.models.retry import Patience
from explorer.services.agent import chat_of
from explorer.services.document import Document
from explorer.services.draft_records import say_nothing
from explorer.session.entries import Entry, ModelMessage, ToolCallBlock
from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import load_prompt
from explorer.tokens.estimate import IMAGE_UNITS, estimate_text, js_json

_CLOZE_TOKENS, _OPEN_TOKENS = 48, 300
"""Tokens of an answer at most, by the kind of its question."""
_SPARE_TOKENS = 2000
"""Tokens of a reply beside the answers, for models that think before they write."""
JUDGE_TOKENS = 2400
"""Tokens of the reply with the grades at most."""


class RecallRefused(ValueError):
    """The test cannot be made; the message says why, for the person."""


class View(Struct, frozen=True):
    """The context that a model is given. Sizes in tokens, by the estimate."""

    side: Side
    messages: tuple[ChatMessage, ...]
    tokens: int
    whole: int
    """Tokens of the whole context."""
    begins_at: int
    """The first entry in it; -1 of an empty one."""
    entries: frozenset[int] = frozenset()

    @property
    def is_cut(self) -> bool:
        """Whether it is the end of a context that is larger than the model's window."""
        return self.tokens < self.whole

    @property
    def sentence(self) -> str:
        """What it is, for people."""
        what = "After the compaction" if self.side == "after" else "Before it, the control"
        if not self.is_cut:
            return f"{what}: the whole context, about {self.tokens:,} tokens."
        return (
            f"{what}: the whole context of about {self.whole:,} tokens does not fit the model's "
            f"window; its end from #{self.begins_at} on is taken, about {self.tokens:,} tokens."
        )


class RecallTest(Struct, frozen=True):
    """A test as it would be run; nothing was sent for it."""

    questions: RecallQuestions
    views: Mapping[Side, View]
    requests: Mapping[str, ModelRequest]
    """By purpose (``after-cloze``, ``before-open``), in the order in which they are sent."""
    input_tokens: int
    output_tokens: int
    """What all answers may take at most."""
    dollars: float | None
    """What it costs at most; None where a price is not known."""

    @property
    def cost_sentence(self) -> str:
        """What it would cost, before anything is sent."""
        asked = self.questions
        cost = "unknown prices" if self.dollars is None else f"${self.dollars:,.4f} at most"
        return (
            f"{asked.calls} calls of {asked.model}{f' and {asked.judge}' if asked.judge else ''}: "
            f"about {self.input_tokens:,} tokens in, {self.output_tokens:,} out at most; {cost}."
        )


class RecallOrder(Struct, frozen=True):
    """What is asked for."""

    model: str
    judge: str = ""
    questions: int = 20
    seed: int = 1
    cancel: CancelToken = field(default_factory=CancelToken)
    on_progress: Callable[[str], None] = say_nothing
    on_result: Callable[[RecallResult], None] = lambda _result: None
    """Gets what is known by then, whenever a call was answered."""
    patience: Patience = field(default_factory=Patience)


# making a test ------------------------------------------------------------------------------------


class RecallContext(Struct, frozen=True):
    """What a model is given after a compaction, and what that one took out of the context."""

    subject: RecallSubject
    leaf: int
    """The entry at which it was, or would be, compacted."""
    after: Sequence[tuple[int, ModelMessage]]
    """Messages with their entries; -1 for the summary of a draft."""
    summarized: Sequence[int]


def compaction_context(document: Document, entry: int) -> RecallContext:
    """Of a recorded compaction. Reads payloads: for a worker thread. Raises RecallRefused."""
    tree = document.tree
    if not 0 <= entry < len(tree) or tree.kind(entry) is not Kind.COMPACTION:
        raise RecallRefused(f"#{entry} is no compaction.")
    if not document.payloads.shown.entry(entry).summary.strip():
        raise RecallRefused(f"Compaction #{entry} has no summary that could be read.")
    after = document.context(entry)
    reader = with_notes(document.payloads.sent.entries, after.pruned, after.again)
    return RecallContext(
        RecallSubject(entry), tree.columns.parent[entry],
        _sent(document, after.messages, reader(after.messages)),
        recorded_compaction(tree, entry).summarized,
    )  # fmt: skip


def draft_context(
    document: Document, shown: Partition, summary: str, draft: int = 0
) -> RecallContext:
    """Of a draft's text; ``shown``: what it was made from; ``draft``: its id. Raises
    RecallRefused."""
    prepared = shown.preparation
    if not isinstance(prepared, Preparation):
        raise RecallRefused(prepared.reason)
    before = document.context(prepared.leaf)
    path = shown.path
    kept = [
        entry
        for entry in before.messages
        if entry != before.compaction and path.position(entry) >= prepared.cut
    ]
    again = {entry: one for entry, one in prepared.again.items() if entry not in kept}
    wanted = [*again, *kept]
    reader = with_notes(document.payloads.sent.entries, before.pruned, again)
    text = document.shared.privacy.sent(document.shared.templates.compaction_message(summary))
    first: tuple[int, ModelMessage] = (-1, user_text(text))
    messages = [first, *_sent(document, wanted, reader(wanted))]
    indices = path.indices()
    previous = {prepared.previous_compaction} - {-1}
    summarized = sorted({*indices[prepared.boundary : prepared.cut], *previous})
    subject = RecallSubject(draft=draft, text=text_key(summary))
    return RecallContext(subject, prepared.leaf, messages, summarized)


def text_key(summary: str) -> str:
    """Stands for a text of a draft in the records of its tests."""
    text = summary.strip().encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=12).hexdigest()


def plan_tests(
    document: Document, contexts: Sequence[RecallContext], order: RecallOrder
) -> tuple[RecallTest, ...]:
    """A test of each context, with the same questions for all: those on what each of them took
    out. Reads payloads: for a worker thread. Raises RecallRefused."""
    for model in filter(None, (order.model, order.judge)):
        if reason := cannot_answer(document.models.info(model)):
            raise RecallRefused(reason)
    befores = [_before(document, one.leaf) for one in contexts]
    # What the summary states is what is tested: it does not count as seen.
    seen = sorted(
        {
            at
            for one in contexts
            for at, _ in one.after
            if at >= 0 and document.tree.kind(at) is not Kind.COMPACTION
        }
    )
    common = set(contexts[0].summarized).intersection(*(one.summarized for one in contexts[1:]))
    in_all = set.intersection(*({*one.whole} for one in befores)) - {*seen}
    sources = sorted(common & in_all)
    table = scan([*sources, *seen], document.payloads.sent.entries, NO_TABLE)
    cloze = cloze_questions(
        sources, seen, document.payloads.sent.entries, table, order.questions, order.seed
    )
    asked = _open_questions(document, table, sources, sorted(common)) if order.judge else ()
    if not cloze and not asked:
        raise RecallRefused(_nothing_words(contexts))
    return tuple(
        _test(document, order, one, before.messages, cloze, asked)
        for one, before in zip(contexts, befores, strict=True)
    )


def _nothing_words(contexts: Sequence[RecallContext]) -> str:
    if len(contexts) > 1:
        return (
            "Nothing that can be asked about was summarized by each of these. Compare drafts of "
            "the same place."
        )
    return (
        f"Nothing can be asked on {contexts[0].subject.name}: no sentence of a person or failure "
        "of a tool in what was summarized states an exact thing that is not seen after it anyway."
    )


def cannot_answer(model: ModelInfo) -> str:
    """Why a model answers no questions on a context; empty where it does."""
    if model.id == REMOTE:
        return "remote/endpoint only summarizes; it answers no questions."
    if model.offline or model.id.startswith("offline/"):
        return (
            f"{model.id} follows rules and does not read: it cannot answer questions on a context, "
            "so it would show nothing of what a summary is worth. Name a model of a provider or of "
            "a server of yours."
        )
    return ""


class _Before(NamedTuple):
    """The context before a compaction."""

    messages: Sequence[tuple[int, ModelMessage]]
    whole: Sequence[int]
    """The entries in it that are not pruned."""


def _before(document: Document, leaf: int) -> _Before:
    context = document.context(leaf)
    reader = with_notes(document.payloads.sent.entries, context.pruned, context.again)
    messages = _sent(document, context.messages, reader(context.messages))
    return _Before(messages, [at for at, _ in messages if at not in context.pruned])


def _sent(
    document: Document, indices: Sequence[int], entries: Sequence[Entry]
) -> list[tuple[int, ModelMessage]]:
    """Entries of a context as messages, each with its index; without those that are not sent."""
    found = []
    for index, entry in zip(indices, entries, strict=True):
        message = entry_to_llm(entry, document.shared.templates)
        if message is not None:
            found.append((index, message))
    return found


def _open_questions(
    document: Document, table: FactTable, sources: Sequence[int], summarized: Sequence[int]
) -> tuple[OpenQuestion, ...]:
    changes = ChangedFiles(document.tree).of(summarized)
    files = sorted(((path, max(entries)) for path, entries in changes.items() if entries),
                   key=lambda one: one[1])  # fmt: skip
    return open_questions(table.facts(sources), files)


# its requests -------------------------------------------------------------------------------------


class _Prompt(NamedTuple):
    text: str
    cap: int
    """Tokens of the reply at most."""


def _test(
    document: Document,
    order: RecallOrder,
    context: RecallContext,
    before: Sequence[tuple[int, ModelMessage]],
    cloze: tuple[ClozeQuestion, ...],
    asked: tuple[OpenQuestion, ...],
) -> RecallTest:
    info = document.models.info(order.model)
    system = load_prompt("recall-system")
    prompts = _prompts(cloze, asked, info.output_limit)
    most = max(estimate_text(one.text) + one.cap for one in prompts.values())
    room = None if info.window is None else info.window - most - estimate_text(system)
    contexts: dict[Side, Sequence[tuple[int, ModelMessage]]]
    contexts = {"after": context.after, "before": before}
    views = {side: _view(side, contexts[side], order.model, room) for side in SIDES}
    if views["after"].is_cut:
        raise RecallRefused(
            f"The context after the compaction, about {views['after'].whole:,} tokens, does not "
            f"fit the window of {order.model} beside the questions."
        )
    questions = RecallQuestions(
        context.subject, context.leaf, order.model, order.judge, order.seed, cloze, asked,
        frozenset(one.id for one in cloze if one.entry in views["before"].entries),
    )  # fmt: skip
    requests = {
        f"{side}-{name}": _request(order.model, system, views[side], prompt)
        for side in SIDES
        for name, prompt in prompts.items()
    }
    usages = [(order.model, Usage(_size(one.messages), one.max_output_tokens or 0))
              for one in requests.values()]  # fmt: skip
    if asked:
        usages += [(order.judge, Usage(_judged_tokens(asked), JUDGE_TOKENS))] * len(SIDES)
    return RecallTest(
        questions, views, requests,
        sum(usage.input for _, usage in usages), sum(usage.output for _, usage in usages),
        _dollars(document, usages),
    )  # fmt: skip


def _prompts(
    cloze: Sequence[ClozeQuestion], asked: Sequence[OpenQuestion], limit: int | None
) -> dict[str, _Prompt]:
    """The questions as they are put, by kind; ``limit``: tokens that the model writes at most."""

    def prompt(name: str, values: Mapping[str, str], tokens: int) -> _Prompt:
        cap = tokens + _SPARE_TOKENS
        return _Prompt(fill(load_prompt(name), values), min(cap, limit or cap))

    found = {}
    if cloze:
        values = {"questions": question_lines(cloze), "blank": BLANK}
        found["cloze"] = prompt("recall-cloze", values, len(cloze) * _CLOZE_TOKENS)
    if asked:
        values = {"questions": "\n".join(f"{one.id}: {one.text}" for one in asked)}
        found["open"] = prompt("recall-open", values, len(asked) * _OPEN_TOKENS)
    return found


def _request(model: str, system: str, view: View, prompt: _Prompt) -> ModelRequest:
    tools = _tools(view.messages)
    return ModelRequest(
        model,
        (ChatMessage("system", system), *view.messages, ChatMessage("user", prompt.text)),
        max_output_tokens=prompt.cap,
        temperature=0.0,
        tools=tools,
        tool_choice="none" if tools else None,
        of=f"{len(view.entries):,} entries to be asked about",
    )


def _view(
    side: Side, context: Sequence[tuple[int, ModelMessage]], model: str, room: int | None
) -> View:
    """The context, or the longest end of it that takes at most ``room`` tokens."""
    whole = _size(chat_of(context, model))
    first = 0
    if room is not None and whole > room:
        sizes = [_size(_alone(message)) for _, message in context]
        taken = sum(sizes)
        while first < len(context) and taken > room:
            taken -= sizes[first]
            first += 1
    part = context[first:]
    messages = tuple(chat_of(part, model))
    tokens = whole if first == 0 else min(_size(messages), whole - 1)
    entries = [entry for entry, _ in part]
    return View(side, messages, tokens, whole, entries[0] if entries else -1, frozenset(entries))


def _alone(message: ModelMessage) -> list[ChatMessage]:
    """A message by itself, to be measured: results and calls are not left out for want of the
    other."""
    return [ChatMessage("user", text) for text in _texts(message)]


def _texts(message: ModelMessage) -> list[str]:
    found = []
    for block in message.content:
        text = getattr(block, "text", None)
        if isinstance(text, str):
            found.append(text)
        elif isinstance(block, ToolCallBlock):
            found.append(block.name + js_json(block.arguments))
        else:
            found.append("x" * IMAGE_UNITS)
    return found


def _size(messages: Sequence[ChatMessage]) -> int:
    """Tokens of messages by the estimate, calls and pictures among them."""
    total = 0
    for message in messages:
        total += estimate_text(message.text)
        thinking = (message.thinking, *message.more_thinking)
        total += sum(estimate_text(part.text) for part in thinking if part is not None)
        total += sum(
            estimate_text(call.name) + estimate_text(js_json(call.arguments))
            for call in message.tool_calls
        )
        if not isinstance(message.content, str):
            total += sum(isinstance(part, ImagePart) for part in message.content) * IMAGE_UNITS // 4
    return total


def _tools(messages: Sequence[ChatMessage]) -> tuple[ToolSpec, ...]:
    """The tools that messages call, by name: some providers refuse calls of others."""
    names = {call.name: None for message in messages for call in message.tool_calls}
    return tuple(ToolSpec(name, "") for name in names)


def _judged_tokens(asked: Sequence[OpenQuestion]) -> int:
    points = sum(estimate_text(point.text) for one in asked for point in one.points)
    words = sum(map(estimate_text, map(load_prompt, _JUDGE_PROMPTS)))
    return points + words + len(asked) * _OPEN_TOKENS


_JUDGE_PROMPTS = ("recall-judge-system", "recall-judge", "recall-rubric")


def _dollars(document: Document, usages: Sequence[tuple[str, Usage]]) -> float | None:
    costs = [cost_of(usage, document.models.info(model)) for model, usage in usages]
    return sum(cost.total for cost in costs) if all(cost.known for cost in costs) else None

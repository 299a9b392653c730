"""The agent's prompts rendered within a budget, and the summaries that this takes (A45, A47, A48).

Before every request of the agent the prompt is rendered. What the state machine in
``explorer.compaction.background`` decides is done here: a finished summary is applied, a run is
begun with a fork of the very prompt that is sent, and a prompt that does not fit waits for the run
that is under way, or for a summary made at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from explorer.agent.context_port import Outgoing
from explorer.compaction import background as machine
from explorer.compaction.background import Draws, Machine, State
from explorer.compaction.profile.rules import Background
from explorer.models.client import Cancelled, CancelToken, ChatMessage, ModelError
from explorer.models.events import done_or_cancelled
from explorer.prompting.rendering import BudgetExceededError, Rendering
from explorer.prompting.summary_requests import told_ahead, told_now
from explorer.services.agent import outgoing_of
from explorer.services.auto_compaction.confirmation import (
    Answer,
    Compact,
    Confirmation,
    Made,
    NotNow,
    Occasion,
    Question,
)
from explorer.services.auto_compaction.guards import StoredGuards
from explorer.services.auto_compaction.prompt import (
    CopilotWords,
    PreparedPrompt,
    chat_message,
    prepare_prompt,
)
from explorer.services.auto_compaction.summary_strategies import SummarizedPrompt, summarize
from explorer.services.changes import BackgroundChanged, CompactionEnded, CompactionStarted
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.effective_rules import EffectiveRules
from explorer.services.summary_request import DraftFailed
from explorer.store.rows import StoreError


@dataclass(frozen=True, slots=True)
class _Ready:
    """A summary made ahead that waits to be applied after an entry."""

    draft: Draft
    last_entry: int


class PromptGate:
    """Every prompt of one session's agent passes it. All methods belong to the document's thread.

    ``rules`` is asked at every decision; ``guards`` and ``confirmation`` may hold summaries back.
    """

    def __init__(
        self,
        document: Document,
        rules: Callable[[], EffectiveRules],
        random: Draws | None = None,
        guards: StoredGuards | None = None,
        confirmation: Confirmation | None = None,
    ) -> None:
        self._document = document
        self._given_rules = rules
        self._random = random or Random()
        self._guards = guards
        self._confirmation = confirmation
        self._last: Outgoing | None = None
        """What the last prompt was rendered for."""
        self._task: asyncio.Task[None] | None = None
        self._stop: CancelToken | None = None
        self._ready: _Ready | None = None
        self.machine = Machine()
        """The state of the summary that is made ahead."""
        self.rendering: Rendering | None = None
        """The last prompt that was sent."""
        self.prepared: PreparedPrompt | None = None
        """What it was rendered from."""

    @property
    def is_active(self) -> bool:
        """Whether the profile of the moment renders prompts to a budget."""
        return self._given_rules().profile.prompt_budget is not None

    @property
    def policy(self) -> Background:
        """The parameters of the state machine."""
        return self._given_rules().profile.background or Background()

    @property
    def _words(self) -> CopilotWords:
        return CopilotWords.load()

    def _rules(self) -> EffectiveRules:
        """The rules of the moment, with what the guards hold back switched off."""
        rules, confirmation = self._given_rules(), self._confirmation
        if self._guards is not None:
            guards = self._guards.now
            tokens = self._document.context_size(rules.profile).tokens
            # What was undone is not made again: the oldest history is dropped instead.
            enabled = rules.enabled and not guards.resting
            rules = replace(rules, enabled=enabled, ahead=not guards.is_left(tokens))
        attended = confirmation is not None and confirmation.attended
        return replace(rules, ask_first=rules.ask_first and attended)

    # what a turn asks ----------------------------------------------------------------------------

    async def messages(
        self, outgoing: Outgoing, cancel: CancelToken
    ) -> tuple[ChatMessage, ...] | None:
        """The messages of the agent's next request within their budget; None where the profile
        has none.

        May take as long as a summary does. Raises Cancelled, StoreError, and ModelError: overflow
        when nothing that can be done makes it fit, bad_request for an invalid threshold.
        """
        if not self.is_active:
            await self.stop()
            return None
        try:
            return await self._messages(outgoing, cancel)
        except ValueError as error:
            raise ModelError("bad_request", str(error)) from error

    async def _messages(self, outgoing: Outgoing, cancel: CancelToken) -> tuple[ChatMessage, ...]:
        last, self._last = self._last, outgoing
        if last is not None and last.model != outgoing.model:
            await self._advance(machine.ModelChanged())
        if not self._rules().enabled:
            await self._advance(machine.Cancelled())
        summarized = False
        prepared = await self._prepare(outgoing)
        if self.rendering is not None:
            ratio = prepared.budget.ratio(self.rendering.tokens)
            if await self._advance(machine.Rendering(ratio), cancel):
                summarized = True
                prepared = await self._prepare(outgoing)
        rendering = await self._render(prepared)
        if rendering is None:
            rendering, prepared = await self._make_room(outgoing, prepared, cancel)
            summarized = True
        self.rendering, self.prepared = rendering, prepared
        await self._after_sending(rendering, prepared, outgoing, summarized)
        return tuple(chat_message(message) for message in prepared.outgoing(rendering))

    async def compact(self, model: str, instructions: str, cancel: CancelToken) -> int:
        """Summarize at once on the user's order, as for a prompt that is too large (A53); the
        compaction entry. A run that is under way ends.

        Raises DraftFailed, Cancelled, StoreError, and ValueError where there is nothing to
        summarize.
        """
        last = self._last or outgoing_of(self._document.agent_prompt, model, None)
        outgoing = replace(last, model=model)
        await self._advance(machine.Cancelled())
        prepared = await self._prepare(outgoing)
        return await self._summarize(prepared, outgoing, "manual", instructions, cancel)

    async def stop(self) -> None:
        """Cancel the summary that is made ahead, and wait for its end."""
        await self._advance(machine.Cancelled())

    # rendering -----------------------------------------------------------------------------------

    async def _prepare(self, outgoing: Outgoing) -> PreparedPrompt:
        rules = self._rules()
        window = rules.limits(self._document.client.info(outgoing.model).window).window
        return await asyncio.to_thread(
            prepare_prompt, self._document, rules.profile, outgoing, window, self._words
        )

    async def _render(self, prepared: PreparedPrompt) -> Rendering | None:
        """The prompt; None when it does not fit. With summaries switched off the oldest history
        is dropped instead; raises ModelError where that does not help."""
        keep = self._rules().enabled
        try:
            return await asyncio.to_thread(prepared.rendered, keep_cached=keep)
        except BudgetExceededError as error:
            if keep:
                return None
            raise ModelError("overflow", str(error)) from error

    async def _make_room(
        self, outgoing: Outgoing, prepared: PreparedPrompt, cancel: CancelToken
    ) -> tuple[Rendering, PreparedPrompt]:
        """A prompt that fits: after the run that is under way, after a summary made at once, or
        without the oldest history when neither helps."""
        for _ in range(2):
            if await self._advance(machine.Exceeded(), cancel):
                prepared = await self._prepare(outgoing)
                if (rendering := await self._render(prepared)) is not None:
                    return rendering, prepared
        try:
            if await self._summarize_now(prepared, outgoing, cancel):
                prepared = await self._prepare(outgoing)
        except (DraftFailed, ValueError) as error:
            self._note(f"Summarizing at once failed: {error}")
        try:
            rendering = await asyncio.to_thread(prepared.rendered, keep_cached=False)
        except BudgetExceededError as error:
            raise ModelError("overflow", str(error)) from error
        return rendering, prepared

    async def _summarize_now(
        self, prepared: PreparedPrompt, outgoing: Outgoing, cancel: CancelToken
    ) -> bool:
        """Summarize because the prompt does not fit, unless the user postpones it."""
        if not self._rules().ahead:
            self._note("The summary was left for now; the oldest history goes instead.")
            return False
        window = prepared.budget.window
        answer = await self._confirm("prompt", window, window, cancel)
        if isinstance(answer, Compact):
            await self._summarize(prepared, outgoing, "prompt", answer.instructions, cancel)
        return not isinstance(answer, NotNow)

    async def _after_sending(
        self,
        rendering: Rendering,
        prepared: PreparedPrompt,
        outgoing: Outgoing,
        summarized: bool,
    ) -> None:
        """Note how full the prompt was, and begin a summary ahead where it is due."""
        ratio = prepared.budget.ratio(rendering.tokens)
        rules = self._rules()
        if summarized or not rules.enabled or not rules.ahead:
            self.machine = replace(self.machine, ratio=ratio)
            self._publish()
            return
        before = self.machine.run
        await self._advance(machine.Rendered(ratio, prepared.conversation.is_warm))
        if self.machine.run != before and self.machine.state is State.IN_PROGRESS:
            self._stop = CancelToken()
            run = self._run(self.machine.run, rendering, prepared, outgoing, self._stop)
            self._task = asyncio.ensure_future(run)

    async def _confirm(
        self,
        occasion: Occasion,
        window: int,
        threshold: int,
        cancel: CancelToken,
        draft: Draft | None = None,
    ) -> Answer:
        """The user's answer where the rules want it, else yes. Sizes in tokens; ``draft``: the
        summary that is ready. Raises Cancelled."""
        rules = self._rules()
        if self._confirmation is None or not rules.ask_first:
            return Compact()
        tokens = self._document.counted_size(rules.profile)
        question = Question(occasion, tokens, window, threshold, draft)
        answer = await self._confirmation.ask(question, cancel)
        if isinstance(answer, NotNow) and self._guards is not None:
            self._guards.postpone(rules.profile, answer.tokens)
        return answer

    # the machine ---------------------------------------------------------------------------------

    async def _advance(self, event: machine.Event, cancel: CancelToken | None = None) -> bool:
        """Give the machine an event and do what it says; whether a summary was applied."""
        actions = self._step(event)
        applied = False
        for action in actions:
            match action:
                case machine.Stop():
                    await self._stop_run()
                case machine.Wait():
                    await self._wait(cancel)
                    applied = await self._advance(machine.Exceeded(), cancel) or applied
                case machine.Apply(run):
                    applied = await self._apply(run, cancel or CancelToken())
                case machine.Discard():
                    await self._discard()
                case machine.Start() | machine.Foreground():
                    pass  # begun by the caller, who has the prompt
        return applied

    def _step(self, event: machine.Event) -> tuple[machine.Action, ...]:
        self.machine, actions = machine.step(self.machine, event, self.policy, self._random)
        self._publish()
        return tuple(actions)

    async def _run(
        self,
        run: int,
        rendering: Rendering,
        prepared: PreparedPrompt,
        outgoing: Outgoing,
        stop: CancelToken,
    ) -> None:
        """Ask for the summary of a fork of the prompt; ends with an event to the machine, whatever
        happens."""
        problem = "It was stopped."
        part = told_ahead(prepared.conversation)
        try:
            if part is None:
                problem = "No round is complete yet that a summary could be attached to."
                return
            facts = {"trigger": "background", "run": run}
            asked = SummarizedPrompt(
                self._document, self._rules(), prepared, outgoing, self._words
            ).ahead(rendering, facts)
            self._ready = _Ready(await summarize(self._document, asked, stop), part.last_entry)
            problem = ""
        except DraftFailed as error:
            problem = str(error)
        except Cancelled:
            problem = "It was stopped."
        except StoreError as error:
            problem = f"It could not be recorded: {error}"
        finally:
            self._step(machine.Failed(run, problem) if problem else machine.Finished(run))

    async def _wait(self, cancel: CancelToken | None) -> None:
        """Wait for the run to end, or for the user to give up (raises Cancelled)."""
        task = self._task
        if task is None:
            return
        cancel = cancel or CancelToken()
        await done_or_cancelled(task, cancel)
        if cancel.cancelled:
            await self._advance(machine.Cancelled())
            raise Cancelled

    async def _stop_run(self) -> None:
        task, self._task = self._task, None
        if self._stop is not None:
            self._stop.cancel()
            self._stop = None
        if task is not None:
            await asyncio.wait({task})
        await self._discard()

    async def _discard(self) -> None:
        ready, self._ready = self._ready, None
        if ready is not None:
            await self._document.drafts.mark(ready.draft, "discarded", ready.draft.summary)

    def _note(self, note: str) -> None:
        self.machine = replace(self.machine, note=note)
        self._publish()

    def _publish(self) -> None:
        now = self.machine
        self._document.hub.publish(
            BackgroundChanged(self._document.key, now.state.value, now.ratio, now.note)
        )

    # into the session ----------------------------------------------------------------------------

    async def _apply(self, run: int, cancel: CancelToken) -> bool:
        """Commit a finished summary where its round ended, if the session still is there and the
        user agrees; whether the context was compacted."""
        ready, self._ready = self._ready, None
        event: machine.Event = machine.Applied(run)
        answer: Answer = NotNow()
        try:
            if ready is None:
                raise ValueError("The summary is gone.")
            prepared = self.prepared
            sizes = self._rules().settings
            window = prepared.budget.window if prepared is not None else sizes.context_window
            begun_at = round(window * self.machine.trigger)
            try:
                answer = await self._confirm("background", window, begun_at, cancel, ready.draft)
            finally:
                if isinstance(answer, NotNow):
                    discarded = self._document.drafts.mark(
                        ready.draft, "discarded", ready.draft.summary
                    )
                    await asyncio.shield(discarded)
            if isinstance(answer, NotNow):
                raise ValueError("The summary was left for now.")
            text = answer.text if isinstance(answer, Compact) else None
            await self._commit(ready.draft, ready.last_entry, "background", text)
        except (ValueError, StoreError) as error:
            event = machine.Failed(run, str(error))
        except Cancelled:
            self._step(machine.Failed(run, "It was stopped."))
            raise
        self._step(event)
        return isinstance(event, machine.Applied) or isinstance(answer, Made)

    async def _commit(
        self, draft: Draft, last_entry: int, trigger: str, text: str | None = None
    ) -> int:
        """Append the compaction, which keeps what comes after ``last_entry``; its entry.

        Raises ValueError when the session went on from another entry or was compacted since.
        """
        document, profile = self._document, self._rules().profile
        context = document.context()
        position = context.path.position(last_entry)
        newer = context.path.position(context.compaction) if context.compaction >= 0 else -1
        problem = ""
        if position < 0:
            problem = "The session went on from another entry; the summary does not fit."
        elif newer > position:
            problem = "Another compaction was made since; the summary is out of date."
        if problem:
            await document.drafts.mark(draft, "discarded", draft.summary)
            raise ValueError(problem)
        ids, path = document.tree.columns.ids, context.path
        first_kept = ids[path[position + 1]] if position + 1 < len(path) else ""
        before = document.counted_size(profile)
        now = replace(draft, leaf=document.leaf, at_leaf=True, first_kept_id=first_kept)
        entry = await document.compaction.commit(now, text)
        after = document.counted_size(profile)
        document.hub.publish(CompactionEnded(document.key, trigger, entry, before, after))
        return entry

    async def _summarize(
        self,
        prepared: PreparedPrompt,
        outgoing: Outgoing,
        trigger: str,
        instructions: str,
        cancel: CancelToken,
    ) -> int:
        """Summarize and commit while the user waits (A45, A49, A50); the compaction entry."""
        document, rules = self._document, self._rules()
        part = told_now(prepared.conversation)
        if part is None:
            raise ValueError("There is nothing before the current round that could be summarized.")
        tokens, window = document.counted_size(rules.profile), prepared.budget.window
        writer = rules.prompt_summary_model(outgoing.model)
        document.hub.publish(CompactionStarted(document.key, trigger, tokens, window, model=writer))
        ended = CompactionEnded(document.key, trigger, tokens_before=tokens)
        try:
            asked = SummarizedPrompt(document, rules, prepared, outgoing, self._words).at_once(
                part, instructions, {"trigger": trigger}
            )
            draft = await summarize(document, asked, cancel)
            return await self._commit(draft, part.last_entry, trigger)
        except (Cancelled, asyncio.CancelledError):
            document.hub.publish(replace(ended, cancelled=True))
            raise
        except (DraftFailed, ValueError, StoreError) as error:
            document.hub.publish(replace(ended, problem=str(error)))
            raise

"""The agent's prompts rendered within a budget, and the summaries that this takes (A45, A47, A48).

Before every request of the agent the prompt is rendered. What the procedures in
``explorer.compaction.background`` decide is done here: a finished summary is applied, a run is
begun with a fork of the very prompt that is sent, and a prompt that does not fit waits for the run
that is under way, or for a summary made at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from explorer.agent.turn_interface import Outgoing
from explorer.compaction import background as machine
from explorer.compaction.automatic import StepFailed, Steps, run_async
from explorer.compaction.background import (
    Application,
    BudgetedPrompts,
    Draws,
    Machine,
    Prepare,
    Render,
    Sent,
    SummarizeNow,
)
from explorer.compaction.profile.rules import Background
from explorer.models.client import Cancelled, CancelToken, ChatMessage, ModelError
from explorer.models.events import done_or_cancelled
from explorer.prompting.agent_prompt import part_ahead, part_before_request
from explorer.prompting.rendered_prompt import BudgetExceededError, RenderedPrompt
from explorer.services.agent import outgoing_of
from explorer.services.auto_compaction.guards import (
    Answer,
    CompactHere,
    CompactionQuestion,
    Confirmation,
    MadeByHand,
    NotNow,
    Occasion,
    StoredGuards,
)
from explorer.services.auto_compaction.prompt import (
    CopilotWords,
    PreparedPrompt,
    chat_message,
    prepare_prompt,
)
from explorer.services.auto_compaction.summary_strategies import SummarizedPrompt, summarize
from explorer.services.changes import BackgroundChanged, CompactionEnded, CompactionStarted
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed
from explorer.services.effective_rules import EffectiveRules
from explorer.store.rows import StoreError


class _Ready(Struct, frozen=True):
    """A summary made ahead that waits to be applied after an entry."""

    draft: Draft
    last_entry: int


class _WatchedPrompts(Struct, frozen=True):
    """One session's prompts, as the procedures look at them."""

    document: Document
    given_rules: Callable[[], EffectiveRules]
    guards: StoredGuards | None
    confirmation: Confirmation | None

    def rules(self) -> EffectiveRules:
        """The rules of the moment, with what the guards hold back switched off."""
        rules, confirmation = self.given_rules(), self.confirmation
        if self.guards is not None:
            guards = self.guards.now
            tokens = self.document.tokens.context_size(rules.profile).tokens
            # What was undone is not made again: the oldest history is dropped instead.
            enabled = rules.enabled and not guards.resting
            rules = replace(rules, enabled=enabled, ahead=not guards.is_left(tokens))
        attended = confirmation is not None and confirmation.attended
        return replace(rules, ask_first=rules.ask_first and attended)

    @property
    def policy(self) -> Background:
        """The parameters of the state machine."""
        return self.given_rules().profile.background or Background()

    @property
    def enabled(self) -> bool:
        """Whether prompts are summarized at all."""
        return self.rules().enabled

    @property
    def ahead(self) -> bool:
        """Off, the user postponed summaries."""
        return self.rules().ahead

    def machine_changed(self, now: Machine) -> None:
        """Publish the state of the machine."""
        self.document.shared.hub.publish(
            BackgroundChanged(self.document.key, now.state.value, now.ratio, now.note)
        )


class PromptGate:
    """Every prompt of one session's agent passes it. All methods belong to the document's thread.

    ``rules`` is asked at every decision; ``guards`` and ``confirmation`` may hold summaries back.
    ``beside``: see ``prepare_prompt``.
    """

    def __init__(
        self,
        document: Document,
        rules: Callable[[], EffectiveRules],
        random: Draws | None = None,
        guards: StoredGuards | None = None,
        confirmation: Confirmation | None = None,
        beside: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._document = document
        self._beside = beside
        self._guards = guards
        self._confirmation = confirmation
        self._last: Outgoing | None = None
        """What the last prompt was rendered for."""
        self._task: asyncio.Task[None] | None = None
        self._stop: CancelToken | None = None
        self._ready: _Ready | None = None
        # Not the gate itself: a reference cycle would keep a closed session alive.
        self._watched = _WatchedPrompts(document, rules, guards, confirmation)
        self._prompts = BudgetedPrompts(self._watched, random or Random())
        self.rendering: RenderedPrompt | None = None
        """The last prompt that was sent."""
        self.prepared: PreparedPrompt | None = None
        """What it was rendered from."""

    @property
    def machine(self) -> Machine:
        """The state of the summary that is made ahead."""
        return self._prompts.machine

    @property
    def is_active(self) -> bool:
        """Whether the profile of the moment renders prompts to a budget."""
        return self._watched.given_rules().profile.prompt_budget is not None

    @property
    def _words(self) -> CopilotWords:
        return CopilotWords.load()

    def _rules(self) -> EffectiveRules:
        return self._watched.rules()

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
        model_changed = last is not None and last.model != outgoing.model
        await self._perform(self._prompts.prompt(model_changed), outgoing, cancel)
        assert self.prepared is not None and self.rendering is not None
        return tuple(chat_message(one) for one in self.prepared.outgoing(self.rendering))

    async def compact(self, model: str, instructions: str, cancel: CancelToken) -> int:
        """Summarize at once on the user's order, as for a prompt that is too large (A53); the
        compaction entry. A run that is under way ends.

        Raises DraftFailed, Cancelled, StoreError, and ValueError where there is nothing to
        summarize.
        """
        last = self._last or outgoing_of(self._document.shared.agent_prompt, model, None)
        outgoing = replace(last, model=model)
        await self.stop()
        prepared = await self._prepare(outgoing)
        return await self._summarize(prepared, outgoing, "manual", instructions, cancel)

    async def stop(self) -> None:
        """Cancel the summary that is made ahead, and wait for its end."""
        steps = self._prompts.advance(machine.RunCancelled())
        await self._perform(steps, Outgoing("", "", ()), CancelToken())

    async def _perform(self, steps: Steps[object], outgoing: Outgoing, cancel: CancelToken) -> None:
        """Perform a procedure for a prompt."""
        prepared: PreparedPrompt | None = None

        async def perform(step: machine.Action | Prepare | Render | SummarizeNow) -> object:
            nonlocal prepared
            match step:
                case Prepare():
                    prepared = await self._prepare(outgoing)
                    last = self.rendering
                    return None if last is None else prepared.budget.ratio(last.tokens)
                case Render(shortens):
                    assert prepared is not None
                    return await self._render(prepared, shortens)
                case SummarizeNow():
                    assert prepared is not None
                    return await self._summarize_now(prepared, outgoing, cancel)
                case machine.Start(run):
                    self._begin(run, outgoing)
                case machine.Stop():
                    await self._stop_run()
                case machine.Wait():
                    await self._wait(cancel)
                case machine.Apply(run):
                    return await self._apply(run, cancel)
                case machine.DiscardRun():
                    await self._discard()
            return None

        await run_async(steps, perform)

    # rendering -----------------------------------------------------------------------------------

    async def _prepare(self, outgoing: Outgoing) -> PreparedPrompt:
        rules = self._rules()
        window = rules.limits(self._document.models.info(outgoing.model).window).window
        return await asyncio.to_thread(
            prepare_prompt, self._document, rules.profile, outgoing, window, self._words,
            self._beside(),
        )  # fmt: skip

    async def _render(self, prepared: PreparedPrompt, shortens: bool) -> Sent | None:
        """Render the prompt that is sent next; None when it does not fit. ``shortens``: the oldest
        history is dropped instead; raises ModelError where that does not help."""
        try:
            rendering = await asyncio.to_thread(prepared.rendered, keep_cached=not shortens)
        except BudgetExceededError as error:
            if not shortens:
                return None
            raise ModelError("overflow", str(error)) from error
        self.rendering, self.prepared = rendering, prepared
        ratio = prepared.budget.ratio(rendering.tokens)
        return Sent(ratio, prepared.conversation.is_warm)

    async def _summarize_now(
        self, prepared: PreparedPrompt, outgoing: Outgoing, cancel: CancelToken
    ) -> bool:
        """Summarize because the prompt does not fit, unless the user postpones it. Raises
        StepFailed."""
        window = prepared.budget.window
        answer = await self._confirm("prompt", window, window, cancel)
        if isinstance(answer, CompactHere):
            try:
                await self._summarize(prepared, outgoing, "prompt", answer.instructions, cancel)
            except (DraftFailed, ValueError) as error:
                raise StepFailed(str(error)) from error
        return not isinstance(answer, NotNow)

    def _begin(self, run: int, outgoing: Outgoing) -> None:
        """Begin a summary of the prompt that was just rendered."""
        self._stop = CancelToken()
        self._task = asyncio.ensure_future(self._summarize_ahead(run, outgoing, self._stop))

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
            return CompactHere()
        tokens = self._document.tokens.counted_size(rules.profile)
        question = CompactionQuestion(occasion, tokens, window, threshold, draft)
        answer = await self._confirmation.ask(question, cancel)
        if isinstance(answer, NotNow) and self._guards is not None:
            self._guards.postpone(rules.profile, answer.tokens)
        return answer

    # a summary made ahead ------------------------------------------------------------------------

    async def _summarize_ahead(self, run: int, outgoing: Outgoing, stop: CancelToken) -> None:
        """Ask for the summary of a fork of the prompt; ends with an event to the machine, whatever
        happens."""
        problem = "It was stopped."
        prepared, rendering = self.prepared, self.rendering
        assert prepared is not None and rendering is not None
        part = part_ahead(prepared.conversation)
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
            self._prompts.step(
                machine.Failed(run, problem) if problem else machine.RunFinished(run)
            )

    async def _wait(self, cancel: CancelToken) -> None:
        """Wait for the run to end, or for the user to give up (raises Cancelled)."""
        task = self._task
        if task is None:
            return
        await done_or_cancelled(task, cancel)
        if cancel.cancelled:
            await self.stop()
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

    # into the session ----------------------------------------------------------------------------

    async def _apply(self, run: int, cancel: CancelToken) -> Application:
        """Commit a finished summary where its round ended, if the session still is there and the
        user agrees."""
        ready, self._ready = self._ready, None
        if ready is None:
            return Application("The summary is gone.", compacted=False)
        answer: Answer = NotNow()
        try:
            answer = await self._confirm_ready(ready.draft, cancel)
            if isinstance(answer, NotNow):
                return Application("The summary was left for now.", compacted=False)
            text = answer.text if isinstance(answer, CompactHere) else None
            await self._commit(ready.draft, ready.last_entry, "background", text)
        except (ValueError, StoreError) as error:
            return Application(str(error), compacted=isinstance(answer, MadeByHand))
        except Cancelled:
            self._prompts.step(machine.Failed(run, "It was stopped."))
            raise
        return Application()

    async def _confirm_ready(self, draft: Draft, cancel: CancelToken) -> Answer:
        """The user's answer about a summary that is ready; left, it is discarded."""
        prepared, rules = self.prepared, self._rules()
        window = rules.settings.context_window if prepared is None else prepared.budget.window
        begun_at = round(window * self.machine.trigger)
        answer: Answer = NotNow()
        try:
            answer = await self._confirm("background", window, begun_at, cancel, draft)
        finally:
            if isinstance(answer, NotNow):
                discarded = self._document.drafts.mark(draft, "discarded", draft.summary)
                await asyncio.shield(discarded)
        return answer

    async def _commit(
        self, draft: Draft, last_entry: int, trigger: str, text: str | None = None
    ) -> int:
        """Append the compaction, which keeps what comes after ``last_entry``; its entry.

        Raises ValueError when the session went on from another entry or was compacted since.
        """
        document = self._document
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
        now = replace(draft, leaf=document.leaf, at_leaf=True, first_kept_id=first_kept)
        entry = await document.compaction.commit(now, text)
        sizes = await document.tokens.counted_around(entry)
        document.shared.hub.publish(CompactionEnded(document.key, trigger, entry).sized(sizes))
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
        part = part_before_request(prepared.conversation)
        if part is None:
            raise ValueError("There is nothing before the current round that could be summarized.")
        tokens, window = document.tokens.counted_size(rules.profile), prepared.budget.window
        writer = rules.prompt_summary_model(outgoing.model)
        document.shared.hub.publish(
            CompactionStarted(document.key, trigger, tokens, window, model=writer)
        )
        ended = CompactionEnded(document.key, trigger)
        try:
            asked = SummarizedPrompt(document, rules, prepared, outgoing, self._words).at_once(
                part, instructions, {"trigger": trigger}
            )
            draft = await summarize(document, asked, cancel)
            return await self._commit(draft, part.last_entry, trigger)
        except (Cancelled, asyncio.CancelledError):
            document.shared.hub.publish(replace(ended, cancelled=True))
            raise
        except (DraftFailed, ValueError, StoreError) as error:
            document.shared.hub.publish(replace(ended, problem=str(error)))
            raise

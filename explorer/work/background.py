"""The agent's prompt kept within its budget: summaries made ahead, or at once where they must be
(A45, A47, A48).

Before every request of the agent the prompt is rendered. What the state machine in
``explorer.compaction.background`` says is done here: a finished summary is applied, a run is begun
with a fork of the very prompt that goes out, and a prompt that does not fit waits for the run that
is under way, or for a summary made at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.agent.keeping import Outgoing
from explorer.compaction import background as machine
from explorer.compaction.background import Draws, Machine, State
from explorer.compaction.profile.rules import Background
from explorer.models.door import Cancelled, CancelToken, ChatMessage, ModelError
from explorer.prompting.rendering import BudgetExceededError, Rendering
from explorer.prompting.summary_requests import told_ahead, told_now
from explorer.store.rows import StoreError
from explorer.work.asking import Answer, Asking, Compact, Made, NotNow
from explorer.work.changes import BackgroundChanged, CompactionEnded, CompactionStarted
from explorer.work.consent import Consent
from explorer.work.drafting import Draft, DraftFailed
from explorer.work.forks import ask
from explorer.work.prompt import (
    CopilotWords,
    PreparedPrompt,
    chat_message,
    prepare_prompt,
    window_for,
)
from explorer.work.prompt_rules import PromptRules
from explorer.work.summary_ways import ahead, at_once, summary_model

if TYPE_CHECKING:
    from explorer.work.document import Document


@dataclass(frozen=True, slots=True)
class _Result:
    """A summary that waits to be applied."""

    draft: Draft
    last_entry: int


class PromptKeeper:
    """Renders one session's prompts and keeps them within their budget. All methods belong to
    the document's thread."""

    def __init__(
        self,
        document: Document,
        rules: Callable[[], PromptRules],
        random: Draws,
        words: CopilotWords | None = None,
        asking: Asking | None = None,
        left: Callable[[NotNow], None] = lambda _answer: None,
    ) -> None:
        """``asking`` is whom to ask where the rules say so; ``left`` is told of a no."""
        self._document = document
        self._consent = Consent(document, rules, asking, left)
        self._rules = rules
        self._random = random
        self._given = words
        self._task: asyncio.Task[None] | None = None
        self._stop: CancelToken | None = None
        self._result: _Result | None = None
        self._model = ""
        self.machine = Machine()
        """Where the summary that is made ahead stands."""
        self.rendering: Rendering | None = None
        """The last prompt that went out."""
        self.prepared: PreparedPrompt | None = None
        """What it was rendered from."""

    @property
    def _words(self) -> CopilotWords:
        """The words that are in force now; a person may change them on the way."""
        return self._given or CopilotWords.load()

    @property
    def policy(self) -> Background:
        """The lines of the state machine."""
        return self._rules().profile.background or Background()

    # what a turn asks ----------------------------------------------------------------------------

    async def messages(self, outgoing: Outgoing, cancel: CancelToken) -> tuple[ChatMessage, ...]:
        """The messages of the agent's next request, within their budget.

        May take as long as a summary does. Raises Cancelled, ModelError (overflow) when nothing
        that can be done makes it fit, StoreError, and ValueError for a threshold that means
        nothing.
        """
        if self._model not in ("", outgoing.model):
            await self._take(machine.ModelChanged())
        self._model = outgoing.model
        if not self._rules().enabled:
            await self._take(machine.Cancelled())
        summarized = False
        prepared = await self._prepare(outgoing)
        if self.rendering is not None:
            ratio = prepared.budget.ratio(self.rendering.tokens)
            if await self._take(machine.Rendering(ratio), cancel):
                summarized = True
                prepared = await self._prepare(outgoing)
        rendering = await self._fit(prepared)
        if rendering is None:
            rendering, prepared = await self._make_room(outgoing, prepared, cancel)
            summarized = True
        self.rendering, self.prepared = rendering, prepared
        await self._went_out(outgoing, summarized)
        return tuple(chat_message(message) for message in prepared.outgoing(rendering))

    async def compact(self, outgoing: Outgoing, instructions: str, cancel: CancelToken) -> int:
        """Summarize at once on a person's word (A53); the entry. A run that is under way ends.

        Raises DraftFailed, Cancelled, StoreError, and ValueError when there is nothing to tell.
        """
        await self._take(machine.Cancelled())
        prepared = await self._prepare(outgoing)
        return await self._summarize(prepared, outgoing, "manual", instructions, cancel)

    async def stop(self) -> None:
        """Give up what is made ahead, and wait for its end."""
        await self._take(machine.Cancelled())

    # rendering -----------------------------------------------------------------------------------

    async def _prepare(self, outgoing: Outgoing) -> PreparedPrompt:
        rules = self._rules()
        window = window_for(self._document, rules.profile, outgoing.model, rules.window)
        return await asyncio.to_thread(
            prepare_prompt, self._document, rules.profile, outgoing, window, self._words
        )

    async def _fit(self, prepared: PreparedPrompt) -> Rendering | None:
        """The prompt as it is; None when it does not fit. With summaries switched off the
        oldest history goes instead."""
        keep = self._rules().enabled
        try:
            return await asyncio.to_thread(prepared.rendered, keep_cached=keep)
        except BudgetExceededError as error:
            if keep:
                return None
            raise _too_large(error) from error

    async def _make_room(
        self, outgoing: Outgoing, prepared: PreparedPrompt, cancel: CancelToken
    ) -> tuple[Rendering, PreparedPrompt]:
        """A prompt that fits, after what is under way, a summary made at once, or without the
        oldest history when neither helps."""
        for _ in range(2):
            if await self._take(machine.Exceeded(), cancel):
                prepared = await self._prepare(outgoing)
                if (rendering := await self._fit(prepared)) is not None:
                    return rendering, prepared
        try:
            if await self._summarized_now(prepared, outgoing, cancel):
                prepared = await self._prepare(outgoing)
        except (DraftFailed, ValueError) as error:
            self._note(f"Summarizing at once failed: {error}")
        try:
            rendering = await asyncio.to_thread(prepared.rendered, keep_cached=False)
        except BudgetExceededError as error:
            raise _too_large(error) from error
        return rendering, prepared

    async def _summarized_now(
        self, prepared: PreparedPrompt, outgoing: Outgoing, cancel: CancelToken
    ) -> bool:
        """Summarize because the prompt does not fit, unless a person does not want it."""
        if not self._rules().ahead:
            self._note("The summary was left for now; the oldest history goes instead.")
            return False
        answer = await self._consent.at_once(prepared.budget.window, cancel)
        if isinstance(answer, Compact):
            told = answer.instructions
            await self._summarize(prepared, outgoing, "prompt", told, cancel)
        return not isinstance(answer, NotNow)

    async def _went_out(self, outgoing: Outgoing, summarized: bool) -> None:
        """Look at how full the prompt was, and begin a summary ahead where it is due."""
        rendering, prepared = self.rendering, self.prepared
        assert rendering is not None and prepared is not None
        ratio = prepared.budget.ratio(rendering.tokens)
        rules = self._rules()
        if summarized or not rules.enabled or not rules.ahead:
            self.machine = replace(self.machine, ratio=ratio)
            self._told()
            return
        rendered = machine.Rendered(ratio, prepared.said.is_warm)
        before = self.machine.run
        await self._take(rendered)
        if self.machine.run != before and self.machine.state is State.IN_PROGRESS:
            self._begin(self.machine.run, rendering, prepared, outgoing)

    # the machine ---------------------------------------------------------------------------------

    async def _take(self, event: machine.Event, cancel: CancelToken | None = None) -> bool:
        """Tell the machine what happened and do what it says; whether a summary was applied."""
        self.machine, actions = machine.step(self.machine, event, self.policy, self._random)
        self._told()
        applied = False
        for action in actions:
            match action:
                case machine.Stop():
                    await self._stop_run()
                case machine.Wait():
                    await self._wait(cancel)
                    applied = await self._take(machine.Exceeded(), cancel) or applied
                case machine.Apply(run):
                    applied = await self._apply(run, cancel or CancelToken())
                case machine.Discard():
                    await self._discard()
                case machine.Start() | machine.Foreground():
                    pass  # begun by who has the prompt
        return applied

    def _begin(
        self, run: int, rendering: Rendering, prepared: PreparedPrompt, outgoing: Outgoing
    ) -> None:
        stop = CancelToken()
        self._stop = stop
        self._task = asyncio.ensure_future(self._run(run, rendering, prepared, outgoing, stop))

    async def _run(
        self,
        run: int,
        rendering: Rendering,
        prepared: PreparedPrompt,
        outgoing: Outgoing,
        stop: CancelToken,
    ) -> None:
        """Ask for the summary of a fork of the prompt. Ends with a word to the machine, whatever
        happens."""
        problem = "It was stopped."
        told = told_ahead(prepared.said)
        try:
            if told is None:
                problem = "No round is complete yet that a summary could be attached to."
                return
            facts = {"trigger": "background", "run": run}
            asked = ahead(
                self._document, self._rules(), prepared, rendering, outgoing, self._words, facts
            )
            draft = await ask(self._document, asked, stop)
            self._result = _Result(draft, told.last_entry)
            problem = ""
        except DraftFailed as error:
            problem = str(error)
        except Cancelled:
            problem = "It was stopped."
        except StoreError as error:
            problem = f"It could not be recorded: {error}"
        finally:
            event = machine.Failed(run, problem) if problem else machine.Finished(run)
            self.machine, _ = machine.step(self.machine, event, self.policy, self._random)
            self._told()

    async def _wait(self, cancel: CancelToken | None) -> None:
        """Wait for the run to end, or for the person to give up (raises Cancelled)."""
        task = self._task
        if task is None:
            return
        given_up = asyncio.Event()
        loop = asyncio.get_running_loop()

        def give_up() -> None:
            loop.call_soon_threadsafe(given_up.set)

        forget = (cancel or CancelToken()).add_callback(give_up)
        waiting = asyncio.ensure_future(given_up.wait())
        try:
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            forget()
            waiting.cancel()
        if given_up.is_set():
            await self._take(machine.Cancelled())
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
        result, self._result = self._result, None
        if result is not None:
            await self._document.drafts.mark(result.draft, "discarded", result.draft.summary)

    # into the session ----------------------------------------------------------------------------

    async def _apply(self, run: int, cancel: CancelToken) -> bool:
        """Put a finished summary where its round ended, if the session still is there."""
        result, self._result = self._result, None
        event: machine.Event = machine.Applied(run)
        answer: Answer = Compact()
        try:
            if result is None:
                raise ValueError("The summary is gone.")
            prepared = self.prepared
            window = prepared.budget.window if prepared is not None else self._rules().window
            line = round(window * self.machine.trigger)
            answer = await self._consent.made_ahead(result.draft, window, line, cancel)
            if isinstance(answer, NotNow):
                raise ValueError("The summary was left for now.")
            text = answer.text if isinstance(answer, Compact) else None
            await self._commit(result.draft, result.last_entry, "background", text)
        except (ValueError, StoreError) as error:
            event = machine.Failed(run, str(error))
        except Cancelled:
            self.machine, _ = machine.step(
                self.machine, machine.Failed(run, "It was stopped."), self.policy, self._random
            )
            raise
        self.machine, _ = machine.step(self.machine, event, self.policy, self._random)
        self._told()
        return isinstance(event, machine.Applied) or isinstance(answer, Made)

    async def _commit(
        self, draft: Draft, last_entry: int, trigger: str, text: str | None = None
    ) -> int:
        """Append the compaction: what comes after ``last_entry`` is kept. Raises ValueError when
        the session has gone elsewhere since."""
        document, profile = self._document, self._rules().profile
        context = document.context()
        position = context.path.position(last_entry)
        newer = context.path.position(context.compaction) if context.compaction >= 0 else -1
        if position < 0:
            await document.drafts.mark(draft, "discarded", draft.summary)
            raise ValueError("The session went on from another entry; the summary does not fit.")
        if newer > position:
            await document.drafts.mark(draft, "discarded", draft.summary)
            raise ValueError("Another compaction was made since; the summary is out of date.")
        ids, path = document.tree.columns.ids, context.path
        first_kept = ids[path[position + 1]] if position + 1 < len(path) else ""
        before = document.counted_size(profile)
        now = replace(draft, leaf=document.leaf, at_leaf=True, first_kept_id=first_kept)
        entry = await document.commit(now, text)
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
        """Summarize while the person waits (A45, A49, A50)."""
        document, rules = self._document, self._rules()
        told = told_now(prepared.said)
        if told is None:
            raise ValueError("There is nothing before the current round that could be summarized.")
        tokens, window = document.counted_size(rules.profile), prepared.budget.window
        writer = summary_model(rules, outgoing.model)
        document.hub.publish(CompactionStarted(document.key, trigger, tokens, window, model=writer))
        ended = CompactionEnded(document.key, trigger, tokens_before=tokens)
        try:
            facts = {"trigger": trigger}
            asked = at_once(
                document, rules, prepared, told, outgoing, self._words, instructions, facts
            )
            draft = await ask(document, asked, cancel)
            return await self._commit(draft, told.last_entry, trigger)
        except (Cancelled, asyncio.CancelledError):
            document.hub.publish(replace(ended, cancelled=True))
            raise
        except (DraftFailed, ValueError, StoreError) as error:
            document.hub.publish(replace(ended, problem=str(error)))
            raise

    def _note(self, note: str) -> None:
        self.machine = replace(self.machine, note=note)
        self._told()

    def _told(self) -> None:
        now = self.machine
        self._document.hub.publish(
            BackgroundChanged(self._document.key, now.state.value, now.ratio, now.note)
        )


def _too_large(error: BudgetExceededError) -> ModelError:
    return ModelError("overflow", str(error))

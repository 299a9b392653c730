"""run and new: the agent at work without a window, in the same sessions."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import isfile
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from explorer.agent.approval import ApprovalMode, Approvals, Approver, NoAllowList
from explorer.agent.loop import TurnLimits
from explorer.agent.tools.content import PICTURE_HEAD, picture, picture_type
from explorer.agent.tools.port import ToolError, ToolSet
from explorer.agent.turn_interface import TurnResult, UserPrompt
from explorer.agent.workspace import Workspace
from explorer.commands.output import CommandFailed, CommandStopped, UsageError, print_json
from explorer.commands.run_terminal import OutputForm, RefusingApprover, RunOutput, TerminalApprover
from explorer.commands.targets import (
    Target,
    add_common,
    add_send,
    check_positive,
    find_session,
    report_extensions,
    session_rules,
    use_privacy,
    workbench,
)
from explorer.compaction.triggers import unfit_words
from explorer.models.catalogue import cannot_summarize
from explorer.models.client import DEMO, CancelToken, ImagePart
from explorer.models.offline.scenario import Scenario, ScenarioError, next_message, scenario_of
from explorer.models.request import THINKING_LEVELS
from explorer.services.agent_turns import SessionTurns
from explorer.services.auto_compaction.controller import AutomaticCompaction
from explorer.services.changes import AutomaticChanged, Change
from explorer.services.document import Document
from explorer.services.effective_rules import EffectiveRules
from explorer.services.session_files import make_sandbox, tools_of
from explorer.session.visible_text import visible_line
from explorer.settings.effective import Values, pace_of
from explorer.store import StoreError
from explorer.workbench import Workbench

NEW = "new"
INTERRUPTED, TERMINATED = 130, 143
_CHOICE = "agent_model"
"""Under which a session keeps the model chosen in it."""


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the arguments of one of this module's commands."""
    if command == "run":
        _add_run_options(parser)
    else:
        parser.add_argument(
            "--workspace", type=Path, metavar="DIR", help="its folder (default: here)"
        )
        parser.add_argument("--name", default="", metavar="TEXT", help="what it is called")
    add_common(parser)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "prompt", nargs="?", help="what is to be done; - reads it from standard input"
    )
    parser.add_argument("--workspace", type=Path, metavar="DIR", help="the folder that it works in")
    parser.add_argument("--model", metavar="M", help="who answers (default: your settings', else "
                     "offline/demo, an agent of simple rules)")  # fmt: skip
    may = parser.add_mutually_exclusive_group()
    may.add_argument("--yes", action="store_true", help="allow every change and every command")
    may.add_argument("--read-only", action="store_true", help="offer only tools that look")
    parser.add_argument("--session", metavar="S", help="go on in this session (default: a new one)")
    parser.add_argument(
        "--continue",
        dest="resume",
        metavar="S",
        help="go on where the agent was stopped or failed, without a message",
    )
    parser.add_argument("--profile", metavar="NAME", help="rules of automatic compaction (default: "
                     "your settings', else explorer)")  # fmt: skip
    parser.add_argument("--summary-model", metavar="M[,M]", help="who summarizes; further ones "
                     "where one fails (default: your settings', else who answers)")  # fmt: skip
    parser.add_argument("--thinking", choices=THINKING_LEVELS, help="how long it may think")
    parser.add_argument("--max-rounds", type=int, metavar="N", help="replies after which it ends")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="tokens after which it ends")
    parser.add_argument("--image", type=Path, action="append", default=[], metavar="FILE",
                     help="a picture that goes with the prompt; as often as needed")  # fmt: skip
    parser.add_argument("--no-extensions", action="store_true", help="ask no extension")
    add_send(parser)
    parser.add_argument("--events", action="store_true", help="print each event as a line of JSON")


def run(arguments: argparse.Namespace) -> None:
    """Run one of this module's commands. Raises UsageError, CommandFailed or CommandStopped."""
    with workbench(arguments.database) as bench:
        use_privacy(bench.privacy, arguments)
        work = _new if arguments.command == "new" else _run
        asyncio.run(work(arguments, bench))


async def _new(arguments: argparse.Namespace, bench: Workbench) -> None:
    folder = _folder(arguments.workspace) or Path.cwd()
    document = await bench.create(folder, arguments.name)
    if arguments.json:
        print_json({"session": document.key, "id": document.header.session_id, "cwd": str(folder)})
    else:
        print(visible_line(f"session {document.key} begun in {folder}"))


# what is to be done -----------------------------------------------------------------------------


class _Plan(Struct, frozen=True):
    """Everything that a run is decided by."""

    document: Document
    model: str
    scenario: Scenario | None
    prompt: UserPrompt | None
    """None goes on at the leaf, or plays what a script has next."""
    folder: Path | None
    mode: ApprovalMode
    allowed: Sequence[str]
    """What the settings let happen without a question."""
    rules: EffectiveRules
    limits: TurnLimits
    thinking: str | None
    resumes: bool


async def _run(arguments: argparse.Namespace, bench: Workbench) -> None:
    _check(arguments)
    prompt = _prompt(arguments)
    plan = await _plan(arguments, bench, prompt)
    form: OutputForm = "events" if arguments.events else "json" if arguments.json else "text"
    output = RunOutput(form, plan.document)
    report_extensions(arguments, Target(bench, plan.document, plan.document.leaf, True))
    automatic = AutomaticCompaction(plan.document, lambda: plan.rules)

    def changed(change: Change) -> None:
        output.changed(change)
        if isinstance(change, AutomaticChanged) and automatic.running is not None:
            output.waiting(automatic.running.note)

    stop = bench.subscribe(changed)
    rules, window = plan.rules, bench.client.info(plan.model).window
    if words := unfit_words(rules.profile, rules.settings, window):
        output.note(words)
    cancel, results = CancelToken(), list[TurnResult]()
    try:
        with _signals(cancel) as caught:
            results += await _turns(plan, automatic, _tools(plan, output), cancel, output)
    except StoreError as error:
        raise CommandFailed(f"{error} What was stored before stays.") from error
    finally:
        stop()
        await automatic.prompts.stop()
        automatic.close()
    output.finish(results, _run_facts(plan))
    _report_end(results[-1], plan.document.key, caught, output)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be meant, before anything is opened. Raises UsageError."""
    if arguments.resume is not None and arguments.session is not None:
        raise UsageError("name a session with --session or with --continue, not with both")
    check_positive(arguments, "max_rounds", "max_tokens")


def _prompt(arguments: argparse.Namespace) -> UserPrompt | None:
    """What the person says. Raises UsageError, CommandFailed."""
    text = arguments.prompt
    if text == "-":
        text = sys.stdin.read()
        if not text.strip():
            raise UsageError("nothing came from standard input to do")
    images = tuple(_image(path) for path in arguments.image)
    if text is None or not text.strip():
        if images:
            raise UsageError("say what is to be done with the picture")
        if text is not None:
            raise UsageError("say what is to be done: the prompt is empty")
        return None
    return UserPrompt(text.strip(), images)


def _image(path: Path) -> ImagePart:
    try:
        data = path.read_bytes()
        kind = picture_type(data[:PICTURE_HEAD])
        if kind is None:
            raise CommandFailed(f"{path}: not a picture (PNG, JPEG, GIF or WebP)")
        return picture(str(path), kind, data)
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror or error}") from error
    except ToolError as error:
        raise CommandFailed(str(error)) from error


async def _plan(
    arguments: argparse.Namespace, bench: Workbench, prompt: UserPrompt | None
) -> _Plan:
    """Open or begin the session, and settle what holds in it. Raises UsageError."""
    chosen, name = _folder(arguments.workspace), arguments.resume or arguments.session or NEW
    document = None if name == NEW else bench.open_blocking(_stored(bench, name))
    session_model = document.choices.all().get(_CHOICE) if document is not None else None
    folder = chosen or (_existing(document.header.cwd) if document is not None else Path.cwd())
    profile, values = session_rules(arguments.profile, str(folder or ""))
    model = arguments.model or session_model or values.get("agent.model") or DEMO
    scenario = _scenario(model)
    if prompt is None and arguments.resume is None and scenario is None:
        raise UsageError("say what is to be done: session-explorer run PROMPT, or - to read it")
    if scenario is not None and document is None and chosen is None:
        folder = make_sandbox(scenario)
        profile, values = session_rules(arguments.profile, str(folder))
    if document is None:
        name = scenario.title if scenario is not None else ""
        document = await bench.create(folder or Path.cwd(), name)
    bench.client.use_pace(pace_of(values.get("models.scriptedPace"), _pace()))
    if arguments.read_only:
        mode: ApprovalMode = "read-only"
    else:
        mode = "yes" if arguments.yes else "ask"
    return _Plan(
        document, model, scenario, prompt, folder, mode, values.get("agent.allow", ()),
        EffectiveRules.from_settings(profile, values, model, _summarizers(arguments)),
        _limits(arguments, values), arguments.thinking, arguments.resume is not None,
    )  # fmt: skip


def _summarizers(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The models named for summaries. Raises UsageError for one that cannot write any."""
    named = (name.strip() for name in (arguments.summary_model or "").split(","))
    models = tuple(name for name in named if name)
    if unfit := [model for model in models if cannot_summarize(model)]:
        raise UsageError(f"--summary-model: {unfit[0]} writes no summaries")
    return models


def _stored(bench: Workbench, name: str) -> int:
    if isfile(name):
        raise UsageError(
            f"{name} is a file; take it in first (session-explorer import {name}), so that what "
            "the agent does is kept"
        )
    return find_session(bench.sessions(), name).key


def _folder(named: Path | None) -> Path | None:
    """The folder that the command line names. Raises UsageError when it is none."""
    if named is None:
        return None
    if not named.is_dir():
        raise UsageError(f"{named}: no such folder")
    return named.resolve()


def _existing(cwd: str) -> Path | None:
    """The folder that a session worked in, where it is there."""
    return Path(cwd) if cwd and Path(cwd).is_absolute() and Path(cwd).is_dir() else None


def _scenario(model: str) -> Scenario | None:
    try:
        return scenario_of(model)
    except ScenarioError as error:
        raise CommandFailed(str(error)) from error


def _pace() -> float:
    """Without a terminal a script is played without delays."""
    return 1.0 if sys.stdout.isatty() else 0.0


def _limits(arguments: argparse.Namespace, values: Values) -> TurnLimits:
    known = TurnLimits.of(values)
    rounds = arguments.max_rounds or known.rounds
    return replace(known, rounds=rounds, tokens=arguments.max_tokens or known.tokens)


# doing it ---------------------------------------------------------------------------------------


def _tools(plan: _Plan, output: RunOutput) -> ToolSet | None:
    """The tools in the folder, or none where there is no folder."""
    if plan.folder is None:
        output.note(f"{plan.document.header.cwd or 'The folder'} is not there, so no tool can run; "
                    "name one with --workspace")  # fmt: skip
        return None
    asks: Approver = (
        TerminalApprover(output.note) if sys.stdin.isatty() else RefusingApprover(output.note)
    )
    approvals = Approvals(plan.mode, always=_Allowed(plan.allowed), approver=asks)
    return tools_of(plan.document, Workspace(plan.folder), approvals)


class _Allowed(NoAllowList):
    """What the settings allow without asking."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns

    def patterns(self) -> Sequence[str]:
        """See ``AllowList``."""
        return self._patterns


async def _turns(
    plan: _Plan,
    automatic: AutomaticCompaction,
    tools: ToolSet | None,
    cancel: CancelToken,
    output: RunOutput,
) -> list[TurnResult]:
    """One turn, or all that a script has left."""

    async def say(prompt: UserPrompt) -> TurnResult:
        return await SessionTurns(
            plan.document, plan.model, tools, cancel, output.event, automatic,
            thinking=plan.thinking, limits=plan.limits,
        ).say(prompt)  # fmt: skip

    if plan.prompt is not None:
        return [await say(plan.prompt)]
    results: list[TurnResult] = []
    if plan.resumes:
        results.append(
            await SessionTurns(
                plan.document, plan.model, tools, cancel, output.event, automatic,
                thinking=plan.thinking, limits=plan.limits,
            ).resume()
        )  # fmt: skip
    while plan.scenario is not None and (not results or results[-1].end == "done"):
        message = next_message(plan.scenario, plan.document.agent.messages())
        if not message:
            break
        output.note(f"> {message}")
        results.append(await say(UserPrompt(message)))
    return results or [TurnResult("done", "The script is over; nothing is left to play.")]


@contextmanager
def _signals(cancel: CancelToken) -> Iterator[list[int]]:
    """While it lasts the keys that interrupt stop the turn, which leaves a session that can be
    continued; a second time they end the process. Gives what came."""
    loop, caught = asyncio.get_running_loop(), list[int]()

    def stop(number: int) -> None:
        caught.append(number)
        cancel.cancel()
        restore()

    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.getsignal(kind) for kind in kinds}

    def restore() -> None:
        for kind, handler in before.items():
            _remove_signal_handler(loop, kind)
            signal.signal(kind, handler)

    for kind in kinds:
        _add_signal_handler(loop, kind, stop)
    try:
        yield caught
    finally:
        restore()


def _add_signal_handler(
    loop: asyncio.AbstractEventLoop, kind: signal.Signals, stop: Callable[[int], None]
) -> None:
    try:
        loop.add_signal_handler(kind, stop, int(kind))
    except NotImplementedError:
        signal.signal(kind, lambda number, _frame: loop.call_soon_threadsafe(stop, number))


def _remove_signal_handler(loop: asyncio.AbstractEventLoop, kind: signal.Signals) -> None:
    try:
        loop.remove_signal_handler(kind)
    except NotImplementedError:
        return


# the end ----------------------------------------------------------------------------------------


def _run_facts(plan: _Plan) -> Mapping[str, Any]:
    return {
        "session": plan.document.key,
        "id": plan.document.header.session_id,
        "workspace": str(plan.folder) if plan.folder is not None else None,
        "model": plan.model,
        "profile": plan.rules.profile.name,
    }


def _report_end(result: TurnResult, key: int, caught: list[int], output: RunOutput) -> None:
    """Tell how to go on, and fail where the turn did. Raises CommandFailed, CommandStopped."""
    go_on = f"Go on with: session-explorer run --continue {key}"
    if caught:
        status = TERMINATED if caught[0] == signal.SIGTERM else INTERRUPTED
        raise CommandStopped(f"stopped; what had arrived is kept in session {key}. {go_on}", status)
    if result.end == "done":
        if result.error:
            output.note(result.error)
        output.note(f"session {key}")
        return
    reason = result.error or "The turn did not come to its end."
    raise CommandFailed(f"{reason} What had arrived is kept in session {key}. {go_on}")

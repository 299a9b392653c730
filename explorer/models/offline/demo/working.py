"""The work that a question asks for: looks beside each other, changes one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from explorer.models.offline.demo.changing import create, replace_in, run_command
from explorer.models.offline.demo.move import Move, Work
from explorer.models.offline.demo.remembering import from_conversation
from explorer.models.offline.demo.reporting import report
from explorer.models.offline.demo.situation import Situation
from explorer.models.offline.demo.steps import Create, Look, Replace, Run, Step, Tests, steps_in
from explorer.models.offline.demo.testing import test_and_repair
from explorer.models.offline.extractive.cues import SMALL_TALK

_HELP = (
    "I am the offline demonstration agent: I follow simple rules and use no language model, so "
    "nothing leaves this machine.\n\nI can{tools} answer from this conversation: what the "
    "constraints were, what was decided, what went wrong, what is done and what comes next. "
    "For anything else choose another model."
)
_CAN = {
    "ls": "list files",
    "read": "read a file",
    "grep": "search in files",
    "write": "create a file F with `some text`",
    "edit": "replace `A` by `B` in a file",
    "bash": "run a command or the tests, repair some kinds of failing tests",
}


def work_on(now: Situation) -> Work:
    """Everything that is done for a question, and the answer to it."""
    about = from_conversation(now.question, now.earlier, now.cancelled)
    if about is not None:
        return about
    steps = steps_in(now.question)
    if not steps:
        return _no_step(now)
    told: list[str] = []
    for part in _together(steps):
        said = yield from _do(part, now)
        told.append(said)
        if not said or said.startswith(STOPS):
            break
    left = len(steps) - sum(len(part) for part in list(_together(steps))[: len(told)])
    if left:
        told.append(f"So I stopped, with {left} step{'' if left == 1 else 's'} left.")
    return "\n\n".join(text for text in told if text)


STOPS = ("That did not work", "I did not", "That needs")
"""How the words about a step begin after which the others make no sense."""


def _no_step(now: Situation) -> str:
    if SMALL_TALK.match(now.question):
        return "Tell me what to look at: a file to read, a word to search for."
    can = [words for tool, words in _CAN.items() if tool in now.offered]
    return _HELP.format(tools=f" {', '.join(can)}, and" if can else "")


def _together(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Looks that follow each other run beside each other."""
    for looks, group in groupby(steps, lambda step: isinstance(step, Look)):
        if looks:
            yield list(group)
        else:
            yield from ([step] for step in group)


def _do(part: Sequence[Step], now: Situation) -> Work:
    looks = [step for step in part if isinstance(step, Look)]
    if looks:
        return (yield from _look(looks, now))
    match part[0]:
        case Create() as step:
            return (yield from create(step, now))
        case Replace() as step:
            return (yield from replace_in(step, now))
        case Run() as step:
            return (yield from run_command(step, now))
        case Tests() as step:
            return (yield from test_and_repair(step, now))
        case Look():
            return ""


def _look(looks: Sequence[Look], now: Situation) -> Work:
    missing = sorted({look.want.tool for look in looks} - set(now.offered))
    if missing:
        return f"That needs the tool {missing[0]}, which is not offered in this conversation."
    thinking = (
        f"They ask for something that {looks[0].want.tool} can tell."
        if len(looks) == 1
        else f"Nothing of this changes anything, so I look at {len(looks)} things at once."
    )
    text = " ".join(look.saying for look in looks)
    results = yield Move(thinking, text, tuple(look.want for look in looks))
    told = (report(look.want, result) for look, result in zip(looks, results, strict=False))
    return "\n\n".join(told)

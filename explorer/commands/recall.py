"""recall: what a model still knows after a compaction, by questions made from the record."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from explorer.audit.generations import compactions_on_path
from explorer.audit.recall import ASKED_KINDS, Recall
from explorer.audit.recall_result import (
    NOT_ASKED,
    SIDES,
    ClozeResult,
    RecallResult,
    cloze_json,
    open_json,
    result_json,
)
from explorer.commands.output import CommandFailed, UsageError, print_json, print_table
from explorer.commands.prompts import print_template_problems
from explorer.commands.targets import (
    Target,
    add_common,
    add_profile,
    add_send,
    add_session,
    check_positive,
    session_rules,
    target,
)
from explorer.compaction.profile import Settings
from explorer.compaction.reasons import count_text
from explorer.models.client import Cancelled
from explorer.services.recall import (
    RecallContext,
    RecallOrder,
    RecallRefused,
    RecallTest,
    compaction_context,
    draft_context,
    plan_tests,
)
from explorer.services.recall_run import run_test
from explorer.session.kinds import Kind
from explorer.session.visible_text import visible_line
from explorer.settings.prompt_templates import load_prompt

_EPILOG = """\
Sentences of what the compaction summarized are put to the model with one exact thing blank: what a
person wrote, and what a tool reported that mattered later. The model sees what the agent sees after
the compaction and, as a control, what it saw before it. Without --send nothing leaves: the
questions and what asking them would cost are printed. With --judge four open questions are asked
too (recall, files, next step, why), and that model grades the answers.

Exit status: 0 done, 1 failed (what was answered until then is printed), 2 wrong usage.
"""


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add the command's arguments."""
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_session(parser, "a compaction, or an entry below it: an entry id, its start, or #index")
    parser.add_argument(
        "--draft", action="store_true",
        help="test the newest draft that waits instead of a recorded compaction",
    )  # fmt: skip
    parser.add_argument("--model", required=True, metavar="M", help="the model that is asked")
    parser.add_argument("--judge", default="", metavar="M", help="the model that grades answers")
    parser.add_argument("--questions", type=int, default=20, metavar="N", help="at most so many")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="draws the questions")
    add_profile(parser)
    add_send(parser)
    add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the command. Raises UsageError, CommandFailed."""
    check_positive(arguments, "questions")
    with target(arguments) as chosen:
        print_template_problems()
        order = RecallOrder(
            arguments.model,
            arguments.judge,
            arguments.questions,
            arguments.seed,
            on_progress=lambda words: print(visible_line(words), file=sys.stderr),
        )
        try:
            (test,) = plan_tests(chosen.document, [_context(arguments, chosen)], order)
        except RecallRefused as error:
            raise CommandFailed(f"{error} Nothing was sent.") from error
        _print_plan(test, arguments.questions)
        if not arguments.send:
            _print_questions(arguments, test)
            return
        try:
            result = asyncio.run(run_test(chosen.document, test, order))
        except Cancelled as error:
            raise CommandFailed("Cancelled.") from error
        _print_result(arguments, test, result)
        if result.problem:
            raise CommandFailed(result.problem)


def _context(arguments: argparse.Namespace, chosen: Target) -> RecallContext:
    document = chosen.document
    if not arguments.draft:
        if chosen.at < 0:
            raise UsageError("the session has no entries")
        entry = chosen.at
        if document.tree.kind(entry) is not Kind.COMPACTION:
            on_path = compactions_on_path(document.tree, chosen.at)
            if not on_path:
                raise UsageError(f"there is no compaction on the path to #{chosen.at}")
            entry = on_path[-1]
        return compaction_context(document, entry)
    profile, _ = session_rules(arguments.profile, document.header.cwd)
    waiting = document.compaction.waiting_previews(profile, Settings.of(profile), 1)
    if not waiting:
        raise UsageError("no draft waits in this session")
    draft, shown, text = waiting[-1]
    return draft_context(document, shown, text, draft.id)


def _print_plan(test: RecallTest, wanted: int) -> None:
    """What would be sent and what it would cost, on standard error: before anything is."""
    questions = test.questions
    asked = count_text(len(questions.cloze), "blank")
    if len(questions.cloze) < wanted:
        asked += f", which is all that can be made of the {wanted:,} wanted,"
    if questions.open:
        asked += f" and {count_text(len(questions.open), 'open question')}"
    of = questions.subject.name
    print(visible_line(f"Recall of {of}: {asked} (seed {questions.seed})."), file=sys.stderr)
    for side in SIDES:
        print(test.views[side].sentence, file=sys.stderr)
    print(visible_line(test.cost_sentence), file=sys.stderr)


def _print_questions(arguments: argparse.Namespace, test: RecallTest) -> None:
    questions = test.questions
    if arguments.json:
        cloze, asked = map(cloze_json, questions.cloze), map(open_json, questions.open)
        print_json(_test_json(test) | {"sent": False, "cloze": [*cloze], "open": [*asked]})
        return
    rows = [
        [one.id, f"#{one.entry}", ASKED_KINDS[one.kind], one.text, one.answer]
        for one in questions.cloze
    ]
    print_table(["", "entry", "kind", "question", "answer"], rows)
    for each in questions.open:
        print(f"{each.id}: {each.text}")
    print("Nothing was sent. Give --send to ask.", file=sys.stderr)


def _print_result(arguments: argparse.Namespace, test: RecallTest, result: RecallResult) -> None:
    if arguments.json:
        counts = {
            side: {one: result.count(side, one) for one in Recall} | {"asked": result.asked(side)}
            for side in SIDES
        }
        print_json(
            _test_json(test)
            | {"sent": True, "dollars": result.dollars, "counts": counts}
            | result_json(result)
        )
        return
    print_table(
        ["", "entry", "question", "answer", "after", "", "before", ""],
        [_row(one) for one in result.cloze],
    )
    for side in SIDES:
        words = ", ".join(f"{result.count(side, one)} {one}" for one in Recall)
        print(f"{side.capitalize()}: {words} of {result.asked(side)} that were asked.")
    if result.open:
        _print_graded(result)
    if result.dollars is not None:
        print(f"It cost ${result.dollars:,.4f}.")


def _row(one: ClozeResult) -> list[str]:
    row = [one.question.id, f"#{one.question.entry}", one.question.text, one.question.answer]
    for side in SIDES:
        given = (one.answers[side] or "").strip().partition("\n")[0]
        row += [str(one.results[side] or NOT_ASKED), given]
    return row


def _print_graded(result: RecallResult) -> None:
    print(f"Grades by {result.questions.judge}:")
    print(load_prompt("recall-rubric").strip())
    for one in result.open:
        print(f"\n{one.question.id}: {one.question.text}")
        entries = ", ".join(dict.fromkeys(f"#{point.entry}" for point in one.question.points))
        print(f"  the record: {entries}")
        for side in SIDES:
            grade = one.grades[side]
            graded = "no grade" if grade is None else f"{grade.score} {grade.reason}"
            print(f"  {side}: {visible_line(graded)}")
            print(f"    {visible_line(one.answers[side] or 'no answer')}")


def _test_json(test: RecallTest) -> dict[str, Any]:
    questions = test.questions
    found: dict[str, Any] = {
        "of": questions.subject.name,
        "model": questions.model,
        "judge": questions.judge or None,
        "rubric": load_prompt("recall-rubric").strip() if questions.judge else None,
        "seed": questions.seed,
        "contexts": {
            side: {
                "tokens": view.tokens,
                "whole_tokens": view.whole,
                "cut": view.is_cut,
                "begins_at": view.begins_at,
            }
            for side, view in test.views.items()
        },
        "calls": questions.calls,
        "input_tokens": test.input_tokens,
        "output_tokens": test.output_tokens,
        "dollars_at_most": test.dollars,
    }
    return found

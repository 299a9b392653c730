"""What the offline summarizer takes from a record: results, rules, failures, wishes, and what
it leaves out."""

from __future__ import annotations

import re

import pytest

from explorer.facts.entry_texts import Speaker
from explorer.models.offline.extractive import summarize
from explorer.models.offline.extractive.items import ItemKind
from explorer.models.offline.extractive.request import DEPTH, RequestBlock, ends_of, thin
from explorer.models.offline.extractive.sections import item_line
from explorer.tokens.estimate import estimate_text
from tests.models.survival import TEMPLATE, summary_request

BRANCH = TEMPLATE.partition("## Critical Context")[0]
EIGHT = """Write <analysis> first. Then write <summary> with these sections:
1. Conversation Overview: [x]
2. Technical Foundation: [x]
3. Codebase Status: [x]
4. Problem Resolution: [x]
5. Progress Tracking: [x]
6. Active Work State: [x]
7. Recent Operations: [x]
8. Continuation Plan: [x]
"""
LISTING = "\n".join(f"component_{n * 7 % 93}.tsx" for n in range(160))
RELEASE = f"""[User]: what is in here?

[Assistant tool calls]: ls(path="src")

[Tool result]: {LISTING}

[User]: ok, now create a release, and never force a push

[Assistant]: Sure! Should I commit and tag it as v0.8.0?

[User]: yeah, do it all

[Assistant]: Let me check the tests first:

[Assistant tool calls]: bash(command="cd /home/me/app && npm test 2>&1 | tail -3")

[Tool result]: Tests: 1 failed, 41 passed
error: expected 3 to be 4

[Assistant]: Oh no! The test still has the old value. Let me fix it:

[Assistant tool calls]: edit(path="src/app.ts", oldText="3", newText="4")

[Tool result]: Successfully replaced text in src/app.ts.

[Assistant tool calls]: bash(command="cd /home/me/app && npm test 2>&1 | tail -3")

[Tool result]: Tests: 42 passed

[Assistant]: Perfect! Now commit:

[Assistant tool calls]: bash(command="git add . && git commit -m 'Release v0.8.0'")

[Tool result]: [main 45ffe0a] Release v0.8.0
 4 files changed, 15 insertions(+)

[Assistant tool calls]: bash(command="git push origin v0.8.0")

[Tool result]: To https://github.com/me/app.git
 * [new tag]         v0.8.0 -> v0.8.0

[Assistant]: Great! Now publish it:

[Assistant tool calls]: bash(command="npm run build")

[Tool result]: > app@0.8.0 build
src/theme.ts(5,15): error TS2305: Module '"@me/tui"' has no exported member 'EditorTheme'.

[Assistant]: Oh wait, these errors look like we have API mismatches! The TUI package must have a \
different API than what we expect. Let me check whether dist is stale. Did we revert"""


def run(talk: str, limit: int | None = 1_200, template: str = TEMPLATE) -> str:
    return summarize(summary_request(talk, limit=limit, template=template), lambda: False)


def section(summary: str, heading: str) -> str:
    match = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", summary, re.M | re.S)
    assert match, f"no section {heading} in:\n{summary}"
    return match.group(1).strip()


@pytest.mark.parametrize("limit", [60, 100, 399, 400, 2_000])
@pytest.mark.parametrize("template", [TEMPLATE, BRANCH])
def test_a24_a_section_without_anything_says_so(limit: int, template: str) -> None:
    """Whatever room there is: no heading stands alone, but for one with headings beneath it."""
    talk = '[Assistant tool calls]: bash(command="npm run build")\n\n[Assistant]: Let me see:'
    for said in (talk, RELEASE, "[User]: Go on, please."):
        summary = run(said, limit, template)
        parts = re.split(r"^#+ (.+)\n", f"{summary}\n", flags=re.MULTILINE)[1:]
        empty = [
            name for name, text in zip(parts[::2], parts[1::2], strict=True) if not text.strip()
        ]
        assert empty == ["Progress"], summary


def test_e17_done_is_what_results_show() -> None:
    done = section(run(RELEASE), "Done")
    assert "`npm test` → Tests: 42 passed" in done
    assert "→ [main 45ffe0a] Release v0.8.0" in done
    assert "`git push origin v0.8.0` → * [new tag]" in done
    assert "Files changed: src/app.ts" in done
    assert "npm run build" not in done, "it failed"
    for chatter in ("Oh wait", "Let me", "Perfect", "Great", "Did we revert", "mismatches", "Sure"):
        assert chatter not in done


def test_what_stands_in_the_way_is_the_failing_line_and_a_solved_failure_is_not() -> None:
    blocked = section(run(RELEASE), "Blocked")
    line = "src/theme.ts(5,15): error TS2305: Module '\"@me/tui\"' has no exported member"
    assert line in blocked
    assert "expected 3 to be 4" not in blocked, "the same command passed later"


def test_what_was_announced_last_is_in_progress_in_its_own_words() -> None:
    doing = section(run(RELEASE), "In Progress")
    assert "Let me check whether dist is stale." in doing
    assert "tests first" not in doing


def test_a_guess_of_the_assistant_is_no_constraint() -> None:
    rules = section(run(RELEASE), "Constraints & Preferences")
    assert "never force a push" in rules
    assert "TUI package" not in rules


def test_rules_that_were_read_are_constraints_and_other_files_are_not() -> None:
    text = "# Notes\\n- You must NEVER run `npm run dev`.\\n- Have fun.\\n1. Always run lint.\\n- x"
    for name, told in (("AGENTS.md", True), ("src/dev.md", False)):
        body = text.replace("\\n", "\n")
        talk = (
            f'[User]: Look around in the project.\n\n[Assistant tool calls]: read(path="{name}")'
            f"\n\n[Tool result]: {body}\n\n[User]: Now build the app for me."
        )
        rules = section(run(talk), "Constraints & Preferences")
        assert ("You must NEVER run `npm run dev`." in rules) is told
        assert ("- Always run lint." in rules) is told
        assert "Have fun" not in rules


def test_a_short_yes_comes_with_the_question_it_answers() -> None:
    goal = section(run(RELEASE), "Goal")
    assert "yeah, do it all (in answer to: Should I commit and tag it" in goal
    again = run("[User]: Thanks.\n\n[Assistant]: Done.", 1_200, TEMPLATE)
    assert "in answer to" not in again


def test_reactions_and_pastes_are_no_goals() -> None:
    talk = "\n\n".join(
        f"[User]: {said}\n\n[Assistant]: I see."
        for said in (
            "Please write a theme loader in src/theme.ts.",
            "fucking hell.",
            "/them",
            "+314 - Tips for creating harmonious themes  \n+315 - More of it   \n\nremove those",
            "➜  app git:(main) ✗ npx tsx src/cli.ts\n[theme] Detected truecolor mode\n\nit is slow",
            "We also need to mention themes in README.md",
            "Now write the tests of it in tests/loader.test.ts.",
        )
    )
    goal = section(run(talk), "Goal")
    assert goal.startswith("- Please write a theme loader in src/theme.ts.")
    assert "mention themes in README.md" in goal
    for left_out in ("hell", "- /them", "Tips for", "Detected", "✗"):
        assert left_out not in goal


def test_what_is_read_is_no_failure() -> None:
    """A file that speaks of errors did not fail, and the line of a cut that ends in the middle
    is not told."""
    listing = "\n".join(
        [*(f"line {n} of it" for n in range(9)), "theme.fg('warning', 'it failed')"]
    )
    talk = (
        '[User]: Read the source, please.\n\n[Assistant tool calls]: read(path="src/a.ts")\n\n'
        f'[Tool result]: {listing}\n\n[Assistant tool calls]: bash(command="npm run check")\n\n'
        "[Tool result]: src/b.ts(1,1): error TS1: Whole line here.\nsrc/c.ts(1,1): error TS2: Mod"
        "\n\n[... 77 more characters truncated]"
    )
    blocked = section(run(talk), "Blocked")
    assert "error TS1: Whole line here." in blocked
    assert "TS2" not in blocked and "warning" not in blocked


def test_a36_what_the_person_asks_for_is_kept_word_for_word() -> None:
    lines = [
        f"src/f{n}.ts({n},1): error TS23{n:02d}: Property p{n} is missing in type T{n}."
        for n in range(12)
    ]
    talk = (
        "[User]: Build it, and use port 8443 for the gateway.\n\n"
        + "".join(f"[User]: Host {n} is at 10.0.0.{n}:80 in rack {n}.\n\n" for n in range(2, 90))
        + '[Assistant tool calls]: bash(command="npm run build")\n\n[Tool result]: '
        + "\n".join(lines)
        + '\n\n[Assistant tool calls]: bash(command="npm run build")\n\n[Tool result]: all built'
        + "\n\n[User]: Good. Now write notes/build.md about how it is built, for new people."
    )
    wish = "The person asks you to pay special attention to this:\nKeep the exact TypeScript errors"
    without = run(talk, 500)
    with_it = run(talk, 500, f"{TEMPLATE}\n{wish}")
    assert sum(line in without for line in lines) < 6
    assert all(line in with_it for line in lines), with_it
    assert estimate_text(with_it) <= 500
    assert "write notes/build.md" in with_it


def test_of_output_only_lines_with_what_is_asked_for_are_kept() -> None:
    """Not all that mentions it, and without the marks of lists and line numbers."""
    lines = (
        "1. I cannot extract the endpoint details from this page.",
        "- - Complete endpoint URL, which is to be looked up",
        "   31→endpoint: POST /api/v1/tests/{public_id}",
    )
    talk = (
        '[User]: Add the tests.\n\n[Assistant tool calls]: fetch(url="https://docs.example.com")'
        "\n\n[Tool result]: " + "\n".join(lines) + "\n\n[User]: Go on."
    )
    wish = f"{TEMPLATE}\nAdditional focus: Keep the exact endpoint paths."
    told = run(talk, 400, wish)
    assert "- endpoint: POST /api/v1/tests/{public_id}" in told
    assert "cannot extract" not in told and "Complete endpoint" not in told


def test_a36_what_the_person_asks_to_leave_out_goes_last() -> None:
    talk = "\n\n".join(
        f"[User]: The {name} colour is {value} in themes/{name}.json."
        for name, value in (("accent", "#8abeb7"), ("dim", "#666666"), ("error", "#cc6666"))
    ) + "\n\n[User]: The hub answers on hub.local:7001.\n\n[User]: Write the loader."  # fmt: skip
    wish = f"{TEMPLATE}\nAdditional focus: Ignore the colour values."
    assert "hub.local:7001" in run(talk, 110, wish)


def test_a_branch_without_results_claims_none_and_lists_what_was_changed() -> None:
    """Results are not told to whoever sums up a branch."""
    talk = re.sub(r"\[Tool result\]: .*?(?=\n\n\[)", "", RELEASE, flags=re.DOTALL)
    done = section(run(talk, 1_200, BRANCH), "Done")
    assert "Files changed: src/app.ts" in done
    (ran,) = (line for line in done.split("\n") if "npm run build" in line)
    assert ran.startswith("- Commands (results not shown): ")
    assert "→" not in done


def test_a26_eight_sections_know_the_last_operations_and_the_files() -> None:
    summary = run(RELEASE, 1_200, EIGHT)
    assert summary.startswith("<analysis>\n") and summary.endswith("</summary>")
    parts = re.split(r"^\d\. (.+):$", summary, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert "`git push origin v0.8.0`" in found["Recent Operations"]
    assert "error TS2305" in found["Problem Resolution"]
    assert "dist is stale" in found["Active Work State"]


def test_large_budgets_are_not_filled_with_trifles() -> None:
    trifles = "\n\n".join(
        f"[Assistant]: The {a}{b}{c} entry lives somewhere near an {c}{b}{a} cupboard upstairs."
        for a in "abdefghijklmnop"
        for b in "aeiouy"
        for c in "bcdfghklmnprstvwx"
    )
    talk = f"[User]: Port the importer to Go.\n\n{trifles}\n\n{RELEASE}"
    assert estimate_text(run(talk, 13_107)) < 6_000


def blocks(count: int, size: int) -> list[RequestBlock]:
    speakers = (Speaker.USER, Speaker.ASSISTANT, Speaker.COMMAND, Speaker.RESULT)
    return [RequestBlock(speakers[n % 4], f"{n} " + "x" * size) for n in range(count)]


@pytest.mark.parametrize(("count", "size"), [(8, 1_000_000), (4_000, 4_000), (200_000, 90)])
def test_the_work_is_bounded_and_the_newest_is_whole(count: int, size: int) -> None:
    long = blocks(count, size)
    read = thin(long)
    assert sum(len(block.text) for block in read) <= DEPTH * 1.3
    if size < 100_000:
        assert read[-50:] == long[-50:]
    assert thin(long[-1:]) == long[-1:]


def test_ends_are_cut_at_lines() -> None:
    text = "\n".join(f"line {n}" for n in range(1_000))
    short = ends_of(text, 100)
    assert len(short) <= 101
    assert set(short.split("\n")) <= set(text.split("\n"))
    assert short.startswith("line 0\n") and short.endswith("line 999")


@pytest.mark.parametrize("after", [0, 1, 5, 50, 500])
def test_stopping_ends_it_at_the_next_look(after: int) -> None:
    """However far it has come, it asks often and gives nothing once it is told to stop."""
    looks = 0

    def cancelled() -> bool:
        nonlocal looks
        looks += 1
        return looks > after

    talk = "\n\n".join([RELEASE] * 40)
    assert summarize(summary_request(talk, limit=2_000), cancelled) == ""
    assert looks <= after + 40, "it went on"


def test_what_a_report_says_to_the_person_is_not_done() -> None:
    talk = """[User]: Add a retry to the uploader.

[Assistant]: Hi Kim! Here's the full summary:

---

The uploader waits 200 ms between two tries. Here's what I changed. If you want, I can also add \
jitter to the delays. Scanning for leftover calls...

[User]: Write the docs for the uploader.

[Assistant]: The page `docs/upload.md` explains the delay. Let me know if you need anything else!"""
    summary = run(talk)
    assert "The uploader waits 200 ms" in section(summary, "Done")
    assert "docs/upload.md" in section(summary, "Done")
    for chat in ("Hi Kim", "Here's", "If you want", "Let me know", "Scanning"):
        assert chat not in summary


def test_a_decision_that_is_only_spoken_of_is_none() -> None:
    talk = """[User]: Plan the cache of the shop.

[Assistant]: I've gathered the team to evaluate the cache decision. Great, let me bring in the \
people for this decision. Decision: Redis holds the carts. I'll go with 300 seconds for all keys \
because carts change rarely.

[User]: Write it down in the wiki.

[Assistant]: The page is written."""
    summary = run(talk)
    decided = section(summary, "Key Decisions")
    assert "Redis holds the carts" in decided
    assert "300 seconds" in decided
    for spoken in ("gathered the team", "bring in the"):
        assert spoken not in summary


def test_questions_that_were_answered_and_requests_that_were_met_are_not_asked_any_more() -> None:
    talk = """[User]: Build a shop for tea in Django.

[Assistant]: The shop starts.

[User]: How does the checkout handle two currencies?

[Assistant]: It converts all prices to euros first.

[User]: Remove it.

[Assistant]: It is gone.

[User]: Please rename the basket module to cart.

[Assistant]: The basket module is renamed to cart.

[User]: Please add invoices as PDF files.

[Assistant]: Let me look at the templates.

[User]: And give the tea shop a search box."""
    goal = section(run(talk), "Goal")
    assert "Build a shop for tea" in goal
    assert "invoices as PDF" in goal, "no report says that they are there"
    for over in ("two currencies", "Remove it", "basket"):
        assert over not in goal


def test_a_question_is_no_constraint_with_a_question_mark_or_without() -> None:
    talk = """[User]: Is the old folder always kept, or must we drop it? Never delete backups.

[Assistant]: Both are possible.

[User]: do we have to support the old layout or should it only be the new one

[Assistant]: Only the new one works.

[User]: Go with the new one for the backups of the shop."""
    rules = section(run(talk), "Constraints & Preferences")
    assert "Never delete backups" in rules
    assert "old layout" not in rules


def test_rules_in_the_midst_of_a_long_message_are_constraints_and_reports_are_not() -> None:
    lines = [f"The page number {n} of the shop lists teas from region {n}." for n in range(30)]
    lines[14] = "Logged-out visitors should not see the dashboard of the shop."
    lines[16] = "The tag retarget of the shop was never covered by any of the cases."
    talk = f"[User]: {' '.join(lines)}\n\n[Assistant]: I see.\n\n[User]: Write the page of Assam."
    summary = run(talk, 3_000)
    rules = section(summary, "Constraints & Preferences")
    assert "Logged-out visitors should not see" in rules
    assert "tag retarget" not in rules


def test_what_an_agent_adds_to_a_plan_is_not_the_users() -> None:
    talk = """[User]: Implement the following plan:

# Tea shop

Add a page for each region of the catalogue.

If you need specific details from before exiting plan mode, read the full transcript at: /a.jsonl

If this plan can be broken down into multiple independent tasks, consider using the TeamCreate tool.

[Assistant]: Let me read the catalogue."""
    summary = run(talk)
    assert "page for each region" in summary
    assert "transcript" not in summary
    assert "TeamCreate" not in summary


def test_a_failure_that_does_not_say_of_what_is_left_out() -> None:
    talk = """[User]: Look at the notes of the shop and build it.

[Assistant tool calls]: run(command="./build")

[Tool result]: Exit code 2

[Assistant tool calls]: run(command="./pack")

[Tool result]: error: the packer cannot find tea.css"""
    summary = run(talk)
    assert "tea.css" in summary
    assert "Exit code" not in summary


def test_frames_of_drawings_and_tables_in_an_earlier_summary_are_no_items() -> None:
    drawn = "┌────────┐\n│ SHOP   │\n├────────┤\n| Task | Who |\n|------|-----|\n| Tea | Kim |\n}],"
    request = summary_request(
        "[User]: Build the cart of the shop.", f"## Goal\nA shop for tea.\n{drawn}", limit=1_200
    )
    summary = summarize(request, lambda: False)
    assert "A shop for tea." in summary
    assert "| Tea | Kim |" in summary
    for frame in ("┌", "│", "├", "|---", "}]"):
        assert frame not in summary


def test_a_failure_that_is_only_announced_stands_not_in_the_way() -> None:
    talk = "[User]: Write the tests first.\n\n[Assistant]: The tests are written. "
    assert section(run(f"{talk}Let me verify that they fail."), "Blocked") == "- (none)"
    assert "They fail" in section(run(f"{talk}They fail on Windows."), "Blocked")


def test_an_item_has_one_mark_and_no_colours_of_a_terminal() -> None:
    line = item_line(
        ItemKind.FACT, "- \x1b[32mINFO\x1b[39m [1;31mfailed[0m: port 8443 is taken [12]"
    )
    assert line == "- Fact: INFO failed: port 8443 is taken [12]"
    assert item_line(ItemKind.FACT, "rate(errors[5m]) is 0") == "- Fact: rate(errors[5m]) is 0"

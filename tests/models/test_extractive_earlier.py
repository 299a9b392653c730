"""What the offline summarizer takes over from an earlier summary: what holds, and nothing of how
things stood once the work went on; and what it leaves out as noise."""

from __future__ import annotations

import pytest

from explorer.models.offline.extractive import summarize
from explorer.models.offline.extractive.earlier_summary import summary_items
from explorer.models.offline.extractive.items import ItemKind, passages
from tests.models.survival import TEMPLATE, summary_request
from tests.models.test_extractive_record import run as run_new
from tests.models.test_extractive_record import section

EARLIER = """This session is being continued from a previous conversation that ran out of context.

Analysis:
The tests fail in a way that is only a draft.

Summary:
1. Primary Request and Intent:
   They want a server in Python (current task). It must follow STYLE.md and never use emoji.

2. Key Technical Concepts:
   - httpx for the async client

3. Files and Code Sections:
   - `src/settings.py`:
     - Reads the .env file
     - Raises where a key is missing
   - Changed the reading in `src/read.py`:
     ```python
     class Settings(BaseSettings):
         dd_api_key: str
     ```
     ```bash
     # run all
     pytest tests/unit -q
     ```
   - tests/test_time.py: 12 tests, all of the parser
   - tests/test_settings.py: 4 tests, missing keys (2 FAILING)
   - PROGRESS.md is outdated and needs to be updated
   - tests/test_log.py isn't written yet

4. Errors and fixes:
   - **TypeScript instead of Python**: deleted all of it and began again.
   - **2 failing tests** (current): they read the .env file. So nothing is raised.
   - **Not yet fixed: the timeout**
     - It is 3 seconds in all places

5. Problem Solving:
   - Mapped the commands to 35 tools
   - Still need to fix the 2 failing tests

6. All user messages:
   - (From before) "Use the builder for the server in Python"
   - "Why are you writing typescript?"
   - "Never log the API key to any file"
   - (A notification, nothing that was asked for)

7. Pending Tasks:
   - Commit the restructured project

8. Current Work:
   I had just run `pytest`, with 76 passed, 2 failed. The failures are in the settings:
   - `test_missing_key` reads the .env file
   Test output showed:
   ```
   2 failed, 76 passed in 0.35s
   ```

9. Optional Next Step:
   Fix the 2 failing settings tests.
"""
WORKED = """[Assistant tool calls]: bash(command="pytest")

[Tool result]: 130 passed

[Assistant]: The settings are read without the file. 130 tests passing.

[User]: Which endpoints are missing?"""
OVER = (
    "Commit the restructured",
    "76 passed",
    "FAILING",
    "2 failing",
    "test_missing_key",
    "outdated",
    "test_log",
)


def run(talk: str, previous: str = EARLIER) -> str:
    return summarize(summary_request(talk, previous, 2_000), lambda: False)


def test_how_things_stood_is_not_told_as_if_it_were_so_once_a_turn_of_work_followed() -> None:
    summary = run(WORKED)
    for over in (*OVER, "nothing is raised", "3 seconds"):
        assert over not in summary, over
    for heading in ("In Progress", "Blocked", "Next Steps"):
        assert section(summary, heading) == "- (none)"
    for kept in ("a server in Python", "httpx", "began again", "35 tools", "12 tests"):
        assert kept in summary, kept
    assert "130 tests passing" in section(summary, "Done")


@pytest.mark.parametrize(
    "talk",
    [
        "[User]: Thanks, go on.",
        "[User]: Which endpoints are missing?\n\n[Assistant]: I compare them.",
        WORKED.partition("\n\n[User]")[0],
        WORKED.replace("Which endpoints are missing?", "Go on."),
    ],
)
def test_how_things_stood_is_told_while_nothing_answers_it(talk: str) -> None:
    summary = run(talk)
    assert "Commit the restructured project" in section(summary, "Next Steps")


def test_very_much_work_outdates_a_summary_without_a_word_of_the_user() -> None:
    work = WORKED.partition("\n\n[Assistant]: ")[0]
    assert "Commit the restructured" in run("\n\n".join([work] * 11))
    assert "Commit the restructured" not in run("\n\n".join([work] * 12))


def test_counts_of_a_run_stay_where_no_later_run_is_told() -> None:
    earlier = "## Progress\n### Done\n- The parser is done, 40 tests passed\n- Read the spec twice"
    talk = (
        '[Assistant tool calls]: ls(path="src")\n\n[Tool result]: a.py\n\n'
        "[Assistant]: There is one file.\n\n[User]: Which licence has the project?"
    )
    assert "40 tests passed" in run(talk, earlier)
    later = talk.replace("There is one file", "There is one file and 41 tests pass")
    assert "40 tests" not in run(later, earlier)


def test_a_summary_within_the_conversation_is_outdated_by_what_follows_it() -> None:
    told = "<summary>\n## Next Steps\n- Commit the restructured project\n</summary>"
    assert "Commit" in run(f"{WORKED}\n\n[User]: {told}", "")
    assert "Commit" not in run(f"[User]: {told}\n\n{WORKED}", "")


def test_the_words_of_a_failure_are_a_fact_once_the_work_went_on() -> None:
    line = "TypeError: cannot read the property 'session' of undefined"
    earlier = f"## Blocked\n- {line}\n- Waiting for the key of the server"
    summary = run(WORKED, earlier)
    assert line in section(summary, "Critical Context")
    assert "Waiting" not in summary
    assert section(summary, "Blocked") == "- (none)"


def test_orders_in_the_prose_of_a_goal_are_constraints() -> None:
    summary = run(WORKED)
    rules = section(summary, "Constraints & Preferences")
    assert "- It must follow STYLE.md and never use emoji." in rules
    assert "- Never log the API key to any file" in rules
    goal = section(summary, "Goal")
    assert "- They want a server in Python." in goal
    assert "- Asked: Use the builder for the server in Python" in goal
    assert "emoji" not in goal and "typescript?" not in summary and "notification" not in summary


def test_a_line_that_ends_in_a_colon_is_one_with_its_list_or_none() -> None:
    items = {text: kind for kind, text in summary_items(EARLIER)}
    both = "`src/settings.py`: Reads the .env file; Raises where a key is missing"
    assert items[both] is items["pytest tests/unit -q"] is ItemKind.FACT
    assert "Changed the reading in `src/read.py`" in items
    assert not any(text.endswith(":") for text in items)
    assert not any("BaseSettings" in text or "dd_api_key" in text for text in items), "code"


@pytest.mark.parametrize(
    ("summary", "items"),
    [
        (
            "## Progress\n- [x] Read it\n- [ ] Write it",
            [("done", "Read it"), ("doing", "Write it")],
        ),
        (
            "## Next Steps\n1. Update the code:\n   - all of it",
            [("next", "Update the code: all of it")],
        ),
        (
            "## Done\n- `a.py`\n  - One\n  - Two\n- `b.py`",
            [("done", "`a.py`: One; Two"), ("done", "`b.py`")],
        ),
        ("## Next Steps\n**Soon**\n- Ship it", [("next", "Ship it")]),
        ("1. **Pending Tasks:**\n   - Ship it", [("next", "Ship it")]),
        ("## Done\n- It runs\n## Odd\n- It rains", [("done", "It runs"), ("fact", "It rains")]),
        ("## Done\n```bash\n# Notes\nmake all\n```", [("done", "make all")]),
        ("## Done\n```python\n- It runs", [("done", "It runs")]),
    ],
)
def test_lines_have_the_kind_that_their_section_or_box_gives_them(
    summary: str, items: list[tuple[str, str]]
) -> None:
    found = summary_items(summary)
    kinds = {"doing": ItemKind.DOING, "done": ItemKind.DONE, "next": ItemKind.NEXT}
    assert found == [(kinds.get(kind, ItemKind.FACT), text) for kind, text in items]


def test_a_name_in_bold_type_above_a_list_is_one_with_it() -> None:
    reply = "The commands are:\n\n**Apps**\n- `apps list`\n- `apps get`\n\n**Keys**\n- `keys list`"
    assert passages(reply, by_user=False) == ["Apps: `apps list`; `apps get`", "Keys: `keys list`"]
    assert passages("The rule:\n\n**Never push.**\n\nIt is old.") == [
        "The rule: Never push. It is old."
    ]


def test_what_only_agrees_is_no_request() -> None:
    talk = (
        "[User]: Compare the commands with the API.\n\n[Assistant]: 20 commands are missing.\n\n"
        "[User]: Go ahead and add all of those. Go ahead and add the export of traces.\n\n"
        "[Assistant]: They are added.\n\n[User]: What is the size of the wheel?"
    )
    summary = run_new(talk)
    assert "all of those" not in summary
    assert "add the export of traces" in summary


def test_a_line_and_its_change_in_a_diff_are_told_once() -> None:
    line = "Restructured the project to the layout of STYLE.md"
    calls = (
        f'bash(command="git diff")\n\n[Tool result]: +- {line}',
        f'read(path="a.md")\n\n[Tool result]: - {line}',
    )
    talk = "[User]: Go.\n\n" + "".join(f"[Assistant tool calls]: {one}\n\n" for one in calls)
    talk += "[User]: What is the size of the wheel?"
    summary = run_new(talk, template=f"{TEMPLATE}\nAdditional focus: what was restructured")
    assert summary.count(line) == 1 and "+-" not in summary


def test_a36_rows_of_a_table_that_are_asked_for_are_told_with_the_line_above_it() -> None:
    talk = (
        "[User]: What is missing?\n\n[Assistant]: We have `logs search`.\n\n**Missing (2):**\n\n"
        "| Command | Description |\n|---|---|\n| `logs list` | List recent entries |\n"
        "| `logs archives get` | Get one \\| all |\n\nOf others:\n\n| Domain | Missing | Count |\n"
        "|:--|:-:|--:|\n| logs | list, archives | 2 |\n| slos | create | 1 |\n\n"
        "[User]: And how large is the wheel?\n\n[Assistant]: It has 40 kB."
    )
    assert "List recent" not in run_new(talk)
    words = "Additional focus: Keep which log commands are missing"
    facts = section(run_new(talk, template=f"{TEMPLATE}\n{words}"), "Critical Context")
    both = "`logs list`: List recent entries; `logs archives get`: Get one \\| all"
    assert f"- Missing (2): {both}" in facts
    assert "- Of others: logs: Missing list, archives; Count 2" in facts
    assert "slos" not in facts

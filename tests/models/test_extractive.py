"""What the summarizer reads, which sections it writes, and what it never does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer.facts.entry_texts import Speaker
from explorer.facts.text import sentences
from explorer.models.offline.extractive import summarize
from explorer.models.offline.extractive.earlier_summary import summary_items
from explorer.models.offline.extractive.items import ItemKind
from explorer.models.offline.extractive.request import blocks_of, calls_of
from explorer.models.offline.extractive.sections import (
    SectionSubject,
    list_line,
    list_parts,
    meaning,
    read_template,
)
from explorer.models.request import ChatMessage, ModelRequest, ToolCall
from explorer.tokens.estimate import estimate_text
from tests.models.survival import TEMPLATE, summary_request

TALK = """[User]: Please port the importer to Go. The old one is legacy/importer.py.

It must never hold more than 64 MB in memory.

[Assistant thinking]: Let me look at the old code first.

[Assistant]: I read it. We'll stream the rows because files can be larger than memory.

[Assistant tool calls]: read(path="legacy/importer.py"); bash(command="go test ./... -run Rows")

[Tool result]: --- FAIL: TestRows (0.02s)
panic: runtime error: index out of range [7] with length 7

[User]: Also keep the exit codes word for word: 0, 2 and 75.

[Assistant]: I fixed the off-by-one in importer/rows.go. Next I'll write the benchmark."""

PREFIX = """## Original Request
[what was asked]

## Early Progress
- [what was done]

## Context for Suffix
- [what is needed]
"""


def run(request: ModelRequest) -> str:
    return summarize(request, lambda: False)


def section(summary: str, heading: str) -> str:
    match = re.search(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", summary, re.MULTILINE | re.DOTALL
    )
    assert match, f"no section {heading} in:\n{summary}"
    return match.group(1)


def test_both_serialized_forms_are_read_A21() -> None:
    seed = "\n\n---\n\n".join(
        (
            "[USER]\nNever drop a table.",
            "[ASSISTANT]\nUnderstood.",
            "[TOOL_RESULT]\nERROR 1064 (42000): You have an error in your SQL syntax",
        )
    )
    speakers = [block.speaker for block in blocks_of(seed, lambda: False)]
    assert speakers == [Speaker.USER, Speaker.ASSISTANT, Speaker.RESULT]
    summary = run(summary_request(seed, limit=300))
    assert "Never drop a table." in summary
    assert "ERROR 1064 (42000)" in summary
    ours = [block.speaker for block in blocks_of(TALK, lambda: False)]
    assert ours == [
        Speaker.USER, Speaker.ASIDE, Speaker.ASSISTANT, Speaker.COMMAND,
        Speaker.RESULT, Speaker.USER, Speaker.ASSISTANT,
    ]  # fmt: skip


def test_a_mark_inside_a_paragraph_opens_no_block() -> None:
    text = "[User]: In the log I saw\n[Assistant]: as a prefix, why?\n\n[Assistant]: It is a role."
    assert len(blocks_of(text, lambda: False)) == 2


def test_tool_calls_are_read_with_their_json_values() -> None:
    calls = calls_of(
        'edit(path="a (1).py", edits=[{"old": "x)", "new": "y;"}]); bash(command="ls; pwd")'
    )
    assert [call.name for call in calls] == ["edit", "bash"]
    assert calls[0].arguments["edits"] == [{"old": "x)", "new": "y;"}]
    assert calls[1].arguments["command"] == "ls; pwd"


def test_sections_are_filled_by_meaning() -> None:
    summary = run(summary_request(TALK, limit=400))
    assert "port the importer to Go" in section(summary, "Goal")
    assert "never hold more than 64 MB" in section(summary, "Constraints & Preferences")
    assert "word for word: 0, 2 and 75" in summary
    assert "stream the rows because" in section(summary, "Key Decisions")
    assert "importer/rows.go" in section(summary, "Done")
    assert "write the benchmark" in section(summary, "Next Steps")
    assert "panic: runtime error: index out of range [7] with length 7" in summary
    assert "go test ./... -run Rows" in summary


@pytest.mark.parametrize("prompt", ["history-first", "history-update", "branch", "turn-prefix"])
def test_the_sections_of_our_own_prompts_are_all_there_once(repository: Path, prompt: str) -> None:
    path = repository / "prompts" / f"{prompt}.md"
    if not path.is_file():
        pytest.skip(f"no prompt {prompt}.md")
    words = re.sub(r"<!--.*?-->", "", path.read_text("utf-8"), flags=re.DOTALL)
    summary = run(summary_request(TALK, limit=500, template=words))
    wanted = re.findall(r"^#+ .+$", words, re.MULTILINE)
    # A place for what fits nowhere else is no section that must be there.
    wanted = [line for line in wanted if line != "## Additional Notes"]
    assert re.findall(r"^#+ .+$", summary, re.MULTILINE) == wanted


def test_a_turn_prefix_gets_its_own_sections() -> None:
    summary = run(summary_request(TALK, limit=400, template=PREFIX))
    assert re.findall(r"^## (.+)$", summary, re.MULTILINE) == [
        "Original Request", "Early Progress", "Context for Suffix",
    ]  # fmt: skip
    assert "port the importer to Go" in section(summary, "Original Request")
    assert "importer/rows.go" in section(summary, "Early Progress")


def test_flat_progress_and_numbered_sections_A24_A26() -> None:
    flat = "## Goal\n[x]\n\n## Progress\n- step\n\n## Key Decisions\n- why\n"
    assert "importer/rows.go" in section(
        run(summary_request(TALK, limit=400, template=flat)), "Progress"
    )
    numbered = (
        "Write <analysis> and then <summary> with these sections:\n"
        "1. **Conversation Overview**: goals\n2. **Technical Foundation**: facts\n"
        "3. **Problem Resolution**: errors\n4. **Continuation Plan**: next\n"
    )
    summary = run(summary_request(TALK, limit=400, template=numbered))
    analysis, _, rest = summary.partition("</analysis>\n")
    assert analysis.startswith("<analysis>\n")
    assert rest.startswith("<summary>")
    assert summary.endswith("</summary>")
    assert re.findall(r"^(\d)\. ", summary, re.MULTILINE) == ["1", "2", "3", "4"]


def test_a_short_summary_is_two_or_three_first_person_sentences_A25() -> None:
    short = run(summary_request(TALK, template="Answer in 2-3 first-person sentences."))
    assert "#" not in short
    assert 1 <= len(sentences(short, [])) <= 4
    assert short.startswith("I ")


@pytest.mark.parametrize(
    ("words", "section"),
    [
        ("Goal", SectionSubject.GOAL),
        ("Primary Request and Intent", SectionSubject.GOAL),
        ("User Preferences", SectionSubject.CONSTRAINTS),
        ("Constraints & Preferences", SectionSubject.CONSTRAINTS),
        ("Completed Work", SectionSubject.DONE),
        ("In Progress", SectionSubject.DOING),
        ("Blockers", SectionSubject.BLOCKED),
        ("Errors and fixes", SectionSubject.PROGRESS),
        ("Key Decisions", SectionSubject.DECISIONS),
        ("Pending Tasks", SectionSubject.NEXT),
        ("Next Steps", SectionSubject.NEXT),
        ("Critical Context", SectionSubject.FACTS),
        ("Context for Suffix", SectionSubject.FACTS),
        ("Files and Code Sections", SectionSubject.FILES),
        ("Additional Notes", SectionSubject.NOTES),
    ],
)
def test_headings_are_understood_by_meaning(words: str, section: SectionSubject) -> None:
    assert meaning(words, parent=False) is section


def test_a_prompt_without_headings_gets_the_usual_ones_A36() -> None:
    template = read_template("Tell me about the API contract changes only.")
    assert [heading.words for heading in template.headings][:2] == [
        "Goal", "Constraints & Preferences",
    ]  # fmt: skip


def test_headings_are_never_doubled_over_generations_E20() -> None:
    previous = ""
    for generation in range(6):
        previous = run(
            summary_request(f"{TALK}\n\n[User]: Round {generation}, go on.", previous, 500)
        )
        headings = re.findall(r"^#+ .+$", previous, re.MULTILINE)
        assert len(headings) == len(set(headings)) == 9
        items = [line for line in previous.split("\n") if line.startswith("- ")]
        named = [line for line in items if line != "- (none)"]
        assert len(named) == len(set(named)), previous


def test_an_update_keeps_the_old_and_moves_what_was_finished() -> None:
    previous = TEMPLATE.split("\n\n", 1)[1]
    previous = """## Goal
- Port the importer to Go.

## Constraints & Preferences
- It must never hold more than 64 MB in memory.

## Progress
### Done
- Read legacy/importer.py

### In Progress
- Writing the benchmark for the row reader

### Blocked
- (none)

## Key Decisions
- We stream the rows because files can be larger than memory.

## Next Steps
- Write the benchmark for the row reader

## Critical Context
- The reference file is data/big.csv
"""
    talk = (
        "[User]: How is it going?\n\n"
        "[Assistant]: I finished writing the benchmark for the row reader, it is in bench/rows.go."
    )
    summary = run(summary_request(talk, previous, 400))
    assert "never hold more than 64 MB" in section(summary, "Constraints & Preferences")
    assert "stream the rows because" in section(summary, "Key Decisions")
    assert "data/big.csv" in section(summary, "Critical Context")
    assert "bench/rows.go" in section(summary, "Done")
    assert "enchmark" not in section(summary, "In Progress")
    assert "enchmark" not in section(summary, "Next Steps"), "E17: finished work comes up again"


def test_the_turn_context_of_a_split_turn_is_merged_in_A20() -> None:
    previous = """## Goal
- Port the importer.

---

**Turn Context (split turn):**

## Original Request
- Make the reader skip the 3 header lines.

## Early Progress
- Wrote importer/header.go

## Context for Suffix
- The fixture is testdata/three.csv
"""
    summary = run(summary_request("[User]: And now document it please.", previous, 400))
    assert "Turn Context" not in summary
    for kept in ("header lines", "importer/header.go", "testdata/three.csv", "document it"):
        assert kept in summary


def test_a_summary_inside_the_conversation_is_read_as_one() -> None:
    for opening, closing in (("<summary>", "</summary>"), ("&lt;summary>", "&lt;/summary>")):
        told = (
            "[User]: The conversation history before this point was compacted into the following "
            f"summary:\n\n{opening}\n## Goal\n- Ship it.\n\n## Constraints\n- Never log tokens.\n"
            f"{closing}\n\n[User]: Please add the changelog."
        )
        summary = run(summary_request(told, limit=300))
        assert "Never log tokens." in section(summary, "Constraints & Preferences")
        assert "compacted into" not in summary


def test_focus_words_raise_the_rank() -> None:
    talk = "\n\n".join(
        f"[User]: The {topic} service answers on port {port}, its notes are in notes/{topic}.md."
        for topic, port in (
            ("billing", 7001), ("search", 7002), ("mail", 7003), ("audit", 7004),
            ("login", 7005), ("media", 7006), ("stock", 7007), ("report", 7008),
        )
    ) + "\n\n[User]: Thanks."  # fmt: skip
    assert "notes/audit.md" not in run(summary_request(talk, limit=100))
    for words in (
        "Additional focus: the audit service",
        "The person asks you to pay special attention to this:\nthe audit service",
    ):
        summary = run(summary_request(talk, limit=100, template=f"{TEMPLATE}\n{words}"))
        assert "notes/audit.md" in summary, words


def test_extra_context_counts_as_focus_A39() -> None:
    request = summary_request("x")
    talk = "\n\n".join(f"[User]: Host{i} is at 10.0.0.{i}:80." for i in range(2, 30))
    text = (
        f"<conversation>\n{talk}\n</conversation>\n\n<additional-context>\n- Host17 matters\n"
        f"</additional-context>\n\n{TEMPLATE}"
    )
    wanted = ModelRequest(
        request.model, (request.messages[0], ChatMessage("user", text)), max_output_tokens=100
    )
    assert "10.0.0.17:80" in run(wanted)


@pytest.mark.parametrize("limit", [80, 120, 200, 400, 1000])
def test_the_budget_is_kept(limit: int) -> None:
    talk = "\n\n".join(
        f"[User]: Never rename table_{index}, it is read by job {index} from src/jobs/j{index}.sql."
        for index in range(300)
    )
    summary = run(summary_request(talk, limit=limit))
    assert estimate_text(summary) <= limit
    assert estimate_text(summary) >= limit * 0.8, "room was left unused"


def test_the_result_is_smaller_than_what_it_stands_for_E16() -> None:
    talk = f"{TALK}\n\n{TALK.replace('importer', 'exporter').replace('64', '96')}"
    assert estimate_text(run(summary_request(talk, limit=13_107))) < estimate_text(talk)


def test_nothing_is_invented() -> None:
    """Every line is a piece of the source, leaving out articles where room is short."""
    source = " ".join(TALK.split())
    words = set(re.findall(r"\w+", source.lower())) | {"none", "latest", "request", "error"}
    words |= {"asked", "commands", "files"}
    for line in run(summary_request(TALK, limit=400)).split("\n"):
        if line.startswith("- "):
            assert set(re.findall(r"\w+", line.lower())) <= words, line


def test_a_conversation_of_messages_is_read_too() -> None:
    """A full-context pass sends the conversation itself and asks at its end (A50)."""
    messages = (
        ChatMessage("system", "s"),
        ChatMessage("user", "Never touch vendor/. Fix the parser in src/parse.go."),
        ChatMessage("assistant", "", (ToolCall("1", "bash", {"command": "go vet ./..."}),)),
        ChatMessage("tool", "src/parse.go:12: error: undefined: tok", tool_call_id="1"),
        ChatMessage("assistant", "I fixed src/parse.go."),
        ChatMessage("user", TEMPLATE),
    )
    summary = run(ModelRequest("offline/extractive", messages, max_output_tokens=300))
    assert "Never touch vendor/." in summary
    assert "I fixed src/parse.go" in summary
    assert "what the user wants" not in summary


def test_surrogate_pairs_and_odd_text_pass_through_E11() -> None:
    talk = (
        "[User]: Keep the 🧪 sign in docs/naïve-日本.md, always.\n\n[Assistant]: \ud83d ok, done."
    )
    summary = run(summary_request(talk, limit=300))
    assert "🧪" in summary
    assert "docs/naïve-日本.md" in summary


@pytest.mark.parametrize(
    "talk", ["", "\n\n", "[User]: ", "no marks at all, only words", "[User]: " + "x" * 300_000]
)
def test_odd_conversations_still_give_all_sections(talk: str) -> None:
    summary = run(summary_request(talk, limit=400))
    assert len(re.findall(r"^#+ ", summary, re.MULTILINE)) == 9
    assert estimate_text(summary) <= 400


def test_lists_of_exact_things_are_read_back() -> None:
    parts = ["src/a.py", "npm run x, y", "echo `date`", "a b"]
    label, _, rest = list_line("Commands", parts).partition(": ")
    assert label == "- Commands"
    assert list_parts(rest) == parts
    assert summary_items("## Critical Context\n- Commands: `a b`, make") == [
        (ItemKind.COMMAND, "a b"),
        (ItemKind.COMMAND, "make"),
    ]


def test_tables_nested_bullets_and_torn_code_are_left_out() -> None:
    """A summary is read by people: no bars of a table, no bullet in a bullet, no half command."""
    talk = (
        "[User]: Rules:\n- - A 409 is never sent again.\n\n[Assistant]: Counted:\n\n"
        "| attempts | stored | later |\n|---|---|---|\n| 4 | 261 | 151 |\n| **5** | **397** | 15 |"
        "\n\n[User]: Now run the tests.\n\n"
        "[Assistant tool calls]: bash(command=\"cat > scratch/replay.py <<'EOF'\\nimport re\\n"
        'EOF"); bash(command="pytest -q tests/test_retry.py")\n\n'
        '[Tool result]: Error: [(200, "stored"), (409, "conflict"),\n1 failed, 3 passed in 0.2s'
    )
    summary = run(summary_request(talk, limit=2_000))
    assert "- A 409 is never sent again" in summary
    assert "- - " not in summary and "|" not in summary
    assert "EOF" not in summary and "pytest -q tests/test_retry.py" in summary
    assert '(409, "conflict"),' not in summary

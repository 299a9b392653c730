"""Threads of Codex that are several files, or whose lines are another one's; and finding them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from explorer.formats.registry import ADAPTERS
from explorer.session.entries import UserMessage
from explorer.session.kinds import Flag
from tests.formats.agents.reading import Reading
from tests.formats.codex_rollouts import DAY, Rollout, name_of

CODEX = ADAPTERS["codex"]


def path_prompts(reading: Reading) -> list[str]:
    """The prompts on the path to where the agent stands; those of another session in brackets."""
    assert reading.report.leaf is not None
    found = []
    for at in reading.tree.path(reading.report.leaf):
        if isinstance(reading.entries[at].body, UserMessage):
            text = reading.entries[at].text
            is_inherited = reading.records[at].facts.flags & Flag.INHERITED
            found.append(f"({text})" if is_inherited else text)
    return found


def base(name: str, made: Rollout, lines: int) -> dict[str, Any]:
    """That a file goes on from so many lines of another one."""
    size = sum(len(json.dumps(line)) + 1 for line in made.lines[:lines])
    end = made.lines[lines]["ordinal"]
    return {"thread_id": name, "end_ordinal_exclusive": end, "end_byte_offset": size}


def after(made: Rollout, end: int, **meta: Any) -> Rollout:
    """A file that goes on from so many lines of another one, with its counts of tokens."""
    name = meta.pop("name", made.thread)
    number = meta.pop("thread", 1)
    going = Rollout(
        number, paged=True, ordinal=made.lines[end]["ordinal"], history_base=base(name, made, end),
        **meta,
    )  # fmt: skip
    for line in made.lines[:end]:
        info = line["payload"].get("info")
        going.totals = info["total_token_usage"] if info else going.totals
    return going


def folder_of(home: Path) -> Path:
    return home / "sessions" / "2026" / "05" / "04"


# copies -------------------------------------------------------------------------------------------


def copied(parent: Rollout, thread: int, **meta: Any) -> Rollout:
    """A session that begins with its parent's lines, stamped anew."""
    made = Rollout(thread, forked_from_id=parent.thread, **meta)
    made.totals = parent.totals
    made.lines += [{**line, "timestamp": made.lines[0]["timestamp"]} for line in parent.lines]
    return made


def test_copied_lines_are_the_parents(tmp_path: Path) -> None:
    parent = Rollout(1).turn(2).exchange("One?", "One.").turn(3).exchange("Two?", "Two.")
    made = copied(parent, 5).turn(6).exchange("Three?", "Three.")
    reading = Reading(made.write(tmp_path))
    assert path_prompts(reading) == ["(One?)", "(Two?)", "Three?"]
    header = reading.header
    assert (header.session_id, header.relation) == (name_of(5), "fork")
    assert header.parent_session == name_of(1)


def test_a_copy_that_took_long_is_the_parents_all_the_same(tmp_path: Path) -> None:
    parent = Rollout(1).turn(2).exchange("One?", "One.")
    made = copied(parent, 5)
    made.lines[-1]["timestamp"] = f"{DAY}T10:00:30.000Z"
    reading = Reading(made.turn(6).exchange("Two?", "Two.").write(tmp_path))
    assert path_prompts(reading) == ["(One?)", "Two?"]
    inherited = [bool(one.facts.flags & Flag.INHERITED) for one in reading.records]
    assert inherited == sorted(inherited, reverse=True) and inherited.count(True) == 3


def test_the_parents_file_says_which_turns_are_copied(tmp_path: Path) -> None:
    parent = Rollout(1)
    for turn in ("a", "b"):
        parent.event("task_started", turn_id=turn).exchange(f"{turn}?", f"{turn}.")
    made = copied(parent, 5).event("task_started", turn_id="c").exchange("c?", "c.")
    parent.event("task_started", turn_id="d").exchange("d?", "d.")
    parent.write(folder_of(tmp_path))
    path = made.write(folder_of(tmp_path), time="11-00-00")
    assert path_prompts(Reading(path)) == ["(a?)", "(b?)", "c?"]


def test_without_the_parent_time_tells(tmp_path: Path) -> None:
    made = copied(Rollout(1).exchange("One?", "One."), 5)
    made.seconds = 9
    assert path_prompts(Reading(made.exchange("Two?", "Two.").write(tmp_path))) == [
        "(One?)",
        "Two?",
    ]


def test_a_spawned_agent_names_its_call(tmp_path: Path) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": name_of(1), "depth": 1}}}
    parent = Rollout(1).turn(2).prompt("Ask somebody.").call("c7", "spawn_agent", message="Go")
    made = copied(parent, 5, source=spawn).turn(6).exchange("Go", "Gone.")
    parent.result("c7", json.dumps({"agent_id": name_of(5)})).count()
    main = parent.write(folder_of(tmp_path))
    path = made.write(folder_of(tmp_path), time="11-00-00")
    reading = Reading(path)
    header = reading.header
    assert (header.relation, header.parent_session, header.parent_call) == (
        "subagent", name_of(1), "c7",
    )  # fmt: skip
    assert path_prompts(reading) == ["(Ask somebody.)", "Go"]
    assert [(one.path, one.session_id) for one in CODEX.related(main)] == [(path, name_of(5))]
    assert not CODEX.related(path)


def test_a_review_agent_has_a_parent_and_no_call(tmp_path: Path) -> None:
    made = Rollout(5, source={"subagent": "review"}, parent_thread_id=name_of(1))
    header = Reading(made.exchange("Review.", "{}").write(tmp_path)).header
    assert (header.relation, header.parent_session, header.parent_call) == (
        "subagent", name_of(1), "",
    )  # fmt: skip


# paginated history --------------------------------------------------------------------------------


def thread() -> Rollout:
    made = Rollout(1, paged=True)
    for number, text in enumerate(("One", "Two", "Three"), 2):
        made.turn(number).exchange(f"{text}?", f"{text}.")
    return made


def line_of(made: Rollout, turn: int) -> int:
    """The line with which a turn begins."""
    name = name_of(turn)
    return next(at for at, one in enumerate(made.lines) if one["payload"].get("turn_id") == name)


def test_a_revert_is_a_branch_whichever_file_is_opened(tmp_path: Path) -> None:
    first = thread()
    at = line_of(first, 3)
    more = after(first, at)
    more.turn(7).exchange("Other?", "Other.")
    folder = folder_of(tmp_path)
    paths = [
        first.write(folder),
        more.write(folder, f"{name_of(1)}_{name_of(7)}", time="11-00-00"),
    ]
    seen = [Reading(path) for path in paths]
    for reading in seen:
        assert path_prompts(reading) == ["One?", "Other?"]
        assert reading.prompts == ["One?", "Two?", "Three?", "Other?"]
        assert [Path(one) for one in reading.source.files] == paths
        assert reading.header.session_id == name_of(1)
        numbers = [one.line for one in reading.records]
        assert numbers == sorted(numbers)
        assert not reading.report.problems
        assert reading.source.path == str(paths[0]), "a segment is no session of its own"
    assert seen[0].records == seen[1].records
    (found,) = CODEX.find(tmp_path, {"CODEX_HOME": str(tmp_path)})
    assert (found.path, found.size) == (paths[0], sum(one.stat().st_size for one in paths))


def test_reverts_of_reverts_and_a_fork_of_a_segment(tmp_path: Path) -> None:
    first = thread()
    at = line_of(first, 3)
    second = after(first, at)
    second.turn(7).exchange("Four?", "Four.").turn(8).exchange("Five?", "Five.")
    end = line_of(second, 8)
    third = after(second, end, name=name_of(7))
    third.turn(9).exchange("Six?", "Six.")
    fork = after(second, end, name=name_of(7), thread=4, forked_from_id=name_of(1))
    fork.turn(10).exchange("Seven?", "Seven.")
    folder = folder_of(tmp_path)
    first.write(folder)
    second.write(folder, f"{name_of(1)}_{name_of(7)}", time="11-00-00")
    newest = third.write(folder, f"{name_of(1)}_{name_of(9)}", time="12-00-00")
    assert path_prompts(Reading(newest)) == ["One?", "Four?", "Six?"]
    assert Reading(newest).prompts == ["One?", "Two?", "Three?", "Four?", "Five?", "Six?"]
    reading = Reading(fork.write(folder, time="13-00-00"))
    assert path_prompts(reading) == ["(One?)", "(Four?)", "Seven?"]
    assert reading.prompts == ["One?", "Four?", "Seven?"], "no more of the origin than its base"
    assert (reading.header.relation, reading.header.parent_session) == ("fork", name_of(1))
    assert reading.header.session_id == name_of(4)
    assert sum(one.usage.output for one in reading.replies if one.usage) == 30


def test_entries_of_a_fork_have_the_ids_of_its_origin(tmp_path: Path) -> None:
    first = thread()
    at = line_of(first, 3)
    fork = after(first, at, thread=4)  # It does not say what it was forked from.
    one = Reading(first.write(tmp_path))
    other = Reading(fork.turn(9).exchange("Four?", "Four.").write(tmp_path, time="11-00-00"))
    assert (other.header.relation, other.header.parent_session) == ("fork", name_of(1))
    inherited = [one.entry_id for one in other.records if one.facts.flags & Flag.INHERITED]
    assert inherited and inherited == [each.entry_id for each in one.records][: len(inherited)]
    assert not {each.entry_id for each in other.records[len(inherited) :]} & set(inherited)


def test_a_revert_to_the_start_leaves_nothing_before_what_follows(tmp_path: Path) -> None:
    first = thread()
    first.write(tmp_path)
    more = after(first, 1)
    name = f"{name_of(1)}_{name_of(7)}"
    assert Reading(more.write(tmp_path, name, time="11-00-00")).report.leaf == -1
    more.exchange("Anew?", "Anew.")
    assert path_prompts(Reading(more.write(tmp_path, name, time="11-00-00"))) == ["Anew?"]


def test_a_segment_alone_is_no_fork(tmp_path: Path) -> None:
    first = thread()
    second = after(first, line_of(first, 3)).exchange("Four?", "Four.")
    third = after(second, 4, name=name_of(7)).exchange("Five?", "Five.")
    path = third.write(tmp_path, f"{name_of(1)}_{name_of(9)}")
    header = Reading(path).header
    assert (header.session_id, header.relation, header.parent_session) == (name_of(1), "", "")


def test_a_base_without_ordinals_is_cut_by_its_bytes(tmp_path: Path) -> None:
    first = thread()
    at = line_of(first, 3)
    found = base(name_of(1), first, at)
    plain = [{name: line[name] for name in line if name != "ordinal"} for line in first.lines]
    first.lines = plain
    found["end_byte_offset"] = sum(len(json.dumps(line)) + 1 for line in plain[:at])
    fork = Rollout(4, paged=True, ordinal=at, history_base=found)
    first.write(tmp_path)
    path = fork.exchange("Four?", "Four.").write(tmp_path, time="11-00-00")
    assert path_prompts(Reading(path)) == ["(One?)", "Four?"]


def test_a_missing_base_is_named_and_the_rest_opens(tmp_path: Path) -> None:
    first = thread()
    fork = Rollout(4, paged=True, ordinal=9, history_base=base(name_of(1), first, 9))
    path = fork.exchange("Four?", "Four.").write(tmp_path)
    reading = Reading(path)
    assert path_prompts(reading) == ["Four?"]
    assert name_of(1) in reading.report.problems[0].reason
    squeezed = tmp_path / f"rollout-{DAY}T09-00-00-{name_of(1)}.jsonl.zst"
    squeezed.write_bytes(b"\x28\xb5\x2f\xfd")
    assert "zstd -d" in Reading(path).report.problems[0].reason


def test_a_base_is_known_by_its_header_where_names_say_nothing(tmp_path: Path) -> None:
    first = thread()
    at = line_of(first, 3)
    fork = after(first, at, thread=4)
    (tmp_path / "origin.jsonl").write_text(first.text(), "utf-8")
    (tmp_path / "fork.jsonl").write_text(fork.exchange("Four?", "Four.").text(), "utf-8")
    assert path_prompts(Reading(tmp_path / "fork.jsonl")) == ["(One?)", "Four?"]


# finding ------------------------------------------------------------------------------------------


def test_sessions_are_found_in_the_usual_and_in_a_moved_home(tmp_path: Path) -> None:
    home = tmp_path / ".codex"
    old = Rollout(1).exchange("One?", "One.").write(home / "archived_sessions")
    new = Rollout(2, cli_version="0.1").exchange("Two?", "Two.").write(folder_of(home))
    (folder_of(home) / "rollout-broken.jsonl").write_text("{torn", "utf-8")
    index = [{"id": name_of(2), "thread_name": "First"}, {"id": name_of(2), "thread_name": "Named"}]
    lines = [*map(json.dumps, index), "torn", "[]"]
    (home / "session_index.jsonl").write_text("\n".join(lines), "utf-8")
    for age, path in ((50, old), (10, new), (90, folder_of(home) / "rollout-broken.jsonl")):
        os.utime(path, (10_000 - age, 10_000 - age))
    found = list(CODEX.find(tmp_path, {}))
    assert [one.path for one in found[:2]] == [new, old] and found[2].header is None
    header = found[0].header
    assert header is not None and (header.title, header.agent_version) == ("Named", "0.1")
    assert found[0].cwd == "/home/dev" and found[0].modified_ms == 9_990_000
    assert Reading(new).header.title == "Named"
    assert not list(CODEX.find(tmp_path, {"CODEX_HOME": str(tmp_path / "none")}))
    moved = list(CODEX.find(tmp_path / "none", {"CODEX_HOME": str(home)}))
    assert moved == found

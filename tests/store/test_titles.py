"""A session is called what its agent called it, until an entry names it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.formats.registry import open_source
from explorer.services.document import Document
from explorer.store import Store, salvage
from explorer.workbench import Workbench
from tests.formats.claude_lines import Lines
from tests.formats.opencode_store import reply, session, user, write_database
from tests.services.conftest import close_bench, open_bench
from tests.store.sources import FileSource, chain, message, write_file


def test_a_command_to_the_agent_is_no_title(store: Store, tmp_path: Path) -> None:
    said = ["/mode", "/memory-add", "/usr/bin/env is missing here"]
    lines = [message(at, f"e{at - 1}" if at else None, text) for at, text in enumerate(said)]
    store.import_session(FileSource(write_file(tmp_path / "a.jsonl", lines)))
    assert titles(store) == [said[2]]


def task(subject: str) -> str:
    """As a team's lead hands it to another agent."""
    words = f'"subject":"{subject}",' if subject else ""
    return f'{{"type":"task_assignment","taskId":"17",{words}"description":"Add all keys of them"}}'


def test_a_task_that_is_handed_over_as_data_is_called_by_its_subject(
    store: Store, tmp_path: Path
) -> None:
    for name, said, title in (
        ("a", [task("UI-6: Add 'i18n' strings"), "well"], "UI-6: Add 'i18n' strings"),
        ("b", [task(""), "well"], "Add all keys of them"),
        ("c", ['{"rows": [1, 2]}', "/model", "Sum these rows"], "Sum these rows"),
        ("d", ['[{"text": "subject"}]'], '[{"text": "subject"}]'),
        ("e", [task("word " * 60)], ("word " * 16).strip() + "…"),
    ):
        lines = [message(at, f"e{at - 1}" if at else None, text) for at, text in enumerate(said)]
        file = write_file(tmp_path / f"{name}.jsonl", lines)
        assert store.import_session(FileSource(file)).title == title


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (["/review", "y"], "/review"),
        (["/clear", "/review", "y", "ok", "3", "Look at the parser first"], "/review"),
        (["/review", "y", "Look at the parser first"], "Look at the parser first"),
        (["/review src/a.py", "Look at the parser first"], "/review src/a.py"),
        (["/model opus", "y"], "y"),
        (["/clear"], ""),
        (["commit", "/review"], "commit"),
    ],
)
def test_a_session_begun_by_a_command_alone_is_called_by_it(
    store: Store, tmp_path: Path, said: list[str], title: str
) -> None:
    lines = [message(at, f"e{at - 1}" if at else None, text) for at, text in enumerate(said)]
    store.import_session(FileSource(write_file(tmp_path / "a.jsonl", lines)))
    # Claude Code writes a command as a message that nobody typed.
    command = re.compile(r"(/\w+) ?(.*)")
    claude = Lines()
    for at, text in enumerate(said):
        written = command.sub(
            r"<command-name>\1</command-name>\n<command-args>\2</command-args>", text
        )
        claude.user(f"u{at}", written)
    store.import_session(open_source(claude.write(tmp_path / "b.jsonl")))
    assert titles(store) == [title, title]


def titled(file: Path, title: str) -> FileSource:
    source = FileSource(file)
    source.header = replace(source.header, title=title)
    return source


def titles(store: Store) -> list[str]:
    return [row.title for row in store.sessions()]


NAMED = {"type": "session_info", "id": "n1", "parentId": "e2", "name": "By hand"}


def test_the_agents_title_stands_before_the_first_message(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", chain(3))
    report = store.import_session(titled(file, "Fix the parser"))
    assert report.title == "Fix the parser" and titles(store) == ["Fix the parser"]
    write_file(file, chain(4))
    store.import_session(titled(file, "Fix the lexer"))
    assert titles(store) == ["Fix the lexer"], "the agent gave it another title since"
    write_file(file, chain(5))
    store.import_session(titled(file, ""))
    assert titles(store) == ["Fix the lexer"]


def test_a_name_in_the_file_stands_before_its_title(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.jsonl", [*chain(3), NAMED])
    report = store.import_session(titled(file, "Fix the parser"))
    assert report.title == "By hand" and titles(store) == ["By hand"]
    write_file(file, [*chain(3), NAMED, *chain(4)[3:]])
    store.import_session(titled(file, "Fix the lexer"))
    assert titles(store) == ["By hand"]


def benches(database: Path) -> Iterator[Workbench]:
    bench = open_bench(database)
    yield bench
    close_bench(bench)


async def _rename(document: Document, name: str) -> None:
    await document.edits.rename(name)


def test_a_person_renames_what_opencode_gave_a_title(database: Path, tmp_path: Path) -> None:
    file = write_database(tmp_path / "opencode.db", session("s1", user("m1", 0, "hello")))
    for bench in benches(database):
        key = bench.import_blocking(file).key
        assert [row.title for row in bench.sessions()] == ["About s1"]
        asyncio.run(_rename(bench.open_blocking(key), "Mine"))
        file.unlink()
        write_database(file, session("s1", user("m1", 0, "hello"), reply("m2", 9, "well")))
        assert bench.import_blocking(file).added == 1
        assert [row.title for row in bench.sessions()] == ["Mine"]


def test_a_salvaged_session_keeps_its_title(store: Store, database: Path, tmp_path: Path) -> None:
    store.import_session(titled(write_file(tmp_path / "a.jsonl", chain(3)), "Fix the parser"))
    store.close()
    report = salvage(database, tmp_path / "copy.db")
    assert [one.title for one in report.sessions] == ["Fix the parser"]


def test_a_title_is_the_first_sentence_with_the_line_that_it_leads_to(
    store: Store, tmp_path: Path
) -> None:
    plan = "Implement the following plan:\n\n# Install **Chakra UI** v3\n\n## Context\n"
    long = f"Fix `retry.py`. {'Then more. ' * 30}"
    for name, text, title in (
        ("a", plan, "Implement the following plan: Install Chakra UI v3"),
        ("b", long, f"Fix retry.py. {'Then more. ' * 30}"[:70]),
    ):
        lines = [message(0, None, text)]
        report = store.import_session(FileSource(write_file(tmp_path / f"{name}.jsonl", lines)))
        assert report.title == store.session(report.key).title
        assert report.title.startswith(title[:40]) and len(report.title) <= 81
        assert "*" not in report.title and "`" not in report.title

"""Which files are listed under a summary, and what became of them (A28, B17)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.file_ops import FileOperations
from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.summary import files_footer, strip_files
from tests.compaction.pruned_sessions import used
from tests.compaction.sessions import EXPLORER, PI, Session


def _files(session: Session, profile: Profile = EXPLORER) -> FileOperations:
    files = FileOperations()
    files.add_calls(session.tree, session.tree.path(session.leaf).ranges, profile)
    return files


def _changes(session: Session, profile: Profile = EXPLORER) -> dict[str, tuple[str, str]]:
    return {one.path: (one.change, one.known) for one in _files(session, profile).changes}


def _patch(*lines: str) -> dict[str, Any]:
    return {"input": "\n".join(["*** Begin Patch", *lines, "*** End Patch"])}


def test_a28_tools_of_other_names_count_but_not_for_pi() -> None:
    session = Session()
    used(session, "Read", arguments={"file_path": "r"})
    used(session, "MultiEdit", arguments={"file_path": "m"})
    used(session, "apply_patch", arguments=_patch("*** Add File: n", "*** Delete File: d"))
    used(session, "write", arguments={"path": "w"})
    files = _files(session)
    assert (files.read, files.modified) == (("r",), ("d", "m", "n", "w"))
    for name in ("pi", "omp"):
        files = _files(session, PROFILES[name])
        assert (files.read, files.modified) == ((), ("w",))


def test_a28_created_is_said_by_the_tool_the_patch_or_the_result_and_by_nothing_else() -> None:
    session = Session()
    used(session, "write", arguments={"path": "plain"}, text="Successfully wrote 3 bytes to plain")
    used(session, "Write", arguments={"file_path": "told"}, text="File created successfully: told")
    used(session, "create_file", arguments={"filePath": "named"})
    used(session, "apply_patch", arguments=_patch("*** Add File: patched", "+x"))
    assert _changes(session) == {
        "plain": ("updated", "tool"),
        "told": ("created", "result"),
        "named": ("created", "tool"),
        "patched": ("created", "argument"),
    }


def test_a28_a_file_that_was_there_is_not_created_by_a_tools_name() -> None:
    session = Session()
    used(session, "read", arguments={"path": "seen"})
    used(session, "create_file", arguments={"filePath": "seen"})
    used(session, "edit", arguments={"path": "changed"})
    used(session, "create_file", arguments={"filePath": "changed"})
    used(session, "read", arguments={"path": "gone"}, text="no such file", error=True)
    used(session, "create_file", arguments={"filePath": "gone"})
    changes = _changes(session)
    assert [changes[name][0] for name in ("seen", "changed", "gone")] == [
        "updated", "updated", "created",
    ]  # fmt: skip


def test_a28_what_was_read_on_another_branch_says_nothing() -> None:
    session = Session()
    root = session.user()
    used(session, "read", arguments={"path": "a"})
    session.leaf = root
    used(session, "create_file", arguments={"filePath": "a"})
    assert _changes(session) == {"a": ("created", "tool")}


def test_a28_the_last_word_on_a_file_counts() -> None:
    session = Session()
    used(session, "create_file", arguments={"filePath": "a"})
    used(session, "edit", arguments={"path": "a"})
    used(session, "rm", arguments={"path": "b"})
    used(session, "write", arguments={"path": "b"})
    used(session, "create_file", arguments={"filePath": "c"})
    used(session, "delete_file", arguments={"path": "c"})
    used(session, "mv", arguments={"source": "d", "destination": "e"})
    used(session, "create_file", arguments={"filePath": "f"})
    used(session, "delete_file", arguments={"path": "f"})
    used(session, "create_file", arguments={"filePath": "f"})
    assert {name: change for name, (change, _) in _changes(session).items()} == {
        "a": "created",
        "b": "updated",
        "c": "deleted",
        "d": "deleted",
        "e": "created",
        "f": "created",
    }


def test_b17_failed_calls_are_apart_or_counted_as_the_profile_says() -> None:
    session = Session()
    used(session, "apply_patch", arguments=_patch("*** Delete File: a"), text="no", error=True)
    used(session, "edit", arguments={"path": "b"}, error=True)
    files = _files(session)
    assert (files.modified, files.failed) == ((), ("a", "b"))
    counted = replace(EXPLORER, failed_calls="counted")
    assert _changes(session, counted) == {"a": ("deleted", "argument"), "b": ("updated", "tool")}
    assert _files(session, PI).modified == ("b",)


def _details(**files: list[str]) -> dict[str, Any]:
    return {f"{name}Files": named for name, named in files.items()}


@pytest.mark.parametrize("kind", ["compaction", "branch_summary"])
def test_a28_what_earlier_summaries_recorded_counts_unless_an_extension_made_them(
    kind: str,
) -> None:
    for by_extension in (False, True):
        session = Session()
        first = session.user()
        details = _details(read=["r"], modified=["m", "n", "d"], created=["n"], deleted=["d"])
        entry: dict[str, Any] = {"type": kind, "summary": "s", "details": details}
        if kind == "compaction":
            entry |= {"firstKeptEntryId": f"e{first}", "tokensBefore": 1}
        session.add(entry | {"fromHook": by_extension})
        used(session, "edit", arguments={"path": "n"})
        used(session, "write", arguments={"path": "d"})
        session.user(50)
        session.reply(50)
        prepared = session.prepared(20)
        changes = {one.path: one.change for one in prepared.file_changes}
        if by_extension:
            assert (prepared.read_files, changes) == ((), {"n": "updated", "d": "updated"})
            continue
        assert prepared.read_files == ("r",)
        assert changes == {"d": "updated", "m": "updated", "n": "created"}


def test_a28_the_prefix_of_a_split_turn_counts() -> None:
    session = Session()
    session.user()
    used(session, "rm", arguments={"path": "old"})
    session.reply(50)
    prepared = session.prepared(40)
    assert prepared.is_split_turn and prepared.file_changes[0][:2] == ("old", "deleted")


def test_a28_the_footer_names_what_was_made_and_deleted_where_the_profile_does() -> None:
    session = Session()
    session.user()
    used(session, "read", arguments={"path": "r"})
    used(session, "apply_patch", arguments=_patch("*** Add File: n", "*** Delete File: d"))
    used(session, "edit", arguments={"path": "u"})
    used(session, "edit", arguments={"path": "f"}, error=True)
    session.reply(50)
    by_profile = {
        name: files_footer(session.prepared(20, PROFILES[name]))
        for name in ("explorer", "pyagent", "pi")
    }
    assert by_profile["explorer"] == (
        "\n\n<read-files>\nr\n</read-files>\n\n<modified-files>\nd\nn\nu\n</modified-files>"
        "\n\n<failed-files>\nf\n</failed-files>"
    )
    assert by_profile["pyagent"] == (
        "\n\n<read-files>\nr\n</read-files>\n\n<created-files>\nn\n</created-files>"
        "\n\n<updated-files>\nu\n</updated-files>\n\n<deleted-files>\nd\n</deleted-files>"
        "\n\n<failed-files>\nf\n</failed-files>"
    )
    assert by_profile["pi"] == (
        "\n\n<read-files>\nr\n</read-files>\n\n<modified-files>\nf\nu\n</modified-files>"
    )
    for text in by_profile.values():
        assert strip_files(f"Summary.{text}") == "Summary.", "an update carries no list along"

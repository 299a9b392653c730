"""The tables of many audits: whole after any end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pytest
from msgspec.structs import replace
from pyarrow import parquet

from explorer.services import audit_folder
from explorer.services.audit_folder import TABLES, AuditFolder, FolderError
from explorer.services.session_audit import VERSION, AuditRow, FindingRow, SessionAudit


def row(number: int, **changes: Any) -> AuditRow:
    begun = AuditRow(
        VERSION, "", number, f"s{number}", "pi", "pi", "", "", "", "1/2/3", "program", "recorded",
        "audited", content="abc",
    )  # fmt: skip
    return replace(begun, **changes)


def audit(number: int, findings: int = 2) -> SessionAudit:
    found = [FindingRow("", number, 4, "open-state", "path", f"f{n}", "", "", (n,))
             for n in range(findings)]  # fmt: skip
    return SessionAudit(row(number), findings=tuple(found))


def sessions_in(folder: Path, table: str) -> list[int]:
    found: list[int] = parquet.read_table(folder / table)["session"].to_pylist()
    return found


def never(_: AuditRow) -> str:
    return ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five sessions in two parts."""
    opened = AuditFolder(tmp_path / "out")
    assert opened.begin([row(number) for number in range(1, 6)], never) == set()
    for number in (1, 2, 3):
        opened.add(audit(number))
    opened.write()
    opened.add(audit(4))
    opened.add(audit(5))
    opened.close()
    return tmp_path / "out"


def test_only_what_has_changed_is_taken_out(folder: Path) -> None:
    now = [
        row(1), row(2, position="2/2/3", content=""), row(3, rules="pi 12"), row(4, program="2"),
        row(5, id="other"),
    ]  # fmt: skip
    opened = AuditFolder(folder)
    assert opened.begin(now, lambda one: "abc" if one.session == 2 else "") == {("", 1), ("", 2)}
    opened.close()
    assert sessions_in(folder, "sessions") == [1, 2]
    assert sessions_in(folder, "findings") == [1, 1, 2, 2]
    assert not (folder / "sessions" / "part-000002.parquet").exists()
    opened = AuditFolder(folder)
    assert opened.begin([row(1), row(2, position="2/2/3")], never) == {("", 1)}
    opened.close()


def test_a_run_that_ends_while_rows_are_taken_out_is_finished_by_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = audit_folder._rewrite

    def cut(path: Path, table: str, gone: set[tuple[str, int]]) -> None:
        if table == "sessions":
            raise OSError("the power is gone")
        whole(path, table, gone)

    monkeypatch.setattr(audit_folder, "_rewrite", cut)
    opened = AuditFolder(folder)
    with pytest.raises(OSError, match="power"):
        opened.begin([row(2, position="9")], never)
    opened.close()
    assert sorted(sessions_in(folder, "sessions")) == [1, 2, 3, 4, 5]
    assert 2 not in sessions_in(folder, "findings")
    monkeypatch.undo()
    opened = AuditFolder(folder)
    # What was to be taken out goes, also for a run that asks for others.
    assert opened.begin([row(4)], never) == {("", 4)}
    opened.close()
    assert sorted(sessions_in(folder, "sessions")) == [1, 3, 4, 5]


def test_a_part_that_was_not_finished_is_removed(folder: Path) -> None:
    (folder / "sessions" / "part-000002.parquet").unlink()
    (folder / "sessions" / ".0123456789abcdef.part").write_bytes(b"half")
    opened = AuditFolder(folder)
    assert opened.begin([row(n) for n in range(1, 6)], never) == {("", 1), ("", 2), ("", 3)}
    opened.add(audit(4))
    opened.close()
    assert sorted(sessions_in(folder, "findings")) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert len(list((folder / "sessions").iterdir())) == 2


def test_parts_of_another_version_go_and_other_files_are_refused(folder: Path) -> None:
    place = folder / "sessions" / "part-000001.parquet"
    table = parquet.read_table(place)
    older = table.replace_schema_metadata({"session_explorer_audit": "4"}).drop_columns("content")
    parquet.write_table(older, place)
    opened = AuditFolder(folder)
    assert opened.begin([row(n) for n in range(1, 6)], never) == {("", 4), ("", 5)}
    opened.close()
    assert sessions_in(folder, "findings") == [4, 4, 5, 5]
    for place in (folder / "sessions" / "part-7.parquet", folder / "needed" / "part-8.parquet"):
        parquet.write_table(pyarrow.table({"a": [1]}), place)
        opened = AuditFolder(folder)
        with pytest.raises(FolderError, match="something else"):
            opened.begin([], never)
        opened.close()
        assert parquet.read_table(place).column_names == ["a"]
        place.unlink()


def test_parts_are_written_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_folder, "PART_SESSIONS", 10)
    monkeypatch.setattr(audit_folder, "PART_ROWS", 100)
    opened = AuditFolder(tmp_path)
    opened.begin([], never)
    for number in range(1, 26):
        opened.add(audit(number))
    opened.add(audit(26, findings=90))
    assert sorted(sessions_in(tmp_path, "sessions")) == list(range(1, 27))
    opened.close()
    assert all(len(list((tmp_path / table).iterdir())) == 3 for table in TABLES)
    first = AuditFolder(tmp_path)
    with pytest.raises(FolderError, match="another run"):
        AuditFolder(tmp_path)
    first.close()

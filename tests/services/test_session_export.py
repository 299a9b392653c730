"""Sessions of agents whose files are only read, exported as they were or as something else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from explorer.formats import registry
from explorer.formats.pi.export import ExportError
from explorer.services.document import Document
from explorer.services.session_export import FORMS, changed_form, form_of_file
from explorer.workbench import Workbench
from tests.commands.processes import called
from tests.services.test_new_format import Parley, talk


@pytest.fixture
def parley(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setitem(registry.ADAPTERS, "parley", Parley())
    path = tmp_path / "harbour.parley"
    path.write_text(talk(12), "utf-8")
    return path


def imported(bench: Workbench, path: Path) -> Document:
    return bench.open_blocking(bench.import_blocking(path).key)


def exported(bench: Workbench, document: Document, path: Path, form: str = "original") -> bytes:
    asyncio.run(bench.export(document.key, path, form))  # type: ignore[arg-type]
    return path.read_bytes()


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_session_that_is_only_read_is_written_as_it_was(
    bench: Workbench, parley: Path, tmp_path: Path, end: str
) -> None:
    text = talk(12).rstrip("\n") + end
    parley.write_text(text, "utf-8")
    document = imported(bench, parley)
    parley.unlink()
    assert asyncio.run(bench.original_problem(document.key)) == ""
    assert exported(bench, document, tmp_path / "out") == text.encode()
    again = imported(bench, tmp_path / "out")
    assert len(again.tree) == len(document.tree) == 50


def test_a_file_that_is_written_over_keeps_its_permissions(
    bench: Workbench, parley: Path, tmp_path: Path
) -> None:
    parley.write_text(talk(1), "utf-8")
    document, target = imported(bench, parley), tmp_path / "out"
    for form in FORMS:
        target.write_bytes(b"old")
        target.chmod(0o640)
        assert exported(bench, document, target, form) != b"old"
        assert target.stat().st_mode & 0o777 == 0o640


def test_the_file_itself_is_copied_where_its_records_cannot_be_put_in_order(
    bench: Workbench, parley: Path, tmp_path: Path
) -> None:
    lines = talk(3).splitlines()
    lines.insert(3, "# between the two lines of one reply")
    whole = "\n".join(lines) + "\n"
    source = tmp_path / "harbour.jsonl"
    source.write_text(whole, "utf-8")
    document = imported(bench, source)
    assert exported(bench, document, tmp_path / "out") == whole.encode()
    with source.open("a") as file:
        file.write("# high water\n")
    problem = asyncio.run(bench.original_problem(document.key))
    assert problem.startswith("The session cannot be written as Parley wrote it: its records")


def test_what_was_added_here_has_no_place_in_it(
    bench: Workbench, parley: Path, tmp_path: Path
) -> None:
    document = imported(bench, parley)
    asyncio.run(document.edits.set_label(3, "the berth"))
    with pytest.raises(ExportError, match=r"added here.*pi-v3, markdown or html"):
        exported(bench, document, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert changed_form(document) == "pi-v3"
    assert b"the berth" in exported(bench, document, tmp_path / "out", "pi-v3")


def test_the_form_follows_from_the_name_of_the_file() -> None:
    names = ("a.md", "a.MARKDOWN", "a.html", "a.htm", "a.jsonl", "a")
    assert [form_of_file(Path(name)) for name in names] == [
        "markdown", "markdown", "html", "html", "original", "original",
    ]  # fmt: skip


def test_the_command_writes_each_form_and_refuses_what_it_cannot(
    parley: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert called("export", str(parley), str(out))[0] == 0
    assert out.read_bytes() == parley.read_bytes()
    status, shown, _ = called("export", str(parley), str(tmp_path / "page.html"), "--json")
    assert (status, json.loads(shown)["format"]) == (0, "html")
    assert json.loads(shown)["entries"] == 49
    assert "<h1>" in (tmp_path / "page.html").read_text("utf-8")
    words = ("export", str(parley), str(tmp_path / "a"), "--format", "markdown", "--whole")
    assert "wrote 50 entries" in called(*words)[1]
    assert "Or another way?" in (tmp_path / "a").read_text("utf-8")
    parley.write_text(talk(2).replace("# the tide", "\n# the tide"), "utf-8")
    pi = tmp_path / "as-pi.jsonl"
    assert called("export", str(parley), str(pi), "--format", "pi-v3")[0] == 0
    assert json.loads(pi.read_text("utf-8").splitlines()[0])["version"] == 3

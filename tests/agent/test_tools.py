"""The tools that only look, on a real folder."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from explorer.agent.tools import MOST_BYTES
from explorer.agent.tools.content import LARGEST_IMAGE, head, size_of, tail
from explorer.agent.tools.port import OutputFiles, ToolContext, ToolError, ToolOutcome, ToolRun
from explorer.agent.tools.read_only import glob_of
from explorer.agent.tools.workspace_tools import READ_ONLY, run_read_only, specs_of
from explorer.agent.workspace import Workspace, WorkspaceError

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret retry")
    (root / "README.md").write_text("# Todo\nretry twice\n")
    (root / "src" / "retry.py").write_text("def retry():\n    return 409\n")
    (root / "blob.bin").write_bytes(b"\0\1\2" * 10)
    (tmp_path / "outside.txt").write_text("not yours")
    return Workspace(root)


def outcome(workspace: Workspace, tool: str, **arguments: object) -> ToolOutcome:
    return run_read_only(ToolContext(workspace), arguments, ToolRun(tool))


def run(workspace: Workspace, tool: str, **arguments: object) -> tuple[str, bool]:
    told = outcome(workspace, tool, **arguments)
    return told.text, told.is_error


def test_only_tools_that_look_are_offered() -> None:
    assert [spec.name for spec in specs_of(READ_ONLY)] == ["read", "ls", "find", "grep"]


def test_read_gives_lines_from_an_offset(workspace: Workspace) -> None:
    assert run(workspace, "read", path="src/retry.py", offset=2) == ("    return 409", False)
    assert run(workspace, "read", path="@src/retry.py", limit="1")[0] == (
        "def retry():\n\n[Lines 1-1 of 2. Go on with offset=2.]"
    )


def test_read_says_what_is_wrong(workspace: Workspace) -> None:
    assert run(workspace, "read", path="nope.py") == ("nope.py: no such file or folder", True)
    assert run(workspace, "read", path="src") == ("src is a folder; use ls", True)
    assert run(workspace, "read", path="blob.bin") == (
        "blob.bin is not a text file (30 bytes)", True,
    )  # fmt: skip
    assert run(workspace, "read")[0] == "the argument 'path' must be a text"
    assert run(workspace, "read", path="README.md", offset=9)[0].startswith(
        "line 9 is past the end"
    )
    assert "at least 1" in run(workspace, "read", path="README.md", offset=0)[0]
    assert run(workspace, "write", path="x")[1]


def test_long_files_are_cut_at_the_byte_limit_and_gone_on_with(workspace: Workspace) -> None:
    lines = ["x" * 999, *(f"{number} " + "y" * 994 for number in range(100))]
    (workspace.root / "long.txt").write_text("\n".join(lines) + "\n")
    read, offset = [], 1
    while offset:
        told = outcome(workspace, "read", path="long.txt", offset=offset)
        assert len(told.text) < MOST_BYTES + 100
        text, _, note = told.text.partition("\n\n[Lines ")
        read += text.split("\n")
        if note:
            assert told.details["truncation"]["truncatedBy"] == "bytes"
            assert told.details["truncation"]["totalLines"] == 101
        offset = int(note.partition("offset=")[2].removesuffix(".]") or 0)
    assert read == lines


def test_many_lines_are_cut_at_the_line_limit(workspace: Workspace) -> None:
    (workspace.root / "many.txt").write_text("".join(f"{number}\n" for number in range(5_001)))
    told = outcome(workspace, "read", path="many.txt", offset=2_001)
    assert told.text.startswith("2000\n2001\n")
    assert told.text.endswith("\n3999\n\n[Lines 2001-4000 of 5,001. Go on with offset=4001.]")
    assert told.details["truncation"]["truncatedBy"] == "lines"
    assert run(workspace, "read", path="many.txt", offset=5_001) == ("5000", False)


def test_a_line_that_is_too_long_is_shown_in_part(workspace: Workspace) -> None:
    (workspace.root / "wide.txt").write_text("é" * 100_000 + "\nend\n")
    text, failed = run(workspace, "read", path="wide.txt")
    assert not failed
    assert size_of(text) < MOST_BYTES + 300
    assert "only its beginning is shown" in text
    assert "offset=2" in text


def test_a_file_of_many_megabytes_is_read_from_its_middle(workspace: Workspace) -> None:
    with open(workspace.root / "big.txt", "w") as file:
        file.writelines(f"line {number}\n" for number in range(1, 400_001))
    assert run(workspace, "read", path="big.txt", offset=300_000, limit=2)[0] == (
        "line 300000\nline 300001\n\n[Lines 300000-300001 of 400,000. Go on with offset=300002.]"
    )


def test_line_ends_and_what_is_no_text_are_tidied(workspace: Workspace) -> None:
    (workspace.root / "dos.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\xff\r\n")
    assert run(workspace, "read", path="dos.txt") == ("one\ntwo�", False)
    (workspace.root / "empty.txt").write_text("")
    assert run(workspace, "read", path="empty.txt") == ("empty.txt is empty.", False)


@pytest.mark.parametrize(
    ("data", "mime"),
    [(PNG, "image/png"), (b"\xff\xd8\xff\xe0rest", "image/jpeg"), (b"GIF89a\0\0", "image/gif"),
     (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp")],
)  # fmt: skip
def test_a_picture_comes_as_a_picture_whatever_its_name(
    workspace: Workspace, data: bytes, mime: str
) -> None:
    (workspace.root / "shot.txt").write_bytes(data)
    told = outcome(workspace, "read", path="shot.txt")
    assert not told.is_error
    assert [(image.mime, base64.b64decode(image.data_base64)) for image in told.images] == [
        (mime, data)
    ]
    assert mime in told.text


def test_a_picture_that_is_too_large_is_told(workspace: Workspace) -> None:
    (workspace.root / "big.png").write_bytes(PNG + b"\0" * LARGEST_IMAGE)
    text, failed = run(workspace, "read", path="big.png")
    assert failed
    assert "smaller copy" in text


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/hostname", "src/../../outside.txt"])
def test_nothing_outside_the_workspace_is_read(workspace: Workspace, name: str) -> None:
    text, failed = run(workspace, "read", path=name)
    assert failed
    assert "outside the workspace" in text


def test_a_link_out_of_the_workspace_is_resolved_and_refused(workspace: Workspace) -> None:
    (workspace.root / "door").symlink_to(workspace.root.parent / "outside.txt")
    text, failed = run(workspace, "read", path="door")
    assert failed
    assert "outside the workspace" in text
    assert "not yours" not in run(workspace, "grep", pattern="yours")[0]


def test_ls_find_and_grep(workspace: Workspace) -> None:
    assert run(workspace, "ls") == (".git/\nblob.bin\nREADME.md\nsrc/", False)
    assert "2 more names" in run(workspace, "ls", limit=2)[0]
    assert run(workspace, "find", pattern="*.py") == ("src/retry.py", False)
    assert run(workspace, "find", pattern="src/*.py") == ("src/retry.py", False)
    assert run(workspace, "find", pattern="retry.py", path="src") == ("src/retry.py", False)
    assert run(workspace, "find", pattern="*.rs") == ("No files found.", False)
    assert run(workspace, "grep", pattern="retry") == (
        "README.md:2: retry twice\nsrc/retry.py:1: def retry():",
        False,
    )
    assert run(workspace, "grep", pattern="RETRY", ignoreCase=True, glob="*.md")[0] == (
        "README.md:2: retry twice"
    )
    assert run(workspace, "grep", pattern="retry(", literal=True)[0] == (
        "src/retry.py:1: def retry():"
    )
    assert run(workspace, "grep", pattern="retry(")[1]
    assert run(workspace, "grep", pattern="nowhere") == ("No matches found.", False)


def test_grep_shows_lines_around_a_hit_once(workspace: Workspace) -> None:
    (workspace.root / "n.txt").write_text("a\nb\nHIT\nHIT\nc\nd\ne\nf\nHIT\n")
    assert run(workspace, "grep", pattern="HIT", path="n.txt", context=1)[0] == (
        "n.txt-2- b\nn.txt:3: HIT\nn.txt:4: HIT\nn.txt-5- c\n--\nn.txt-8- f\nn.txt:9: HIT"
    )


def test_grep_stops_at_its_limit_and_shortens_long_lines(workspace: Workspace) -> None:
    (workspace.root / "n.txt").write_text("HIT\n" * 10 + "x" * 5_000 + "WIDE" + "y" * 5_000)
    told = outcome(workspace, "grep", pattern="HIT", limit=3)
    assert told.text.count("HIT") == 3
    assert told.details["matchLimitReached"] == 3
    told = outcome(workspace, "grep", pattern="WIDE")
    assert "WIDE" in told.text
    assert len(told.text) < 800
    assert told.details["linesTruncated"]


def test_what_the_project_ignores_is_left_out(workspace: Workspace) -> None:
    root = workspace.root
    (root / ".gitignore").write_text("build/\n*.log\n!keep.log\n/top.txt\n[\n")
    (root / "src" / ".gitignore").write_text("!wanted.log\n")
    (root / "build").mkdir()
    (root / ".hidden").mkdir()
    for name in ("build/x", "a.log", "keep.log", "top.txt", "src/top.txt", "src/a.log",
                 "src/wanted.log", ".hidden/h"):  # fmt: skip
        (root / name).write_text("needle\n")
    assert run(workspace, "find", pattern="**")[0].split("\n") == [
        ".gitignore", "README.md", "blob.bin", "keep.log", ".hidden/h", "src/.gitignore",
        "src/retry.py", "src/top.txt", "src/wanted.log",
    ]  # fmt: skip
    assert run(workspace, "grep", pattern="needle")[0].split("\n") == [
        "keep.log:1: needle", ".hidden/h:1: needle", "src/top.txt:1: needle",
        "src/wanted.log:1: needle",
    ]  # fmt: skip
    assert run(workspace, "grep", pattern="needle", path="build")[0] == "build/x:1: needle"
    assert run(workspace, "grep", pattern="needle", path="a.log")[0] == "a.log:1: needle"


def test_a_pattern_that_never_ends_is_given_up(workspace: Workspace) -> None:
    (workspace.root / "n.txt").write_text("x" * 5_000 + "\n")
    text, failed = run(workspace, "grep", pattern="(x+x+)+y", path="n.txt")
    assert failed
    assert "takes too long" in text


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [("*.py", ["a.py", "src/a.py"], ["a.pyc"]), ("src/*.py", ["src/a.py"], ["src/b/a.py"]),
     ("**/*.py", ["a.py", "x/y/a.py"], []), ("src/**", ["src/a", "src/b/c"], ["srcs/a"]),
     ("src/**/t.py", ["src/t.py", "src/a/b/t.py"], ["src/xt.py"]), ("a?c", ["abc"], ["a/c", "ac"]),
     ("*.{ts,tsx}", ["a.ts", "b.tsx"], ["a.t"]), ("[!a]x", ["bx"], ["ax", "/x"]),
     ("[ab", ["[ab"], ["a"]), ("a+b(", ["a+b("], ["aab"]),
     ("*", [".hidden", "a/.b"], []), ("a/{b,c/{d,e}}", ["a/b", "a/c/e"], ["a/c", "a/d"]),
     ("src/**/", [], ["src/../a", "a/src/b"]), ("[A-C].txt", ["B.txt"], ["b.txt"])],
)  # fmt: skip
def test_globs(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes + no if glob_of(pattern).matches(name)] == yes


def test_a_glob_that_stands_for_too_many_names_is_refused() -> None:
    with pytest.raises(ToolError, match="not valid"):
        glob_of("{1..100000}")
    assert not glob_of("*a" * 20 + "[!a]").matches("a" * 300), "soon"


def test_a_long_list_is_kept_whole_in_a_file(workspace: Workspace, tmp_path: Path) -> None:
    outputs = OutputFiles(tmp_path / "outputs")
    desk = ToolContext(workspace.with_reading(outputs.is_output), outputs)
    (workspace.root / "long.txt").write_text("".join(f"hit {n} {'x' * 90}\n" for n in range(900)))
    told = run_read_only(desk, {"pattern": "hit", "limit": 5_000}, ToolRun("grep", "call/1"))
    assert size_of(told.text) < MOST_BYTES + 400
    path = told.details["fullOutputPath"]
    assert path in told.text
    shown = told.details["truncation"]["outputLines"]
    rest = run_read_only(desk, {"path": path, "offset": shown + 1}, ToolRun("read"))
    assert rest.text.split("\n")[-1].startswith("long.txt:900: hit 899 ")
    assert Path(path).stat().st_mode & 0o077 == 0


def test_heads_and_tails_keep_whole_lines() -> None:
    text = "".join(f"{number}\n" for number in range(10))
    assert (head(text, 3).text, head(text, 3).by) == ("0\n1\n2", "lines")
    assert (tail(text, 3).text, tail(text, 3).by) == ("7\n8\n9", "lines")
    assert (head(text, 99, 5).text, head(text, 99, 5).by) == ("0\n1\n2", "bytes")
    assert (tail(text, 99, 4).text, tail(text, 99, 4).by) == ("8\n9", "bytes")
    assert (head("é" * 9, 9, 5).text, tail("é" * 9, 9, 5).text) == ("éé", "éé")
    assert head(text).by is None


def test_a_workspace_must_hold_what_it_resolves(workspace: Workspace) -> None:
    assert workspace.shown(workspace.resolve(".")) == "."
    with pytest.raises(WorkspaceError, match="outside"):
        workspace.resolve("..")

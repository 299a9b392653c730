"""The table of file tools, read with the parameters that the tools really have (A28)."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.session.file_tools import FileOp, file_ops

PATCH = """*** Begin Patch
*** Add File: new.py
+x
*** Update File: old.py
*** Move to: moved.py
@@
-a
+b
*** Update File: same.py
@@
-a
*** Delete File: gone.py
*** End Patch"""
PATCHED = [
    ("create", "new.py"), ("delete", "old.py"), ("create", "moved.py"), ("edit", "same.py"),
    ("delete", "gone.py"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("read", {"path": "a"}, [("read", "a")]),
        ("write", {"path": "a", "content": ""}, [("write", "a")]),
        ("edit", {"path": "a", "oldText": "x"}, [("edit", "a")]),
        ("edit", {"path": "a", "op": "create", "diff": ""}, [("create", "a")]),
        ("edit", {"path": "a", "op": "delete"}, [("delete", "a")]),
        ("edit", {"path": "a", "delete": True}, [("delete", "a")]),
        ("edit", {"path": "a", "rename": "b"}, [("delete", "a"), ("create", "b")]),
        ("Read", {"file_path": "a"}, [("read", "a")]),
        ("Write", {"file_path": "a", "content": ""}, [("write", "a")]),
        ("Edit", {"file_path": "a"}, [("edit", "a")]),
        ("MultiEdit", {"file_path": "a", "edits": []}, [("edit", "a")]),
        ("multi_edit", {"path": "a"}, [("edit", "a")]),
        ("NotebookEdit", {"notebook_path": "n", "edit_mode": "delete"}, [("edit", "n")]),
        ("notebook", {"notebook_path": "n", "action": "insert"}, [("edit", "n")]),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a"}, [("read", "a")]),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a"}, [("create", "a")]),
        ("str_replace_editor", {"command": "insert", "path": "a"}, [("edit", "a")]),
        ("apply_patch", {"input": PATCH}, PATCHED),
        ("apply_patch", {"patchText": PATCH}, PATCHED),
        ("shell", {"command": ["apply_patch", PATCH]}, PATCHED),
        ("shell", {"command": ["bash", "-lc", "rm a"]}, []),
        ("create_file", {"filePath": "a"}, [("create", "a")]),
        ("read_file", {"filePath": "a"}, [("read", "a")]),
        ("multi_replace_string_in_file", {"replacements": [{"filePath": "a"}, {"filePath": "b"}]},
         [("edit", "a"), ("edit", "b")]),
        ("delete_file", {"target_file": "a"}, [("delete", "a")]),
        ("rm", {"paths": ["a", "b"]}, [("delete", "a"), ("delete", "b")]),
        ("mv", {"source": "a", "destination": "b"}, [("delete", "a"), ("create", "b")]),
        ("bash", {"command": "rm a"}, []),
    ],
)  # fmt: skip
def test_a28_a_tool_touches_the_files_that_its_parameters_name(
    tool: str, arguments: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert [op[:2] for op in file_ops(tool, arguments, "c")] == expected


def test_a_patch_that_moves_no_file_makes_the_one_that_it_names() -> None:
    patch = "*** Begin Patch\n*** Move to: new.py\n*** End Patch"
    assert [op[:2] for op in file_ops("apply_patch", {"input": patch}, "c")] == [
        ("create", "new.py")
    ]


def test_pi_sees_the_path_of_its_three_tools_alone() -> None:
    assert [op.wide for op in file_ops("edit", {"path": "a", "rename": "b"}, "c")] == [False, True]
    assert [op.wide for op in file_ops("read", {"file_path": "a"}, "c")] == [True]
    assert [op.wide for op in file_ops("Read", {"path": "a"}, "c")] == [True]


def test_a_read_of_a_part_names_the_part() -> None:
    assert file_ops("read", {"path": "a", "limit": 40, "offset": 120}, "c") == (
        FileOp("read", "a", "c", "limit=40 offset=120"),
    )
    assert file_ops("read", {"path": "a", "offset": None}, "c")[0].part == ""


@pytest.mark.parametrize(
    "arguments",
    [None, [], "path", {}, {"path": 3}, {"path": ""}, {"input": 5}, {"command": [1, None]},
     {"replacements": "x"}, {"paths": [None, {"path": 1}]}, {"command": {}, "path": "a"}],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["read", "edit", "apply_patch", "shell", "mv", "rm", "notebook"])
def test_arguments_of_any_shape_break_nothing(tool: str, arguments: object) -> None:
    assert all(isinstance(op.path, str) and op.path for op in file_ops(tool, arguments, "c"))

"""A pytest plugin: which functions of the program each test calls, and what it costs.

Loaded with ``-p tests.mutation.calls``; the record goes to the file that ``CALLS_OUT`` names.
A test that fails is not in it: it would fail for every change.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest


class CallRecord(NamedTuple):
    """What one test does."""

    test: str
    """Its node id."""
    seconds: float
    """Of the processor, those of ended child processes included."""
    functions: list[str]
    """``explorer/session/tree.py::Tree.path``; nested functions count as the outermost one."""


_known: dict[int, CodeType] = {}
_called: set[int] = set()
_record: list[CallRecord] = []
_failed: set[str] = set()


def _trace(frame: FrameType, _event: str, _argument: Any) -> None:
    code = frame.f_code
    key = id(code)
    if key not in _called:
        _called.add(key)
        _known[key] = code  # a code object that lives on keeps its id


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Watch one test, its fixtures included."""
    _called.clear()
    start = processor_seconds()
    threading.settrace(_trace)  # type: ignore[arg-type]
    sys.settrace(_trace)  # type: ignore[arg-type]
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        seconds = processor_seconds() - start
        functions = sorted({name for key in list(_called) if (name := _name(_known[key]))})
        _record.append(CallRecord(item.nodeid, round(seconds, 3), functions))


def _name(code: CodeType) -> str:
    _root, found, path = code.co_filename.rpartition("/explorer/")
    return f"explorer/{path}::{code.co_qualname.partition('.<locals>')[0]}" if found else ""


def processor_seconds() -> float:
    """What this process and its ended children have used: the same on a busy machine."""
    return sum(os.times()[:4])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember which tests fail."""
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the record."""
    with open(os.environ["CALLS_OUT"], "w", encoding="utf-8") as out:
        json.dump([one for one in _record if one.test not in _failed], out)

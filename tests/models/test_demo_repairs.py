"""Failing tests, and the faults behind them that the demonstration agent's rules know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from explorer.models.offline.demo.failures import failures_in, outcome
from explorer.models.offline.demo.reckoning import holds
from tests.models.sandboxes import Talk, make

TESTS = """import unittest

from shop.prices import {names}


class Prices(unittest.TestCase):
    def test_it(self):
        {check}
"""
UNITTEST = "python3 -B -m unittest discover -s tests -t ."


def shop(root: Path, source: str, names: str, check: str) -> Path:
    return make(
        root / "project",
        {
            "shop/__init__.py": "",
            "shop/prices.py": source,
            "tests/__init__.py": "",
            "tests/test_prices.py": TESTS.format(names=names, check=check),
        },
    )


FAULTS = {
    "an operator": (
        "def less(price, percent):\n    return price + price * percent // 100\n",
        "less", "self.assertEqual(less(200, 10), 180)", "price - price",
    ),
    "a comparison": (
        "def is_free(price):\n    return price < 5000\n",
        "is_free", "self.assertTrue(is_free(5000) and not is_free(4999))", "price >= 5000",
    ),
    "a number": (
        "RATE = 200\n\n\ndef rate():\n    return RATE\n",
        "rate", "self.assertEqual(rate(), 20)", "RATE = 20\n",
    ),
    "a number too many": (
        "def half(price):\n    return price // 2 + 1\n",
        "half", "self.assertEqual(half(8), 4)", "price // 2\n",
    ),
    "a misspelt name": (
        "def total(items):\n    value = sum(items)\n    return valeu\n",
        "total", "self.assertEqual(total([1, 2]), 3)", "return value",
    ),
    "a misspelt definition": (
        "def discuont(price):\n    return price - 1\n",
        "discount", "self.assertEqual(discount(3), 2)", "def discount",
    ),
    "a misspelt key": (
        "PRICES = {'apples': 45}\n\n\ndef apples():\n    return PRICES['aples']\n",
        "apples", "self.assertEqual(apples(), 45)", "PRICES['apples']",
    ),
    "the wrong one of two": (
        "def dearest(prices):\n    return min(prices)\n",
        "dearest", "self.assertEqual(dearest([3, 9, 4]), 9)", "max(prices)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_known_faults_are_repaired(tmp_path: Path, fault: str) -> None:
    source, names, check, repaired = FAULTS[fault]
    root = shop(tmp_path, source, names, check)
    before = (root / "tests/test_prices.py").read_text()
    talk = Talk(root)
    said = talk.say(f"Fix the failing test, please: run `{UNITTEST}`")
    assert "The tests pass now" in said, said
    assert repaired in (root / "shop/prices.py").read_text()
    assert (root / "tests/test_prices.py").read_text() == before
    assert talk.called.count("bash") == 2, "it was right at once"


def test_pytest_is_used_where_it_is_there(tmp_path: Path) -> None:
    source, names, check, repaired = FAULTS["an operator"]
    root = shop(tmp_path, source, names, check)
    talk = Talk(root)
    assert "The tests pass now" in talk.say("fix the bug that the tests show")
    commands = [c.arguments["command"] for calls in talk.rounds for c in calls if c.name == "bash"]
    assert all("pytest" in command or "unittest" in command for command in commands)
    assert repaired in (root / "shop/prices.py").read_text()


def test_a_fault_that_no_rule_knows_is_told_and_nothing_changed(tmp_path: Path) -> None:
    source = "def name(price):\n    return 'cheap'\n"
    root = shop(tmp_path, source, "name", "self.assertEqual(name(3), 'good value')")
    said = Talk(root).say(f"fix the failing test: run `{UNITTEST}`")
    assert "none of my rules knows what to change" in said and "'cheap' != 'good value'" in said
    assert (root / "shop/prices.py").read_text() == source


def test_tests_are_only_run_where_only_that_is_asked(tmp_path: Path) -> None:
    source, names, check, _ = FAULTS["an operator"]
    root = shop(tmp_path, source, names, check)
    said = Talk(root).say(f"Why does the test fail? run `{UNITTEST}`")
    assert "1 test failed" in said and "220 != 180" in said
    assert (root / "shop/prices.py").read_text() == source


def test_the_outputs_of_both_runners_are_understood() -> None:
    unit = (
        "FAIL: test_a (tests.test_x.T.test_a)\n----\nTraceback (most recent call last):\n"
        '  File "/p/tests/test_x.py", line 8, in test_a\n    self.assertEqual(f(1), 2)\n'
        "AssertionError: 1 != 2\n\n----\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n"
    )
    (failure,) = failures_in(unit)
    assert (failure.test, failure.told) == ("test_a", "AssertionError: 1 != 2")
    assert (failure.frames[0].path, failure.frames[0].line) == ("/p/tests/test_x.py", 8)
    assert outcome(unit) == "Ran 3 tests in 0.1s FAILED (failures=1)"
    short = (
        "____ test_b ____\n\n    def test_b():\n>       assert f(1) == 2\n"
        "E       assert 1 == 2\nE        +  where 1 = f(1)\n\ntests/test_x.py:4: AssertionError\n"
        "=== 1 failed in 0.10s ===\n"
    )
    (failure,) = failures_in(short)
    assert (failure.test, failure.kind) == ("test_b", "AssertionError")
    assert failure.frames[0].line == 4


def _holds(source: str, limit: str = "") -> bool | None:
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    return holds(functions["test"], functions, {})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(n):\n    return n * 2\ndef test():\n    assert f(2) == 4\n", True),
        ("def f(n):\n    return n * 3\ndef test():\n    assert f(2) == 4\n", False),
        ("def test():\n    open('x', 'w')\n", None),
        ("def test():\n    __import__('os').system('touch x')\n", None),
        ("def f():\n    return f()\ndef test():\n    f()\n", None),
        ("def test():\n    for n in range(10 ** 9):\n        n + 1\n", None),
        ("def test():\n    assert 'x' * 10000000 * 10000000\n", None),
        ("def test():\n    assert ('%1000000000d' % 3)\n", None),
        ("def test():\n    assert ('a' * 90000).replace('a', 'b' * 90000)\n", None),
        ("def test():\n    x = [n for n in [1, 2, 3] if n > 1]\n    assert sum(x) == 5\n", True),
    ],
)
def test_functions_are_worked_out_on_paper_and_never_run(
    source: str, expected: bool | None
) -> None:
    assert _holds(source) is expected

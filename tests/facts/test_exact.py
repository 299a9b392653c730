"""What single words and figures are: paths, symbols, addresses, hashes, versions, amounts."""

from __future__ import annotations

import pytest

from explorer.facts.errors import (
    LONGEST,
    MOST,
    beginning,
    error_lines,
    listed_test,
    reports_failure,
    whole_lines,
)
from explorer.facts.fact import FactKind
from explorer.facts.figures import figure, figures, figures_in, named_versions, value_key
from explorer.facts.identifiers import (
    base_name,
    exact_things,
    is_file,
    is_path,
    path_key,
    pieces_of,
)
from explorer.facts.text import TextRanges, sentences, statement_key, stem, terms, units

PATH, SYMBOL, URL = FactKind.PATH, FactKind.SYMBOL, FactKind.URL
HASH, VERSION, NUMBER = FactKind.HASH, FactKind.VERSION, FactKind.NUMBER
UUID = "123e4567-e89b-12d3-a456-426614174000"

WORDS: dict[str, tuple[FactKind, str] | None] = {
    "word": None, "Word": None, "WORD": None, "": None, "...": None, "</b>": None,
    "Makefile": (PATH, "makefile"), "`Dockerfile`": (PATH, "dockerfile"),
    "(src/a.py)": (PATH, "src/a.py"), "~/a.txt,": (PATH, "~/a.txt"), "~a.txt": (PATH, "a.txt"),
    "a.py:12:5": (PATH, "a.py"), "src/a.py(12)": (PATH, "src/a.py"), "./a//b.py": (PATH,
    "a/b.py"),
    "[ab]/c.py": (PATH, "ab]/c.py"), "a[0]/b.py": (PATH, "a[0]/b.py"),
    "http://a.io/x).": (URL, "http://a.io/x"), "http://a.io/x_(y)": (URL, "http://a.io/x_(y)"),
    "http://a": None, "http://abc": (URL, "http://abc"), "www.Abc.de/": (URL, "www.abc.de"),
    "res://a/b.gd:5": (PATH, "res:/a/b.gd"), "localhost:80": (URL, "localhost:80"),
    "localhost:8": None, "char:29": None, "Line:120": None,
    "redis:6379": (URL, "redis:6379"), "a.py:80": (PATH, "a.py"), "10.0.0.1": (URL, "10.0.0.1"),
    "db.host:5432/x": (URL, "db.host:5432/x"),
    UUID: (HASH, UUID), UUID[:-1]: None, "ABCDEF1": (HASH, "abcdef1"), "abcdef": None,
    "abcdefa": None, "1234567": (NUMBER, "1234567"), "sha256:abcdef1": (HASH, "abcdef1"),
    "AB-12": (HASH, "ab-12"), "UTF-8": None, "#42": (HASH, "#42"), "#4": None,
    "1.2.3": (VERSION, "1.2.3"), "v1.2": (VERSION, "1.2"), "1.2": (NUMBER, "1.2"),
    "v2": (VERSION, "2"), "3.x": (VERSION, "3.x"), "1.2.3-rc.1": (VERSION, "1.2.3-rc.1"),
    "react@18": (VERSION, "react@18"), "a@20240620": (VERSION, "a@20240620"),
    "a@15143.2": (VERSION, "a@15143.2"), "outlined@15143": None, "getName@98455": None,
    "numpy>=1.2": (VERSION, "numpy>=1.2"), "@a/b@1.2": (VERSION, "@a/b@1.2"), "^1.2": (VERSION,
    "^1.2"),
    "2024-01-02": None, "12:30": None, "1/2/2024": None, "1.2.2024": None,
    "250ms": (NUMBER, "0.25 time"), "$5": (NUMBER, "5"), "70%": (NUMBER, "70 %"),
    "A_B": (SYMBOL, "A_B"), "${A_B}": (SYMBOL, "A_B"), "--dry-run": (SYMBOL, "--dry-run"),
    "-x1": None, "run()": (SYMBOL, "run"), "a.b()": (SYMBOL, "a.b"), "a::b": (SYMBOL, "a::b"),
    "p->q": (SYMBOL, "p->q"), "snake_case": (SYMBOL, "snake_case"), "_x": None, "x_": None,
    "someName": (SYMBOL, "someName"), "aBcd": None, "aBcde": (SYMBOL, "aBcde"), "GitHub": None,
    "XmlParser": (SYMBOL, "XmlParser"), "x" * 2001 + "()": None,
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_one_thing(word: str) -> None:
    found = [(piece.kind, piece.key) for piece in exact_things([word]).get(word, ())]
    expected = WORDS[word]
    assert found == ([expected] if expected else [])
    for piece in pieces_of(word):
        assert word[piece.at : piece.at + len(piece.text)] == piece.text


def test_a_word_of_several_things_is_taken_apart() -> None:
    found = pieces_of("a.py,b.py;run_it")
    assert [(one.text, one.at) for one in found] == [("a.py", 0), ("b.py", 5), ("run_it", 10)]
    assert [one.text for one in pieces_of("[a.md](docs/b.md)")] == ["a.md", "docs/b.md"]
    assert [one.text for one in pieces_of("port=8443")] == ["8443"]
    two = pieces_of("http://abc.de|http://abc.fr")
    assert [(one.text, one.at) for one in two] == [("http://abc.de", 0), ("http://abc.fr", 14)]


PATHS = """a.py ab/c.py src/x /srv /app-data /a1b a/b/c-d ~/xy ./xy ../x C:/a C:\\ab .\\a src\\a
ab\\c.py
abc\\def\\ghi \\\\host\\share\\a.txt lib/ ab/cd/ .env .gitignore a/b.py:3 x/Makefile ab/c/ abc/"""
NO_PATHS = """a word.xyz and/or I/O //x </x 1/2 /theme /ab a/b-c text/html --x/y.py C:/ 1:/a
C:\\a ab\\cd
\\\\host a/b /. 1/2/3-4 client/server next.js 1.2.py -.py a..py """


def test_paths_are_told_from_other_words() -> None:
    assert [word for word in PATHS.split() if not is_path(word)] == []
    assert [word for word in NO_PATHS.split() if is_path(word)] == []
    assert is_file("A.PY:3:4") and not is_file(".py") and is_file("a-b.tar.gz")
    assert path_key(".\\A\\\\B.py:3:4") == "a/b.py" and path_key("/") == "/"
    assert base_name("a/b.py") == "b.py" and base_name("b.py") == "b.py"


FIGURES = {
    "1.5k rows": (1500, "row"), "2 million users": (2e6, "user"), "3bn": (3e9, ""), "5 M": (5e6,
    ""),
    "5 m": (300, "time"), "250 ms": (0.25, "time"), "90 minutes": (5400, "time"),
    "2 weeks": (1209600, "time"),
    "10 MiB": (10 * 2**20, "size"), "5 megabytes": (5e6, "size"), "7 pct": (7, "%"),
    "-4 °C": (-4, "°c"),
    "1,234.5": (1234.5, ""), "1 234 567": (1234567, ""), "1e3": (1000, ""), "2e-2 s": (0.02,
    "time"),
    "5 retries": (5, "retry"), "12 us": (12e-6, "time"), "3 s": (3, "time"), "4 ss": (4, "ss"),
}  # fmt: skip


@pytest.mark.parametrize("text", FIGURES)
def test_a_figure_is_evened_by_its_unit(text: str) -> None:
    found = figure(text)
    assert found is not None and found.family == FIGURES[text][1]
    assert found.value == pytest.approx(FIGURES[text][0])


def test_what_is_no_figure_and_what_figures_say_the_same() -> None:
    assert figure("none") is None and figure("2e999") is None and value_key("none") == ""
    assert value_key("at 1,000 ms") == "#1000" and value_key("2 5") == "#2"
    one, other = figure("250 ms"), figure("0.25 s")
    assert one is not None and other is not None and one.key == other.key == "0.25 time"
    found = [one.key for one in figures_in("from 5 to 8 retries, a/3, 2:30, 70 %")]
    assert found == ["5 to", "8 retry", "2", "70 %"]


def amounts(
    text: str, *, by_user: bool = False, skip: tuple[tuple[int, int], ...] = ()
) -> list[str]:
    return [text[a:b] for a, b in figures(text, TextRanges(skip), by_user=by_user)]


AMOUNTS = {
    "wait 5 s": ["5 s"], "wait 2 min 10 s": ["2 min 10 s"], "wait 2 min 10 min": ["2 min",
    "10 min"],
    "5 retries": ["5 retries"], "1 retry": ["1 retry"], "2 retry": [], "3 of 112": ["3 of 112"],
    "3 of the 12 files": ["3 of the 12"], "port 8443": ["8443"], "port: 8443": ["8443"],
    "step 3": [], "3 May": [], "3 open files": ["3 open files"], "5 OK": ["5 OK"],
    "5 LARGE": [], "in 2024": [], "1.5": ["1.5"], "$5": ["$5"], "a5": [], "5a": [], "3d": [],
    "30d": [],
    "300d": ["300d"], "[12.5]": [], "12.5]": ["12.5"], "x=5 s": ["5 s"], "below 5": ["5"],
    "1. below": [],
    "- 12) a": [], "70%": ["70%"], "+7 %": ["+7 %"], "a +7 %": ["+7 %"], "5 is": [],
    "offset=-5 s": ["5 s"], "a range of 3+4 MB": ["4 MB"],
    "5 the cats": [],
    "10 big cats": ["10 big cats"], "5 gs": [], "5 xs a": [],
    "~5 ms": ["~5 ms"], "1,000 rows": ["1,000 rows"],
    "1:1": [], "v1.5": [], "5/6": [], "5 req/s": ["5 req/s"], "level\n5": ["5"], "5\nrows": [],
}  # fmt: skip


@pytest.mark.parametrize("text", AMOUNTS)
def test_amounts_in_a_text(text: str) -> None:
    assert amounts(text) == AMOUNTS[text]


def test_a_person_who_lays_down_a_value_needs_no_unit() -> None:
    assert amounts("value: 5") == [] and amounts("value: 5", by_user=True) == ["5"]
    assert amounts("use 5", by_user=True) == ["5"] and amounts("cats 5", by_user=True) == []
    assert amounts("wait 5 s, then 6 s", skip=((0, 8),)) == ["6 s"]
    assert amounts("wait 5 s", skip=((0, 5),)) == ["5 s"]


def named(text: str) -> list[tuple[str, str]]:
    return [(text[at:end], text[name:at]) for at, end, name in named_versions(text, TextRanges())]


def test_a_number_after_a_product_is_its_version() -> None:
    assert named("Python 3.12 and node v20") == [("3.12", "Python "), ("20", "node v")]
    assert named("HTTP 2") == [] and named("HTTP 1.1") == [("1.1", "HTTP ")]
    assert named("foo 1.2.3") == [("1.2.3", "foo ")] and named("foo 1.2") == []
    assert named("release is 1.2") == [("1.2", "is ")] and named("value is 1.2") == []
    assert named("python 3 ms") == [] and named("foo 1.2.3 ms") == []
    assert named("fixed in 1.2.") == [("1.2", "in ")] and named("fixed in 1.2 or so") == []
    assert named("main.dart\n    15\tfinal x") == [] and named("astro     163") == []
    assert list(named_versions("Python 3.12", TextRanges([(7, 8)]))) == []


def test_words_lose_their_endings() -> None:
    words = "retries retried running stopped passes class as using makes timeouts cat's rolled"
    assert [stem(word) for word in words.split()] == [
        "retry", "retry", "run", "stop", "pass", "class", "as", "using", "mak", "timeout",
        "cat", "roll",
    ]  # fmt: skip
    assert terms("The cats, a x 5 and I") == {"cat", "5"}
    assert statement_key(" **Do**  `it`, now! ") == "do it, now"
    assert units(3, [1, 2, 5]) == 5 and units(1, [1]) == 1


def test_a_text_is_read_sentence_by_sentence() -> None:
    text = "# Head\nOne thing. Two things, e.g. this one.\nList:\n- [x] done\n- [ ] open\nEnd"
    found = sentences(text, [])
    assert [(one.text, one.item, one.checkbox, one.under, one.section) for one in found] == [
        ("One thing.", False, "", "", "Head"),
        ("Two things, e.g. this one.", False, "", "", "Head"),
        ("List:", False, "", "", "Head"),
        ("done", True, "x", "List:", "Head"),
        ("open", True, " ", "List:", "Head"),
        ("End", False, "", "", "Head"),
    ]
    long = "x" * 56 + " and"
    assert [one.text for one in sentences(f"{long}\nmore", [])] == [f"{long}\nmore"]
    assert len(sentences(f"{long[1:]}\nmore", [])) == 2 and len(sentences(f"{long}\nMore", [])) == 2
    assert [one.text for one in sentences("one\ntwo\nthree", [(4, 7)])] == ["one", "three"]


@pytest.mark.parametrize("shown", [
    "    49→  rows: rows,\n    50→  errors: errors,\n    51→)",
    "    50→      {:error, _} ->",
    "24\t- Reports are often wrong.\n25\t- Tell where it crashes\n26\t  why it crashes.",
    "   7\tThe file is not found in the store.\n   8\tprint(1)",
])  # fmt: skip
def test_lines_of_a_file_that_a_tool_numbered_report_no_failure(shown: str) -> None:
    assert error_lines(shown) == []


def test_rows_that_begin_with_a_number_may_report_one() -> None:
    assert error_lines("3\tERROR: no space\n17\tfine") == [(0, "3\tERROR: no space")]
    log = "   1→fine\nError: it broke"
    assert error_lines(log) == [(10, "Error: it broke")]


@pytest.mark.parametrize("point", [
    "- Keep the order and de-duplicate IDs.",
    "  - Closing twice at once should not crash the page.",
    "* An invalid `id` must show a page not found.",
])  # fmt: skip
def test_a_point_of_a_task_reports_no_failure(point: str) -> None:
    assert error_lines(point) == []
    assert error_lines("- duplicate key value")
    assert error_lines("- a.json: ERROR it must be a number")


def test_lines_of_a_failure_are_found_and_cut() -> None:
    assert error_lines("fine\n  Error: no\nfine") == [(7, "Error: no")]
    long = "Error: " + "x" * LONGEST
    assert error_lines(long) == [(0, long[:LONGEST])]
    many = "\n".join(f"Error: n{at}" for at in range(MOST + 3))
    kept = [line for _, line in error_lines(many)]
    half = MOST // 2
    assert kept == [f"Error: n{at}" for at in (*range(half), *range(half + 3, MOST + 3))]
    assert error_lines("a\nb", is_error=True) == [(0, "a"), (2, "b")]
    assert error_lines("\n a \n", is_error=True) == [(2, "a")]
    assert error_lines("a\nb\na", is_error=True) == [(0, "a")]
    assert error_lines("  \n", is_error=True) == error_lines("fine") == []
    panic = "thread 'main' panicked at src/a.rs:1:2:\n  index out of bounds\nnote"
    assert [line for _, line in error_lines(panic)][1:] == ["index out of bounds"]


def test_a_line_that_a_tool_cut_is_matched_with_its_whole_one() -> None:
    cut, whole = "E   ValueError: too…", "ValueError: too many"
    assert beginning(cut) == "valueerror: too" and listed_test("FAILED a.py::b - why") == "a.py::b"
    assert whole_lines({"c": (cut, [5]), "w": (whole, [7])}) == {"c": "w"}
    assert whole_lines({"c": (cut, [5]), "w": (whole, [8])}) == {}
    assert whole_lines({"c": ("abcd…", [5]), "w": ("abcde", [5])}) == {}
    assert whole_lines({"c": ("abcde…", [5]), "w": ("abcdef", [5])}) == {"c": "w"}
    listed = {"c": ("FAILED a.py::b - ValueError: too...", [5]), "w": (whole, [5])}
    assert whole_lines(listed) == {"c": "w"}


@pytest.mark.parametrize(
    ("output", "fails"),
    [
        ("FAILED tests/x.py::test_y - assert 1 == 2", True),
        ("ok\n--- FAIL: TestCatalog (0.00s)\nFAIL", True),
        ("error: unable to delete 'wip': remote ref does not exist", True),
        ("error[E0308]: mismatched types", True),
        ("fatal: not a git repository", True),
        ("E           asyncio.exceptions.CancelledError", True),
        ("9 1 failed, 16 passed", True),
        ("12 passed, 0 failed in 0.3s", False),
        ("Build finished: no errors, 0 warnings", False),
        ("it cancels the task and raises TimeoutError.  To avoid the task", False),
        ("--strict   Exit with error on version mismatch", False),
        ("tests/test_errors.py::test_error PASSED", False),
    ],
)
def test_a_plain_output_reports_a_failure_by_a_verdict_alone(output: str, fails: bool) -> None:
    assert reports_failure(output) is fails

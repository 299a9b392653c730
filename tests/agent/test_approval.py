"""What may run without a question, what is asked, and what an answer means from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from explorer.agent.approval import (
    ApprovalAnswer,
    ApprovalRequest,
    Approvals,
    ApprovalVerdict,
    allows_command,
    allows_file,
    pattern_of,
    simple_commands,
    suggested_for_command,
    suggested_for_file,
)
from explorer.models.client import Cancelled, CancelToken, ToolCall


def allows(line: str, *patterns: str) -> bool:
    return allows_command([pattern_of(text) for text in patterns], line)


@pytest.mark.parametrize(
    "line",
    ["pytest", "pytest -q tests", "pytest 'a b' \"c d\"", "pytest;pytest", "pytest && pytest -x",
     "pytest || pytest", "pytest | pytest", "pytest\npytest -q", "pytest 2>&1",
     "pytest >/dev/null 2>&1", "pytest 2> /dev/null | pytest 1>&2", "  pytest  ", "pytest ;",
     "pytest &&\n\n pytest\n\npytest\n", "pytest -k 'a > b; c'", "pytest '$(rm x)`!\\'",
     "pytest -k \"it's # > ; & {a,b} * ~\"", "pytest 'a\nb' \"a\nb\"", "pytest 'größer \u2192'",
     "pytest a=b --x=y x:1,2@3+4% ''", "pytest tests/a'b c'\"d e\".py"],
)  # fmt: skip
def test_a_pattern_allows_its_command_alone_and_in_company(line: str) -> None:
    assert allows(line, "bash(pytest *)")


@pytest.mark.parametrize(
    "line",
    ["rm -rf /", "pytest; rm x", "pytest && rm x", "pytest || rm x", "pytest | rm x",
     "pytest & rm x", "pytest\nrm x", "pytest $(rm x)", 'pytest "$(rm x)"', "pytest `rm x`",
     'pytest "`rm x`"', "pytest > out", "pytest >> out", "pytest 2> out", "pytest >| out",
     "pytest &> out", "pytest >& out", "pytest > /dev/null/x", "pytest >/dev/nullx",
     "pytest < in", "pytest << E\nE", "pytest <<< x", "pytest <(rm x)", "pytest >(rm x)",
     "(pytest)", "{ pytest; }", "pytest() { rm x; }; pytest", "PATH=. pytest", "a[0]=1 pytest",
     "pytest ${x:-$(rm x)}", "pytest $((1))", "pytest $'a\\'; rm x #'", 'pytest $"x"',
     "pytest $['$(rm x)']", "pytest --version $['$(rm x)']", 'pytest "$[1]"', "pytest $[1]",
     "pytest # it's\nrm x'", "pytest \\\nrm", "pytest 'unclosed", 'pytest "unclosed',
     "pytest $(", "pytest $(pytest", "$(echo pytest) x", "$X", "'pytest x'", "pytests", "./pytest",
     "sudo pytest", "! pytest", "time pytest", "if pytest; then rm x; fi", "pytest;;rm",
     "", "   ", ";", "pytest \0 x", "pytest\r", "{pytest,x}", "pyte*", "pytest $()", "pytest\\",
     "pytest $(pytest)", "pytest $HOME", "pytest & pytest", "pytest &", "pytest tests/*.py",
     "pytest ~", "pytest {a,b}", "pytest a#b", "pytest \\; x", 'pytest "a!b"', 'pytest "a\\b"',
     "pytest &>/dev/null", "pytest &>/dev/null rm x", "pytest |& pytest", "pytest 2>&1x",
     "pytest 2>&-", "pytest >/dev/null>x", "pytest>/dev/null", ">/dev/null pytest", "pytest &&",
     "&& pytest", "pytest; ; pytest", "coproc pytest", "X=1; pytest", "-x", "%1", "'' pytest",
     "pytest \x1b", "pytest '\x07'", "pytest '\x85'", "pytest '\u2028'", "pytest '\udc80'",
     'pytest "é"', "pytest é"],
)  # fmt: skip
def test_a_pattern_allows_nothing_else(line: str) -> None:
    assert not allows(line, "bash(pytest *)")


@pytest.mark.parametrize("blank", list("\x0b\x0c\x1c\x85\xa0\u1680\u2003\u2028\u202f\u3000\ufeff"))
def test_no_blank_but_the_shells_ends_a_word(blank: str) -> None:
    for line in (f"echo x 1>&2{blank}", f"echo x 1>&2{blank}/../../victim/keys", f"echo{blank}x"):
        assert not allows(line, "bash(echo *)")
        assert not allows(line, "bash(*)")


def test_every_command_of_a_line_needs_its_pattern() -> None:
    line = "cd src && git status --short | head -n 5; nproc"
    patterns = ["bash(cd *)", "bash(git status *)", "bash(head *)", "bash(nproc)"]
    assert allows(line, *patterns)
    for left_out in patterns:
        assert not allows(line, *(pattern for pattern in patterns if pattern != left_out))


def test_a_pattern_without_an_open_end_is_that_command_alone() -> None:
    assert allows("make test", "bash(make test)")
    assert allows("make   'test'", "bash(make test)")
    assert not allows("make test install", "bash(make test)")
    assert not allows("make", "bash(make test)")


def test_words_are_read_as_the_shell_reads_them() -> None:
    assert simple_commands("a 'b c'd\"e F\" '' 2>&1; i '*.py' | \n k") == [
        ["a", "b cde F", ""], ["i", "*.py"], ["k"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line", ["printf -v 'a[$(rm x)]' y", "test -v 'a[$(rm x)]'", "eval 'rm x'"]
)
def test_what_the_shell_itself_runs_is_allowed_whole_or_not_at_all(line: str) -> None:
    program = line.split()[0]
    with pytest.raises(ValueError, match="its whole line is needed"):
        pattern_of(f"bash({program} *)")
    assert allows(line, f"bash({line})")
    assert suggested_for_command(line) == f"bash({line})"


@pytest.mark.parametrize(
    ("command", "pattern"),
    [("pytest -q tests", "bash(pytest *)"), ("ls", "bash(ls *)"),
     ("git status --short", "bash(git status *)"), ("git -C /x push", "bash(git -C /x push)"),
     ("git grep x", "bash(git grep x)"), ("git log -1", "bash(git log -1)"),
     ("npm run build", "bash(npm run build)"), ("npm test", "bash(npm test)"),
     ("python -m pytest -q", "bash(python -m pytest *)"),
     ("python3.12 -m pytest -q", "bash(python3.12 -m pytest *)"),
     ("python -m timeit x", "bash(python -m timeit x)"),
     ("python3.12 x.py", "bash(python3.12 x.py)"), ("/usr/bin/env x", "bash(/usr/bin/env x)"),
     ("python -c 'print(1)'", "bash(python -c 'print(1)')"),
     ("make test 2>&1", "bash(make test 2>&1)"),
     ("rm -rf build", "bash(rm -rf build)"), ("rm build/*", ""),
     ("find . -name x", "bash(find . -name x)"), ("rm *", ""), ("a && b", ""), ("a > b", ""),
     ("a $(b)", ""), ("rm $X", ""), ("a `b`", ""), ("X=1 a", ""), ("", ""), ("a;", "bash(a *)"),
     ("sudo a", "bash(sudo a)"), ("'my tool' x", "bash('my tool' *)"),
     ("'it'\"'\"'s' x", "bash('it'\"'\"'s' *)"), ("ls *", ""), ("/opt/my tool", "bash(/opt/my *)")],
)  # fmt: skip
def test_the_pattern_that_is_suggested(command: str, pattern: str) -> None:
    assert suggested_for_command(command) == pattern
    if pattern:
        assert allows(command, pattern)


@pytest.mark.parametrize("line", ["rm -rf x", "python x.py", "sudo ls", "env ls", "find ."])
def test_what_may_do_anything_is_suggested_as_it_stands_only(line: str) -> None:
    assert not allows(f"{line} more", suggested_for_command(line))


def test_files_are_allowed_by_globs_from_the_workspace_on() -> None:
    source = [pattern_of("edit(src/**)")]
    assert allows_file(source, "src/a.py")
    assert allows_file(source, "src/deep/down/a.py")
    assert not allows_file(source, "tests/src/a.py")
    assert not allows_file(source, "srcs/a.py")
    assert allows_file([pattern_of("write(src/*.py)")], "src/a.py")
    assert not allows_file([pattern_of("edit(src/*.py)")], "src/b/a.py")
    assert allows_file([pattern_of("edit(README.md)")], "README.md")
    assert not allows_file([pattern_of("edit(README.md)")], "docs/README.md")
    assert allows_file([pattern_of("edit(**)")], "any/where.txt")
    assert not allows_file([pattern_of("bash(*)")], "src/a.py")


def test_the_folder_of_a_file_is_suggested() -> None:
    assert suggested_for_file("src/deep/a.py") == "edit(src/deep/**)"
    assert suggested_for_file("README.md") == "edit(README.md)"
    assert suggested_for_file("a[1]/x.py") == ""


@pytest.mark.parametrize(
    "text", ["", "pytest", "bash()", "bash(a; b)", "bash(a > b)", "edit(../x)", "edit(/etc/*)",
             "edit(~/x)", "read(x)", "bash(a", "bash(a * *)", "bash(rm build/*)", "bash($X *)"],
)  # fmt: skip
def test_what_is_no_pattern_says_so(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither|not one plain|from the workspace"):
        pattern_of(text)


class Person:
    """Answers what was written down, and remembers the questions."""

    def __init__(self, *answers: ApprovalAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[ApprovalRequest] = []
        self.at_once = 0
        self.most_at_once = 0

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        self.asked.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if cancel.cancelled:
            raise Cancelled
        return self.answers.pop(0)


class Kept:
    """An allow list in memory."""

    def __init__(self, *patterns: str) -> None:
        self.list = list(patterns)

    def patterns(self) -> Sequence[str]:
        return self.list

    def add(self, pattern: str) -> None:
        self.list.append(pattern)


def command(line: str, pattern: str | None = None) -> ApprovalRequest:
    pattern = suggested_for_command(line) if pattern is None else pattern
    call = ToolCall("c", "bash", {"command": line})
    return ApprovalRequest(call, "command", "Run", command=line, pattern=pattern)


def file(path: str) -> ApprovalRequest:
    call = ToolCall("c", "edit", {"path": path})
    return ApprovalRequest(call, "edit", "Edit", path=path, pattern=suggested_for_file(path))


def decide(approvals: Approvals, *requests: ApprovalRequest) -> list[ApprovalVerdict]:
    async def all_of_them() -> list[ApprovalVerdict]:
        cancel = CancelToken()
        return list(await asyncio.gather(*(approvals.decide(r, cancel) for r in requests)))

    return asyncio.run(all_of_them())


def test_once_means_once() -> None:
    person = Person(ApprovalAnswer("once"), ApprovalAnswer("once"))
    approvals = Approvals(approver=person)
    assert decide(approvals, command("pytest"))[0].allowed
    assert decide(approvals, command("pytest"))[0].allowed
    assert len(person.asked) == 2


def test_this_session_lets_later_ones_through_that_wait_already() -> None:
    person = Person(ApprovalAnswer("session"))
    approvals = Approvals(approver=person)
    verdicts = decide(approvals, command("pytest a"), command("pytest b"), command("pytest c"))
    assert [verdict.allowed for verdict in verdicts] == [True] * 3
    assert len(person.asked) == 1
    assert approvals.granted == ("bash(pytest *)",)


def test_questions_come_one_after_the_other() -> None:
    person = Person(*[ApprovalAnswer("once")] * 4)
    decide(Approvals(approver=person), *(command(f"make {n}") for n in range(4)))
    assert (len(person.asked), person.most_at_once) == (4, 1)


def test_this_session_without_a_pattern_is_the_same_line_again() -> None:
    person = Person(ApprovalAnswer("session"), ApprovalAnswer("deny"))
    approvals = Approvals(approver=person)
    assert decide(approvals, command("a && b"))[0].allowed
    assert decide(approvals, command("a && b"))[0].allowed
    assert not decide(approvals, command("a && c"))[0].allowed


def test_always_is_kept_and_holds_for_others() -> None:
    kept = Kept()
    person = Person(ApprovalAnswer("always", "edit(src/**)"))
    assert decide(Approvals(approver=person, always=kept), file("src/a.py"))[0].allowed
    assert kept.list == ["edit(src/**)"]
    assert decide(Approvals(always=kept), file("src/b/c.py"))[0].allowed
    assert not decide(Approvals(always=kept), file("tests/c.py"))[0].allowed


def test_a_pattern_that_is_none_allows_this_once_and_is_not_kept() -> None:
    kept = Kept("not a pattern")
    person = Person(ApprovalAnswer("always", "bash(a; b)"), ApprovalAnswer("deny"))
    approvals = Approvals(approver=person, always=kept)
    assert decide(approvals, command("pytest"))[0].allowed
    assert kept.list == ["not a pattern"]
    assert not decide(approvals, command("pytest"))[0].allowed


def test_a_refusal_tells_the_model_why() -> None:
    person = Person(ApprovalAnswer("deny", note="use the staging server"))
    [verdict] = decide(Approvals(approver=person), command("deploy"))
    assert not verdict.allowed
    assert "use the staging server" in verdict.reason


def test_the_modes() -> None:
    assert decide(Approvals("yes"), command("rm -rf x"))[0].allowed
    [refused] = decide(Approvals("read-only", ["bash(pytest *)"]), command("pytest"))
    assert "only tools that look" in refused.reason
    [alone] = decide(Approvals("ask"), command("pytest"))
    assert "nobody" in alone.reason
    assert decide(Approvals("ask", ["bash(pytest *)"]), command("pytest"))[0].allowed


def test_a_stop_while_it_asks_settles_all_that_waits() -> None:
    async def stopped() -> list[ApprovalVerdict]:
        cancel = CancelToken()
        approvals = Approvals(approver=Person())
        waiting = [
            asyncio.ensure_future(approvals.decide(command(f"make {n}"), cancel)) for n in range(3)
        ]
        await asyncio.sleep(0)
        cancel.cancel()
        return list(await asyncio.gather(*waiting))

    assert [verdict.allowed for verdict in asyncio.run(stopped())] == [False] * 3

"""Command lines of bash's whole grammar around plain cores: of those that patterns allow, a real
bash runs the programs and arguments that the reader saw and nothing else, and changes no file."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from explorer.agent.approval import allows_command, pattern_of, simple_commands
from explorer.agent.shell import shell_start
from tests.attacks.attack import Attack

LINES = 400
LEAST_ALLOWED = 0.1
"""Share of a round's lines; with fewer allowed, a round would try nothing."""
_TIMEOUT_S = 30
PROGRAMS = ("say", "pytest")
PATTERNS = [pattern_of(f"bash({program} *)") for program in PROGRAMS]
_STUB = """#!/bin/bash
printf '%s\\0' "${0##*/}" "$@" >"$RECORD/$$"
"""
"""Each run has a file: the parts of a pipeline run at the same time."""
_FILES = ("a.py", "b c.txt", "-rf", "x", "$(evil)", "tests/*.py")

_WORDS = (
    "a", "-q", "--version", "tests/x.py", "a=b", "A=1", "x:y", "@me", "100%", "+x", "1,2", "2",
    "evil", "if", "in", "done", "-", "--", "/dev/null", "''", '""', "'a b'", '"a b"', "a'b c'd",
    "'$(evil)'", "'`evil`'", "'a\\'", "'\\\\'", "'; evil'", '"; evil"', "'\n'", '"\nevil\n"',
    "'#'", '"#"', "'*'", '"*"', "'~'", '"~/x"', "'{a,b}'", '"{a,b}"', "'>PWNED'", '">PWNED"',
    "'\"'", '"\'"', "'!!'", "'é'", "'\u30bd'", "'\U0001f600'", "'\u0107\u0300'", "'\ufeff'",
    "'\u8868'\"x\"", "'\uff0c'", "'\t'", '"a"\'b\'c', "'<<E'", '"|"', "'&'", '"(x)"', "'[a-z]'",
)  # fmt: skip
_JOINTS = (
    " ; ",
    ";",
    "\n",
    " && ",
    "&&",
    " || ",
    "||",
    " | ",
    "|",
    "\n\n",
    " ;\n ",
    "|\n",
    "&& \n",
)
_QUIET = (" 2>&1", " >/dev/null", " 1>&2", " 2> /dev/null", "\t1>/dev/null", " >/dev/null 2>&1")
_EXPANSIONS = (
    "$X", "$HOME", "${X}", "${X:-$(evil)}", "${X:=y}", "${!X}", "${#X}", "${X@P}", "$$", "$?", "$!",
    "$@", "$*", "$#", "$-", "$0", "$1", "$_", "$[1+1]", "$['$(evil)']", "$[a[$(evil)]]", "$((1))",
    "$((a[$(evil)]))", "$(evil)", "$(evil", "$(<x)", "`evil`", "`", "<(evil)", ">(evil)",
    "${ evil; }",
    "${|evil;}", "{a,b}", "{1..3}", "a{b,}", "~", "~/x", "~+", "~root", "a=~", "*", "?", "*.py",
    "[a-z]", "[!a]", "-*", "@(a|x)", "!(a)", "+(x)", "!!", "!$", "!-1", "!evil", "^a^b", "$'a'",
    "$'\\x27; evil'", "$'\\n'", '$"a"', '$"$(evil)"', "$", "\\", "\\ ", "\\'", '\\"', "\\n", "\\$X",
    "\\\n", '"$X"', '"$(evil)"', '"`evil`"', '"\\$X"', '"\\""', '"a\\\nb"', '"!!"', '"$[1+1]"', "'",
    '"', "''", "'\\''", "a#b",
)  # fmt: skip
_REDIRECTIONS = (
    ">PWNED", "> PWNED", ">>PWNED", "2>PWNED", "&>PWNED", "&>>PWNED", ">&PWNED", ">|PWNED",
    "<>PWNED", "3>PWNED", "{fd}>PWNED", "1>&2PWNED", "2>&1PWNED", "2>&1/../PWNED", ">&2", "2>&-",
    "1>&-", "3>&1", "1>&2-", "<x", "< x", "0<x", "<&0", "<<E\nevil\nE\n", "<<-E\n\tE\n",
    "<<'E'\nE\n", "<<<x", "<<<$(evil)", "&>/dev/null", ">/dev/nullx", ">/dev/null/x",
    "> /dev/null/../../PWNED", ">  /dev/null", ">\n/dev/null", ">/dev/null>PWNED", "2>&1>PWNED",
    "1>&2\u2028", "2>&1\u3000/../PWNED", "1>&2\u3000/../../victim/keys", ">/dev/null\u00a0PWNED",
    ">/dev/tcp/127.0.0.1/1",
)  # fmt: skip
_SPLITS = ("&", " & ", " &\n", "|&", ";;", ";&", ";;&", "&&&", "|||", "; ;", "\r\n", "\r", "(", ")",
           "{", "}", "()", ";", "\n", "#", " # ", " #'\nevil '", "&& evil", "; evil", "\nevil",
           "| evil", "& evil")  # fmt: skip
_SIGNS = (
    *map(chr, range(1, 32)), "\x7f", "\x80", "\x85", "\xa0", "\xad", "\u1680", "\u180e", "\u2000",
    "\u2003", "\u200b", "\u200d", "\u2028", "\u2029", "\u202e", "\u202f", "\u205f", "\u3000",
    "\ufeff", "\uff04(evil)", "\uff1b evil", "\u037e evil", "\u2019", "\u02bb", "\udc80", "\udcff",
    "\udce3\udc80", "é", "\u30bd", "\U000e0001",
)  # fmt: skip
_FORMS = (
    "({})", "( {} )", "{{ {}; }}", "{{ {}\n}}", "f() {{ {}; }}; f", "say() {{ evil; }}; {}",
    "function say {{ evil; }}; {}", "coproc {}", "coproc X {{ {}; }}", "if {}; then evil; fi",
    "while {}; do evil; break; done", "until {}; do evil; done", "for X in 1; do {}; done",
    "for ((;;)); do {}; break; done", "select X in a; do {}; done", "case a in a) {};; esac",
    "[[ {} ]]", "[[ -v a[$(evil)] ]]; {}", "(( {} ))", "((a[$(evil)])); {}", "time {}",
    "time -p {}", "! {}", "X=1 {}", "X=$(evil) {}", "X+=1 {}", "X[$(evil)]=1 {}", "X=(1 2) {}",
    "PATH=. {}", "X=1; {}", "{} $X", "eval {}", "exec {}", "command {}", "builtin {}", ". x; {}",
    "alias say=evil\n{}", "shopt -s expand_aliases\nalias say=evil\n{}", "trap evil EXIT; {}",
    "set -k; {}", "hash -p /bin/evil say; {}", "printf -v 'a[$(evil)]' x; {}", "$(evil) {}",
    "`evil` {}", ">PWNED {}", "<x {}", "2>&1 {}", "{} \\\nevil", "{} &", "{} & evil", "{};;",
    "# {}", "{} # evil", "-x {}", "-- {}", "%1 {}", "~ {}", "* {}", "{{evil,{}}}", "'' {}",
    "<<E {}\nevil\nE", "{} <<E\n$(evil)\nE", "export X=1; {}", "cd tests; {}", "evil; {}",
    "{} && evil", "{} | evil", "\ufeff{}", "{}\0",
)  # fmt: skip


def line_of(random: Random) -> str:
    """A plain line, spoiled no time or some times, wherever it may be."""
    line = _command(random)
    for _ in range(random.choice((0, 0, 1, 2))):
        line += random.choice(_JOINTS) + _command(random)
    for _ in range(random.choice((0, 0, 0, 1, 1, 1, 2, 3))):
        line = _spoiled(random, line)
    return line


def _command(random: Random) -> str:
    words = random.choices(_WORDS, k=random.randrange(4))
    line = random.choice((" ", " ", "\t", "  ")).join([random.choice(PROGRAMS), *words])
    return line + random.choice((*_QUIET, *[""] * 18))


def _spoiled(random: Random, line: str) -> str:
    kind = random.randrange(10)
    if kind == 0:
        return random.choice(_FORMS).replace("{}", line).replace("{{", "{").replace("}}", "}")
    if kind == 1 and line:
        at = random.randrange(len(line))
        return line[:at] + line[at + 1 :]
    part = random.choice(random.choice((_EXPANSIONS, _REDIRECTIONS, _SPLITS, _SIGNS)))
    blanks = [at for at, sign in enumerate(line) if sign in " \t\n"]
    at = random.choice([*blanks, len(line)]) if kind < 7 else random.randrange(len(line) + 1)
    return line[:at] + random.choice(("", " ")) + part + line[at:]


class _Sandbox:
    """A folder with files for what a shell might expand, and programs that record how they run."""

    def __init__(self, folder: Path, locale: str) -> None:
        self._tree = folder / "tree"
        self._work = self._tree / "project" / "work"
        self._record = folder / "record"
        names = folder / "names"
        for made in (self._work / "tests", self._tree / "victim", names, self._record):
            made.mkdir(parents=True)
        for name in _FILES:
            (self._work / name).write_text("evil\n")
        for name in (*PROGRAMS, "evil"):
            (names / name).write_text(_STUB)
            (names / name).chmod(0o755)
        self._environment = {"PATH": str(names), "RECORD": str(self._record), "LC_ALL": locale}
        self._before = self._files()

    def _files(self) -> list[tuple[str, int, int]]:
        found = [(path, path.stat()) for path in sorted(self._tree.rglob("*"))]
        return [(str(path), stat.st_mtime_ns, stat.st_size) for path, stat in found]

    def run(self, line: str) -> tuple[list[list[str]], str]:
        """What was run, and which promise about files was broken."""
        subprocess.run(
            [*shell_start(), line], cwd=self._work, env=self._environment,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        ran = []
        for record in self._record.iterdir():
            parts = record.read_bytes().decode("utf-8", "surrogateescape").split("\0")
            ran.append(parts[:-1])
            record.unlink()
        after = self._files()
        changed = sorted({str(one) for one in set(after) ^ set(self._before)})
        self._before = after
        return ran, ", ".join(changed)


def _broken(line: str, sandbox: _Sandbox) -> str:
    """Which promise an allowed line breaks; empty where none."""
    commands = simple_commands(line) or []
    ran, changed = sandbox.run(line)
    if changed:
        return f"changed files: {changed}"
    seen, real = Counter(map(tuple, commands)), Counter(map(tuple, ran))
    if real - seen:
        return f"ran {ran} where {commands} was seen"
    if not ran or (seen != real and "||" not in line):
        return f"ran only {ran} of {commands}"
    return ""


def _round(random: Random, folder: Path) -> Iterator[str]:
    sandbox = _Sandbox(folder, random.choice(("C", "C.UTF-8", "")))
    allowed = 0
    for _ in range(LINES):
        line = line_of(random)
        if allows_command(PATTERNS, line):
            allowed += 1
            if broken := _broken(line, sandbox):
                yield f"{line!r} {broken}"
    if allowed < LINES * LEAST_ALLOWED:
        yield f"only {allowed} of {LINES} lines were allowed: too few to try anything"


COMMANDS = Attack("commands", _round, test_rounds=2)

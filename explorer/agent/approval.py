"""Permission: what a tool may do without asking, and the question to the person otherwise.

A pattern names what is allowed without a question: ``bash(pytest *)`` a command by its first
words, ``edit(src/**)`` the files below a folder. Only a person can allow. A ``*`` at the end of a
command's pattern stands for whatever follows. A line with several commands is allowed when each of
them is; one that is not proved plain never is. A file's pattern is a glob from the workspace on;
what ``is_protected`` names is never allowed by one.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from explorer.agent.tools.port import ToolError
from explorer.agent.tools.read_only import glob_of
from explorer.models.events import Cancelled, CancelToken
from explorer.models.request import ToolCall
from explorer.session.late_pattern import late_pattern

_FORM = late_pattern(r"(bash|edit|write)\((.*)\)", re.DOTALL)
_PROTECTED = frozenset({
    # Hooks that git runs, and settings that name programs for it to run.
    ".git", ".gitconfig", ".husky", ".githooks",
    # What this program and other agents may do without asking, and what they run by themselves.
    ".session-explorer", "session-explorer", ".claude", ".codex", ".cursor", ".gemini", ".pi",
    ".mcp.json",
    # What an editor runs when it opens the folder.
    ".vscode", ".idea",
    # What a shell or a login obeys, where the folder is a home.
    ".envrc", ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".zshenv",
    ".zprofile", ".zshrc", ".zlogin", ".ssh", ".config", ".local", "launchagents",
})  # fmt: skip
"""Names by which a session can outlive its permission: what stands there is run or obeyed later,
without anybody deciding to run the project."""
_SHELL = frozenset({
    ".", "[", "alias", "bind", "builtin", "command", "compgen", "complete", "compopt", "declare",
    "enable", "eval", "exec", "export", "fc", "getopts", "hash", "history", "jobs", "let", "local",
    "mapfile", "printf", "read", "readarray", "readonly", "set", "shopt", "source", "test", "trap",
    "typeset", "unset", "wait",
})  # fmt: skip
"""Commands of the shell itself that run what their arguments say, quoted or not, or change what
later words mean: ``printf -v 'a[$(rm x)]' y``."""
_NO_PREFIX = _SHELL | {
    # Other shells and languages.
    "sh", "bash", "zsh", "dash", "ash", "ksh", "csh", "tcsh", "fish", "pwsh", "powershell", "cmd",
    "python", "pypy", "ipython", "node", "deno", "bun", "perl", "ruby", "irb", "php", "lua", "r",
    "rscript", "julia", "java", "groovy", "scala", "elixir", "erl", "ghci", "swift", "tclsh",
    "expect", "osascript", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "sqlite", "psql", "mysql",
    # What runs the program that its arguments name.
    "env", "sudo", "doas", "su", "xargs", "find", "fd", "parallel", "nohup", "setsid", "nice",
    "ionice", "timeout", "stdbuf", "watch", "entr", "script", "strace", "gdb", "flock", "taskset",
    "chroot", "unshare", "nsenter", "busybox", "tmux", "screen", "ssh", "scp", "sftp", "rsync",
    "nc", "socat", "at", "crontab", "systemd-run", "npx", "uvx", "pipx", "pre-commit", "rg", "tar",
    "zip", "sort", "split", "man", "less", "more", "vi", "vim", "nvim", "ed", "emacs", "nano",
    # What builds by a recipe, which an argument can choose or replace.
    "npm", "pnpm", "yarn", "cargo", "go", "gofmt", "pip", "uv", "poetry", "hatch", "nox", "tox",
    "make", "gmake", "cmake", "ninja", "just", "task", "gcc", "cc", "clang", "docker", "podman",
    "kubectl", "helm", "terraform", "gh", "dotnet", "gradle", "gradlew", "mvn", "mvnw", "bundle",
    "rake", "rails", "mix", "apt", "apt-get", "brew",
    # What writes, sends or ends something.
    "rm", "mv", "cp", "dd", "install", "tee", "truncate", "chmod", "chown", "ln", "curl", "wget",
    "kill", "pkill", "killall", "openssl", "xdg-open", "open",
}  # fmt: skip
"""What may do anything at all with its arguments: only the whole command is suggested."""
_GIT_PREFIX = frozenset({
    "add", "blame", "branch", "checkout", "commit", "describe", "ls-files", "merge-base", "mv",
    "restore", "rev-parse", "rm", "status", "switch",
})  # fmt: skip
"""What git does without an option that runs a program or names a file to write anywhere, as
``git grep -O``, ``git fetch --upload-pack`` and ``git log --output`` have."""
_MODULES = frozenset({"mypy", "pytest", "ruff", "unittest"})
"""Modules of which ``python -m`` does no more than the program of that name."""


class Pattern(Struct, frozen=True):
    """One pattern that was understood."""

    kind: Literal["command", "file"]
    body: str

    def __str__(self) -> str:
        return f"{'bash' if self.kind == 'command' else 'edit'}({self.body})"


def pattern_of(text: str) -> Pattern:
    """Understand a pattern as ``agent.allow`` spells it. Raises ValueError that says why not."""
    form = _FORM.fullmatch(text.strip())
    body = form.group(2).strip() if form else ""
    if form is None or not body:
        raise ValueError(f"{text!r} is neither bash(COMMAND) nor edit(FILES)")
    if form.group(1) == "bash":
        if body != "*":
            _check_command(text, body)
        return Pattern("command", body)
    if body.startswith(("/", "~")) or ".." in body.split("/"):
        raise ValueError(f"{text!r}: files are named from the workspace on")
    try:
        glob_of(body)
    except ToolError as error:
        raise ValueError(str(error)) from error
    return Pattern("file", body)


def allows_command(patterns: Iterable[Pattern], command: str) -> bool:
    """Whether every command of a line is allowed by some pattern."""
    commands = simple_commands(command)
    if not commands:
        return False
    bodies = [pattern.body for pattern in patterns if pattern.kind == "command"]
    return all(any(_meets(words, body) for body in bodies) for words in commands)


def allows_file(patterns: Iterable[Pattern], path: str) -> bool:
    """Whether a file, named from the workspace on, is allowed by some pattern."""
    if is_protected(path):
        return False
    return any(_covers(pattern.body, path) for pattern in patterns if pattern.kind == "file")


def is_protected(path: str, root: Path | None = None) -> bool:
    """Whether a file, named from the workspace on with its links resolved, is one by which a
    session could outlive its permission. No pattern and no mode allows to write it, only the
    answer of a person to that question.

    ``root``: the workspace, to look there for folders that are git's under another name, as a
    ``.git`` that is a file names one. What a command does to such files is not seen by this:
    commands are not confined to any path.
    """
    parts = path.split("/")
    if any(_is_protected_name(part) for part in parts):
        return True
    return root is not None and any(
        _is_git_folder(root.joinpath(*parts[:depth]), parts[depth]) for depth in range(len(parts))
    )


def _is_protected_name(name: str) -> bool:
    """Also as a file system may spell it that looks past case, signs that are not seen, dots at
    the end and streams, or that shortens names."""
    seen = "".join(sign for sign in name if unicodedata.category(sign) != "Cf")
    plain = unicodedata.normalize("NFKC", seen).casefold().split(":")[0].rstrip(". ")
    short, is_short, _ = plain.partition("~")
    known = {one[1:7] for one in _PROTECTED} if is_short else _PROTECTED
    return (short if is_short else plain) in known


def _is_git_folder(folder: Path, added: str) -> bool:
    """Whether git takes a folder for a repository once there is something of that name in it."""

    def has(name: str) -> bool:
        return added == name or (folder / name).exists()

    return has("HEAD") and (has("commondir") or (has("objects") and has("refs")))


def suggested_for_command(command: str) -> str:
    """A pattern that allows a command line and others like it; empty where there is none."""
    commands = simple_commands(command)
    line = command.strip()
    if not commands or len(commands) > 1 or "\n" in line:
        return ""
    words = commands[0]
    first = _first_words(words)
    return _checked(f"bash({shlex.join(words[:first])} *)" if first else f"bash({line})")


def _first_words(words: list[str]) -> int:
    """How many words tell what a command does; 0 where only all of them do."""
    program = words[0].rsplit("/", 1)[-1].lower().rstrip("0123456789.") or words[0]
    second = words[1] if len(words) > 1 else ""
    if program == "python" and second == "-m" and len(words) > 2:
        return 3 if words[2] in _MODULES else 0
    if program == "git":
        return 2 if second in _GIT_PREFIX else 0
    return 0 if program in _NO_PREFIX else 1


def suggested_for_file(path: str) -> str:
    """A pattern that allows a file and those of its folder; empty where none can."""
    if is_protected(path):
        return ""
    folder, slash, name = path.rpartition("/")
    body = f"{folder}/**" if slash else name
    # Signs that mean something in a glob would allow other files than are shown.
    return "" if any(sign in folder + name for sign in "*?[]{}") else f"edit({body})"


def _covers(body: str, path: str) -> bool:
    glob = glob_of(body)
    # A glob without a slash is a name at the top here: it must not allow the name everywhere.
    return ("/" not in path or "/" in body or body == "**") and glob.matches(path)


def _check_command(text: str, body: str) -> None:
    """Raises ValueError for what is not one plain command, or has an open end that runs more."""
    words = _words(body.removesuffix(" *"))
    if words is None:
        raise ValueError(f"{text!r}: {body!r} is not one plain command")
    if body.endswith(" *") and words[0] in _SHELL:
        raise ValueError(f"{text!r}: {words[0]} runs what it is given, so its whole line is needed")


def _words(body: str) -> list[str] | None:
    commands = simple_commands(body)
    return commands[0] if commands is not None and len(commands) == 1 else None


def _meets(words: list[str], body: str) -> bool:
    if body == "*":
        return True
    first = _words(body.removesuffix(" *"))
    if first is None:
        return False
    return words[: len(first)] == first if body.endswith(" *") else words == first


def _checked(pattern: str) -> str:
    try:
        pattern_of(pattern)
    except ValueError:
        return ""
    return pattern


_BARE = r"[A-Za-z0-9_@%+=:,./-]"
"""What no shell gives a meaning to, wherever in a word it stands."""
_SINGLE = r"'[\t\n -&(-~\u00a1-\u2027\u2030-\ud7ff\ue000-\U0010ffff]*'"
"""No control signs; other characters than ASCII only here, since in some encodings one of their
bytes is that of a backslash, which double quotes give a meaning to, but never that of a quote."""
_DOUBLE = r'"[\t\n #%-\[\]-_a-~]*"'
_WORD = rf"(?:{_BARE}|{_SINGLE}|{_DOUBLE})+"
_REDIRECTION = r"(?:[12]?> ?/dev/null|2>&1|1>&2)"
_COMMAND = rf"{_WORD}(?:[ \t]+(?:{_REDIRECTION}|{_WORD}))*"
_SEPARATOR = r"(?:&&|\|\|?|;|\n)"
_LINE = late_pattern(rf"{_COMMAND}(?:[ \t]*{_SEPARATOR}[ \t\n]*{_COMMAND})*(?:[ \t]*;)?")
_TOKEN = late_pattern(rf"({_SEPARATOR})|{_REDIRECTION}|({_WORD})")
_PIECE = late_pattern(rf"{_BARE}+|{_SINGLE}|{_DOUBLE}")
_RESERVED = frozenset({
    "if", "then", "elif", "else", "fi", "for", "in", "select", "while", "until", "do", "done",
    "case", "esac", "function", "time", "coproc",
})  # fmt: skip


def simple_commands(line: str) -> list[list[str]] | None:
    """The words of each command of a line, without their quotes; None where it is not plain."""
    line = line.strip(" \t\n")
    if not _LINE.fullmatch(line):
        return None
    commands: list[list[str]] = [[]]
    for separator, word in _TOKEN.findall(line):
        if separator:
            commands.append([])
        elif word:
            commands[-1].append(_unquoted(word))
    found = [words for words in commands if words]
    return found if all(_is_program(words[0]) for words in found) else None


def _unquoted(word: str) -> str:
    pieces = _PIECE.findall(word)
    return "".join(piece[1:-1] if piece[0] in "'\"" else piece for piece in pieces)


def _is_program(word: str) -> bool:
    """Whether a first word names a program: no assignment, option, job or word of the grammar."""
    return "=" not in word and word[:1] not in ("-", "+", "%", "") and word not in _RESERVED


ApprovalMode = Literal["ask", "read-only", "yes"]
"""``ask`` the person first; ``read-only`` offers no tool that changes things; ``yes`` to all but
the files of ``is_protected``. A command may change those too where ``yes`` or a pattern lets it
run: commands are not confined to any path."""
ApprovalKind = Literal["write", "edit", "command"]
ApprovalChoice = Literal["once", "session", "always", "deny"]


class ApprovalRequest(Struct, frozen=True):
    """A question to the person: may this call do what it is about to do?"""

    call: ToolCall
    kind: ApprovalKind
    title: str
    """What is asked, as a sentence without a full stop."""
    path: str = ""
    """The file that changes, relative to the workspace; empty for a command."""
    diff: str = ""
    """What changes in it, as a unified diff; empty for a command."""
    command: str = ""
    """The command line; empty for a file."""
    folder: str = ""
    """The folder that a command starts in, and that a file lies below: the workspace."""
    pattern: str = ""
    """What ``session`` and ``always`` would allow from now on, as ``agent.allow`` spells it;
    empty where only this one call can be allowed."""
    notice: str = ""
    """Warnings to show before the user decides, as sentences."""
    protected: bool = False
    """Whether only an answer about this very file allows it: no mode and no pattern does."""


class ApprovalAnswer(Struct, frozen=True):
    """The user's decision. ``session`` and ``always`` allow ``pattern``, or the request's where
    that is empty; one that ``pattern_of`` does not understand allows this one call. ``note`` tells
    the model why it was denied."""

    choice: ApprovalChoice
    pattern: str = ""
    note: str = ""


class Approver(Protocol):
    """Asks the person; questions come one after the other."""

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """The answer. Raises Cancelled when the turn is stopped while it waits."""


class AllowList(Protocol):
    """Where patterns are kept that are always allowed."""

    def patterns(self) -> Sequence[str]:
        """The patterns that apply now."""

    def add(self, pattern: str) -> None:
        """Keep one more. Who keeps it tells the person when that fails; nothing is raised, and
        it holds for this session all the same."""


class ApprovalVerdict(Struct, frozen=True):
    """Whether a call may run; ``reason`` tells the model why not."""

    allowed: bool
    reason: str = ""


class NoAllowList:
    """An allow list that is empty and stores nothing."""

    def patterns(self) -> Sequence[str]:
        return ()

    def add(self, pattern: str) -> None:
        return None


class Approvals:
    """Decides what may run: by the mode, by what was allowed, by asking. Lives as long as the
    session is open, so that ``this session`` means it. Used on one loop."""

    def __init__(
        self,
        mode: ApprovalMode = "ask",
        granted: Iterable[str] = (),
        always: AllowList | None = None,
        approver: Approver | None = None,
    ) -> None:
        """``granted``: patterns for this session alone. Raises ValueError for one that is none."""
        self.mode: ApprovalMode = mode
        self.approver = approver
        self._granted = [pattern_of(text) for text in granted]
        self._always: AllowList = always or NoAllowList()
        self._same: set[tuple[str, str]] = set()
        self._asking = asyncio.Lock()

    @property
    def granted(self) -> tuple[str, ...]:
        """The patterns that are allowed in this session."""
        return tuple(str(pattern) for pattern in self._granted)

    async def decide(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalVerdict:
        """Whether it may run. Asks where nothing else decides, one question at a time."""
        if verdict := self._known(request):
            return verdict
        async with self._asking:
            # The answer to the question before may have settled this one.
            if verdict := self._known(request):
                return verdict
            if cancel.cancelled:
                return ApprovalVerdict(False, "stopped by the person before it ran")
            if self.approver is None:
                return ApprovalVerdict(
                    False, f"nobody is there to allow it; nothing was done{_why(request)}"
                )
            try:
                answer = await self.approver.ask(request, cancel)
            except Cancelled:
                return ApprovalVerdict(False, "stopped by the person before it ran")
            return self._taken(request, answer)

    def _known(self, request: ApprovalRequest) -> ApprovalVerdict | None:
        if self.mode == "read-only":
            return ApprovalVerdict(False, "only tools that look may be used now; nothing was done")
        if _sameness(request) in self._same:
            return ApprovalVerdict(True)
        if not request.protected and (self.mode == "yes" or self._is_allowed(request)):
            return ApprovalVerdict(True)
        return None

    def _is_allowed(self, request: ApprovalRequest) -> bool:
        patterns = [*self._granted, *_understood(self._always.patterns())]
        if request.kind == "command":
            return allows_command(patterns, request.command)
        return allows_file(patterns, request.path)

    def _taken(self, request: ApprovalRequest, answer: ApprovalAnswer) -> ApprovalVerdict:
        if answer.choice == "deny":
            reason = f"the person did not allow it; nothing was done{_why(request)}"
            return ApprovalVerdict(
                False, f"{reason}. They say: {answer.note}" if answer.note else reason
            )
        text = (answer.pattern or request.pattern).strip()
        known = _understood([text])
        if answer.choice in ("session", "always") and known:
            self._granted += known
            if answer.choice == "always":
                self._always.add(text)
        elif answer.choice == "session" and not text:
            self._same.add(_sameness(request))
        return ApprovalVerdict(True)


def _why(request: ApprovalRequest) -> str:
    """Why it was asked about although everything else is allowed; empty where it is as usual."""
    if not request.protected:
        return ""
    return f". {request.path} is changed only when a person allows just that, in every mode"


def _sameness(request: ApprovalRequest) -> tuple[str, str]:
    """What makes a request the same as another where no pattern speaks of it."""
    if request.kind == "command":
        return ("command", request.command)
    return ("file", request.path)


def _understood(patterns: Iterable[str]) -> list[Pattern]:
    """Kept patterns that are some; one that was spoiled by hand allows nothing."""
    found = []
    for text in patterns:
        try:
            found.append(pattern_of(text))
        except ValueError:
            continue
    return found

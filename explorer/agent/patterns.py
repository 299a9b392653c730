"""What is allowed without a question: ``bash(pytest *)`` and ``edit(src/**)``.

A command's pattern is its first words; a ``*`` at its end stands for whatever follows. A line with
several commands is allowed when each of them is; one that writes by redirection, or is not
understood for certain, never is. A file's pattern is a glob from the workspace on; what git and
this program keep for themselves is never allowed by one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from explorer.agent.command_line import BECOMES_FILES, PUT_IN, simple_commands
from explorer.agent.tools.arguments import ToolError
from explorer.agent.tools.globs import glob_of

_FORM = re.compile(r"(bash|edit|write)\((.*)\)", re.DOTALL)
_KEPT_APART = frozenset({".git", ".session-explorer"})
_TWO_WORDS = frozenset({
    "git", "npm", "pnpm", "yarn", "cargo", "go", "pip", "pip3", "uv", "poetry", "make", "docker",
    "kubectl", "gh", "dotnet", "gradle", "mvn", "bundle", "rails", "mix", "deno", "bun", "just",
    "hatch", "nox", "tox", "apt", "brew",
})  # fmt: skip
"""Programs whose first argument says what they do."""
_NO_PREFIX = frozenset({
    "sh", "bash", "zsh", "dash", "fish", "python", "python3", "node", "perl", "ruby", "php", "lua",
    "env", "sudo", "doas", "su", "xargs", "find", "exec", "eval", "source", ".", "command",
    "builtin", "nohup", "setsid", "nice", "time", "timeout", "watch", "ssh", "awk", "sed", "rm",
    "mv", "cp", "dd", "chmod", "chown", "ln", "curl", "wget", "tee", "kill", "pkill", "killall",
    "npx", "uvx", "pipx", "!", "{", "if", "for", "while", "until", "case", "do", "then", "else",
    "trap", "test", "[", "[[", "let", "export", "set", "alias", "unset", "declare",
})  # fmt: skip
"""What may do anything at all with its arguments: only the whole command can be allowed."""
_RUN_ANYTHING = frozenset(
    {"run", "exec", "x", "dlx", "config", "filter-branch", "bisect", "rebase"}
)


@dataclass(frozen=True, slots=True)
class Pattern:
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
        if body != "*" and _words(body) is None:
            raise ValueError(f"{text!r}: {body!r} is not one plain command")
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
    if is_kept_apart(path):
        return False
    return any(_covers(pattern.body, path) for pattern in patterns if pattern.kind == "file")


def is_kept_apart(path: str) -> bool:
    """Whether a file is one that no pattern speaks of: git runs hooks that it keeps, and the
    project's settings say what is allowed without asking."""
    return not _KEPT_APART.isdisjoint(path.lower().split("/"))


def suggested_for_command(command: str) -> str:
    """A pattern that allows a command line and others like it; empty where there is none."""
    commands = simple_commands(command)
    line = command.strip()
    if not commands or len(commands) > 1 or "\n" in line or PUT_IN in "".join(commands[0]):
        return ""
    words = commands[0]
    first = _first_words(words)
    if first and not any(BECOMES_FILES in word for word in words[:first]):
        return _checked(f"bash({shlex.join(words[:first])} *)")
    # An open end that the shell would fill in is none that was meant.
    return "" if line.endswith(" *") else _checked(f"bash({line})")


def _first_words(words: list[str]) -> int:
    """How many words tell what a command does; 0 where only all of them do."""
    program = words[0].rsplit("/", 1)[-1]
    if program in ("python", "python3") and words[1:2] == ["-m"] and len(words) > 2:
        return 3
    if program in _NO_PREFIX:
        return 0
    if program not in _TWO_WORDS:
        return 1
    tells = len(words) > 1 and not words[1].startswith("-") and words[1] not in _RUN_ANYTHING
    return 2 if tells else 0


def suggested_for_file(path: str) -> str:
    """A pattern that allows a file and those of its folder; empty where none can."""
    if is_kept_apart(path):
        return ""
    folder, slash, name = path.rpartition("/")
    body = f"{folder}/**" if slash else name
    # Signs that mean something in a glob would allow other files than are told.
    return "" if any(sign in folder + name for sign in "*?[]{}") else f"edit({body})"


def _covers(body: str, path: str) -> bool:
    glob = glob_of(body)
    # A glob without a slash is a name at the top here: it must not allow the name everywhere.
    return ("/" not in path or "/" in body or body == "**") and glob.matches(path)


def _words(body: str) -> list[str] | None:
    commands = simple_commands(body)
    return commands[0] if commands is not None and len(commands) == 1 else None


def _meets(words: list[str], body: str) -> bool:
    if body == "*":
        return True
    pattern = _words(body)
    if pattern is None:
        return False
    if body.endswith(" *"):
        first = pattern[:-1]
        return words[: len(first)] == first
    return words == pattern


def _checked(pattern: str) -> str:
    try:
        pattern_of(pattern)
    except ValueError:
        return ""
    return pattern

"""Finding command lines in prose: in backticks, in shell blocks, inside sentences."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from explorer.facts.text import TextRanges, word_set
from explorer.session.late_pattern import late_pattern

HEADS = word_set(
    """
    npm npx pnpm yarn bun deno node pytest python python3 py pip pip3 pipx uv uvx poetry hatch
    tox nox ruff mypy black cargo rustc rustup go gofmt make cmake ctest ninja bazel meson
    docker docker-compose podman kubectl helm terraform tofu ansible ansible-playbook vagrant
    git gh glab svn hg curl wget psql mysql sqlite3 redis-cli mongosh mvn gradle sbt bundle
    rails rake rspec gem php composer dotnet nuget msbuild mix iex bash sh zsh ssh scp rsync
    systemctl journalctl tsc eslint prettier jest vitest playwright vite turbo nx alembic
    flask gunicorn uvicorn celery swift xcodebuild pod fastlane flutter dart adb java javac
    kotlinc lein stack cabal opam dune zig julia perl ruby aws gcloud az heroku terraform
    pulumi vault jq sed awk grep rg find xargs tar unzip chmod chown ln mkdir cp mv rm cat
    tail head ls du df ps kill lsof openssl gpg crontab export sudo apt apt-get brew yum dnf
    apk conda streamlit protoc pre-commit valgrind gdb lldb cdb nvidia-smi ffmpeg convert
    usermod modprobe dmesg powershell pwsh Get-Content Set-Content Remove-Item Get-ChildItem
    Invoke-WebRequest winget choco idf.py platformio pio west openocd picocom esptool.py
    latexmk pdflatex
    """
)
_ALSO_ENGLISH = word_set(
    """
    go make node find head tail cat export convert stack bundle pod mix dart swift java flask
    celery vault black turbo python ruby julia git docker kill perl rake zig dune west bash sh
    rails gem helm cargo gradle bun deno sudo jest vite sed
    """
)
_WITHOUT_SUBCOMMANDS = word_set(
    """
    kill find head tail cat export convert grep rg sed awk jq xargs tar unzip chmod chown ln mkdir
    cp mv rm ls du df ps sudo sh bash zsh perl python ruby node java julia
    """
)
"""Of what their argument means, a word alone tells nothing: "kill switch"."""
_DETERMINERS = word_set(
    "a an the this that these those it them him her my our your his their its each every both sure "
    "in of up us me"
)
_SUBCOMMANDS = word_set(
    """
    test build run vet fmt mod generate install add commit push pull rebase merge checkout
    switch fetch clone status log diff stash reset tag branch bisect cherry-pick revert
    compose exec logs ps up down lint check clean all deploy bench clippy doc release migrate
    seed dev start tidy publish
    """
)
_BACKTICKS = late_pattern(r"(?<!`)`([^`\n]{2,300})`(?!`)")
_FENCE = late_pattern(r"^[ \t]*(```|~~~)([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.M | re.S)
_SHELLS = frozenset(("sh", "bash", "shell", "console", "zsh", "powershell", "ps1", "cmd", "fish"))
_PROMPT = late_pattern(r"^[ \t]*(?:\$|>|PS [^>\n]*>|[A-Z]:\\[^>\n]*>)[ \t]+(?=\S)", re.M)
_WORD = late_pattern(r"\S+")
_ARGUMENT = late_pattern(r"^(?:-{1,2}\S+|[\w./@:=~*\[\]{}$+%\"'|&>\\,^<;-]+)$")
_ENDING = late_pattern(r"[.,;:!?)\]]+$")
_TELLING = late_pattern(
    r"^[\W\d_]*+[^\W\d_].*[-/._=:@*]|^[^-/._=:@*$]*+[-/._=:@*$].*[^\W\d_]|^\.$|^-"
)
_MOST = 60
"""Words of a command in prose; more are not looked at."""
_QUOTED = 10
"""Words after an opening quotation mark among which the closing one is looked for."""
_STOP = word_set(
    """
    and or then to before after so because when if with for on is was are once which that but
    until while instead every here there now as since it your our fails failed passes passed
    works locally please will must should also always at can against by does took takes gives
    gave prints exits has had have says show see returns returned reports shows again first in
    not only yet still where who
    """
)


def fences(text: str) -> list[tuple[int, int, str]]:
    """The fenced code blocks of a text: start, end and language in lower case."""
    if "```" not in text and "~~~" not in text:
        return []
    return [(m.start(), m.end(), m.group(2).lower()) for m in _FENCE.finditer(text)]


def is_command(text: str) -> bool:
    """Whether a text that is set as code is a command line."""
    words = text.split()
    while words and re.match(r"^[A-Z_][A-Z0-9_]*=\S*$", words[0]):
        words = words[1:]
    if len(words) < 2:
        return False
    head = words[0]
    if head.startswith(("./", ".\\", "~/")) or head.lower().endswith((".exe", ".bat", ".sh")):
        return True
    if head.rsplit("/", 1)[-1] not in HEADS:
        return re.match(r"^[a-z][\w./-]*$", head) is not None and " --" in text
    return (
        head not in _ALSO_ENGLISH
        or _has_subcommand(head, words[1])
        or not all(w.isalpha() for w in words[1:])
    )


def _has_subcommand(head: str, word: str) -> bool:
    return word in _SUBCOMMANDS and head not in _WITHOUT_SUBCOMMANDS


def is_whole(command: str) -> bool:
    """Whether a command ends with its line, and not in a quotation or at a joined line."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True


def command_lines(
    text: str, words: frozenset[str], blocks: list[tuple[int, int, str]]
) -> Iterator[tuple[int, int]]:
    """The ranges of command lines in a message, in characters; ``words``: its different words,
    ``blocks``: its ``fences``."""
    fenced = TextRanges((start, end) for start, end, _ in blocks)
    for start, end, language in blocks:
        yield from _in_block(text, start, end, language in _SHELLS)
    for match in _BACKTICKS.finditer(text) if "`" in text else ():
        if match.start() not in fenced and is_command(match.group(1)):
            yield match.start(1), match.end(1)
    if not HEADS.isdisjoint(words):
        yield from _in_prose(text, fenced)


def _in_block(text: str, start: int, end: int, is_shell: bool) -> Iterator[tuple[int, int]]:
    at = start
    for line in text[start:end].split("\n"):
        prompt = _PROMPT.match(line)
        body = line[prompt.end() :] if prompt else line.lstrip()
        begin = at + len(line) - len(body)
        at += len(line) + 1
        body = body.rstrip()
        if (prompt or is_shell) and is_command(body):
            yield begin, begin + len(body)


def _in_prose(text: str, fenced: TextRanges) -> Iterator[tuple[int, int]]:
    words = list(_WORD.finditer(text))
    stop = 0
    for index, word in enumerate(words):
        if index < stop or word.group() not in HEADS or word.start() in fenced:
            continue
        stop = _command_end(text, words, index)
        if stop > index:
            end = words[stop - 1].end()
            yield word.start(), end - len(_closing(text[word.start() : end]))


def _closing(text: str) -> str:
    found = _ENDING.search(text)
    return found.group() if found else ""


class _Argument(NamedTuple):
    bare: str
    may_be: bool
    is_telling: bool
    quote: str
    """The quotation mark that it opens and does not close; empty without one."""


@lru_cache(maxsize=4096)
def _argument(word: str) -> _Argument:
    bare = _ENDING.sub("", word)
    may_be = _ARGUMENT.match(bare) is not None and word.lower() not in _STOP
    quote = word[0] if word[0] in "\"'" and word.count(word[0]) == 1 else ""
    return _Argument(bare, may_be, _TELLING.search(bare) is not None, quote)


def _is_determiner(words: list[re.Match[str]]) -> bool:
    return any(word.group().strip("*_\"'").lower() in _DETERMINERS for word in words)


def _command_end(text: str, words: list[re.Match[str]], head: int) -> int:
    """Index of the first word after the command that starts at word ``head``; ``head`` itself if
    none does."""
    end = head + 1
    program = words[head].group()
    if program in _ALSO_ENGLISH and _is_determiner(words[end : end + 1]):
        return head
    most = min(len(words), head + _MOST)
    while end < most and "\n" not in text[words[end - 1].end() : words[end].start()]:
        argument = _argument(words[end].group())
        if not argument.may_be:
            break
        end += 1
        if argument.quote:
            rest = range(end, min(end + _QUOTED, len(words)))
            end = next((at + 1 for at in rest if argument.quote in words[at].group()), end)
        elif argument.bare != words[end - 1].group():
            break
    telling = [at for at in range(head + 1, end) if _argument(words[at].group()).is_telling]
    if telling:
        return telling[-1] + 1
    if end == head + 1:
        return head
    # Other words alone say something about the program: "aws list", "mypy settings".
    return head + 2 if _has_subcommand(program, _argument(words[head + 1].group()).bare) else head

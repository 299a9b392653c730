"""What a shell command does to files, as far as its words tell: read, searched, looked, changed.

Only what is plain is understood. A command with a here-document, an unbalanced quote or a program
that is not known may do anything, and is a run of a program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum, auto
from itertools import pairwise
from typing import NamedTuple

from explorer.session.late_pattern import late_pattern


class ShellWork(IntEnum):
    """What a command is for; the larger, the more it may do."""

    READ = auto()
    """Prints parts of files, and nothing else but words of its own between them."""
    SEARCH = auto()
    LIST = auto()
    LOOK = auto()
    """Prints what is there otherwise: one commit, versions, counts."""
    STATE = auto()
    """Prints how the work stands, which goes on: changes, history, the folder."""
    RUN = auto()
    """Runs a program: a test, a build, anything that is not known."""
    WAIT = auto()
    """Waits, or asks how something that goes on by itself stands: run again by nature."""


class FileLines(NamedTuple):
    """Lines of a file that a command prints."""

    path: str
    first: int = 1
    last: int = 0
    """0: to the end."""
    stops: bool = False
    """Without the file the command ends here."""
    numbered: bool = False
    """Each line has its number before it."""


class ShellCommand(NamedTuple):
    """One command line."""

    work: ShellWork
    prints: tuple[FileLines | str, ...] = ()
    """What a command that reads files prints, in order: of files, words of the command itself, and
    empty texts for whatever else it may print, of which ``READ`` has none. Empty: it reads none."""
    folder: str = ""
    """Where it runs, if it says so."""
    written: tuple[str, ...] = ()
    """Files that it plainly changes."""
    changes_any: bool = False
    """It may change files that it does not name: another branch, a formatter."""
    finds_last: bool = False
    """Of one that reads files: it ends with a search, which prints nothing where it ends with 1."""


_LONGEST = 4_000
"""Characters of a command line that is looked into."""
_QUOTED = late_pattern(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.""", re.DOTALL)
_TOKEN = late_pattern(
    rf"""((?:[^\s'"\\;|&<>()]|{_QUOTED.pattern})+)|([;|&\n]+|[<>()]+)|[ \t\r]+""", re.DOTALL
)
_MESSAGE = late_pattern(
    r"""(?<=\s)"\$\(cat <<-?\s*(?:'(\w{1,40})'|"(\w{1,40})")\n"""
    r"""(?:(?![ \t]*(?:\1|\2)\n).*\n){0,200}\t*(?:\1|\2)\n[ \t]*\)\""""
)
"""An argument that is a here-document to the letter, as messages of commits are given."""
_RANGE = late_pattern(r"(\d{1,9})(?:,(\d{1,9}|\$))?p", re.ASCII)
_FIRST = late_pattern(r"-n?(\d{1,9})", re.ASCII)
_FROM = late_pattern(r"-n\+(\d{1,9})", re.ASCII)
_NUMBER = late_pattern(r"\d{1,9}", re.ASCII)
_ASSIGNMENT = late_pattern(r"[A-Za-z_]\w*=")
_ERRORS_ASIDE = late_pattern(r"\s*\d?>&\d|\s*\d?>\s*(?:/dev/null|\$null)")
_FIXED = late_pattern(
    r"(?<!\")\$\((?:go env [A-Z]{2,20}|git rev-parse --show-toplevel|npm root -g)\)"
)
"""What stands for the same folder each time."""
_LITERAL = late_pattern(r"'[^']*'|\\.", re.DOTALL)
"""Where a shell puts nothing in the place of a dollar sign."""
_SAYS_MORE = late_pattern(r"\bset -\w*x|\b(?:pushd|popd|time)\s|<\(")
"""What prints lines of its own among those of the commands."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SEARCHES = _words("grep egrep fgrep rg ag ack fd select-string findstr")
_LISTS = _words("ls tree dir exa eza get-childitem gci")
_LOOKS = _words(
    "cat head tail nl less more bat wc stat file which whereis type echo printf printenv uname "
    "jq sort uniq cut awk tr column xxd od diff cmp md5sum sha1sum sha256sum basename dirname "
    "realpath readlink test [ true false rev tac fold paste comm strings du df sed find "
    "get-content gc measure-object select-object sort-object format-table out-string where-object "
    "foreach-object get-command write-output write-host test-path get-item resolve-path id whoami "
    "hostname"
)
_STATES = frozenset({"pwd", "get-location"})
_WAITS = _words(
    "sleep wait watch ps top htop lsof jobs date uptime curl wget ping nc start-sleep get-process "
    "tmux screen kubectl docker systemctl journalctl"
)
_GIT_LOOKS = _words("show blame ls-files ls-tree cat-file merge-base name-rev grep help")
_GIT_STATES = _words(
    "status diff diff-index diff-files log shortlog reflog rev-list rev-parse branch tag describe "
    "for-each-ref show-ref remote config"
)
_GIT_QUIET = frozenset({"add", "commit", "push", "fetch", "gc", "notes"})
"""They change the history, not the files."""
_FILE_CHANGES = _words(
    "rm mv cp touch chmod ln tee mkdir rmdir install truncate remove-item move-item copy-item "
    "set-content add-content out-file new-item"
)
_FORMATS = late_pattern(
    r"(?:^|[\s:_-])(?:fmt|format|fix|--fix|-w|--write|-i|--in-place|generate|codegen|gofmt|goimports"
    r"|prettier|black|isort|unzip|tar|patch)(?:$|[\s=:_-])"
)
_GH_WAITS = frozenset({"run", "checks", "workflow"})


def shell_command(line: str) -> ShellCommand:
    """What a command line does."""
    opaque = ShellCommand(ShellWork.RUN, changes_any=True)
    if len(line) > _LONGEST:
        return opaque
    line = _MESSAGE.sub("''", line)
    if "<<" in line or "$(" in _FIXED.sub("", line) or "`" in line:
        return opaque
    line = _FIXED.sub(r"'\g<0>'", line)
    try:
        parts = _parts(line)
    except ValueError:
        return opaque
    folder, rest = _leading_folder(parts)
    if not rest:
        return ShellCommand(ShellWork.RUN, folder=folder)
    prints = () if _SAYS_MORE.search(line) else tuple(_prints(rest))
    if prints and "" not in prints:
        return ShellCommand(ShellWork.READ, prints, folder)
    works = [_work(part.words) for part in rest]
    written = tuple(path for part in rest for path in (*part.out, *_changed(part.words)))
    changes_any = any(_changes_any(part.words) for part in rest)
    work = _joined(works)
    if written or changes_any:
        work = max(work, ShellWork.RUN)
    last = rest[-1].words
    finds = rest[-1].joint != "|" and _work(last) is ShellWork.SEARCH and "find" not in last[0]
    return ShellCommand(work, prints, folder, written, changes_any, finds and bool(prints))


class _Part(NamedTuple):
    """A simple command."""

    words: list[str]
    out: list[str]
    """The files that its output goes to."""
    joint: str
    """What stands between it and the one before."""
    open: list[str]
    """Its words that the shell puts something else into."""


def _parts(line: str) -> list[_Part]:
    """The simple commands of a line, in order. Raises ValueError where a quote is not closed."""
    line = _ERRORS_ASIDE.sub(" ", line)
    parts = [_Part([], [], "", [])]
    at, into = 0, False
    for token in _TOKEN.finditer(line):
        if token.start() != at:
            break
        at = token.end()
        word, joint = token.groups()
        if joint is not None and joint[0] in ";|&\n":
            parts.append(_Part([], [], joint.strip("\n") or ";", []))
        elif joint is not None:
            into = ">" in joint
            continue
        elif word is not None:
            plain = _QUOTED.sub(_unquoted, word)
            (parts[-1].out if into else parts[-1].words).append(plain)
            if "$" in _LITERAL.sub("", word):
                parts[-1].open.append(plain)
        else:
            continue
        into = False
    if at < len(line):
        raise ValueError("a quote that is not closed")
    return [one._replace(words=_bare(one.words)) for one in parts if one.words or one.out]


def _unquoted(found: re.Match[str]) -> str:
    text = found.group()
    if text[0] == "\\":
        # A backslash before a letter is a path of Windows, not an escape.
        return text if text[1].isalnum() else text[1]
    return text[1:-1] if text[0] == "'" else re.sub(r'\\(["\\$`])', r"\1", text[1:-1])


def _bare(words: list[str]) -> list[str]:
    """The words without what only says how the command is run."""
    while words:
        head = words[0]
        if _ASSIGNMENT.match(head) or head in ("sudo", "command", "time", "nohup", "exec", "!"):
            words = words[1:]
        elif head == "timeout" and len(words) > 2:
            words = words[2:]
        else:
            break
    return words


def _leading_folder(parts: list[_Part]) -> tuple[str, list[_Part]]:
    folder = ""
    while parts and parts[0].words[:1] in (["cd"], ["pushd"], ["set"], ["Set-Location"]):
        words = parts[0].words
        if words[0] != "set" and len(words) > 1:
            folder = words[-1]
        parts = parts[1:]
    return folder, parts


# reading files ---------------------------------------------------------------------------------


def _prints(parts: Sequence[_Part]) -> list[FileLines | str]:
    """``cat f``, ``sed -n 1,80p f``, ``head -20 f``, ``nl -ba f | sed -n 1,80p``, also one after
    the other, with other commands between or after; nothing where no file is read, or where the
    order of what is printed is not certain."""
    found: list[FileLines | str] = []
    is_there = may_stop = True
    for pipe in _pipes(parts):
        joint, words = pipe[0].joint, pipe[0].words
        if joint not in ("", ";", "&&", "||"):
            return []
        if joint == "||" and words in (["true"], [":"]):
            may_stop = False
            continue
        if joint == "&&" and may_stop and found and isinstance(one := found[-1], FileLines):
            found[-1] = one._replace(stops=True)
        may_stop = True
        if words[:1] in (["test"], ["["]):
            continue  # They print nothing.
        is_there = is_there and words[:1] != ["cd"]
        is_known = is_there and joint != "||" and not any(part.out for part in pipe)
        found += (_printed(pipe) if is_known else ()) or [""]
    return found if any(isinstance(one, FileLines) for one in found) else []


def _pipes(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Simple commands by the pipes that they stand in."""
    pipes: list[list[_Part]] = []
    for part in parts:
        if part.joint == "|" and pipes:
            pipes[-1].append(part)
        else:
            pipes.append([part])
    return pipes


def _printed(pipe: Sequence[_Part]) -> Sequence[FileLines | str]:
    """What a pipe prints; nothing where that is not known."""
    said = _said(pipe[0]) if len(pipe) == 1 else None
    return _read(pipe) if said is None else [said]


def _said(part: _Part) -> str | None:
    """What ``echo`` or ``printf`` prints; None for anything else."""
    words, text = part.words, " ".join(part.words[1:])
    if not text or part.open or any(mark in text for mark in "%*") or text.startswith(("-n", "-e")):
        return None
    if words[0] == "printf" and len(words) == 2 and text.replace("\\n", "").strip():
        return text.replace("\\n", "\n")
    return f"{text}\n" if words[0] == "echo" else None


def _read(pipe: Sequence[_Part]) -> list[FileLines | str]:
    """The lines of files that a command prints, also through a filter of the lines in the order
    that they have."""
    words = pipe[0].words
    head = words[0].rpartition("/")[2].lower() if words else ""
    options = [word for word in words[1:] if word.startswith("-")]
    ranges, is_numbered = [(1, 0)], False
    if head in ("cat", "nl", "bat", "less", "more"):
        files = [word for word in words[1:] if not word.startswith("-")]
        is_numbered = head == "nl" or options == ["-n"]
        # Else empty lines have no number, or there are marks in the text.
        plain = {"nl": [["-ba"]], "cat": [[], ["-n"]], "bat": [[], ["-p"], ["--style=plain"]]}
        if options not in plain.get(head, [[]]):
            return []
    elif head in ("sed", "head", "tail"):
        ranges = _ranges(words)
        files = [word for word in words[1:] if _is_file_of(head, word)]
    elif head in ("get-content", "gc", "type"):
        files = [word for word in words[1:] if not word.startswith("-")]
        ranges = ranges if len(words) == 2 else []
    else:
        return []
    if not files or any(mark in file for file in files for mark in "*?<"):
        return []
    if not set(files).isdisjoint(pipe[0].open):
        return []
    if len(pipe) > 1:
        is_whole = ranges == [(1, 0)] and len(pipe) == 2 and len(pipe[1].words) < 4
        ranges = _ranges(pipe[1].words) if is_whole else []
    if len(files) == 1:
        return [FileLines(files[0], *one, numbered=is_numbered) for one in ranges]
    # Of several, nl and sed count on from file to file, and head and tail name each.
    if head != "cat" or is_numbered or len(pipe) > 1:
        return []
    return [FileLines(file) for file in files]


def _is_file_of(head: str, word: str) -> bool:
    if word.startswith(("-", "+")) or _NUMBER.fullmatch(word):
        return False
    return head != "sed" or not all(map(_RANGE.fullmatch, word.split(";")))


def _ranges(words: list[str]) -> list[tuple[int, int]]:
    """The lines that ``sed -n 'A,Bp;C,Dp'``, ``head -N`` or ``tail -n +N`` prints, in order; none
    for anything else."""
    if words and words[0] == "sed" and "-n" in words[1:2]:
        scripts = [
            found for word in words[2:]
            if all(found := [_RANGE.fullmatch(one) for one in word.split(";")])
        ]  # fmt: skip
        if len(scripts) != 1:
            return []
        ranges = [
            (int(one[1]), 0 if one[2] == "$" else int(one[2] or one[1]))
            for one in scripts[0] if one is not None
        ]  # fmt: skip
        # Each line is printed where it stands in the file, for every range that it is in.
        is_apart = all(0 < last < then for (_, last), (then, _) in pairwise(ranges))
        return ranges if ranges[0][0] > 0 and is_apart else []
    if words and words[0] in ("head", "tail"):
        # "-n 4" is one option.
        text = re.sub(r"(?<=^-n)\n(?=[+\d])", "", "\n".join(words[1:]), count=1, flags=re.MULTILINE)
        options = [word for word in text.split("\n") if word.startswith("-")]
        if words[0] == "head" and not options:
            return [(1, 10)]
        count = (_FIRST if words[0] == "head" else _FROM).fullmatch("".join(options))
        if count is not None and len(options) == 1 and (number := int(count[1])):
            return [(1, number) if words[0] == "head" else (number, 0)]
    return []


# what else it does ------------------------------------------------------------------------------


def _joined(works: Sequence[ShellWork]) -> ShellWork:
    """What several commands are together; the first one says what filters after it are for."""
    if max(works) >= ShellWork.STATE:
        return max(works)
    return works[0] if works[0] in (ShellWork.SEARCH, ShellWork.LIST) else ShellWork.LOOK


def _work(words: list[str]) -> ShellWork:
    if not words:
        return ShellWork.LOOK
    head = words[0].rpartition("/")[2].lower()
    if head == "git":
        return _git_work(_git_words(words))
    if head == "gh":
        is_wait = not _GH_WAITS.isdisjoint(words[1:3])
        is_look = words[2:3] in (["view"], ["list"], ["diff"])
        return ShellWork.WAIT if is_wait else ShellWork.LOOK if is_look else ShellWork.RUN
    if head in _WAITS or (head == "tail" and "-f" in words):
        return ShellWork.WAIT
    if head in _SEARCHES or (head == "find" and not {"-delete", "-exec", "-ok"} & set(words)):
        return ShellWork.SEARCH
    if head in _LISTS:
        return ShellWork.LIST
    if head in _STATES:
        return ShellWork.STATE
    is_help = len(words) < 4 and words[-1] in ("--help", "--version", "-h", "-V", "version")
    if is_help or (head in _LOOKS and head != "find"):
        return ShellWork.LOOK
    return ShellWork.RUN


def _git_words(words: list[str]) -> list[str]:
    """The words from git's own command on."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c") else 1
    return words[at:]


def _git_work(words: list[str]) -> ShellWork:
    name = words[0] if words else ""
    if name == "diff" and len([word for word in words[1:] if not word.startswith("-")]) > 1:
        return ShellWork.LOOK
    if name in _GIT_STATES:
        return ShellWork.STATE
    return ShellWork.LOOK if name in _GIT_LOOKS else ShellWork.RUN


def _changed(words: list[str]) -> list[str]:
    """Files that a simple command plainly changes."""
    head = words[0].rpartition("/")[2].lower() if words else ""
    files = [word for word in words[1:] if not word.startswith("-")]
    if head in ("cp", "install", "ln") and len(files) > 1:
        # The last one is a file or a folder; the others stay as they are.
        *sources, to = files
        return [to, *(f"{to}/{one.rstrip('/').rpartition('/')[2]}" for one in sources)]
    if head in _FILE_CHANGES:
        return files
    in_place = head in ("sed", "perl") and any(one.startswith(("-i", "-pi")) for one in words[1:])
    return files if in_place else []


def _changes_any(words: list[str]) -> bool:
    head = words[0].rpartition("/")[2].lower() if words else ""
    if head == "git":
        git = _git_words(words)
        name = git[0] if git else ""
        return name not in _GIT_LOOKS | _GIT_STATES | _GIT_QUIET
    if head in _SEARCHES | _LISTS | _LOOKS | _STATES | _WAITS | _FILE_CHANGES or head in (
        "gh",
        "perl",
    ):
        return False
    return _FORMATS.search(" ".join(words)) is not None

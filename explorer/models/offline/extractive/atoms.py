"""The exact things in a text: what must not be paraphrased.

Most words are plain and are passed over by one look at their letters; a megabyte of
conversation takes a fraction of a second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from explorer.models.offline.extractive.commands import COMMANDS, command_end
from explorer.models.offline.extractive.words import word_set

AtomKind = Literal[
    "url",
    "path",
    "hash",
    "version",
    "host",
    "number",
    "command",
    "env",
    "symbol",
    "code",
    "ticket",
    "quote",
    "date",
    "name",
    "email",
]

WEIGHTS: dict[AtomKind, float] = {
    "url": 3.6,
    "path": 2.6,
    "hash": 3.0,
    "version": 2.4,
    "host": 2.6,
    "number": 2.0,
    "command": 3.0,
    "env": 2.2,
    "symbol": 1.3,
    "code": 1.8,
    "ticket": 2.4,
    "quote": 1.4,
    "date": 1.8,
    "name": 1.1,
    "email": 2.6,
}


@dataclass(frozen=True, slots=True)
class Atom:
    """One exact thing. `start` and `end` are offsets into the text it was found in."""

    kind: AtomKind
    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """What two mentions of the same thing have in common."""
        return self.text.lower().rstrip("/").removeprefix("./")


_TOKEN = re.compile(r"\S+")
_BACKTICK = re.compile(r"(`+)([^`\n]{1,240}?)\1")
_QUOTED = re.compile(r"(?<!\w)[\"“]([^\"“”\n]{2,100})[\"”](?!\w)")
_LEAD = "([{<\"'“‘*_~≈"
_TRAIL = ".,;:!?)]}>\"'”’*_…"

_EXTENSIONS = (
    "py|pyi|ts|tsx|js|jsx|mjs|cjs|json|jsonl|yaml|yml|toml|md|mdx|rst|txt|csv|tsv|sql|sh|bash|zsh|"
    "ps1|rb|go|rs|java|kt|kts|swift|scala|clj|ex|exs|erl|hs|ml|c|h|cc|cpp|hpp|cs|fs|vb|php|pl|lua|"
    "r|jl|dart|vue|svelte|html|htm|css|scss|less|xml|proto|graphql|gql|tf|tfvars|hcl|ini|cfg|conf|"
    "env|lock|log|db|sqlite|parquet|ipynb|gradle|properties|dockerfile|makefile|mk|cmake|patch|"
    "diff|zip|tar|gz|zst|whl|png|jpg|svg|pdf|wasm|so|dll|exe|plist|service|pem|crt|key|bak"
)
_FILE = re.compile(rf"^[\w@.+\-\[\]()]*[\w\])]\.(?:{_EXTENSIONS})(?::\d+){{0,2}}$", re.IGNORECASE)
_FILE_NAMES = word_set(
    """
    makefile dockerfile rakefile gemfile procfile jenkinsfile vagrantfile codeowners
    """
)
_PATH = re.compile(
    r"^(?:[A-Za-z]:\\|\\\\|~|\.{1,2}|@)?[/\\]?(?:[\w@.+\-*\[\]{}$:=%()]+[/\\])*[\w@.+\-*\[\]{}$:=%()]*$"
)
_ROOTS = word_set(
    """
    src lib libs app apps test tests docs bin pkg packages cmd etc usr var tmp home opt srv
    scripts deployments charts migrations crates examples feature features fix bugfix hotfix
    release origin refs .github .circleci .vscode node_modules vendor
    """
)
_VERSION = re.compile(
    r"^(?:[\w./@+-]*@|[\w.+-]*==|[\w.+-]*[~^><]=?)?[~^]?[vV]?\d+\.\d+(?:\.\d+)+(?:[-+.]?[\w.]+)?$"
    r"|^[vV]\d+(?:\.\d+)*(?:-[\w.]+)?$|^[\w/@.+-]+@[~^]?\d[\w.+-]*$|^[\w.+-]+[=~><]=\d[\w.*+-]*$"
)
_HEX = re.compile(r"^(?:sha\d*[:-])?(?:0x)?[0-9a-fA-F]{7,128}(?:\.\.\.?[0-9a-fA-F]{7,64})?$")
_UUID = re.compile(r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_HOST = re.compile(
    r"^\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?$|^[\w-]+(?:\.[\w-]+)*:\d{2,5}$|^:\d{2,5}$"
    r"|^(?:[a-z0-9-]+\.){1,5}(?:com|org|net|io|dev|internal|local|corp|cloud|ai|co|app|svc|lan)$"
)
_EMAIL = re.compile(r"^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$")
_ENV = re.compile(r"^\$?\{?[A-Z][A-Z0-9]*_[A-Z0-9_]+\}?(?:=\S+)?$")
_FLAG = re.compile(r"^--?[A-Za-z][\w-]*(?:=\S+)?$")
_TICKET = re.compile(r"^[A-Z][A-Z0-9]{1,9}-\d{1,6}$|^#\d{1,7}$|^![0-9]{2,6}$|^[\w.-]+/[\w.-]+#\d+$")
_NUMBER = re.compile(
    r"^[-+±<>≤≥=~≈$€£]*\d[\d,_ ]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
    r"(?:[-–/x×:]\d[\d,.]*)*(?:[%°+]|[A-Za-zµμ]{1,9}(?:/[A-Za-z]+)?)?$"
)
_TIME = re.compile(
    r"^\d{1,2}:\d{2}(?::\d{2})?(?:[ap]m|Z)?$|^\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+Z?)?$"
)
_SYMBOL = re.compile(r"^[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\(\)|\([\w, ]*\))?$")
_DATE_WORDS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december tomorrow tonight midnight noon q1
    q2 q3 q4 eod eow
    """
)
_NUMBER_WORDS = word_set(
    """
    two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty
    fifty sixty hundred thousand million dozen
    """
)
_UNIT_END = re.compile(r"[.,;:!?)\]]+$")
_NOT_NAMES = word_set(
    """
    i i'm i'll i've i'd ok yes no the this that these those it a an and but or so if when
    while also please note next then now done todo json yaml html css http https api url sql
    cli ui ux id ids cpu gpu ram os ci cd pr prs db io tcp udp dns tls ssl ssh csv pdf utc
    eof let's we you he she they there here what why how who which can could should would
    will do does did is are was were let make sure use add fix keep don't never always must
    just not only first second finally however currently today yesterday
    """
)


def atoms_of(text: str) -> tuple[Atom, ...]:
    """Every exact thing in a text, in order, none inside another."""
    found: list[Atom] = []
    taken: list[tuple[int, int]] = []
    if "`" in text:
        for match in _BACKTICK.finditer(text):
            found.append(_code_atom(match.group(2).strip(), match.start(), match.end()))
            taken.append((match.start(), match.end()))
    if '"' in text or "“" in text:
        for match in _QUOTED.finditer(text):
            if not _inside(match.start(), taken):
                found.append(Atom("quote", match.group(1), match.start(), match.end()))
                taken.append((match.start(), match.end()))
    tokens = list(_TOKEN.finditer(text))
    skip = 0
    for index, token in enumerate(tokens):
        if index < skip or (taken and _inside(token.start(), taken)):
            continue
        word = token.group()
        if word in COMMANDS:
            end = command_end(tokens, index)
            if end > index + 1:
                atom = _span(text, "command", tokens, index, end)
                found.append(atom)
                skip = end
                continue
        if word.isalpha() and word.islower():
            if word in _NUMBER_WORDS and index + 1 < len(tokens):
                found.append(_with_unit(text, tokens, index, token.start(), token.end()))
            elif word in _DATE_WORDS:
                found.append(Atom("date", word, token.start(), token.end()))
            continue
        atom_or_none = _token_atom(text, tokens, index)
        if atom_or_none is not None:
            found.append(atom_or_none)
    found.sort(key=lambda atom: atom.start)
    return tuple(found)


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def _code_atom(code: str, start: int, end: int) -> Atom:
    first = code.split(" ", 1)[0]
    kind = _kind_of(code)
    if " " in code:
        is_command = first in COMMANDS or first.startswith("./") or " --" in code
        return Atom("command" if is_command else "code", code, start, end)
    if kind is not None and kind not in ("name", "symbol"):
        return Atom(kind, code, start, end)
    return Atom("code", code, start, end)


def _token_atom(text: str, tokens: list[re.Match[str]], index: int) -> Atom | None:
    token = tokens[index]
    word = token.group()
    start, end = token.start(), token.end()
    while start < end and text[start] in _LEAD and not word.startswith("[["):
        start += 1
    while end > start and text[end - 1] in _TRAIL:
        if text[end - 1] == ")" and "(" in text[start:end]:
            break
        end -= 1
    core = text[start:end]
    if not core:
        return None
    kind = _kind_of(core)
    if kind == "name":
        sentence_start = index == 0 or tokens[index - 1].group()[-1] in ".!?:"
        if core.lower() in _NOT_NAMES or (sentence_start and not _acts(tokens, index)):
            return None
    if kind == "number":
        return _with_unit(text, tokens, index, start, end)
    return None if kind is None else Atom(kind, core, start, end)


_ACTS = word_set(
    """
    wrote owns said says knows set maintains asked approved approves reviews reviewed runs built
    added prefers wants found reported confirmed insists decides decided handles swears told
    """
)


def _acts(tokens: list[re.Match[str]], index: int) -> bool:
    """Whether a capital at the start of a sentence is a person's: a doing word follows it."""
    return any(token.group() in _ACTS for token in tokens[index + 1 : index + 3])


@lru_cache(maxsize=65536)
def _kind_of(core: str) -> AtomKind | None:
    if core.isalpha():
        low = core.lower()
        if low in _DATE_WORDS and core[0].isupper():
            return "date"
        if core[0].isupper() and core[1:].islower():
            return "name"
        return _cased_kind(core)
    if "://" in core:
        return "url"
    if core.startswith("www."):
        return "url"
    if any(ch.isdigit() for ch in core):
        kind = _digit_kind(core)
        if kind is not None:
            return kind
    if "@" in core and _EMAIL.match(core):
        return "email"
    if _ENV.match(core):
        return "env"
    if "/" in core or "\\" in core:
        return "path" if _is_path(core) else None
    if "." in core and _FILE.match(core):
        return "path"
    if core.lower() in _FILE_NAMES or (
        core.startswith(".") and len(core) > 3 and core[1:].isalnum()
    ):
        return "path"
    if _HOST.match(core):
        return "host"
    if _FLAG.match(core):
        return "code"
    if _SYMBOL.match(core) and ("_" in core or "." in core or "(" in core or "::" in core):
        return "symbol"
    return None


def _cased_kind(core: str) -> AtomKind | None:
    inner_upper = any(ch.isupper() for ch in core[1:])
    inner_lower = any(ch.islower() for ch in core)
    if inner_upper and inner_lower:
        return "symbol"
    if core.isupper() and len(core) > 2 and core.lower() not in _NOT_NAMES:
        return "name"
    return None


def _digit_kind(core: str) -> AtomKind | None:
    if _UUID.match(core):
        return "hash"
    if _TIME.match(core):
        return "date"
    if _HOST.match(core):
        return "host"
    if _VERSION.match(core):
        return "version"
    if _HEX.match(core) and any(ch in "abcdefABCDEF" for ch in core) and len(core) >= 7:
        return "hash"
    if _TICKET.match(core):
        return "ticket"
    if _NUMBER.match(core):
        return "number"
    if _ENV.match(core):
        return "env"
    if "/" in core or "\\" in core:
        return "path" if _is_path(core) else None
    if "." in core and _FILE.match(core):
        return "path"
    if _EMAIL.match(core):
        return "email"
    return "symbol" if _SYMBOL.match(core) or "-" in core or "_" in core or "=" in core else None


def _is_path(core: str) -> bool:
    if not _PATH.match(core) or not any(ch.isalpha() for ch in core):
        return False
    if core[0] == "/" and "/" not in core[1:]:
        word = core[1:].lower()
        return word in _ROOTS or any(ch in "-_.0123456789" for ch in word)
    if core[0] in "/~.\\@" or core.count("/") + core.count("\\") >= 2 or core[1:3] == ":\\":
        return len(core) > 2
    head, _, tail = core.replace("\\", "/").partition("/")
    if _FILE.match(tail) or head.lower() in _ROOTS or not tail:
        return True
    return any(ch in "-_.0123456789" for ch in core)


def _with_unit(text: str, tokens: list[re.Match[str]], index: int, start: int, end: int) -> Atom:
    """A number with the word after it, when nothing but a space lies between."""
    if end == tokens[index].end() and index + 1 < len(tokens):
        following = tokens[index + 1].group()
        unit = _UNIT_END.sub("", following)
        if unit == "%" or (unit.isalpha() and unit.lower() not in _NOT_UNITS and len(unit) < 16):
            end = tokens[index + 1].start() + len(unit)
    return Atom("number", text[start:end], start, end)


_NOT_UNITS = word_set(
    """
    and or to is are was were in on at of for with by from the a an but so as if when then
    that which because instead should must will would can could has have not now per after
    before
    """
)


def _span(text: str, kind: AtomKind, tokens: list[re.Match[str]], first: int, end: int) -> Atom:
    start = tokens[first].start()
    stop = tokens[end - 1].end()
    while stop > start and text[stop - 1] in ".,;:!?)":
        stop -= 1
    return Atom(kind, text[start:stop], start, stop)

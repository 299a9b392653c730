"""Exact things in single words: paths, URLs, versions, hashes, symbols, figures; and the key that
equal paths share.

A word is classified without its context, so that texts which repeat their words are read fast.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from explorer.facts.fact import FactKind
from explorer.facts.figures import figure, value_key
from explorer.facts.text import word_set
from explorer.session.late_pattern import late_pattern

EXTENSIONS = word_set(
    """
    py pyi ts tsx js jsx mjs cjs json jsonl yaml yml toml md mdx rst txt csv tsv sql sh bash
    zsh ps1 bat cmd rb go rs java kt kts swift scala clj ex exs erl hs ml mli c h cc cpp cxx
    hpp hh cs fs vb php pl lua r jl dart vue svelte html htm css scss sass less xml proto
    graphql gql tf tfvars hcl ini cfg conf env lock log db sqlite sqlite3 parquet ipynb gradle
    properties props csproj sln vcxproj mk cmake patch diff zip tar gz tgz bz2 xz zst whl jar
    png jpg jpeg gif svg webp ico pdf wasm so dll exe dmp plist service pem crt key bak po pot
    mo tex bib odt docx xlsx pptx ttf woff woff2 mp3 mp4 wav ogg glb fbx uasset hex bin elf
    img iso deb rpm apk aab ipa dat prof out map snap tmpl j2 jinja mako erb haml slim nix el
    vim zig nim cr v sv vhd s asm ld dts dtsi ui qml qrc qss storyboard xib strings arb
    editorconfig gitignore dockerignore gd tscn tres gdshader godot unity prefab asset gleam
    tfstate rmd qmd rds mm pbxproj xcconfig entitlements xcscheme cabal razor cshtml fsproj resx
    bicep rego rkt cljs edn adoc cls sty bst bbl aux tif tiff geojson avro orc feather h5 hdf5
    npz npy pkl pt onnx safetensors ckpt phtml twig tpl phar timer rules cnf gemspec rake astro
    mts cts jsonc json5 ndjson iss nsi fish awk bats f90 pas tmx blend psd drawio puml mmd ics
    eml har pcap ino kdl neon vbs reg url sublime tcl avsc typ gltf vtt srt epub
    """
)
FILE_NAMES = word_set(
    """
    makefile dockerfile rakefile gemfile procfile jenkinsfile vagrantfile codeowners justfile
    podfile brewfile cartfile fastfile guardfile containerfile caddyfile tiltfile
    cmakelists.txt .env .gitignore .dockerignore .editorconfig .npmrc .bashrc .zshrc .profile
    """
)
_ROOTS = word_set(
    """
    src lib libs app apps test tests docs doc bin pkg packages cmd etc usr var tmp home opt
    srv scripts tools internal charts migrations crates examples public static assets config
    deploy .github .circleci .vscode node_modules vendor build dist include source resources
    ui api server client backend frontend core priv
    """
)
_NOT_PATHS = word_set(
    """
    and/or or/and w/o he/she him/her his/her i/o n/a tcp/ip read/write yes/no true/false
    on/off client/server input/output pass/fail a/b ci/cd origin/main origin/master km/h
    before/after
    """
)
_PRODUCTS = word_set(
    "next.js node.js vue.js nuxt.js express.js three.js d3.js react.js ember.js socket.io asp.net"
)
_MIME = re.compile(r"^(?:application|text|image|audio|video|multipart|font)/[\w.+*-]+$")
LINE_SUFFIX = re.compile(r"(?::\d+){1,2}$|\(\d+(?:,\d+)?\)$")
"""The line and column number after a path."""
_LINE = re.compile(r"(?::\d+){1,2}$")
_FILE_LETTERS = re.compile(r"^[\w@.+\-~*\[\]]+$")
_PLAIN_PATH = re.compile(r"^(?:[A-Za-z]:)?[\w@.+\-~*%#\[\]()$:{}]*$")


def path_key(text: str) -> str:
    """A path with one kind of slash, without ``./``, a closing slash and a line number."""
    key = text.replace("\\", "/").removeprefix("./").rstrip("/")
    key = re.sub(r"(?::\d+){1,2}$", "", key)
    return re.sub(r"/{2,}", "/", key).lower() or "/"


def base_name(key: str) -> str:
    """The last part of a path key."""
    return key.rsplit("/", 1)[-1]


def is_path(core: str) -> bool:
    """Whether a word without surrounding punctuation is a path."""
    if "/" not in core and "\\" not in core:
        return is_file(core)
    if core.startswith(("//", "</", "/>")) or core.lower() in _NOT_PATHS:
        return False
    if not any(letter.isalpha() for letter in core) or _MIME.match(core):
        return False
    if "\\" in core:
        return _is_windows_path(core)
    if core[1:3] == ":/":
        return core[0].isalpha() and len(core) > 3
    parts = core.split("/")
    if any(not _PLAIN_PATH.match(part) for part in parts) or _FLAG.match(parts[0]):
        return False
    if parts[0] == "" and len(parts) == 2:
        # "/theme" is said to an agent; "/srv" and "/app-data" are places.
        word = parts[1].lower()
        return word in _ROOTS or (len(word) > 2 and any(ch in "-_.0123456789" for ch in word))
    if parts[0] in ("", "~", ".", ".."):
        return len(core) > 3 and any(letter.isalpha() for letter in parts[1])
    if not parts[-1]:
        return len(core) > 3
    if is_file(LINE_SUFFIX.sub("", parts[-1])) or parts[0].lower() in _ROOTS:
        return True
    return len(parts) > 2 and any(letter in "-_.0123456789" for letter in core)


_WINDOWS_PART = re.compile(r"^[\w@.+\-~$ *#]+$")


def _is_windows_path(core: str) -> bool:
    """Whether it is a path and not a text with escapes such as ``\\n`` in it."""
    parts = core.replace("/", "\\").rstrip("\\").split("\\")
    if core[1:3] == ":\\":
        return core[0].isalpha() and len(core) > 4
    if core.startswith("\\\\"):
        return len(parts) > 3 and all(_WINDOWS_PART.match(part) for part in parts[2:])
    if not all(_WINDOWS_PART.match(part) for part in parts):
        return False
    if parts[0] in (".", "..") or parts[0].lower() in _ROOTS:
        return len(parts) > 1
    return is_file(parts[-1].partition(":")[0]) or (
        len(parts) > 2 and all(len(part) > 2 for part in parts)
    )


def is_file(core: str) -> bool:
    """Whether a word is a file name: a known extension, or a known name without one."""
    low = core.lower()
    if ":" in low:
        low = _LINE.sub("", low)
    if low in FILE_NAMES or low in _PRODUCTS:
        return low in FILE_NAMES
    stem_, dot, extension = low.rpartition(".")
    if not dot or extension not in EXTENSIONS or not _FILE_LETTERS.match(low):
        return False
    return bool(stem_) and not stem_.endswith((".", "-")) and not stem_.replace(".", "").isdigit()


class WordPiece(NamedTuple):
    """An exact thing in a word; ``at``: its offset in the word, in characters."""

    kind: FactKind
    text: str
    key: str
    at: int


_URL = late_pattern(r"(?:[a-z][a-z0-9+.-]{1,12}://|www\.)[^\s<>\"'`«»|\\]+", re.IGNORECASE)
_OWN_ROOT = late_pattern(r"(?:res|user|classpath|asset|assets)://", re.IGNORECASE)
"""Schemes that programs use for paths of their own files."""
_HOST = late_pattern(
    r"^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[a-z][\w-]*(?:\.[a-z][\w-]*)*):\d{2,5}(?:/\S*)?$|"
    r"^\d{1,3}(?:\.\d{1,3}){3}$",
    re.IGNORECASE,
)
# What says where something stands in a file: ``char:29`` is no host with its port.
_PLACE = late_pattern(
    r"^(?:lines?|ln|chars?|col(?:umn)?s?|rows?|pos(?:ition)?|offset|index|page|step|task|item|"
    r"width|height|size):\d+$",
    re.IGNORECASE,
)
_UUID = late_pattern(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_HEX = late_pattern(r"^(?:(?:sha\d+|md5)[:-])?[0-9a-f]{7,128}$", re.IGNORECASE)
_UUID_LENGTH, _HEX_LENGTH = 36, 7
"""Characters: of a UUID exactly, of other digests at least."""
_ASCII_DIGIT = late_pattern(r"[0-9]")
_PIN = late_pattern(r"[=<>@^]")
_TICKET = late_pattern(r"^(?:[A-Z][A-Z0-9]{1,9}-\d{1,6}|#\d{2,5}|GH-\d+)$")
_NOT_TICKETS = late_pattern(
    r"^(?:UTF|ISO|SHA|AES|GPT|RFC|RSA|HTTP|MD|X|COVID|ES|IEEE|SC|TS|P|Q|CP|CVE-\d{4})-\d+$"
)
_VERSION = late_pattern(
    r"^v?\d+\.\d+\.\d+(?:\.\d+)*(?:[-+~.]?[a-z][\w.+-]*|[-+]\d[\w.+-]*)?$|"
    r"^v\d+(?:\.\d+)*(?:-[\w.]+|(?:\.[a-z]+)+)?$|^\d+(?:\.\d+)*\.x$",
    re.IGNORECASE,
)
_PINNED = late_pattern(
    r"^(?P<name>@?[a-z][\w./-]*)(?:==|~=|>=|<=|@\^?|\^|>|<)"
    # A number alone is a major version or a date; one of four digits and more counts something.
    r"v?(?:\d+(?=\.[\dx*])|\d{1,3}(?!\d)|20\d{6}(?!\d))(?:\.[\d*x]+)*[\w.+-]*"
    r"(?:,[<>=!~]+[\d.]+)*$|^(?:\^|~=?|[<>]=?|==)v?\d+(?:\.[\d*x]+)+$|^(?:\^|>=)\d+$",
    re.IGNORECASE,
)
_DATE = late_pattern(
    r"^\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.,+-]+Z?)?,?$|^\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:am|"
    r"pm|z)?$|"
    r"^\d{1,2}[./]\d{1,2}[./]\d{2,4}$",
    re.IGNORECASE,
)
_FIGURE = late_pattern(
    r"^[~≈<>≤≥±+$€£(-]*\d[\d,_']*(?:\.\d+)?(?:e[-+]?\d+)?(?:%|°[CF]?|"
    r"[A-Za-zµμ]{1,12}(?:/[A-Za-z]+)?)?$",
    re.IGNORECASE,
)
_ENV = late_pattern(r"^\$?\{?[A-Z][A-Z0-9]*_[A-Z0-9_]+\}?$")
_FLAG = late_pattern(r"^--[A-Za-z][\w-]*$")
_CALL = late_pattern(r"^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[~\w$]+)*\(\)$")
_SYMBOL = late_pattern(r"^[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)~?[A-Za-z_$][\w$]*)*$")
_HUMPS = late_pattern(r"[a-z0-9][A-Z][a-z]|[A-Z][a-z]+[A-Z]")
_NOT_SYMBOLS = word_set(
    """
    github gitlab javascript typescript postgresql mysql sqlite mongodb graphql youtube
    linkedin openai macos ios iphone ipad vscode webassembly oauth json yaml numpy pytorch
    tensorflow fastapi powershell nodejs nvme devops readme sqlalchemy websocket websockets
    """
)
_LEAD = "([{<\"'“‘*~≈«→‘`"
_TRAIL = ".,;:!?)]}>\"'”’*…»`"
_MARKS = _LEAD + _TRAIL
_LONGEST = 2000
"""Characters of a word; a longer one is data."""
_SPLIT = late_pattern(r"[^\s\"'`<>()\[\]{},;|=&]+")


def exact_things(words: Collection[str]) -> dict[str, tuple[WordPiece, ...]]:
    """The words that contain exact things, each with these things."""
    return {word: pieces for word in words if len(word) <= _LONGEST and (pieces := pieces_of(word))}


def mention_keys(things: Mapping[str, tuple[WordPiece, ...]]) -> set[str]:
    """The keys of what ``exact_things`` returned; for a figure its bare value, ``#1500``."""
    return {
        value_key(piece.text) if piece.kind is FactKind.NUMBER else piece.key
        for pieces in things.values()
        for piece in pieces
    }


_TELLING = late_pattern(r"[\d/\\_.:$@#-]|[a-z][A-Z]|\w\(")


@lru_cache(maxsize=65536)
def pieces_of(word: str) -> tuple[WordPiece, ...]:
    """The exact things in one word, in order."""
    if _is_plain(word) and word.lower() not in FILE_NAMES:
        return ()
    if _TELLING.search(word) is None and word.lower().strip(_MARKS) not in FILE_NAMES:
        return ()
    if "://" in word or "www." in word:
        urls = tuple(_urls(word))
        if urls:
            return urls
    start, end = 0, len(word)
    while start < end and word[start] in _LEAD and not _tilde_path(word, start):
        start += 1
    while end > start and word[end - 1] in _TRAIL and not _closes(word[start:end]):
        end -= 1
    core = word[start:end]
    if not core or word.startswith("</"):
        return ()
    if _is_plain(core) and core.lower() not in FILE_NAMES:
        return ()
    # The words of a Markdown link and its target are two things.
    one = None if "](" in core else _classify(core, start)
    if one is not None:
        return (one,)
    found = []
    for part in _SPLIT.finditer(core):
        if part.group() == core:
            continue
        inner = part.group().strip(".:,!?*")
        at = core.find(inner, part.start())
        piece = _classify(inner, start + at) if inner else None
        if piece is not None:
            found.append(piece)
    return tuple(found)


def _is_plain(word: str) -> bool:
    return word.isalpha() and (word.islower() or word.istitle() or word.isupper())


def _tilde_path(word: str, at: int) -> bool:
    return word[at] == "~" and word[at + 1 : at + 2] in ("/", "\\")


def _closes(core: str) -> bool:
    """Whether the last character belongs to the thing: ``run()``, ``app/[id]``, ``users/{id}``."""
    last = core[-1]
    return (last == ")" and core.count("(") >= core.count(")") and core[0] != "(") or (
        last in "]}" and "/" in core and core.count("[{"["]}".index(last)]) >= core.count(last)
    )


def _urls(word: str) -> list[WordPiece]:
    found = []
    for match in _URL.finditer(word):
        text = match.group().rstrip(".,;:!?*…]}")
        while text.endswith(")") and text.count("(") < text.count(")"):
            text = text[:-1].rstrip(".,;:!?*…]}")
        if _OWN_ROOT.match(text):
            key = path_key(LINE_SUFFIX.sub("", text))
            found.append(WordPiece(FactKind.PATH, LINE_SUFFIX.sub("", text), key, match.start()))
            continue
        if len(text.split("://")[-1]) > 2:
            found.append(WordPiece(FactKind.URL, text, text.rstrip("/").lower(), match.start()))
    return found


def _has_digit(core: str) -> bool:
    if core.isascii():
        return _ASCII_DIGIT.search(core) is not None
    return any(letter.isdigit() for letter in core)


def _classify(core: str, at: int) -> WordPiece | None:
    if _has_digit(core):
        piece = _with_digits(core, at)
        if piece is not None:
            return piece
        if _DATE.match(core):
            return None
    if is_path(core):
        text = LINE_SUFFIX.sub("", core)
        return WordPiece(FactKind.PATH, text, path_key(text), at)
    if _is_symbol(core):
        key = core.strip("${}").removesuffix("()")
        return WordPiece(FactKind.SYMBOL, core, key, at)
    return None


def _with_digits(core: str, at: int) -> WordPiece | None:
    if core.isdecimal():
        return _number(core, at)
    low = core.lower()
    piece = _identifier(core, low, at)
    if piece is not None:
        return piece
    begins_with_digit = core[0].isdecimal()
    if begins_with_digit and _DATE.match(core):
        return None
    is_host = ":" in core or core.count(".") == 3
    is_host = is_host and _HOST.match(core) is not None and _PLACE.match(core) is None
    if is_host and not is_file(core.partition(":")[0]):
        return WordPiece(FactKind.URL, core, low.rstrip("/"), at)
    if (
        (begins_with_digit or core[0] in "vV")
        and _VERSION.match(core)
        and core.rpartition(".")[2].lower() not in EXTENSIONS
    ):
        return WordPiece(FactKind.VERSION, core, low.removeprefix("v"), at)
    is_name = "/" not in core.split("@")[0] or core.startswith("@")
    if is_name and _PIN.search(core) and _PINNED.match(core):
        return WordPiece(FactKind.VERSION, core, low, at)
    return _number(core, at) if _FIGURE.match(core) else None


def _number(core: str, at: int) -> WordPiece | None:
    value = figure(core)
    return None if value is None else WordPiece(FactKind.NUMBER, core, value.key, at)


def _identifier(core: str, low: str, at: int) -> WordPiece | None:
    """A digest, a UUID, a ticket."""
    if len(core) == _UUID_LENGTH and _UUID.match(core):
        return WordPiece(FactKind.HASH, core, low, at)
    if len(core) >= _HEX_LENGTH and _HEX.match(core) and not core.isdigit():
        hexes = low.split(":")[-1]
        if any(letter.isdigit() for letter in hexes) and any(letter.isalpha() for letter in hexes):
            return WordPiece(FactKind.HASH, core, hexes, at)
    is_like_ticket = core[0] == "#" or "-" in core
    if is_like_ticket and _TICKET.match(core) and not _NOT_TICKETS.match(core):
        return WordPiece(FactKind.HASH, core, low, at)
    return None


def _is_symbol(core: str) -> bool:
    first = core[0]
    if first == "-":
        return _FLAG.match(core) is not None
    if core[-1] == ")":
        return _CALL.match(core) is not None
    if "_" in core and _ENV.match(core):
        return True
    if not _SYMBOL.match(core) or core.lower() in _NOT_SYMBOLS:
        return False
    if "::" in core or "->" in core:
        return True
    if "_" in core.strip("_"):
        return True
    return len(core) > 4 and _HUMPS.search(core) is not None and not core.isupper()

"""Paths of files and folders: recognising them, and the key that equal paths share."""

from __future__ import annotations

import re

from explorer.facts.text import word_set

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
_FLAG = re.compile(r"^--[A-Za-z][\w-]*$")
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

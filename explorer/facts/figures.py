"""Figures with their units, and versions named after a product: reading and finding them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from math import isinf
from typing import NamedTuple

from explorer.facts.text import TextRanges, any_of, stem, word_set
from explorer.session.late_pattern import late_pattern

_NUMBER = late_pattern(
    r"(?P<sign>[-−]?)[$€£]?(?P<digits>\d{1,3}(?:[,_' \u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:e(?P<power>[-+]?\d{1,3}))?\s*(?P<unit>%|°[CF]?|[A-Za-zµμ]+(?:/[A-Za-z]+)?)?",
    re.IGNORECASE,
)
_TIME = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3,
    "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0,
    "h": 3600.0, "hr": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0, "week": 604800.0,
}  # fmt: skip
_SIZE = {
    "b": 1.0, "byte": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
    "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40,
    "kilobyte": 1e3, "megabyte": 1e6, "gigabyte": 1e9,
}  # fmt: skip
_SCALE = {"k": 1e3, "m": 1e6, "mio": 1e6, "bn": 1e9, "thousand": 1e3, "million": 1e6}
_PERCENT = frozenset({"%", "percent", "pct"})


class Figure(NamedTuple):
    """A figure with its unit evened: 1.5k is 1500, 250 ms is 0.25 of ``time``."""

    value: float
    family: str
    """``time`` (seconds), ``size`` (bytes), ``%``, else the counted thing's stem; may be empty."""

    @property
    def key(self) -> str:
        """Equal of figures that say the same."""
        return f"{self.value:.12g} {self.family}".strip()


@lru_cache(maxsize=32768)
def figure(text: str) -> Figure | None:
    """The figure that a text begins with; None when it holds none."""
    found = _NUMBER.search(text)
    if found is None:
        return None
    value = float(re.sub(r"[,_' \u00a0\u202f]", "", found["digits"]))
    if found["power"]:
        # What is larger than all numbers is no figure but a piece of an id: "2238e857".
        value *= float(f"1e{found['power']}")
        if isinf(value):
            return None
    if found["sign"]:
        value = -value
    return _with_unit(value, found["unit"] or "", text[found.end() :])


def _with_unit(value: float, unit: str, rest: str) -> Figure:
    low = unit.lower()
    if unit == "M" or (low in _SCALE and low != "m"):
        value *= _SCALE[low]
        word = re.match(r"\s*([A-Za-z]+)", rest)
        return _with_unit(value, word.group(1), "") if word else Figure(value, "")
    single = low.removesuffix("s") if len(low) > 2 else low
    if low in _PERCENT:
        return Figure(value, "%")
    if single in _TIME:
        return Figure(value * _TIME[single], "time")
    if single in _SIZE:
        return Figure(value * _SIZE[single], "size")
    return Figure(value, stem(low) if low else "")


_BARE = late_pattern(r"\d{1,3}(?:[,_' \u00a0\u202f]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?")


@lru_cache(maxsize=32768)
def value_key(text: str) -> str:
    """The bare value of a figure's text, as it stands among the mentions."""
    digits = _BARE.search(text)
    found = figure(digits.group()) if digits else None
    return f"#{found.value:.12g}" if found else ""


_FIGURE = late_pattern(
    r"(?<![\w.,/\\:;#@-])(?:[~≈<>≤≥±+-]|[$€£])?"
    r"(?:\d{1,3}(?:[,'_]\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?![\d.])|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
    r"(?::1(?!\d))?(?P<unit>%|[€$£]|°[CF]?|[A-Za-zµμ]{1,6}(?:/[A-Za-z]+)?)?(?![\w/\\@]|[.:,-]\w)"
)
_DIGITS = late_pattern(r"\d+")
_SIGNS = "~≈<>≤≥±+-$€£"
_UNIT = late_pattern(
    r"[ \u00a0\u202f]*(?P<first>%|[€$£]|°[CF]?|[A-Za-zµμ][A-Za-zµμ-]*(?:/[A-Za-z]+)?)(?![\w(=/])"
)
_UNITS = word_set(
    """
    ns us µs μs ms s sec secs m min mins h hr hrs d b kb mb gb tb kib mib gib tib k fps hz khz
    mhz ghz mbit gbit kbit mbps gbps kbps px pt em rem cm mm km kg mg dpi bpm rpm rps qps tps
    iops v mv a ma w kw kwh pa hpa bar °c °f % gb/s mb/s kb/s gib/s mib/s req/s rows/s x usd
    eur gbp € $ £ inch inches ft sqm tokens percent bit bits byte bytes
    """
)
_NOT_UNITS = word_set(
    """
    is was has does as this its less plus minus times vs us yes always perhaps besides
    hours-long and or of in at on to by for from the a an per with so if when then but because
    which that now unless thus sometimes afterwards otherwise instead also not are were will
    would can could should must may might after before since until while than each every all
    fails passes works needs takes seems looks gives says means makes gets goes comes runs
    starts stops uses keeps lets
    """
)
_OF_MEASURE = any_of(
    r"\b(?:port|level|limit|max(?:imum)?|min(?:imum)?|most|least|timeout|size|threshold|budget|"
    r"workers?|retries|count|total|below|under|above|over|exceed|than|score|auc|accuracy|batch|"
    r"depth|width|height|seed|epochs?|ratio|rate|factor|cap|weight|drop\s+below|"
    r"(?:exit|status|response)\s+(?:code|status)|http|make\s+(?:that|it)|set\s+(?:that|it|to))\s*(?:to|is|of|=|:)?\s*[`*\"']?$",
    r"[=≤≥<>]\s*[`*\"']?$",
    flags=re.IGNORECASE,
)
_OF_ANYTHING = any_of(
    r"\b(?:to|is|are|be|was|at|of|use|with|about|around|only|just|status|code)\s*[`*\"']?$",
    r":\s*$",
    flags=re.IGNORECASE,
)
"""Words before a bare figure that a person who lays down a value says."""
_NOT_BEFORE = late_pattern(
    r"\b(?:step|line|lines|page|chapter|section|figure|fig|table|item|option|number|no|day|"
    r"week|january|february|"
    r"march|april|may|june|july|august|september|october|november|december|phase|part|round|"
    r"version|v|"
    r"point|task|issue|pr|mr|ticket|rule|appendix|question|generation|"
    r"error)\.?\s*[`*\"'#]?$",
    re.IGNORECASE,
)
_MONTH = late_pattern(
    r"^\s*(?:st|nd|rd|th)?\.?\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.I
)
_OF = late_pattern(
    r"\s+of\s+(?:the\s+)?\d+\b(?!\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))", re.I
)
"""3 of 112."""
_LIST = late_pattern(r"(?:^|\n)[ \t]*(?:[-*]\s+)?\d{1,3}$")
_MORE = late_pattern(r"\s(\d+)\s?(ms|s|sec|seconds|min|minutes|h)\b")


def figures(text: str, skip: TextRanges, *, by_user: bool = False) -> Iterator[tuple[int, int]]:
    """Where figures stand that say how much or how many (characters), those in ``skip`` aside."""
    at = 0
    for match in _candidates(text):
        start, end = match.span()
        if start < at or start in skip:
            continue
        if text[start - 1 : start] == "[" and text[end : end + 1] == "]":
            continue  # the time of a line of a log
        before = text[max(0, start - 24) : start]
        if match["unit"] is None:
            stop = _with_word(text, start, end, before, by_user)
        else:
            known = match["unit"].lower() in _UNITS or match.group()[0] in "$€£"
            stop = end if known and not _is_figured_word(match.group()) else -1
        if stop < 0:
            continue
        more = _MORE.match(text, stop)
        # "2 min 10 s" is one figure; of two with one unit each is one.
        at = more.end() if more and more[2] not in text[start:stop] else stop
        if text[start] in "+-" and start and not text[start - 1].isspace():
            start += 1
        yield start, at


def _candidates(text: str) -> Iterator[re.Match[str]]:
    """What ``_FIGURE`` finds, looked for at runs of digits only, which is faster."""
    done = 0
    for digits in _DIGITS.finditer(text):
        at = digits.start()
        if at >= done:
            signed = at > done and text[at - 1] in _SIGNS
            match = (signed and _FIGURE.match(text, at - 1)) or _FIGURE.match(text, at)
            if match:
                done = match.end()
                yield match


def _is_figured_word(word: str) -> bool:
    """``3d``, ``2a``: names, not amounts."""
    return re.fullmatch(r"\d{1,2}[ad]", word.lower()) is not None


def _with_word(text: str, start: int, end: int, before: str, by_user: bool) -> int:
    if text[start] in "$€£":
        return end
    unit = _UNIT.match(text, end)
    if unit is not None and unit["first"].lower() in _UNITS and not _MONTH.match(text, end):
        return unit.end()
    part = _OF.match(text, end)
    if part is not None:
        return part.end()
    if _MONTH.match(text, end) or _NOT_BEFORE.search(before):
        return -1
    if text[end : end + 1] in (".", ")") and _LIST.search(text[max(0, start - 12) : end]):
        return -1
    if unit is not None:
        word = unit["first"]
        low = word.lower()
        if low in _UNITS:
            return unit.end()
        if low not in _NOT_UNITS and word[0].islower() and len(low) > 2:
            if low.endswith("s") or text[start:end] == "1":
                return unit.end() if text[unit.start() : unit.end()].count("\n") == 0 else -1
            second = re.match(r"\s+([a-z]{3,}s)\b", text[unit.end() :])
            if second and second.group(1) not in _NOT_UNITS:
                return unit.end() + second.end()
        elif word.isupper() and len(word) < 5:
            return unit.end()
    if re.search(r"\d{4}$", text[start:end]) and re.search(r"\b(?:in|since|of|by)\s*$", before):
        return -1  # a year
    if "." in text[start:end] or _OF_MEASURE.search(before):
        return end
    return end if by_user and _OF_ANYTHING.search(before) else -1


_PRODUCTS = word_set(
    """
    python node node.js nodejs deno bun java jdk jre openjdk go golang rust rustc cargo ruby php
    perl raku elixir erlang otp kotlin swift scala clojure dart flutter haskell ghc ocaml elm lua
    luajit julia matlab octave fortran groovy typescript javascript ecmascript c++ c# .net dotnet
    asp.net mono postgres postgresql mysql mariadb sqlite redis valkey mongodb mongo cassandra
    elasticsearch opensearch kafka rabbitmq clickhouse duckdb neo4j oracle snowflake spark hadoop
    airflow dbt flink qt pyqt pyside gtk electron tauri django flask fastapi celery sqlalchemy
    alembic pydantic uvicorn gunicorn numpy pandas scipy polars pytorch torch tensorflow keras
    scikit-learn sklearn jupyter pytest mypy ruff poetry pip uv conda rails sidekiq puma sinatra
    jekyll bundler rspec spring boot hibernate junit quarkus micronaut tomcat jetty angular react
    vue svelte next.js nuxt remix astro vite webpack rollup esbuild babel eslint prettier jest
    vitest cypress playwright storybook tailwind bootstrap jquery express nestjs prisma npm pnpm
    yarn laravel symfony drupal wordpress magento composer phpunit typo3 phoenix ecto ubuntu
    debian fedora rhel centos alpine arch suse nixos freebsd linux kernel macos ios ipados
    watchos android windows xcode cocoapods gradle maven agp ant sbt cmake make ninja bazel gcc
    g++ clang llvm msvc cuda cudnn opencl vulkan opengl directx openssl libressl curl git docker
    podman containerd kubernetes k8s k3s minikube helm istio argo ansible terraform vault consul
    nginx apache caddy haproxy traefik envoy prometheus grafana jenkins gitlab unity unreal godot
    blender maya pygame sdl phaser firefox chrome safari edge chromium webkit cldr unicode http
    tls graphql openapi swagger protobuf grpc zephyr freertos esp-idf arduino stm32 rstudio shiny
    tidyverse latex texlive biblatex msrv sdk api version
    """
)
_COUNTS = word_set("http tls make go boot spark edge arch kernel express api unity argo ant")
"""Names that a bare whole number after them does not make a version."""
# In one line: in a listing the number of a line follows the end of the one before.
_BEFORE = late_pattern(r"([A-Za-z.][\w.+#-]*)[^\S\r\n]{1,2}v?$")
_VERSION_NUMBER = late_pattern(r"\d(?:(?<=\s\d)|(?<=\sv\d))\d*(?:\.\d+)*(?:\.x\b)?(?![\w.]*[\w%])")
_CONTEXT = late_pattern(
    r"\b(?:version|releas\w+|upgrad\w+|updat\w+|downgrad\w+|msrv|bump\w*|tagg?\w*|deprecat\w+|"
    r"require\w*|compat\w*|support\w*|below|floor)\b",
    re.IGNORECASE,
)
_OLD_AND_NEW = late_pattern(
    r"\b(?:from|to|and|or|with|on|than|above|below|is)\s+v?$", re.IGNORECASE
)
_SINCE = late_pattern(r"\b(?:in|for|until|since|till|calling\s+it|call\s+it)\s+v?$", re.IGNORECASE)
_MEASURE = late_pattern(
    r"\s*(?:%|[€$£°]|[A-Za-zµ]{1,3}\b(?<!\bis)(?<!\bto)(?<!\bor)(?<!\band)(?<!\bon)"
    r"(?<!\bin)(?<!\bby)(?<!\bfor)(?<!\bnow)(?<!\bhas)(?<!\bbut)(?<!\bas)(?<!\bwe)(?<!\bit)(?<!\bi))|"
    r"\s+(?!is\b|was\b|has\b|does\b|as\b|supports\b|works\b|needs\b|runs\b|this\b|plus\b)[a-z]+s\b"
)
_NEAR = 60
"""Characters before a number that tell whether it is a version."""


def named_versions(text: str, taken: TextRanges) -> Iterator[tuple[int, int, int]]:
    """Where such versions stand: their beginning and end, and the beginning of the name before
    (characters); those in ``taken`` aside."""
    for match in _VERSION_NUMBER.finditer(text):
        at, done = match.span()
        if at in taken:
            continue
        before = text[max(0, at - _NEAR) : at]
        name = _BEFORE.search(before)
        if name is None:
            continue
        if _is_version(match.group(), before, name[1], text[done : done + 20]):
            yield at, done, at - len(before) + name.start(1)


def _is_version(number: str, before: str, name: str, after: str) -> bool:
    low = name.lower().lstrip(".") if name != ".NET" else ".net"
    measured = _MEASURE.match(after) is not None
    if "." not in number:
        return low in _PRODUCTS and low not in _COUNTS and not measured
    if low in _PRODUCTS:
        return True
    if measured or number.count(".") > 1:
        return not measured
    if _SINCE.search(before):
        return after[:1] in (".", ",", ";", ")", "!", "?", "\n", "") or after.startswith(" anyway")
    return _OLD_AND_NEW.search(before) is not None and _CONTEXT.search(before) is not None


def figures_in(text: str) -> tuple[Figure, ...]:
    """Every figure of a short text such as a sentence, whatever it measures."""
    return tuple(value for part in _ANY_FIGURE.findall(text) if (value := figure(part)))


_ANY_FIGURE = late_pattern(
    r"(?<![\w./\\:-])[~$€£]?\d[\d,_']*(?:\.\d+)?\s*(?:%|°[CF]?|[A-Za-zµμ]+(?:/[A-Za-z]+)?)?"
)

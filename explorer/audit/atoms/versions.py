"""Versions told by what stands before them: ``Python 3.12``, ``since 2.4``, ``msrv 1.70``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.message import Message
from explorer.audit.atoms.taken import Taken

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
_BEFORE = re.compile(r"([A-Za-z.][\w.+#-]*)\s+v?$")
_NUMBER = re.compile(r"\d+(?:\.\d+)*(?:\.x\b)?(?![\w.]*[\w%])")
_CONTEXT = re.compile(
    r"\b(?:version|releas\w+|upgrad\w+|updat\w+|downgrad\w+|msrv|bump\w*|tagg?\w*|deprecat\w+|"
    r"require\w*|compat\w*|support\w*|below|floor)\b",
    re.IGNORECASE,
)
_OLD_AND_NEW = re.compile(r"\b(?:from|to|and|or|with|on|than|above|below|is)\s+v?$", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:in|for|until|since|till|calling\s+it|call\s+it)\s+v?$", re.IGNORECASE)
_MEASURE = re.compile(
    r"\s*(?:%|[€$£°]|[A-Za-zµ]{1,3}\b(?<!\bis)(?<!\bto)(?<!\bor)(?<!\band)(?<!\bon)"
    r"(?<!\bin)(?<!\bby)(?<!\bfor)(?<!\bnow)(?<!\bhas)(?<!\bbut)(?<!\bas)(?<!\bwe)(?<!\bit)(?<!\bi))|"
    r"\s+(?!is\b|was\b|has\b|does\b|as\b|supports\b|works\b|needs\b|runs\b|this\b|plus\b)[a-z]+s\b"
)
_NEAR = 60
"""Characters before a number that tell whether it is a version."""


def named_versions(message: Message, taken: Taken) -> Iterator[tuple[int, int, int]]:
    """Where such versions stand: their beginning and end, and the beginning of the name before
    (characters); those in ``taken`` aside."""
    text = message.text
    done = 0
    for at in message.digits:
        if at < done or not _after_blank(text, at) or at in taken:
            continue
        match = _NUMBER.match(text, at)
        if match is None:
            continue
        done = match.end()
        before = text[max(0, at - _NEAR) : at]
        name = _BEFORE.search(before)
        if name is None:
            continue
        if _is_version(match.group(), before, name[1], text[done : done + 20]):
            yield at, done, at - len(before) + name.start(1)


def _after_blank(text: str, at: int) -> bool:
    before = text[at - 2 : at] if at > 1 else text[:at]
    return before[-1:].isspace() or (before[-1:] == "v" and before[:1].isspace())


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

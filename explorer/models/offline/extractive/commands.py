"""Commands of a shell as developers write them, quoted or in the middle of a sentence."""

from __future__ import annotations

import re

from explorer.models.offline.extractive.words import word_set

_CLOSING_MARKS = re.compile(r"[.,;:!?)\]]+$")
_WITH_SUBCOMMANDS = ("git", "go", "make", "docker", "cargo")
COMMANDS = word_set(
    """
    npm npx pnpm yarn bun deno node pytest python python3 py pip pip3 pipx uv uvx poetry
    hatch tox nox ruff mypy black flake8 pylint cargo rustc rustup go gofmt golangci-lint
    make cmake ninja bazel meson docker docker-compose podman kubectl helm k9s kustomize
    terraform tofu ansible ansible-playbook vagrant packer git gh glab svn hg curl wget http
    psql mysql sqlite3 redis-cli mongosh mongo mvn gradle ./gradlew ./mvnw sbt bundle rails
    rake rspec gem php composer artisan dotnet nuget msbuild mix iex elixir bash sh zsh
    source ssh scp rsync systemctl journalctl service tsc eslint prettier jest vitest
    playwright cypress webpack vite next turbo nx lerna alembic flask gunicorn uvicorn
    celery django-admin manage.py ./manage.py swift xcodebuild pod fastlane flutter dart
    java javac kotlinc scala clojure lein stack cabal ghc opam dune zig nim crystal julia
    Rscript perl aws gcloud az heroku fly flyctl vercel netlify wrangler serverless sam cdk
    pulumi vault consul nomad jq yq sed awk grep rg ag find xargs tar unzip chmod chown ln
    mkdir cp mv rm cat tail head less ls cd du df ps kill top lsof netstat ping dig nslookup
    openssl gpg crontab env export sudo apt apt-get brew yum dnf apk conda mamba jupyter
    streamlit protoc buf sqlx diesel prisma drizzle flyway liquibase knex sequelize ab wrk
    k6 locust hey perf strace gdb lldb valgrind just task pre-commit
    """
)
_AMBIGUOUS = word_set(
    """
    go make just task next head tail less service source find top env mix stack fly hey env
    http sam az task black kill sh swift dart flask celery vault buf dune perf java scala
    julia less node python git docker java elixir crystal nim terraform vite webpack prisma
    ansible redis mongo conda jupyter cat export
    """
)
_ARGUMENT = re.compile(r"^(?:-{1,2}\S+|[\w./@:=~*\[\]{}$+%\"'|&>\\-]+)$")
_ARGUMENT_END = word_set(
    """
    and or then to before after so because when if with for in on is was are again first
    once which that but the until while instead every here there now as from this since it
    your our fails failed passes passed works locally please will must should also only
    always at can against by does took takes gives gave prints exits returns returned
    reports shows again
    """
)


def command_end(tokens: list[re.Match[str]], index: int) -> int:
    """Where a command written in plain prose ends: at a joining word or a mark."""
    word = tokens[index].group()
    end = index + 1
    while end < len(tokens):
        part = tokens[end].group()
        bare = _CLOSING_MARKS.sub("", part)
        if not bare or not _ARGUMENT.match(bare) or part.lower() in _ARGUMENT_END:
            break
        if part == bare and bare[0].isupper() and bare.isalpha():
            break
        end += 1
        if part[0] in "'\"" and part[0] not in part[1:]:
            end = _quote_end(tokens, end, part[0])
        elif part != bare:
            break
    arguments = [_CLOSING_MARKS.sub("", t.group()) for t in tokens[index + 1 : end]]
    if word in _AMBIGUOUS or len(arguments) > 5:
        # "make sure", "go ahead": a word that is also plain English needs a telling argument.
        telling = [n for n, a in enumerate(arguments) if not a.isalpha()]
        if word in _WITH_SUBCOMMANDS and arguments[:1] and arguments[0] in _SUBCOMMANDS:
            telling.append(0)
        if not telling:
            return index
        end = index + 2 + max(telling)
    return end


def _quote_end(tokens: list[re.Match[str]], index: int, mark: str) -> int:
    """The token after the one that closes a quoted argument; `index` when none does."""
    for ahead in range(index, min(index + 8, len(tokens))):
        if mark in tokens[ahead].group():
            return ahead + 1
    return index


_SUBCOMMANDS = word_set(
    """
    test build run vet fmt mod generate install add commit push pull rebase merge checkout
    switch fetch clone status log diff stash reset tag branch bisect cherry-pick revert
    compose exec logs ps up down lint check clean all deploy bench clippy doc release format
    migrate seed dev start tidy get
    """
)

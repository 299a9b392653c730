"""Takes keys, tokens and passwords out of what is sent to a summarizer, and out of summaries.

Sessions hold what commands printed, and commands print secrets. This replaces what looks like one
in every request before it is sent, and in every summary before it becomes a draft. It is marked
as required: should it fail, the request is not sent.

It knows common shapes and names, not every secret there is. ``redact_secrets.json`` beside this
file may add regular expressions: ``{"patterns": ["ACME-[0-9]{12}"]}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from explorer.extensions.api import Hooks, RequestEvent, SummaryEvent

# Every repetition is bounded: a session may hold a line of ten megabytes.
SHAPES = {
    "private key": r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?"
    r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",
    "encoded block": r"(?m:^[A-Za-z0-9+/=]{60,76}$\n?){3,}",
    "api key": r"\b(?:sk|pk|rk)[-_](?:[a-z]{2,10}[-_]){0,3}[A-Za-z0-9_-]{16,200}",
    "github token": r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})",
    "gitlab token": r"\bglpat-[A-Za-z0-9_-]{16,64}",
    "slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}",
    "aws key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "google key": r"\bAIza[A-Za-z0-9_-]{35}",
    "signed token": r"\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}",
}
NAMED = re.compile(
    r"(?i)((?:password|passwd|passphrase|secret|token(?!s)|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|credential)[\w.-]{0,40}\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?)"
    r"(?!\[redacted|true\b|false\b|null\b|none\b)([^\s\"'\\,;&<>(){}\[\]]{6,500})"
)
BEARER = re.compile(r"(?i)(\b(?:bearer|basic)\s{1,4})(?!\[redacted)([A-Za-z0-9._~+/=-]{12,4000})")
IN_ADDRESS = re.compile(r"(://[^\s:/@]{1,100}:)([^\s:/@]{1,200})(?=@)")


def activate(hooks: Hooks) -> None:
    own = {f"pattern {at}": one for at, one in enumerate(hooks.settings.get("patterns", ()), 1)}
    shapes = [(name, re.compile(one, re.DOTALL)) for name, one in {**SHAPES, **own}.items()]

    def redact(text: str) -> str:
        return redacted(text, shapes)

    @hooks.on("session_request", required=True)
    def request(event: RequestEvent) -> None:
        event.transform(redact)

    @hooks.on("session_summary", required=True)
    def summary(event: SummaryEvent) -> None:
        event.transform(redact)


def redacted(text: str, shapes: list[tuple[str, re.Pattern[str]]]) -> str:
    """The text with every secret that is recognized replaced by what kind it was."""
    for name, pattern in shapes:
        text = pattern.sub(f"[redacted {name}]", text)
    text = BEARER.sub(_kept("credential"), text)
    text = IN_ADDRESS.sub(_kept("password"), text)
    return NAMED.sub(_kept("value"), text)


def _kept(name: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}[redacted {name}]"

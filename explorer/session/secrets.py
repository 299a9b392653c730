"""Secrets in texts: keys, tokens and passwords, found by how they are written, and masked.

A mask takes as many characters as the secret, none of which needs an escape: places in a text stay
what they were, JSON stays JSON, and estimates of tokens do not change. Precision comes before
recall: what looks like a placeholder, a name, a path or a UUID is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from explorer.session.late_pattern import late_pattern

DOT = "•"
_WORD = "[masked]"
_SHORTEST_WORDED = 12
"""Characters of a secret from which on its mask says what it is."""
_LOOKED_AT = 256
"""Characters of a value by which it is judged."""


class SecretSpan(NamedTuple):
    """A secret's place in a text, without the prefix that tells its kind; in characters."""

    start: int
    end: int
    kind: str


class _Rule(NamedTuple):
    """How one kind of secret is written."""

    kind: str
    marks: tuple[str, ...]
    """Texts of which each such secret has one; all others need not be looked at."""
    hint: str
    """What all of the marks hold, where several rules share it."""
    pattern: re.Pattern[str]
    """Matched at a mark; its group ``secret`` is what is masked."""
    is_real: Callable[[re.Match[str]], bool]

    @property
    def hints(self) -> tuple[str, ...]:
        """Texts of which one is in every text with such a secret."""
        return (self.hint,) if self.hint else self.marks


# what is no secret --------------------------------------------------------------------------------

_PLACEHOLDER = late_pattern(
    r"x{4}|your|example|placeholder|change.?me|redacted|masked|dummy|12345678|abcdefgh|(.)\1{5}"
    r"|^\W*(?:password|passwd|pass|pwd|secret|token|none|null|true|false)\W*$",
    re.IGNORECASE,
)
_NAMES_ITSELF = late_pattern(r"passw(?:or)?d|secret|token|credential|api_?key", re.IGNORECASE)
_UUID = late_pattern(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_PATH = late_pattern(r"(?:~|\.{1,2})?/|[a-z]:|\w+://", re.IGNORECASE)
_VARIABLE = late_pattern(r"[$%@#]|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$")
_PART = late_pattern(r"[-_./:@+]+")
_PLAIN_PART = late_pattern(r"[a-z]*|[A-Z][a-z]*|[A-Z]+|v?\d{1,4}")
_NOT_ITS_VALUE = late_pattern(
    r"s$|i[sz]|.*(?:count|limit|type|name|_?ids?$|Id$|ur[il]|path|file|field|expir|hash|digest|len"
    r"|index|budget|usage|policy|hint|class|label|used|max|min|num|size|window|total)",
    re.IGNORECASE,
)
"""How the name of a value goes on that is about a secret and is none."""


def _is_varied(value: str) -> bool:
    """Whether a key's characters are as many different ones as chance gives, and no placeholder."""
    head = value[:_LOOKED_AT]
    return len(set(head)) >= min(8, len(head) // 2) and not _PLACEHOLDER.search(head)


def _is_key(found: re.Match[str]) -> bool:
    return _is_varied(found["secret"])


def _is_password_in_address(found: re.Match[str]) -> bool:
    value = found["secret"]
    return value != found["user"] and not _PLACEHOLDER.search(value) and value[0] not in "$%{<*"


def _is_credential(found: re.Match[str]) -> bool:
    value = found["secret"]
    return _has_digit(value) and _is_varied(value) and not _is_of_words(value)


def _is_assigned(found: re.Match[str]) -> bool:
    """Whether the value that a name like ``api_key`` or ``password`` is given is a secret."""
    value, quoted = found["secret"][:_LOOKED_AT], bool(found["quote"])
    if _NOT_ITS_VALUE.match(found["rest"]) or (found["after"] or "") in tuple("([{<$"):
        return False
    if quoted and (found["after"] or "") not in ("", "…", *"\"'`\\&"):
        return False
    if _PATH.match(value) or _UUID.fullmatch(value) or _NAMES_ITSELF.search(value):
        return False
    if not _is_varied(value) or _is_of_words(value):
        return False
    if _VARIABLE.match(value) and sum(map(str.isdigit, value)) < 4:
        return False
    digits = sum(map(str.isdigit, value))
    if found["name"].lower() in ("assword", "asswd"):
        has_more = digits > 0 or (quoted and not value.isalnum())
        return has_more and any(map(str.isalpha, value))
    return len(value) >= 16 and digits > 1 and any(map(str.isalpha, value))


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value[:_LOOKED_AT]))


def _is_of_words(value: str) -> bool:
    """Whether a value is made of words and small numbers, such as ``my-app-v2``."""
    return all(map(_PLAIN_PART.fullmatch, _PART.split(value[:_LOOKED_AT])))


# the table ----------------------------------------------------------------------------------------

_ALNUM, _WORDS, _HEX = "A-Za-z0-9", r"\w-", "0-9a-f"


def _keys(kind: str, prefixes: str, alphabet: str, least: int, hint: str = "") -> _Rule:
    """Keys that begin with one of the prefixes (parted by blanks), which stays to be seen, and at
    least so many characters of an alphabet; fewer where the text was cut there."""
    marks = tuple(prefixes.split())
    begins = "|".join(map(re.escape, marks))
    pattern = re.compile(
        rf"(?<![\w-])(?:{begins})(?P<secret>[{alphabet}]{{{least},}}|[{alphabet}]{{6,}}(?=…|\Z))",
        re.ASCII,
    )
    return _Rule(kind, marks, hint, pattern, _is_key)


def _other(
    kind: str,
    marks: str,
    pattern: str,
    is_real: Callable[[re.Match[str]], bool] = _is_key,
    hint: str = "",
) -> _Rule:
    compiled = re.compile(pattern, re.ASCII | re.VERBOSE)
    return _Rule(kind, tuple(marks.split()), hint, compiled, is_real)


_QUOTE = r"""(?:\\{0,3}["'`]|&quot;|&\#3[49];)"""


def _assigned(marks: str, hint: str) -> _Rule:
    """Values of names, which are given without a first letter that may be a capital."""
    return _other(
        "assigned value", marks,
        rf"(?P<name>{marks.replace(' ', '|')})(?P<rest>[\w-]{{0,24}})"
        rf"{_QUOTE}?\s{{0,4}}(?::=|=>|:|=)(?!=)\s{{0,4}}(?P<quote>{_QUOTE})?"
        r"(?P<secret>[^\s\"'`\\<>(){}\[\],;&•|…]{8,})(?P<after>[^\s])?",
        _is_assigned, hint,
    )  # fmt: skip


_RULES: tuple[_Rule, ...] = (
    _keys("Anthropic key", "sk-ant-", _WORDS, 20, "sk-"),
    _keys("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", _WORDS, 20, "sk-"),
    _keys("OpenRouter key", "sk-or-v1-", _HEX, 32, "sk-"),
    _keys("Langfuse key", "sk-lf-", _WORDS, 20, "sk-"),
    _keys("API key", "sk-", _ALNUM, 20, "sk-"),
    _keys("GitHub token", "ghp_ gho_ ghu_ ghs_", _ALNUM, 30),
    _keys("GitHub token", "github_pat_", r"\w", 22, "pat_"),
    _keys("Docker token", "dckr_pat_", _WORDS, 20, "pat_"),
    _keys("Shopify token", "shpat_", "A-Fa-f0-9", 32, "pat_"),
    _keys("GitLab token", "glpat-", "." + _WORDS, 20),
    _keys("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", _WORDS, 10, "xox"),
    _keys("Slack webhook", "hooks.slack.com/services/", r"\w/", 30, "://"),
    _keys("AWS key id", "AKIA ASIA", "A-Z0-9", 16),
    _keys("Google key", "AIza", _WORDS, 35),
    _keys("Google token", "ya29. GOCSPX-", "." + _WORDS, 20),
    _keys("npm token", "npm_", _ALNUM, 30),
    _keys("PyPI token", "pypi-", _WORDS, 50),
    _keys("Hugging Face token", "hf_", _ALNUM, 30),
    _keys("Groq key", "gsk_", _ALNUM, 40),
    _keys("xAI key", "xai-", _ALNUM, 60),
    _keys("Stripe key", "sk_live_ rk_live_", _ALNUM, 16, "k_live_"),
    _keys("SendGrid key", "SG.", "." + _WORDS, 50),
    _keys("Vault token", "hvs.", _WORDS, 24),
    _other("AWS secret key", "AKIA ASIA",
           r"(?:AKIA|ASIA)[A-Z0-9]{16}\W{1,8}(?:\w{1,30}\W{1,8}){0,3}?"
           r"(?P<secret>(?=[A-Za-z/+]*\d)[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    _other("JSON web token", "eyJ",
           r"(?<![\w-])eyJ(?P<secret>[\w-]{10,}\.eyJ[\w-]{8,}(?:\.[\w-]{10,}|[\w.-]*(?=…|\Z)))"),
    _other("private key", "KEY-----",
           r"(?<=PRIVATE[ ])KEY-----"
           r"(?P<secret>(?:\s|\\+[nr])*[A-Za-z0-9+/]{16}[A-Za-z0-9+/=\s\\]*)"),
    _other("bearer token", "earer", r"earer\s{1,3}(?P<secret>[\w.~+/-]{16,}=*)", _is_credential),
    _other("basic authorization", "uthorization",
           rf"uthorization{_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}?[Bb]asic\s{{1,3}}"
           r"(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"),
    _other("password in an address", "://",
           r"://(?P<user>[^\s/:@\"'`<>\\•]{0,64}):"
           r"(?P<secret>[^\s/:@\"'`<>\\•\[\]{}()]{4,200})@(?=\w)",
           _is_password_in_address),
    _assigned("assword asswd", "ssw"),
    _assigned("ASSWORD ASSWD", "SSW"),
    _assigned("ecret", "ecret"),
    _assigned("ECRET", "ECRET"),
    _assigned("oken", "oken"),
    _assigned("OKEN", "OKEN"),
    _assigned("pi_key ccess_key uth_key", "_key"),
    _assigned("PI_KEY CCESS_KEY UTH_KEY", "_KEY"),
    _assigned("piKey ccessKey ccountKey", "Key"),
    _assigned("pi-key", "pi-key"),
)  # fmt: skip
_HINTS = tuple(
    (hint, tuple(rule for rule in _RULES if hint in rule.hints))
    for hint in dict.fromkeys(hint for rule in _RULES for hint in rule.hints)
)
"""The rules by what must be in a text: most texts are looked through once for each of these."""


# finding and masking ------------------------------------------------------------------------------


def find_secrets(text: str) -> list[SecretSpan]:
    """The secrets in a text in ascending order, none of which touches another."""
    found = _matched(text, _HINTS)
    if not found:
        return found
    found.sort()
    apart = found[:1]
    for span in found[1:]:
        if span.start <= apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return apart


def mask(text: str) -> str:
    """The text with its secrets masked, as long as it was; itself where it has none."""
    # What is masked may end a word, and so begin another secret.
    while spans := find_secrets(text):
        parts, at = [], 0
        for start, end, _ in spans:
            parts += [text[at:start], _masked(text[start:end])]
            at = end
        text = "".join((*parts, text[at:]))
    return text


def mask_each(texts: Sequence[str]) -> list[str]:
    """``mask`` of many short texts: what is in none of them is looked for once."""
    together = "\n".join(texts)
    there = [one for one in _HINTS if one[0] in together]
    return [mask(text) if _matched(text, there) else text for text in texts]


def _matched(text: str, hints: Sequence[tuple[str, Sequence[_Rule]]]) -> list[SecretSpan]:
    """What the rules of these hints find."""
    return [
        span
        for hint, rules in hints
        if hint in text
        for rule in rules
        for mark in ((hint,) if hint in rule.marks else rule.marks)
        for span in _matches(rule, mark, text)
    ]


def _matches(rule: _Rule, mark: str, text: str) -> Iterator[SecretSpan]:
    at = text.find(mark)
    while at >= 0:
        match = rule.pattern.match(text, at)
        end = at + len(mark)
        if match is not None and rule.is_real(match):
            start, end = match.span("secret")
            yield SecretSpan(start, end, rule.kind)
        at = text.find(mark, end)


_MASKED_PIECE = late_pattern(r"\\+(?:u[0-9A-Fa-f]{4}|.)|\s+|([^\\\s]+)")


def _masked(secret: str) -> str:
    """Line ends stay, and so do escapes of JSON, of which a private key may have some."""
    if "\\" in secret or "\n" in secret:
        return _MASKED_PIECE.sub(
            lambda piece: _dots(len(piece[0])) if piece[1] else piece[0], secret
        )
    return _dots(len(secret))


def _dots(length: int) -> str:
    word = _WORD if length >= _SHORTEST_WORDED else ""
    return word + DOT * (length - len(word))

"""Which sentences of the assistant say something, and which only accompany the work.

Announcements, questions, exclamations and thoughts broken off are not work that was done.
"""

from __future__ import annotations

import re

from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.sentences import Piece
from explorer.models.offline.extractive.statement import Kind

_LEADS = (
    r"^\W*(?:(?:ok(?:ay)?|now|so|first|then|next|good|great|perfect|right|sure|yes|oh|oops|hm+|wait|no|"
    r"alright|"
    r"got\s+it|understood|agreed|and|but|also|done|ah|actually|sorry|finally)\b\W*)*"
)
_ANNOUNCES = re.compile(
    _LEADS
    + r"(?:let\s+me|let['’]s|let\s+us|i['’]ll|i\s+will|i['’]m\s+(?:going\s+to|about\s+to|now)|"
    r"i\s+(?:now\s+)?(?:need|want|have)\s+to|i\s+should|we\s+(?:need|should|have)\b|need(?:s)?\s+to|time\s+to|"
    r"(?:check|fix|update|add|rebuild|build|run|test|look|try|read|commit|tag|publish|verify)\s.*:$)",
    re.IGNORECASE,
)
_REACTS = re.compile(
    r"^\W*(?:you['’]?re\s+(?:absolutely\s+|totally\s+)?right|i\s+(?:can\s+)?see\b|(?:that|this|it)\s+"
    r"(?:makes|looks|is|was|should|seems|means|would|will)\b|perfect|great|excellent|good|hm+|oh\b|oops|wait|"
    r"sorry|ah+\b|interesting|strange|weird|the\s+\w+\s+(?:is|are)\s+there\b|enjoy\b)",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"^\W*(?:if|since|when|whenever|because|should|once|unless|as\s+soon|so\s+that|which|while|although|"
    r"either|or|either|to\s+\w+|you\s+can|use|set|put|do|did|does|have|the\s+(?:issue|problem|bug|steps|"
    r"reason)|in\s+\w+\s*\w*:)\b",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|understood|agreed|right|sure|yes|noted|got\s+it|fine|good)\b\W*)*"
    r"(?:(?:i|we)(?:['’]ll|\s+will|\s+won['’]?t|\s+must|\s+may|\s+am|['’]m)\s+(?:\w+\s+){0,2}?"
    r"(?:keep|not|never|always|only|stick|leave|avoid|respect|follow|make\s+sure|ensure|stay|ask)\b|"
    r"(?:i|we)\s+won['’]?t\b|as\s+you\s+(?:asked|said|wish|want)|your\s+rule)"
    r"|^\W*(?:understood|agreed|noted)\b\W+(?:no|never|always|only|nothing)\b",
    re.IGNORECASE,
)
# A rule stated as one. "It must have another API", "that must be the cache" are guesses.
_STATES_RULE = re.compile(
    r"\b(?:must|may|shall)\s+(?:not|never|only|always)\b|\bmustn['’]t\b"
    r"|\bmust\s+(?:stay|remain|keep|go|use|come|match|mention|support|be\s+\w+(?:ed|en|ible|able))\b"
    r"|\b(?:are|is)\s+(?:not\s+allowed|forbidden)\b|\bha(?:s|ve)\s+to\s+(?:be|stay)\b"
    r"|\bunder\s+no\s+circumstances\b|^\W*whatever\s+you\s+do\b"
    r"|^\W*(?:never|always|don['’]t|do\s+not|avoid|ensure|keep\s+every|leave\s+the|stay\s+away)\b"
    r"|^\W*only\s+.{2,40}\s(?:may|can|should)\b|^no\s+[a-z]\w+|^No\s+\w+\s+\w+\s+in\b"
    r"|^ask\s+me\s+before\b|\bneed\s+to\s+fit\b|^i\s+want\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?:…)\]`*\"'”’\d%]\W*$|[^\x00-\x7f]\W*$")
_MAYBE = re.compile(r"\b(?:could|might|would|maybe|perhaps|if you)\b", re.IGNORECASE)
_STARTS = re.compile(_LEADS + r"let\s+me\b", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|when|whenever|would|so\s+(?:that\s+)?\w+)\b", re.IGNORECASE)
_NOT_YET = re.compile(
    r"\b(?:if|whether|(?:should|can|must|could|to)\s+be|(?:ready|need\w*)\s+(?:for|to))\b|^\W*built-in\b",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"^\W*(?:since|if|when|now\s+it|this|that|it|uses|use|empty|the\s+(?:issue|problem|fix|error|build|"
    r"\w+\s+(?:changed|is|was|are)))\b",
    re.IGNORECASE,
)
_BARE_PAST = re.compile(r"^\W*(?:successfully\s+|also\s+)?[A-Z][a-z]+ed\b")
_LATE = 0.25
_NEWEST = 0.15


def announces(text: str) -> bool:
    """Whether a sentence says what the assistant is going to do."""
    return _ANNOUNCES.match(text) is not None


def breaks_off(piece: Piece) -> bool:
    """Whether a sentence was not finished, as happens when the assistant is stopped."""
    return not piece.item and not piece.code and _ENDED.search(piece.text) is None


def is_chatter(piece: Piece) -> bool:
    """Whether a sentence only accompanies the work. It may still name exact things."""
    text = piece.text
    if text.endswith((":", ":**")) or _REACTS.match(text):
        return True
    return text.endswith("!") and not any(letter.isdigit() for letter in text)


def assistant_kind(piece: Piece, words: frozenset[str], age: float) -> Kind:
    """What a sentence of the assistant is. `age` is 0 at the end of the conversation; work that
    lies ahead counts only there, and a rule is only what the assistant takes upon itself."""
    text = piece.text
    if piece.box:
        return {"x": Kind.DONE, " ": Kind.NEXT}.get(piece.box, Kind.DOING)
    reports = (
        cues.DONE.found(text, words) and not _SUPPOSES.match(text) and not _NOT_YET.search(text)
    )
    if _BARE_PAST.match(text) and reports:
        return Kind.DONE
    if _STARTS.match(text) or (text.endswith(":") and announces(text)):
        return Kind.DOING
    if _ACCEPTS.match(text):
        return Kind.CONSTRAINT
    decides = cues.DECISION.found(text, words) and not _MAYBE.search(text)
    if decides and not _EXPLAINS.match(text):
        return Kind.DECISION
    if cues.names_failure(text) and not reports:
        return Kind.ERROR
    if cues.FINDING.found(text, words):
        return Kind.FINDING
    if announces(text):
        return Kind.NEXT if cues.NEXT.found(text, words) and age <= _LATE else Kind.DOING
    if cues.NEXT.found(text, words) and age <= _LATE:
        return Kind.NEXT
    if reports:
        return Kind.DONE
    if cues.BLOCKED.found(text, words):
        stands = age <= _NEWEST and not _IF.search(text)
        return Kind.BLOCKED if stands else Kind.FINDING
    if cues.DOING.found(text, words):
        return Kind.DOING
    return Kind.CONSTRAINT if _STATES_RULE.search(text) else Kind.FACT

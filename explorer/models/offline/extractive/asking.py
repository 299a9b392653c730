"""What a person says: wishes, rules, choices, facts, reactions, and what was only pasted in."""

from __future__ import annotations

import re

from explorer.facts import FactKind
from explorer.facts.statements import kinds_of
from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.atoms import atoms_of
from explorer.models.offline.extractive.statement import Kind
from explorer.models.offline.extractive.words import lower_words, terms_of

_PASTED = re.compile(
    r"^\s*(?:[+-]\s?\d+\s|\d+\s+[-+]\s|➜|❯|\$\s|PS\s[A-Z]:|>>>\s|[\u2500-\u259f\u2800-\u28ff]|"
    r"at\s.*:\d+:\d+\)?$|File \".*\", line \d+|Traceback\b|npm\s(?:ERR|error)|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:|"
    r"\[\w+\]\s+\w+)|\S {3,}$|^[-+]{3} |^@@ "
)
_NUMBERED_LINE = re.compile(r"^\s*[+-]?\s?\d+\s+-?\s*")
_IMAGE = re.compile(r"^(?=\W*\S?[/~]).*\.(?:png|jpe?g|gif|webp|heic|mov|mp4)\W*$", re.IGNORECASE)
_SLASH = re.compile(r"^/[\w-]{0,20}$")
_NOISE = terms_of(
    """fuck fucking fucked shit wtf damn dude man hell omg omfg stupid lol please thanks ok alright
    yeah hmm hmmm well bro jesus christ god crap argh ugh haha"""
)
_FEW = 2


def split_pasted(text: str) -> tuple[str, list[str]]:
    """The words of a person, and the lines that were copied in from a screen or a log."""
    if "\n" not in text:
        return ("", [text]) if _PASTED.match(text) and len(text) > 60 else (text, [])
    said: list[str] = []
    pasted: list[str] = []
    inside = fenced = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        inside = bool(stripped) and (inside or _PASTED.search(line) is not None)
        if inside and not fenced:
            pasted.append(_NUMBERED_LINE.sub("", stripped))
        else:
            said.append(line)
    return "\n".join(said), [line for line in pasted if line]


def is_prompt(line: str) -> bool:
    """Whether a pasted line is what was typed at a shell."""
    return line.lstrip()[:1] in "➜❯$"


def is_reaction(text: str) -> bool:
    """Whether a sentence of a person asks for nothing and tells nothing that lasts."""
    if _SLASH.match(text.strip()) or cues.SMALL_TALK.match(text) or _IMAGE.match(text):
        return True
    if atoms_of(text):
        return False
    return len(terms_of(text) - _NOISE) < _FEW


def goal_kind(item: str) -> Kind:
    """A rule or choice that came in with the first request belongs to its own section."""
    kind = user_kind(item, lower_words(item))
    return kind if kind in (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION) else Kind.GOAL


def user_kind(text: str, words: frozenset[str]) -> Kind:
    """What a sentence of the user is."""
    asks = text.rstrip().endswith("?")
    if asks and not cues.QUESTION_ASKS.search(text):
        return Kind.REQUEST
    kinds = kinds_of(text, by_user=True)
    if cues.names_failure(text) and FactKind.CONSTRAINT not in kinds:
        return Kind.ERROR
    if FactKind.DECISION in kinds and not asks:
        return Kind.DECISION
    if not asks and _SETTING.search(text) and atoms_of(text) and not cues.FIRM.found(text, words):
        return Kind.FACT
    if FactKind.CONSTRAINT in kinds:
        return Kind.CONSTRAINT
    if cues.PREFERENCE.found(text, words):
        return Kind.PREFERENCE
    if not asks and _only_points(text):
        return Kind.FACT
    if asks or _imperative(text):
        return Kind.REQUEST
    return Kind.FACT if cues.NOTED.found(text, words) or atoms_of(text) else Kind.REQUEST


_SETTING = re.compile(
    r"^\W*(?:\w+\W+){0,5}?(?:set|raise|lower|bump|increase|decrease|reduce|change|make|extend|cut|cap|"
    r"move|rename|pin|upgrade|downgrade)\b",
    re.IGNORECASE,
)
_POINTS_AT = re.compile(
    r"^\W*(?:please\s+|also\s+|and\s+)*(?:see|check|cf|refer\s+to|look\s+(?:at|in|into)|have\s+a\s+look|"
    r"you(?:['’]ll|\s+will|\s+can)\s+find|find|docs?|details|more\s+in|compare)\b",
    re.IGNORECASE,
)
_NARRATES = re.compile(
    r"^\W*(?:(?:right|ok(?:ay)?|well|hm+|ah|oh|so|yes|no|good|great|nice|and|but|because|since)\b\W+)*"
    r"(?:that|this|it|its|i|we|they|he|she|there|those|these|which)\b",
    re.IGNORECASE,
)
_NAMES_A_THING = re.compile(
    r"^\W*(?:the|our|my|your|his|her|their|all|each|every|most|some|both)\s", re.IGNORECASE
)
_WISHES = re.compile(
    r"\b(?:need|want|like\s+to|please|should|have\s+to|got\s+to|hope|wish|trying\s+to|goal|love\s+to)\b",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(
    r"^\W*(?:the|this|that|these|those|our|my|we|i|it|there|he|she|they|you|all|each|every|currently|"
    r"right\s+now|today|yesterday|[A-Z][a-z]+(?:['’]s)?)\s+(?:\S+\s+){0,5}?(?:is|are|was|were|has|have|had|"
    r"lives?|runs?|listens?|uses?|takes?|gets?|got|seems?|fails?|shows?|says?|owns?|returns?|sits?|will|should|can|gives?|allows?|expects?|costs?|needs?|contains?|"
    r"wants?|says?|means?|points?|goes|ends?|comes?|starts?|keeps?|holds?|wrote|made|sent|saw)\b",
    re.IGNORECASE,
)

_TELLS_OF = re.compile(
    r"^\W*+(?:(?<=\.)\w++|[\w.]*[_.\d]\w*+)\W*+(?<=\s)(?:is|are|was|were|has|means?|holds?)\b"
)


def _only_points(text: str) -> bool:
    """Whether a sentence is an exact thing with hardly a word around it ("ref https://...")."""
    atoms = atoms_of(text)
    if not atoms:
        return False
    rest = text
    for atom in reversed(atoms):
        rest = rest[: atom.start] + " " + rest[atom.end :]
    return len(rest.split()) <= 3


_AIMS = re.compile(r"\b(?:goal|objective|in\s+the\s+end|the\s+aim)\b", re.IGNORECASE)
_NEEDS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|now|and|but|well|alright)\b\W*)*(?:we|i)\s+(?:still\s+|also\s+|now\s+)*"
    r"(?:need|want|have)\s+to\b",
    re.IGNORECASE,
)


def is_goal(text: str) -> bool:
    """Whether a request names what is to be reached, beyond a single step."""
    return _NEEDS.match(text) is not None or _AIMS.search(text) is not None


_TELLS_TO = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|now|and|then|next|also|first|please)\b\W*)+(?:write|add|fix|make|create|build|"
    r"implement|remove|delete|port|refactor|test|document|release|publish|review|investigate|find|run|show)\s",
    re.IGNORECASE,
)


def _imperative(text: str) -> bool:
    if _NEEDS.match(text) or _TELLS_TO.match(text):
        return True
    if _NAMES_A_THING.match(text):
        return False
    if _NARRATES.match(text) and not _WISHES.search(text):
        return False
    return not (_DESCRIBES.match(text) or _POINTS_AT.match(text) or _TELLS_OF.match(text))


def asks_change(text: str) -> bool:
    """Whether a sentence gives a value to something ("set the limit to 80")."""
    return _SETTING.search(text) is not None

"""A statement in fewer words: always a piece of its own text, never a paraphrase."""

from __future__ import annotations

import re

from explorer.models.offline.extractive.atoms import Atom, atoms_of
from explorer.models.offline.extractive.claims import clause_spans
from explorer.models.offline.extractive.sentences import is_torn
from explorer.models.offline.extractive.statement import Kind, Statement
from explorer.models.offline.extractive.words import word_set

_LEAD = re.compile(
    r"""^(?:(?:ok(?:ay)?|so|well|also|and|but|oh|alright|right|great|thanks|thank\s+you|hi|hey|hello|please|
    now|then|just|btw|by\s+the\s+way|fyi|note\s+that|note|remember(?:\s+that)?|
      keep\s+in\s+mind(?:\s+that)?|
    one\s+(?:more\s+)?thing|actually|i\s+think|i\s+guess|i\s+believe|as\s+i\s+(?:said|mentioned)|
      it\s+
    (?:seems|looks\s+like)|for\s+the\s+record|just\s+so\s+you\s+know|heads[- ]up|important|done|
      got\s+it|
    sure|understood|perfect|anyway|additionally|furthermore|moreover|finally|first|second|however|
    in\s+addition|good|yes|yeah|for\s+reference|quick\s+note)(?:[,:;.!—–-]+\s*|\s+))+(?=\S{2,})""",
    re.IGNORECASE | re.VERBOSE,
)
_PARENTHESIS = re.compile(r"\s*\([^()]{3,160}\)")
_TAIL_STOP = word_set(
    """
    and but so because since which that when while if then to for as with before after
    though although unless until where who
    """
)
_WORD = re.compile(r"\S+")
_WINDOW_KINDS = (
    Kind.FACT,
    Kind.FINDING,
    Kind.DONE,
    Kind.NEXT,
    Kind.REQUEST,
    Kind.BLOCKED,
)
_ERROR_LIMIT = 240
_BEFORE = 7
_AFTER = 3
_TO_THE_END = 7


def wordings(statement: Statement) -> list[str]:
    """The text in full, then shorter, each a good deal shorter than the one before."""
    full = " ".join(statement.text.split())
    options = [full]
    if statement.kind is Kind.ERROR:
        return [full[:_ERROR_LIMIT]]
    if statement.kind is Kind.DOING:
        return [full]  # "let me check, it looks like X" must not become "X"
    lead = _without_lead(full)
    options.append(lead)
    if statement.kind in _WINDOW_KINDS and statement.atoms:
        window = _window(full, statement.atoms)
        options += [window, _terse(window)]
    elif len(lead) > 120:
        options.append(_without_asides(lead, statement.atoms))
    result = [options[0]]
    for option in options[1:]:
        torn = is_torn(option) and not is_torn(full)
        if option and not torn and len(option) <= len(result[-1]) - 4:
            result.append(option)
    return result


def _without_lead(text: str) -> str:
    cut = _LEAD.sub("", text, count=1)
    if len(cut) < 12 or cut == text:
        return text
    return cut[:1].upper() + cut[1:] if cut[:1].islower() and cut.split()[0].isalpha() else cut


def _without_asides(text: str, atoms: tuple[Atom, ...]) -> str:
    """Parentheses that hold nothing exact go."""
    keys = [atom.text for atom in atoms]
    return _PARENTHESIS.sub(
        lambda m: m.group() if any(key in m.group() for key in keys) else "", text
    )


_ARTICLES = word_set(
    """
    the a an this that these those we you you'll you’ll i please there our my your it's it’s also
    just about
    """
)


def _terse(text: str) -> str:
    """Without articles and pronouns, as in a note; words inside exact things stay."""
    atoms = atoms_of(text)
    kept: list[str] = []
    for word in _WORD.finditer(text):
        inside = any(a.start < word.end() and word.start() < a.end for a in atoms)
        if inside or word.group().lower() not in _ARTICLES:
            kept.append(word.group())
    return " ".join(kept)


def _window(text: str, atoms: tuple[Atom, ...]) -> str:
    """From a few words before the first exact thing to a few after the last."""
    spans = [
        (start, end)
        for start, end in clause_spans(text, atoms)
        if any(start <= atom.start < end for atom in atoms)
    ]
    if not spans:
        return text
    start, end = spans[0][0], spans[-1][1]
    first = min(atom.start for atom in atoms)
    # What an exact thing stands for may reach beyond a text that was cut.
    last = max((atom.end for atom in atoms if atom.end <= len(text)), default=end)
    before = list(_WORD.finditer(text, start, first))
    if len(before) > _BEFORE:
        start = before[-_BEFORE].start()
    after = list(_WORD.finditer(text, last, end))
    stop = last
    if len(after) <= _TO_THE_END:
        after, stop = [], end
    for count, word in enumerate(after):
        if count >= _AFTER or word.group().lower().strip(",.;") in _TAIL_STOP:
            break
        stop = word.end()
    window = _without_lead(text[start:stop].strip(" ,;:"))
    return window.rstrip(".")

"""What an agent announces at the end of a reply: the step that it takes next, in its own words.

A rule of thumb, precision first: only the last sentences of a reply count, and only those in which
the agent says what it does itself. An offer, a condition and a question announce nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from explorer.facts.commands import fences
from explorer.facts.statements import is_question
from explorer.facts.text import Sentence, sentences
from explorer.session.late_pattern import late_pattern

_LAST = 2
"""Sentences at the end of a reply in which a step is looked for."""
_LONGEST = 300
"""Characters of such a sentence."""
_ANNOUNCES = late_pattern(
    r"^(?:(?:and|then|now|next|so|ok|okay|yes|sure|right|first|also|after (?:that|this)|"
    r"(?:when|once|before|after|as soon as) [^,.;]{2,60}?)\b[,:]? *)*"
    r"(?:i(?:'ll| will|'d|'m going to| am going to) (?:now |next |then |first |also )?|let me |"
    r"i (?:now |next |then |first )?(?=(?:start|begin|look|take|write|check|go on|continue|compare|"
    r"fix|try|add|build|read|test|run|search|move|change|prepare|implement|work|swap|clean)\b))"
    r"(?!know\b|be\b|need\b|wait\b|recommend\b|suggest\b|say\b|prefer\b|like\b|love\b|happily\b|"
    r"happy\b|leave\b|keep\b|hold\b|stop\b|explain\b|summar|never\b|not\b|always\b)[a-z]+"
)
_OPEN = late_pattern(r"\bif (?:you|that|it)\b|\bunless\b|\bonce you\b|\bwhen you\b|\blet me know\b")


def announced_steps(reply: str) -> Iterator[Sentence]:
    """The sentences at the end of a reply that say what the agent does next; offsets in
    characters."""
    skip = [(start, end) for start, end, _ in fences(reply)]
    for one in sentences(reply, skip)[-_LAST:]:
        low = " ".join(one.text.lower().replace("’", "'").split())
        is_plain = len(low) <= _LONGEST and not is_question(one.text) and not _OPEN.search(low)
        if is_plain and _ANNOUNCES.match(low):
            yield one

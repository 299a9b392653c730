"""Open work: what is said to be left for later."""

from __future__ import annotations

import re

from explorer.audit.atoms.cues import ENOUGH, TODO_HEAD, Cue, Scale
from explorer.audit.atoms.phrasing import phrase
from explorer.audit.atoms.sentences import Sentence

_LATER = (
    r"(?:later|tomorrow|afterwards?|next (?:week|time|sprint|month|release)|eventually|"
    r"at some point|"
    r"some ?day|another (?:time|day)|separately|in a (?:follow-?up|later|second|separate)\b[\w -]*|"
    r"on (?:mon|tues|wednes|thurs|fri)day|when (?:there is|there's|we have) time|"
    r"after the (?:release|"
    r"launch|demo|holidays|merge))"
)
_TODOS = Scale(
    Cue(1.0, "todo fixme todos to-do tbd backlog unfinished"),
    Cue(
        1.0,
        "do",
        r"\b(?:still )?to[- ]do ?:|\bthings? (?:left )?to do\b|\b(?:is|are|still) to do\b",
    ),
    Cue(
        1.0,
        "remaining later follow-up followup open",
        r"^(?:still )?open ?:",
        r"\bremaining(?: work| tasks?| points?| steps?)?(?: is| are)? ?:",
        r"\bremain(?:s|ing)\b.{0,30}\bto (?:be )?\w+",
        r"^(?:for )?later ?:",
        r"\bfollow-?ups?\b",
        r"\bopen (?:point|item|task|end|issue|question|topic)s?\b",
    ),
    Cue(
        1.0,
        "still",
        r"\bstill (?:to (?:do|be|come|\w+)|open|missing|need(?:s|ed)?|ha(?:ve|s) to|left|pending|"
        r"outstanding|"
        r"unresolved|undone|lacks?|not (?:done|implemented|tested|covered|handled|wired|there|in)|"
        r"on (?:my|the|our) "
        r"list|requires?|want to|should|must|waiting|wants?|owe)\b",
        r"\b(?:is|are|'s) still (?:an? )?(?:todo|stub|placeholder|open|missing|untested|"
        r"undocumented|unhandled|hard-?coded)\b",
    ),
    Cue(
        1.0,
        "yet",
        r"(?:\bnot|n't)\b(?! exist).{0,60}\byet\b(?!, (?:nothing|no))",
        r"\b(?:has|have) yet to\b|\byet to (?:be )?\w+",
    ),
    Cue(
        1.0,
        "left remains remain leaves leave leaving",
        r"\bleft (?:to do|to be|open|over|undone|for (?:later|tomorrow|now|another|the next|next)|"
        r"to \w+)\b",
        r"\b(?:what|all|that|that's|is|are|what's) left\b(?! (?:side|hand|join|menu|of|border|"
        r"margin|panel|edge))",
        r"\bleft(?: to do)? ?:",
        r"\b(?:that|which|only) (?:still )?remains\b|^what (?:still )?remains\b|\bremains to\b|"
        r"\bremains (?:open|undone)\b",
        r"\bleav(?:e|es|ing) .{2,60} for (?:later|tomorrow|another|next|a follow)",
    ),
    Cue(
        1.0,
        "revisit back",
        r"\b(?:come|get|circle|return) back to (?!you|work|me\b)|\brevisit\b",
    ),
    Cue(
        1.0,
        "later tomorrow afterwards afterward eventually someday point day separately week time "
        "sprint month release launch demo holidays merge follow-up monday tuesday wednesday "
        "thursday friday",
        r"\b(?:i|we|you|someone|somebody)(?:'ll| will|'d| would| should| must| need to| have to|"
        rf" ought to| could| can)\b.{{2,90}}\b{_LATER}\b",
        rf"^{_LATER},? (?:i|we|you|someone)(?:'ll| will|'d| should| must| need to| have to| could|"
        r" can)\b",
        rf"\b(?:should|must|needs? to|has to|have to|will) be \w+(?: \w+){{0,3}} {_LATER}\b",
        rf"\bto be \w+(?:ed|en|ne) {_LATER}?\b",
        also="i'll we'll i we you someone somebody should must need needs has have will to be",
    ),
    Cue(
        1.0,
        "pending outstanding waiting awaiting blocked awaits parked undone unresolved",
        r"\b(?:is|are|'s|still) (?:now )?(?:pending|outstanding|undone|unresolved|parked)\b|"
        r"^(?:pending|outstanding) ?:",
        r"\b(?:waiting|awaiting|blocked) (?:for|on|by|until)\b",
    ),
    Cue(
        1.0,
        "not isn't aren't wasn't haven't hasn't unchecked untested unmeasured untried "
        "undocumented unverified nor",
        r"\b(?:is|are|has|have|was|were)(?:n't| not)(?: been)? (?:yet )?(?:tested|tried|measured|"
        r"checked|examined|verified|covered|documented|translated|"
        r"migrated|implemented|ported|wired|looked at|reviewed|benchmarked|updated)\b",
        r"^not (?:yet )?(?:tested|tried|measured|checked|examined|verified|covered|documented|"
        r"done|translated|implemented) ?:?",
        r"\b(?:we|i) have not (?:done|tested|tried|measured|checked)\b|\b(?:unchecked|untested|"
        r"unmeasured|untried|unverified)\b",
        r"^nor (?:is|are|do|does|has|have)\b",
        also="tested tried measured checked examined verified covered documented translated "
        "migrated implemented ported wired looked reviewed benchmarked updated done is are "
        "do does has have unchecked untested unmeasured untried unverified",
    ),
    Cue(
        1.0,
        "could can will should must has have needs need to are is",
        r"\b(?:could|can|will|should|must) be (?:\w+ ){1,3}(?:up |with )?in (?:a|the next|another|"
        r"a later|a quieter) \w+",
        r"\bto be (?:settled|decided|clarified|done|discussed|redone)\b|\bneeds? to be redone\b",
        r"\b(?:is|are) (?:for|in|due) (?:the )?next (?:sprint|iteration|release|week)\b",
        also="sprint iteration release week later settled decided clarified done discussed redone "
        "next quieter",
    ),
    Cue(1.0, "remember", r"\bneed to remember\b|^for later\b"),
    Cue(1.0, "remind forget", r"\bremind me\b|\bdon't let (?:me|us) forget\b"),
    Cue(
        1.0,
        "wait owe pile list friday monday tuesday wednesday thursday tomorrow later",
        r"\b(?:on|to) (?:the|my|our) (?:pile|list|todo list|backlog)\b",
        r"\b(?:that's|that one's|this is|that one is|one's|is|are) (?:something |"
        r"a job )?for (?:tomorrow|later|another day|next week|monday|tuesday|"
        r"wednesday|thursday|friday|after)\b",
        r"\b\w+ (?:later|tomorrow|next week), (?:maybe|perhaps|if|when|for)\b",
        r"\b(?:has|have|will have) to wait (?:till|until|for)\b|\bstill owe\b",
    ),
    Cue(
        -1.0,
        "nothing none anything",
        r"\b(?:nothing|none|not anything)(?: \w+){0,3} (?:left|remains|remaining|pending|"
        r"outstanding|open)\b",
    ),
    Cue(-1.0, "if whether", r"^(?:if|whether)\b"),
)
_WANTED = re.compile(
    r"\b(?:we|you) still (?:need|have) to\b(?!.*\b(?:later|tomorrow|next|some|"
    r"before)\b)"
)
"""Of the user: what is left is asked for."""
_NEXT = Cue(
    1.0,
    "next step steps",
    r"\bnext ?(?:steps?|up)? ?:(?= ?\S)",
    r"^(?:as (?:a )?)?next steps?\b",
    r"\bnext (?:i|we)(?:'ll| will| should| need)\b",
)
"""Of the assistant; a user who says "next:" asks."""
TODO_WORDS = _TODOS.words | _NEXT.words


def may_be_todo(words: frozenset[str]) -> bool:
    """Whether a sentence of the assistant's with these words may tell of open work."""
    return not _NEXT.words.isdisjoint(words) or bool(_TODOS.possible(words).cues)


def is_listed_todo(sentence: Sentence) -> bool:
    """Whether an item of a list is work that is left, by its box or by what it stands under."""
    if sentence.box:
        return sentence.box not in ("x", "X")
    return sentence.item and TODO_HEAD.search(sentence.under) is not None


def tells_of_open_work(text: str, *, by_user: bool = False) -> bool:
    """Whether a sentence tells of work that is left."""
    if text.endswith(":"):
        return False
    said = phrase(text)
    if by_user and _WANTED.search(said.low):
        return False
    return (not by_user and _NEXT.found(said)) or _TODOS.weigh(said) >= ENOUGH

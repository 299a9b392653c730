"""Standing instructions: what a user says that holds beyond the turn.

Rules of thumb, precision first. A sentence counts when it forbids or demands something for good
(*never*, *always*, *from now on*, *use X, not Y*), tells a preference (*I don't like X*), what the
work runs on (*you don't have access to X*), how to go about it (*before you change anything*) or
where the rules are (*follow FILE*), or when it stands in a list of rules. What orders one thing
now, asks, or speaks of this time only does not count, nor does text that the user did not type:
code, quoted text, tagged blocks of hooks and editors, plans, sections of a document. What the
leader of a team of agents assigns counts as typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from explorer.facts.assignments import assigned_rules
from explorer.facts.commands import fences
from explorer.facts.statements import is_question
from explorer.facts.text import Sentence, sentences, terms
from explorer.session.late_pattern import late_pattern

_TAGGED = late_pattern(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</\1\s*>", re.DOTALL)
_QUOTED = late_pattern(r"^[ \t]*>.*$|^[ \t]*[\"“][^\"“”]{20,}[\"”]", re.MULTILINE)
_PLAN = late_pattern(r"\s*(?:please )?implement (?:the following|this) plan\b", re.IGNORECASE)
"""How the message begins with which an agent passes on a plan."""
_REQUEST = late_pattern(r"^my request\b", re.IGNORECASE)
"""The heading of what was typed, in a message that an editor put together."""
_NUMBER = late_pattern(r"\d{1,2}[.)] *(?=[A-Za-z])")
_SUPPOSED = late_pattern(r"\bsupposed to .*\b(?:it|that|this|them|those)\W*$", re.IGNORECASE)
"""An instruction that names its subject in the sentence before."""
_DATA = late_pattern(r'[{\[]"|"[}\]:]|","')
_PAUSE = late_pattern(
    r"\.\.+\s*|(?<=[a-z]{3})\.(?=(?:and|but|so|also|maybe|its|it's|i)\b)|"
    r"\s+and\s+(?=(?:don['’]?t|do not) )",
    re.IGNORECASE,
)
"""Where those who type fast end a sentence, and where a prohibition is joined to another."""
_RULES = late_pattern(
    r"\b(?:rules?|constraints?|requirements?|conventions?|guidelines?|preferences|keep in mind|"
    r"(?:do|does)(?:n't| not) (?:ever )?do)\b[^.?]*:?\W*$",
    re.IGNORECASE,
)
_START = (
    r"^(?:(?:please|pls|also|and|but|so|ok|okay|yes|no|now|omfg|dude|remember|important|note|again|"
    r"oh|btw|then|plus|finally|still|just|well|right)\b[,:!]? *)*"
)
_FILE = r"@?[\w./-]+\.(?:md|txt|rst|toml|ya?ml|json)\b"
_PREFERENCES = tuple(
    late_pattern(form)
    for form in (
        r"\bi (?:really |just |also )?(?:don't|do not) like (?!how\b|that\b|this\b|it\b|the (?:way|"
        r"look|fact|idea)\b|when\b|where\b|what\b)",
        r"\bi (?:hate|can't stand) (?!how\b|that\b|this\b|it\b|when\b|to\b)",
        r"\btoo (?:many|much) (?:words|text|comments?|emojis?|jargon|prose)\b",
        _START + r"no (?:more )?(?:em-?\s?dash|emoji|comment|jargon|mock|semicolon|abbreviation)",
    )
)
"""Of one telling word: what the user does not like is named by it."""
_FACTS = tuple(
    late_pattern(form)
    for form in (
        # What the work runs on.
        r"\byou (?:don't|do not|won't|never) have (?:any )?(?:access|permissions?|rights|network|"
        r"internet|credentials)\b|\byou have no (?:access|permissions?|network|internet)\b",
        r"\byou (?:can't|cannot) (?:access|reach|use|run|install|connect to|write to) "
        r"(?!it\b|that\b|this\b|them\b)",
        r"^(?!.*\b(?:if|when|how many|test|tests|still)\b)[a-z][\w' -]{1,40}? "
        r"(?:runs|is running|are running|is hosted|lives) (?:on|under|behind) "
        r"(?:your|my|our|the|an?|port|\d)",
        _START
        + r"we (?:only |always |still |already |currently )?(?:use|deploy (?:to|with|on|via)|"
        r"run (?:on|in|under)|build (?:on|with)|host) (?!it\b|that\b|this\b|them\b|to\b)",
        r"\bwe (?:currently |really |just )?(?:don't|do not) (?:use|support|need|want) "
        r"(?!it\b|that\b|this\b|these\b|those\b|them\b|to\b|any of\b)",
        r"\bthis (?:repo|repository|project|codebase) (?:will|uses|runs|supports|targets|has to|"
        r"needs to)\b",
        # What is meant to come, which decides how to build today.
        r"\bfor now\b.*\b(?:later|eventually)\b|"
        r"\b(?:eventually|later(?: on)?),? (?:i|we)(?:'ll| will|"
        r"(?:'m| am|'re| are) going to) ",
        # Where the rules are, and what was agreed.
        r"\b(?:follow(?:ing)?|stick to|adhere to|obey|respect) (?:(?:the|our|my|all)(?: \w+)? )?(?:"
        + _FILE
        + r"|.{0,30}\b(?:guidelines?|conventions?|style guide|coding style)\b)",
        r"\b(?:see|read|check|consult) " + _FILE + r" (?:for|before)\b",
        r"\byou(?:'re| are) supposed to (?!know\b|see\b|find\b|get\b)",
        r"\b(?:keep|bear) in mind\b|" + _START + r"remember (?:that|to) ",
        # How to go about it.
        r"\bbefore (?:you|we) (?!\w+:)(?:make|do|change|implement|commit|push|write|touch|"
        r"edit|code|merge|deploy|delete|release)\b",
        r"\b(?:before|after) (?:each|every)\b",
        r"\bno need (?:to (?:run|test|write|commit|push|ask|document|explain|support)|for (?:back"
        r"wards?|tests?|comments?|docs?|migrations?))\b",
        _START + r"(?:don't|do not) (?:do|run) (?:any|the) ",
        _START + r"make sure (?!it\b|this\b|that (?:it|this)\b).*\b(?:always|never|every|all|each|"
        r"tests? (?:still )?pass)\b",
        r"\bkeep (?:the|our|my|all|every) .{2,40}\b(?:around|for reference|"
        r"backwards?.compatible)\b",
        # What is wanted of all that is made.
        r"\b(?:i|we)(?:'d| would)? (?:really |would )?only (?:want|need|support|accept|"
        r"care about) ",
        r"\bi (?:greatly |really |highly |strongly )?(?:value|insist)\b",
        r"\bonly\b.{0,30}\b(?:up to|at most|a maximum of) \d",
        r"\bshould (?:always )?be (?:called|named|referred to as|spelled|written in)\b",
        _START + r"use .{2,40}\b(?:spelling|conventions?|naming|commit (?:titles|messages))\b",
    )
)
_THING = (
    r"(?<![\w'.-])(?!(?:i|it|he|she|we|you|they|this|that|these|those|there|which|who|what|"
    r"something|someone|somebody|one of)\b)[a-z][\w'./\\-]*(?: [\w'./\\-]+){0,7}?"
)
"""Of what a rule speaks: no word that points at what was said before."""
_AT_ONCE = (
    r"(?:fixed|changed|updated|renamed|removed|added|moved|replaced|adapted|rewritten|done|redone|"
    r"left|restarted|reviewed|checked|adjusted|arranged|deleted|refactored|implemented|deployed|cleaned|merged)"
)
"""What is done once and over with."""
_HAS_TO = r"(?:must|has to|have to|needs? to|ought to|shall)"
_MUST = rf"(?:{_HAS_TO}|should)"
_DEMANDS = tuple(
    late_pattern(form)
    for form in (
        # How something has to stay, whatever is done.
        rf"{_THING} {_HAS_TO} (?:always |still |absolutely |really |at least )*(?:stay|remain|"
        r"keep|run|work|fit|follow|support|contain|survive|finish|answer|go through|reject) "
        r"(?!again\b|now\b|fine\b|correctly\b|properly\b)",
        r"^(?:and |but |so |or |also )*it (?:must|has to|needs to) (?:still |always )?(?:stay|keep|"
        r"run|work|look|finish|answer|fit) (?:\w+ ){0,3}?(?:on|in|within|under|with|without|at|by|"
        r"for|offline)\b",
        rf"{_THING} (?:must|has to|have to|shall) be (?!(?:just |now |still )*{_AT_ONCE}\b)"
        r"(?!a\b|an\b|the\b|some|because|wrong|broken|missing|due|caused|there|in\b|about|like|"
        r"doing|using|getting|being|possible|able|easy|\w+ing\b)\w+",
        rf"{_THING} (?:must|shall|should|may) (?:contain|hold|have) no\b",
        # What may not be.
        rf"{_THING}(?<! which)(?<! that) (?:may|shall|should) (?:not|never) (?!be (?:needed|"
        r"necessary|available|possible|the|a|able|worth|enough|right)\b|have\b|work\b|exist\b|"
        r"happen\b|need\b|matter\b|match\b|reflect\b|know\b|apply\b)[a-z]+",
        r"\b(?:is|are)(?:n't| not)? (?:not )?to be (?!(?:found|seen|expected)\b)\w+ed by you\b|"
        r"\b(?:you|we)(?:'re| are) not (?:allowed )?to\b",
        r"\b(?:nothing|nobody|no one)\b.{0,30}? (?:may|must|should|shall|is to|can ever)\b",
        r"\b(?:nothing|nobody|no one) (?:gets?|goes|leaves|enters) .{0,40}\b(?:till|until|unless|"
        r"without|before)\b",
        _START + r"nothing (?:that|which|bigger|larger|longer|heavier|but|except|with)\b",
        rf"{_THING} can(?:'t|not| not) (?:take|be|run|grow|get|go|last|cost) (?:more|longer|larger|"
        r"bigger|higher|later|over|above|below)\b|\bunder any circumstances\b",
        _START + r"(?:don't|do not) (?:you dare |(?:bump|nuke|suppress|upgrade|downgrade|overwrite|"
        r"truncate|squash|rebase|hard-?code|mix|rely on|depend on) (?!it\b|that\b|this\b|them\b))",
        _START + r"(?:please )?no (?:new|more|other|extra|additional) (?!errors?|issues?|problems?)"
        r"[a-z-]+|\bno [a-z-]+(?: [a-z-]+){0,3} (?:ever|at all|please|anywhere)\b",
        _START + r"(?:please )?(?:just )?(?:hands off|stay away from|stay out of|steer clear of) ",
        r"\b(?:is|are) (?:sacred|immutable|taboo|untouchable|non-negotiable|not negotiable|off[- ]"
        r"limits|read[- ]only for you|only for reading)\b",
        r"^(?:(?:please|also|and|but|so|just)\b,? *)*leave (?!it\b|that\b|this\b|them\b)"
        r"[^,]{3,50} (?:alone|untouched|"
        r"as (?:it|they) (?:is|are)|unchanged)\b",
        # Where things go, for all of their kind.
        r"^(?:and |but |also )*(?:all |any |every |new |our |only )*(?!the |it |this |that |my )"
        r"(?:[a-z-]+ ){0,2}(?:[a-z]+[^s\W]s|everything|anything [\w ]{3,20}) (?:goes?|belongs?|"
        r"lives?) (?:only )?(?:in|into|to|under|through|thru|next to|on|beside|below) "
        r"(?!the wrong)",
        # How each of its kind is made.
        r"\b(?:every|each|any|all|whatever) (?:new )?[a-z]+(?: [a-z]+)? (?:that )?you (?!just\b|"
        r"already\b|have\b|had\b|did\b|made\b|see\b|saw\b|found\b|want\b|said\b|think\b|just\b|"
        r"mentioned\b|listed\b|can\b|could\b)[a-z]+",
        r"\b(?:whenever|every time|each time) (?:you|we|a|an|the|someone|anyone)\b|"
        r"\b(?:off|on|out|closed|open|locked) whenever\b",
        r"\bi(?:'d| would) (?:rather|prefer|appreciate)\b.{0,20}\b(?:keep|every|all|not|no|never|"
        r"always)\b",
        r"\bone [a-z]+ at a time\b",
        r"\bfrom (?:next \w+|tomorrow|monday|tuesday|wednesday|thursday|friday) (?:on\b|please\b|"
        r"onwards?\b)|^from next \w+ ",
        r"\bonly [\w-]+(?: [\w-]+){0,2}, no [a-z]+|\b[\w-]+ only, (?:no|nothing|i'm)\b|"
        r"^(?:\w+ ){1,3}only in [a-z]+",
        r"\b(?:only|just|always|both|in) (?:in )?(?:english|german|french|spanish|dutch|japanese)\b"
        r".{0,15}\b(?:only|always|both|please)\b|\b(?:english|german|french|spanish|dutch|"
        r"japanese) only\b|\bonly (?:in )?(?:english|german|french|spanish|dutch|japanese)\b",
    )
)
"""What is demanded of things, not of the next step."""
_LIMIT = late_pattern(
    r"\b(?:at most|at least|no more than|not more than|max(?:imum)?|no (?:longer|larger|bigger|"
    r"smaller|less|later) than|(?:nothing|not) (?:bigger|longer|larger|above|over)(?: than)?|"
    r"under|below|within|above|over|up to) ~?\d"
)
_WANTED = late_pattern(
    rf"\b(?:{_MUST}|may not|can't|keep (?!it to)|limit|cap|stay|max(?:imum)?|everywhere|please)\b"
)
"""What makes a limit one that is laid down, where nothing else tells."""
_NO_LIMIT = late_pattern(
    r"\b(?:is|are|was|were|had|takes?|took|got|gets|shows?|there|see|lost|found|uses?|reached|"
    r"exceeds?|failed|fails|went|goes|runs|ran)\b|^(?:give|show|list|find|tell|suggest|propose|pick|"
    r"try|run|add|write|create|generate|explain|read|wait|shrink|cut|bring|get|reduce)\b|"
    r"\b(?:it|this|that|them) (?:to )?(?:under|below|within)\b"
)
"""What reports a figure, or orders one thing."""
_STANDING = tuple(
    late_pattern(form)
    for form in (
        # For good, in so many words.
        r"\b(?:from (?:now|here|today) on|going forward|at all times|as a rule|"
        r"(?:until|unless) i (?:say|tell|ask)|under no circumstances|no matter what|"
        r"as long as i)\b|^(?:every time|each time|whenever) ",
        _START + r"in (?:the )?future,? (?!i\b|it\b|we (?:might|could)\b)",
        r"\b(?:please|always|never|don't|do not|use|should|must)\b.* in (?:the )?future(?:,|\W*$)",
        r"\bdon't ever\b|\bdo not ever\b",
        r"\b(?:(?:must|may|should|shall) (?:never|always|only)|can (?:never|only))\b",
        r"\bnever (?!mind\b|more\b|less\b|again\b|been\b|had\b|seen\b|heard\b|worked\b|tried\b|"
        r"got\b|done\b|did\b|was\b|were\b|happens?\b|happened\b|in\b|on\b|for\b|the\b|a\b|an\b|to\b|knew\b)"
        r"(?!\w+ed\b)[a-z]+",
        _START + r"always (?!the\b|a\b|been\b)[a-z]+|\b(?:you|we|please|and|,) always [a-z]+",
        r"\bmust(?:n't| not)\b",
        r"\b(?:all|any|every|each|no|nothing|nobody|only)\b.{0,60}\bmust\b|\bmust (?:be |stay "
        r"|remain |keep |always |still |pass |match |support )*(?:within|under|below|at (?:most|"
        r"least)|in sync|backwards?|compatible|unchanged|private|green|answer (?:within|in))\b",
        _START + r"avoid (?!it\b|that\b|this\b)[a-z]+",
        _START + r"(?:don't|do not) (?:you )?(?:use|add|push|commit|touch|mock|install|delete|"
        r"remove|rename|write|break|mention|create|skip|disable|loosen|weaken|force|merge|include|"
        r"put|store|log|import|ask|guess|assume|hardcode|invent|sample|edit|deploy|publish|"
        r"introduce|change|rewrite|reformat|expose|leak|send|call|exceed)\b"
        r"(?! (?:it|that|this|them|those|these|so|one|any of)\b)",
        _START + r"no (?!(?:idea|problems?|worr\w*|need|rush|clue|way|reason|doubt|matter|wonder|"
        r"hurry|thanks?|luck|changes?|difference|one|big|such|longer|i|we|it|that|this|the|you|"
        r"please|let|just|leave|keep|use|do|don't|make|put|try|add|remove|there|it's|that's|in|"
        r"errors?|results?|answer|output|news|sorry|wait|go|not|more)\b)"
        r"(?!\w+ (?:\w+ed|found)\b)[a-z'-]+ ?"
        r"[^,]{0,60}$",
        _START + r"use (?!case|of\b|it\b|that\b|this\b|them\b).{2,60}?(?:,| and| but) "
        r"(?:not|no|never) ",
        _START + r"use .{2,60} instead of .{2,60}|" + _START + r"only (?:use|touch|edit|write|"
        r"change|commit|run|read) ",
        r"\b(?:i|we) (?:(?:much|really|always|strongly|generally|actually|usually) )?"
        r"prefer\b(?! (?:it|that|this)\b)"
        r"|" + _START + r"prefer ",
        r"\b(?:i|we) (?:really |just )?(?:don't|do not|never) want (?:you|any|other|to (?:see|"
        r"have|ship|use|depend|add|introduce))\b",
        r"\bask (?:me |us )?(?:first|before)\b|\bwithout (?:asking|my (?:ok|approval|permission))",
        _START + r"keep (?:the|all|every|any|our|my|your|each|qq|[a-z-]+s) .*\b(?:unchanged|stable|"
        r"intact|untouched|short|small|simple|compatible|as (?:it|they) (?:is|are)|in sync|"
        r"green|sorted|private|minimal)\b",
        r"^(?:the|our|my|all|every|each) .{2,50}\b(?:stays?|remains?|keeps? its)\b(?! (?:the same "
        r"as|red|broken|empty|open|on\b))",
        _START + r"(?:at most|at least|no more than|no less than|not more than) \d+ [a-z]+",
        _START + r"(?:use|take|allow|spend|make|send|keep (?:it |them )?(?:to|under|below)|limit "
        r"\w+ to) (?:at most|at least|no more than|only|up to) ",
        _START + r"(?:limit|cap|restrict) .{2,40} to \d",
        r"\b(?:is|are) (?:off[- ]limits|forbidden|not allowed|out of bounds|mandatory|frozen|"
        r"never (?:to be )?\w+)\b",
        r"\brule (?:\d+|number \w+) is now\b",
        r"^(?:everything|all [a-z ]{2,30}|docs?|comments?|code|commits?|tests?) (?:goes|go|is|are|"
        r"stays?) in (?:english|german|french|spanish)\b",
    )
)
_THIS_TIME = late_pattern(
    r"\b(?:for now|right now|this time|today|tonight|not yet|yet(?=\W*$)|until then|at the moment|"
    r"for the moment|just this once|in this (?:step|change|turn|round|commit|pr)|side question)\b"
)
_LATER = late_pattern(r"\bfor now\b.*\b(?:later|eventually)\b")
_LASTING = (
    late_pattern(r"\b(?:from now on|always|never|after (?:each|every)|before (?:each|every))\b"),
    late_pattern(r"\bkeep (?:the|our|my|all) .{2,40}\b(?:around|for reference)\b"),
)
"""What makes a wish in the form of a question one for good."""
_REPORT = late_pattern(
    r"^(?:\w+[,!]? )?(?:i|it|he|she|they|which|who)(?:'s|'d| has| have| was| is| just| still|"
    r" also)? (?:never|always|can't|cannot|don't|doesn't|didn't|won't|must)\b(?! (?:want|like)\b)"
    r"|\b(?:that|this|it) (?:should|must|can|may|will|would)(?:n't| not)? (?:never|always|not)? ?"
    r"(?:happen|be|work|explode|fail|crash)\b"
    r"|\b(?:but|and|because|since|that|which|who|it|he|she|they) (?:never|always) [a-z]+s\b"
    r"|^(?:and |but |so |hm+,? )?(?:why|how|what(?! are your)|where|when|who|if you want)\b"
    r"|\b(?:might|maybe|perhaps|i (?:feel|wonder|wish|thought|guess)|"
    r"do you (?:think|know|mean|see))\b"
)
_EXAMPLE = late_pattern(r"^\W*(?:(?:good|bad|wrong|right) )?examples?\b", re.IGNORECASE)
_QUOTED_WORDS = late_pattern(r"``?[^`\n]+``?")
_POLITE = late_pattern(
    r"^(?:(?:btw|also|and|ok|okay|please|so)\b,? )*(?:can|could|would|will) (?:you|we) (?:please )?"
    r"(?:make it so )?"
)
"""A wish in the form of a question."""
_SHORT_FORMS = late_pattern(r"\b(do|does|ca|wo|should|is|are|would|did)nt\b")
_LEAST = 2
"""Telling words of an instruction; one with fewer depends on what was said before it."""
_LONGEST = 400
"""Characters of an instruction."""
_DOCUMENT = 3_000
"""Characters of a message from which it was pasted, not typed."""
_FORMATTED = 1_000
"""The same of one with bold words: an answer of another assistant."""
_BOLD = 6
"""Marks of bold words in such a message."""


def standing_instructions(text: str) -> Iterator[Sentence]:
    """The sentences of a user's message that hold beyond its turn, in order; offsets in
    characters."""
    yield from assigned_rules(text)
    is_formatted = len(text) > _FORMATTED and text.count("**") >= _BOLD
    if len(text) > _DOCUMENT or is_formatted or _PLAN.match(text):
        return
    before: Sentence | None = None
    for one in sentences(text, _not_typed(text)):
        if one.section and not (_RULES.search(one.section) or _REQUEST.match(one.section)):
            continue
        for part in _parts(one):
            if _holds(part):
                if before is not None and _SUPPOSED.search(part.text):
                    start = before.start
                    part = part._replace(text=text[start : part.end], start=start)
                yield part
            before = part


def _parts(one: Sentence) -> Iterator[Sentence]:
    """A sentence cut where two points, or one without a blank, stand for its end."""
    number = _NUMBER.match(one.text)
    at = number.end() if number else 0
    for pause in [*(match.span() for match in _PAUSE.finditer(one.text)), (len(one.text),) * 2]:
        if pause[0] > at:
            start, end = one.start + at, one.start + pause[0]
            yield one._replace(text=one.text[at : pause[0]], start=start, end=end)
        at = max(at, pause[1])


def _not_typed(text: str) -> list[tuple[int, int]]:
    """Ranges that the user did not type: code blocks, tagged blocks, quoted text."""
    found = [(start, end) for start, end, _ in fences(text)]
    for pattern in (_TAGGED, _QUOTED):
        found += [match.span() for match in pattern.finditer(text)]
    return sorted(found)


def _holds(one: Sentence) -> bool:
    if len(one.text) > _LONGEST or one.text.endswith(":") or _DATA.search(one.text):
        return False
    telling = len(terms(one.text))
    if one.checkbox or not telling or _EXAMPLE.match(one.text):
        return False
    low = _QUOTED_WORDS.sub("qq", one.text.lower().replace("’", "'"))
    low = _SHORT_FORMS.sub(r"\1n't", " ".join(low.replace("*", "").split()))
    if is_question(one.text):
        wish = _POLITE.sub("", low)
        return wish != low and _is_any(_LASTING, wish)
    if _THIS_TIME.search(low) and not _LATER.search(low):
        return False
    if telling >= _LEAST and one.item and _RULES.search(one.under or one.section):
        return True
    if telling < _LEAST:
        return _is_any(_PREFERENCES, low) and not _REPORT.search(low)
    forms = (*_PREFERENCES, *_FACTS, *_STANDING, *_DEMANDS)
    return (_is_any(forms, low) or _is_limit(low)) and not _REPORT.search(low)


def _is_limit(low: str) -> bool:
    """Whether a sentence lays down how much or how many there may be."""
    if not _LIMIT.search(low):
        return False
    return _WANTED.search(low) is not None or not _NO_LIMIT.search(low)


def _is_any(forms: Iterable[re.Pattern[str]], low: str) -> bool:
    return any(form.search(low) for form in forms)

"""What tells that a text demands, states, tells of something done, or begins like a request."""

from __future__ import annotations

import re

from explorer.audit.atoms.keys import stem
from explorer.audit.atoms.lists import word_set


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


DIRECTS = _any(
    r"§(?:max|min|only|keep|free|before|todo)",
    r"\b(?:must|should|shall|needs?|has\s+to|have\s+to|required?|wants?|asks?|limit(?:ed)?|always|"
    r"will|going\s+to|goal|to\s+(?:be|do)|has\s+been\s+asked)\b",
)
"""It says what is to be."""
STATES = _any(
    r"\w\s+(?:is|are|has|have|was|were|does|takes?|uses?|ships?|accepts?|returns?|makes?|gets?|"
    r"runs?|fails|works|causes?|contains?|gives?|writes|reads|leaks?|restarts|shows?|lists|"
    r"prints|lies|stands|comes|goes|supports|calls|expects|needs|wraps|holds|breaks|sends|"
    r"receives|lacks|belongs)\b",
    r"§past",
)
"""It says what is."""
DEMANDS = _any(
    r"§(?:only|keep|free|todo|not)",
    r"\b(?:must|should|shall|needs?|has\s+to|have\s+to|wants?|to\s+be|are|is|be)\b",
)
"""A word in -ed beside this is no tale of the past."""
SOLVED = re.compile(
    r"\b(?:fixed|solved|resolved|completed|finished|merged|shipped)\b"
    r"|^\W*(?!Need|Feed|Ask|Want|Request|Speed|Embed)[A-Z]\w+ed\s"
)
TELLS = _any(r"\b(?:told|wrote|made|sent|found|ran|did|went|got|gave)\b")
NEEDS = _any(r"\b(?:needs?|requires?)\b")
USES = _any(r"\b(?:uses?|needs?|wants?|likes?)\b")
EVERY = _any(r"\b(?:every|each|all|any|always)\b")
SINGLE = _any(r"\b(?:last|latest|first|next|one|some|this)\b")
ENDS = _any(r"\b(?:until|till)\b")
"""It holds up to a time."""
UNTIL = _any(r"\b(?:until|till|up\s+to|by|before)\b", r"§(?:before|max)")
RULES = _any(
    r"^\s*(?:whatever|regardless|even\s+(?:if|when))\b",
    r"§(?:not|max|min|only|keep|above|before)",
    r"\b(?:must|always|have\s+to|has\s+to|needs?\s+to|should|shall|required?|belongs?|"
    r"goes?\s+(?:in|to|into|on)|lives?\s+in)\b",
)
"""It lays something down."""
ASIDE = _any(
    r"^\s*(?:the\s+rest|everything\s+else|(?:the\s+)?others?)\b", r"^\s*§not\s+an?\s+\w+\s*$"
)
"""It is said beside the matter: "the rest stays", "not a hiccup"."""
_BEGINS = re.compile(
    r"\W*(?:(?:and|or|so|then|also|first|later|please|just|§before)\s+)*([A-Za-z]+)", re.IGNORECASE
)
_PAST = re.compile(r"(?<!be)(?<!is)(?<!are)(?<!get)(?<!§not)\s(\w+ed)\b", re.IGNORECASE)
_BIDS = word_set(
    """
    adapt add address adjust analyse analyze append apply archive ask assign automate backfill
    benchmark bring build bump cache calculate call cancel capture change check clean close collect
    combine commit compare complete compress compute configure confirm connect continue convert
    copy correct count cover create cut debug define delete deploy describe design determine
    diagnose disable do document download draft drop dump edit enable encode ensure escape estimate
    evaluate examine exclude execute expand explain export expose extend extract fetch figure find
    finish fix gather generate get give go handle help hook implement import improve include
    increase inject inline insert inspect install instrument integrate introduce investigate join
    keep label launch leave let lint list locate look lower make map mark measure mention merge
    migrate mock move narrow open optimise optimize parse patch pick pin plot polish port prepare
    print profile propose publish pull push put raise rank read rebase reduce refactor register
    release remove rename reorder repeat replace report reproduce rerun reset resolve restart
    restore resume retry return revert review rewrite roll rotate round run save scaffold scan
    schedule search see seed send set ship shorten show simplify sketch skip sort speed split
    squash start store suggest summarise summarize switch sync tag take translate trim try turn
    tweak unify update upgrade use validate verify visualize wait walk warn wire wrap write
    """
)
_VERBS = frozenset(
    map(
        stem,
        word_set(
            """
            accept allow belong built cache come contain depend exit go gone happen held hold keep
            kept leave listen live made print put rely return serve ship show shown stay stop
            store take
            """
        ),
    )
)


def first_word(text: str) -> str:
    """The word that a text begins with, what only leads to it left out."""
    found = _BEGINS.match(text)
    return found.group(1).lower() if found else ""


def bids(text: str) -> bool:
    """Whether a text begins like a request."""
    return first_word(text) in _BIDS


def told_as_done(text: str) -> list[str]:
    """The words in -ed that may tell of something done."""
    return _PAST.findall(f" {text}")


def is_verb(word: str) -> bool:
    """Whether a word is one that a line without a verb can leave out."""
    low = word.lower()
    return low in _BIDS or low.endswith(("ed", "ing")) or stem(low) in _VERBS

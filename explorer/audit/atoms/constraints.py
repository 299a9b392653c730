"""Rules: what a user demands, forbids or limits for the work from now on.

A rule is told by its mood (an order not to, to keep, to avoid), by a verb of duty or permission
(must, has to, may not, should), by a limit (at most 5, under 200 ms), by what it closes (only,
off limits, nothing may), by how long it holds (from now on, until I say so) or by what the user
would rather have. Against it speak what did happen, what the user cannot do, and what seems.
"""

from __future__ import annotations

from explorer.audit.atoms.cues import ENOUGH, RULE_HEAD, Cue, Scale
from explorer.audit.atoms.duties import DUTY, FORBIDDING
from explorer.audit.atoms.limits import LIMITS, NEW_VALUES
from explorer.audit.atoms.phrasing import Phrase, phrase
from explorer.audit.atoms.sentences import Sentence
from explorer.audit.atoms.standing import KEEPING, STANDING, WISHES

_AGAINST = (
    Cue(
        -1.0,
        "took takes was were is got gets measured went ran runs dropped down",
        r"\b(?:took|takes|was|were|is|got|gets|measured|went|ran|runs|dropped|"
        r"down)\b[^,;]{0,30}\b(?:under|below|within|than|above) "
        r"[~\d]",
    ),
    Cue(
        -0.6,
        "took takes was were measured went ran dropped fails failed worked had",
        r"\b(?:took|was|were|measured|went|ran|dropped|failed|fails|worked)\b(?!.*\b(?:must|never|"
        r"don't|only|"
        r"please|from now on)\b)",
    ),
    Cue(
        -1.0,
        "must",
        r"\bmust(?:'ve| have\b| be (?:a |an |the |some|because|due|caused|something|wrong|in)\w*)",
    ),
    Cue(
        -2.0,
        "i",
        r"^(?:\w+,? )?i (?:can't|cannot|don't|do not|never|didn't|couldn't|haven't|am not|always) "
        r"(?!want|wish|like|allow|accept|need|care)",
    ),
    Cue(
        -1.0,
        "never always it that this he she they which who",
        r"\b(?:it|that|this|he|she|they|which|who|i)(?:'s| is| was| has| have| had|"
        r" just)? (?:never|always)\b",
    ),
    Cue(
        -1.0, "it this that", r"\b(?:it|this|that|which) (?:doesn't|does not|can't|cannot|won't)\b"
    ),
    Cue(
        -1.0,
        "not only when one happens",
        r"\bnot only\b|\bonly (?:happens|fails|when (?:it|the)|one of|\d+ \w+ fail)",
    ),
    Cue(-1.0, "why how", r"^(?:and |but )?(?:why|how)\b"),
    Cue(-1.0, "seem work compile pass", r"\bdon't (?:seem|work|compile|pass)\b"),
    Cue(
        -1.0,
        "looks thanks thank great perfect nice works",
        r"^(?:thanks|thank you|great|perfect|nice|works)\b[^,.]*$",
    ),
    Cue(-1.0, "i'll i", r"\bi'll have to\b|^i have to\b"),
    Cue(-1.0, "wait arranged", r"\bha(?:s|ve) to wait\b|\bhas to be arranged\b"),
    Cue(-1.0, "give", r"\bi can(?:'t| not|not) give\b"),
    Cue(
        -1.0,
        "we we'll",
        r"\bwe(?:'ll| will)? (?:bump|raise|lower|set|stay with|stick with|go with)\b",
    ),
    Cue(-0.5, "later", r"\b(?:for|until) later\b"),
    Cue(-1.0, "then", r"^(?:ok(?:ay)?,? |fine,? )?no [\w -]+ then\W*$"),
    Cue(
        -1.0,
        "that's which i'll",
        r"\b(?:that's|which is) why\b|^(?:and )?i(?:'ll be|'m|"
        r" am) ",
    ),
)
_RULES = Scale(*DUTY, *FORBIDDING, *LIMITS, *KEEPING, *STANDING, *WISHES, *NEW_VALUES, *_AGAINST)

RULE_WORDS = _RULES.words


def is_listed_rule(sentence: Sentence) -> bool:
    """Whether an item of a list stands under a heading of rules."""
    return sentence.item and RULE_HEAD.search(sentence.under) is not None


def rules(text: str) -> bool:
    """Whether a sentence of the user's forbids, demands or limits."""
    return not text.endswith(":") and rule_weight(phrase(text)) >= ENOUGH


def rule_weight(said: Phrase) -> float:
    """How much of a rule a sentence of the user's is."""
    return _RULES.weigh(said)

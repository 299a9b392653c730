"""How people change what they said: another value, leave given, a rule lifted."""

from __future__ import annotations

import re

from explorer.audit.atoms.lists import whole_words

SETS = whole_words(
    r"make",
    r"set",
    r"rais(?:e|ed)",
    r"lower(?:ed)?",
    r"bump(?:ed)?",
    r"(?:in|de)creased?",
    r"reduced?",
    r"chang(?:e|ed)",
    r"relax(?:ed)?",
    r"tighten(?:ed)?",
    r"extend(?:ed)?",
    r"shorten(?:ed)?",
    r"halve",
    r"double",
    r"(?:ceiling|floor|cap|limit)",
)
CHANGE = whole_words(
    r"now",
    r"instead",
    r"actually",
    r"after\s+all",
    r"no\s+longer",
    r"any\s?more",
    r"correction",
    r"enough",
    r"plenty",
    r"kinder",
    r"rather",
    r"final",
    r"turns?\s+out",
    r"from\s+(?:now|here)\s+on",
    r"scratch\s+that",
    r"forget",
    r"let['’]?s\s+say",
    r"new\s+(?:limit|cap|budget|deadline|value)",
    r"(?:is|are)\s+(?:fine|ok(?:ay)?|permitted|allowed)",
    r"moved",
    r"revert(?:ed)?",
    r"back\s+to",
)
POINTS_BACK = re.compile(
    r"\b(?:make|set|raise|lower|bump|cut|change|relax|use|halve|double)\s+(?:that|it|this|them|"
    r"the\s+(?:limit|cap|budget|timeout|deadline))\b|"
    r"\b(?:that|it)['’]?s?\s+(?:is\s+)?now\b"
    r"|\bthe\s+(?:limit|cap|budget|timeout|number|value|deadline)\s+(?:is|was|moved)\b",
    re.IGNORECASE,
)
LIFTS = whole_words(
    r"no\s+longer\s+(?:need|have|required?|necessary|applies|matters?)",
    r"(?:forget|ignore)\s+(?:about\s+)?(?:what|the|my|that|it)",
    r"(?:drop|lift|scrap)\s+the\s+(?:rule|limit|requirement|restriction|cap)",
    r"doesn['’]?t\s+(?:matter|apply)\s+any\s?more",
    r"never\s?mind\s+(?:the|that|what|my)",
    r"(?:scratch|scrap)\s+(?:that|the)",
)
PERMITS = whole_words(
    r"(?:you|we|they)\s+(?:may|can|are\s+(?:allowed|free)\s+to)",
    r"feel\s+free",
    r"(?:is|are)\s+(?:allowed|permitted|fine|ok(?:ay)?)",
    r"(?:yes|fine|ok(?:ay)?|plus|also|too|as\s+well|after\s+all|from\s+(?:here|now)\s+on)",
)
ANEW = whole_words(
    r"now",
    r"yes",
    r"after\s+all",
    r"as\s+well",
    r"too",
    r"again",
    r"fine",
    r"ok(?:ay)?",
    r"allowed",
    r"permitted",
    r"from\s+(?:here|now)\s+on",
)
FORBIDS = whole_words(
    r"no",
    r"not",
    r"never",
    r"nothing",
    r"only",
    r"without",
    r"don['’]?t",
    r"must\s?n['’]t",
    r"can(?:['’]?t|not)",
    r"hands?\s+off",
    r"off[- ]limits",
    r"avoid",
    r"read-only",
    r"leave",
    r"untouched",
    r"alone",
)
FOR_NOW = re.compile(
    r"\buntil\s+(?:i|we|told|further)\b|\bfor\s+(?:now|the\s+moment)\b", re.IGNORECASE
)

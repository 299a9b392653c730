"""How a design is told: what goes where and how it is done, with no word of choice.

What exists has an article and is spoken of in particular (the request goes through the proxy); a
design speaks of things in general (ties go to the lower id, a reload builds a new handler), or of
what the speaker is about to make of something (I'll load the list into a table and merge).
"""

from __future__ import annotations

from explorer.audit.atoms.cues import Cue
from explorer.audit.atoms.verbs import ALONE

_GENERAL = (
    r"^(?:so |then |ok,? |fine,? |and )?"
    r"(?!(?:i|we|you|he|she|it|they|that|this|these|those|there|here|which|what|who|how|where|when|"
    r"if|why|the|all|both|everything|nothing|something|someone|nobody|only|my|our|your|his|its|"
    r"tests?|requests?|errors?|failures?|logs?|warnings?|users?|customers?|people|"
    r"and|but|or|as|qq|ci|things|in|on|at|for|with|after|before|by|from|to|not)\b)"
    r"[a-z][a-z-]+(?: (?!(?:that|which|who|is|are|was|were|and|to|you|i|we|it)\b)[a-z-]+){0,2} "
)
_PLACE = r"(?:into|through|to|in|on|via|under|behind|by|per|from|with|at|onto)"
_ALONE = "|".join(sorted(ALONE))

_IN_GENERAL = Cue(
    1.0,
    "go goes come comes become becomes happen happens get gets live lives move moves belong",
    rf"{_GENERAL}(?:go(?:es)?|happens?|lives?|moves?|belongs?) {_PLACE}\b",
    rf"{_GENERAL}comes? from\b",
    rf"{_GENERAL}becomes? \w",
    rf"{_GENERAL}gets? \w{{2,}}ed (?:by|when|as|in|into|with|from|per|only)\b",
)
_REST_STAYS = Cue(
    1.0,
    "stay stays remains remain",
    r"\w (?:stays?|remains?) (?:as|open|closed|off|on|put|unchanged|untouched|the same|where|in|at|"
    r"optional|required|private|public)\b",
)
_NARRATION = Cue(
    -1.0,
    "look see check read compare inspect verify find temp temporary page browser debugger work "
    "profiler output step stock",
    r"^(?:[\w']+,? ){0,2}(?:i'll|i will|i'm|i am|we'll) .*(?:\b(?:and|to|then) (?:look|see|check|"
    r"read|compare|inspect|verify|find|grep|step|reproduce|run|"
    r"test|debug|measure)\b|\btemp(?:orary)? file first|\b(?:the|my) (?:work|page|browser|debugger|"
    r"profiler|output)\b)",
)
"""What is done to find something out makes nothing."""
DESIGNED_BY_USER = (
    _IN_GENERAL,
    Cue(
        1.0,
        "stay stays remains remain",
        r"\w (?:stays?|remains?) (?:as|closed|off|put|unchanged|untouched|the same|where|optional|"
        r"required|private|public|on \w*\d|at \w*\d|in \w+ until|open\W*(?:$|, ))",
    ),
    Cue(
        1.0,
        "then",
        rf"^(?:ok(?:ay)?|fine|alright|right|well|so|good|hm+)[,.]? then "
        rf"(?!(?:i|we|you|it|the|that|this|let's|do|how|what|why|{_ALONE})\b)[\w-]+"
        r"(?: [\w-]+)?(?:,|\W*$)",
    ),
)
DESIGNED = (
    _NARRATION,
    _IN_GENERAL,
    _REST_STAYS,
    Cue(
        1.0,
        "i'll i'm we'll i",
        r"\b(?:i'll|i will|i'm|i am|we'll|i'm going to) (?:make|making) (?:it|them|the [\w "
        r"-]{2,40}?|"
        r"[\w-]+(?: [\w-]+)?) (?:an? (?!look|list|note|change|copy|backup|start|guess|try)\w|"
        r"optional|"
        r"configurable|private|public|lazy|immutable|required|async|atomic|idempotent|unique)",
        r"\b(?:i'm|i am) (?:using|basing|putting|making|keying) .{2,60}\b(?:for|as|on|in|into|by|"
        r"with)\b",
        r"\b(?:i'll|i will|we'll) (?:base (?:it|this|that|the)|build (?:it|this|them|the [\w-]+) "
        r"(?:on|as|"
        r"around|with)|do (?:it|this|that) (?:with|in|by|via|as)|write (?:it|this|them) as|solve "
        r"(?:it|this|that) (?:with|by))\b",
    ),
    Cue(
        1.0,
        "a an one each every",
        r"^(?:instead,? |so |then |now )?(?:an?|one|each|every) (?!test|request|call|run|"
        r"user)(?:[\w-]+ ){1,2}"
        r"(?:wraps|holds|builds|keeps|reads|draws|computes|maps|stores|writes|collects|handles|"
        r"owns|"
        r"decides|carries|records|gets|loads|serves|checks|runs|merges|creates|makes|turns|goes) "
        r"(?:the|an?|each|every|all|one|its|them|it|only|in|into|through|to)\b",
    ),
    Cue(
        1.0,
        "setting option flag parameter default",
        r"\bis an? (?:setting|option|flag|parameter|switch)\b|, [\w %.]+ by default\b",
    ),
    Cue(
        1.0,
        "i'll i'm i will going we'll",
        r"\b(?:i'll|i will|i'm going to|i am going to|we'll) (?:now |also |just |then )?"
        r"(?:use|put|implement|model|represent|move|load|introduce|encode|resynchroni[sz]e|split|"
        r"turn|wrap|"
        r"derive|hook|map|attach|expose|serve|collect|key|index|store|cache|convert|merge|group|"
        r"compute|save|hold|route|send|feed|publish|queue|validate|guard)\b"
        r".{3,120}?\b(?:as|into|around|by|per|behind|at|through|via|from|in|under|with|once|on|"
        r"after|"
        r"before)\b",
        r"\b(?:i'm|i am) (?:introducing|turning|wrapping|storing|deriving|modelling|modeling|"
        r"routing|"
        r"splitting)\b",
    ),
    Cue(
        1.0,
        "i",
        r"^i (?:now |just |simply |then )?(?:use|escape|store|wrap|derive|load|compute|treat|model|"
        r"build|cap|round|write|map|draw|key|cache|merge|keep|take|pass|hold) "
        r".{3,}\b(?:and|with|as|into|in|for|on|only|by|per|from)\b",
    ),
)

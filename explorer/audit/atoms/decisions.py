"""Decisions: one way settled on where others were possible.

Told by a verb of choice (decided, went with, settled on), by a contrast that the speaker made
(instead of, rather than), by a reason given for what was made, by what is dropped or put off, and
in the user's words by a short answer (B then, the second one, SQLite it is). Against it speak the
next step (I'll run the tests), what might be (we could), and the cause of a failure.
"""

from __future__ import annotations

from explorer.audit.atoms.choices import BOTH, CONTRASTED, CONTRASTED_BY_USER
from explorer.audit.atoms.cues import DECISION_HEAD, ENOUGH, Cue, Scale
from explorer.audit.atoms.designs import DESIGNED, DESIGNED_BY_USER
from explorer.audit.atoms.phrasing import Phrase, phrase
from explorer.audit.atoms.sentences import Sentence

_ANSWER = (
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|yup|sure|fine|right|then|so|well|good|great|alright|hm+|no|"
    r"nope|nah|agreed|deal|i guess|i think|"
    r"i say|i'd say|let's say|let's|lets|please|definitely|probably|rather|sounds good|cool|"
    r"perfect|makes sense|thanks)\b[,.!:;-]* )*"
)
_NOT_BOTH = (
    Cue(
        -1.0,
        "up might probably likely perhaps when suggest recommend settled chosen keep keeps keeping "
        "take took pick picked you they could "
        "might either option options alternatively whether maybe would possibly decide you "
        "undecided "
        "if want prefer",
        r"\b(?:we|i|you|one) could\b|\bmight be\b|\b(?:probably|likely)\b|^(?:if|when) (?:i|we|you|"
        r"the)\b|\bcould you\b|\b(?:either|alternatively)\b|\byou decide\b|"
        r"\bplease decide\b|\b(?:haven't|not|un)[ -]?decided\b|"
        r"\bto decide\b|\bdecide (?:later|whether|if|which)\b|\bneeds? a decision\b|"
        r"\bif you (?:want|like|prefer|agree|wish)\b|\bdo you want\b|"
        r"\byour (?:decision|choice|call)\b|\bto be (?:settled|decided|agreed|chosen)\b|\b(?:you|"
        r"they|he|she) (?:ruled out|chose|decided|picked)\b|"
        r"\bi(?:'d| would)? (?:suggest|recommend)\b|\bis up to you\b|\bkeep(?:s|ing)? (?:on "
        r")?\w+ing\b|"
        r"\btake stock\b|\bpick(?:ed|ing)? up\b|\bone by one\b|\btook (?:about |only |"
        r"some )?(?:\d|an? (?:while|bit|moment))|\boptions? ?:|^(?:whether|maybe|perhaps)\b",
    ),
    Cue(
        -0.5,
        "he she they",
        r"\b(?:he|she|they|customers?|users?) (?:had |have |has )?(?:decided|chose|went|picked|"
        r"agreed|opted|kept|dropped|took|left|uses?|keeps?)\b",
    ),
)
_NEXT_STEP = Cue(
    -1.0,
    "i'll let i will i'm now next going we'll",
    r"\b(?:i'll|let me|i will|i'm going to|i am going to|next,? i|we'll)(?: now| first| then|"
    r" quickly| also| just| start by)* "
    r"(?:build|run|running|check|look|read|start|inspect|search|verify|re-?run|try|test|open|see|"
    r"find|fetch|list|have|continue|dig|grep|confirm|"
    r"reproduce|investigate|measure|profile|apply|commit|push|need|begin|take a|take the|"
    r"go (?:through|over|ahead|on)|keep (?:you|an eye|looking|going|digging)|"
    r"leave it (?:running|to you)|wait|report|update you|get|walk|write up|tell|show|ask|answer|"
    r"let you)\b",
)
_DIAGNOSIS = Cue(
    -0.25,
    "bug wrong fails failed failing failure failures crash crashes crashed error errors broken "
    "cause caused "
    "causes problem issue leak leaks hang hangs culprit unexpectedly currently mistake race stale "
    "missing too doesn't isn't didn't wasn't never was were expected expects actually why because "
    "fixed fix",
    r"^(?!.*\b(?:i|we|i'll|i've|i'm|we'll)\b).*\b(?:bug|wrong|fail\w*|crash\w*|errors?|broken|"
    r"caused?s?|problem|issue|leak\w*|hangs?|"
    r"culprit|unexpectedly|currently|mistake|missing|too (?:early|late|often|many|few|much|soon)|"
    r"was|were|expect(?:ed|s)|that's why|that is why)\b",
)
_MEASURED = Cue(
    -0.75,
    "instead rather was were used",
    r"\b(?:instead of|rather than) (?:about |around |the )?\d|\bwhich (?:explains?|is why|"
    r"causes?)\b",
)
_STATE = Cue(
    -0.5,
    "still too pass passes passed green stopped",
    r"\bstill (?:runs?|uses?|has|have|holds?|is|are|works?|shows?|reads?|sits?|lives?|goes)\b|"
    r"\btoo (?:early|late|often|soon)\b|\b(?:tests?|scenarios?|checks?|cases|examples|specs?|"
    r"jobs?) "
    r"(?:all )?(?:pass(?:es|ed)?|(?:is|are) green)\b",
)
_REPAIR = Cue(
    -1.0,
    "fixed repaired corrected done renamed",
    r"^(?:i(?:'ve)? |and |both |all )?(?:now )?(?:fixed|repaired|corrected|renamed|done|"
    r"updated)\b(?!.*\b(?:instead of|rather than|deliberately|kept|left|went with)\b)",
)
_IN_PAST = Cue(
    -1.0,
    "why left took went",
    r"\bwent (?:well|fine|wrong|through|down|up|live|ok|smoothly|green|red|away|out|back|on|"
    r"off)\b|^(?:it|that|which) took\b|\b(?:i|we) (?:took|left) (?:a|the) (?:look|break|office|"
    r"walk)\b",
)
_WISH = Cue(
    -1.0,
    "like love want",
    r"^(?:i|we)(?:'d| would) (?:like|love|want) (?:you|the|it|this|that|a|an|our|my) .*\bto \w+",
)

_OF_USER = Scale(
    *BOTH,
    *CONTRASTED_BY_USER,
    *_NOT_BOTH,
    Cue(
        -0.75,
        "bug wrong fails failed crash error broken problem currently shows show see sees still",
        r"^(?!.*\b(?:we|let's|lets|i'd|i'll|we'll)\b).*\b(?:bug|wrong|fails|failed|crash\w*|"
        r"errors?|broken|problem|currently|shows?|sees?|"
        r"still)\b",
    ),
    _IN_PAST,
    _WISH,
    *DESIGNED_BY_USER,
    Cue(
        1.0,
        "option variant plan approach choice alternative solution one first second third last "
        "latter former both "
        "neither a b c d idea version way it 1 2 3",
        _ANSWER
        + r"(?:(?:with|use|take|pick|choose|do|go|go for|go with|i'd take|i'd go with|i'd go|"
        r"i take|i like|i prefer|i'd prefer|we take|we do) )?"
        r"(?:(?:the )?(?:option|variant|plan|approach|choice|alternative|solution|number|version|"
        r"way) (?:[a-d]|\d|one|two|three)\b(?! would| is| was| might| could)|"
        r"(?:the|your|that|this) (?:\w+ ){0,2}(?:one|option|variant|approach|version|way|idea|"
        r"solution)\b(?=[,.!]| then| please| it is| sounds|\W*$)|"
        r"(?:the (?:first|second|third|last|latter|former)|both|neither)\b(?=[,.!]| then| please|"
        r" it is| sounds| one| of|\W*$)|(?:first|second|latter|former)(?: one)?\W*$|"
        r"(?:[bcd]|[a-d1-3](?= then|,| please| it is|\W*$))(?=[,.!]| then| please| it is| sounds|"
        r"\W*$))",
    ),
    Cue(
        1.0,
        "then",
        r"^(?:ok(?:ay)?,? |yes,? |fine,? |good,? |right,? |alright,? |so )*(?:no|without|skip|"
        r"drop|forget|only|just|with) [\w ,'-]{1,50} then\b[^\w]*$",
        r"^(?:i'll|i will|i'd) (?!see|be|have|talk|look|check|let|tell|get|ask|call|send|test|"
        r"try)\w+.* then\W*$",
        r"^(?!(?:and|but|now|what|how|why|see you|until|till|let's see|go|do|since|back|make|set|"
        r"raise|lower)\b)(?:[\w'%.,-]+ ){1,5}then\W*$",
        r"\bwe(?:'ll| will)? .{2,60} then\W*$",
    ),
    Cue(
        1.0,
        "fine ok okay good enough works wins better best prefer like vote default",
        r"\bi(?:'m| am) (?:fine|ok|okay|good|happy|happier) with\b",
        r"\b(?:wins|sounds (?:better|best|safer|simpler|saner|right to me))\b|\b(?:i|"
        r"we) (?:prefer|like) .{2,60}\b(?:better|more|best|over|approach|option|idea|version|"
        r"variant)\b",
        r"^(?:actually,? |yes,? |ok,? )?(?=.*(?:\d|qq))[\w .%-]{1,30} (?:is|are) (?:fine|"
        r"good enough|enough|ok|okay|plenty)\b",
        r"\bmy vote\b|^default(?: is| to|:)|\bas (?:the |a )?default\b",
    ),
    Cue(
        1.0,
        "take pick choose drop skip forget leave call name use go settle make postpone park do "
        "keep",
        _ANSWER
        + r"(?:take (?!a look|a peek|care|your time|the time)|pick |choose |drop (?!the database|"
        r"table)|skip |leave (?:\S+ ){0,6}?(?:out|off|for later|as (?:is|it is))|"
        r"leave (?:it|that) at|call (?:it|them)|name (?:it|them)|settle (?:on|for)|postpone |"
        r"park |go (?:with|for (?!it)))",
        _ANSWER + r"(?:use|do) .{1,80}\b(?:instead|rather than)\b",
    ),
    Cue(
        1.0,
        "fine ok okay yes guess calling should enough out get do make will live i'd skip leave way "
        "that no prefer let",
        r"^[\w' -]{3,40} will do\W*$|\b(?:can|could) live with\b|\bi'd (?:take|pick|choose|keep|"
        r"drop|"
        r"skip|use) |\b(?:skip|leave) it\b(?! (?:running|open|to))|\bi prefer (?!not\b|to (?:see|"
        r"have))|"
        r"\bdo it (?:that way|like that)\b|^(?:yes,? )?(?:exactly )?(?:that way|like that)\b|"
        r"^no [\w -]+ for now\W*$|\blet it (?:fail|be|crash)\b",
        r"^(?:(?:so|ok|yes|then|i think|i guess|i'd say|maybe),? )*we should (?:use|go|keep|take|"
        r"stick|stay|drop|"
        r"leave|skip|do it)\b",
        r"^(?:(?:ok|yes|yeah|i'd say|i think|actually|then|so),? )*(?!(?:it|that|this|everything|"
        r"all|which|what|"
        r"run)\b)[\w-]+(?: [\w-]+)? (?:is|are) (?:enough|fine|ok|okay|good enough|better)\W*$",
        r"^(?!(?:he|she|it|who|which|that|time)\b)[\w-]+(?: [\w-]+){0,2} (?:is|"
        r"are) out(?: then)?\W*$",
        r"^(?:yes|ok|okay|sure|fine|yeah),? do it (?:with|in|by|via|as|the)\b",
        r"\bmake (?:it|that) (?:an? |the )[\w -]+, not\b",
        r"^(?!(?:it|that|this|i|we|all|looks?|works?|good|sounds?|tests?|ok|yes|great|nice|done|"
        r"seen)\b)(?:[\w.-]+ ?){1,3}, (?:fine|ok|okay|yes)(?:[,.!]|$)|^(?!(?:oh|ah|well|and|so|"
        r"but|ok|i|hm+)\b)[\w.-]+ yes\W*$",
        r"^(?:so |then |ok,? )?[\w.-]+(?: [\w.-]+)? i guess\W*$|\bi'm calling it \w",
    ),
    Cue(
        1.0,
        "we we'll gonna kick settled decided final agreed",
        r"\bwe(?:'ll| will|'re gonna|'re going to| are going to|'re not gonna) (?!see|need|have|"
        r"talk|know|be\b|get|find|want|also need|meet|discuss|look|probably|ask|have to|decide|"
        r"try|come|speak|study|check|test|write|think|revisit)\w",
        r"\bwe (?:just |simply |only |then )?(?:bump|ignore|throw|retire|raise|lower|round|return|"
        r"reject|retry|cut|remove|delete|merge|split|rename|replace|host|pay|buy|"
        r"cap|limit|allow|forbid|fail|log|store|cache|show|hide|make|do|put|start|build|call|name|"
        r"treat|accept|pick|choose|defer|wait|freeze)\b(?!.* (?:every|when|if)\b)",
        r"\b(?:is|are|'s|'re) not (?:gonna|going to)\b.*\b(?:settled|decided|agreed)\b|"
        r", (?:settled|decided|agreed|final)\W*$|\bkick (?:it|them|that) out\b",
        r"^(?:[\w'-]+ ){1,5}we (?:'ll |will )?(?:archive|ignore|keep|drop|skip|leave|do|make|take|"
        r"use|postpone|remove|move|put)\b",
        r"\b(?:these|those|this|that|them|the \w+(?: \w+)?) we (?:'ll |will )?(?:ignore|keep|drop|"
        r"skip|leave|do|make|take|use|postpone|remove)\b",
    ),
    Cue(
        1.0,
        "may can allowed permission free dropped",
        r"\b(?:is|are|gets?) (?:then )?dropped\b",
        r"\b(?:you|we) (?:can|may) now\b",
        r"\byou (?:may|can|are allowed to|have (?:my )?permission to) (?:now )?(?:write|touch|"
        r"change|edit|modify|apply|use|deploy|push|merge|add|delete|drop|break)\b.*\b(?:now|again|"
        r"as well|too|after all|if)\b",
        r"\b(?:is|are) (?:allowed|ok|okay|fine|free) (?:now|again|after all)\b",
    ),
    Cue(
        1.0,
        "say days hours minutes seconds ms s mb kb gb % percent entries rows items retries months "
        "weeks",
        r"^(?:ok(?:ay)?|good|fine|yes|alright|settled|right|deal|agreed|so|let's say|say|"
        r"then)[,:;.!]* (?:then |let's say |say |at )?\d[\w.%]*(?: [\w-]+){0,3}\W*$",
    ),
)
_OF_AGENT = Scale(
    *BOTH,
    *CONTRASTED,
    *DESIGNED,
    *_NOT_BOTH,
    _NEXT_STEP,
    _DIAGNOSIS,
    _MEASURED,
    _STATE,
    _REPAIR,
    _IN_PAST,
)
CHOICE_WORDS = _OF_USER.words


def may_be_decision(words: frozenset[str]) -> bool:
    """Whether a sentence of the assistant's with these words may tell of a choice."""
    return bool(_OF_AGENT.possible(words).cues)


def is_listed_decision(sentence: Sentence) -> bool:
    """Whether an item of a list stands under a heading of decisions."""
    return sentence.item and DECISION_HEAD.search(sentence.under) is not None


def decides(text: str, *, by_user: bool) -> bool:
    """Whether a sentence tells of a choice that was made."""
    return not text.endswith(":") and choice_weight(phrase(text), by_user=by_user) >= ENOUGH


def choice_weight(said: Phrase, *, by_user: bool) -> float:
    """How much of a choice a sentence is."""
    return (_OF_USER if by_user else _OF_AGENT).weigh(said)

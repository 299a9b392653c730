"""How people demand and forbid: must, has to, should, don't, may not, no, hands off."""

from __future__ import annotations

from explorer.audit.atoms.cues import Cue

AT_HEAD = (
    r"(?:^|[,:;(.!–—]\s*|\s-+\s+|\b(?:please|pls|plz|and|but|so|also|just|then|now|ok|okay|yes|no|"
    r"careful|btw|kindly|simply|still|always)\b,?\s+)"
)
"""Where an order begins: a clause, please, then and the like left aside."""

DUTY = (
    Cue(
        1.0,
        "must mustn't forbidden prohibited mandatory obligatory compulsory non-negotiable sacred "
        "taboo off-limits no-go strictly frozen untouchable verboten sacrosanct immutable",
    ),
    Cue(
        1.0,
        "has needs",
        r"\b(?:has|needs) (?:also |always |still |only |absolutely |really )*to (?!do with|see|"
        r"say|admit)\w",
        r"\bneeds? (?:my|our|an?|the|his|her|their|explicit) (?:\w+ ){0,2}(?:flag|approval|review|"
        r"sign-?off|ok|okay|permission|blessing|consent)\b",
    ),
    Cue(
        1.0,
        "have need ought",
        r"\b(?:have|need|ought) to (?:be|stay|remain|keep|work|run|support|pass|fit|finish|comply|"
        r"follow|go through|live|match|respect|look|behave|come|hold|survive|handle|ship|"
        r"deliver)\b",
        r"\b(?:they|all|both|names|files|tests|these|those|you) (?:all |both |also )?(?:have|need|"
        r"ought) to\b",
    ),
    Cue(
        1.0,
        "should shouldn't ought supposed",
        r"\b(?:should(?:n't| not| never| only| always| stay| remain| keep| still| work| be kept| "
        r"continue| not be| all| both| nowhere| at most| at least))\b",
        r"^(?!(?:i|we|you|what|which|how|who|it|this|that|there)\b)[^,]{3,60}?\bshould (?!have\b|"
        r"be "
        r"(?:fine|ok|okay|enough|there|easy|done|fixed|good|possible|working|simple|able|right)\b|"
        r"(?:i|we|you)\b)\w",
        r"\b(?:are|is)(?:n't| not) supposed to\b",
    ),
    Cue(
        1.0,
        "never always",
        r"\b(?:never|always)\b(?! (?:mind|heard|seen|happened|worked|got|had|was|were|been|did|"
        r"knew|"
        r"fails?|failed|crash\w*|breaks?|happens?|works|finishes|finished|been|wanted|thought|"
        r"returns|shows|gets|see|forget|remember|wondered)\b)",
    ),
    Cue(
        1.0,
        "required important requirement essential crucial vital important important: imperative "
        "banned "
        "acceptable allowed permitted welcome wanted needed optional option negotiable be",
        r"\b(?:is|are|'s|it's) (?:absolutely |strictly |very |really |also )?(?:required|a must|"
        r"essential|"
        r"crucial|vital|imperative|banned|a requirement|important)\b",
        r"\b(?:not|no longer|isn't|aren't|only|never) (?:be )?(?:acceptable|allowed|permitted|"
        r"welcome|"
        r"wanted|an option|optional|negotiable|up for)\b",
        r"^important\b|\b(?:important|essential|crucial|vital) (?:to \w+ |for \w+ )?that\b",
        r"\b(?:is|are) (?:not |never )to be\b",
        r"\brequired\W*$",
    ),
)
FORBIDDING = (
    Cue(
        1.0,
        "do don't dont",
        AT_HEAD + r"(?:do not|don't|dont|do n't)(?: (?:you|ever|even|just|also|go and|please))* "
        r"(?!(?:know|think|understand|see|worry|mind|believe|care|remember|recall|forget|hesitate|"
        r"like|have|need|want to know|get (?:it|why|me))\b)\w",
        r"\b(?:i|we|you|they|people) (?:really |just |still |definitely )?(?:do not|don't|dont) "
        r"(?:want|wish|like|allow|accept|support|touch|use|add|ship|deploy|merge|push|break|store|"
        r"log|"
        r"keep|run|write|commit|do (?!that\b.*\?)|put|mix|test|care (?:for|about)|mock|"
        r"have (?:the )?(?:budget|"
        r"time|permission))\b",
    ),
    Cue(
        1.0,
        "can't cannot cant can may shall could couldn't wouldn't",
        r"\b(?:you|we|they|it|that|this|nobody|nothing|which|users?|customers?|[\w-]++) "
        r"(?:can't|cannot|can not|cant|may not|may never|may only|shall not|can only|can never|"
        r"mayn't)(?: \w+ly)? (?!(?:find|see|reproduce|open|connect|reach|tell|read|figure|get|log|"
        r"start|"
        r"build|compile|remember|work|believe|understand|think|load|save|happen|explain|recall|"
        r"imagine|decide|say|know|stand|be (?:true|right|it|the|found|reached|opened|loaded|"
        r"reproduced))\b)\w",
    ),
    Cue(
        1.0,
        "nobody nothing no none not without",
        r"\b(?:nobody|nothing|no one|no-one|none|no \w+)(?: [\w-]+){0,6} (?:may|should|can|must|"
        r"shall|"
        r"is allowed|are allowed|is to|are to|touches|changes|leaves|goes|gets|edits|writes|pushes|"
        r"deploys|merges|has to)\b",
        r"\bnothing (?:else|more|in|outside|from|under|beyond|but|new|other|fancy|that)\b",
        r"\bnot (?:a single|one single|in any|under any|before|without|until|unless|more than|"
        r"longer "
        r"than|bigger than|larger than|slower than|later than|less than|fewer than|at all|even)\b",
        r"\bwithout (?:\w+ly )?(?:\w+ing\b|(?:my|asking|any|a|an|new|the|extra|additional|"
        r"losing) ?\w*)",
    ),
    Cue(
        1.0,
        "no",
        AT_HEAD
        + r"(?:absolutely |really )?no (?!(?:idea|problem|problems|worries|worry|need|rush|longer|"
        r"clue|way|reason|"
        r"doubt|matter|wonder|hurry|thanks|thank|luck|change|difference|one|big|such|more|i|we|it|"
        r"that|this|the|you|please|let|use|not|just|errors?|result|results|success|hits|pressure|"
        r"go|"
        r"response|answer|output|news|joke|kidding|stress|harm|offen[cs]e|sorry|but|make|do|"
        r"don't)\b)"
        r"[a-z'-]+",
        r"\bno (?:more|other|new|extra|additional|further|third[- ]party|external|breaking) "
        r"(?!(?:idea|errors?|problems?)\b)\w+(?! then\W*$)",
        r"\bno (?:less|longer|more|fewer|later|bigger|larger|slower|older|higher|lower) than\b",
        r"\bunder no\b|\bby no means\b|\bno (?:exceptions?|excuses|touching|ifs|compromise)\b",
    ),
    Cue(
        1.0,
        "off hands out away clear table limits bounds scope touch touching alone",
        r"\b(?:hands?|paws|fingers) off\b",
        r"\boff[- ](?:limits|the table)\b",
        r"\bout of (?:bounds|scope|the question)\b",
        r"\b(?:stay|keep|steer|remain)s? (?:\w+ ){0,3}(?:off|out|away|clear)\b",
        r"\b(?:is|are|'s) (?:off|out)\W*$",
        r"\b(?:not|never|nor|no) (?:to )?(?:be )?touch(?:ed|ing)?\b",
        r"\balone\W*$",
    ),
    Cue(
        1.0,
        "avoid avoiding refrain steer beware careful watch mind danger dangerous",
        r"\b(?:avoid|refrain from|beware)\b(?!ed)",
        r"\b(?:be|very|really|please|please be|extra) careful\b|^careful\b|\bcareful (?:with|not|"
        r"about)\b",
        AT_HEAD + r"(?:watch out|mind (?:the|that|your))\b",
    ),
)

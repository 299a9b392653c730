"""How people set a limit, and another one later: at most 5, under 200 ms, only, by Friday."""

from __future__ import annotations

from explorer.audit.atoms.cues import Cue
from explorer.audit.atoms.duties import AT_HEAD
from explorer.audit.atoms.phrasing import DIGIT

AMOUNT = (
    r"(?:about |around |roughly |approx\.? )?[~$€£<>≤≥]*(?:\d|(?:one|two|three|four|five|six|ten|"
    r"half|a)\b)"
)
LIMIT = (
    r"(?:limit|cap|budget|ceiling|deadline|quota|retention|timeout|threshold|max(?:imum)?|"
    r"min(?:imum)?|floor|allowance)"
)
LIMITS = (
    Cue(
        1.0,
        "most least more less longer above below smaller exceed exceeding fewer tops max maximum "
        "minimum limit limited cap capped restrict restricted ceiling deadline budget line cutoff "
        "cut-off bar hard absolute upper quota retention threshold floor count counts",
        r"\bat (?:the )?(?:very )?(?:most|least|max|maximum|minimum)\b",
        r"\bnot? (?:exceed|more than|longer than|bigger than|larger than|smaller than|above|below|"
        r"over|under|beyond)\b",
        r"\bcounts? as (?:an? )?errors?\b",
        r"\b(?:must|may|should|can|to|never|not|doesn't|don't) exceed\b",
        r"\b(?:is|are|'s) (?:the|our|my|an?)? ?(?:new |hard |absolute |upper |lower )?"
        rf"(?:{LIMIT}|line|cut-?off|bar)\b(?!.*\bproblem\b)",
        r"\b(?:hard|absolute|upper|strict) (?:limit|cap|rule|requirement|deadline|ceiling)\b",
        r"\b(?:cap|limit|restrict) (?:it|that|this|them|yourself|the [\w-]+(?: [\w-]+)?|"
        r"[\w-]+s) (?:at|to)\b",
        r"\b(?:deadline|budget) (?:is|was moved|moved)\b",
        r"\b(?:limited|capped|restricted) (?:to|at)\b",
    ),
    Cue(
        1.0,
        "limit cap budget ceiling deadline quota retention timeout threshold max maximum min "
        "minimum "
        "floor allowance up over above beyond past below under tops most least less fewer more "
        "better lower higher memory size latency time footprint ram cpu disk give gives that's "
        "within",
        r"\b(?:limit|cap|budget|ceiling|deadline|quota|retention|max(?:imum)?|min(?:imum)?)\b\.?"
        r"(?: (?:of|is|are|stays?|at|to|remains|was set to|=))*:?=? (?:now )?"
        rf"{AMOUNT}",
        r"\d\S*+(?: [a-z%/]+){0,3} (?:max|maximum|min|minimum|tops|at most|at least|or "
        r"(?:less|fewer|better|lower|under))\b",
        r"^\D*+\d.*\bthat's (?:all|what) (?:the|we|i|our|they|my)\b",
        rf"\b(?:go|be|get|grow|run) (?:over|above|beyond|past|below|under) {AMOUNT}",
        r"\b(?:memory|size|latency|time|p9\d|footprint|ram|cpu|disk) (?:under|below|"
        rf"within) {AMOUNT}",
        r"\btops? out at\b|\bgives? up after \d",
        also="# one two three four five six ten half a",
    ),
    Cue(
        1.0,
        "under below within inside than above over between",
        r"\b(?:keep|stay|stays|remain|be|fit|finish|run|done|complete|respond|load|start|ready|"
        r"answer|"
        rf"kept|return|come|get|land)\b.{{0,50}}\b(?:under|below|within|inside|in less than|"
        r"(?:less|fewer|"
        r"lower|shorter|smaller|faster|quicker|longer|more|higher|slower|larger|bigger) than|"
        rf"above|over|between) {AMOUNT}",
        rf"(?:^|, |\bplease |\band )(?:under|below|within|inside|less than|fewer than) {AMOUNT}",
    ),
    Cue(
        1.0,
        "under below within",
        rf"\b(?:under|below|within) {AMOUNT}",
    ),
    Cue(
        0.6,
        "inside than above up",
        rf"\b(?:inside|than|above|up to) {AMOUNT}",
    ),
    Cue(
        1.0,
        "only just nobody exclusively solely nothing strictly exactly purely",
        AT_HEAD
        + r"(?:only|just) (?:use|touch|change|edit|look|read|run|write|allow|under|in|on|between|"
        r"from|after|with|via|by|when i|when you|if|packages|files|for|things|what|stuff|this|"
        r"these|those)\b",
        r"\b(?:use|allow|accept|touch|edit|change|support|read|write|deploy|merge|run|send|log|"
        r"test|"
        r"apply|for|in|on|to)s? (?:\w+ )?only\b",
        r"\bonly (?:the )?(?:[\w-]+ ){1,3}(?:gets?|may|goes|can|sees|has access)\b",
        r"^only (?!(?:one|two|three|four|\d+|some|few) |the (?:one|first|problem|thing)|problem|"
        r"thing|then|one|happens|fails|now|issue|"
        r"question|when it|\d)\w+",
        r"\b[\w-]++ only(?:\W*$|, )|\bonly (?:in|for|via|from|with|by|under|inside|within|between|"
        r"as|"
        r"english|german|french)\b(?!.*\b(?:fails|"
        r"happens|breaks|crash\w*|shows?|seen|wrong|slow)\b)",
        r"\b(?:may|can|must|should|shall|will|to|are|is) only (?:be |ever )?(?:\w+ed|use|touch|"
        r"change|go|"
        r"run|in|on|from|for|via|with|by|through)\b",
        r"\b(?:exclusively|solely)\b",
    ),
    Cue(
        0.8,
        "by before",
        r"\b(?:by|before) (?:the )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
        r"\b(?:by|before) (?:tomorrow|tonight|noon|the (?:end|release|demo|deadline|launch|\d+)|"
        r"end of|next (?:week|month)|christmas|easter|summer|lunch)\b",
    ),
    Cue(
        1.0,
        "until till unless",
        r"\b(?:until|till) (?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|release|"
        r"demo|launch|next (?:week|month))\b",
        r"\b(?:until|till|unless) (?:i|we|you|told|the|further|my|someone)\b",
    ),
    Cue(
        0.6,
        "exactly between precisely enough plenty suffices fits",
        r"\b(?:exactly|precisely|between) " + AMOUNT,
        r"\d\S*+(?: \w+){0,2} (?:is|are|should be) (?:enough|plenty|fine|ok)\b|\bsuffices?\b",
    ),
)
NEW_VALUES = (
    Cue(
        1.0,
        "make set raise lower bump increase decrease reduce cut change extend shorten relax "
        "tighten limit push move let's lets",
        r"\b(?:make|set|raise|lower|bump|increase|decrease|reduce|cut|change|extend|shorten|relax|"
        r"tighten|push|move) (?:that|it|this|them|(?:the|our|my|its) (?:[\w-]+ ){0,3}?"
        r"(?:limit|cap|timeout|budget|max(?:imum)?|minimum|number|count|retries|interval|size|"
        r"threshold|deadline|"
        r"quota|ttl|retention|rate|window|page size|batch size)) (?:at |to |up to |down to |"
        r"back to |out to )?(?:about )?"
        r"[~$€£]?\d",
        r"\bmake the (?:[\w-]+ ){1,4}(?:once )?(?:every )?\d",
        r"\bmake (?:it|that|them) (?:hourly|daily|weekly|monthly|\w+) instead\b",
        rf"\b(?:let's|lets) (?:say|make it|make that) {AMOUNT}",
        r"\bmake (?:that|it) (?:at most |at least |max )?(?:\d|one|two|three|four|five|six|ten)\b",
    ),
    Cue(
        1.0,
        "now instead enough fine limit cap max budget timeout deadline moved goes per retries use "
        "is are again ok okay",
        r"\b(?:is|are) (?:now \S*\d|\S*\d\S*+(?: \w+)? (?:now|instead))",
        rf"\b{LIMIT} (?:is|moved|goes|went|has moved|has changed|changed|can)\b.{{0,30}}\d",
        r"\buse [~$€£]?\d[\d.,]* ?\w+ (?:per|instead|for)\b",
        r"\d\S*+ \w* ?(?:is enough|are enough|at most|max)\b",
        also=DIGIT,
    ),
    Cue(
        1.0,
        "longer anymore more",
        r"\bno longer (?:need|needs|have|has|required|necessary|allowed|applies|matters?|"
        r"support)\b",
        r"\b(?:don't|doesn't|do not|does not) (?:have|need) to .*\bany ?more\b",
    ),
)

"""How English developers mark a rule, a choice, a finished or a coming piece of work.

Each question is first put to the set of a sentence's words, and only then to a pattern.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.facts.errors import LONGEST, is_failure


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern with the words of which at least one must be there for it to match."""

    triggers: frozenset[str]
    pattern: re.Pattern[str]

    def found(self, text: str, words: frozenset[str]) -> bool:
        """Whether the sentence carries this mark."""
        return not self.triggers.isdisjoint(words) and self.pattern.search(text) is not None


def _cue(triggers: str, pattern: str) -> Cue:
    return Cue(frozenset(triggers.split()), re.compile(pattern, re.IGNORECASE | re.VERBOSE))


_PAST = (
    "added|implemented|created|fixed|updated|wrote|written|refactored|removed|renamed|migrated|"
    "merged|committed|pushed|deployed|finished|completed|changed|moved|replaced|introduced|set|"
    "enabled|disabled|installed|upgraded|downgraded|bumped|resolved|verified|confirmed|converted|"
    "extracted|split|cleaned|deleted|dropped|rewrote|rewritten|wired|hooked|patched|reverted|"
    "shipped|released|published|tagged|documented|tested|ported|built|configured|adjusted|"
    "addressed|corrected|generated|registered|exposed|switched|integrated|landed|rolled|applied|"
    "made|put|ran|closed|covered|reworked|simplified|optimised|optimized|cached|indexed|seeded|"
    "backfilled|tightened|raised|lowered|increased|reduced|swapped|handled|hardened|stubbed"
)

FIRM = _cue(
    """must never always only don't dont mustn't cannot can't forbidden mandatory circumstances
    verbatim word no not non strictly nobody nothing required shall exactly""",
    r"""\b(?:must|never|always|only|do\s+not|don['’]?t|mustn't|can(?:no|')t|forbidden|mandatory|
    verbatim|word\s+for\s+word|strictly|under\s+no\s+circumstances|not\s+allowed|non[- ]negotiable|
    nobody|required|shall|exactly)\b | ^\W*no\s+\w+""",
)
PREFERENCE = _cue(
    """prefer preferred preference preferably like rather favor favour ideally convention
    conventions style want wants please default nice love hate dislike fan use using write name
    format indent spell""",
    r"""
    \bprefer\w*\b | \b(?:i|we)(?:['’]d|\s+would)?\s+(?:really\s+)?(?:like|love|rather|favou?r|want|
    hate|dislike)\b(?!\s+(?:you\s+|us\s+|it\s+)?to\b) | \brather\s+than\b | \bideally\b
    | \bconventions?\b | \b(?:house|code|coding|our)\s+style\b | \bby\s+default\b
    | \b(?:not\s+a|big)\s+fan\b | \bnice\s+to\s+have\b | \bplease\s+use\b
    | ^\W*(?:please\s+|and\s+|also,?\s+)*(?:use|format|indent|spell)\s+
    | ^\W*(?:please\s+|and\s+|also,?\s+)*(?:write|name)\s+(?!(?:an?|some|me|it|one|new|
      down)\b).{3,60}\b(?:in|with|like|as)\b
    | \b(?:we|our\s+team|the\s+team)\s+(?:always\s+)?uses?\b
    """,
)
DECISION = _cue(
    """decided decide decision decisions go going chose choose chosen choosing opted opt settled
    settle agreed agree pick picked picking instead rather switch switched switching because
    replace replaced approach stick sticking favor favour adopt adopted adopting ruled rejected
    reject tradeoff plan use using we'll we use choice rationale reason conclusion keep keeping
    dropped abandon abandoned resolved went vote voted we're using moving
    standardising standardizing standardise standardize since i i'll i'd we'd as that than not
    will""",
    r"""
    ^\W*(?:the|our|all|every|each)\s+(?:[\w-]+\s+){1,6}will\s+(?:be|stay|remain|use|live|run)\b
    | \bdecid\w+\b | \bdecisions?\b | \b(?:go|going|went)\s+(?:with|for|ahead\s+with)\b
    | \b(?:chose|chosen|choosing|opt(?:ed|ing)?\s+(?:for|to)|settl\w+\s+(?:on|for)|agreed?\s+
      (?:to|on|that)|pick(?:ed|ing)?|adopt(?:ed|ing)?|resolved\s+to)\b
    | \bswitch(?:ed|ing)?\s+(?:\w+\s+){0,5}(?:to|from|over)\b | \breplac(?:e|ed|
      ing)\s+.+\s+(?:with|by)\b
    | \b(?:we|i|i['’]ll|we['’]ll|let['’]?s|let\s+us)\s+(?:will\s+|are\s+|am\s+|now\s+)?(?:us(?:e|
      ing)|
      keep(?:ing)?|adopt|choose|stick|settle)\b
    | \binstead\s+of\b | \bin\s+favou?r\s+of\b | \bruled?\s+out\b | \breject(?:ed|ing)?\b
    | \bwe(?:['’]re|\s+are)\s+(?:us|go|mov|switch|standardi[sz]|keep|adopt|dropp?|stick|migrat|
      splitt?|
      shipp?|build|roll)ing\b | \bstandardi[sz]e\s+on\b | \bgoing\s+forward\b | \bvote[ds]?\b
    | \btrade-?off\b | \b(?:the|our)\s+(?:plan|approach|choice|design)\s+(?:is|will|uses?)\b
    | \bstick(?:ing)?\s+with\b | \babandon(?:ed|ing)?\b | \b(?:rationale|conclusion)\b
    | \b(?:use[sd]?|using|chose|keep(?:ing)?|went|made|is|are)\b.{3,120}\b(?:because|since\s+it|
      so\s+that)\b
    | \b(?:i|we)(?:['’]ll|\s+will|['’]d)\s+\w+.{3,160}\b(?:because|since|so\s+that|instead|
      rather\s+than|
      as\s+(?:it|they|that))\b
    | \b(?:i|we)\s+\w+(?:ed|t|pt|ose|ent)\s.{3,160}\b(?:because|since|so\s+that|instead\s+of|
      rather\s+than|
      and\s+not)\b
    """,
)
DONE = _cue(
    _PAST.replace("|", " ") + " done pass passes passing passed green works working works now is"
    " all complete ready live successful successfully succeeded",
    rf"""
    ^\W*(?:ok(?:ay)?[,.]?\s+|done[:,.—-]*\s+|great[,.]?\s+|i\s+|i['’]ve\s+|we\s+|we['’]ve\s+|
      have\s+|
    has\s+|also\s+|then\s+|now\s+|just\s+|successfully\s+|already\s+|and\s+)*(?:{_PAST})\b
    | \b(?:i|we)(?:['’]ve|\s+have)?\s+(?:now\s+|just\s+|also\s+|already\s+|
      successfully\s+)*(?:{_PAST})\b
    | \b(?:is|are|was|were|been|got|now)\s+(?:now\s+|all\s+|fully\s+|already\s+|successfully\s+)*
      (?:{_PAST}|done|complete|in\s+place|green|live|ready)\b
    | \b(?:tests?|suite|build|checks?|lint|ci|pipeline|specs?|everything|
      all)\b.{{0,50}}\b(?:pass(?:es|ed|
      ing)?|green|clean|succeed(?:s|ed)?)\b
    | \bworks\s+(?:now|again|as)\b | \bnow\s+works\b | ^\W*done\b | \bsuccessful(?:ly)?\b
    | ^\s*[✓✔✅☑]
    """,
)
DOING = _cue(
    "working progress currently halfway started starting midway partially underway now about i'm"
    " am ongoing investigating looking let i'll going",
    r"""
    \bworking\s+on\b | \bin\s+progress\b | \bcurrently\s+\w+ing\b | \bhalf-?way\b | \bmidway\b |
      \bpartial(?:ly)?\b
    | \bunder\s?way\b | \bongoing\b | \b(?:i['’]?m|i\s+am|we['’]?re|now)\s+\w+ing\b
    | \b(?:start(?:ed|ing)|begun|began)\s+(?:on|to|with|the|\w+ing)\b | \babout\s+to\b
    | \bhave\s+started\b | \b(?:i['’]ll|let\s+me|i\s+will)\s+now\b
    """,
)
BLOCKED = _cue(
    """blocked blocker blocking waiting wait stuck unable can't cannot fails failing failed fail
    broken crash crashes crashed crashing error errors exception bug flaky hang hangs hanging
    regression regressed doesn't does wrong problem issue leak leaks deadlock timeout unresolved
    still pending""",
    r"""
    \bblock(?:ed|er|ers|ing)\b | \bwaiting\s+(?:for|on)\b | \bstuck\b | \bunable\s+to\b
    | \bcan(?:no|'|’)t\s+(?:proceed|continue|connect|reach|reproduce|build|start|run|find)\b
    | \b(?:still\s+)?fail(?:s|ing|ed)?\b | \bbroken\b | \bcrash\w*\b | \bflaky\b | \bhang(?:s|
      ing)?\b
    | \bregress\w*\b | \b(?:doesn['’]t|does\s+not|isn['’]t|not)\s+(?:work|compile|build|start|
      pass)\w*\b
    | \bthrows?\b | \bunresolved\b | \bdeadlocks?\b
    """,
)
NEXT = _cue(
    """next todo remaining remains left still later afterwards then follow followup need needs plan
    planning will pending soon before upcoming once outstanding tomorrow after i'll we'll""",
    r"""
    \bnext\s+(?:step|up|i|we|is|thing|task|item|on|,|:)|^\W*next\b | \btodo\b | \bto-do\b
    | \bremain(?:s|ing)\b | \bleft\s+to\s+\w+ | \bstill\s+(?:need|needs|have|has|to|missing|
      pending|open|left|
      outstanding)\b | \bfollow[- ]?up\b | \bafterwards?\b | \bpending\b | \boutstanding\b
    | \b(?:i|we)(?:['’]ll|\s+will)?\s+(?:still\s+|also\s+|then\s+|next\s+)*(?:need|plan|have)\s+to\b
    | \bplan(?:s|ning)?\s+to\b | \bneeds?\s+to\s+be\b | \b(?:i|we)(?:['’]ll|\s+will)\s+(?:then|
      next|later|
      do|add|tackle|write|move)\b | \bonce\b.{3,80}\b(?:i|we)(?:['’]ll|\s+will|\s+can)\b |
      ^\W*then\b
    | \b(?:after|before)\s+that\b | \bupcoming\b
    """,
)
NOTED = _cue(
    """note remember important importantly fyi mind heads aware reference record know critical
    crucial key careful gotcha caveat warning beware bear reminder way correction confirmed""",
    r"""
    \bnote\b | \bremember\b | \bremind\w*\b | \bimportant(?:ly)?\b | \bfyi\b | \b(?:keep|
      bear)\s+in\s+mind\b
    | \bheads[- ]up\b | \bbe\s+aware\b | \bfor\s+(?:the\s+record|reference)\b | \bcritical\b |
      \bcrucial\b
    | \bcareful\b | \bgotcha\b | \bcaveat\b | \bwarning\b | \bbeware\b | \bby\s+the\s+way\b
    | \b(?:good|need)\s+to\s+know\b | \bkey\s+(?:fact|point|detail|number|figure)\b
    """,
)
FINDING = _cue(
    """turns root cause culprit reason found discovered problem issue bug because due caused happens
    learned realized realised explanation means bottleneck""",
    r"""
    \bturns?\s+out\b | \broot\s+cause\b | \bculprit\b | \b(?:the\s+)?reason\s+(?:is|was|for|why)\b
    | \b(?:i|we)(?:['’]ve)?\s+(?:found|discovered|learned|reali[sz]ed|noticed|see)\b |
      \bfound\s+(?:that|the|a|an|out|it)\b
    | \b(?:problem|issue|bug|bottleneck|cause)\s+(?:is|was|lies|comes)\b | \bdue\s+to\b |
      \bcaused\s+by\b
    | \b(?:happens|happened|occurs|breaks|fails)\s+(?:because|when|only)\b
    """,
)
PROCESS = re.compile(
    r"^\W*(?:ok(?:ay)?\W+|now\W+|so\W+|first\W+|sure\W+|then\W+)*(?:i\b|i['’]|let\s+me|let['’]s|we\b|there|that|this|"
    r"it\b|here)",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"\bcause\b|\bculprit\b|\bturn(?:s|ed)?\s+out\b|\bdue\s+to\b|\bbecause\b|\breason\b|\bcaused\b|"
    r"\bfound\s+(?:that|out)\b|\b(?:comes?|came)\s+(?:from|mostly)\b|\bonly\s+when\b|\bproblem\s+(?:is|was)\b",
    re.IGNORECASE,
)
QUESTION_ASKS = re.compile(
    r"^\W*(?:can|could|would|will)\s+you\b|\bplease\b|^\W*(?:how\s+about|what\s+if\s+we|shall\s+we)\b",
    re.IGNORECASE,
)
_ERROR_NAMES = re.compile(
    r"""\b[A-Z]\w*(?:Error|Exception|Failure|Fault|Panic|Violation)\b | ^E\s{2,}
    | \bE(?:CONN|NOENT|ACCES|PIPE|ADDR|PERM|TIMEDOUT|AGAIN|INVAL|BUSY|XIST)\w*
    | ^\W*(?:FAIL|FAILED|ERR|ERROR|FATAL|PANIC|MISMATCH|CRITICAL)\b
    | ✗ | ✘ | ❌ | \bHTTP(?:/\S+)?\s[45]\d\d\b | \berror\[\w+\] | \bTS\d{4}\b | \bERR_\w+""",
    re.VERBOSE,
)
NO_ERROR = re.compile(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:errors?|failures?|failed|warnings?|problems?|issues?)\b",
    re.IGNORECASE,
)
SMALL_TALK = re.compile(
    r"""^\W*(?:ok(?:ay)?|yes|yep|yeah|no|sure|thanks?(?:\s+(?:you|a\s+lot|so\s+much))?|thx|great|perfect|
    nice|cool|awesome|good(?:\s+(?:job|work|idea|point|catch))?|looks\s+good|lgtm|sounds\s+good|
      go\s+
    ahead|continue|proceed|please\s+(?:continue|proceed|go\s+ahead)|carry\s+on|do\s+it|hi|hello|hey|
    got\s+it|understood|will\s+do|on\s+it|right|exactly|correct|done|absolutely|certainly|
    of\s+course|no\s+problem|keep\s+going|go\s+on|next)(?:[\s,.!]+(?:please|then|thanks|
      thank\s+you|that|it|so|far|
    do\s+it|go\s+(?:ahead|on)|continue|proceed|now|all\s+good|looks\s+good|for\s+that|great|
      perfect))*\W*$""",
    re.IGNORECASE | re.VERBOSE,
)


_TALLY = re.compile(
    r"\b\d+ (?:failed|passed|errors?)\b|\bError \d+$|\bexit(?:ed)? (?:code|status)", re.I
)


def error_weight(line: str) -> float:
    """1 for a line that names its failure, less for one that only counts or echoes failures."""
    if _TALLY.search(line):
        return 0.45
    return 1.2 if _ERROR_NAMES.search(line) else 0.9


def names_failure(text: str) -> bool:
    """Whether a sentence quotes a failure by its own name, and does not only speak of one."""
    return _ERROR_NAMES.search(text) is not None and NO_ERROR.search(text) is None


def is_error_line(line: str) -> bool:
    """Whether a line of output reports a failure."""
    return len(line) <= LONGEST and is_failure(line)

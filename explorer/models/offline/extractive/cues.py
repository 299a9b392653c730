"""What a sentence of the user or of the assistant is: the words that mark its kind."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.facts import FactKind
from explorer.facts.errors import LONGEST, is_failure
from explorer.facts.statements import kinds_of
from explorer.models.offline.extractive.statement import (
    Kind,
    Piece,
    atoms_of,
    lower_words,
    terms_of,
)


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


_PASTED = re.compile(
    r"^\s*(?:[+-]\s?\d+\s|\d+\s+[-+]\s|➜|❯|\$\s|PS\s[A-Z]:|>>>\s|[\u2500-\u259f\u2800-\u28ff]|"
    r"at\s.*:\d+:\d+\)?$|File \".*\", line \d+|Traceback\b|npm\s(?:ERR|error)|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:|"
    r"\[\w+\]\s+\w+)|\S {3,}$|^[-+]{3} |^@@ "
)
_NUMBERED_LINE = re.compile(r"^\s*[+-]?\s?\d+\s+-?\s*")
_IMAGE = re.compile(r"^(?=\W*\S?[/~]).*\.(?:png|jpe?g|gif|webp|heic|mov|mp4)\W*$", re.IGNORECASE)
_SLASH = re.compile(r"^/[\w-]{0,20}$")
_NOISE = terms_of(
    """fuck fucking fucked shit wtf damn dude man hell omg omfg stupid lol please thanks ok alright
    yeah hmm hmmm well bro jesus christ god crap argh ugh haha"""
)
_FEW = 2


def split_pasted(text: str) -> tuple[str, list[str]]:
    """The words of a person, and the lines that were copied in from a screen or a log."""
    if "\n" not in text:
        return ("", [text]) if _PASTED.match(text) and len(text) > 60 else (text, [])
    said: list[str] = []
    pasted: list[str] = []
    inside = fenced = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        inside = bool(stripped) and (inside or _PASTED.search(line) is not None)
        if inside and not fenced:
            pasted.append(_NUMBERED_LINE.sub("", stripped))
        else:
            said.append(line)
    return "\n".join(said), [line for line in pasted if line]


def is_prompt(line: str) -> bool:
    """Whether a pasted line is what was typed at a shell."""
    return line.lstrip()[:1] in "➜❯$"


def is_reaction(text: str) -> bool:
    """Whether a sentence of a person asks for nothing and tells nothing that lasts."""
    if _SLASH.match(text.strip()) or SMALL_TALK.match(text) or _IMAGE.match(text):
        return True
    if atoms_of(text):
        return False
    return len(terms_of(text) - _NOISE) < _FEW


def goal_kind(item: str) -> Kind:
    """A rule or choice that came in with the first request belongs to its own section."""
    kind = user_kind(item, lower_words(item))
    return kind if kind in (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION) else Kind.GOAL


def user_kind(text: str, words: frozenset[str]) -> Kind:
    """What a sentence of the user is."""
    asks = text.rstrip().endswith("?")
    if asks and not QUESTION_ASKS.search(text):
        return Kind.REQUEST
    kinds = kinds_of(text, by_user=True)
    if names_failure(text) and FactKind.CONSTRAINT not in kinds:
        return Kind.ERROR
    if FactKind.DECISION in kinds and not asks:
        return Kind.DECISION
    if not asks and _SETTING.search(text) and atoms_of(text) and not FIRM.found(text, words):
        return Kind.FACT
    if FactKind.CONSTRAINT in kinds:
        return Kind.CONSTRAINT
    if PREFERENCE.found(text, words):
        return Kind.PREFERENCE
    if not asks and _only_points(text):
        return Kind.FACT
    if asks or _imperative(text):
        return Kind.REQUEST
    return Kind.FACT if NOTED.found(text, words) or atoms_of(text) else Kind.REQUEST


_SETTING = re.compile(
    r"^\W*(?:\w+\W+){0,5}?(?:set|raise|lower|bump|increase|decrease|reduce|change|make|extend|cut|cap|"
    r"move|rename|pin|upgrade|downgrade)\b",
    re.IGNORECASE,
)
_POINTS_AT = re.compile(
    r"^\W*(?:please\s+|also\s+|and\s+)*(?:see|check|cf|refer\s+to|look\s+(?:at|in|into)|have\s+a\s+look|"
    r"you(?:['’]ll|\s+will|\s+can)\s+find|find|docs?|details|more\s+in|compare)\b",
    re.IGNORECASE,
)
_NARRATES = re.compile(
    r"^\W*(?:(?:right|ok(?:ay)?|well|hm+|ah|oh|so|yes|no|good|great|nice|and|but|because|since)\b\W+)*"
    r"(?:that|this|it|its|i|we|they|he|she|there|those|these|which)\b",
    re.IGNORECASE,
)
_NAMES_A_THING = re.compile(
    r"^\W*(?:the|our|my|your|his|her|their|all|each|every|most|some|both)\s", re.IGNORECASE
)
_WISHES = re.compile(
    r"\b(?:need|want|like\s+to|please|should|have\s+to|got\s+to|hope|wish|trying\s+to|goal|love\s+to)\b",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(
    r"^\W*(?:the|this|that|these|those|our|my|we|i|it|there|he|she|they|you|all|each|every|currently|"
    r"right\s+now|today|yesterday|[A-Z][a-z]+(?:['’]s)?)\s+(?:\S+\s+){0,5}?(?:is|are|was|were|has|have|had|"
    r"lives?|runs?|listens?|uses?|takes?|gets?|got|seems?|fails?|shows?|says?|owns?|returns?|sits?|will|should|can|gives?|allows?|expects?|costs?|needs?|contains?|"
    r"wants?|says?|means?|points?|goes|ends?|comes?|starts?|keeps?|holds?|wrote|made|sent|saw)\b",
    re.IGNORECASE,
)

_TELLS_OF = re.compile(
    r"^\W*+(?:(?<=\.)\w++|[\w.]*[_.\d]\w*+)\W*+(?<=\s)(?:is|are|was|were|has|means?|holds?)\b"
)


def _only_points(text: str) -> bool:
    """Whether a sentence is an exact thing with hardly a word around it ("ref https://...")."""
    atoms = atoms_of(text)
    if not atoms:
        return False
    rest = text
    for atom in reversed(atoms):
        rest = rest[: atom.start] + " " + rest[atom.end :]
    return len(rest.split()) <= 3


_AIMS = re.compile(r"\b(?:goal|objective|in\s+the\s+end|the\s+aim)\b", re.IGNORECASE)
_NEEDS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|now|and|but|well|alright)\b\W*)*(?:we|i)\s+(?:still\s+|also\s+|now\s+)*"
    r"(?:need|want|have)\s+to\b",
    re.IGNORECASE,
)


def is_goal(text: str) -> bool:
    """Whether a request names what is to be reached, beyond a single step."""
    return _NEEDS.match(text) is not None or _AIMS.search(text) is not None


_TELLS_TO = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|now|and|then|next|also|first|please)\b\W*)+(?:write|add|fix|make|create|build|"
    r"implement|remove|delete|port|refactor|test|document|release|publish|review|investigate|find|run|show)\s",
    re.IGNORECASE,
)


def _imperative(text: str) -> bool:
    if _NEEDS.match(text) or _TELLS_TO.match(text):
        return True
    if _NAMES_A_THING.match(text):
        return False
    if _NARRATES.match(text) and not _WISHES.search(text):
        return False
    return not (_DESCRIBES.match(text) or _POINTS_AT.match(text) or _TELLS_OF.match(text))


def asks_change(text: str) -> bool:
    """Whether a sentence gives a value to something ("set the limit to 80")."""
    return _SETTING.search(text) is not None


_LEADS = (
    r"^\W*(?:(?:ok(?:ay)?|now|so|first|then|next|good|great|perfect|right|sure|yes|oh|oops|hm+|wait|no|"
    r"alright|"
    r"got\s+it|understood|agreed|and|but|also|done|ah|actually|sorry|finally)\b\W*)*"
)
_ANNOUNCES = re.compile(
    _LEADS
    + r"(?:let\s+me|let['’]s|let\s+us|i['’]ll|i\s+will|i['’]m\s+(?:going\s+to|about\s+to|now)|"
    r"i\s+(?:now\s+)?(?:need|want|have)\s+to|i\s+should|we\s+(?:need|should|have)\b|need(?:s)?\s+to|time\s+to|"
    r"(?:check|fix|update|add|rebuild|build|run|test|look|try|read|commit|tag|publish|verify)\s.*:$)",
    re.IGNORECASE,
)
_REACTS = re.compile(
    r"^\W*(?:you['’]?re\s+(?:absolutely\s+|totally\s+)?right|i\s+(?:can\s+)?see\b|(?:that|this|it)\s+"
    r"(?:makes|looks|is|was|should|seems|means|would|will)\b|perfect|great|excellent|good|hm+|oh\b|oops|wait|"
    r"sorry|ah+\b|interesting|strange|weird|the\s+\w+\s+(?:is|are)\s+there\b|enjoy\b)",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"^\W*(?:if|since|when|whenever|because|should|once|unless|as\s+soon|so\s+that|which|while|although|"
    r"either|or|either|to\s+\w+|you\s+can|use|set|put|do|did|does|have|the\s+(?:issue|problem|bug|steps|"
    r"reason)|in\s+\w+\s*\w*:)\b",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|understood|agreed|right|sure|yes|noted|got\s+it|fine|good)\b\W*)*"
    r"(?:(?:i|we)(?:['’]ll|\s+will|\s+won['’]?t|\s+must|\s+may|\s+am|['’]m)\s+(?:\w+\s+){0,2}?"
    r"(?:keep|not|never|always|only|stick|leave|avoid|respect|follow|make\s+sure|ensure|stay|ask)\b|"
    r"(?:i|we)\s+won['’]?t\b|as\s+you\s+(?:asked|said|wish|want)|your\s+rule)"
    r"|^\W*(?:understood|agreed|noted)\b\W+(?:no|never|always|only|nothing)\b",
    re.IGNORECASE,
)
# A rule stated as one. "It must have another API", "that must be the cache" are guesses.
_STATES_RULE = re.compile(
    r"\b(?:must|may|shall)\s+(?:not|never|only|always)\b|\bmustn['’]t\b"
    r"|\bmust\s+(?:stay|remain|keep|go|use|come|match|mention|support|be\s+\w+(?:ed|en|ible|able))\b"
    r"|\b(?:are|is)\s+(?:not\s+allowed|forbidden)\b|\bha(?:s|ve)\s+to\s+(?:be|stay)\b"
    r"|\bunder\s+no\s+circumstances\b|^\W*whatever\s+you\s+do\b"
    r"|^\W*(?:never|always|don['’]t|do\s+not|avoid|ensure|keep\s+every|leave\s+the|stay\s+away)\b"
    r"|^\W*only\s+.{2,40}\s(?:may|can|should)\b|^no\s+[a-z]\w+|^No\s+\w+\s+\w+\s+in\b"
    r"|^ask\s+me\s+before\b|\bneed\s+to\s+fit\b|^i\s+want\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?:…)\]`*\"'”’\d%]\W*$|[^\x00-\x7f]\W*$")
_MAYBE = re.compile(r"\b(?:could|might|would|maybe|perhaps|if you)\b", re.IGNORECASE)
_STARTS = re.compile(_LEADS + r"let\s+me\b", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|when|whenever|would|so\s+(?:that\s+)?\w+)\b", re.IGNORECASE)
_NOT_YET = re.compile(
    r"\b(?:if|whether|(?:should|can|must|could|to)\s+be|(?:ready|need\w*)\s+(?:for|to))\b|^\W*built-in\b",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"^\W*(?:since|if|when|now\s+it|this|that|it|uses|use|empty|the\s+(?:issue|problem|fix|error|build|"
    r"\w+\s+(?:changed|is|was|are)))\b",
    re.IGNORECASE,
)
_BARE_PAST = re.compile(r"^\W*(?:successfully\s+|also\s+)?[A-Z][a-z]+ed\b")
_LATE = 0.25
_NEWEST = 0.15


def announces(text: str) -> bool:
    """Whether a sentence says what the assistant is going to do."""
    return _ANNOUNCES.match(text) is not None


def breaks_off(piece: Piece) -> bool:
    """Whether a sentence was not finished, as happens when the assistant is stopped."""
    return not piece.item and not piece.code and _ENDED.search(piece.text) is None


def is_chatter(piece: Piece) -> bool:
    """Whether a sentence only accompanies the work. It may still name exact things."""
    text = piece.text
    if text.endswith((":", ":**")) or _REACTS.match(text):
        return True
    return text.endswith("!") and not any(letter.isdigit() for letter in text)


def assistant_kind(piece: Piece, words: frozenset[str], age: float) -> Kind:
    """What a sentence of the assistant is. `age` is 0 at the end of the conversation; work that
    lies ahead counts only there, and a rule is only what the assistant takes upon itself."""
    text = piece.text
    if piece.box:
        return {"x": Kind.DONE, " ": Kind.NEXT}.get(piece.box, Kind.DOING)
    reports = DONE.found(text, words) and not _SUPPOSES.match(text) and not _NOT_YET.search(text)
    if _BARE_PAST.match(text) and reports:
        return Kind.DONE
    if _STARTS.match(text) or (text.endswith(":") and announces(text)):
        return Kind.DOING
    if _ACCEPTS.match(text):
        return Kind.CONSTRAINT
    decides = DECISION.found(text, words) and not _MAYBE.search(text)
    if decides and not _EXPLAINS.match(text):
        return Kind.DECISION
    if names_failure(text) and not reports:
        return Kind.ERROR
    if FINDING.found(text, words):
        return Kind.FINDING
    if announces(text):
        return Kind.NEXT if NEXT.found(text, words) and age <= _LATE else Kind.DOING
    if NEXT.found(text, words) and age <= _LATE:
        return Kind.NEXT
    if reports:
        return Kind.DONE
    if BLOCKED.found(text, words):
        stands = age <= _NEWEST and not _IF.search(text)
        return Kind.BLOCKED if stands else Kind.FINDING
    if DOING.found(text, words):
        return Kind.DOING
    return Kind.CONSTRAINT if _STATES_RULE.search(text) else Kind.FACT

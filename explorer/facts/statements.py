"""Statements: constraints, decisions, questions, requests and open work, by rule of thumb.

A sentence is of a kind when a form in ``CUES`` is found in it and none in ``EXCEPTIONS``; a list
item is also of the kind that its heading names. Precision comes before recall: a statement in
unusual words is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Flag, auto
from functools import cached_property, lru_cache

from explorer.facts.fact import STATEMENT_KINDS, FactKind
from explorer.facts.text import Sentence, word_set
from explorer.session.late_pattern import late_pattern

CONSTRAINT, DECISION = FactKind.CONSTRAINT, FactKind.DECISION
REQUEST, QUESTION, TODO = FactKind.REQUEST, FactKind.QUESTION, FactKind.TODO


class By(Flag):
    """Whose sentences a row is for."""

    USER = auto()
    AGENT = auto()
    BOTH = USER | AGENT


class Cue:
    """The forms that make a sentence one of a kind: patterns that are searched for in it, in lower
    case. ``{head}`` stands where a clause begins, ``{number}`` for a figure, ``{we}``, ``{choose}``
    and ``{later}`` for the words below."""

    def __init__(self, kind: FactKind, by: By, *forms: str) -> None:
        self.kind = kind
        self.by = by
        self._forms = forms

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The forms as one pattern; compiled when it is first searched for, since all of them
        together take a tenth of a second."""
        pattern = "|".join(self._forms)
        for name, words in _SHARED.items():
            pattern = pattern.replace(f"{{{name}}}", words)
        return re.compile(pattern)


_SHARED = {
    "head": r"(?:^|[,:;(.!–—] ?|- |\b(?:please|pls|and|but|so|also|just|then|now|ok|okay|yes) )",
    "number": (r"(?:about |around )?[~$€£<>≤≥]*(?:\d|(?:one|two|three|four|five|six|ten|half)\b)"),
    "we": (
        r"\b(?:i|we|let's|lets|let us)(?:'ll| will|'d| would|'re| are|'m| am|'ve| have)?"
        r"(?: (?:rather|just|now|also|then|only|going to|deliberately))*"
    ),
    "choose": (
        r"(?:go(?:ing)? (?:with|for(?! it))|went (?:with|for)|gone with|stick(?:ing)? (?:to|with)|"
        r"stay(?:ing)? with|keep(?:ing)? (?!going|an eye|looking|you|me|trying)|kept|chose|choose|"
        r"pick(?:ed)?|settled? (?:on|for)|opt(?:ed)? (?:for|to|out)|drop(?:ped)?|skip(?:ped)?|"
        r"postponed?|defer(?:red)?|adopt(?:ed)?|switch(?:ed)? to|default(?:ed)? to|"
        r"prefer(?:red)?|leave|left (?!to\b|over|open|a comment))\b"
    ),
    "later": (
        r"(?:later|tomorrow|afterwards?|next (?:week|time|sprint|month|release)|eventually|"
        r"some ?day|at some point|another (?:time|day)|in a follow-?up|separately)\b"
    ),
}

CUES = (
    # Constraints: what the user demands, forbids or limits.
    Cue(
        CONSTRAINT,
        By.USER,
        r"\b(?:must|mustn't|forbidden|prohibited|mandatory|off-limits|sacred|taboo|"
        r"non-negotiable|immutable|frozen)\b",
        r"\b(?:not|no longer|isn't|aren't|only|never|are) (?:be )?(?:allowed|permitted|"
        r"acceptable)\b",
        r"\b(?:never|always)\b(?! (?:mind|fails?|works|happens|been|had|was|were|got|seen|"
        r"heard))",
        r"{head}(?:please |ever )*(?:don't|dont|do not) (?:ever |you |even )?(?!know|think|"
        r"understand|see\b|worry|mind|believe|care|remember|forget|hesitate|like|have|need|"
        r"get\b)\w",
        r"\b(?:i|we) (?:really )?don't (?:want|allow|accept|support|touch|use|ship|push|store|"
        r"log|commit|mix|mock)\b",
        r"\b(?:can't|cannot|can not|may not|may only|may never|shall not|can only)\b(?! "
        r"(?:find|see|reproduce|open|connect|reach|tell|read|figure|log|start|remember|"
        r"believe|understand|think|load|save|happen|explain|say|know|get|build|work|stand|be "
        r"(?:right|true|found)))",
        r"{head}(?:absolutely |really )?no (?!(?:idea|problems?|worr|need|rush|clue|way\b|"
        r"reason|doubt|matter|wonder|hurry|thank|luck|change\b|difference|one\b|big\b|such|"
        r"more\b(?! than)|i\b|we\b|it\b|that|this|the\b|you|please|let|use\b|not|just|errors?|"
        r"results?|pressure|go\b|answer|output|news|kidding|stress|sorry|but|wait|longer))"
        r"[a-z'-]+(?! then\W*$)",
        r"\b(?:nobody|nothing|no one|none|no \w+)(?: [\w-]+){0,4} (?:may|should|can|must|is "
        r"allowed|goes|gets|leaves|changes)\b",
        r"\bnothing (?:else|more|outside|beyond|new)\b",
        r"\bwithout (?:asking|my|any|a new|new|breaking|changing|touching|losing|adding)\b",
        r"\bshould(?:n't| not| never| only| always| stay| remain| keep| be kept)\b",
        r"^(?!(?:i|we|you|what|which|how|who|it|this|that|there)\b)[^,]{3,60}?\bshould "
        r"(?!have\b|be (?:fine|ok|okay|enough|there|easy|done|possible|able))\w",
        r"\b(?:has|needs) to (?!do with|see|say)\w",
        r"\b(?:have|need) to (?:be|stay|remain|keep|work|run|support|pass|fit|comply|match)\b",
        r"{head}(?:keep (?!going|at it|me posted|trying|looking|working)|leave (?:the|my|our|"
        r"it|them|that|those|all|qq)\b(?!.*\b(?:later|open|for now)\b)|avoid|stick (?:to|with)|"
        r"respect|follow (?!up|me)|preserve|maintain|ensure|restrict|limit (?:it|them|the)|"
        r"treat) ?\w",
        r"\b(?:make|be) (?:very |absolutely )?(?:sure|certain)\b(?! (?:what|whether|if|why|"
        r"how))",
        r"\b(?:stays?|remains?)(?: (?:exactly|strictly|the way))* (?:as|alone|untouched|"
        r"unchanged|the same|in|on|at|under|below|within|public|private|stable|compatible|"
        r"green|where|out|off|[\w-]+-compatible)\b",
        r"\bstays?\W*$",
        r"{head}(?:stay|keep|steer) (?:\w+ )?(?:away|clear|out|off)\b",
        r"^nobody \w+s\b(?!.*\b(?:yet|any ?more|ever)\b)",
        r"\bhands off\b",
        r"\bunder no circumstances\b",
        r"\bneeds? (?:my|an?|the) (?:\w+ )?(?:approval|review|ok|okay|permission|sign-?off)\b",
        r"\b(?:keep|bear) in mind\b",
        r"\bgoing forward\b",
        r"\bexclusively\b",
        r"\bout of (?:bounds|scope)\b",
        r"^prefer\b",
        r"\boff[- ]limits\b",
        r"\balone\W*$",
        r"{head}only (?!(?:one|two|three|some|few|then|happens|fails|now|when (?:it|the)|"
        r"\d)\b|the (?:one|first|problem))\w",
        r"\b[\w-]+ only\b(?=\W*$|,| with| in| for| from| via)",
        r"\bat (?:the )?(?:most|least)\b",
        r"\b(?:not?|never) (?:exceed|more than|longer than|bigger than|larger than|above|over|"
        r"less than|fewer than)\b",
        r"\b(?:limited|up) to {number}",
        r"\b(?:let's|lets) say {number}",
        r"\bno (?:later|longer|smaller|bigger|more|less)(?: than\b|\W*$)",
        r"\b(?:limit|cap|budget|ceiling|deadline|quota|max(?:imum)?|"
        r"min(?:imum)?)\b(?:[^.!?]{0,20}\b(?:is|are|to|of|at|stays?|moved))?:?=? {number}",
        r"\bdeadline (?:is|moved)\b",
        r"\bis the (?:limit|cap|ceiling|floor|line|maximum|minimum)\b",
        r"\d\S* (?:[a-z%/]+ )?(?:max|tops|at most|minimum)\b",
        r"\b(?:under|below|within) {number}",
        r"\b(?:until|till|unless) (?:i|we|you|told|further)\b",
        r"\b(?:by|before|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
        r"\bask (?:me|us)\b.{0,30}\b(?:first|before)\b",
        r"\bfrom (?:now|here|today) on\b",
        r"\bwhatever you do\b",
        r"(?:^|[:,] )(?:\w+ ){0,4}?(?:rules?|constraints?|requirements?|conditions?)(?: "
        r"\w+){0,2}?(?:\s?:|,| is\b| are\b)",
        r"\bimportant\b.*\bthat\b",
        r"\b(?:is|are) (?:a )?(?:must|requirement|required|important)\b",
        r"\b(?:i|we)(?:'d| would) (?:much |really )?(?:rather|prefer)\b",
        r"\b(?:i|we) prefer\b",
        r"\b(?:let's|please) (?:not|avoid|never)\b",
        r"\b(?:backwards?|forwards?)[- ]compat",
        r"\b(?:each|every)(?: new)?(?: [\w-]+){1,3} (?:needs?|gets?|must|has to|should|goes)\b",
        r"{head}use (?!case|cases|of\b|it\b|that\b)(?!.*\b(?:instead|rather)\b)\S",
        r"\bin (?:plain |simple )?english\b",
        r"{head}(?:make|set|change|raise|lower|bump|increase|reduce|extend|cut) (?:that|it|this|"
        r"(?:the|our) (?:[\w-]+ ){0,2}?(?:limit|cap|timeout|budget|maximum|number|retries|interval|"
        r"threshold|deadline)) (?:at |to |down to )?{number}",
        r"\bno longer (?:need|have|required|necessary|allowed|applies|matters?|support)\b",
    ),
    # Decisions: one way chosen where others were possible.
    Cue(
        DECISION,
        By.BOTH,
        r"\b(?:decided|decision|settled|chose|chosen|opted)\b",
        r"{we} {choose}",
        r"\bagreed (?:on|to|that)\b",
        r"\b(?:use[ds]?|using|make|made|store[ds]?|put|took|take|build|built|write|wrote|"
        r"return|returns|keep|go|went|do|load|split|replaced?|move[ds]?)\b.{2,80}\b(?:instead "
        r"of|rather than)\b",
        r"\b(?:deliberately|intentionally)\b",
        r"\bon purpose\b",
        r"\b(?:is|are|gets) (?:then )?dropped\b",
    ),
    Cue(
        DECISION,
        By.AGENT,
        r"^i .{5,80}\b(?:instead of|rather than)\b",
        r"^(?:(?:so|ok|okay|done|right),? )*(?:keeping|leaving|sticking|dropping|skipping|"
        r"postponing|kept|chose|picked)\b",
    ),
    Cue(
        DECISION,
        By.USER,
        r"^instead of .{3,60}\b(?:let's|we|i'd)\b",
        r"^(?:the|our|all|every|each) (?:[\w-]+ ){1,6}will (?:be|stay|remain|use|live|run)\b",
        r"^(?:(?:so|then|ok|okay|and|yes),? )*we (?:take|keep|skip|drop|bump|ignore|retire|"
        r"throw|delete|reject|archive|round)\b",
        r"\bwe(?:'ll| will) (?:use|make|do(?! it)|store|have|build|ship|support|split|require|"
        r"allow|return|run|raise|host|deploy|write|pay|sell)\b",
        r"\b(?:let's|let us) (?:use|take|make (?:it|that|the)|store|call|name|limit|support|"
        r"set)\b",
        r"\bcan live with\b",
        r"^(?:(?:ok|okay|yes|fine|then|so),? )*[\w.+-]+(?: [\w.+-]+)? it is\W*$",
        r"^(?:(?:ok|okay|yes|fine|let's|go with|take|use|i'd take|i prefer),? )*(?:(?:option|"
        r"variant|plan|approach) (?:[a-d]|\d|one|two)\b(?! would)|(?:the )?(?:first|second|"
        r"third|latter|former)(?: one| option)?(?=\W*$| (?:then|please))|both\W*$|neither\W*$)",
        r"^(?:(?:ok|okay|yes|no|then|so|let's),? )*(?:take (?!a look|care|your time)|pick |"
        r"choose |skip |postpone |forget about |drop (?!the (?:table|database))|go (?:with|"
        r"for (?!it)))",
        r"^(?:(?:ok|okay|yes|fine|good|right),? )*(?:no|without|skip|drop|only|just|with) [\w "
        r",'-]{1,50} then\W*$",
    ),
    Cue(
        DECISION,
        By.USER,
        r"\byou (?:may|can|are allowed to) (?:now )?\w+ .*\b(?:now|again|as well|too|after all)\b",
        r"\b(?:you|we) (?:may|can) now\b",
        r"\b(?:forget|ignore) (?:about )?(?:the|my) .*\b(?:rule|limit|requirement|cap)\b",
        r"\b(?:can|may) wait\W*$",
    ),
    # Requests: what the user wants done. Orders are found by ``_orders`` besides.
    Cue(
        REQUEST,
        By.USER,
        r"\b(?:can|could|will|would) (?:you|u|someone|anyone)\b(?! (?:believe|imagine|guess|"
        r"say|think))",
        r"\b(?:can|could) (?:we|i) (?:also |please )?(?:get|have|add|make|try|move|change|fix|"
        r"show|run|drop|use|put)\b",
        r"\bany chance\b",
        r"\b(?:i|we)(?:'d| would) (?:really |also )?(?:like|love|appreciate) (?!it\b)",
        r"\b(?:i|we) (?:really |also |now |still )?(?:want|need) (?:you|to|an?|the|this|that|"
        r"it|all|some|one|two|another|your)\b(?! (?:stay|remain|keep))",
        r"\bneeds (?:fixing|\w+ing\b|an?|another|to be (?:fixed|added|renamed|moved|rewritten|"
        r"updated|removed))\b",
        r"\bwould be (?:really |very |so )?(?:nice|great|good|helpful|cool|lovely|awesome|"
        r"perfect)\b",
        r"\b(?:please|pls|plz|kindly)\b",
        r"\b(?:next|first|last|your) (?:up|task|step|thing|job|item)\b(?: is|'s| ?:)",
        r"^(?:ok,? |and )?(?:next|now):? (?:the|our|an?) ",
        r"\b(?:have|take) (?:a|another) (?:quick |closer )?(?:look|stab|pass|go)\b",
        r"^(?:carry|go) on\W*$",
        r"\bgo (?:ahead|on with|for it)\b",
        r"^(?:please )?(?:proceed|continue)\b",
        r"(?:^|, |\b(?:yes|ok|please|then) )do (?:it|that|this|so|both|all)\b",
        r"\b(?:try|run it|do it) again\b",
        r"\b(?:let's|lets) (?:also |just |now |then |first )*(?:see|try|add|fix|run|look|"
        r"write|test|start|check|do (?:it|that)|begin|continue|get|clean|refactor)\b",
    ),
    # Open work: what is said to be left.
    Cue(
        TODO,
        By.BOTH,
        r"\b(?:todo|todos|fixme|tbd|backlog|follow-up|followup|unfinished)\b",
        r"\bstill (?:to (?:do|be|come)|open|missing|needs?|needed|has to|have to|left|pending|"
        r"unresolved|not (?:done|implemented|tested|covered|handled))\b",
        r"^(?:still )?(?:open|left|remaining|for later|later) ?:",
        r"\bleft to do\b",
        r"\bopen (?:point|item|task|issue|question)s?\b",
        r"\bremaining (?:work|tasks?|steps?)\b",
        r"\b(?:i|we|you|someone)(?:'ll| will|'d| should| must| need to| have to| could| "
        r"can)\b.{2,80}\b{later}",
        r"\bfor (?:tomorrow|later|another day|next week)\b",
        r"\b(?:come|get|circle) back to (?!you|work|me\b)",
        r"\b(?:is|are|has|have)(?:n't| not)(?: been)? (?:yet )?(?:tested|tried|checked|"
        r"verified|covered|documented|migrated|implemented|reviewed|updated)\b",
        r"^not (?:yet )?(?:tested|done|implemented|verified)\b",
        r"\buntested\b",
        r"\b(?<!\bfor )(?:waiting|blocked) (?:for|on|by|until)\b",
        r"\b(?:is|are|still) (?:pending|outstanding)\b",
        r"\bremind me\b",
    ),
    Cue(
        TODO,
        By.AGENT,
        r"^next(?: steps?)? ?:(?= ?\S)",
        r"^next,? (?:i|we)(?:'ll| will| should)\b",
    ),
)

EXCEPTIONS = (
    Cue(
        CONSTRAINT,
        By.USER,
        r"\bmust(?:'ve| have\b| be (?:a |an |the |some|because|due|caused|something|wrong))",
        r"^(?:\w+,? )?i (?:can't|cannot|don't|never|didn't|couldn't|always|have to)\b(?! "
        r"(?:want|allow|accept|need|care))",
        r"\bi'll have to\b",
        r"\b(?:it|that|this|he|she|they|which)(?:'s| is| was| has| just)? (?:never|always|"
        r"doesn't|can't|won't)\b",
        r"^(?:and |but |so )?(?:why|how|what)\b",
        r"\b(?:took|was|were|measured|went|ran|dropped|failed|fails|worked)\b(?!.*\b(?:must|"
        r"never|don't|only|please|from now on)\b)",
    ),
    Cue(
        DECISION,
        By.BOTH,
        r"\b(?:could|might|maybe|perhaps|whether|alternatively|either|if you)\b",
        r"\byou (?:decide|want|prefer)\b",
        r"\bwent (?:well|wrong|fine|through|down|up|back|away)\b",
        r"\b(?:instead of|rather than) (?:about |the )?\d",
        r"\bbug\b",
        r"\bwrong\b",
        r"\bfail(?:s|ed|ing)\b",
        r"\binstead of what\b",
        r"\bto be (?:settled|decided)\b",
        r"\byour decision\b",
    ),
    Cue(
        DECISION,
        By.AGENT,
        r"^(?:\w+,? )?(?:i'll|i will|let me|i'm going to) (?:now |first |also |then )?(?:run|"
        r"check|look|read|see|find|start|test|take a|leave you|keep (?:you|an eye|looking|"
        r"going)|pick up)\b",
    ),
    Cue(
        REQUEST,
        By.USER,
        r"^(?:thanks|thank you|perfect|great|nice)\b[^,.;]*$",
    ),
    Cue(
        TODO,
        By.BOTH,
        r"\b(?:nothing|none)(?: \w+){0,3} (?:left|remains|remaining|pending|open)\b",
        r"^(?:if|whether)\b",
    ),
    Cue(
        TODO,
        By.USER,
        r"\b(?:we|you) still (?:need|have) to\b(?!.*\b(?:later|tomorrow|next)\b)",
    ),
)

HEADINGS = (
    (
        TODO,
        r"\b(?:next(?: steps?)?|to[- ]?dos?|remaining|left|open (?:tasks|points|items)|pending|"
        r"outstanding|backlog|follow-?ups?|in progress|blocked|still (?:to do|open|missing))\b"
        r"[^.]*:?\s*$",
    ),
    (
        CONSTRAINT,
        r"\b(?:rules?|constraints?|requirements?|limits|restrictions|conditions|preferences|"
        r"conventions?|guidelines|non-goals|out of scope|off[- ]limits|must-haves?)\b[^.]*:?\s*$|"
        r"^\W*(?:keep|bear) in mind\W*$",
    ),
    (DECISION, r"\b(?:decisions?|decided|choices(?: made)?|settled|agreed)\b[^.]*:?\s*$"),
)
"""Headings whose list items are of a kind."""
_LONGEST_HEADING = 12
"""Words of a heading of open work; a longer one is a sentence that tells of it."""
_ASIDE = late_pattern(r"\([^()]*\)")

_VERBS = word_set(
    """
    adapt add adjust allow analyse analyze append apply archive automate backport benchmark bisect
    build bump cache call change check clarify clean commit compare configure convert copy count
    cover create cut debug define delete deploy describe design document draft drop edit enable
    exclude expand explain export extend extract fetch figure find finish fix format generate get
    give handle hide implement import improve include inline insert inspect install integrate
    introduce investigate list load log look make measure mention merge migrate mock move
    optimise optimize order parse patch pin plan port prepare print profile propose publish pull
    push put raise read rebase rebuild record redo refactor remove rename render reorder replace
    reproduce rerun research reset resolve restore restructure return reuse revert review rewrite
    roll run save scan search send serialize set shorten show simplify sort speed split squash
    start store strip submit suggest sum summarise summarize support swap tag take tell test
    tidy trace translate trim try tune turn undo unify update upgrade upload use validate verify
    wire wrap write
    """
)
_ALONE = word_set("commit merge test review start stop release run build fix continue retry push")
_OPENERS = word_set(
    """
    please pls then now also first next finally lastly and so but ok okay yes yeah sure great good
    nice thanks thank you hi hey hello again maybe just actually instead meanwhile afterwards
    quickly simply kindly perfect cool right alright well oh still once that's done
    """
)
_DETERMINERS = word_set(
    "the a an it its them this these those all your my our me us him her both each any every "
    "another some whether how why what where everything qq"
)
_NO_VERB = word_set(
    """
    is are was were be been am has have had do does did will would can could should may might must
    i we you they he she it this that these those there here who what which when where why how if
    in on at by for with from to of into onto over under after before since until while because as
    than not no only even both all half most such quite about like unlike despite without within
    thanks thank hi hey maybe perhaps still just so then now yes ok okay sure and but or nor also
    keep leave avoid never don't dont stick ensure remember let let's see either whatever got
    seems during between through against per via plus otherwise once again saw found tested ran
    tried ah oh wait been given call come goes went while good make
    """
)
_FINITE = word_set("is are was were has had will would can can't should fails failed works looks")
_NOUNS = word_set("build call fix test update set start change check order plan use show list log")
_AFTER_NOUN = word_set("for from with of up case cases number date results")
"""After a noun: "test results", "a fix for" is no order."""
_CLAUSE = late_pattern(r"[,;:()!?–—]|\s-+\s|\b(?:and|then|but|so|please)\b")
_CODE = late_pattern(r"``?[^`\d]+``?|\"[^\"]{3,80}\"|“[^”]{3,80}”")
_PATH = late_pattern(r"(?<!\S)[(\[]?(?:[~.]?/\S|[a-z]:\\|\S+[/\\]\S+[._/\\]|\S*_\S)[^\s,;:)]*")
_GREETING = late_pattern(
    r"^\W*(?:hi|hey|hello|thanks?|thx|ok(?:ay)?|yes|no|great|good|nice|cool|excellent)\W*$", re.I
)
_ASKS_WITHOUT_MARK = late_pattern(
    r"^(?:(?:and|but|so|ok),? )*(?:(?:why|how|where|when|who|what|which)(?:'s| (?:is|are|do|does|"
    r"did|can|should|was|were|about))\b|(?:any|no) idea (?:why|how|where|if|what))"
)
_BROKEN = late_pattern(
    r"\b(?:fails?|failing|crash(?:es|ed)?|breaks|broken?|hangs|freezes|throws|bug|wrong|missing|"
    r"stuck|slow|leaks?|timeouts?|flaky|deadlocks?)\b|\b(?:doesn't|don't|won't|isn't|can't) work\b"
)
_SHORTEST_QUESTION = 3
"""Words; a shorter one ("why?") only takes up what was said before."""
_HEAD_WORDS = 8
"""Words of a clause that tell whether it is an order."""
_CACHED = 8192


_PATTERNS = {
    (kind, by): tuple(
        [cue.pattern for cue in table if cue.kind is kind and by in cue.by]
        for table in (CUES, EXCEPTIONS)
    )
    for kind in STATEMENT_KINDS
    for by in (By.USER, By.AGENT)
}
_HEADINGS = tuple((kind, late_pattern(form, re.IGNORECASE)) for kind, form in HEADINGS)


def statements(found: list[Sentence], *, by_user: bool) -> Iterator[tuple[FactKind, Sentence]]:
    """The kinds of a message's sentences; one may be of several kinds. A message of the user that
    states nothing but a malfunction requests its repair."""
    broken: Sentence | None = None
    is_wanted = False
    for one in found:
        if one.checkbox in ("x", "X"):
            continue
        kinds = _kinds(one.text, By.USER if by_user else By.AGENT, _listed_kind(one))
        for kind in kinds:
            yield kind, one
        is_wanted = is_wanted or bool(kinds)
        if by_user and broken is None and _BROKEN.search(one.text.lower()):
            broken = one
    if broken is not None and not is_wanted:
        yield REQUEST, broken


def statements_of_summary(found: list[Sentence]) -> Iterator[tuple[FactKind, Sentence]]:
    """The kinds of a summary's items by their section; open work also by its words."""
    for one in found:
        if _GREETING.match(one.text) or one.checkbox in ("x", "X"):
            continue
        kind = _heading_kind(one.section)
        if kind in (CONSTRAINT, DECISION):
            yield kind, one
        elif one.item and (
            TODO in (kind, _listed_kind(one)) or _has_cue(TODO, _normalised(one.text), By.AGENT)
        ):
            yield TODO, one


def kinds_of(text: str, *, by_user: bool) -> tuple[FactKind, ...]:
    """The kinds of one sentence by its words alone."""
    return _kinds(text, By.USER if by_user else By.AGENT, None)


def is_question(text: str) -> bool:
    """Whether a sentence ends with a question mark."""
    return text.rstrip("\"'”’)*` :").endswith("?")


def denies_or_forbids(text: str) -> bool:
    """Whether a sentence has a negation, or a word that limits like one."""
    return _NEGATION.search(text) is not None


_NEGATION = late_pattern(
    r"\b(?:no|not|never|without|avoid|cannot|can['’]?t|don['’]?t|mustn['’]?t|shouldn['’]?t|"
    r"won['’]?t|isn['’]?t|aren['’]?t|doesn['’]?t|forbidden|prohibited|nobody|nothing|"
    r"off[- ]limits|untouched|unchanged|alone|refrain|frozen|read[- ]only|only)\b",
    re.IGNORECASE,
)


def _listed_kind(one: Sentence) -> FactKind | None:
    """The kind of a list item by its open checkbox or the line above its list."""
    if one.checkbox:
        return TODO
    return _heading_kind(one.under) if one.item else None


@lru_cache(maxsize=1024)
def _heading_kind(heading: str) -> FactKind | None:
    heading = _ASIDE.sub("", heading)
    kind = next((kind for kind, form in _HEADINGS if heading and form.search(heading)), None)
    return None if kind is TODO and len(heading.split()) > _LONGEST_HEADING else kind


@lru_cache(maxsize=_CACHED)
def _kinds(text: str, by: By, listed: FactKind | None) -> tuple[FactKind, ...]:
    """The kinds of one sentence. ``listed``: the kind that its place in a list gives it."""
    if _GREETING.match(text) or (text.endswith(":") and listed is None):
        return ()
    low = _normalised(text)
    kinds = {kind for kind in STATEMENT_KINDS if _has_cue(kind, low, by)}
    if is_question(text):
        if by is By.USER and REQUEST in kinds and not _ASKS_WITHOUT_MARK.match(low):
            return (REQUEST,)
        return (QUESTION,) if len(text.split()) >= _SHORTEST_QUESTION else ()
    if by is By.AGENT:
        kind = listed or next((one for one in (TODO, DECISION) if one in kinds), None)
        return (kind,) if kind is not None else ()
    if listed is not None:
        kinds.add(listed)
    if DECISION in kinds:
        kinds.discard(CONSTRAINT)
    if REQUEST in kinds and (CONSTRAINT in kinds or DECISION in kinds or TODO in kinds):
        kinds.discard(REQUEST)
    if _orders(low, is_other=bool(kinds)):
        kinds.add(REQUEST)
    if not kinds and _ASKS_WITHOUT_MARK.match(low):
        return (QUESTION,)
    return tuple(kind for kind in FactKind if kind in kinds)


def _has_cue(kind: FactKind, low: str, by: By) -> bool:
    """Whether a cue for a kind is found in a normalised sentence and no exception is."""
    cues, exceptions = _PATTERNS[kind, by]
    return any(cue.search(low) for cue in cues) and not any(one.search(low) for one in exceptions)


def _normalised(text: str) -> str:
    """A sentence in lower case without emphasis; code, paths and quoted words are replaced by
    ``qq``: they are not the speaker's."""
    low = _PATH.sub("qq", _CODE.sub("qq", text.lower()))
    low = low.replace("’", "'").replace("*", "").replace("`", "").replace("_", "-")
    return " ".join(low.split())


def _orders(low: str, *, is_other: bool) -> bool:
    """Whether a clause begins with a verb in the imperative. ``is_other``: the sentence is of
    another kind already, so that only a verb with its object counts."""
    for number, clause in enumerate(_CLAUSE.split(low)):
        words = clause.split()[:_HEAD_WORDS]
        while words and words[0].strip(".") in _OPENERS:
            words = words[1:]
        if not words:
            continue
        verb, after = words[0].strip("."), words[1] if len(words) > 1 else ""
        has_object = after in _DETERMINERS
        is_phrase = not has_object and (
            not _FINITE.isdisjoint(words[1:]) or (verb in _NOUNS and after in _AFTER_NOUN)
        )
        if is_phrase:
            continue
        if verb in _VERBS:
            if has_object or (not is_other and number == 0 and (after or verb in _ALONE)):
                return True
        elif number == 0 and not is_other and has_object and _may_be_verb(verb):
            return True
    return False


def _may_be_verb(word: str) -> bool:
    """Whether an unknown word before an object may be a verb in the imperative."""
    return (
        word.isalpha()
        and word not in _NO_VERB
        and (not word.endswith("s") or word.endswith("ss"))
        and not word.endswith(("ed", "ing", "ly"))
    )

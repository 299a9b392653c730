"""How people mark a rule, a choice, a question, a request, work that is left.

The vocabulary is the audit's own and not the offline summarizer's: an audit that shares the rules
of what it measures cannot see what those rules miss.
"""

from __future__ import annotations

import re

from explorer.audit.atoms.letters import AnyCase, is_odd
from explorer.audit.atoms.lists import any_of, word_set


class Cue:
    """Patterns with the words of which a sentence has at least one where any of them matches."""

    __slots__ = ("_pattern", "words")

    def __init__(self, words: str, *patterns: str) -> None:
        self.words = word_set(words)
        self._pattern = any_of(*patterns)

    def stands_in(self, text: str) -> bool:
        """Whether a sentence that has one of the words carries the mark."""
        return self._pattern.search(text) is not None


class Cues:
    """Several ways to say one thing."""

    __slots__ = ("_cues",)

    def __init__(self, *cues: Cue) -> None:
        self._cues = cues

    @property
    def words(self) -> frozenset[str]:
        """A sentence with none of these words carries no mark."""
        return frozenset().union(*(cue.words for cue in self._cues))

    def found(self, text: str, words: frozenset[str]) -> bool:
        """Whether any of them is there."""
        for cue in self._cues:  # noqa: SIM110 - asked for every sentence, a loop is faster
            if not cue.words.isdisjoint(words) and cue.stands_in(text):
                return True
        return False


PLAIN_RULES = word_set("must mustn't never always forbidden prohibited mandatory frozen")
"""Words that lay down a rule whatever else the sentence says."""
RULES = Cues(
    Cue(
        "do don't dont",
        r"(?:^|[,:(]\s*|\b(?:please|pls|and|but|so|also|just|then|careful|btw|do|we|you|better)\s+)"
        r"(?:do\s+not|don['’]?t|dont)\s+(?!(?:know|think|understand|see|have|worry|mind|"
        r"want\s+to\s+know|believe|care|remember|recall|get|need\s+to\s+worry|like)\b)",
    ),
    Cue(
        "can cannot can't cant may shall should shouldn't",
        r"\b(?:can(?:no|['’]?)t|can\s+not|may\s+(?:not|only|never)|shall\s+not|should\s*n[o'’]t|"
        r"should\s+(?:not|only|stay|remain|be\s+kept))\b(?!\s+(?:find|see|reproduce|open|connect|"
        r"reach|tell|read|figure|get|log|start|build|run|compile|remember|we|work))",
    ),
    Cue(
        "only just",
        r"\b(?:only|just)\s+(?:use|touch|change|edit|look|read|run|write|allow|under|in|on|between|"
        r"from|after|with|via|when\s+i|packages|files|saturdays?|allowed|permitted|supported)\b",
        r"\b(?:use|allow|accept|touch|edit|change|support)s?\s+only\b",
        r"(?:^|[,-]\s*)only\s+\w+",
        r"\bjob\s+only\b",
    ),
    Cue(
        "most least more less longer exceed fewer",
        r"\b(?:at\s+(?:most|least)|(?:no|not)\s+more\s+than|no\s+(?:less|longer|fewer)\s+than|"
        r"not\s+exceed)\b",
    ),
    Cue(
        "max maximum min minimum limit cap budget ceiling deadline quota retention hard restrict",
        r"\b(?:max(?:imum)?|min(?:imum)?|limit|cap|budget|ceiling|deadline|quota|retention)\b\s*"
        r"(?:of|is|are|stays|to|:|=|at)?\s*(?:now\s+)?[~<>≤≥$€£]?\d",
        r"\b(?:is|are|stays?)\s+(?:the\s+)?(?:max(?:imum)?|limit)\b",
        r"\bhard\s+(?:limit|cap|rule|requirement)\b",
        r"\b(?:cap|limit|restrict)\s+(?:it|that|this|the\s+\w+(?:\s+\w+)?)\s+(?:at|to)\b",
    ),
    Cue(
        "within under below up than",
        r"\b(?:within|under|below|up\s+to|(?:longer|more|higher|slower|larger|bigger)\s+than)\s+"
        r"[~$€£]?\d",
    ),
    Cue(
        "has have need needs require requires",
        r"\b(?:has|have|needs?)\s+(?:got\s+)?to\s+(?:be|stay|remain|keep|work|run|support|pass|fit|"
        r"finish)\b",
        r"\w\s+(?:has|needs)\s+to\s+(?!(?:do|see|go|say|admit)\b)\w+",
        r"\b(?:needs?|requires?)\s+(?:the\s+)?(?:flag|approval|review|sign[- ]?off)\b",
    ),
    Cue(
        "stay stays remain remains keep leave left kept as",
        r"\b(?:stays?|remains?|keep|leave|left|kept)\b.{0,60}?\b(?:as\s+(?:is|it\s+is|they\s+are|"
        r"it\s+was|they\s+were)|alone|untouched|unchanged|intact|in\s+place|exactly\s+as)\b",
        r"\bas\s+(?:is|it\s+is)\b(?=\W*$)",
        r"\bkeep\s+(?:the|all|our|its|it|using|everything|that)\b",
        r"\bstays?\s+(?:at|on|in|below|under|within|away|off|out|clear|\d)\b",
        r"\bleave\s+\S+(?:\s+\S+){0,3}\s+alone\b",
    ),
    Cue(
        "avoid refrain stick make be ensure without",
        r"\b(?:avoid|refrain\s+from|stick\s+(?:to|with))\b",
        r"\b(?:make\s+sure|be\s+sure|ensure)\b",
        r"\bwithout\s+\w+ing\b",
    ),
    Cue(
        "off off-limits read-only read not required non-negotiable non",
        r"\b(?:off[- ]limits|read[- ]?only|not\s+allowed|non[- ]negotiable)\b",
        r"\b(?:is|are)\s+(?:required|off)\b",
    ),
    Cue(
        "nobody nothing no",
        r"\b(?:nobody|nothing|no\s+one)\s+(?:may|should|can|else|touches|writes|pushes|edits|"
        r"changes|deploys|merges)\b",
        r"(?:^|[:,]\s*)no\s+(?!(?:idea|problem|worries|need|rush|longer|clue|way|reason)\b)"
        r"[a-z-]+(?:\s|$)",
        r"\bno\s+longer\s+(?:need|have|required|allowed)\b",
    ),
    Cue(
        "compatible whatever one",
        r"\bcompatible\s+with\b",
        r"\bwhatever\s+you\s+do\b",
        r"\bone\s+\w+\s+at\s+a\s+time\b",
    ),
)
NO_RULE = any_of(
    r"\bnot\s+only\b",
    r"\bonly\s+(?:happens|fails|when\s+(?:it|the)|one\s+of|\d+\s+\w+\s+fail)",
    r"\bi\s+(?:don['’]t|do\s+not|can['’]?t)\b",
    r"\b(?:why|how)\s+(?:does|do|is|are|can)\b",
    r"\bit\s+(?:doesn['’]t|does\s+not|can['’]t)\b",
    r"\bnever\s+(?:mind|heard|seen|happened|worked|got)\b",
    r"\balways\s+(?:fails|crashes|happens|happened|been|was|had)\b",
    r"\bdon['’]?t\s+(?:seem|work|compile|pass)\b",
    r"\bhas\s+to\s+do\s+with\b",
)
NEW_VALUE = any_of(
    r"\b(?:make|set|raise|lower|bump|increase|decrease|reduce|cut|change|extend|shorten|"
    r"relax|tighten)\s+(?:that|it|this|them|the\s+(?:\w+\s+){0,3}?(?:limit|cap|timeout|"
    r"budget|max(?:imum)?|number|count|retries|interval|size|threshold|deadline|"
    r"quota))\s+(?:to\s+|up\s+to\s+|down\s+to\s+)?[~$€£]?\d",
    r"\b(?:is|are)\s+(?:now\s+\S*\d|\S*\d\S*(?:\s+\w+)?\s+(?:now|is\s+enough|instead))",
    r"\b(?:limit|cap|max|budget|timeout|deadline)\s+(?:is|moved|goes)\b.{0,30}\d",
    r"\buse\s+[~$€£]?\d[\d.,]*\s*\w+\s+(?:per|instead|for)\b",
    r"\d\S*\s+\w*\s*(?:is\s+enough|is\s+fine|at\s+most|max)\b",
    r"\bmax(?:imum)?\.?\s+\d",
)
DECISIONS = Cues(
    Cue(
        "decided decide decision decisions settled agreed opted opting chose chosen ruled "
        "rejected picked voted",
        r"\b(?:decid\w+|decisions?|settled\s+on|agreed\s+(?:on|to|that)|opt(?:ed|ing)\s+(?:for|to)|"
        r"chose|chosen|ruled\s+out|rejected|picked|voted)\b",
    ),
    Cue(
        "we we'll we'd we're i i'll i'd i'm let's lets let then and",
        r"\b(?:we|i|let['’]?s|let\s+us|lets|then|and)(?:['’]?ll|\s+will|['’]d|\s+would|"
        r"\s+should|['’]re|\s+are|['’]m|\s+am)?\s+(?:rather\s+)?(?:now\s+)?"
        r"(?:go(?:ing)?\s+(?:with|for)|us(?:e|ing)\s+|pin(?:ning)?\s|switch(?:ing)?\s+to|"
        r"mov(?:e|ing)\s+to|stick(?:ing)?\s+(?:to|with)|adopt(?:ing)?|keep(?:ing)?\s|"
        r"revert(?:ing)?\s|drop(?:ping)?\s|stay(?:ing)?\s+with|skip(?:ping)?\s|require\s|"
        r"prefer\s|replace\s|split\s)",
        r"\b(?:i|we)(?:['’]d|\s+would)\s+rather\b",
        r"\b(?:i|we)(?:['’]ll|\s+will)\s+make\s+it\b",
        r"\bwe\s+(?:go|settle|switch|stay|move)\s",
        r"^then\s+let\s+us\b",
        r"\b(?:we['’]ll|we\s+will)\s+(?!(?:see|look|need|have|talk|know|be)\b)\w+.*\bthen\b",
    ),
    Cue(
        "because since instead rather that as over even",
        r"\b(?:i|we)\s+(?:took|made|moved|put|left|set|\w{3,}ed)\b.{3,100}\b(?:because|since|"
        r"instead\s+of|rather\s+than)\b",
        r"\b(?:i|we)\s+(?:recommend|kept|chose|prefer|stored|went)\b.*\b(?:because|since|as|over|"
        r"instead)\b",
        r"\b(?:i|we)(?:['’]ll|['’]d|['’]ve|\s+will|\s+would|\s+should|\s+have)\s.{2,140}?"
        r"\b(?:because|instead\s+of|rather\s+than|so\s+that|since|as\s+\w+\s+would|even\s+if)\b",
        r"\b(?:runs?|made|keeps?|uses?|built|build)\b.{3,90}\bso\s+that\b",
        r"\binstead\s+of\s+\w+ing\b",
    ),
    Cue(
        "going go went stays stay favor favour will",
        r"^(?:the|our|all|every|each)\s+(?:[\w-]+\s+){1,6}will\s+(?:be|stay|remain|use|live|run)\b",
        r"^(?:going|go|went)\s+with\b",
        r"\w\s+stays?\b(?=\s*[;.,]|\s+because|\s+and|\s*$)",
        r"\bin\s+favou?r\s+of\b",
    ),
)
NO_DECISION = AnyCase(
    r"\b(?:let\s+me|i['’]ll\s+(?:look|read|start|check|run|fetch|see)|we\s+could|i\s+could|"
    r"could\s+you|please\s+decide)\b"
    r"|\b(?:if\s+you\s+(?:want|like|prefer)|do\s+you\s+want)\b"
)
_VERBS = (
    r"add|analy[sz]e|apply|ask|compare|configure|continue|convert|create|delete|deploy|"
    r"describe|do|enable|explain|extend|fetch|figure|find|finish|generate|go\s+(?:ahead|"
    r"for|on|over|thr\w*)|implement|improve|inspect|investigate|locate|migrate|optimi[sz]e|"
    r"port|prepare|profile|propose|publish|push|put|rebase|refactor|release|remove|rename|"
    r"replace|reproduce|rerun|retry|revert|rewrite|shorten|simplify|speed|summari[sz]e|"
    r"tell|translate|verify|write|wrap|have\s+a\s+look|collect|gather|sketch|suggest|"
    r"restore|restart|wire|hook|insert|integrate|introduce|lower|parse|polish|pull|raise|"
    r"reduce|reorder|resolve|resume|roll|save|scaffold|skip|sync|tweak|unify|validate|"
    r"visualize|walk|adapt|address|adjust|append|assign|automate|backfill|calculate|"
    r"combine|complete|compress|compute|confirm|connect|correct|define|determine|diagnose|"
    r"disable|download|encode|evaluate|examine|execute|exclude|expand|expose|include|"
    r"inline|instrument|double-check"
)
_NOUN_VERBS = (
    r"build|bump|change|check|clean|commit|debug|design|document|draft|drop|edit|extract|"
    r"fix|get|give|install|list|look|make|measure|merge|move|open|read|review|run|search|"
    r"send|set|show|split|start|switch|tag|take|test|try|update|upgrade|use|work|count|log|"
    r"print|scan|store|sort|handle|help|increase|join|label|lint|map|mark|mock|name|note|"
    r"patch|pick|pin|plot|rank|register|repeat|report|reset|schedule|seed|ship|trim|warn|"
    r"mention|archive|benchmark|bring|cache|call|cancel|capture|close|copy|cover|cut|dump|"
    r"estimate|export|import|index|launch|turn|wait"
)
"""Verbs that are as often nouns: "test the build", but "test data"."""
_OBJECT = (
    r"(?:(?:the|an?|it|its|them|this|that(?!\s+(?:is|are|was|the))|these|those|all|your|my|our|me|us|"
    r"him|her|everything|both|each|any|every|one|two|another|more|some|again|only|out|into|also)\b|"
    r"[`\"'*]|\S*[/._]\w)"
)
ASKS = AnyCase(
    r"(?:^|[,:→]\s*|\b(?:and|then|now|next|please|pls|so|also|ok|okay|hi|hey|good|well|great|wait|yes|"
    r"nice|after\s+that|first\s+task|afterwards|again|meantime|meanwhile|just|simply)[,:]?\s+)"
    r"(?:please\s+|pls\s+|also,?\s+|then\s+|now\s+|just\s+|first\s+)*"
    rf"(?:(?:{_VERBS})\b(?!\s+(?:is|was|are|were|says|fails|failed|to\s+that)\b|\s*:)|"
    rf"(?:{_NOUN_VERBS})\s+{_OBJECT}|(?:start|help|wait|work)\s+(?:with|on)\b)"
    r"|\b(?:can|could|would|will)\s+(?:you|u)\b|\b(?:i|we)(?:['’]d|\s+would)?\s+(?:want|need|like)\s+"
    r"(?:you|to)\b|\bneed\s+(?:you|u)\s+to\b|\bplease\b|\bpls\b|"
    r"\blet['’]?s\s+(?:go|start|do|continue|see|look|fix|add|make|try|move|write|run)\b|"
    r"\bgo\s+(?:ahead|for\s+it)\b|^(?:yes\W+)?do\s+(?:it|that)\b"
)
_LEADS = word_set(
    """
    and then now next please pls so also ok okay hi hey good well great wait yes nice
    afterwards again meantime meanwhile just simply you u want need like let lets go
    """
)
"""Without any of these, and without ``,``, ``:`` and ``→``, only the beginning can ask."""
_LEADS_OF_TWO = (frozenset({"after", "that"}), frozenset({"first", "task"}))
_WORD = re.compile(r"\w+")


def asks(text: str) -> bool:
    """Whether a sentence asks for something."""
    if "," in text or ":" in text or "→" in text or is_odd(text):
        return ASKS.search(text) is not None
    words = frozenset(_WORD.findall(text.lower()))
    if _LEADS.isdisjoint(words) and not any(lead <= words for lead in _LEADS_OF_TWO):
        return ASKS.match(text) is not None
    return ASKS.search(text) is not None


ASKS_FIRST = AnyCase(rf"^(?:please\s+|pls\s+)?(?:{_VERBS})\s+{_OBJECT}")
"""A request that a limit is tied to: "write a mail of no more than ten lines"."""
NEGATIVE = AnyCase(r"\b(?:never|don['’]?t|do\s+not|must|always|avoid)\b")
POLITE = AnyCase(r"\b(?:please|pls|(?:can|could|would)\s+you)\b")
ASK_WORDS = word_set(
    """
    adapt add address adjust analyse analyze append apply archive ask assign automate backfill
    benchmark bring build bump cache calculate call can cancel capture change check clean
    close collect combine commit compare complete compress compute configure confirm connect
    continue convert copy correct could count cover create cut debug define delete deploy
    describe design determine diagnose disable do document double-check download draft drop
    dump edit enable encode estimate evaluate examine exclude execute expand explain export
    expose extend extract fetch figure find finish fix for gather generate get give go handle
    have help hook i'd implement import improve include increase index inline insert inspect
    install instrument integrate introduce investigate join label launch let's lets let’s like
    lint list locate log look lower make map mark measure mention merge migrate mock move name
    need note on open optimise optimize parse patch pick pin please plot pls polish port
    prepare print profile propose publish pull push put raise rank read rebase reduce refactor
    register release remove rename reorder repeat replace report reproduce rerun reset resolve
    restart restore resume retry revert review rewrite roll run save scaffold scan schedule
    search see seed send set ship shorten show simplify sketch skip sort speed split start
    store suggest summarise summarize switch sync tag take tell test translate trim try turn
    tweak unify update upgrade use validate verify visualize wait walk want warn we'd will
    wire work would wrap write
    """
)
CONSIDERING = AnyCase(r"^(?:why|what|which|how|who|where|when)\b")
TODO = any_of(
    r"\b(?:todo|fixme)\b",
    r"\b(?:still\s+)?to[- ]do\s*:",
    r"\bnext\s*(?:steps?|up)?\s*:(?=\s*\S)",
    r"\bstill\s+(?:to\s+do|open|missing|need(?:s|ed)?|have\s+to|left|pending)\b",
    r"\bremaining(?:\s+work)?\s*:",
    r"\bleft\s+to\s+do\b",
    r"\bnext\s+(?:i|we)(?:['’]ll|\s+will|\s+should|\s+need)\b",
    r"\bfollow-?up\s*:",
)
TODO_WORDS = word_set("todo fixme to-do do next still remaining left follow-up followup step steps")
TODO_HEAD = AnyCase(
    r"\b(?:next(?:\s+steps?)?|to[- ]?dos?|remaining|remains|left|open\s+(?:tasks|points|"
    r"items)|outstanding|"
    r"still\s+(?:to\s+do|open|missing)|follow-?ups?|in\s+progress|blocked)\b[^.]*:?\s*$"
)
RULE_HEAD = AnyCase(
    r"\b(?:rules?|constraints?|requirements?|limits|conditions|preferences|"
    r"guidelines)\b[^.]*:?\s*$"
)
DECISION_HEAD = AnyCase(r"\bdecisions?\b[^.]*:?\s*$")
GREETING = re.compile(
    r"^\W*(?:hi|hey|hello|thanks?|thx|ok(?:ay)?|yes|no|great|good|nice|cool|merci|excellent)\W*$",
    re.I,
)

"""What people lay down: constraints, decisions, questions, requests, things to do.

The vocabulary is the audit's own and not the offline summarizer's: an audit that shares the rules
of what it measures cannot see what those rules miss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.sentences import Sentence

_TRIGGERS = word_set(
    """
    must mustn't mustnt never always only don't dont don’t not no cannot can't can’t cant
    shouldn't should avoid keep keeps kept leave stay stays stays make sure ensure most least
    max maximum min minimum within under below above limit limited cap capped without unless
    except have has need needs require required requires forbidden allowed off may nobody
    nothing nowhere exactly strictly hard budget mandatory frozen untouched read-only stick
    use job more than exceed else drop up before limits
    """
)
_RULE = re.compile(
    r"""
      \bmust(?:n['’]?t|\s+not)?\b | \b(?:never|always)\b
    | (?:^|[,:(]\s*|\b(?:please|pls|and|but|so|also|just|then|careful|btw|do|we|you|better)\s+)
        (?:do\s+not|don['’]?t|dont)\s+(?!(?:know|think|understand|see|have|worry|mind|
        want\s+to\s+know|believe|
        care|remember|recall|get|need\s+to\s+worry|like)\b)
    | \b(?:can(?:no|['’]?)t|can\s+not|may\s+(?:not|only|never)|shall\s+not|should\s*n[o'’]t|
        should\s+(?:not|only|
        never|always|stay|remain|be\s+kept))\b(?!\s+(?:find|see|reproduce|open|connect|reach|
        tell|read|figure|get|
        log|start|build|run|compile|remember|we|work))
    | \b(?:only|just)\s+(?:use|touch|change|edit|look|read|run|write|allow|under|in|on|between|
        from|after|with|via|
        when\s+I|one|two|packages|files|Saturdays?)\b | \b(?:use|allow|accept|touch|edit|change|
        support)s?\s+only\b
    | (?:^|[,-]\s*)only\s+\w+ | \bjob\s+only\b | \bonly\s+(?:allowed|permitted|supported)\b |
        \bonly\s+look\b
    | \b(?:at\s+most|at\s+least|no\s+more\s+than|not\s+more\s+than|no\s+less\s+than|
        no\s+longer\s+than|not\s+exceed|
        no\s+fewer\s+than)\b
    | \b(?:max(?:imum)?|min(?:imum)?|limit|cap|budget|ceiling|deadline|quota|
        retention)\b\s*(?:of|is|are|stays|to|
        :|=|at)?\s*(?:now\s+)?[~<>≤≥$€£]?\d
    | \b(?:is|are|stays?)\s+(?:the\s+)?(?:max(?:imum)?|limit)\b | \bhard\s+(?:limit|cap|rule|
        requirement)\b
    | \b(?:within|under|below|up\s+to|(?:longer|more|higher|slower|larger|
        bigger)\s+than)\s+[~$€£]?\d
    | \b(?:cap|limit|restrict)\s+(?:it|that|this|the\s+\w+(?:\s+\w+)?)\s+(?:at|to)\b
    | \b(?:has|have|needs?)\s+(?:got\s+)?to\s+(?:be|stay|remain|keep|work|run|support|pass|fit|
        finish)\b
    | \b(?:stays?|remains?|keep|leave|left|kept)\b.{0,60}?\b(?:as\s+(?:is|it\s+is|they\s+are|
        it\s+was|they\s+were)|
        alone|untouched|unchanged|intact|in\s+place|exactly\s+as)\b
    | \b(?:as\s+(?:is|it\s+is))\b(?=\W*$) | \bkeep\s+(?:the|all|our|its|it|using|everything|
        that)\b
    | \bstays?\s+(?:at|on|in|below|under|within|away|\d)\b |
        \bleave\s+\S+(?:\s+\S+){0,3}\s+alone\b
    | \b(?:avoid|refrain\s+from|stick\s+(?:to|with)|stay\s+(?:away|off|out|within|under|below|
        clear))\b
    | \b(?:make\s+sure|be\s+sure|ensure)\b | \bwithout\s+(?:changing|touching|breaking|adding|
        \w+ing)\b
    | \b(?:forbidden|prohibited|off[- ]limits|read[- ]only|not\s+allowed|mandatory|frozen|
        non[- ]negotiable)\b
    | \b(?:is|are)\s+(?:required|off)\b | \b(?:nobody|nothing|no\s+one)\s+(?:may|should|can|
        must|else|\w+s)\b
    | (?:^|[:,]\s*)no\s+(?!(?:idea|problem|worries|need|rush|longer|clue|way|
        reason)\b)[a-z-]+(?:\s|$)
    | \bno\s+longer\s+(?:need|have|required|allowed)\b | \b(?:needs?|
        requires?)\s+(?:the\s+)?(?:flag|approval|review|
        sign[- ]?off)\b | \b(?:compatible\s+with)\b | \bwhatever\s+you\s+do\b |
        \bone\s+\w+\s+at\s+a\s+time\b
    | \bread[- ]?only\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_RULE = re.compile(
    r"""\bnot\s+only\b | \bonly\s+(?:happens|fails|when\s+(?:it|the)|one\s+of|
        \d+\s+\w+\s+fail) | \bI\s+(?:don['’]t|
    do\s+not|can['’]?t)\b | \b(?:why|how)\s+(?:does|do|is|are|can)\b | \bit\s+(?:doesn['’]t|
        does\s+not|can['’]t)\b
    | \bnever\s+(?:mind|heard|seen|happened|worked|got)\b | \balways\s+(?:fails|crashes|happens|
        happened|been|was|had)\b
    | \bdon['’]?t\s+(?:seem|work|compile|pass)\b | \bhas\s+to\s+do\s+with\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NEW_VALUE = re.compile(
    r"""\b(?:make|set|raise|lower|bump|increase|decrease|reduce|cut|change|extend|shorten|relax|
        tighten)\s+(?:that|it|this|
    them|the\s+[\w\s]{2,30}?)\s+(?:to\s+|up\s+to\s+|down\s+to\s+)?[~$€£]?\d | \b(?:is|
        are)\s+(?:now\s+\S*\d|\S*\d\S*(?:\s+\w+)?
    \s+(?:now|is\s+enough|instead)) | \b(?:limit|cap|max|budget|timeout|deadline)\s+(?:is|moved|
        goes)\b.{0,30}\d
    | \buse\s+[~$€£]?\d[\d.,]*\s*\w+\s+(?:per|instead|for)\b | \d\S*\s+\w*\s*(?:is\s+enough|
        is\s+fine|at\s+most|max)\b
    | \bmax(?:imum)?\.?\s+\d""",
    re.IGNORECASE | re.VERBOSE,
)
_DECISION = re.compile(
    r"""\b(?:decid\w+|decision|settled\s+on|agreed\s+(?:on|to|that)|opt(?:ed|ing)\s+(?:for|to)|
        chose|chosen|ruled\s+out|
    rejected|picked|voted)\b
    | \b(?:we|i|let['’]?s|let\s+us|lets|then|and)\s*(?:['’]?ll|\s+will|['’]d|\s+would|\s+should|
        ['’]re|\s+are|['’]m|\s+am)?
      \s*(?:rather\s+)?(?:now\s+)?(?:go(?:ing)?\s+(?:with|for)|us(?:e|ing)\s+|pin(?:ning)?\s|
        switch(?:ing)?\s+to|
      mov(?:e|ing)\s+to|stick(?:ing)?\s+(?:to|with)|adopt(?:ing)?|keep(?:ing)?\s|
        revert(?:ing)?\s|drop(?:ping)?\s|
      stay(?:ing)?\s+with|skip(?:ping)?\s|require\s|prefer\s|replace\s|split\s|require\s)
    | ^(?:going|go|went)\s+with\b | \b(?:i|we)\s+(?:recommend|kept|chose|prefer|stored|
        went)\b.*\b(?:because|since|as|
      over|instead)\b
    | \b(?:i['’]ll|i['’]d|we['’]ll|i\s+will|we\s+will|i\s+would|we['’]d|we\s+should|i['’]ve|
        i\s+have)\s+(?:\w+\s+){1,12}?.{0,120}?
      \b(?:because|instead\s+of|rather\s+than|so\s+that|since|as\s+\w+\s+would|even\s+if)\b
    | \b(?:i['’]d|we['’]d|i\s+would)\s+rather\b | \b(?:i['’]ll|we['’]ll|i\s+will|
        we\s+will)\s+make\s+it\b
    | \b\w+\s+stays?\b(?=\s*[;.,]|\s+because|\s+and|\s*$)
    | \b(?:runs?|made|keeps?|uses?|built|build)\b.{3,90}\bso\s+that\b | \bin\s+favou?r\s+of\b
    | \bwe\s+(?:go|settle|switch|stay|move)\s | ^then\s+let\s+us\b |
        \binstead\s+of\s+(?:forking|a\s+\w+)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_DECISION = re.compile(
    r"\b(?:let\s+me|i['’]ll\s+(?:look|read|start|check|run|fetch|see)|we\s+could|i\s+could|"
    r"could\s+you|please\s+decide)\b"
    r"|\b(?:if\s+you\s+(?:want|like|prefer)|do\s+you\s+want)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"""(?:^|[,:→]\s*|\b(?:and|then|now|next|please|pls|so|also|ok|okay|hi|hey|good|well|great|
        wait|yes|nice|after\s+that|
      first\s+task|afterwards|again)[,:]?\s+)
    (?:please\s+|pls\s+|also,?\s+|then\s+|now\s+|just\s+|first\s+)*
    (?:add|analy[sz]e|apply|ask|build|bump|change|check|clean|commit|compare|configure|continue|
        convert|create|debug|
      delete|deploy|describe|design|do|document|draft|drop|edit|enable|explain|extend|extract|
        fetch|figure|find|finish|
      fix|generate|get|give|go\s+(?:ahead|for|on|thr)|implement|improve|inspect|install|
        investigate|list|locate|look|
      make|measure|merge|migrate|move|open|optimi[sz]e|port|prepare|profile|propose|publish|
        push|put|read|rebase|
      refactor|release|remove|rename|replace|reproduce|rerun|retry|review|revert|rewrite|run|
        search|see|send|set|show|
      shorten|simplify|speed|split|start|summari[sz]e|switch|tag|take|tell|test|translate|try|
        update|upgrade|use|
      verify|work|write|wrap)\b(?!\s+(?:is|was|are|were|says|fails|failed)\b)
    | \b(?:can|could|would|will)\s+(?:you|u)\b | \b(?:i|we)(?:['’]d|\s+would)?\s+(?:want|need|
        like)\s+(?:you|to)\b
    | \bneed\s+(?:you|u)\s+to\b | \bplease\b | \bpls\b | \blet['’]?s\s+(?:go|start|do|continue|
        see|look|fix|add|make|
      try|move|write|run)\b | \bgo\s+(?:ahead|for\s+it)\b | ^do\s+(?:it|that)\b |
        ^(?:yes\W+)?do\s+that\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CONSIDERING = re.compile(r"^(?:why|what|which|how|who|where|when)\b", re.IGNORECASE)
_TODO = re.compile(
    r"""\b(?:TODO|FIXME)\b | \b(?:still\s+)?to[- ]do\s*: | \bnext\s*(?:steps?|
        up)?\s*:(?=\s*\S) | \bstill\s+(?:to\s+do|open|
    missing|need(?:s|ed)?|have\s+to|left|pending)\b | \bremaining(?:\s+work)?\s*: |
        \bleft\s+to\s+do\b |
    \bnext\s+(?:i|we)(?:['’]ll|\s+will|\s+should|\s+need)\b | \bfollow-?up\s*:""",
    re.IGNORECASE | re.VERBOSE,
)
_TODO_HEAD = re.compile(
    r"\b(?:next(?:\s+steps?)?|to[- ]?dos?|remaining|remains|left|open\s+(?:tasks|points|"
    r"items)|outstanding|"
    r"still\s+(?:to\s+do|open|missing)|follow-?ups?|in\s+progress|blocked)\b[^.]*:?\s*$",
    re.IGNORECASE,
)
_RULE_HEAD = re.compile(
    r"\b(?:rules?|constraints?|requirements?|limits|conditions|preferences|"
    r"guidelines)\b[^.]*:?\s*$",
    re.IGNORECASE,
)
_DECISION_HEAD = re.compile(r"\bdecisions?\b[^.]*:?\s*$", re.IGNORECASE)
_GREETING = re.compile(
    r"^\W*(?:hi|hey|hello|thanks?|thx|ok(?:ay)?|yes|no|great|good|nice|cool|merci|excellent)\W*$",
    re.I,
)


def statements(found: list[Sentence], *, by_user: bool) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the sentences of one message; a sentence may be of several."""
    asked = False
    questions: list[Sentence] = []
    for sentence in found:
        text = sentence.text
        if _GREETING.match(text) or sentence.box in ("x", "X"):
            continue
        if is_question(text):
            if by_user and _ASKS.search(text) and not _CONSIDERING.match(text):
                asked = True
                yield AtomKind.REQUEST, sentence
            elif len(text.split()) > 2:
                questions.append(sentence)
                yield AtomKind.QUESTION, sentence
            continue
        if is_todo(sentence, by_user=by_user):
            yield AtomKind.TODO, sentence
            continue
        is_rule = by_user and is_constraint(sentence)
        if is_rule:
            yield AtomKind.CONSTRAINT, sentence
        if is_decision(sentence):
            yield AtomKind.DECISION, sentence
        if by_user and _asks(text, is_rule):
            asked = True
            yield AtomKind.REQUEST, sentence
    if by_user and not asked and questions:
        yield AtomKind.REQUEST, questions[-1]


def _asks(text: str, is_rule: bool) -> bool:
    """A rule may begin like a request: "please don't", "keep", "use only"."""
    if is_rule:
        return False
    return _ASKS.search(text) is not None


def is_question(text: str) -> bool:
    """Whether a sentence asks."""
    return text.rstrip("\"'”’)*` :").endswith("?")


def is_constraint(sentence: Sentence) -> bool:
    """Whether a sentence of the user's forbids, demands or limits."""
    text = sentence.text
    if sentence.item and _RULE_HEAD.search(sentence.under):
        return True
    words = text.lower().replace("’", "'").split()
    if _TRIGGERS.isdisjoint(word.strip(".,;:!?()*\"'") for word in words) and not any(
        letter.isdigit() for letter in text
    ):
        return False
    if _NEW_VALUE.search(text):
        return True
    return _RULE.search(text) is not None and _NO_RULE.search(text) is None


def is_decision(sentence: Sentence) -> bool:
    """Whether a sentence tells of a choice that was made."""
    if sentence.item and _DECISION_HEAD.search(sentence.under):
        return True
    text = sentence.text
    return _DECISION.search(text) is not None and _NO_DECISION.search(text) is None


def is_todo(sentence: Sentence, *, by_user: bool = False) -> bool:
    """Whether a sentence tells of work that is left."""
    if sentence.box in (" ", "-", "~") and sentence.box:
        return True
    if sentence.item and _TODO_HEAD.search(sentence.under) and not by_user:
        return True
    return (
        not by_user and _TODO.search(sentence.text) is not None and not sentence.text.endswith(":")
    )

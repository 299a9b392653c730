"""Requests: what a message of the user's asks to be done now.

Most are orders: a verb at the head of a clause. The others are questions that want work done
(could you, any chance), wishes (I need, would be nice), what is due (next up, now the tests),
leave to go on, and, where a message says nothing else, a report of what is broken.
"""

from __future__ import annotations

import re

from explorer.audit.atoms.cues import ENOUGH, Cue, Scale
from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.phrasing import Head, Phrase, orders
from explorer.audit.atoms.verbs import ASK_WORDS, CHOICE_VERBS, NOUN_VERBS, RULE_VERBS, VERBS

_ACTION = VERBS | NOUN_VERBS
_ADVERBS = (
    r"(?:(?:also|now|then|just|maybe|please|perhaps|first|next|still|really|quickly|already|"
    r"probably|simply|at least|go ahead and) )*"
)

_MODAL = (
    Cue(
        1.0,
        "can could would will might may wanna",
        r"\b(?:can|could|would|will|might|may) (?:you|u|ya|someone|somebody|"
        r"anyone)\b(?! (?:believe|imagine|guess|say|think|mind if)\b)",
        r"\b(?:can|could) (?:we|i) (?:also |please |maybe |just |still |only |then )*(?:get|build|"
        r"have|see(?! (?:how|"
        r"what|if|whether|why))|add|make|"
        r"do|try|move|change|fix|show|"
        r"run|drop|remove|use|put|look|turn|speed|write|rename|split|start)\b",
        r"\bwould it be possible\b|\bcan (?:it|this|that|they|these) (?:also |please )?be \w+(?:ed|"
        r"en|e|t|n)\b|"
        r"\bcould (?:it|this|that|they|the [\w-]+)(?: also|"
        r" please)? be \w+",
    ),
    Cue(
        1.0,
        "ask trouble bother request persuade",
        r"\b(?:can|could|may|might) i (?:just |also |please |perhaps )?(?:ask|trouble|bother|"
        r"request|"
        r"persuade)\b",
    ),
    Cue(
        1.0,
        "mind possible chance able about why idea way",
        r"\b(?:do|would) you mind\b|\bmind (?:\w+ing)\b|\bif you don't mind\b",
        r"\bis it possible (?:for you |to )|\bany chance\b|\bis there (?:a|any) (?:chance|"
        r"way (?:you|to|we|for))\b",
        r"\bare you able to\b|\bhow about (?:\w+ing|we|you)\b|^(?:and |"
        r"so )?why not (?:just )?(?!yet)\w+ |\bwhat about \w+ing\b|\bwhy (?:don't|"
        r"not) (?:you|we)\b",
    ),
)
_WISHES = (
    Cue(
        1.0,
        "want need like love appreciate i'd we'd wanna wants needs",
        r"\b(?:i|we)(?:'d| would) (?:really |also |just )*(?:like|love|appreciate|need|want)\b",
        r"\b(?:i|we)(?:'ll| will)? (?:really |also |just |now |still |only |then |"
        r"urgently )*(?:want|need|wanna|gotta)"
        r"(?: (?:you|to|a|an|the|this|that|these|it|all|some|one|two|more|another|your|something|"
        r"someone|those|"
        r"every|both|proper|qq|\w+s)\b| \d)(?! (?:stay|remain|keep)\b)",
        r"^(?:and |also |then |next )?i want \w+[\w ]*\W*$",
        r"\bneed (?:you|u|help|this|that|it) (?:to\b|with\b|fixed|done|by\b|asap|today|now)",
        r"\bneeds? (?:fixing|\w+ing\b|to be (?:\w+ed|rewritten|rebuilt|redone|made|written|split|"
        r"set|undone|cut|shown|"
        r"sent|done|put)\b|(?:an?|some|another|more|its own|better|proper|new) )",
    ),
    Cue(
        1.0,
        "nice great good helpful cool lovely awesome perfect ideal super handy wonderful best "
        "useful "
        "happy grateful glad fantastic neat help",
        r"\b(?:would|'d|might|could) (?:also |really )?be (?:really |very |super |so |even |"
        r"just )?(?:nice|great|good|helpful|cool|"
        r"lovely|awesome|perfect|ideal|super|handy|wonderful|best|useful|happy|grateful|glad|"
        r"fantastic|neat|better)\b",
        r"^(?:also )?(?:nice|great|good) (?:to have|if)\b|\bmake me happy\b|\bit would help (?:to|"
        r"if|me)\b",
    ),
    Cue(
        1.0,
        "wonder wondering hoping hope looking trying expecting wish",
        r"\bi(?:'m| am| was|'ve been)? (?:also |just )?wonder(?:ing)? (?:if|whether)\b",
        r"\b(?:i|we)(?:'m| am|'re| are|'d| would)? (?:really )?(?:hoping|hope|wish|"
        r"expecting) (?:you (?:can|could|will|would)|to|for|that|we)\b",
        r"\b(?:i'm|i am|we're|we are) (?:looking for|trying to|after an?)\b",
    ),
    Cue(
        1.0,
        "task job turn mission goal assignment aim plan there",
        r"\b(?:your|the|first|next|new|today's|our|my) (?:\w+ )?(?:task|job|turn|mission|goal|"
        r"assignment|aim)"
        r"(?: (?:is|now|here|for)|'s|:| -)",
        r"^(?:task|job|goal|aim|mission)(?: for \w+)?(?: \w+)?(?:\s?:| is\b)",
        r"\bthere (?:should|could|needs? to) (?:also )?be (?:an?|some|more)\b",
    ),
)
_DUE = (
    Cue(
        1.0,
        "next first last then now second final finally another other one more",
        r"\b(?:next|first|last|second|final|one more|another|one other|one last)"
        r"(?: up| step| thing| task| item| job| point| request| bit| piece| stop| topic| feature|"
        r" bug)*"
        r"(?: one)?(?: for (?:you|today|now))?(?: is| would be| comes|'s| ?:| -)",
        r"\bnext up\b|\bup next\b|\b(?:on|moving on|move on|over|back) to (?:the|part|step|phase|"
        r"number|our|my|a)\b",
    ),
    Cue(
        1.0,
        "go ahead proceed continue going on again carry ship shoot yourself same redo same:",
        r"\bgo (?:ahead|on|for it)\b|^(?:please )?(?:proceed|continue)\b|\bkeep going\b|"
        r"\bcarry on\b|\bgo on\b",
        r"\b(?:try|once|do it|do that|run it|one|and|yet) again\b|\bagain(?:,)? please\b|^again\b",
        r"\b(?:same|likewise|ditto) (?:again|thing|for|with|goes|procedure|treatment|in|change|"
        r"fix)\b",
        r"\bship it\b|\bdo (?:so|the same|likewise)\b|\bknock yourself out\b",
    ),
    Cue(
        1.0,
        "do it that this both all",
        r"(?:^|, ?|\b(?:yes|yep|yeah|ok|okay|please|then|sure|so|and|just) )do (?:it|that|this|so|"
        r"both|all|the same|them)\b",
        r"\bmake it so\b",
    ),
    Cue(
        1.0,
        "try get look stab crack pass round spin shot go",
        r"\bget the [\w -]{2,40} (?:going|working|running|green|done)\b",
        r"\b(?:give|gave) (?:it|this|that|them) an? (?:\w+ )?(?:try|go|shot|spin|look|pass|read)\b",
        r"\b(?:have|take) (?:an?|another) (?:\w+ )?(?:look|stab|crack|pass|go|peek|shot|swing|"
        r"read)\b",
        r"\banother (?:round|pass|try|go)\b|\bover to you\b|\byour (?:turn|move|call to)\b",
    ),
    Cue(
        1.0,
        "see onto onward onwards off",
        r"^(?:(?:and|then|ok|okay|so|please|now),? )*(?:see (?:why|what|whether|if|how)\b|"
        r"(?:onto|onwards?) |off you go\b|off with )",
    ),
    Cue(1.0, "time ready", r"\b(?:it's |it is )?time (?:to|for)\b|^(?:now )?ready for\b"),
    Cue(
        1.0,
        "feel forget remember sure don't",
        r"\bfeel free to\b|\b(?:don't|do not|dont) forget\b|\bremember to\b|"
        r"\bmake sure to (?:also )?(?:add|run|write|update|test|commit|push)\b",
    ),
)
_POLITE = Cue(1.0, "please pls plz kindly thx asap")
_LETS = re.compile(
    r"\b(?:let's|lets|let us) (?:not )?(?:(?:also|just|now|then|maybe|first|please|next|start by|"
    r"simply|quickly|really) )*([a-z-]+)(?: (\w+))?"
)
_YOU = re.compile(
    r"\b(?:you|u) (?:can|may|should|could|might want to|want to|need to|have to|must|ought to|"
    rf"'d better|had better) {_ADVERBS}([a-z-]+)"
)
_WE = re.compile(
    r"\bwe (?:should|could|need to|have to|ought to|still need to|'d better|had better|gotta|"
    rf"can) {_ADVERBS}([a-z-]+)"
)
_I_WOULD = re.compile(rf"\bi'?(?:d| would) {_ADVERBS}(?:start|begin|try|check|look|suggest|do)\b")
_NEXT_NOUN = re.compile(
    r"^(?:ok(?:ay)?,? |and |great,? |good,? |perfect,? |so )*(?:now|next|then|and then|finally|"
    r"lastly)"
    r"(?: (?:now|for|to|on to|please))* (?:the|our|my|qq)\b|^(?:on to|onto|over to) |"
    r"^(?:ok(?:ay)?,? |and )*so the [\w-]+(?: [\w-]+)?\W*$|"
    r"^(?:and |also |plus ){1,2}(?:the|an?|our|my) [\w-]+(?: [\w-]+){0,3}\W*$|"
    r"^(?:same|the same) [\w-]+(?: [\w-]+)? (?:there|here|for)\b|"
    r"^(?:[\w-]+ ){1,4}(?:next|too|as well)(?: please)?\W*$"
)
_DROPS = frozenset({"drop", "scrap", "ditch", "switch", "move"})
_OPTIONS = frozenset({"go", "do", "have", "say", "call", "take", "make"})

_REQUESTS = Scale(*_MODAL, *_WISHES, *_DUE)
_CONSIDERING = re.compile(
    r"^(?:(?:so|and|but|ok|okay|hm+|wait|also|then),? )*(?:why|what|which|how|who|where|when|"
    r"whose)\b(?! (?:about|don't|not)\b)"
)
_NEGATED = re.compile(r"^(?:please )?(?:don't|do not|never|avoid|no)\b")

_BROKEN = Cue(
    1.0,
    "fails failing failed fail crash crashes crashed crashing break breaks broke broken hang hangs "
    "freezes "
    "freeze frozen throws throwing error errors bug bugs wrong missing stuck slow slower leak "
    "leaks "
    "lost loses blank empty duplicate duplicated duplicates twice flaky corrupt corrupted "
    "unreadable weird strange "
    "complains complain deadlock exception traceback red stops stopped nothing doesn't don't "
    "didn't "
    "won't can't cannot isn't aren't overlaps overlap flickers flicker off regressed regression "
    "500 404 502 503 "
    "timeout timeouts truncated ignored ignores garbled cut panics panic segfault segfaults long "
    "longer too unresponsive incorrect inconsistent outdated mangled not",
    r"\b(?:fail(?:s|ing|ed)?|crash\w*|br(?:eaks?|oke|oken)|hangs?|freezes?|throws?|throwing|"
    r"errors?|bugs?|wrong|missing|stuck|"
    r"slow(?:er)?|leak\w*|lost|loses|blank|empty|duplicat\w+|twice|flaky|corrupt\w*|unreadable|"
    r"weird|strange|complains?|"
    r"deadlock|exception|traceback|stops|stopped|overlaps?|flickers?|regress\w+|"
    r"(?<![\d.,])[45]0[0-4](?![\d.,]*\d)|timeouts?|"
    r"truncated|"
    r"garbled|panics?|segfaults?|unresponsive|incorrect|inconsistent|outdated|mangled)\b",
    r"\b(?:doesn't|don't|didn't|won't|does not|do not|isn't|aren't|can't|cannot|"
    r"is not) (?:\w+ )?(?:work\w*|load\w*|add up|make sense|start\w*|"
    r"show\w*|open\w*|appear\w*|update\w*|happen\w*|respond\w*|save\w*|compile|build|run|render\w*|"
    r"match\w*|find|"
    r"connect|log in|log|login|close|scroll|there|see|get|right|correct|stop|reach)\b",
    r"\bnothing happens\b|\b(?:is|are|looks?) (?:still )?(?:off|red|ignored|cut|too \w+)\b|"
    r"\btakes? (?:too|"
    r"very|so|forever|ages)\b|\bstill (?:see|sees|get|gets|shows?)\b",
)
_FINE = Cue(1.0, "thanks thank perfect great fixed gone works passes green solved passed")

REQUEST_WORDS = (
    ASK_WORDS
    | _REQUESTS.words
    | _POLITE.words
    | _BROKEN.words
    | word_set(
        """
    let's lets let now next then also finally lastly on too first
    """
    )
)


def asks(said: Phrase, *, is_rule: bool, is_choice: bool, is_question: bool) -> bool:
    """Whether a sentence of the user's asks for work, given what else it is."""
    if is_question and _CONSIDERING.match(said.low):
        return False
    heads = [head for head in orders(said.low) if _is_work(head)]
    if is_rule or is_choice:
        if _NEGATED.match(said.low):
            return False
        return (
            any(_is_plain(head) for head in heads) or _IN_SO_MANY_WORDS.search(said.low) is not None
        )
    if heads or _REQUESTS.weigh(said) >= ENOUGH:
        return True
    if _POLITE.found(said) and not is_question:
        return True
    if is_question:
        return False
    return _proposes(said)


def orders_work(said: Phrase) -> bool:
    """Whether a sentence orders a piece of work, and not to put one off."""
    return any(_is_work(head) and head.verb not in _PUTS_OFF for head in orders(said.low))


def reports(said: Phrase) -> bool:
    """Whether a sentence of the user's tells of something broken, which asks for repair."""
    return _BROKEN.found(said) and not _FINE.found(said)


def _is_work(head: Head) -> bool:
    if head.verb in RULE_VERBS:
        return False
    if head.verb == "let":
        return bool(head.rest) and head.rest[0] in ("me", "it", "the", "them")
    return head.verb != "have" or head.rest[:1] in (("a",), ("another",), ("the",))


def _is_plain(head: Head) -> bool:
    """Whether it orders a piece of work even where the sentence also is a rule or a choice."""
    return (
        head.verb not in CHOICE_VERBS - _DROPS
        and head.verb not in _VALUE_VERBS
        and head.verb != "let"
    )


_IN_SO_MANY_WORDS = re.compile(
    r"\bremember to \w+|\bmake sure (?:to|it|that|the)\b.{3,60}\b(?:too|as well)\b|"
    r"\b(?:can|could|would|will) (?:you|u)\b|\b(?:want|need|like) (?:you|u) to\b|\bgo (?:ahead|"
    r"for it)\b"
)

_PUTS_OFF = frozenset({"put", "note", "write", "add", "wait", "remind", "make", "let", "have"})
_VALUE_VERBS = word_set(
    """
    make set raise lower bump increase decrease reduce cut change extend shorten do tell ask show
    check wait see have go
    """
)


def _proposes(said: Phrase) -> bool:
    low = said.low
    if said.words & {"let's", "lets", "let"}:
        found = _LETS.search(low)
        if found and not (found[1] in CHOICE_VERBS - _OPTIONS or found[1] == "not"):
            return found[1] not in _OPTIONS or found[2] in ("a", "it", "that", "this", None)
    if "you" in said.words or "u" in said.words:
        found = _YOU.search(low)
        if found and found[1] in _ACTION - RULE_VERBS:
            return True
    if "we" in said.words:
        found = _WE.search(low)
        if found and found[1] in _ACTION - RULE_VERBS:
            return True
    if _I_WOULD.search(low):
        return True
    return said.is_fragment and _NEXT_NOUN.search(low) is not None

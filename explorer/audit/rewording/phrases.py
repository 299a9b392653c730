"""Turns of speech that are put into one form before a text is taken apart.

Marks stand for what several phrases say: ``§not`` denies, ``§max`` and ``§min`` bound a figure,
``§above`` says that one is passed, ``§only`` shuts the rest out, ``§may`` allows, ``§free`` says
that a thing need not be, ``§keep`` that it stays, ``§old`` that the figure after it held before,
``§before`` and ``§to`` part what comes first from what comes after, ``§rival`` parts what was
taken from what was not, ``§unsure`` says that nothing is settled, ``§past`` that it is behind,
``§todo`` that it is still to be done, ``§except`` that it does not hold for all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from explorer.audit.atoms.lists import word_set
from explorer.audit.rewording.frames import unframed
from explorer.audit.rewording.numerals import in_figures


class _Phrase(NamedTuple):
    words: frozenset[str]
    """Of these a text has at least one where the form matches; empty asks the form itself."""
    form: re.Pattern[str]
    to: str


def _phrase(words: str, to: str, *forms: str) -> _Phrase:
    # What is a mark already is left alone.
    form = re.compile(rf"(?<!§)(?:{'|'.join(forms)})", re.IGNORECASE)
    return _Phrase(word_set(words), form, to)


_UNIT = r"(?:seconds?|minutes?|hours?|days?|weeks?|months?)"
_SAME = (
    r"(?:as\s+(?:it|they|is|are)\b(?:\s+(?:is|are|was|were|stands?))?|alone|untouched|unchanged|"
    r"intact|in\s+place|in\s+peace|frozen|stable|the\s+same|unmodified|fixed|"
    r"exactly\s+as\s+(?:it|they)\s+(?:is|are))"
)
_SAME_WORDS = "as alone untouched unchanged intact in frozen stable same unmodified fixed exactly "
_NUMBER = r"(?=\s*(?:about\s+|roughly\s+|~)?[$€£]?\d)"
_ASKING = (
    r"(?:asking|approval|permission|consent|confirmation|sign-?off|checking|a\s+review|my|an?\s+ok)"
)
_REST = r"((?:[^,;:().]|\.(?=\w))+)"
"""The rest of a clause; a point inside of a version does not end it."""
_PART = r"([^,;:()]+?)"

_SPELLING = (
    _phrase("", "'", r"[’‘]"),
    _phrase("", r"`\1`", r"[“\"]([\w-]+)[”\"]"),
    _phrase("", " ", r"\*\*|__(?=\W)|(?<=\W)__|[“”\"]"),
    _phrase("", " §to ", r"->|→|⇒|=>"),
    _phrase("", " §min ", r"(?:>=|≥)\s*"),
    _phrase("", " §max ", r"(?:<=|≤|<(?=\s*\d))\s*"),
    _phrase("", " ", r"(?<=\w)'(?:ll|d|re|ve|m)\b"),
)
_PHRASES = (
    _phrase("now for all matter ever", " ",
            r"\b(?:from\s+now\s+on|as\s+of\s+now|for\s+now|at\s+all|no\s+matter\s+what|for\s+this|"
            r"ever)\b"),
    _phrase("yet", r" §todo \1",
            r"\b(?:has|have|is|are|there's|there\s+is|there\s+are)\s+(?:no|not)\s+([^,;:.()]+?)"
            r"\s+yet\b"),
    _phrase("missing still yet", " §todo ",
            r"\b(?:is|are)\s+(?:still\s+)?missing\b", r"\bstill\s+(?:missing|open|lacks?)\b",
            r"\bnot\s+yet\b"),
    _phrase("a", r" 1 \1",
            rf"\ba\s+({_UNIT})(?=\s+(?:between|apart|each|at\s+most|or\s+less|after|before))"),
    _phrase("every each per", r" \1",
            r"\b(?:every|each|per)\s+(hour|day|night|week|month|minute|second)\b"),
    _phrase("command command-line", " CLI ",
            r"\bcommand[- ]line(?:\s+(?:tool|interface|program))?\b"),
    # one in the place of the other
    _phrase("to into", r" \g<0>§to ",
            rf"\b(?:rename|convert|move|migrate|switch|port|translate|change|copy)(?:e?d|e?s|ing)?\b"
            rf"{_PART}\s+(?:to|into)\s"),
    _phrase("with by for", r"\g<0>§to ",
            rf"\b(?:replac|substitut|swap)(?:e|es|ed|ing)\b{_PART}\s+(?:with|by|for)\s"),
    _phrase("favour favor", r"\2 instead of \1",
            rf"\b(?:drop|replace|abandon|ditch)(?:ped|s|d)?\s+{_PART}\s+in\s+favou?r\s+of\s+{_REST}"),
    _phrase("replaces replace", r"\1 instead of \2", rf"^{_PART}\s+replaces?\s+([^,;:()]+)"),
    _phrase("rather instead", r"\2 instead of \1",
            rf"^(?:rather\s+than|instead\s+of)\s+{_PART},?\s+"
            r"(?=(?:we|I|you|let|use|just)\b)(.+?)(?=[.;]|$)"),
    # away with it
    _phrase("against out", " §not ",
            r"\b(?:decid|vot|rul|opt)(?:e|ed|ing)\s+(?:against|out(?:\s+of)?)\b"),
    _phrase("rid out away", " delete ",
            r"\b(?:get|got|getting)\s+rid\s+of\b", r"\b(?:leave|left|leaving)\s+out\b",
            r"\b(?:goes?|went|gone)\s+away\b", r"\b(?:phase[sd]?|take[sn]?|took)\s+out\b",
            r"\bcomes?\s+out\b(?!\s+of)"),
    _phrase("off", " disable ", r"\b(?:turn|switch)(?:ed|es|s|ing)?\s+off\b"),
    _phrase("off", r" disable \1 ", r"\b(?:turn|switch)(?:ed|es|s|ing)?\s+(\w+\s+\w+|\w+)\s+off\b"),
    _phrase("turn turned switch switched", r" enable \1 ",
            r"\b(?:turn|switch)(?:ed|es|s|ing)?\s+((?:the\s+\w+|\w+)?)\s*\bon\b"),
    # what need not be
    _phrase("need needs needed needn't have required necessary mandatory optional", " §free ",
            r"\b(?:need\s+not|needn't|no\s+need\s+(?:to|for)|"
            r"(?:do|does)(?:n't|\s+not)\s+(?:have|need)(?:\s+to)?|"
            r"not\s+(?:required|necessary|needed|mandatory)|(?:is|are)\s+optional|needs?\s+no)\b"),
    _phrase("not no", " ",
            r"\bnot\s+(?:only|just)\b|\bnot\s+even\b|\bno\s+matter\b|\bor\s+not\b|\bno\s+problem\b"),
    # bounds
    _phrase("than exceed exceeds exceeding", " §max ",
            r"\b(?:no|not|never)\s+(?:more|longer|greater|larger|higher|later|bigger|over|above|"
            r"beyond)\s+than\b", r"\b(?:not|never|n't)\s+exceed(?:s|ing)?\b"),
    _phrase("than", " §min ",
            r"\b(?:no|not|never)\s+(?:less|fewer|lower|shorter|smaller|earlier|older)\s+than\b"),
    _phrase("most tops less fewer max maximum maximal maximally capped limited ceiling", " §max ",
            r"\bat\s+(?:the\s+)?(?:very\s+)?most\b", r"\btops\b", r"\bor\s+(?:less|fewer)\b",
            r"\bmax(?:imum|imal|imally)?\b(?:\s+of)?", r"\b(?:capped|limited)\s+(?:at|to)\b",
            r"\bceiling\b(?:\s+of)?"),
    _phrase("up under below within than", " §max ",
            rf"\b(?:up\s+to|under|below|within|(?:less|fewer|shorter|smaller|lower)\s+than){_NUMBER}"),
    _phrase("least minimum minimal minimally or and", " §min ",
            r"\bat\s+(?:the\s+)?(?:very\s+)?least\b", r"\bmin(?:imum|imal|imally)\b(?:\s+of)?",
            r"\b(?:or|and)\s+(?:more|newer|higher|later|up|above|upwards|greater)\b"),
    _phrase("than over above beyond exceed exceeds exceeding", " §above ",
            rf"\b(?:(?:for\s+)?(?:more|longer|greater|larger|higher|bigger)\s+than|over|above|beyond|"
            rf"exceed(?:s|ing)?){_NUMBER}"),
    # what held before
    _phrase("was were previously formerly before used old up down not", "( §old ",
            r"\((?:it\s+)?(?:was|were|previously|formerly|before|used\s+to\s+be|old|up\s+from|"
            rf"down\s+from|not)\s+(?={_NUMBER})"),
    _phrase("instead rather was were previously formerly", " §old ",
            rf"\b(?:instead\s+of|rather\s+than|was|were|previously|formerly){_NUMBER}"),
    _phrase("from", r" §old \1 §to ", rf"\bfrom\s+(\S*\d\S*(?:\s+{_UNIT})?)\s+to\b"),
    _phrase("from", " §old ", r"\bfrom(?=\s+[$€£]?\d)"),
    _phrase("from", r" \1 §to ", r"\bfrom\s+(\S+)\s+to\s+(?=\w)"),
    # order in time
    _phrase("then", " §before ", r",?\s*(?:and\s+)?\bthen\s+(?=\w)"),
    _phrase("without unless until before", r"\2 §before \1",
            r"\b(?:do\s+not|don't|dont|never|must\s+not|mustn't|should\s+not|may\s+not|cannot|can't|"
            rf"no)\s+([^,;:.()]+?)\s+(?:without(?=\s+(?:\w+\s+)?{_ASKING})|unless|until|before)"
            rf"\s+{_REST}"),
    _phrase("only", r"\2 §before \1", rf"^{_PART}\s+only\s+(?:when|if|once|after)\s+{_REST}"),
    _phrase("only", r"\2 §before \1", rf"\bonly\s+{_PART}\s+(?:when|if|once|after)\s+{_REST}"),
    _phrase("after", r"\2 §before \1", rf"^{_PART}\s+after\s+{_REST}"),
    _phrase("before", " §before ", r"\bbefore\b(?=\s+\w)"),
    # what must stay as it is
    _phrase(_SAME_WORDS, r" §not change \1 ",
            rf"\b(?:leave|keep|kept|left)\s+(\S[^,;:]{{0,60}}?)\s+{_SAME}(?=\W|$)"),
    _phrase(_SAME_WORDS, " §not change ",
            r"\b(?:(?:must|should|has\s+to|have\s+to|to)\s+)?(?:stays?|remains?|be\s+left|be\s+kept|is|"
            rf"are|be)\s+{_SAME}(?=\W|$)"),
    _phrase("off off-limits hands bounds read-only read away clear out leave", " §not change ",
            r"\b(?:off[- ]?limits|hands\s+off|out\s+of\s+bounds|read[- ]only|(?:stay|keep|steer)\s+"
            r"(?:away|out|clear|off)(?:\s+(?:from|of))?)\b",
            r"\bleave\s+(?:those|them|it|that|this|these)(?=\W|$)"),
    # only
    _phrase("else but other solely exclusively only", " §only ",
            r"\band\s+(?:nowhere|nothing|nobody|no\s+one)\s+else\b", r"\bnothing\s+but\b",
            r"\bnowhere\s+but\b", r"\b(?:nothing|no\s+one|nobody|nowhere)\s+else\b",
            r"\bno\s+other\b", r"\b(?:solely|exclusively|only)\b"),
    # allowed or not
    _phrase("allowed permitted acceptable ok okay option fine wanted no-go question unacceptable",
            " §not ",
            r"\b(?:is|are|be|was|were)?\s*n(?:ot|'t)\s+(?:allowed|permitted|acceptable|ok(?:ay)?|"
            r"an\s+option|fine|wanted)\b", r"\bno-go\b", r"\bout\s+of\s+the\s+question\b",
            r"\bunacceptable\b"),
    _phrase("must may", " §not ", r"\bmust\s+not\b|\bmay\s+not\b|\bmay\s+(?:only\s+)?never\b"),
    _phrase("allowed permitted fine ok okay acceptable yours free freely may", " §may ",
            r"\b(?:is|are|be|it's)\s+(?:allowed|permitted|fine|ok(?:ay)?|acceptable|yours|free\s+to)\b",
            r"\bfreely\b", r"\ballowed\s+to\b", r"\bmay\b"),
    _phrase("stick sticks sticking", " §keep ", r"\b(?:stick|sticks|sticking)\s+(?:with|to)\b"),
    _phrase("fail fails failed", " §not ", r"\bfail(?:s|ed)?\s+to\b"),
    _phrase("stop quit cease", " §not ", r"\b(?:stop|quit|cease)\s+(?=\w+ing\b)"),
    _phrase("longer more anymore", " §not ", r"\bno\s+longer\b|\bnot\s+any\s?more\b"),
    _phrase("instead rather place opposed", " §rival §not ",
            r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|as\s+opposed\s+to)\b"),
    _phrase("not", " §rival §not ", r",\s*(?:and\s+)?not\s+(?=[^,;:()]{1,24}[.;)]?$)"),
    _phrase("preferred chosen", r"\1 §rival §not ", r"\b(preferred|chosen)\s+(?:to|over)\b"),
    _phrase("over to", r"\1 \2 §rival §not ",
            rf"\b(chose|chosen|prefer(?:red|s)?|picked|took)\s+{_PART}\s+(?:over|to)\b"),
    _phrase("", " §not ",
            r"\b(?:do\s+not|does\s+not|did\s+not|should\s+not|shall\s+not|would\s+not|can\s?not|"
            r"will\s+not|is\s+not|are\s+not|dont|cant|\w+n't|never|not|no|none|nothing|nobody|"
            r"nowhere|without|neither|nor)\b"),
    _phrase("stay stays remain remains keep keeps kept stayed remained", " §keep ",
            r"\b(?:stays?|remains?|keeps?|kept|stayed|remained)\b"),
    _phrase("maybe perhaps might considered considering consider considers proposed suggested "
            "possibly discussed thinking tentative tentatively candidate", " §unsure ",
            r"\b(?:maybe|perhaps|might|considered|considering|considers?|proposed|suggested|possibly|"
            r"discussed|thinking\s+(?:of|about)|tentative(?:ly)?|candidate)\b"),
    _phrase("was were been had already", " §past ",
            r"\b(?:was|were|has\s+been|have\s+been|had(?:\s+been)?|already)\b"),
    _phrase("has", " §past ", r"\bhas\s+(?=\w+n\b)"),
    _phrase("unless except apart other outside", " §except ",
            r"\b(?:unless|except(?:\s+(?:for|in|when))?|apart\s+from|other\s+than|outside(?:\s+of)?)\b"),
)  # fmt: skip
_WORDS = re.compile(r"[a-z]+(?:['-][a-z]+)*")


@lru_cache(maxsize=8192)
def evened(text: str) -> str:
    """A text without the frame of speech, its phrases put into marks."""
    text = in_figures(unframed(text))
    for phrase in _SPELLING:
        text = phrase.form.sub(phrase.to, text)
    words = _words(text)
    for phrase in _PHRASES:
        if phrase.words and phrase.words.isdisjoint(words):
            continue
        changed = phrase.form.sub(phrase.to, text)
        if changed != text:
            text = changed
            words = _words(text)
    return text


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.lower()))

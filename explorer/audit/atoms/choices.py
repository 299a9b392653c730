"""How both sides tell of a choice: decided, went with, instead of, so that, left out."""

from __future__ import annotations

from explorer.audit.atoms.cues import Cue

_WILL = (
    r"(?:'ll| will|'d| would|'re(?: going to)?| are(?: going to)?|'m(?: going to)?|"
    r" am(?: going to)?|'ve| have)?"
)
_ADV = (
    r"(?: (?:rather|just|now|simply|also|still|then|therefore|deliberately|instead|only|always|"
    r"probably|all|both))*"
)
_KEEPS = (
    r"(?:keep(?:ing)?|kept|stay(?:ing|ed)?|stick(?:ing)?|stuck|go(?:ing)? (?:with|for(?! it))|"
    r"went (?:with|for)|gone with|leav(?:e|ing)|left|"
    r"drop(?:ping|ped)?|skip(?:ping|ped)?|postpon\w+|defer\w*|adopt\w*|settl\w+|revert(?:ing|"
    r"ed)? to|default(?:ing|ed)? to|"
    r"chos(?:e|en)|choos(?:e|ing)|pick(?:ed|ing)?|opt(?:ed|ing)?|tak(?:e|ing)|took|pin(?:ned|"
    r"ning)?|park(?:ed|ing)?|"
    r"accept(?:ed|ing)?|limit(?:ed|ing)?|cap(?:ped|ping)?|nam(?:e|ed|ing)|call(?:ed|ing)? (?:it|"
    r"the|them)|treat(?:ed|ing)?|"
    r"switch(?:ed|ing)? to|mov(?:e|ed|ing) to|liv(?:e|ing) with|abandon\w*|scrap\w*|ditch\w*|"
    r"reserv\w+|standardi[sz]\w+|"
    r"prefer\w*|modell?ed|went (?:\w+ )?with)"
)
_MAKES = (
    r"(?:use|using|used|make|made|making|put|store[ds]?|set|sets|build|built|write|wrote|"
    r"add(?:ed)?|return(?:ed)?|move[ds]?|"
    r"split|derive[ds]?|wrap(?:ped)?|model|cache[ds]?|require[ds]?|replace[ds]?|implement(?:ed)?|"
    r"design(?:ed)?|allow(?:ed)?|"
    r"turn(?:ed)?|let|reuse[ds]?|generate[ds]?|load(?:ed)?|read|do|did|run|ran|handle[ds]?|"
    r"support(?:ed)?|ship(?:ped)?|"
    r"enable[ds]?|disable[ds]?|extract(?:ed)?|inline[ds]?|stop(?:ped)?|pass(?:ed)?|hold|held|"
    r"raise[ds]?|give|gave|have|had)"
)
_CONTRAST = r"(?:instead of|rather than|as opposed to|in place of|in favou?r of)"
_REASON = (
    r"(?:because|since|so that|so (?:the|it|we|that|they|a|an|you|no|both|one|every\w*|all|old|"
    r"users?|nothing|there|each|nobody|tests?)\b|"
    r"which (?:keeps?|avoids?|means|makes|lets|way|gives|saves)|to (?:avoid|keep|prevent|allow|"
    r"save|stay|make sure|spare)|"
    r"for (?:simplicity|now|performance|consistency|safety|the sake|that reason|this reason|"
    r"readability|backwards?)|"
    r"as (?:the|it|we|that|they|this)\b|even if|otherwise)"
)

BOTH = (
    Cue(
        1.0,
        "decided decide decision decisions settled settle agreed opted opting opt chose chosen "
        "rejected voted ruled picked preferred",
        r"\b(?:decided|(?:i|we|we'll|let's|i'll) (?:decide|settle)|decisions?|settled|opt(?:ed|"
        r"ing)? "
        r"(?:for|to|out|in)|chose|chosen|ruled out|voted|(?:i|we|i've|we've) (?:rejected|picked|"
        r"preferred))\b",
        r"\bagreed\b(?=[:,]? (?:on|to|that|we|with \w+ (?:on|to|that)|\d))",
    ),
    Cue(
        1.0,
        "go going went gone stick sticking stuck",
        r"\b(?:we|i|let's|let us|lets|then|to|just|and|also|rather)(?:'ll| will|'d| would|'m|'re|"
        r" am| are|'ve| should)?"
        r"(?: rather| just| now| then| simply)* (?:go(?:ing|ne)?|went)(?: \w+)? (?:with|for|"
        r"without)\b(?! (?:it|you|me|a walk|lunch)\b)",
        r"^(?:\w+,? )?(?:go(?:ing|ne)?|went) (?:with|for|without)\b(?! (?:it|you|me)\b)",
        r"\b(?:stick(?:ing)?|stuck|stay(?:ing)?) (?:to|with)\b",
    ),
    Cue(
        1.0,
        "we i let's lets let we'll i'll we'd i'd we're i'm we've i've then and",
        rf"\b(?:we|let's|let us|lets){_WILL}{_ADV} (?:not )?{_KEEPS}\b",
        r"\b(?:let's|lets|let us)(?: just| rather| simply| not| then| please| now| also)* (?:use|"
        r"do (?!it\b|that\b|this\b|a\b|the same)|"
        r"make (?:it|that|them|the)|have|call|take|name|store|put|have|limit|support|only|avoid|"
        r"set|require|switch|move|split|replace|revert)\b",
        r"\bwe(?:'ll| will|'d rather| are going to|'re going to)(?: just| also| then| now| only|"
        r" simply)* (?:use|make|do(?! it)|put|store|"
        r"have|add|build|ship|support|split|set|require|allow|return|handle|run|raise|buy|host|"
        r"deploy|write|prefetch|replace|pay|sell|cover)\b"
        r"(?=.*\b(?:then|instead|rather|only|because|so|for now|until|first|anyway|and not|"
        r"without|everywhere)\b)",
        r"\bwe(?:'d| would) rather\b|\bwe (?:go|settle|switch|stay|move|ship|keep|drop|leave|"
        r"stick|take|skip|postpone)\b",
        rf"\bi(?:'ll| will|'d| would|'m going to| am going to|'m|'ve| have)?{_ADV} (?:keep(?:ing)?|"
        r"kept|go(?:ing)? (?:with|for(?! it))|"
        r"went (?:\w+ )?with|gone with|stick(?:ing)? (?:to|with)|stuck|opt\w*|chose|settled|"
        r"dropped|skip(?:ped)?|postpon\w+|defer\w*|"
        r"default(?:ed)? to|leave|left|drop|pick|treat(?:ed|ing)?|leaving|name|storing|capped|cap|"
        r"limited|named|"
        r"call it|called (?:it|the)|pinned|pin|park(?:ed)?|"
        r"accept(?:ed)?|modell?ed|preferred|adopt(?:ed)?)\b(?! (?:a|an|the) (?:comment|note|look|"
        r"message|break)\b)",
        also="keep keeping kept stay staying stayed stick sticking stuck go going went gone leave "
        "leaving left drop dropping dropped skip skipping skipped postpone postponing "
        "postponed defer deferring deferred adopt adopting adopted settle settled revert "
        "reverting default defaulting defaulted chose chosen choose choosing pick picked opt "
        "opted take taking took pin pinned pinning park parked accept accepted limit limited "
        "cap capped name named call called treat treated treating leaving storing switch switching "
        "switched move "
        "moving moved living live abandon abandoned scrap scrapped ditch reserve standardise "
        "standardize prefer preferred model modelled modeled use do make have put store only "
        "avoid set require split replace revert add build ship support allow return handle "
        "run raise buy host deploy write prefetch pay sell cover rather",
    ),
    Cue(
        1.0,
        "keeping kept leaving left sticking dropping dropped skipping skipped postponing postponed "
        "chose picked "
        "chosen used using went made making deferring parked pinned",
        r"^(?:(?:so|ok|okay|done|right|fine|good|understood|agreed),? |for now,? )*(?:keeping|kept|"
        r"leaving|sticking|dropping|skipping|postponing|postponed|deferring|parking|"
        r"left (?!to\b|over|open|side|:|a comment|a note)|(?:dropped|skipped) (?!it and)|chose|"
        r"picked|went)\b",
        rf"^(?:using|used|made|making)\b.{{2,120}}\b(?:{_CONTRAST[3:]}",
    ),
    Cue(
        1.0,
        "deliberately intentionally purpose compromise trade-off tradeoff consciously design",
        r"\b(?:deliberately|intentionally|consciously)\b|\bon purpose\b|\bby design\b|"
        r"\bas a (?:compromise|trade-?off)\b",
    ),
    Cue(
        1.0,
        "final decision settled agreed verdict conclusion conclusion: verdict: bottom resolved "
        "resolution: settled: "
        "decision:",
        r"^(?:final (?:answer|decision|call)|verdict|conclusion|resolution|resolved|decision|"
        r"settled|bottom line|agreed)\b ?[:,-]",
        r"\b(?:is|that's) (?:final|settled|decided|agreed)\b",
    ),
    Cue(
        1.0,
        "it",
        r"\b(?!(?:as|than|like|how|what|where|way|if|whether|so|think|yes|that|no|there|here)\b)"
        r"[\w%-]++ it (?:is|shall be|will be)(?: then| from now on| for now| please)?(?:\W*$|"
        r", (?:with|and|then|because)\b)",
        r"\b(?:call|name) (?:it|them) (?!a day)[\w\d\"']|\bmake it (?:an? |the )?(?:option|"
        r"optional|configurable|default)|\b(?:leave|let) it (?:be |at |as )",
        also="is shall will call name make leave let",
    ),
    Cue(
        1.0,
        "postponed deferred shelved parked scrapped abandoned scope table wait",
        r"\b(?:is|are|gets?|stays?) (?:postponed|deferred|shelved|parked|scrapped|"
        r"abandoned|out of scope|off the table)\b",
        r"\b(?:can|may) wait\b|\bout of scope\b",
    ),
    Cue(
        1.0,
        "not won't don't no",
        r"\bnot (?:now|in (?:this|v1|the first|that)|for (?:this|now|v1|the first)|"
        r"part of (?:this|v1|the first)|this (?:release|time|sprint|quarter))\b",
        r"\b(?:won't|will not|not going to|don't need to|do not need) (?:be )?(?:do|add|build|"
        r"support|implement|introduce|bother|cover|handle|"
        r"migrate|ship|need|use|include|offer|have|keep|touch|change|support)\w*\b",
        r"\b(?:we|i) (?:don't|do not|won't|no longer) need\b|\bnot needed (?:then|after all|"
        r"any ?more)\b|\bno need for\b",
        also="now this v1 part will won't going need needed doing adding supporting",
    ),
    Cue(
        1.0,
        "then",
        r"^(?:ok(?:ay)?,? |understood[:,] )?then (?:i|we)(?:'ll| will)? (?:use|keep|take|make|"
        r"leave|drop|skip|go|store|"
        r"treat|put|split|stay|return|build) (?!sure|it work)",
        also="i'll we'll i we",
    ),
    Cue(
        1.0,
        "then",
        r"^then (?:no|without|with|we|let's|i'd|let us|just|only|rather)\b(?!.* (?:can|could|run|"
        r"check|look|test)\b)",
    ),
    Cue(
        1.0,
        "forget scrap scratch ditch nevermind mind instead lift longer ignore",
        r"\b(?:forget|ignore) (?:about )?(?:the|that|my|what|those)\b.{0,60}(?:\b(?:rule|limit|"
        r"thing|idea|requirement|part|bit|plan|said|restriction|cap|budget|deadline|stuff|one|"
        r"other)\b)|\bforget (?:about )?(?:that|it)\b",
        r"\b(?:scrap|scratch|ditch|axe|kill) (?:that|the|this|it|my)\b|\bnever ?mind (?:the|that|"
        r"about|what|my)\b",
        r"\bno longer (?:need|needs|have to|has to|required|necessary|applies|matters?)\b",
    ),
)
CONTRASTED = (
    Cue(
        1.0,
        "i we i'll we'll i'd we'd i've we've i'm we're",
        rf"\b(?:i|we){_WILL}{_ADV} (?!could|might|can\b|see|need)\w+\b.{{2,160}}?(?:\b{_CONTRAST}|"
        r"\bover (?:the|a|an)\b|(?:, not (?!yet|sure|only)|, never )|\band not\b|\binstead\b|"
        r"\bno longer\b)",
        r"\b(?:i|we)(?:'ll| will|'d| would) .{2,90}?\b(?:instead|rather)\b",
        r"\b(?:i|we) (?:recommend|should|suggest|propose)\b.{2,120}?\b(?:instead of|rather than|"
        r"because|since|over)\b",
        also="instead rather opposed place favour favor over not never longer because since",
    ),
    Cue(
        1.0,
        "i we i'll we'll i'd we'd i've we've i'm we're",
        rf"\b(?:i|we){_WILL}{_ADV} (?:{_KEEPS}|{_MAKES}|\w{{3,}}ed)\b.{{2,160}}?\b{_REASON}",
        also="because since so which avoid keep prevent allow save spare simplicity performance "
        "consistency safety sake reason readability way as even otherwise now",
    ),
    Cue(
        0.75,
        "instead rather opposed place favour favor over",
        rf"\b{_CONTRAST}\b|\bprefer\w* .{{2,60}} over\b",
    ),
    Cue(
        0.5,
        "not",
        r"\band not (?:in|on|by|as|from|via|with|per|at|of|for|through|an?|the)\b",
        r", not (?!yet|sure|only|just|even|to\b|every|all\b)(?:(?:in|on|by|as|from|via|with|per|at|"
        r"of|"
        r"for|through|inside|into) )?(?:(?:an?|the|its?|their|our|my|each|every) )?[\w-]+"
        r"(?: [\w-]+){0,5}\W*$",
    ),
    Cue(
        0.5,
        "would would've wouldn't merely justify justifies overkill otherwise",
        r"\b(?:an?|the|another|any|one|two|some|[a-z-]+er|both) [\w' -]{2,50}? (?:would|would've|"
        r"merely|wouldn't|justify|justifies)\b",
        r"[,;:] (?!i\b|it\b|we\b|you\b|that\b)[\w-]+(?: [\w-]+){0,3} (?:would|would've|wouldn't|"
        r"merely)\b|[,;:] otherwise\b|\boverkill\b",
    ),
    Cue(
        0.5,
        "larger smaller longer shorter steeper bigger faster slower simpler higher lower",
        r"er (?:ones?|\w+) (?:would|didn't|punished|made|makes|merely|takes|took|needs?|costs?|"
        r"break|broke)\b",
        also="would didn't punished made makes merely takes took need needs cost costs break broke",
    ),
    Cue(
        0.5,
        "because since even anyway without already",
        r", (?:because|since) (?!of\b)|, even |\banyway\b|\bwithout (?:an?|any|the)\b|"
        r"\balready (?:there|exists)\b",
    ),
    Cue(
        0.5,
        "as",
        r", as (?=.*\b(?:would|anyway|your|"
        r"already)\b)",
        also="would anyway your already",
    ),
    Cue(
        1.0,
        "since as to instead rather",
        r"^(?:since|as) .{5,}, (?:i|we) (?!can|could|need|see|don't|have to)|^to (?:keep|avoid|"
        r"stay|"
        r"save|spare|prevent) .{3,}\b(?:i|we) (?!can|could|need|would|should)|"
        r"^(?:instead of|rather than) .{3,}\b(?:i|we) (?!can|could)",
        also="i we i'll we'll i'd i've i'm",
    ),
    Cue(
        1.0,
        "would would've",
        r"\b(?:i|we)(?:'m|'re|'ve|'ll)? .{5,80}[,;:] (?:an?|the|another|one|"
        r"two) [\w -]{2,40} would",
        also="i we i'll we'll i'd i've i'm we're",
    ),
    Cue(0.75, "no", r"^no [\w -]{2,30}: (?!i\b|it\b|problem)", also="the it i we is are"),
    Cue(0.5, "no", r"\b(?:and|with) no \w+", also="and with"),
    Cue(
        0.5,
        "so",
        r", so .{2,60}\b(?:can|stays?|simple|easy|one place|no \w+|nothing|nobody|never|always|the "
        r"same|only|without|still|together|possible|cheap|fast|safe)\b",
        also="can stay stays simple easy place no nothing nobody never always same only without "
        "still together possible cheap fast safe",
    ),
    Cue(
        0.25,
        "instead rather",
        r"(?:instead of|rather than) [\w -]{2,40}: (?:they|it|the|that|this|an?|[a-z]+s) \w+",
    ),
    Cue(
        0.5,
        "full second separate larger plain single whole extra",
        r"[,;] (?:an?|the) (?:full|second|separate|larger|plain|single|whole|"
        r"extra) [\w-]+ (?:takes?|"
        r"costs?|needs?|is|was|hides?|means)\b",
    ),
    Cue(0.5, "now", r"\bnow\b[^;,]*[;,] .*\b(?:was|were|had)\b", also="was were had"),
    Cue(0.5, "out in appendix archive", r"\b(?:is|are) out\W*$"),
    Cue(
        0.5,
        "is are it's lives live goes go uses use runs run stays stay stored kept gets get defaults "
        "default sits belongs returns will becomes happens comes come takes take holds hold reads "
        "read writes write keeps keep made works counts count falls does",
        r"\b(?:lives?|go(?:es)?|uses?|runs?|stays?|stored|kept|gets?|defaults?|sits?|belongs?|"
        r"returns?|becomes?|will (?:be|stay|live|use|go|run|remain)|happens?|comes?|takes?|holds?|"
        r"reads?|writes?|keeps?|counts?|falls? back|does the)\b",
        r"(?:\b(?:is|are)|\bit's) (?:now )?(?:\w+-)?(?:[a-z]+ed|kept|built|written|held|set|run|"
        r"sent|made|"
        r"drawn|"
        r"shown|split|cut|put|read|told|given|taken|chosen|by|per|optional|required)\b",
    ),
    Cue(
        0.25,
        "is are it's",
        r"(?:\b(?:is|are)|\bit's) (?:now )?(?!because\b|due\b|not\b|why\b|that\b|wrong|broken|"
        r"missing|there\b|green|red\b|fine|done\W*$|still|also|what|how|where|in (?:a|the) "
        r"(?:state|loop)|too\b|only\b)\w+",
    ),
    Cue(
        0.25,
        "is are it's",
        r"(?:\b(?:is|are)|\bit's) (?:now )?(?:one|off|\w+able|\w+ear)\b",
    ),
    Cue(
        0.5,
        "so which way simplicity now",
        r"\bso that\b|\bso (?:nobody|nothing|no one|both|one|every\w*|all|old|users?) \w+|"
        r"\bwhich (?:keeps?|avoids?|lets|saves?)\b|\bthat way\b|\bfor (?:now|simplicity)\b",
    ),
    Cue(
        1.0,
        "stays stay remains will",
        r"\w stays?\b(?=\s*[;.,!]|\s+because|\s+and|\s*$)",
        r"^(?:the|our|all|every|each) (?:[\w-]+ ){1,6}will (?:be|stay|remain|use|live|run|go)\b",
    ),
)
CONTRASTED_BY_USER = (*CONTRASTED[:2], CONTRASTED[-1])

"""How people say what is to stay, what holds from now on, and what they would rather have."""

from __future__ import annotations

from explorer.audit.atoms.cues import Cue
from explorer.audit.atoms.duties import AT_HEAD

KEPT = (
    r"(?:as(?:[- ]is| it is| they are| it was| they were| she is)|alone|untouched|unchanged|intact|"
    r"in place|exactly|the same|stable|compatible|green|public|private|internal|readable|valid|"
    r"available|where (?:it|they)|the way|like (?:it|they|that)|as before|frozen|closed|in sync|"
    r"(?:at|under|below|within|above|on|in|inside|out|off|away|clear|behind|backwards?)\b)"
)

KEEPING = (
    Cue(
        1.0,
        "stay stays remain remains kept",
        r"\bstays? (?:lower-?case|upper-?case|small|simple|short)\b",
        r"\b(?:stays?|remains?)(?: (?:exactly|just|strictly|always|all|both|also|still|"
        rf"the way))* {KEPT}",
        r"\b(?:stays?|remains?) (?:\d|[\w-]+(?:ed|able|ible|free|only|less|first)\b)",
        r"\b(?:must|should|has to|have to|needs? to|to) (?:be )?(?:stay|remain|kept)\b",
        r"\b(?:stays?|remains?)\W*$",
    ),
    Cue(
        1.0,
        "keep leave left stick refrain respect follow obey honour honor preserve maintain adhere "
        "comply conform confine restrict limit ensure treat assume",
        AT_HEAD
        + r"(?:keep (?!going|at it|up the|me posted|trying|it up|looking|working on\b|digging)|"
        r"stick (?:to|with)|respect |follow (?!up|me)|obey|"
        r"hono(?:u)?r |preserve|maintain (?:the|our|backwards?|compat\w*)|adhere|comply|conform|"
        r"confine|restrict "
        r"(?:it|them|your)|limit (?:it|them|your)|ensure|treat )",
        AT_HEAD + rf"leave (?:\S+ ){{1,5}}?{KEPT}",
        AT_HEAD + r"leave (?:the|my|our|his|her|everything|qq|all|it|them|that|those|"
        r"these)\b(?!.*\b(?:later|for now|open)\b)",
        rf"\b(?:you|we|to|should|must|let's|to also) keep (?:\S+ ){{1,6}}?{KEPT}",
        r"\bleave \S+(?: \S+){0,4} alone\b",
    ),
    Cue(
        1.0,
        "make making sure certain see remember mind important forget",
        r"\b(?:make|making|be|to be) (?:very |absolutely )?(?:sure|certain)\b(?! (?:what|whether|"
        r"if|why|how)\b)",
        r"\bsee to it\b",
        r"\b(?:keep|bear|have) in mind\b",
        AT_HEAD + r"(?:remember|mind)(?: that| to|:|,| the| we)\b",
    ),
    Cue(
        1.0,
        "compatible compat compatibility support supports supported supporting target targets work "
        "works working run runs usable",
        r"\b(?:compatible|compatibility) with\b",
        r"\b(?:backwards?|forwards?|binary|source|abi|api|drop-in|bug)[- ]compat",
        r"\b(?:keep|still|continue|to|must|should|also) (?:on )?(?:support|work|run|build|compile|"
        r"function)(?:ing)? "
        r"(?:on|with|in|without|offline|for|under|against|\w+ \d|from)\b",
        r"\bwe (?:still |only |officially |also )?(?:support|target)\b",
    ),
)
STANDING = (
    Cue(
        1.0,
        "now forward here future henceforth onwards onward circumstances whatever costs cost "
        "matter "
        "exception exceptions price means case",
        r"\bfrom (?:now|here|today|this point|then) on(?:wards?)?\b|\b(?:going|moving) forward\b|"
        r"\bhenceforth\b",
        r"\bin (?:the )?future\b|\bas of (?:now|today)\b",
        r"\b(?:under|in) no (?:circumstances|case)\b|\bwhatever (?:you do|happens)\b|\bat (?:all|"
        r"any) (?:costs?|price)\b|"
        r"\bno matter (?:what|how)\b|\bwithout exceptions?\b",
    ),
    Cue(
        1.0,
        "rule rules constraint constraints requirement requirements condition conditions "
        "restriction restrictions guideline policy convention conventions caveat ask",
        r"(?:^|[:,] )(?:\w+ ){0,4}?(?:rules?|constraints?|requirements?|conditions?|restrictions?|"
        r"guidelines?|policy|"
        r"conventions?|caveat)(?: \w+){0,3}?(?:\s?:|,| is\b| are\b| -)",
        r"\b(?:it's|that's|is|as) (?:a|an|our|my|the) (?:\w+ )?(?:rule|constraint|requirement|"
        r"condition|"
        r"restriction|policy|convention)\b",
    ),
    Cue(
        1.0,
        "ask check tell confirm show warn wait ping talk run review approve approval ok okay "
        "permission me",
        r"\b(?:ask|check with|talk to|consult|ping|warn|tell|show|inform|notify|run (?:it|that|"
        r"them) by|clear (?:it|that) "
        r"with|confirm with)\b.{0,40}\b(?:first|before|beforehand|in advance|up front)\b",
        r"\bbefore (?:you |\w+ing\b|any\b|every\b).{0,60}\b(?:ask|check with|tell|show|talk to|"
        r"confirm)\b",
        r"\b(?:get|wait for|await|need|needs|with|without) (?:my|our|an?|the|explicit|his|"
        r"her) (?:\w+ )?(?:ok|okay|go|"
        r"approval|permission|review|sign-?off|blessing)\b",
        r"\bi (?:want to|have to|must|need to|will|'ll) (?:see|review|approve|check|"
        r"read) \w+.{0,30} (?:first|before)\b",
    ),
    Cue(
        1.0,
        "each every all any anything whenever everything everyone",
        r"\b(?:each|every|any)(?: new)?(?: [\w-]+){1,3} (?:needs?|gets?|must|has to|should|goes|"
        r"comes|requires|is to|"
        r"uses|lives|belongs|carries)\b",
        r"\b(?:every|each) (?:new )?[\w-]+ (?:had|have|has|to have)\b|"
        r"\banything (?:[\w-]+ ){1,4}(?:goes|needs|gets|must|stays|belongs|comes)\b",
        r"^all (?:new |the |our )?(?:[\w-]+ ){1,3}(?:need|get|must|have to|should|go|come|in|use|"
        r"live|belong|are to)\b",
        r"^(?:for |with )?(?:each|every|any)(?: [\w-]+){1,3}[:,]",
        r"\beverything (?:in|goes|has|must|should|needs|stays|under|uses|you)\b(?! (?:works|is|"
        r"was|fine)\b)",
    ),
    Cue(
        0.6,
        "whenever every each time when if before after unless long",
        r"\b(?:whenever|every time|each time|any time|as long as|unless|if (?:you|any|something|"
        r"there|in doubt|it|a)|"
        r"(?:before|after) (?:you|each|every|any|committing|merging|pushing|releasing))\b",
    ),
    Cue(
        0.5,
        "public read-only readonly generated shared vendored legacy locked final confidential "
        "private production live prod sensitive auto-generated contract customers clients",
        r"\b(?:is|are|'s|it's) (?:\w+ ){0,2}(?:public|read-?only|generated|auto-generated|shared|"
        r"vendored|locked|"
        r"final|confidential|sensitive|live|production|prod|a contract)\b",
    ),
    Cue(
        0.6,
        "here repo project codebase everywhere throughout house team company shop",
        r"\b(?:we|our|us)\b.*\b(?:here|in this (?:repo|project|codebase|code|house|team)|"
        r"everywhere|throughout)\b",
    ),
)
WISHES = (
    Cue(
        1.0,
        "rather prefer preferred preferably ideally fan hate dislike please let's lets",
        r"\b(?:let's|lets|let us) (?:please |also )?(?:not|avoid|limit|never)\b",
        r"\b(?:i|we)(?:'d| would) (?:really |much )?(?:rather|prefer|hate)\b",
        r"\b(?:i|we) (?:really |much |generally |usually |strongly )?(?:prefer|hate|dislike)\b",
        r"\bnot a (?:big |huge )?fan\b|^(?:prefer|preferably|preferred|ideally)\b",
        r"\b(?:rather|please) (?:not|no|without|nothing)\b|\bnot .{2,40} please\b",
    ),
    Cue(
        1.0,
        "want wants like need needs insist expect",
        r"\b(?:i|we|they|customer|boss|client|legal|security) (?:really |just |also |"
        r"only )?(?:want|wants|"
        r"need|needs|'d like|would like|expect|insist)\b.{2,60}?\b(?:to (?:stay|remain|keep|be|"
        r"work|"
        r"still|always|never)|kept|unchanged|untouched|as is|no|only|without|at most|under \d)\b",
        r"\b(?:i|we) insist\b",
        r"\b(?:want|need) (?:no|zero|only)\b",
    ),
    Cue(
        1.0,
        "use using prefer",
        r"(?:^|[,:;(.!–—] ?|\b(?:please|pls|but|so|just|then|always) )use (?!case|cases|of|it\b|"
        r"that\b)"
        r"(?!.*\b(?:instead|rather)\b)\S+",
    ),
    Cue(
        1.0,
        "english french german spanish italian dutch portuguese japanese polish russian chinese "
        "british american swedish",
        r"\bin (?:plain |simple |british |american )?(?:english|french|german|spanish|italian|"
        r"dutch|portuguese|"
        r"japanese|polish|russian|chinese|swedish)\b",
        r"\b(?:british|american) (?:spelling|english)\b",
    ),
    Cue(
        0.7,
        "go goes live lives belong belongs",
        r"^(?:(?:and|also|oh|all|the|new),? )*(?:[\w-]+ ){1,3}(?:go(?:es)?|lives?|belongs?) (?:in|"
        r"into|to|under|through|thru|via|next to|on)\b",
    ),
    Cue(0.3, "qq"),
    Cue(
        0.6,
        "spaces tabs snake-case camelcase kebab-case case style styles indentation indent naming "
        "spelling quotes iso utc utf-8 metric",
        r"\b(?:snake-case|camelcase|kebab-case|tabs|spaces|quotes|indent\w*|naming|spelling|iso|"
        r"utc|utf-8)\b",
    ),
    Cue(
        0.5, "not", r"[,(] ?not (?!sure|yet|really|quite|only)\w+|\bnot (?:the|a|an|in|on|as|for)\b"
    ),
    Cue(0.4, "please pls plz"),
)

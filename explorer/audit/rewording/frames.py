"""How a speaker begins, which is nothing of what is said: "so, from me, officially: ..."."""

from __future__ import annotations

import re

_OPENINGS = (
    r"so|ok(?:ay)?|well|also|and|but|please|pls|right|alright|then|now|oh|btw|hey|hi|yes|again|look|"
    r"listen|actually|finally|first|next(?:\s+up)?|later|besides|remember|note|settled|agreed|"
    r"decided|important|reminder|warning|attention|careful|fyi|to\s+be\s+(?:clear|sure|safe)|"
    r"just\s+to\s+be\s+(?:clear|sure|safe)|from\s+me|officially|for\s+the\s+record|by\s+the\s+way|"
    r"one\s+(?:more\s+)?thing|whatever\s+(?:you\s+do|happens)|as\s+(?:I\s+said|agreed|before|always)|"
    r"once\s+more|in\s+short|in\s+general|to\s+do|todo|remaining|open|goal|"
    r"(?:rule|point|constraint|requirement)\s*\#?\d*"
    r"(?:\s+is(?:\s+now)?|\s+says|\s+now(?:\s+reads)?)?(?=\s*[:\"“])"
)
_ASKING = (
    r"make\s+sure(?:\s+that)?|be\s+sure\s+(?:to|that)|ensure(?:\s+that)?|"
    r"(?:please\s+)?(?:remember|note|mind)\s+(?:to|that)|"
    r"(?:don['’]?t|do\s+not)\s+forget\s+(?:to|that)|"
    r"I(?:['’]d|\s+would)\s+(?:like|love)\s+(?:you\s+)?(?:to|that|it)|"
    r"I\s+(?:want|need|expect)\s+(?:you\s+to\s+)?|I(?:['’]d|\s+would)\s+rather(?:\s+you)?|"
    r"(?:I|we)(?:['’]ll|\s+will|['’]m|\s+am)\s+|(?:I|we)\s+(?:went|go)\s+with\s|"
    r"(?:would|it['’]?d)\s+be\s+(?:nice|great|good)\s+if|"
    r"any\s+chance\s+(?:that\s+)?(?:you\s+can|we\s+can)?|"
    r"(?:could|can|would|will)\s+(?:you|u)\s+(?:please\s+)?|(?:we|you)\s+(?:have|need)\s+to|"
    r"(?:was\s+)?asked\s+(?:to|for)\s+|still\s+(?:need|have)\s+to|let['’]?s|let\s+us|"
    r"go\s+ahead\s+and|"
    r"(?:the\s+)?(?:user|[A-Z][a-z]+)\s+(?:wants?|asks?|asked|wanted|said|insists?|requires?|demands?)"
    r"\s+(?:that\s+|to\s+|for\s+)?|"
    r"rule\s+\d+\s+(?:is(?:\s+now)?|says|now\s+reads)\W+"
)
_FRAME = re.compile(
    rf"^(?:\W*(?:{_OPENINGS})(?:\s+then)?\s*(?:[,:;.!–—-]|\s(?=[A-Za-z\"“`§]))+\s*"
    rf"|^\W*(?:{_ASKING})\s*)",
    re.IGNORECASE,
)
_SHORTEST = 8
"""Characters that a text keeps; what is shorter is no statement."""


def unframed(text: str) -> str:
    """A text from where it says something."""
    for _ in range(4):
        bare = _FRAME.sub("", text, count=1)
        if bare == text or len(bare) < _SHORTEST:
            break
        text = bare
    return text

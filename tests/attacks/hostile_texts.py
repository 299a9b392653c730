"""Texts that would load, run or format something where they are taken for HTML or Markdown."""

from __future__ import annotations

from random import Random

MARK = "Zq7"
"""Stands in every text, so that it is found again where it is shown."""

_SHAPES = (
    "<img src='{url}'>",
    '<IMG SRC="{url}" onerror=alert(1)>',
    "<svg><image href='{url}'/></svg>",
    "<svg/onload=alert(1)>",
    "<script>fetch('{url}')</script>",
    "<script src={url}></script>",
    "<iframe src='{url}'></iframe>",
    "<object data={url}></object>",
    "<embed src={url}>",
    "<link rel=stylesheet href='{url}'>",
    "<meta http-equiv=refresh content='0;url={url}'>",
    "<base href='{url}'>",
    "<form action='{url}'><button>",
    "<a href='{url}' title='x'>{mark}</a>",
    "<b>{mark}</b><font size=7 color=red>",
    "<h1>{mark}</h1>",
    "<style>body{{background:url({url})}} @import '{url}';</style>",
    "<table background='{url}'><tr><td style='background:url({url})'>",
    "<p style='color:red;background-image:url(\"{url}\")'>",
    "<video poster={url} src={url} autoplay>",
    "<!--{mark}--><!DOCTYPE html><html>",
    "<![CDATA[ {mark} ]]>",
    "<?xml version='1.0'?><b>{mark}</b>",
    "</title></style></script></pre></code></td></table>",
    "--></textarea>",
    "\"'><img src={url}>",
    "' onmouseover='alert(1)",
    "![{mark}]({url})",
    "![]({url})",
    '![{mark}][r]\n\n[r]: {url} "title"\n',
    "[![{mark}]({url})]({url})",
    "[{mark}]({url} '<b>title</b>')",
    "[{mark}](javascript:alert(1))",
    "<{url}>",
    "{url}",
    "www.{mark}.example",
    "&lt;b&gt;&#60;img src={url}&#62;&amp;",
    "`<img src={url}>`",
    "```html\n<img src={url}>\n```",
    "~~~\n{mark}\n",
    "``` ` ``",
    "| a | b |\n|---|---|\n| <b> | ![]({url}) |\n",
    "# {mark}\n===\n---\n",
    "> - 1. **{mark}** ~~x~~",
    "---\n{mark}: yes\n---\n",
    "\\![{mark}]({url}) \\",
    "$({url}) ${{IFS}} %s %n {{0}} {{{{x}}}}",
    "\u202e\u2066{mark}\u200b\u0007\u001b[31m",
)
_ADDRESSES = (
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml;base64,PHN2Zy8+", "qrc:/x.png", ":/x.png", "ftp://{host}/x",
    "smb://{host}/x", "\\\\{host}\\x", "//{host}/x", "file://{host}/x",
)  # fmt: skip
_JOINTS = ("", " ", "\n", "\n\n", "|", "</p>", "\t")


def hostile(random: Random, *addresses: str, host: str = "192.0.2.1", most: int = 4) -> str:
    """Some such texts in a row. ``addresses``: what they try to load, beside those that any text
    may try; ``host``: whom they try to reach by other protocols."""
    pieces = [MARK]
    for _ in range(random.randint(1, most)):
        any_other = random.choice(_ADDRESSES).format(host=host)
        url = random.choice((*addresses, any_other))
        pieces.append(random.choice(_SHAPES).format(url=url, mark=MARK))
    random.shuffle(pieces)
    return random.choice(_JOINTS).join(pieces)


def all_shapes(address: str) -> list[str]:
    """Every shape once, each beginning as a text that Qt takes for HTML."""
    return [f"<b>{MARK}</b> {shape.format(url=address, mark=MARK)}" for shape in _SHAPES]

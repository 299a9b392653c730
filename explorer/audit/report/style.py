"""The looks of a report: the window's colours, light and dark, and the textures of what became
of things."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from explorer.audit.report.markup import Markup, join, tag

COLOURS: dict[str, tuple[str, str]] = {
    "paper": ("#fbfaf7", "#16181b"),
    "panel": ("#f4f2ed", "#1c1f23"),
    "card": ("#ffffff", "#1f2226"),
    "sel": ("#e6ecf9", "#22304d"),
    "ink": ("#1f2328", "#e6e4df"),
    "dim": ("#62676d", "#9a9d9f"),
    "faint": ("#a6a8a7", "#64686c"),
    "line": ("#dfdcd4", "#2c3035"),
    "accent": ("#2458c5", "#7da6ff"),
    "comp": ("#ab4e08", "#e8963f"),
    "think": ("#7c4fc0", "#b79af0"),
    "lost": ("#c62828", "#ff7b72"),
    "kept": ("#2458c5", "#7da6ff"),
    "hatch": ("#b4530988", "#e8963f88"),
    "hatch2": ("#7c4fc088", "#b79af088"),
}
"""By name: in light and in dark, as the window has them."""

FILLS = {
    "kept": "fill:var(--kept)",
    "exact": "fill:url(#t-exact);stroke:var(--line)",
    "normalized": "fill:url(#t-normalized);stroke:var(--line)",
    "recoverable": "fill:url(#t-recoverable);stroke:var(--line)",
    "lost": "fill:var(--paper);stroke:var(--lost);stroke-width:1.5;stroke-dasharray:4 2",
    "aside": "fill:none;stroke:var(--faint)",
}
"""The texture of each fate: kept is solid, what is in a summary hatched, what can be read again
dotted, lost outlined. Every use has its words beside it."""

_RULES = """
*{box-sizing:border-box}
html{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
body{max-width:64rem;margin:0 auto;padding:24px 16px 48px;overflow-wrap:anywhere}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible,.wide:focus-visible{outline:2px solid var(--accent);
outline-offset:2px}
.skip{position:absolute;left:-100vw}.skip:focus{left:16px;top:8px;background:var(--card)}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 4px}
h2{font-size:1.25rem;line-height:1.3;margin:40px 0 8px;padding-top:16px;
border-top:1px solid var(--line)}
h3{font-size:1rem;margin:24px 0 4px}
h4{font-size:.9rem;margin:16px 0 4px}
p{margin:4px 0 8px}
.dim,figcaption,caption,.why{color:var(--dim);font-size:.875rem}
.bound{border-left:3px solid var(--comp);padding:4px 12px;margin:12px 0;font-size:.9rem}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:12px 16px;
margin:16px 0;padding:0}
.facts div{border-top:1px solid var(--line);padding-top:4px}
.facts dt{color:var(--dim);font-size:.8rem}
.facts dd{margin:0;font-size:1.1rem;font-variant-numeric:tabular-nums}
.facts dd small{display:block;font-size:.75rem;color:var(--dim);line-height:1.35}
.wide{overflow-x:auto;margin:8px 0}
table{border-collapse:collapse;width:100%;font-size:.875rem}
caption{text-align:left;padding:0 0 4px}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-top:1px solid var(--line);
font-weight:normal}
th{overflow-wrap:normal}
thead th{border-top:0;color:var(--dim);font-size:.8rem;vertical-align:bottom}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td:has(.bar){width:34%;min-width:9rem}
.bar{display:block;width:100%;height:14px}
.rule{stroke:var(--line)}
.curve{fill:none;stroke:var(--comp);stroke-width:2}
.dot{fill:var(--paper);stroke:var(--comp);stroke-width:2}
.speck{fill:var(--dim)}
.stripes-hatch{stroke:var(--hatch);stroke-width:2.2;fill:none}
.stripes-hatch2{stroke:var(--hatch2);stroke-width:2.2;fill:none}
svg text{fill:var(--dim);font:11px system-ui,sans-serif}
figure{margin:16px 0}
figure>svg{display:block;width:100%;height:auto}
figcaption{margin-top:4px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;margin:8px 0;padding:0;
font-size:.8rem;color:var(--dim)}
.legend svg{width:24px;height:12px;vertical-align:-1px;margin-right:4px}
.found{margin:0;padding:0;list-style:none}
.found>li{border-top:1px solid var(--line);padding:8px 0}
.found p{margin:2px 0}
code,pre,blockquote{font:.85rem/1.45 ui-monospace,monospace;unicode-bidi:isolate}
code{white-space:pre-wrap}
pre{white-space:pre-wrap;background:var(--panel);padding:12px;border-radius:6px;margin:8px 0}
blockquote{margin:4px 0;padding:2px 0 2px 12px;border-left:2px solid var(--line);color:var(--dim);
white-space:pre-wrap}
mark{background:var(--sel);color:var(--ink);text-decoration:underline}
.tag{display:inline-block;font-size:.75rem;line-height:1.3;padding:1px 6px;border-radius:6px;
border:1px solid var(--line);color:var(--dim);white-space:nowrap}
.tag.lost{border:1.5px dashed var(--lost);color:var(--lost)}
.tag.wrong{border-color:var(--comp);color:var(--comp)}
summary{cursor:pointer;color:var(--accent);padding:4px 0}
nav ul{margin:4px 0;padding-left:20px}
footer{margin-top:48px;border-top:1px solid var(--line);padding-top:8px}
.defs{position:absolute;width:0;height:0}
@media print{
:root{--paper:#fff}
html{font-size:12px}body{max-width:none;padding:0}
nav,.skip{display:none}
h2,h3,h4,h4+.why,caption,thead{break-after:avoid}.found>li,figure,tr,.facts div{break-inside:avoid}
.wide{overflow:visible}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
details::details-content{content-visibility:visible;display:block;height:auto}
}
"""


def _sheet() -> str:
    light = ";".join(f"--{name}:{pair[0]}" for name, pair in COLOURS.items())
    dark = ";".join(f"--{name}:{pair[1]}" for name, pair in COLOURS.items())
    fills = "".join(f".{fill_class(name)}{{{rule}}}" for name, rule in FILLS.items())
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}"
        f"{fills}{_RULES}"
    )


def fill_class(name: str) -> str:
    """The class of a shape with one of the ``FILLS``."""
    return f"fill-{name}"


def style() -> Markup:
    """The style sheet. On paper the colours are those of light."""
    return Markup(f"<style>{_sheet()}</style>")


def policy() -> str:
    """What a browser may do with the page: apply this style sheet, and nothing else.

    The sheet is named by its hash, so that no style of another hand applies; shapes have classes,
    as attributes with style would need a weaker policy.
    """
    digest = b64encode(sha256(_sheet().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    )


def textures() -> Markup:
    """The patterns that bars and the strip are filled with; once in a document."""
    both: dict[str, str | int] = {"width": 8, "height": 8, "patternUnits": "userSpaceOnUse"}
    return tag(
        "svg",
        tag(
            "defs",
            tag("pattern", _stripes("hatch", "M-2 -2L10 10M-2 6L2 10M6 -2L10 2"),
                id="t-exact", **both),
            tag("pattern", _stripes("hatch2", "M-2 10L10 -2M-2 2L2 -2M6 10L10 6"),
                id="t-normalized", **both),
            tag("pattern", join(
                tag("circle", cx=x, cy=y, r=1, class_="speck")
                for x in (2, 6) for y in (2, 6)
            ), id="t-recoverable", **both),
        ),
        class_="defs",
        aria_hidden="true",
    )  # fmt: skip


def _stripes(colour: str, path: str) -> Markup:
    return tag("path", d=path, class_=f"stripes-{colour}")

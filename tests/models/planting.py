"""Conversations with planted facts, made from a seed: who says what is known exactly.

Two banks of phrases: "tuning", which the summarizer may be adjusted on, and "held-out",
which it may not.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

GENERATIONS = 5


@dataclass(frozen=True)
class Planted:
    """A fact. `needle` is the part that must come through word for word; `generation` from 1.

    `changed_in` is the generation in which a later statement makes it stale, 0 for never.
    """

    kind: str
    needle: str
    generation: int
    changed_in: int = 0


@dataclass
class Story:
    """Five chunks of conversation with what was planted in them."""

    name: str
    chunks: list[str]
    facts: list[Planted]


DOMAINS = (
    ("billing", "invoice", "ledger", "refund", "payout"),
    ("search", "index", "query", "ranking", "crawler"),
    ("auth", "session", "token", "login", "password"),
    ("media", "upload", "thumbnail", "transcode", "playlist"),
    ("telemetry", "metric", "sampling", "exporter", "span"),
    ("inventory", "stock", "warehouse", "shipment", "barcode"),
    ("chat", "channel", "presence", "mention", "thread"),
)

TUNING: dict[str, tuple[str, ...]] = {
    "path": (
        "The handler for this lives in {needle}.",
        "Please look at {needle}, that is where it goes wrong.",
        "You'll find the old implementation under {needle}.",
    ),
    "command": (
        "To check it run `{needle}`.",
        "I use `{needle}` to reproduce the failure.",
        "CI calls `{needle}` on every push.",
    ),
    "number": (
        "The {a} {b} limit is {needle}.",
        "Measured {a} {b} latency is {needle} at p95.",
        "We get about {needle} for the {a} {b} job.",
    ),
    "url": (
        "The spec is at {needle}.",
        "Docs for the {a} {b} part: {needle}",
        "See {needle} for the dashboards.",
    ),
    "hash": (
        "The last good commit was {needle}.",
        "The {a} change landed in {needle}.",
        "If all fails we roll back to {needle}.",
    ),
    "constraint": ("{needle}",),
    "decision": ("{needle}",),
}
HELD_OUT: dict[str, tuple[str, ...]] = {
    "path": (
        "Somebody moved the {a} code into {needle} last month.",
        "{needle} still has the copy from before the rewrite.",
        "I keep the {b} fixtures in {needle}, next to the generators.",
    ),
    "command": (
        "What works for me locally is `{needle}`.",
        "After that `{needle}` has to come out clean.",
        "The nightly job does nothing but `{needle}`.",
    ),
    "number": (
        "For {a} {b} traffic they budgeted {needle}.",
        "It takes {needle} end to end for one {a} {b}.",
        "The {a} pool tops out at {needle} during {b} peaks.",
    ),
    "url": (
        "There is a write-up of the {a} outage under {needle}, worth reading.",
        "The vendor publishes its changelog on {needle}.",
        "I opened {needle} for the {b} problem.",
    ),
    "hash": (
        "git bisect blames {needle}.",
        "Staging currently has {needle} deployed.",
        "The {b} image was built from {needle}.",
    ),
    "constraint": ("{needle}",),
    "decision": ("{needle}",),
}
RULES_TUNING = (
    "Never write to the {a} production tables directly.",
    "The {a} {b} API must stay backwards compatible.",
    "Don't add new dependencies to the {a} package.",
    "Keep every {a} {b} migration reversible.",
    "Only the {a} team may approve changes to the {b} schema.",
    "Always run the {a} linter before you commit {b} code.",
    "All {b} errors have to be logged with the {a} request id.",
)
RULES_HELD_OUT = (
    "Under no circumstances should the {a} job touch {b} records of other tenants.",
    "No raw SQL in the {a} {b} layer.",
    "Ask me before you rename anything public in the {a} {b} module.",
    "Leave the {a} {b} fixtures exactly as they are.",
    "Whatever you do, {a} {b} responses need to fit into one packet.",
    "I want {a} {b} messages in British English.",
    "Stay away from the {a} vendor directory when you fix the {b} part.",
)
CHOICES_TUNING = (
    "We decided to use a {a} outbox because the {b} consumer cannot be idempotent.",
    "Let's go with optimistic locking for the {a} {b}, since conflicts are rare.",
    "We'll use protobuf for {a} {b} events because of the schema registry.",
)
CHOICES_HELD_OUT = (
    "I chose a bounded queue over a thread per {a} {b}, the memory use was unpredictable.",
    "After comparing both we settled on cursor pagination for {a} {b} lists.",
    "The {a} {b} cache will be write-through; write-back lost updates in the trial.",
)
REQUESTS = (
    "Now please make the {a} {b} retry with backoff.",
    "Can you split the {a} {b} class into two modules?",
    "Next, write a test that covers the empty {a} {b} case.",
    "Add a metric that counts dropped {a} {b} items.",
)
CHANGES_TUNING = (
    ("The {a} {b} batch size is {old}.", "Let's raise the {a} {b} batch size to {new}."),
    ("Set the {a} {b} timeout to {old} seconds.", "Change the {a} {b} timeout to {new} seconds."),
)
CHANGES_HELD_OUT = (
    ("We allow {old} concurrent {a} {b} workers.", "{new} concurrent {a} {b} workers from now on."),
    (
        "The {a} {b} quota is {old} MB per tenant.",
        "The {a} {b} quota goes up to {new} MB per tenant.",
    ),
)
ERRORS = (
    "TypeError: Cannot read properties of undefined (reading '{a}{n}')",
    'psycopg2.errors.UniqueViolation: duplicate key value violates constraint "{a}_{b}_{n}"',
    "thread 'main' panicked at src/{a}/{b}.rs:{n}:17: index out of bounds",
    "java.lang.IllegalStateException: {a} pool exhausted after {n} waiters",
    "error TS2345: Argument of type '{a}{n}' is not assignable to parameter of type '{b}'.",
)
FILLER_ASSISTANT = (
    "Let me have a look at how this is put together before changing anything.",
    "I went through the module and the structure is about what I expected.",
    "That makes sense, the names were confusing to me as well at first.",
    "I'm reading the tests now to see what behaviour they pin down.",
    "The call sites are spread over several files, so I'll go through them one by one.",
    "This part is straightforward, although the comments there are out of date.",
    "I compared the two versions and they differ mostly in formatting.",
    "There is a helper for this already, it only needs a small extension.",
    "I checked the history and nothing there explains why it was done like this.",
    "The types are loose here, so the checker does not help much.",
)
FILLER_USER = (
    "Thanks, that looks fine so far.",
    "Sounds good, go on.",
    "Hm, interesting, I had not thought of it that way.",
    "Take your time with it, there is no hurry today.",
    "I was away for lunch, what did I miss?",
    "Good, continue.",
)


@dataclass
class _Chunk:
    rng: random.Random
    bank: dict[str, tuple[str, ...]]
    held_out: bool
    generation: int
    lines: list[str] = field(default_factory=list)
    facts: list[Planted] = field(default_factory=list)

    def say(self, role: str, text: str) -> None:
        self.lines.append(f"[{role}]: {text}")

    def words(self) -> tuple[str, str]:
        domain = self.rng.choice(DOMAINS)
        a, b = self.rng.sample(domain, 2)
        return a, b

    def plant(self, kind: str, needle: str, a: str, b: str) -> str:
        self.facts.append(Planted(kind, needle, self.generation))
        return self.rng.choice(self.bank[kind]).format(needle=needle, a=a, b=b)

    def exact(self, kind: str) -> str:
        a, b = self.words()
        rng = self.rng
        if kind == "path":
            ext = rng.choice(("py", "ts", "go", "rs", "yaml", "sql"))
            root = rng.choice(("src", "services", "pkg", "app"))
            needle = f"{root}/{a}/{b}_{rng.randint(2, 99)}.{ext}"
        elif kind == "command":
            needle = rng.choice(
                (
                    f"pytest tests/{a} -k {b}_{rng.randint(2, 99)} -x",
                    f"npm run test:{a} -- --grep {b}{rng.randint(2, 99)}",
                    f"cargo test -p {a} {b}_{rng.randint(2, 99)} -- --nocapture",
                    f"make {a}-{b}-{rng.randint(2, 99)}",
                    f"kubectl -n {a} rollout restart deploy/{b}-{rng.randint(2, 99)}",
                )
            )
        elif kind == "number":
            unit = rng.choice(("ms", "MB", "requests per second", "%", "minutes", "rows"))
            needle = f"{rng.randint(11, 998)} {unit}"
        elif kind == "url":
            host = rng.choice(("wiki", "docs", "grafana", "tracker"))
            needle = f"https://{host}.{a}.example.org/{b}/{rng.randint(100, 9999)}"
        else:
            needle = "".join(rng.choice("0123456789abcdef") for _ in range(6))
            needle = rng.choice("abcdef") + needle + rng.choice("0123456789")
        return self.plant(kind, needle, a, b)

    def sentence(self, kind: str) -> str:
        a, b = self.words()
        if kind == "constraint":
            bank = RULES_HELD_OUT if self.held_out else RULES_TUNING
        else:
            bank = CHOICES_HELD_OUT if self.held_out else CHOICES_TUNING
        return self.plant(kind, self.rng.choice(bank).format(a=a, b=b), a, b)

    def error(self) -> str:
        a, b = self.words()
        needle = self.rng.choice(ERRORS).format(a=a, b=b, n=self.rng.randint(12, 977))
        self.facts.append(Planted("error", needle, self.generation))
        return needle

    def request(self) -> str:
        a, b = self.words()
        needle = self.rng.choice(REQUESTS).format(a=a, b=b)
        self.facts.append(Planted("latest request", needle, self.generation))
        return needle

    def noise(self) -> None:
        """A tool call and its result, with nothing that anybody will need."""
        rng = self.rng
        a, b = self.words()
        path = f"lib/{a}/{b}/file{rng.randint(1, 400)}.py"
        self.lines.append(f'[Assistant tool calls]: read(path="{path}")')
        body = [f"import {a}", f"from {b} import helpers", ""]
        for index in range(rng.randint(6, 22)):
            body.append(f"def {b}_{index}(value):")
            body.append(f"    result = {a}.transform(value, depth={rng.randint(1, 9)})")
            body.append("    return helpers.wrap(result)")
        self.say("Tool result", "\n".join(body))

    def listing(self) -> None:
        rng = self.rng
        a, b = self.words()
        self.lines.append(f'[Assistant tool calls]: ls(path="lib/{a}")')
        names = [f"{b}_{rng.randint(1, 999)}.py" for _ in range(rng.randint(8, 30))]
        self.say("Tool result", "\n".join(names))

    def filler(self, count: int = 2) -> str:
        return " ".join(self.rng.sample(FILLER_ASSISTANT, count))


def make_story(seed: int, held_out: bool) -> Story:
    """Five generations; each plants about a dozen facts and changes one of an earlier one."""
    rng = random.Random(f"{seed}/{held_out}")
    bank = HELD_OUT if held_out else TUNING
    chunks: list[str] = []
    facts: list[Planted] = []
    changes = _changes(rng, held_out)
    for generation in range(1, GENERATIONS + 1):
        chunk = _Chunk(rng, bank, held_out, generation)
        _write(chunk, [pair for pair in changes if generation in (pair[0], pair[1])])
        chunks.append("\n\n".join(chunk.lines))
        facts += chunk.facts
    return Story(f"{'held-out' if held_out else 'tuning'} {seed}", chunks, facts)


Change = tuple[int, int, str, str, str, str]


def _changes(rng: random.Random, held_out: bool) -> list[Change]:
    """(generation stated, generation changed, first sentence, second, old needle, new needle)."""
    bank = CHANGES_HELD_OUT if held_out else CHANGES_TUNING
    result: list[Change] = []
    for first, second in ((1, 2), (1, 4), (2, 3), (3, 5)):
        a, b = rng.sample(rng.choice(DOMAINS), 2)
        before, after = rng.choice(bank)
        old, new = rng.sample(range(110, 980), 2)
        old, new = min(old, new), max(old, new)
        result.append(
            (
                first,
                second,
                before.format(a=a, b=b, old=old),
                after.format(a=a, b=b, new=new, old=old),
                str(old),
                str(new),
            )
        )
    return result


def _write(chunk: _Chunk, changes: list[Change]) -> None:
    rng = chunk.rng
    kinds = ["path", "command", "number", "url", "hash", "constraint", "constraint", "decision"]
    rng.shuffle(kinds)
    for kind in kinds:
        said = chunk.sentence(kind) if kind in ("constraint", "decision") else chunk.exact(kind)
        if rng.random() < 0.7:
            chunk.say("User", f"{said} {rng.choice(FILLER_USER)}" if rng.random() < 0.3 else said)
            chunk.say("Assistant", chunk.filler())
        else:
            chunk.say("User", rng.choice(FILLER_USER))
            chunk.say("Assistant", f"{chunk.filler(1)} {said} {chunk.filler(1)}")
        if rng.random() < 0.6:
            chunk.noise()
        else:
            chunk.listing()
    for first, second, before, after, old, new in changes:
        if chunk.generation == first:
            chunk.say("User", before)
            chunk.facts.append(Planted("changed value", old, first, second))
        else:
            chunk.say("User", after)
            chunk.facts.append(Planted("changed value", new, second))
        chunk.say("Assistant", chunk.filler())
    chunk.lines.append('[Assistant tool calls]: bash(command="./check.sh")')
    chunk.say("Tool result", f"starting\nloaded 12 plugins\n{chunk.error()}\nsee the log for more")
    chunk.say("Assistant", chunk.filler())
    chunk.say("User", chunk.request())
    chunk.say("Assistant", chunk.filler(1))

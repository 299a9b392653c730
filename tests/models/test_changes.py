"""The latest statement of a thing wins, inside one conversation and over an earlier summary."""

from __future__ import annotations

import pytest

from explorer.models.offline.extractive import summarize
from tests.models.survival import flatten, holds, summary_request

PADDING = (
    "[Assistant]: I had a look at the modules and read through the history of the changes to "
    "understand how things fit together here.\n\n[Tool result]: "
    + "\n".join(f"    values[{index}] = normalise(values[{index}])" for index in range(60))
)
LAST = "[User]: Please run the whole suite once more."

# first statement, later statement, what must be there, what must be gone
CHANGED = [
    ("The limit is 50.", "Raise the limit to 80.", ["80"], "The limit is 50"),
    ("The upload limit is 50 MB.", "Let's raise the upload limit from 50 MB to 80 MB.",
     ["80 MB"], "The upload limit is 50 MB"),
    ("Use at most 4 workers.", "We got a bigger box, use 16 workers instead.",
     ["16 workers"], "4 workers"),
    ("The request timeout is 30 seconds and the port is 8080.",
     "Bump the request timeout to 45 seconds please.", ["45 seconds", "8080"], "30 seconds"),
    ("Connect timeout is 5 s. Read timeout is 30 s.", "Set the read timeout to 60 s.",
     ["60 s", "5 s"], "30 s"),
    ("The deadline is Friday.", "The deadline moved to Monday.", ["Monday"], "Friday"),
    ("We'll use Redis for sessions because it is fast.",
     "I changed my mind: use signed cookies for sessions instead of Redis.",
     ["signed cookies"], "We'll use Redis"),
    ("Use npm for everything.", "From now on use pnpm instead of npm.", ["pnpm"], "Use npm for"),
    ("Never touch the migrations folder.",
     "You may now touch the migrations folder, the freeze is over.",
     ["freeze is over"], "Never touch the migrations"),
    ("All commits must be signed.", "Signed commits are no longer required.",
     ["no longer required"], "must be signed"),
    ("Max 50 connections per host.", "Increase the connections per host to 80.", ["80"], "50"),
    ("Rate limit: 100 req/s.", "Rate limit is now 250 req/s.", ["250 req/s"], "100 req/s"),
    ("We allow 40 concurrent export workers.", "60 concurrent export workers from now on.",
     ["60 concurrent"], "40 concurrent"),
]  # fmt: skip

# two statements that look alike and both hold
BOTH_HOLD = [
    ("Connect timeout is 5 s.", "Set the read timeout to 60 s.", ["5 s", "60 s"]),
    ("The spec is in docs/a.md.", "The changelog is in docs/b.md.", ["docs/a.md", "docs/b.md"]),
    ("The spec is at docs/a.md.", "The spec is at docs/b.md.", ["docs/a.md", "docs/b.md"]),
    ("Uploads are limited to 50 MB.", "Raise the download limit to 80 MB.", ["50 MB", "80 MB"]),
    ("The worker pool has 8 threads.", "The database pool has 20 connections.",
     ["8 threads", "20 connections"]),
    ("Use Postgres for orders.", "Use Redis for the cache.", ["Postgres", "Redis"]),
    ("Keep functions under 40 lines.", "Keep files under 400 lines.", ["40 lines", "400 lines"]),
    ("The API runs on port 8080.", "The admin UI runs on port 9090.", ["8080", "9090"]),
    ("Run `npm test` first.", "Run `npm run build` afterwards.", ["npm test", "npm run build"]),
    ("p95 latency for search is 120 ms.", "p95 latency for checkout is 340 ms.",
     ["120 ms", "340 ms"]),
    ("Don't change the public API.", "Change the internal API as you like.",
     ["Don't change the public API"]),
    ("The limit is 50.", "Could we maybe raise the limit to 90 some day?", ["50"]),
    ("Set LEASE_SECONDS=120 in the compose file so that it isn't hidden in code.",
     "I fixed the test, not the code.", ["LEASE_SECONDS=120"]),
]  # fmt: skip


def both_ways(first: str, second: str) -> dict[str, str]:
    """The summary of one conversation, and of a second one over the first one's summary."""
    earlier = f"[User]: {first}\n\n{PADDING}"
    later = f"[User]: {second}\n\n{PADDING}\n\n{LAST}"
    previous = summarize(summary_request(earlier, limit=400), lambda: False)
    return {
        "one conversation": summarize(
            summary_request(f"{earlier}\n\n{later}", limit=400), lambda: False
        ),
        "over a summary": summarize(summary_request(later, previous, 400), lambda: False),
    }


@pytest.mark.parametrize(("first", "second", "present", "gone"), CHANGED)
def test_only_the_latest_statement_is_given(
    first: str, second: str, present: list[str], gone: str
) -> None:
    for way, summary in both_ways(first, second).items():
        flat = flatten(summary)
        assert all(flatten(part) in flat for part in present), f"{way}:\n{summary}"
        assert not holds(flat, gone), f"{way}:\n{summary}"


@pytest.mark.parametrize(("first", "second", "present"), BOTH_HOLD)
def test_statements_of_different_things_both_stay(
    first: str, second: str, present: list[str]
) -> None:
    for way, summary in both_ways(first, second).items():
        flat = flatten(summary)
        assert all(flatten(part) in flat for part in present), f"{way}:\n{summary}"


def test_an_echo_does_not_bring_an_old_value_back() -> None:
    talk = "\n\n".join(
        (
            "[User]: The retry limit is 50.",
            "[User]: Raise the retry limit to 80.",
            "[Assistant]: The retry limit is 50, as you said at first.",
            PADDING,
            LAST,
        )
    )
    flat = flatten(summarize(summary_request(talk, limit=400), lambda: False))
    assert "80" in flat
    assert not holds(flat, "50")

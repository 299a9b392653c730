"""Secrets are found by how they are written, and masked at their length."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.session.secrets import find_secrets, mask, mask_each

RANDOM = "qB7dZ5fG2hJ9kL1mN8pQ4rS6tU3vW0xY5zA7bC9d"
SECRETS = {
    f"sk-ant-api03-{RANDOM}": "sk-ant-",
    f"sk-proj-{RANDOM}": "sk-proj-",
    f"sk-{RANDOM}": "sk-",
    f"ghp_{RANDOM[:36]}": "ghp_",
    f"github_pat_11AQWERTY0{RANDOM}": "github_pat_",
    f"glpat-{RANDOM[:20]}": "glpat-",
    "xoxb-730191371694-bq7dZ5fG2hJ9": "xoxb-",
    "AKIAQWERTYUIOPASDFG2": "AKIA",
    "AWS_SECRET_ACCESS_KEY=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": "AWS_SECRET_ACCESS_KEY=",
    f"AIzaSyA8{RANDOM[:32]}": "AIza",
    f"npm_{RANDOM[:36]}": "npm_",
    f"pypi-AgEIcHlwaS5vcmc{RANDOM}": "pypi-",
    f"hf_{RANDOM[:34]}": "hf_",
    f"sk_live_{RANDOM[:24]}": "sk_live_",
    f"SG.{RANDOM[:22]}.{RANDOM}q2z": "SG.",
    f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxOTM0NSJ9.{RANDOM}": "eyJ",
    f"Authorization: Bearer {RANDOM}": "Authorization: Bearer ",
    "Authorization: Basic dXNlcjpodW50ZXIyMTIz": "Authorization: Basic ",
    "DB_PASSWORD=hunter2xx9": "DB_PASSWORD=",
    'password: "S3cr3t!!pw"': 'password: "',
    f"OPENAI_API_KEY={RANDOM}": "OPENAI_API_KEY=",
    '{"clientSecret": "0f2e93a7bb0143ef8e5530ea9c2d71f4"}': '{"clientSecret": "',
}
"""Each with what of it stays to be seen."""
NONE = (
    "sk-estimate-of-something-long", "OPENAI_API_KEY=YOUR_KEY_GOES_HERE_01",
    "api_key=xxxxxxxxxxxxxxxxxxxxxx12", "AKIAIOSFODNN7EXAMPLE", "password: str = Field()",
    "token = os.environ['GITHUB_TOKEN']", "token: ${GITHUB_TOKEN_2026_12}", "secret: <token-1234>",
    '"input_tokens": 12345678901', "token_id: 9d1e8f2a7b6c5d4e3f2a",
    "password=process.env.PASSWORD",
    "https://user:password@example.org", "postgres://postgres:postgres@localhost/x",
    "commit 0123456789abcdef0123456789abcdef01234567", "api_key = settings.API_KEY_VALUE",
    "token=550e8400-e29b-41d4-a716-446655440000", "secret_path: /run/secrets/db-12/pass12",
    "password = makePassword12345()", "Bearer authentication-for-everything",
    "https://host:8080/a@b", "secret: my-app-secret-name-v2",
)  # fmt: skip


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_masked_behind_what_tells_its_kind(text: str) -> None:
    masked = mask(text)
    seen = SECRETS[text]
    assert masked.startswith(seen) and len(masked) == len(text)
    assert not any(part in masked for part in (RANDOM[8:16], "hunter2", "S3cr3t", "0f2e93a7"))
    assert masked[len(seen)] in "•["


UPPER = "QWERTYUIOPASDFG2"
HEX = "0f2e93a7bb0143ef8e5530ea9c2d71f4"
LONG = RANDOM + RANDOM[::-1]
SHORTEST = [
    *((prefix, LONG[:size]) for prefix, size in (
        ("sk-ant-", 20), ("sk-svcacct-", 20), ("sk-lf-", 20), ("sk-", 20), ("gho_", 30),
        ("github_pat_", 22), ("dckr_pat_", 20), ("glpat-", 20), ("xoxp-", 10),
        ("https://hooks.slack.com/services/", 30), ("AIza", 35), ("ya29.", 20), ("npm_", 30),
        ("pypi-", 50), ("hf_", 30), ("gsk_", 40), ("xai-", 60), ("rk_live_", 16), ("SG.", 50),
        ("hvs.", 24),
    )),
    ("sk-or-v1-", HEX), ("shpat_", HEX), ("ASIA", UPPER),
]  # fmt: skip


@pytest.mark.parametrize(("prefix", "key"), SHORTEST)
def test_a_key_has_a_least_length_but_where_the_text_ends(prefix: str, key: str) -> None:
    (span,) = find_secrets(f"x {prefix}{key} x")
    assert (span.start, span.end) == (2 + len(prefix), 2 + len(prefix) + len(key))
    assert find_secrets(f"x {prefix}{key[:-1]} x") == []
    assert len(find_secrets(f"x {prefix}{key[:8]}…")) == 1
    assert find_secrets(f"x{prefix}{key} x") == [] or "://" in prefix


ASSIGNED = {
    "secret=aB1aB2aB3cD4eF5g": True,
    "secret=aB1aB2aB3cD4eF5": False,
    "secret=aBcaBdaBecDfeFgh": False,
    "secret=aBcaBdaBecDfeF1h": False,
    "secret=aBcaBdaBecD1eF2h": True,
    "secret=1234123512361237": False,
    "password=hunter2xx": True,
    "password=hunterxxy": False,
    'password="hunt-erxy!"': True,
    "password=hunt-erxy!": False,
    "password=13579024": False,
    'token="aB1aB2aB3cD4eF5g" x': True,
    'token="aB1aB2aB3cD4eF5g(x"': False,
    'token="aB1aB2aB3cD4eF5g;x"': False,
    "token=aB1aB2aB3cD4eF5g;x": True,
    "token=/aB1/aB2aB3cD4eF5g": False,
    "token=c:aB1/aB2aB3cD4eF5g": False,
    "token=a1b2.c3d4.e5f6.g7h8": True,
    "token=ab2.cd3.ef4.ghijklm": False,
    "tokens=aB1aB2aB3cD4eF5g": False,
    "token_limit=aB1aB2aB3cD4eF5g": False,
    "token_a=aB1aB2aB3cD4eF5g": True,
    "token=my_secret_aB1aB2aB3cD": False,
    "api_key: aB1aB2aB3cD4eF5g": True,
    "apiKey == aB1aB2aB3cD4eF5g": False,
    "Bearer aB1aB2aB3cD4eF5g": True,
    "Bearer my-app-name-with-words": False,
    "Bearer my-app-name-with-v2-words": False,
    "Bearer aBcaBdaBecDfeFgh": False,
    "https://me:aB1c@host": True,
    "https://me:aB1@host": False,
    "https://same:same@host": False,
    "https://me:$aB1c@host": False,
    "https://me:a$B1c@host": True,
}


@pytest.mark.parametrize("text", ASSIGNED)
def test_a_value_is_a_secret_by_its_name_and_its_characters(text: str) -> None:
    assert bool(find_secrets(text)) is ASSIGNED[text]


def test_a_mask_says_what_it_is_where_it_is_long_enough() -> None:
    assert mask("xoxb-" + RANDOM[:11]) == "xoxb-" + "•" * 11
    assert mask("xoxb-" + RANDOM[:12]) == "xoxb-[masked]••••"
    varied = RANDOM[:8] + "z" * 3
    assert find_secrets(f"xoxb-{varied}") and not find_secrets("xoxb-" + "ab1" * 4)
    assert find_secrets("xoxb-" + "a7k2m9q4" * 3) and not find_secrets("xoxb-" + "a7k2m9q" * 3)
    assert find_secrets("sk-" + "x" * 3 + RANDOM) and not find_secrets("sk-" + "x" * 4 + RANDOM)
    assert find_secrets("sk-" + RANDOM * 7 + "xxxx") and not find_secrets(
        "sk-" + RANDOM * 6 + "xxxx"
    )


def test_a_private_key_keeps_its_lines() -> None:
    body = f"{RANDOM}\n{RANDOM[::-1]}=="
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    masked = mask(text)
    assert masked.count("\n") == 3 and RANDOM[:8] not in masked and len(masked) == len(text)


@pytest.mark.parametrize("text", NONE)
def test_a_placeholder_or_a_name_is_no_secret(text: str) -> None:
    assert mask(text) is text, find_secrets(text)


def test_what_was_cut_off_is_masked_too() -> None:
    assert mask(f"ghp_{RANDOM[:9]}…") == "ghp_•••••••••…"


PIECES = st.sampled_from([*SECRETS, *NONE, "\n", '"', "\\", " = ", "ein Wort ", "é🙂"]) | st.text(
    max_size=8
)


@given(st.lists(PIECES, max_size=6).map("".join))
def test_masking_twice_is_masking_once_and_json_stays_json(text: str) -> None:
    masked = mask(text)
    assert mask(masked) is masked and len(masked) == len(text)
    for raw in (json.dumps(text), json.dumps(json.dumps({"a": text}))):
        held = json.loads(mask(raw))
        assert len(held) == len(json.loads(raw))
    assert json.loads(json.loads(mask(raw)))


def test_many_texts_are_masked_as_each_alone() -> None:
    texts = [
        "",
        "nothing here",
        *SECRETS,
        "a token, and no secret",
        *(f"say {one}" for one in SECRETS),
    ]
    assert mask_each(texts) == [mask(one) for one in texts] != texts

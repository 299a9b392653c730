"""The examples that come along, installed and loaded as a person would."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.compaction.messages import SourceSpan
from explorer.extensions.manager import (
    ExampleError,
    examples,
    install_example,
)
from explorer.extensions.prompt_parts import (
    RequestPrompt,
)
from explorer.extensions.runner import HookRunner
from explorer.models.events import CancelToken
from tests.extensions.making import before_compact, compacting, load, runner, wait, write

NAMES = ["keep_user_messages", "redact_secrets", "ticket_context"]


def install(folder: Path, name: str) -> HookRunner:
    install_example(name, folder)
    return runner(folder)


def test_every_example_installs_loads_and_says_what_it_does(tmp_path: Path) -> None:
    found = examples()
    assert [example.name for example in found] == NAMES
    assert all(example.about.endswith(".") for example in found)
    for name in NAMES:
        file = install_example(name, tmp_path / "extensions")
        assert file == tmp_path / "extensions" / f"{name}.py"
    hooks = runner(tmp_path / "extensions")
    assert [e.name for e in hooks._extensions] == NAMES


def test_what_a_person_changed_is_not_overwritten(tmp_path: Path) -> None:
    file = install_example("ticket_context", tmp_path)
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(ExampleError, match="is there already"):
        install_example("ticket_context", tmp_path)
    assert file.read_text(encoding="utf-8") == "mine"
    with pytest.raises(ExampleError, match="there is no example"):
        install_example("../evil", tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="utf-8")
    with pytest.raises(ExampleError):
        install_example("ticket_context", blocked / "folder")


def test_keep_user_messages_summarizes_without_a_model(tmp_path: Path) -> None:
    hooks = install(tmp_path, "keep_user_messages")
    found = before_compact(hooks)
    assert found.compaction is not None, found.records
    text = found.compaction.summary
    assert "What was before." in text
    newest, oldest = text.index("> Question 3"), text.rfind("> Question")
    assert newest <= oldest and "Answer" not in text
    assert found.compaction.details["madeBy"] == "keep_user_messages"


def test_keep_user_messages_stays_inside_its_budget(tmp_path: Path) -> None:
    write(tmp_path, "keep_user_messages.json", '{"budget_tokens": 40}')
    found = before_compact(install(tmp_path, "keep_user_messages"))
    assert found.compaction is not None
    assert "earlier messages left out)" in found.compaction.summary
    assert found.compaction.summary.count("> Question") == 1


SECRETS = {
    "sk-proj-abcdefghij0123456789ABCD": "api key",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "github token",
    "AKIAIOSFODNN7EXAMPLE": "aws key",
    "xoxb-123456789012-abcdef": "slack token",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl": "signed token",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----": "private key",
    "-----BEGIN PRIVATE KEY-----\nMIIEow\ncut off": "private key",
}
NAMED = {
    "DB_PASSWORD=hunter2hunter2": "hunter2hunter2",
    '"api_key": "0123456789abcdef"': "0123456789abcdef",
    '{\\"clientSecret\\":\\"s3cr3ts3cr3t\\"}': "s3cr3ts3cr3t",
    "Authorization: Bearer abc.def-ghi_jkl012": "abc.def-ghi_jkl012",
    "postgres://shop:pa55word@db:5432/shop": "pa55word",
    "ACME-000011112222": "ACME-000011112222",
}
HARMLESS = [
    "max_tokens: 409600",
    "The token is read from the environment.",
    "password: null",
    "see src/secrets/README.md",
    "commit 3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b",
]


@pytest.fixture
def redactor(tmp_path: Path) -> HookRunner:
    write(tmp_path, "redact_secrets.json", '{"patterns": ["ACME-[0-9]{12}"]}')
    return install(tmp_path, "redact_secrets")


def send(hooks: HookRunner, *texts: str) -> RequestPrompt:
    """The prompt that would be sent of one with these texts, each from an entry of its own."""
    whole, spans, at = "", [], 0
    for entry, text in enumerate(texts):
        spans.append(SourceSpan(at, at + len(text), entry))
        whole += text + "\n\n"
        at = len(whole)
    ids = [f"e{at}" for at in range(len(texts))]
    prompt = RequestPrompt(whole, spans)
    found = wait(hooks.request("history", "System.", prompt, ids, "m", CancelToken()))
    assert found.blocked_by == ""
    return RequestPrompt(found.prompt, found.sources)


def test_redact_secrets_takes_them_out_and_keeps_the_sources(redactor: HookRunner) -> None:
    texts = [f"before {secret} after" for secret in (*SECRETS, *NAMED)]
    sent = send(redactor, *texts, "the last one")
    for secret in (*SECRETS, *NAMED.values()):
        assert secret not in sent.text
    assert "MIIEow" not in sent.text
    for kind in SECRETS.values():
        assert f"[redacted {kind}]" in sent.text
    assert [span.entry for span in sent.spans] == list(range(len(texts) + 1))
    last = sent.spans[-1]
    assert sent.text[last.start : last.end] == "the last one"
    assert "DB_PASSWORD=[redacted value]" in sent.text


@pytest.mark.parametrize("text", HARMLESS)
def test_redact_secrets_leaves_the_rest(redactor: HookRunner, text: str) -> None:
    assert send(redactor, text).text == text + "\n\n"


def test_redact_secrets_looks_at_summaries_too(redactor: HookRunner) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    found = wait(redactor.summary("compaction", f"Use {secret}.", False, CancelToken()))
    assert found.summary == "Use [redacted aws key]."
    again = wait(redactor.summary("compaction", found.summary, False, CancelToken()))
    assert again.summary == found.summary and again.records[0].did == "nothing"


@pytest.mark.parametrize("text", ["a" * 300_000, "eyJ" * 60_000, "A1+/" * 50_000, "://a:" * 40_000])
def test_redact_secrets_is_not_held_up_by_long_lines(redactor: HookRunner, text: str) -> None:
    """Bounded repetitions: what would take for ever ends at the handler's limit, and is held."""
    assert len(send(redactor, text).text) > 0


def test_redact_secrets_with_a_wrong_pattern_is_not_loaded(tmp_path: Path) -> None:
    write(tmp_path, "redact_secrets.json", '{"patterns": ["("]}')
    install_example("redact_secrets", tmp_path)
    (found,) = load(tmp_path)
    assert found.problem is not None and found.problem.line > 0
    assert found.problem.file.endswith("redact_secrets.py") and not found.active


@pytest.mark.parametrize(
    ("setting", "branch", "cwd", "number"),
    [
        ('{"ticket": "OPS-7"}', "fix/SHOP-142-retry", "shop", "OPS-7"),
        ("{}", "fix/SHOP-142-retry", "shop", "SHOP-142"),
        ("{}", "main", "SHOP-9-work", "SHOP-9"),
        ("{}", "", "ABC-1", "ABC-1"),
        ("{}", "main", "shop", ""),
    ],
)
@pytest.mark.parametrize("worktree", [False, True])
def test_ticket_context_adds_the_number(
    tmp_path: Path, setting: str, branch: str, cwd: str, number: str, worktree: bool
) -> None:
    folder = tmp_path / cwd
    (folder / "src").mkdir(parents=True)
    git = tmp_path / "data" if worktree else folder / ".git"
    if branch:
        git.mkdir()
        (git / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")
        if worktree:
            (folder / ".git").write_text(f"gitdir: {git}\n", encoding="utf-8")
    write(tmp_path / "own", "ticket_context.json", setting)
    hooks = install(tmp_path / "own", "ticket_context")
    hooks._cwd = str(folder / "src")
    found = compacting(hooks)
    if not number:
        assert found.context == () and found.records[0].did == "nothing"
        return
    assert f"ticket {number}" in found.context[0]
    assert found.preserve_data == {"ticket": number}

"""What leaves a session: masked, and of an imported one only with consent (Trust)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from explorer.compaction.preparation import Preparation
from explorer.models.client import CancelToken
from explorer.services.document import Document
from explorer.services.draft_records import DraftFailed, SummaryOrder
from explorer.services.privacy import Privacy, Sending
from explorer.session.entries import TextBlock, UserMessage
from explorer.workbench import Workbench
from tests.commands.processes import called
from tests.extensions.making import EXPLORER, SETTINGS
from tests.formats.files import header, reply, user, write

KEY = "ghp_qB7dZ5fG2hJ9kL1mN8pQ4rS6tU3vW0xY5zA7"
MASKED = "ghp_[masked]•"
FAR = "https://models.example/v1"
MODEL = "openai/gpt-4o-mini"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of another program with a secret in each turn."""
    lines = [header()]
    for at in range(10):
        lines.append(user(f"u{at}", f"a{at - 1}" if at else None, f"Deploy with {KEY}"))
        lines.append(reply(f"a{at}", f"u{at}", {"type": "text", "text": "word " * 300}))
    return write(tmp_path / "imported.jsonl", lines)


@pytest.fixture
def imported(bench: Workbench, path: Path) -> Document:
    return bench.open_blocking(bench.import_blocking(path).key)


def order() -> SummaryOrder:
    return SummaryOrder("", MODEL, lambda _purpose, _text: None, CancelToken())


def test_requests_and_what_is_shown_are_masked_at_their_size(imported: Document) -> None:
    def prompt() -> str:
        shown = imported.compaction.preview(None, EXPLORER, SETTINGS)
        assert isinstance(shown.preparation, Preparation)
        return imported.compaction.requests(shown)[0].prompt

    masked = prompt()
    assert KEY not in masked and MASKED in masked
    assert (
        MASKED in imported.payloads.shown.entry(0).text
        and MASKED in imported.payloads.shown.previews([0])[0]
    )
    assert MASKED in imported.title
    imported.shared.privacy.mask_sent = False
    assert KEY in prompt() and len(prompt()) == len(masked)
    assert KEY not in imported.payloads.shown.entry(0).text


def test_the_agent_reads_what_was_said_here_as_it_was(imported: Document) -> None:
    body = UserMessage((TextBlock(f"Now with {KEY}"),))
    asyncio.run(imported.writer.append(body, imported.leaf))
    sent = [message.text for message in imported.agent.messages()]
    assert MASKED in sent[0] and sent[-1] == f"Now with {KEY}"


def test_a_session_of_this_program_is_sent_to_its_agent_as_it_is(bench: Workbench) -> None:
    document = asyncio.run(bench.create("/home/me"))
    asyncio.run(document.writer.append(UserMessage((TextBlock(KEY),)), document.leaf))
    fork = asyncio.run(bench.fork(document.key, document.leaf))
    for one in (document, bench.open_blocking(fork.key)):
        assert [message.text for message in one.agent.messages()] == [KEY]


def test_nothing_of_an_imported_session_leaves_without_consent(
    bench: Workbench, imported: Document
) -> None:
    bench.client.use_api_base(FAR)
    asked: list[Sending] = []

    async def refuse(sending: Sending) -> bool:
        asked.append(sending)
        return False

    def summarize(document: Document) -> str:
        shown = document.compaction.preview(None, EXPLORER, SETTINGS)
        with pytest.raises(DraftFailed) as failed:
            asyncio.run(document.compaction.summarize(shown, order()))
        return str(failed.value)

    assert "Nothing was sent" in summarize(imported)
    bench.privacy.ask = refuse
    assert "Nothing was sent" in summarize(imported)
    one = asked[0]
    assert (one.host, one.model, one.is_masked) == ("models.example", MODEL, True)
    assert "entries to be summarized" in one.what and one.tokens > 500
    fork = asyncio.run(bench.fork(imported.key, imported.leaf))
    before = len(asked)
    assert "Nothing was sent" in summarize(bench.open_blocking(fork.key))
    assert len(asked) > before


@pytest.mark.parametrize(
    ("address", "is_here"),
    [("http://localhost:11434", True), ("http://127.0.0.1:1/v1", True), ("http://[::1]:1", True),
     (FAR, False), ("http://192.168.1.4:11434", False)],
)  # fmt: skip
def test_only_this_computer_needs_no_consent(bench: Workbench, address: str, is_here: bool) -> None:
    bench.client.use_api_base(address)
    assert bench.client.destination(MODEL).is_here is is_here
    assert bench.client.destination("offline/extractive").is_here


def test_exports_are_masked_and_copies_are_not(
    bench: Workbench, imported: Document, path: Path, tmp_path: Path
) -> None:
    for form in ("markdown", "html", "pi-v3"):
        file = tmp_path / form
        report = asyncio.run(bench.export(imported.key, file, form))  # type: ignore[arg-type]
        assert KEY not in file.read_text("utf-8") and MASKED in file.read_text("utf-8")
        assert report.masked == 10
    report = asyncio.run(bench.export(imported.key, tmp_path / "copy"))
    assert KEY in (tmp_path / "copy").read_text("utf-8") and report.masked is None


def test_commands_say_what_would_leave_and_show_secrets_when_told(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.md"
    assert "Secrets in 10 entries are masked." in called("export", str(path), str(output))[1]
    assert KEY not in output.read_text("utf-8")
    assert called("export", str(path), str(output), "--show-secrets")[0] == 0
    assert KEY in output.read_text("utf-8")
    monkeypatch.setenv("OPENAI_BASE_URL", FAR)
    sizes = ("--window", "10000", "--reserve", "1000", "--keep-recent", "60")
    status, _, error = called("compact", str(path), "--model", MODEL, *sizes)
    assert status == 1 and "models.example" in error and "--send" in error


@pytest.mark.parametrize(
    ("what", "pictures", "sentence"),
    [
        ("12 entries", 0, "12 entries of the imported session “A” (about 1,200 tokens, "
         "4,800 characters) would go to p/m at example.org."),
        ("", 1_000, "Text of the imported session “A” (about 1,200 tokens, 4,800 characters and "
         "1,000 pictures) would go to p/m at example.org."),
    ],
)  # fmt: skip
def test_what_would_leave_is_said_in_a_sentence(what: str, pictures: int, sentence: str) -> None:
    sending = Sending("A", what, 1_200, 4_800, pictures, "p/m", "example.org", True)
    assert sending.sentence == sentence


@pytest.mark.parametrize("off", ["maskShown", "maskSent", "maskExports"])
def test_each_setting_masks_its_own(off: str) -> None:
    privacy = Privacy()
    privacy.follow(lambda name: False if name == f"privacy.{off}" else None)
    read = {"maskShown": privacy.shown, "maskSent": privacy.sent, "maskExports": privacy.exported}
    text = f"key {KEY}"
    assert {name: one(text) == text for name, one in read.items()} == {
        name: name == off for name in read
    }
    privacy.follow(lambda name: True)
    assert privacy.shown(text) != text

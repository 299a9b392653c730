"""Extensions where the conversation itself is the request for a summary."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from explorer.compaction.profile import PROFILES
from explorer.extensions.manager import (
    install_example,
)
from explorer.models.client import (
    CancelToken,
    ChatMessage,
    ImagePart,
    ModelRequest,
    TextPart,
    ToolCall,
)
from explorer.models.request import ThinkingPart
from explorer.services.auto_compaction.prompt_gate import PromptGate
from explorer.services.document import Document
from explorer.services.draft_records import DraftFailed
from explorer.services.effective_rules import EffectiveRules
from explorer.services.extension_review import (
    CancelledByExtension,
    request_texts,
    with_request_texts,
)
from tests.extensions.making import conversation, wait
from tests.models.server import Answer, ChatServer
from tests.services.extension_place import (
    BEFORE,
    MODEL,
    SECRET,
    Place,
    recorded,
    state,
)


def by_conversation(document: Document) -> int:
    """Compact as the Copilot profile does: the conversation itself is what is sent."""
    rules = EffectiveRules.of(PROFILES["copilot"], MODEL)
    keeper = PromptGate(document, lambda: rules, Random(3))
    return wait(keeper.compact(MODEL, "", CancelToken()))


TAGGED = "<summary>\n1. Conversation Overview: the ports.\n</summary>"


def test_a52_secrets_leave_no_conversation_either(
    online: Place, server: ChatServer, tmp_path: Path
) -> None:
    install_example("redact_secrets", online.own)
    server.plan(Answer(text=TAGGED.replace("ports", f"key {SECRET}")))
    document = online.document(conversation(tmp_path, secret=SECRET))
    index = by_conversation(document)
    sent = json.dumps(server.requests)
    assert server.requests and SECRET not in sent and "[redacted aws key]" in sent
    assert SECRET not in document.payloads.shown.entry(index).recorded["summary"]
    assert {r.event for r in recorded(document)[1]} == {"session_request", "session_summary"}


def test_a38_a52_a_conversation_is_not_sent_where_an_extension_cancels(
    online: Place, server: ChatServer, chain: Path
) -> None:
    online.handle(BEFORE, "event.cancel('Not now')")
    document = online.document(chain)
    before = state(document)
    with pytest.raises(CancelledByExtension, match="Not now"):
        by_conversation(document)
    assert server.requests == [] and state(document) == before
    assert [r.did for r in recorded(document)[1]] == ["cancelled"]


def test_a38_a52_a_supplied_summary_takes_the_place_of_the_conversations(
    online: Place, server: ChatServer, chain: Path
) -> None:
    online.handle(BEFORE, "return {'compaction': {'summary': 'Mine.', 'details': {'x': 1}}}")
    told = "return {'summary': f'{event.summary} Supplied: {event.from_extension}.'}"
    online.handle("session_summary", told, "tells")
    document = online.document(chain)
    entry = document.payloads.shown.entry(by_conversation(document)).recorded
    assert server.requests == []
    assert entry["summary"].startswith("Mine.") and entry["fromHook"] is True
    assert entry["summary"].endswith("Supplied: True.")
    assert entry["details"] == {"x": 1}


def test_a52_what_fails_never_stops_a_conversation(
    online: Place, server: ChatServer, chain: Path
) -> None:
    server.plan(Answer(text=TAGGED))
    for event in (BEFORE, "session_request", "session_summary", "session_compact"):
        online.handle(event, "raise ValueError('no')", f"raises_{event}")
    document = online.document(chain)
    assert by_conversation(document) == document.leaf and len(server.requests) == 1
    assert {r.did for r in recorded(document)[1]} == {"error"}


def test_a_conversation_changed_as_a_whole_is_not_sent(
    online: Place, server: ChatServer, chain: Path
) -> None:
    online.handle("session_request", "return {'prompt': 'something else'}")
    with pytest.raises(DraftFailed, match="changed part by part"):
        by_conversation(online.document(chain))
    assert server.requests == []


def test_every_text_of_a_conversation_is_a_part() -> None:
    call = ToolCall("c", "bash", {"command": f"export KEY={SECRET}", "n": 1})
    request = ModelRequest(
        MODEL,
        (
            ChatMessage("system", f"sys {SECRET}"),
            ChatMessage("user", (TextPart(f"u {SECRET}"), ImagePart("image/png", "AAAA"))),
            ChatMessage("assistant", "a", (call,), thinking=ThinkingPart(f"t {SECRET}", "sig")),
            ChatMessage("assistant", "b", thinking=ThinkingPart("harmless", "sig")),
            ChatMessage("tool", f"r {SECRET}", tool_call_id="c"),
        ),
    )
    texts = request_texts(request)
    assert sum(SECRET in text for text in texts) == 5
    assert with_request_texts(request, texts) == request
    changed = with_request_texts(request, [text.replace(SECRET, "***") for text in texts])
    assert SECRET not in json.dumps(changed.to_json())
    assert changed.messages[2].tool_calls[0].arguments == {"command": "export KEY=***", "n": 1}
    assert changed.messages[2].thinking is None and changed.messages[3] == request.messages[3]
    assert changed.messages[1].content == (TextPart("u ***"), ImagePart("image/png", "AAAA"))
    broken = with_request_texts(request, ["{" if text.startswith("{") else text for text in texts])
    assert broken.messages[2].tool_calls[0].arguments == {"arguments": "{"}
    with pytest.raises(ValueError, match="another number"):
        with_request_texts(request, texts[1:])

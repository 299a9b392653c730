"""Chains of handlers: who is asked, whose word counts, and what hostile ones can do (B15)."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.compaction.messages import SourceSpan
from explorer.extensions.answers import BeforeCompact, HookRecord, records_of
from explorer.extensions.events import BeforeCompactEvent
from explorer.extensions.extension_folder import Extension
from explorer.extensions.hooks import Hooks
from explorer.extensions.prompt_parts import RequestPrompt, joined, parts_of, relocated
from explorer.extensions.runner import HookRunner
from explorer.models.events import Cancelled, CancelToken
from tests.extensions.making import (
    before_compact,
    compacting,
    handler,
    runner,
    view,
    wait,
    write,
)

BEFORE = "session_before_compact"
DEEDS = ("nothing", "cancel", "result", "empty result", "raise", "wrong type", "ask nothing")


def doing(deed: str, number: int) -> Any:
    """A handler that does one of ``DEEDS``."""

    def handle(event: BeforeCompactEvent) -> Any:
        if deed == "cancel":
            event.cancel(f"by {number}")
        elif deed == "result":
            return {"compaction": {"summary": f"Summary {number}"}}
        elif deed == "empty result":
            return {"compaction": None, "cancel": False}
        elif deed == "raise":
            raise ValueError(f"wrong {number}")
        elif deed == "wrong type":
            return [number]
        return {} if deed == "ask nothing" else None

    return handle


def no_threads() -> None:
    """Wait until no handler is at work any more."""
    end = time.monotonic() + 20
    while any(t.name.startswith("extension-") for t in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)


def made(name: str, *handlers: Any, event: str = BEFORE, **more: Any) -> Extension:
    hooks = Hooks(name, Path("/nowhere"))
    for one in handlers:
        hooks.on(event, one, **more)
    return Extension(name, Path(f"/nowhere/{name}.py"), "user", hooks=hooks, active=True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.sampled_from(DEEDS), min_size=1, max_size=3), max_size=5))
def test_b15_first_cancel_ends_the_chain_last_result_counts(chains: list[list[str]]) -> None:
    """Whatever handlers do, in whatever order and however they are spread over extensions."""
    flat = [(at, deed) for at, deeds in enumerate(chains) for deed in deeds]
    extensions = [
        made(f"x{at}", *(doing(deed, at) for deed in deeds)) for at, deeds in enumerate(chains)
    ]
    found = before_compact(HookRunner(extensions))
    cancels = [number for number, (_at, deed) in enumerate(flat) if deed == "cancel"]
    asked = flat[: cancels[0] + 1] if cancels else flat
    assert [record.extension for record in found.records] == [f"x{at}" for at, _ in asked]
    if cancels:
        who = flat[cancels[0]][0]
        assert (found.cancelled_by, found.reason) == (f"x{who}", f"by {who}")
        assert found.compaction is None
        return
    results = [at for at, deed in flat if deed == "result"]
    assert found.cancelled_by == ""
    assert (found.compaction.by if found.compaction else None) == (
        f"x{results[-1]}" if results else None
    )
    used = [record for record in found.records if record.did == "result" and record.used]
    assert len(used) == (1 if results else 0)
    failures = [record.failed for record in found.records]
    assert failures == [deed in ("raise", "wrong type") for _at, deed in flat]


def test_b15_an_exception_is_told_with_extension_file_and_line(tmp_path: Path) -> None:
    file = write(tmp_path, "broken", handler(BEFORE, "x = {}\nreturn x['nothing']"))
    write(tmp_path, "works", handler(BEFORE, "return {'compaction': {'summary': 'S'}}"))
    found = before_compact(runner(tmp_path))
    first, second = found.records
    assert (first.extension, first.did) == ("broken", "error")
    assert (first.file, first.line, first.detail) == (str(file), 8, "KeyError: 'nothing'")
    assert str(file) in first.sentence and "line 8" in first.sentence
    assert second.did == "result" and found.compaction is not None


def test_b15_lines_inside_a_package_are_told(tmp_path: Path) -> None:
    write(tmp_path, "whole/__init__.py", "from .inner import handle\n\n\n"
          f"def activate(hooks):\n    hooks.on('{BEFORE}', handle)\n")  # fmt: skip
    inner = write(tmp_path, "whole/inner.py", "import json\n\n\ndef handle(event):\n"
                  "    return json.loads('{')\n")  # fmt: skip
    record = before_compact(runner(tmp_path)).records[0]
    assert (record.file, record.line) == (str(inner), 5)
    assert record.detail.startswith("JSONDecodeError")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit(3)", "SystemExit: it tried to end the program"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise asyncio.CancelledError", "CancelledError"),
        ("class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd", "Odd"),
        ("return 42", "an answer must be a result, a dict or None, not int"),
        ("return {'compaction': 3}", "compaction must be a result, a dict or None, not int"),
        ("return {'compaction': {'summary': 3}}", "summary must be a text, not int"),
        ("return {'compaction': {'details': {}}}", "compaction has no summary"),
        ("return {'cancel': 'yes'}", "cancel must be True or False, not str"),
        ("event.set_result({'summary': 'x', 'details': object()})", "cannot be stored as JSON"),
        ("x = []\nx.append(x)\nreturn {'compaction': {'summary': 's', 'details': x}}",
         "cannot be stored as JSON"),
        ("return {'compaction': {'summary': 'x' * 5_000_000}}", "at most 4,000,000 are taken"),
        ("return {'compaction': {'summary': 's', 'details': 'x' * 2_000_000}}",
         "at most 1,000,000 are kept"),
        ("return {'compaction': {'summary': 's', 'tokensBefore': True}}", "a whole number"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("head", ["def", "async def"])
def test_b15_hostile_answers_are_told_and_passed_over(
    tmp_path: Path, body: str, told: str, head: str
) -> None:
    write(tmp_path, "hostile", handler(BEFORE, body, head))
    found = before_compact(runner(tmp_path))
    assert (found.compaction, found.cancelled_by) == (None, "")
    assert found.records[0].did == "error"
    assert told in found.records[0].detail


@pytest.mark.parametrize("head", ["def", "async def"])
def test_a_name_that_means_nothing_is_told(tmp_path: Path, head: str) -> None:
    write(tmp_path, "typo", handler(BEFORE, "return {'sumary': 'x'}", head))
    record = before_compact(runner(tmp_path)).records[0]
    assert record.did == "nothing" and "sumary" in record.detail


def test_a_hanging_handler_is_left_behind_and_its_late_answer_ignored(tmp_path: Path) -> None:
    body = """
    event.signal.wait(20)
    ctx.log("told", event.signal.cancelled)
    return {"cancel": True}
    """
    write(tmp_path, "slow", handler(BEFORE, body))
    write(tmp_path, "next", handler(BEFORE, "return {'compaction': {'summary': 'S'}}"))
    hooks = runner(tmp_path, limit_s=0.05)
    # The fast one shares the limit: on a busy machine it may be late as well, so it is asked alone.
    records: list[HookRecord] = []

    async def story() -> BeforeCompact:
        found = await hooks.before_compact(view, "", CancelToken())
        call = hooks._extensions[1].left_behind[0]
        call._thread.join(10)
        await asyncio.sleep(0)
        return found

    found = wait(story())
    records = list(found.records)
    slow = next(record for record in records if record.extension == "slow")
    assert (slow.did, slow.detail) == ("timed out", "after 0.05 s")
    assert found.cancelled_by == ""
    assert hooks._extensions[1].log == ["told True"]


def test_an_async_handler_is_cancelled_at_its_limit(tmp_path: Path) -> None:
    body = """
    try:
        await asyncio.sleep(60)
    finally:
        ctx.log("cancelled")
    """
    write(tmp_path, "slow", handler(BEFORE, body, "async def"))
    hooks = runner(tmp_path, limit_s=0.05)
    assert before_compact(hooks).records[0].did == "timed out"
    hooks._extensions[0].left_behind[0]._thread.join(10)
    assert hooks._extensions[0].log == ["cancelled"]


def test_a_handler_that_still_hangs_is_not_asked_again(tmp_path: Path) -> None:
    """Or every compaction would leave another thread behind."""
    body = "while not ctx.settings.get('go'): time.sleep(0.01)"
    write(tmp_path, "slow", handler(BEFORE, body))
    hooks = runner(tmp_path, limit_s=0.05)
    assert before_compact(hooks).records[0].did == "timed out"
    again = before_compact(hooks).records[0]
    assert again.did == "error" and "an earlier call has not come back" in again.detail
    slow = hooks._extensions[0]
    assert slow.hooks is not None
    slow.hooks.settings["go"] = True  # type: ignore[index]
    slow.left_behind[0]._thread.join(10)
    assert before_compact(hooks).records[0].did == "nothing"


def test_the_signal_is_cancelled_with_the_compaction(tmp_path: Path) -> None:
    """A43: whoever cancels does not wait for a handler."""
    body = "ctx.log('began')\nctx.log('told', event.signal.wait(20))"
    write(tmp_path, "slow", handler(BEFORE, body))
    hooks, cancel = runner(tmp_path), CancelToken()

    async def story() -> None:
        asked = asyncio.ensure_future(hooks.before_compact(view, "", cancel))
        while not hooks._extensions[0].log:
            await asyncio.sleep(0.005)
        cancel.cancel()
        with pytest.raises(Cancelled):
            await asked
        hooks._extensions[0].left_behind[0]._thread.join(10)

    wait(story())
    assert hooks._extensions[0].log == ["began", "told True"]
    with pytest.raises(Cancelled):
        wait(hooks.before_compact(view, "", cancel))


def test_a_blocking_async_handler_does_not_hold_the_window_up(tmp_path: Path) -> None:
    write(tmp_path, "blocks", handler(BEFORE, "time.sleep(0.4)", "async def"))
    hooks, turns = runner(tmp_path), 0

    async def story() -> None:
        nonlocal turns
        asked = asyncio.ensure_future(hooks.before_compact(view, "", CancelToken()))
        while not asked.done():
            turns += 1
            await asyncio.sleep(0.005)

    wait(story())
    assert turns > 5


def test_changing_the_preparation_changes_nothing(tmp_path: Path) -> None:
    body = """
    p = event.preparation
    p.messages_to_summarize.clear()
    p.file_ops["read"] = ["evil"]
    p.settings["reserve_tokens"] = -1
    p.first_kept_entry_id = "evil"
    """
    write(tmp_path, "a", handler(BEFORE, body))
    look = """
    p = event.preparation
    first = p.messages_to_summarize[0]
    ctx.log(len(p.messages_to_summarize) > 0, p.file_ops["read"], p.settings["reserve_tokens"])
    ctx.log(p.first_kept_entry_id != "evil")
    first["content"] = "evil"
    """
    write(tmp_path, "b", handler(BEFORE, look))
    hooks = runner(tmp_path)
    before_compact(hooks)
    again = before_compact(hooks)
    assert [r.did for r in again.records] == ["nothing", "nothing"]
    assert hooks._extensions[1].log == ["True [] 1000", "True"] * 2


def test_threads_and_tasks_that_a_handler_leaves_do_no_harm(tmp_path: Path) -> None:
    body = """
    async def later():
        await asyncio.sleep(60)
    asyncio.ensure_future(later())
    async def leaves():
        sys.exit(1)
    asyncio.ensure_future(leaves())
    threading.Thread(target=lambda: time.sleep(0.05)).start()
    await asyncio.sleep(0)
    return {"compaction": {"summary": "S"}}
    """
    write(tmp_path, "messy", handler(BEFORE, body, "async def"))
    hooks = runner(tmp_path)
    record = before_compact(hooks).records[0]
    # The program lives on, whichever of the two was first.
    assert record.did in ("result", "error")
    no_threads()


def test_print_goes_to_the_log_and_not_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "talks", "print('loading')\n" + handler(BEFORE, "print('a', 1, sep='-')"))
    hooks = runner(tmp_path)
    before_compact(hooks)
    assert hooks._extensions[0].log == ["loading", "a-1"]
    assert capsys.readouterr().out == ""


def test_a_required_handler_that_fails_holds_the_request_back() -> None:
    def fails(event: object) -> None:
        raise RuntimeError("no patterns")

    prompt = RequestPrompt("text", [SourceSpan(0, 4, 0)])
    for required in (True, False):
        hooks = HookRunner([made("safe", fails, event="session_request", required=required)])
        found = wait(hooks.request("history", "s", prompt, ["a"], "m", CancelToken()))
        assert found.blocked_by == ("safe" if required else "")
        assert found.records[0].did == "error"


def test_wrong_parts_are_told_and_change_nothing() -> None:
    hooks = HookRunner([made("odd", lambda event: {"parts": ["one"]}, event="session_request")])
    prompt = RequestPrompt("a text", [SourceSpan(2, 6, 0)])
    found = wait(hooks.request("history", "s", prompt, ["a"], "m", CancelToken()))
    assert (found.prompt, found.sources) == ("a text", prompt.spans)
    assert found.records[0].detail == "parts must be 2 texts, not 1"


def test_what_was_unloaded_meanwhile_is_not_asked(tmp_path: Path) -> None:
    one, two = made("one", doing("nothing", 1)), made("two", doing("cancel", 2))
    hooks = HookRunner([one, two])
    handlers = hooks._handlers(BEFORE)
    assert len(handlers) == 2
    two.active = False
    assert before_compact(hooks).cancelled_by == ""


def test_compacting_survives_every_hostile_answer(tmp_path: Path) -> None:
    for name, body in (("a", "return {'context': 5}"), ("b", "return {'context': ['ok', '']}"),
                       ("c", "return {'preserve_data': [1]}")):  # fmt: skip
        write(tmp_path, name, handler("session.compacting", body))
    found = compacting(runner(tmp_path))
    assert found.context == ("ok",)
    assert [record.did for record in found.records] == ["error", "context", "error"]


def test_no_thread_is_left_by_handlers_that_answer() -> None:
    hooks = HookRunner([made("x", *(doing("nothing", at) for at in range(5)))])
    before_compact(hooks)
    no_threads()


@given(st.lists(st.tuples(st.text(max_size=8), st.integers(-1, 3)), max_size=8))
def test_parts_join_to_the_prompt_again(pieces: list[tuple[str, int]]) -> None:
    prompt = joined([text for text, _ in pieces], [entry for _, entry in pieces])
    parts, entries = parts_of(prompt, ["a", "b", "c", "d"])
    again = joined([part.text for part in parts], entries)
    assert again.text == prompt.text == "".join(text for text, _ in pieces)
    assert [again.text[s.start : s.end] for s in again.spans] == [
        prompt.text[s.start : s.end] for s in prompt.spans
    ]


words = st.text(alphabet="ab ", min_size=1, max_size=40)


@given(st.lists(words, min_size=1, max_size=6), st.integers(0, 5), words, st.booleans())
def test_a_changed_stretch_never_takes_anothers_place(
    texts: list[str], at: int, new: str, longer: bool
) -> None:
    """Sources are ascending, inside the text and do not overlap; those that say that they are
    unchanged are."""
    separated = [piece for text in texts for piece in (text, "\n\n")]
    entries = [n // 2 if n % 2 == 0 else -1 for n in range(len(separated))]
    before = joined(separated, entries)
    changed = list(separated)
    changed[2 * (at % len(texts))] = new * (3 if longer else 1)
    found = relocated(before, "".join(changed))
    last = 0
    for span in found.spans:
        assert last <= span.start < span.end <= len(found.text)
        last = span.end
    for span in found.spans:
        if span.entry != at % len(texts):
            told, was = found.text[span.start : span.end], texts[span.entry]
            assert told == was or told in "".join(changed)


def test_records_are_kept_with_a_draft_and_read_again() -> None:
    record = HookRecord("x", BEFORE, "error", 1.26, "ValueError", "/x.py", 3)
    kept = {"extensions": [record.to_json(), {"did": "dance"}, 7]}
    (again,) = records_of(kept)
    assert again.sentence == record.sentence == "failed: ValueError: /x.py, line 3"
    assert records_of({"extensions": None}) == records_of(None) == []

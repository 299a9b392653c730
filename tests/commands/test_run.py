"""``run`` and ``new``: the agent without a window, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.settings import paths
from explorer.store import Store
from tests.commands.processes import KEY, called, document, ran, start, until
from tests.models.raw_server import RawServer, endless, events, said
from tests.models.sandboxes import make
from tests.models.server import RATE_LIMIT, Answer, ChatServer, HttpFailure, Stall, calls
from tests.models.summaries import GOOD
from tests.session.hidden import FORBIDDEN

MODEL = ("--model", "openai/test-model")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "project", {"notes.txt": "alpha\nbeta\n"})


def messages(session: object) -> list[dict[str, Any]]:
    """The messages of a stored session as they are recorded, in order."""
    with Store.open(paths.database_path()) as store:
        loaded = store.load(int(str(session)))
        entries = [json.loads(loaded.payloads.raw(at)) for at in range(len(loaded.tree))]
    return [entry["message"] for entry in entries if entry["type"] == "message"]


def roles(session: object) -> list[str]:
    return [str(message["role"]) for message in messages(session)]


def test_text_goes_to_the_output_and_all_else_to_the_errors(project: Path) -> None:
    words = "create hello.txt with `hi`, then read hello.txt"
    status, out, err = ran("run", words, "--workspace", str(project), "--yes")
    assert status == 0
    assert out.startswith("Writing hello.txt.\nReading hello.txt.\n")
    assert "hello.txt is written" in out and out.endswith("\n")
    assert err.splitlines() == ["write hello.txt", "read hello.txt", "session 1"]
    assert (project / "hello.txt").read_text() == "hi\n"
    assert roles(1) == ["user", *["assistant", "toolResult"] * 2, "assistant"]


def test_one_document_tells_of_the_run_and_the_session_goes_on(project: Path) -> None:
    first = document("run", "create a.txt with `one`", "--workspace", str(project), "--yes")
    assert (first["end"], first["error"], first["rounds"]) == ("done", "", 2)
    assert first["tools"] == [
        {"tool": "write", "arguments": {"path": "a.txt", "content": "one\n"}, "failed": False}
    ]
    assert first["workspace"] == str(project.resolve())
    tree = document("tree", str(first["session"]))
    assert tree["leaf"] == first["leaf"] == first["entries"][-1]
    second = document("run", "read a.txt", "--session", str(first["session"]), "--read-only")
    assert second["session"] == first["session"]
    assert second["workspace"] == first["workspace"], "a session goes on in its own folder"
    assert "one" in second["text"]


def test_events_are_lines_as_they_come(project: Path) -> None:
    status, out, _ = called(
        "run", "-", "--workspace", str(project), "--read-only", "--events", given="read notes.txt\n"
    )
    lines = [json.loads(line) for line in out.splitlines()]
    names = [line["event"] for line in lines]
    assert status == 0
    assert names[0] == "round" or "round" in names
    for name in ("thinking", "text", "tool_call", "tool_started", "tool_ended", "stored", "usage"):
        assert name in names, name
    assert names[-1] == "end" and lines[-1]["end"] == "done"
    assert next(line for line in lines if line["event"] == "tool_ended")["text"].startswith("alpha")


def test_nothing_is_changed_where_nobody_can_be_asked(project: Path) -> None:
    words = ("run", "replace `alpha` by `omega` in notes.txt", "--workspace", str(project))
    status, out, err = called(*words)
    assert status == 0
    assert "did not allow it" in out
    assert "Change notes.txt: refused, since nobody can be asked here; run again with --yes" in err
    assert (project / "notes.txt").read_text() == "alpha\nbeta\n"
    status, out, err = called(*words, "--read-only")
    assert "not offered" in out and "refused" not in err


def test_what_the_settings_allow_is_not_asked_about(project: Path) -> None:
    assert called("settings", "set", "agent.allow", '["edit(*.txt)"]')[0] == 0
    words = ("run", "replace `alpha` by `omega` in notes.txt", "--workspace", str(project))
    assert called(*words)[0] == 0
    assert (project / "notes.txt").read_text() == "omega\nbeta\n"


@posix
def test_a_terminal_is_asked(project: Path) -> None:
    person, terminal = os.openpty()
    process = start(
        "run", "create x.txt with `y`, then create z.txt with `y`", "--workspace", str(project),
        terminal=terminal,
    )  # fmt: skip
    os.write(person, b"perhaps\ny\nn\n")
    out, err = process.communicate(timeout=60)
    os.close(person)
    os.close(terminal)
    assert process.returncode == 0, err
    assert "Create x.txt?" in err and "+y" in err and "Please answer y, s or n." in err
    assert (project / "x.txt").exists() and not (project / "z.txt").exists()
    assert "did not allow it" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run",), "say what is to be done"),
        (("run", " "), "the prompt is empty"),
        (("run", "-"), "nothing came from standard input"),
        (("run", "x", "--workspace", "/no/such/folder"), "no such folder"),
        (("run", "x", "--session", "77"), "no stored session"),
        (("run", "x", "--session", "1", "--continue", "1"), "not with both"),
        (("run", "x", "--max-rounds", "0"), "--max-rounds must be at least 1"),
        (("run", "x", "--profile", "nobody"), "nobody"),
        (("run", "x", "--yes", "--read-only"), "not allowed with"),
        (("run", "x", "--thinking", "deep"), "invalid choice"),
    ],
)
def test_a_wrong_command_line_is_told_and_leaves_nothing(words: tuple[str, ...], told: str) -> None:
    status, out, err = called(*words)
    assert (status, out) == (2, "")
    assert told in err
    assert document("list") == []


def test_a_file_is_taken_in_before_it_is_worked_on() -> None:
    sample = paths.resource_path("samples", "retry-that-flakes.jsonl")
    status, _, err = called("run", "x", "--session", str(sample))
    assert status == 2 and "session-explorer import" in err


def test_a_picture_goes_with_the_prompt(tmp_path: Path, project: Path) -> None:
    shot, text = tmp_path / "shot.png", tmp_path / "no.png"
    shot.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    text.write_text("hello")
    words = ("run", "read notes.txt", "--workspace", str(project), "--read-only")
    assert called(*words, "--image", str(shot))[0] == 0
    (image,) = [b for b in messages(1)[0]["content"] if b["type"] == "image"]
    assert image["mimeType"] == "image/png"
    status, _, err = called(*words, "--image", str(text))
    assert status == 1 and "not a picture" in err


def test_a_session_can_be_begun_empty(project: Path) -> None:
    begun = document("new", "--workspace", str(project), "--name", "Prices")
    assert begun["cwd"] == str(project.resolve())
    (row,) = document("list")
    assert (row["title"], row["entries"], row["format"]) == ("Prices", 1, "pi")
    assert document("run", "list files", "--session", str(begun["session"]))["end"] == "done"


def test_a_script_is_played_to_its_end_without_a_prompt() -> None:
    done = document("run", "--model", "offline/scenario-till", "--yes")
    assert (done["end"], len(done["compactions"])) == ("done", 1)
    assert "all 17 pass" in done["text"]
    assert Path(done["workspace"]).is_relative_to(paths.data_dir())
    again = document("run", "--model", "offline/scenario-till", "--session", str(done["session"]))
    assert again["error"] == "The script is over; nothing is left to play."


def test_what_a_compaction_of_a_run_did_is_said_in_words() -> None:
    _, _, err = called("run", "--model", "offline/scenario-till", "--yes")
    (line,) = [line for line in err.splitlines() if line.startswith("compacted: ")]
    found = re.fullmatch(
        r"compacted: (\d+) messages before, (\d+) after with the summary; the entries took "
        r"([\d,]+) tokens and take ([\d,]+) now\. To see them: session-explorer (.+)",
        line,
    )
    assert found is not None, line
    seen = document(*found[5].split())
    assert len(seen["messages"]) == int(found[2]) < int(found[1])


# a provider ---------------------------------------------------------------------------------------


def test_a_provider_with_tools_and_limits(project: Path) -> None:
    with ChatServer() as server:
        read = calls(("read", {"path": "notes.txt"}))
        server.plan(read, Answer(text="It says alpha."))
        words = ("run", "What do the notes say?", *MODEL, "--workspace", str(project))
        done = document(*words, "--read-only", url=server.url)
        assert (done["text"], done["rounds"]) == ("It says alpha.", 2)
        names = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
        assert names == {"read", "ls", "find", "grep"}
        server.plan(read)
        status, _, err = called(*words, "--read-only", "--max-rounds", "2", url=server.url)
        assert status == 1 and "run --continue 2" in err
    database = paths.database_path()
    for file in database.parent.glob(f"{database.name}*"):
        assert KEY.encode() not in file.read_bytes(), "keys are never stored"


def test_a_failure_keeps_what_was_said_and_can_be_gone_on_with(project: Path) -> None:
    with ChatServer() as server:
        server.plan(HttpFailure(401, "no such key"))
        words = ("run", "Hello?", *MODEL, "--workspace", str(project))
        failed = document(*words, url=server.url, status=1)
        assert failed["end"] == "failed" and failed["error"]
        server.plan(Answer(text="Hello!"))
        session = str(failed["session"])
        done = document("run", "--continue", session, *MODEL, url=server.url)
        assert done["text"] == "Hello!"
        sent = [m["role"] for m in server.requests[-1]["messages"]]
        assert sent == ["system", "user"], "what failed is not sent, and nothing is said twice"
        again = document("run", "--continue", session, *MODEL, url=server.url)
        assert "nothing to go on with" in again["error"]


def test_a_failure_that_passes_is_told_and_tried_again(project: Path) -> None:
    with ChatServer() as server:
        server.plan(HttpFailure(429, "slow down", retry_after="0.1"), Answer(text="Now."))
        status, out, err = called("run", "Hi", *MODEL, "--workspace", str(project), url=server.url)
        assert (status, out) == (0, "Now.\n")
        assert "Trying again" in err
        assert RATE_LIMIT.status == 429


@posix
def test_an_interrupted_run_is_in_good_order(project: Path) -> None:
    with ChatServer() as server:
        server.plan(Stall(after=2))
        process = start(
            "run", "Tell me.", *MODEL, "--workspace", str(project), "--json", url=server.url
        )
        assert server.started.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert server.gone.wait(10), "the connection was let go"
        assert process.returncode == 130, err
        assert "run --continue 1" in err and "Traceback" not in err
        assert json.loads(out)["end"] == "stopped"
        said = messages(1)
        if len(said) == 2:
            assert said[1]["stopReason"] == "aborted"
        server.plan(Answer(text="Done."))
        assert document("run", "--continue", "1", *MODEL, url=server.url)["text"] == "Done."


@posix
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_dies_with_the_run(
    project: Path, sent: signal.Signals, status: int
) -> None:
    marker = project / "alive"
    words = f"run `echo started > {marker.name}; sleep 317; echo more >> {marker.name}`"
    process = start("run", words, "--workspace", str(project), "--yes")
    until(lambda: marker.exists() and marker.read_text(), "the command")
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    assert roles(1) == ["user", "assistant", "toolResult"]
    assert messages(1)[2]["isError"]
    until(lambda: not _sleeping(), "the end of the command")


def _sleeping() -> bool:
    """Whether the sleep of the test above runs; no other test sleeps as long."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(place.read_bytes())
        except OSError:
            continue
    return any(line == b"sleep\x00317\x00" for line in found)


@posix
def test_a_killed_run_is_gone_on_with(project: Path) -> None:
    """What was acknowledged is there; the call that had no result gets one that says so."""
    with ChatServer() as server:
        slow = calls(("bash", {"command": "echo begun > begun; sleep 60"}))
        server.plan(slow)
        words = ("run", "Do it.", *MODEL, "--workspace", str(project), "--yes")
        process = start(*words, url=server.url)
        until(lambda: (project / "begun").exists(), "the command")
        process.kill()
        process.communicate(timeout=60)
        assert roles(1) == ["user", "assistant"]
        server.plan(Answer(text="It was broken off."))
        done = document("run", "--continue", "1", *MODEL, url=server.url)
        assert done["text"] == "It was broken off."
        assert roles(1) == ["user", "assistant", "toolResult", "assistant"]
        result = messages(1)[2]
        assert result["isError"] and "broken off" in result["content"][0]["text"]


def question(project: Path, command: str) -> tuple[str, str]:
    """The output and the errors of a run whose model wants a command; the answer is no."""
    with ChatServer() as server:
        server.plan(calls(("bash", {"command": command})), Answer(text="Not\x1b[2J done.\u202e"))
        words = ("run", "Go.", *MODEL, "--workspace", str(project))
        status, out, err = called(*words, url=server.url, given="n\n", at_terminal=True)
    assert status == 0, err
    assert not FORBIDDEN & set(out + err)
    return out, err


def asked(err: str) -> list[str]:
    """The lines of the question, without the choices."""
    return err[err.index("Run a command?") : err.index("\n[y]es once, yes")].split("\n")


@posix
def test_the_end_of_a_command_is_always_in_sight(project: Path) -> None:
    hidden = (
        "echo fine" + " " * 5000 + "\n" * 3000 + "\r\x1b[8m\x9b8m; touch \u202eevil" + "\t" * 900
    )
    out, err = question(project, hidden)
    assert "Not␛[2J done.⟨U+202E⟩" in out
    shown = asked(err)
    assert len(shown) < 12 and all(len(line) < 80 for line in shown[:-2])
    assert f"{len(hidden) + 2:,} characters in 3,001 lines" in shown[1]
    assert [line for line in shown if line.startswith("  │ $ echo fine·×5,000⏎×3,000")]
    assert [
        line for line in shown if line.startswith("  │ ␍␛[8m⟨U+009B⟩8m; touch ⟨U+202E⟩evil␉×900")
    ]
    assert shown[-1].startswith("  It ends with: ") and "evil␉×900" in shown[-1]


@posix
def test_lines_of_a_command_cannot_be_taken_for_the_programs(project: Path) -> None:
    forged = "x" * 78 + "[y]es once\nSession-explorer asks nothing.\n" + "# ok\n" * 40 + "rm -r a"
    _, err = question(project, forged)
    shown = asked(err)
    body = shown[2:-2]
    assert len(body) == 44
    assert all(line.startswith(("  │ ", "  ┆ ")) for line in body), body
    assert any(line == "  │ rm -r a" for line in body)
    assert shown[-1].endswith("rm -r a")


def test_what_arrived_of_a_reply_without_an_end_is_stored(project: Path) -> None:
    with RawServer(endless(b"a" * 16_384, events(said("This much. ")) + b"data: ")) as server:
        status, out, err = called("run", "Go.", "--workspace", str(project), *MODEL, url=server.url)
        assert len(server.requests) == 1
    told = f"The reply of the server at {server.host} has a line of more than 4,000,000 bytes"
    assert (status, out.strip()) == (1, "This much.")
    assert told in err
    last = messages(1)[-1]
    assert last["content"] == [{"type": "text", "text": "This much. "}]
    assert last["stopReason"] == "error" and told in last["errorMessage"]


def test_a_model_of_8k_compacts_its_conversation_without_any_setting(tmp_path: Path) -> None:
    """Sizes as small as its window; who answers summarizes, or whom ``--summary-model`` names."""
    files = {f"{at}.txt": f"line {at} of this file\n" * 110 for at in range(1, 15)}
    project = make(tmp_path / "small", files)
    asked, summarized = iter(range(1, 15)), list[str]()
    hurry = HttpFailure(429, "Too many at once.", retry_after="1.5")

    def reply(body: dict[str, Any]) -> Answer | HttpFailure:
        if not body.get("tools"):
            limited = not summarized
            summarized.append(body["model"])
            return hurry if limited else Answer(text=GOOD, measured=True)
        at = next(asked)
        call = calls(("read", {"path": f"{at}.txt"}), text="Now the next one.")
        return replace(Answer("Read." if at == 14 else call.text, tool_calls=() if at == 14 else
                              call.tool_calls, finish=call.finish if at < 14 else "stop"),
                       measured=True)  # fmt: skip

    words = ("run", "read them all", "--workspace", str(project), "--yes", "--model",
             "openai/gpt-4", "--json")  # fmt: skip
    with ChatServer() as server:
        server.window = 8_192
        server.plan(HttpFailure(429, "Rate limit reached.", retry_after="1"), reply)
        status, out, err = ran(*words, url=server.url)
        assert status == 0, err
    assert "openai/gpt-4 summarizes" in err
    assert json.loads(out)["compactions"] and set(summarized) == {"gpt-4"}
    assert "Rate limit reached. Trying again in 1." in err, "of the agent's call, in this form too"
    assert "Too many at once. Trying again in 1.5 s" in err, "and of the summary's"
    status, _out, err = ran(*words, "--summary-model", "offline/demo", url=server.url)
    assert (status, "offline/demo writes no summaries" in err) == (2, True)

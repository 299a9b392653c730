"""Publishing, pulling and withdrawing by the commands, as a person does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.settings.libraries import libraries_path
from explorer.settings.paths import resource_path
from tests.commands.processes import called, document
from tests.store.sources import chain, message, write_file
from tests.team.cluster import PASSWORD, Cluster

KEY = "sk-ant-" + "api03-Qx7LmZ2pVr9TkWc4NdHsYb6F"
GITHUB = "ghp_" + "k3VnQ8sLw2XzR7tYp5MbHd9JcFg4Ta6E"


@pytest.fixture
def named(cluster: Cluster, team_database: str) -> str:
    """The team's library, named for ada."""
    document("library", "add", "acme", cluster.address(team_database, "ada"))
    return team_database


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A session with two secrets, imported as number 1."""
    entries = [*chain(4), message(4, "e3", f"use {KEY}"), message(5, "e4", f"and {GITHUB} too")]
    path = write_file(tmp_path / "s.jsonl", entries)
    assert called("import", str(path))[0] == 0
    return path


def test_nothing_goes_without_a_yes(named: str, imported: Path, cluster: Cluster) -> None:
    status, out, err = called("publish", "1")
    assert status == 1 and "Give --yes" in err and "Nothing was published" in err
    status, out, err = called("publish", "1", given="n\n", at_terminal=True)
    assert status == 1 and "Publish this session in team library acme? [y/N]" in err
    assert cluster.sql("SELECT count(*) FROM session_explorer.sessions", named) == [(0,)]
    assert "masked in session 1: 1 Anthropic key, 1 GitHub token (#4, #5)" in out
    assert KEY not in out + err and "line number 0" in out
    status, out, _ = called("publish", "1", given="y\n", at_terminal=True)
    assert status == 0 and "published session 1 as 1" in out


def test_no_secret_reaches_the_server(named: str, imported: Path, cluster: Cluster) -> None:
    done = document("publish", "1", "--yes")
    assert done["plans"][0]["masked"] == {"Anthropic key": 1, "GitHub token": 1}
    assert done["plans"][0]["masked_entries"] == [4, 5]
    document("pull", "1")
    out = called("context", "2")[1] + called("tree", "2", "--show-secrets", "--all")[1]
    everything = str(cluster.sql("SELECT * FROM session_explorer.sessions", named))
    everything += str(cluster.sql("SELECT words FROM session_explorer.entries", named))
    for secret in (KEY[7:], GITHUB[4:]):
        assert secret not in out and secret.lower() not in everything.lower()
    pulled = called("export", "2", str(imported.parent / "back.jsonl"))
    assert pulled[0] == 0, pulled
    lines = (imported.parent / "back.jsonl").read_text().splitlines()
    original = imported.read_text().splitlines()
    assert lines[:5] == original[:5]
    assert [len(one) for one in lines[:7]] == [len(one) for one in original]
    assert "[masked]" in lines[5] and KEY[7:] not in "".join(lines)


def test_what_is_unchanged_is_passed_over_and_what_grew_is_renewed(
    named: str, imported: Path
) -> None:
    document("publish", "1", "--yes")
    document("library", "note", "1", "look at this")
    again = document("publish", "--since", "2025-01-01", "--yes")
    assert again["published"] == [] and again["plans"][0]["unchanged"]
    with imported.open("a") as file:
        file.write(json.dumps(message(6, "e5", "one more")) + "\n")
    called("import", str(imported))
    grown = document("publish", "--since", "2025-01-01", "--yes")
    assert grown["published"] == [{"session": 1, "published": 1, "new": False}]
    (row,) = document("library", "sessions")
    assert (row["entries"], row["by"], row["title"]) == (7, "ada", "line number 0")
    assert [one["text"] for one in document("library", "notes", "1")] == ["look at this"]
    assert document("publish", "--since", "2999-01-01", "--yes")["plans"] == []


def test_pulling_twice_makes_one_copy_and_it_is_not_published_again(
    named: str, imported: Path
) -> None:
    document("publish", "1", "--yes")
    assert document("pull", "1")["pulled"] == [{"session": 2, "pulled": 1, "new": True}]
    assert document("pull", "1")["pulled"] == [{"session": 2, "pulled": 1, "new": False}]
    plans = document("publish", "--since", "2025-01-01", "--yes")["plans"]
    assert [one["session"] for one in plans] == [1]


def test_what_is_published_is_searched_and_withdrawn(
    named: str, imported: Path, team_database: str, cluster: Cluster
) -> None:
    document("publish", "1", "--yes")
    (hit,) = document("library", "search", '"number 3"')
    assert (hit["session"], hit["index"], hit["kind"]) == (1, 3, "assistant")
    assert document("library", "search", "absent") == []
    assert document("library", "sessions", "--agent", "codex") == []
    assert len(document("library", "sessions", "--project", "w", "--by", "ada")) == 1
    document("library", "add", "ben", cluster.address(team_database, "ben"))
    status, _, err = called("withdraw", "1", "--library", "ben")
    assert status == 1 and "was published by ada: only they or a steward" in err
    assert document("withdraw", "1")["withdrawn"] == [1]
    assert document("library", "sessions") == []
    for table in ("blocks", "entries", "notes"):
        assert cluster.sql(f"SELECT count(*) FROM session_explorer.{table}", named) == [(0,)]


def test_libraries_are_named_used_and_forgotten(cluster: Cluster, team_database: str) -> None:
    status, _, err = called("library", "sessions")
    assert status == 1 and "library add NAME postgresql://" in err
    document("library", "add", "one", cluster.address(team_database, "ada"))
    document("library", "add", "two", cluster.address(team_database, "ben"))
    used = [one["name"] for one in document("library", "use", "two") if one["used"]]
    assert used == ["two"]
    assert [one["name"] for one in document("library", "remove", "two")] == ["one"]
    status, _, err = called("library", "sessions")
    assert status == 1 and "there are: one" in err
    assert called("library", "add", "Not a name", "postgresql://x/y")[0] == 1
    assert called("library", "add", "web", "https://x/y")[0] == 1


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ada:{PASSWORD}@db.example.org/x",
        f"postgresql://db.example.org/x?password={PASSWORD}",
        f"postgresql://db.example.org/x?pass%77ord={PASSWORD}",
        f"postgresql://[ada:{PASSWORD}@db/x",
    ],
)
def test_no_password_is_written_or_printed(address: str) -> None:
    status, out, err = called("library", "add", "acme", address)
    assert status == 1
    assert PASSWORD not in out + err
    assert not libraries_path().exists()


def test_a_password_of_the_keyring_reaches_no_message(
    cluster: Cluster, team_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server asks for a password over TCP, and it is wrong."""
    import keyring
    from keyring.backend import KeyringBackend

    class Memory(KeyringBackend):
        priority = 1.0
        kept: dict[tuple[str, str], str] = {}

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

        def delete_password(self, service: str, username: str) -> None:
            del self.kept[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        monkeypatch.setattr("getpass.getpass", lambda _prompt: PASSWORD)
        # Nobody listens there.
        document("library", "add", "acme", "postgresql://ada@127.0.0.1:9/x", "--password")
        assert Memory.kept == {("session-explorer", "library:acme"): PASSWORD}
        status, out, err = called("library", "sessions")
        assert status == 1 and "team library acme: the server was not reached" in err
        assert PASSWORD not in out + err + libraries_path().read_text()
        document("library", "remove", "acme")
        assert Memory.kept == {}
    finally:
        keyring.set_keyring(before)


def test_a_keyring_that_keeps_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda _prompt: PASSWORD)
    status, out, err = called("library", "add", "acme", "postgresql://x/y", "--password")
    assert status == 1 and "keeps passwords" in err and PASSWORD not in out + err
    assert not libraries_path().exists()


def test_a_session_of_the_team_is_read_without_a_copy(named: str, imported: Path) -> None:
    document("publish", "1", "--yes")
    assert document("context", "acme:1") == document("context", "1")
    status, _, err = called("pin", "acme:1", "e1")
    assert status == 2 and "not changed; name --output FILE" in err
    assert [one["session"] for one in document("list")] == [1]
    assert document("library", "sessions")[0]["entries"] == 6
    status, _, err = called("tree", "acme:99")
    assert status == 1 and "team library acme: holds no session 99" in err
    status, _, err = called("tree", "nobody:1")
    assert status == 2 and "'nobody:1': no such file" in err


def test_sessions_are_filtered_by_model_label_and_compaction(named: str, tmp_path: Path) -> None:
    called("import", str(resource_path("samples", "retry-that-flakes.jsonl")))
    called("import", str(write_file(tmp_path / "plain.jsonl", chain(4))))
    document("publish", "1", "2", "--yes")
    document("library", "note", "2", "solved", "--label")
    (sample, plain) = sorted(document("library", "sessions"), key=lambda one: one["session"])
    assert sample["model"] and plain["model"] is None and plain["labels"] == ["solved"]

    def found(*words: str) -> list[int]:
        return sorted(one["session"] for one in document("library", "sessions", *words))

    assert found("--model", sample["model"].rpartition("/")[2]) == [1]
    assert found("--label", "Solved") == [2]
    assert found("--compacted") == [1]
    assert found("--by", "ben") == []


def test_publishing_says_on_standard_error_how_far_it_is(named: str, tmp_path: Path) -> None:
    for at in range(2):
        header = {"type": "session", "version": 3, "id": f"s-{at}", "cwd": "", "timestamp": ""}
        called("import", str(write_file(tmp_path / f"{at}.jsonl", chain(600), header)))
    status, out, err = called("publish", "1", "2", "--yes")
    assert status == 0 and out.count("published session") == 2
    lines = [one for one in err.splitlines() if one.startswith("publishing session")]
    assert len(lines) >= 3 and "publishing session 2 of 2, 1,200 of 1,200 entries" in lines[-1]

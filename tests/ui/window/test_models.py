"""Models are chosen, their figures said, keys kept and servers added, by keys and the mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring
from PySide6.QtWidgets import QApplication, QLineEdit

from explorer.models.keys import SERVICE
from explorer.session.kinds import Kind
from explorer.settings.paths import models_path
from tests.models.memory_keyring import MemoryKeyring
from tests.models.server import Answer, ChatServer, HttpFailure, Stall
from tests.models.test_servers import OLLAMA, VLLM
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.models.dialog import ModelsDialog
from ui.models.model_table import ModelRow, ProviderHeading
from ui.settings.dialog import SettingsDialog
from ui.shell.command_palette import CommandPalette

SMALL = "openai/gpt-4"
"""Its window of 8,192 tokens is smaller than the bundled session's context."""
KEY = "sk-planted-in-the-window-9876"


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "DEEPSEEK", "GROQ", "XAI"):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)


async def opened(live: RunningWindow, *keys: str) -> ModelsDialog:
    live.keys(*(keys or ("Ctrl+M",)))
    dialog = await live.dialog(ModelsDialog)
    await listed(live, dialog)
    return dialog


async def listed(live: RunningWindow, dialog: ModelsDialog) -> None:
    await live.until(lambda: dialog.models.table.models.known > 0, "the list of models")
    await live.idle()


def names(dialog: ModelsDialog) -> list[str]:
    rows = dialog.models.table.models
    lines = [rows.at(at) for at in range(rows.rowCount())]
    return [line.info.id for line in lines if isinstance(line, ModelRow)]


def field(dialog: ModelsDialog, figure: str) -> QLineEdit:
    found = dialog.models.details.figures[figure].field
    assert isinstance(found, QLineEdit)
    return found


# choosing -----------------------------------------------------------------------------------------


async def test_a_model_is_found_by_typing_and_chosen_by_return(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    assert dialog.models.search.hasFocus()
    assert {name.partition("/")[0] for name in names(dialog)} == {"offline", "openai"}
    live.type("4.1 images")
    assert names(dialog) and all("4.1" in name for name in names(dialog))
    first = dialog.models.row
    assert first is not None
    live.keys("Down", "Down", "Up")
    second = dialog.models.row
    assert second is not None and second.info.id == names(dialog)[1] != first.info.id
    live.keys("Return")
    await live.back()
    assert live.session.state.agent_model() == second.info.id
    assert live.window.agent.model == second.info.id
    assert second.info.id in live.said


async def test_all_of_litellms_models_are_a_click_away(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    assert {name.partition("/")[0] for name in names(dialog)} == {"offline"}
    live.type("sonnet-4-5 anthropic/")
    assert names(dialog) == []
    assert "would need a key" in live.words(dialog)
    live.press_button("Show all", dialog)
    assert "anthropic/claude-sonnet-4-5" in names(dialog)
    assert "No key of anthropic" in dialog.models.details.warning.text()
    live.click(dialog.models.details.key)
    assert dialog.page == "keys" and dialog.keys.provider == "anthropic"
    assert dialog.keys.field.hasFocus()
    live.keys("Esc")
    await live.back()
    assert live.session.state.agent_model() == "offline/demo"


async def test_headings_are_stepped_over(house: House, server: ChatServer) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    table = dialog.models.table
    for _ in range(6):
        live.keys("Down")
        assert dialog.models.row is not None
    table.setFocus()
    live.keys("Home")
    assert table.currentIndex().row() == 1
    live.keys("End")
    assert table.currentIndex().row() == table.models.rowCount() - 1
    live.keys("PgUp", "Up")
    assert dialog.models.row is not None
    heading = next(
        at
        for at in range(1, table.models.rowCount())
        if isinstance(table.models.at(at), ProviderHeading)
    )
    table.scrollTo(table.models.index(heading, 0))
    before = dialog.models.row
    live.click(table.viewport(), table.visualRect(table.models.index(heading, 0)).center())
    assert dialog.models.row is before


async def test_the_dialog_opens_from_the_box_the_palette_the_command_and_the_tab(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    box = live.window.agent.models
    chosen = box.currentData()
    box.showPopup()
    await live.settle()
    live.keys("End", "Return", to=box)
    dialog = await live.dialog(ModelsDialog)
    await listed(live, dialog)
    live.keys("Esc")
    await live.back()
    assert box.currentData() == chosen

    live.keys("Ctrl+Shift+P")
    await live.dialog(CommandPalette)
    live.type("models…\n")
    dialog = await live.dialog(ModelsDialog)
    await listed(live, dialog)
    live.keys("Esc")
    await live.back()

    live.keys("F7")
    live.type("/model")
    live.keys("Esc", "Return")
    dialog = await live.dialog(ModelsDialog)
    await listed(live, dialog)
    live.keys("Esc")
    await live.back()

    live.keys("Ctrl+3")
    await live.idle()
    summary = live.window.compaction.setup.outcome_part.model
    summary.showPopup()
    await live.settle()
    live.keys("End", "Return", to=summary)
    dialog = await live.dialog(ModelsDialog)
    await listed(live, dialog)
    live.type("gpt-4.1-nano")
    live.keys("Return")
    await live.back()
    assert live.session.state.summary_models()[0].startswith("openai/gpt-4.1-nano")
    assert summary.currentData() == live.session.state.summary_models()[0]
    assert live.session.state.agent_model() == chosen
    # Before the first one is made: who writes it, and what each may cost.
    said = live.window.model.text()
    assert said.startswith("summaries by openai/gpt-4.1-nano") and said.endswith(" each")
    assert " $0.0" in said or "under $" in said


async def test_the_keys_of_a_shut_box_do_not_open_the_dialog(house: House) -> None:
    live = await house.start(sample_path())
    box = live.window.agent.models
    box.setFocus()
    for _ in range(box.count() + 1):
        live.keys("Down", to=box)
    await live.settle()
    assert live.session.models.dialog is None
    assert box.currentData()


async def test_a_setting_takes_a_model_from_the_dialog(house: House, server: ChatServer) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+,")
    settings = await live.dialog(SettingsDialog)
    row = settings.rows["agent.model"]
    live.press_button("Models", row)
    await live.until(lambda: QApplication.activePopupWidget() is not None, "the menu")
    live.keys("Up", "Return")
    dialog = await live.dialog(ModelsDialog)
    await listed(live, dialog)
    assert not dialog.agent.isVisible() and dialog.take.isVisible()
    live.type("gpt-4.1-nano")
    live.keys("Return")
    await live.until(lambda: live.session.models.dialog is None, "the end of the dialog")
    await live.until(
        lambda: str(live.session.state.values.get("agent.model", "")).startswith("openai/gpt-4.1"),
        "the setting",
    )
    settings.activateWindow()
    live.keys("Esc", to=settings)
    await live.back()


async def test_what_cannot_do_the_job_is_told_and_not_taken(house: House) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    live.type("extractive")
    assert not dialog.agent.isEnabled() and dialog.summary.isEnabled()
    live.keys("Return")
    assert "answers nobody" in dialog.message.text()
    assert dialog.isVisible()
    live.press_button("Use for summaries", dialog)
    await live.back()
    assert live.session.state.summary_models()[0] == "offline/extractive"


async def test_a_model_newer_than_the_table_is_used_as_it_is_typed(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    live.type("openai/gpt-99-next")
    assert names(dialog) == []
    live.press_button("Use “openai/gpt-99-next”", dialog)
    await live.back()
    assert live.session.state.agent_model() == "openai/gpt-99-next"
    assert live.window.agent.model == "openai/gpt-99-next"


# the window follows -------------------------------------------------------------------------------


async def test_a_model_too_small_says_so_before_it_is_chosen_and_the_gauge_follows_at_once(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    gauge = live.window.header.gauge
    before = gauge.accessibleDescription()
    dialog = await opened(live)
    live.type("gpt-4")
    table = dialog.models.table
    table.setCurrentIndex(table.models.index(table.models.row_of_model(SMALL), 0))
    row = dialog.models.row
    assert row is not None and row.info.window == 8_192
    assert any("smaller than this context" in mark.word for mark in table.models.marks(row))
    assert "smaller than this session's context" in dialog.models.details.warning.text()
    live.press_button("Use for the agent", dialog)
    await live.back()
    assert gauge.accessibleDescription() != before
    assert "8,192" in gauge.accessibleDescription()
    box = live.window.agent.models
    assert box.face_text() == "gpt-4"
    assert "Window 8.2k" in box.toolTip() and "smaller than" in box.toolTip()


async def test_a_change_of_model_is_an_entry_that_map_and_conversation_show(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer(text="Good morning."))
    live = await house.start(sample_path())
    await opened(live)
    live.type("gpt-4.1-nano")
    live.keys("Return")
    await live.back()
    entries = len(live.document.tree)
    live.keys("F7")
    live.type("Hello\n")
    await live.until(lambda: not live.session.agent.running, "the end of the turn")
    await live.idle()
    assert live.document.tree.kind(entries) is Kind.MODEL_CHANGE
    assert live.window.map.model.rows.count >= entries + 3
    assert "gpt-4.1-nano" in live.window.agent.conversation.toPlainText()
    assert str(server.requests[-1]["model"]).startswith("gpt-4.1-nano")


async def test_a_figure_that_is_said_holds_at_once_and_can_be_taken_back(
    house: House, server: ChatServer
) -> None:
    live = await house.start(sample_path())
    gauge = live.window.header.gauge
    live.session.agent.choose_model("openai/gpt-4o")
    dialog = await opened(live)
    details = dialog.models.details
    assert dialog.models.row is not None and dialog.models.row.info.id == "openai/gpt-4o"
    assert details.figures["window"].source.text().endswith("litellm")
    window = field(dialog, "window")
    window.setFocus()
    window.selectAll()
    live.type("64k\n")
    await live.idle()
    assert details.figures["window"].source.text().endswith("you")
    assert "64,000" in gauge.accessibleDescription()
    assert dialog.models.row.info.window == 64_000
    price = field(dialog, "input_price")
    price.setFocus()
    price.selectAll()
    live.type("1.25\n")
    await live.idle()
    assert live.session.state.bench is not None
    info = live.session.state.bench.client.info("openai/gpt-4o")
    assert info.input_price == pytest.approx(1.25e-6)
    price.selectAll()
    live.type("dear\n")
    assert "not taken" in details.figures["input_price"].source.text()
    live.keys("Esc")
    assert price.text() == "1.25" and dialog.isVisible()
    live.choose(details.figures["images"].field, False)  # type: ignore[arg-type]
    await live.idle()
    assert live.session.state.bench.client.info("openai/gpt-4o").images is False
    live.click(details.figures["window"].reset)
    await live.idle()
    assert "128,000" in gauge.accessibleDescription()
    live.click(details.reset)
    await live.idle()
    assert live.session.state.bench.client.user_models.override("openai/gpt-4o") is None
    assert price.text() == "2.50"


# keys ---------------------------------------------------------------------------------------------


async def test_a_key_is_tested_kept_and_removed_and_never_shown(
    house: House, ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        provider.plan(HttpFailure(401, "Incorrect API key"), Answer(text="ok"))
        live = await house.start(sample_path())
        dialog = await opened(live)
        dialog.show_key("openai")
        keys = dialog.keys
        await live.idle()
        assert "No key. Set OPENAI_API_KEY" in keys.state.text()
        assert not keys.test.isEnabled()
        live.type(KEY)
        assert keys.field.displayText() != KEY
        live.press_button("Test", keys)
        await live.until(lambda: keys.message.text(), "the end of the test")
        assert "refused the key" in keys.message.text()
        live.press_button("Test", keys)
        await live.until(lambda: "works" in keys.message.text(), "the end of the second test")
        assert KEY in provider.headers[-1]["authorization"]
        live.press_button("Put it into the keyring", keys)
        await live.until(lambda: "keeps it now" in keys.message.text(), "the keyring")
        await live.idle()
        assert ring.kept == {(SERVICE, "openai"): KEY}
        assert keys.field.text() == ""
        assert "ends in 9876" in keys.state.text()
        assert KEY not in live.words(dialog)
        assert any(name.startswith("openai/") for name in names(dialog))
        live.press_button("Remove", keys)
        await live.until(lambda: "out of the keyring" in keys.message.text(), "the end of it")
        await live.idle()
        assert ring.kept == {}
        assert not any(name.startswith("openai/") for name in names(dialog))
        assert not any(KEY in path.read_text(errors="replace") for path in _files(models_path()))


def _files(path: Path) -> list[Path]:
    return [one for one in path.parent.rglob("*.json") if one.is_file()]


async def test_a_test_that_hangs_is_cancelled(
    house: House, ring: MemoryKeyring, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server.plan(Stall(silent=True))
    live = await house.start(sample_path())
    dialog = await opened(live)
    dialog.show_key("openai")
    await live.idle()
    live.press_button("Test", dialog.keys)
    await live.until(server.started.is_set, "the request")
    assert dialog.keys.busy.isVisible()
    live.press_button("Cancel", dialog.keys)
    await live.until(lambda: "cancelled" in dialog.keys.message.text(), "the end of the test")
    await live.until(server.gone.is_set, "the end of the call")
    assert not dialog.keys.busy.isVisible() and dialog.keys.test.isEnabled()


async def test_closing_the_dialog_ends_a_test(
    house: House, ring: MemoryKeyring, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server.plan(Stall(silent=True))
    live = await house.start(sample_path())
    dialog = await opened(live)
    dialog.show_key("openai")
    await live.idle()
    live.press_button("Test", dialog.keys)
    await live.until(server.started.is_set, "the request")
    live.keys("Esc")
    await live.back()
    await live.until(server.gone.is_set, "the end of the call")


async def test_without_a_keyring_the_page_names_the_variable(house: House) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    try:
        live = await house.start(sample_path())
        dialog = await opened(live)
        dialog.show_key("groq")
        await live.idle()
        assert not dialog.keys.test.isEnabled()
        assert dialog.keys.test.toolTip() == "Paste a key into the field first."
        live.type(KEY)
        assert not dialog.keys.keep.isEnabled() and "no keyring" in dialog.keys.keep.toolTip()
        assert "no keyring" in dialog.keys.about.text()
        assert "GROQ_API_KEY" in dialog.keys.about.text()
        assert dialog.keys.test.isEnabled()
    finally:
        keyring.set_keyring(before)


async def test_a_provider_that_is_rarely_used_is_found_by_name(
    house: House, ring: MemoryKeyring
) -> None:
    live = await house.start(sample_path())
    dialog = await opened(live)
    dialog.show_page("keys")
    dialog.keys.search.setFocus()
    await live.idle()
    live.type("perplex")
    assert dialog.keys.provider == "perplexity"
    assert "PERPLEXITY_API_KEY" in dialog.keys.state.text()


# servers ------------------------------------------------------------------------------------------


async def test_servers_are_found_added_tested_renamed_and_removed(
    house: House, ring: MemoryKeyring
) -> None:
    with ChatServer() as ollama, ChatServer() as vllm:
        ollama.pages.update(OLLAMA)
        vllm.pages.update(VLLM)
        live = await house.start(sample_path())
        live.session.models.addresses = (ollama.root, vllm.root, "http://127.0.0.1:9")
        dialog = await opened(live)
        servers = dialog.servers
        dialog.show_page("servers")
        assert not ollama.asked_for, "nothing is looked for unasked"
        assert servers.look.hasFocus()
        live.keys("Space")
        await live.until(lambda: servers.list.rows.rowCount() == 2, "both servers")
        await live.idle()
        assert "Found Ollama with 2 models" in servers.message.text()
        assert "qwen3:8b · window 4.1k · reasoning · tools" in servers.panel.models.text()
        live.press_button("Add it", servers)
        await live.until(lambda: "ollama is added" in servers.message.text(), "the server")
        await live.idle()
        assert "ollama/qwen3:8b" in names(dialog)
        ollama.plan(Answer(text="ok"))
        live.press_button("Test", servers)
        await live.until(lambda: "The server works" in servers.message.text(), "the test")
        await live.idle()
        servers.panel.name.setFocus()
        servers.panel.name.selectAll()
        live.type("cellar\n")
        await live.until(lambda: "called cellar now" in servers.message.text(), "the new name")
        await live.idle()
        assert "cellar/qwen3:8b" in names(dialog) and "ollama/qwen3:8b" not in names(dialog)
        live.press_button("Remove", servers)
        await live.until(lambda: "is removed" in servers.message.text(), "the removal")
        await live.idle()
        assert not any(name.startswith("cellar/") for name in names(dialog))


async def test_a_server_is_added_by_address_with_its_key_and_used(
    house: House, ring: MemoryKeyring
) -> None:
    with ChatServer() as box:
        box.pages.update(VLLM)
        live = await house.start(sample_path())
        dialog = await opened(live)
        servers = dialog.servers
        dialog.show_page("servers")
        servers.address.setFocus()
        live.type("http://127.0.0.1:9\n")
        await live.until(lambda: "Nobody answers" in servers.message.text(), "the refusal")
        await live.idle()
        servers.address.setFocus()
        servers.address.selectAll()
        live.type(box.url)
        live.keys("Tab")
        assert servers.key.hasFocus()
        live.type(f"{KEY}\n")
        await live.until(lambda: "vllm is added" in servers.message.text(), "the server")
        await live.idle()
        assert ring.kept == {(SERVICE, "vllm"): KEY}
        dialog.show_page("models")
        live.type("vllm/")
        live.keys("Return")
        await live.back()
        assert live.session.state.agent_model() == "vllm/Qwen/Qwen3-32B"
        assert live.window.agent.models.face_text() == "Qwen3-32B"
        assert "32,768" in live.window.header.gauge.accessibleDescription()
        box.plan(Answer(text="From the box."))
        live.keys("F7")
        live.type("Hello\n")
        await live.until(lambda: not live.session.agent.running, "the end of the turn")
        await live.idle()
        assert "From the box." in live.window.agent.conversation.toPlainText()
        assert KEY in box.headers[-1]["authorization"]
        # By another name it stays the one that answers.
        dialog = await opened(live)
        dialog.show_page("servers")
        dialog.servers.panel.name.setFocus()
        dialog.servers.panel.name.selectAll()
        live.type("cellar\n")
        await live.until(lambda: "called cellar" in dialog.servers.message.text(), "the name")
        await live.idle()
        assert live.session.state.agent_model() == "cellar/Qwen/Qwen3-32B"


async def test_a_search_that_hangs_is_cancelled(house: House, ring: MemoryKeyring) -> None:
    with ChatServer() as silent:
        silent.pages["/v1/models"] = Stall()
        live = await house.start(sample_path())
        live.session.models.addresses = (silent.root,)
        dialog = await opened(live)
        dialog.show_page("servers")
        live.press_button("Look for servers", dialog.servers)
        await live.until(lambda: silent.asked_for, "the question")
        live.press_button("Cancel", dialog.servers)
        await live.until(lambda: "cancelled" in dialog.servers.message.text(), "the end")
        assert dialog.servers.look.isVisible()

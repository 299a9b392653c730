"""What a person says of models: figures of their own, and who says which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.models.catalogue import Cost, ModelInfo, PriceTier, cost_of, grouped, usage_record
from explorer.models.client import ModelClient, ModelClientConfig, Usage
from explorer.models.user_models import (
    Override,
    Server,
    ServerModel,
    UserModels,
    UserModelsError,
    check_server_name,
)

SONNET = "anthropic/claude-sonnet-4-5"


@pytest.fixture
def client(tmp_path: Path) -> ModelClient:
    return ModelClient(ModelClientConfig(user_models=tmp_path / "models.json"))


def test_the_table_knows_what_a_model_can_and_what_its_cache_costs(client: ModelClient) -> None:
    info = client.info(SONNET)
    assert (info.window, info.reasoning, info.images, info.tools) == (200_000, True, True, True)
    assert info.cache_read_price is not None and info.input_price is not None
    assert info.cache_read_price < info.input_price < (info.cache_write_price or 0)
    assert info.source_of("window") == "litellm"
    unknown = client.info("nobody/knows-this")
    assert (unknown.window, unknown.reasoning) == (None, None)
    assert unknown.source_of("window") == "default"
    assert client.info("offline/demo").source_of("window") == "program"


def test_what_a_person_says_goes_first_and_holds_for_the_next_start(
    client: ModelClient, tmp_path: Path
) -> None:
    said = Override(window=64_000, images=False, output_price=0.0)
    told: list[str] = []
    forget = client.user_models.subscribe(lambda: told.append("changed"))
    client.user_models.set_override(SONNET, said)
    assert told == ["changed"]
    forget()
    info = client.info(SONNET)
    assert (info.window, info.images, info.output_price) == (64_000, False, 0.0)
    assert [info.source_of(name) for name in ("window", "images", "tools")] == [
        "you", "you", "litellm",
    ]  # fmt: skip
    later = ModelClient(ModelClientConfig(user_models=tmp_path / "models.json"))
    assert later.info(SONNET) == info
    later.user_models.set_override(SONNET, None)
    assert later.info(SONNET).window == 200_000
    assert client.info(SONNET).window == 200_000, "the other window follows"
    assert told == ["changed"]


def test_a_model_that_only_the_person_knows_is_listed(client: ModelClient) -> None:
    client.user_models.set_override("nobody/knows-this", Override(window=10_000, tools=True))
    assert "nobody/knows-this" in [model.id for model in client.models()]
    (group,) = grouped(client.models(), "nobody tools")
    assert (group.provider, [model.id for model in group.models]) == (
        "nobody", ["nobody/knows-this"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Override(window=0), "1 to"),
        (Override(output_limit=-5), "1 to"),
        (Override(input_price=3.0), "one token"),
        (Override(cache_read_price=-0.1), "one token"),
    ],
)
def test_figures_that_cannot_be_are_refused(client: ModelClient, said: Override, why: str) -> None:
    with pytest.raises(UserModelsError, match=why):
        client.user_models.set_override(SONNET, said)
    assert client.user_models.overrides() == {}


def test_a_damaged_file_is_told_and_what_is_sound_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text(
        json.dumps(
            {
                "overrides": {"a/b": {"window": 5000}, "c/d": {"window": "wide"}, "e/f": 3},
                "servers": [{"name": "box", "address": "http://localhost:1"}, {"name": "OFF"}],
                "keyring": ["openai"],
            }
        )
    )
    own = UserModels(path)
    assert own.overrides() == {"a/b": Override(window=5000)}
    assert [server.name for server in own.servers()] == ["box"]
    assert own.in_keyring() == {"openai"}
    assert "c/d" in own.problem and "a server" in own.problem
    path.write_text(json.dumps({"overrides": {"a/b": {"window": 5000}}, "keyring": 7}))
    other = UserModels(path)
    assert other.in_keyring() == set() and other.overrides() == {"a/b": Override(window=5000)}
    assert "keyring" in other.problem
    path.write_text("{")
    assert UserModels(path).servers() == ()
    broken = UserModels(path)
    broken.servers()
    assert str(path) in broken.problem


def test_a_file_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("in the way")
    own = UserModels(tmp_path / "folder" / "models.json")
    with pytest.raises(UserModelsError, match="cannot be written"):
        own.save_server(Server("box", "http://localhost:1"))
    assert own.servers() == ()


@pytest.mark.parametrize("name", ["", "Box", "a/b", "offline", "-box", "x" * 41])
def test_a_servers_name_is_one_that_models_can_be_called_by(name: str) -> None:
    with pytest.raises(UserModelsError):
        check_server_name(name)


def test_servers_survive_the_file(tmp_path: Path) -> None:
    own = UserModels(tmp_path / "models.json")
    server = Server(
        "box", "http://localhost:8000", "vllm", (ServerModel("qwen", 32_768, True, None, False),)
    )
    own.save_server(server)
    assert UserModels(tmp_path / "models.json").server("box") == server
    own.remove_server("box")
    assert UserModels(tmp_path / "models.json").servers() == ()


# what a call costs --------------------------------------------------------------------------------

PRICED = ModelInfo(
    "x/y", "y", 200_000, 8000, input_price=3e-6, output_price=15e-6,
    cache_read_price=0.3e-6, cache_write_price=3.75e-6,
)  # fmt: skip


def test_every_kind_of_token_has_its_price() -> None:
    cost = cost_of(Usage(1000, 100, cache_read=10_000, cache_write=2000), PRICED)
    assert cost == Cost(0.003, 0.0015, 0.003, pytest.approx(0.0075))
    assert cost.total == pytest.approx(0.015)


def test_what_nobody_knows_a_price_of_costs_nothing_that_is_known() -> None:
    cost = cost_of(Usage(1000, 100), ModelInfo("x/y", "y", None, None, input_price=1e-6))
    assert (cost.total, cost.known) == (0.0, False)


def test_a_cache_without_a_price_of_its_own_costs_what_input_does() -> None:
    plain = ModelInfo("x/y", "y", None, None, input_price=1e-6, output_price=2e-6)
    cost = cost_of(Usage(0, 0, cache_read=1000, cache_write=1000), plain)
    assert (cost.cache_read, cost.cache_write) == (0.001, 0.001)


def test_a_long_prompt_is_paid_at_its_tier() -> None:
    tiered = ModelInfo(
        "x/y", "y", None, None, input_price=1e-6, output_price=2e-6,
        tiers=(PriceTier(200_000, 2e-6, 4e-6),),
    )  # fmt: skip
    assert cost_of(Usage(200_000, 10), tiered).input == pytest.approx(0.2)
    assert cost_of(Usage(1, 10, cache_read=200_000), tiered).output == pytest.approx(4e-5)


def test_a_usage_record_is_never_an_estimate() -> None:
    record = usage_record(Usage(10, 5, 2, 1, 18), PRICED)
    assert (record.input, record.output, record.cache_read, record.cache_write) == (10, 5, 2, 1)
    assert (record.context, record.cost) == (18, pytest.approx(1.0935e-4))
    nothing = usage_record(Usage(10, 5, source="estimate"), PRICED)
    assert not nothing.input and not nothing.output and nothing.context <= 0
    assert nothing == usage_record(None)


def test_every_price_of_the_table_is_one_for_a_token(client: ModelClient) -> None:
    info = client.info("gemini/gemini-2.5-pro")
    (tier,) = info.tiers
    assert tier.above == 200_000 and (tier.input_price or 0) > (info.input_price or 1)

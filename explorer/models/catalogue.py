"""The models: identifiers, windows, output limits, prices, abilities, their order in lists, and the
cost of a call, also of recorded ones.

The table comes from the litellm wheel, read as a file: importing litellm takes seconds, and the
window wants these figures before any model is called.

Agents write ``provider/model`` or the model alone, with the release's date or without, with dots or
dashes in its version. Such a name is looked up as it is written first. A service that is not paid
by the token (GitHub's Copilot) has no prices, and what is not found stays unknown.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.models.events import Usage
from explorer.models.request import THINKING_LEVELS, ThinkingLevel
from explorer.session.entries import TokenUsage
from explorer.session.partly_compared import PartlyCompared
from explorer.session.usage_sums import NO_LIST, NOT_LISTED, Listed, price_size

TABLE_FILE = "model_prices_and_context_window_backup.json"
EXTRACTIVE = "offline/extractive"
DEMO = "offline/demo"
REMOTE = "remote/endpoint"
"""The user's summarizing service (A29)."""
SCENARIO_PREFIX = "offline/scenario-"
"""Models that play a scripted run; see ``explorer.models.offline.scenario``."""


def is_scenario(model: str) -> bool:
    """Whether a model plays a scripted run."""
    return model.startswith(SCENARIO_PREFIX)


def cannot_summarize(model: str) -> bool:
    """Whether a model follows rules or a script, and cannot summarize."""
    return model == DEMO or is_scenario(model)


def only_summarizes(model: str) -> bool:
    """Whether a model only writes summaries and cannot be an agent."""
    return model == EXTRACTIVE


# one model ----------------------------------------------------------------------------------------

FigureSource = Literal["litellm", "you", "server", "program", "default"]
"""The source of a figure: litellm's table, the person, the server that has the model, or this
program for its offline models; ``default`` where the figure is unknown (None)."""

FIGURES = (
    "window",
    "output_limit",
    "input_price",
    "output_price",
    "cache_read_price",
    "cache_write_price",
    "cache_write_1h_price",
    "reasoning",
    "images",
    "tools",
)
"""The figures of a model that have a source, by their names in ``ModelInfo``."""


class PriceTier(Struct, frozen=True):
    """Prices of a call whose prompt is over ``above`` tokens; dollars per token, None as before."""

    above: int
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None
    cache_write_1h_price: float | None = None


class ModelInfo(PartlyCompared, frozen=True):
    """One model. Window and output limit in tokens, prices in dollars per token.

    None is an unknown figure; it is never a guess.
    """

    UNCOMPARED = frozenset({"sources"})

    id: str
    label: str
    window: int | None
    output_limit: int | None
    offline: bool = False
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    """Of a prompt token that came from the provider's cache; None: as ``input_price``."""
    cache_write_price: float | None = None
    """Of a prompt token that went into the provider's cache; None: as ``input_price``."""
    cache_write_1h_price: float | None = None
    """Of one that went there for an hour, where the usual is minutes."""
    reasoning: bool | None = None
    """Whether it thinks before it answers, so that a thinking level means something."""
    images: bool | None = None
    """Whether it takes pictures."""
    tools: bool | None = None
    """Whether it calls tools."""
    deprecated: str = ""
    """The day on which its provider ends it, as YYYY-MM-DD; empty: none is known."""
    tiers: tuple[PriceTier, ...] = ()
    """Dearer prices of long prompts, the lowest ``above`` first."""
    efforts: frozenset[str] = frozenset()
    """What its provider takes beside low, medium and high as a measure of thinking: "none",
    "minimal", and "adaptive" where it measures automatically and takes no budget."""
    sources: Mapping[str, FigureSource] = field(default_factory=dict)
    """By the name of a figure: its source."""

    def source_of(self, figure: str) -> FigureSource:
        """The source of a figure, by its name in ``FIGURES``."""
        if figure in self.sources:
            return self.sources[figure]
        if getattr(self, figure) is None:
            return "default"
        return "program" if self.offline else "litellm"

    @property
    def provider(self) -> str:
        """The part of the id before the first slash: ``openai``."""
        return self.id.partition("/")[0]


def levels_of(info: ModelInfo) -> tuple[ThinkingLevel, ...]:
    """The levels that mean something for a model: only "off" where it does not reason."""
    return THINKING_LEVELS if info.reasoning else ("off",)


# the table ----------------------------------------------------------------------------------------

_PRICES = {
    "input_price": "input_cost_per_token",
    "output_price": "output_cost_per_token",
    "cache_read_price": "cache_read_input_token_cost",
    "cache_write_price": "cache_creation_input_token_cost",
    "cache_write_1h_price": "cache_creation_input_token_cost_above_1hr",
}
_EFFORTS = {
    "none": "supports_none_reasoning_effort",
    "minimal": "supports_minimal_reasoning_effort",
    "adaptive": "supports_adaptive_thinking",
}
_PRICE_NAMES = {key: name for name, key in _PRICES.items()}
_TIER = re.compile(r"(\w+?)_above_(\d+)k_tokens")

# The environment variables that hold the key of a provider.
PROVIDER_KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("anthropic", ("ANTHROPIC_API_KEY",)),
    ("openai", ("OPENAI_API_KEY",)),
    ("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    ("mistral", ("MISTRAL_API_KEY",)),
    ("deepseek", ("DEEPSEEK_API_KEY",)),
    ("groq", ("GROQ_API_KEY",)),
    ("xai", ("XAI_API_KEY",)),
    ("openrouter", ("OPENROUTER_API_KEY",)),
    ("together_ai", ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY")),
    ("fireworks_ai", ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY")),
    ("cerebras", ("CEREBRAS_API_KEY",)),
    ("azure", ("AZURE_API_KEY",)),
)


OFFLINE_MODELS = (
    ModelInfo(EXTRACTIVE, "Extractive (offline)", 4_000_000, 32_000, True, 0.0, 0.0),
    ModelInfo(
        DEMO,
        "Demonstration agent (offline)",
        200_000,
        8_000,
        True,
        0.0,
        0.0,
        reasoning=False,
        images=False,
        tools=True,
    ),
)

REMOTE_MODEL = ModelInfo(REMOTE, "Remote endpoint", None, None)
"""Its window and its limit are known, not guessed."""


def price_table_path() -> Path | None:
    """The path of the price table in litellm's wheel; None where litellm is not installed."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / TABLE_FILE
    return path if path.is_file() else None


class Catalogue:
    """Looks models up; the table is read once in a process, at the first look-up (about 25 ms)."""

    def __init__(self, declared: tuple[ModelInfo, ...] = ()) -> None:
        self._declared = {
            info.id: _with_user_sources(info) for info in (*OFFLINE_MODELS, *declared)
        }
        self._made: dict[str, ModelInfo] = {}

    def info(self, model_id: str) -> ModelInfo:
        """What is known of `model_id`; unknown figures are None, never a guess."""
        declared = self._declared.get(model_id)
        if declared is not None:
            return declared
        if model_id == REMOTE:
            return REMOTE_MODEL
        row = self._row(model_id)
        if row is None:
            return ModelInfo(model_id, model_id, None, None)
        return self._of_row(model_id, row)

    def known(self, has_key: Callable[[str], bool]) -> list[ModelInfo]:
        """Declared models, then the chat models of the providers that have a key."""
        result = dict(self._declared)
        for provider, rows in _chat().items():
            if not has_key(provider):
                continue
            for model_id, row in rows.items():
                if model_id not in result:
                    result[model_id] = self._of_row(model_id, row)
        return list(result.values())

    def _of_row(self, model_id: str, row: Mapping[str, Any]) -> ModelInfo:
        """Made once: a list of models is asked for at every change of one."""
        made = self._made.get(model_id)
        if made is None:
            made = self._made[model_id] = _from_row(model_id, row)
        return made

    def _row(self, model_id: str) -> Mapping[str, Any] | None:
        table = _table()
        provider, _, bare = model_id.partition("/")
        for name in (model_id, bare):
            row = table.get(name)
            if isinstance(row, dict) and (
                name == model_id or row.get("litellm_provider") == provider
            ):
                return row
        return None


@cache
def _table() -> Mapping[str, Any]:
    """The rows of the table by their names. It belongs to an installed package and is never
    changed, so all catalogues of a process share it."""
    path = price_table_path()
    table: dict[str, Any] = json.loads(path.read_text("utf-8")) if path is not None else {}
    table.pop("sample_spec", None)
    return table


@cache
def _chat() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """The rows of chat models by provider and id: the table is too long to be gone through
    whenever models are listed."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name, row in _table().items():
        provider = row.get("litellm_provider")
        if row.get("mode") == "chat" and isinstance(provider, str):
            model_id = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
            found.setdefault(provider, {}).setdefault(model_id, row)
    return found


def _with_user_sources(info: ModelInfo) -> ModelInfo:
    """A declared model: the source of its figures is the person, where it names none."""
    if info.offline or info.sources:
        return info
    given = [name for name in FIGURES if getattr(info, name) is not None]
    return replace(info, sources=dict.fromkeys(given, "you"))


def _from_row(model_id: str, row: Mapping[str, Any]) -> ModelInfo:
    prices = {name: _price(row.get(key)) for name, key in _PRICES.items()}
    known = ModelInfo(
        id=model_id,
        label=model_id,
        window=_count(row.get("max_input_tokens") or row.get("max_tokens")),
        output_limit=_count(row.get("max_output_tokens") or row.get("max_tokens")),
        reasoning=_ability(row, "supports_reasoning"),
        images=_ability(row, "supports_vision"),
        tools=_ability(row, "supports_function_calling"),
        deprecated=str(row.get("deprecation_date") or ""),
        tiers=_tiers(row),
        efforts=frozenset(word for word, key in _EFFORTS.items() if row.get(key) is True),
    )
    return replace(known, **prices)


def _tiers(row: Mapping[str, Any]) -> tuple[PriceTier, ...]:
    found: dict[int, dict[str, float | None]] = {}
    for key, value in row.items():
        named = _TIER.fullmatch(key)
        if named is not None and named[1] in _PRICE_NAMES:
            above = int(named[2]) * 1000
            found.setdefault(above, {})[_PRICE_NAMES[named[1]]] = _price(value)
    return tuple(PriceTier(above, **found[above]) for above in sorted(found))


def _ability(row: Mapping[str, Any], key: str) -> bool | None:
    """An ability by the table: None where the table names no ability of the model at all."""
    if isinstance(row.get(key), bool):
        return bool(row[key])
    return False if any(name.startswith("supports_") for name in row) else None


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _price(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


# lists --------------------------------------------------------------------------------------------

_DATE = re.compile(r"20\d\d-?[01]\d-?[0-3]\d")
_VERSION = re.compile(r"\d+(?:[.-]\d{1,2}(?!\d))*")
_PLACEHOLDERS = ("ft:", "*", "container")
"""What the table of prices has rows for that name no model one can call: fine-tuned models of
whoever made them, patterns, and tools that are billed beside a model."""


def provider_of(model_id: str) -> str:
    """The part before the first slash: ``openai``."""
    return model_id.partition("/")[0]


def is_placeholder(model_id: str) -> bool:
    """Whether a row of the table stands for something else than a model that can be called."""
    name = model_id.partition("/")[2] or model_id
    return any(part == name or name.startswith(part) for part in _PLACEHOLDERS) or "*" in name


@lru_cache(maxsize=8192)
def newest_first(model_id: str) -> tuple[tuple[int, ...], int, str]:
    """A key that sorts newer versions first; a name without a date before its dated releases."""
    name = model_id.rpartition("/")[2]
    date = _DATE.search(name)
    bare = _DATE.sub("", name)
    version = _VERSION.search(bare)
    numbers = tuple(int(part) for part in re.split(r"[.-]", version[0])) if version else ()
    padded = (*numbers, 0, 0, 0)[:3]
    day = int(date[0].replace("-", "")) if date else 99_999_999
    return tuple(-number for number in padded), -day, name


def listed(models: Iterable[ModelInfo]) -> list[ModelInfo]:
    """The models that can be called: those of this program first, then provider by provider."""
    usable = [model for model in models if model.offline or not is_placeholder(model.id)]
    return sorted(
        usable, key=lambda model: (not model.offline, provider_of(model.id), *_rest(model))
    )


class ProviderModels(Struct, frozen=True):
    """One provider, or one server, and its models: the newest first."""

    provider: str
    models: tuple[ModelInfo, ...]


def grouped(models: Iterable[ModelInfo], search: str = "") -> list[ProviderModels]:
    """The models provider by provider, as ``listed`` sorts them.

    Of a ``search`` every word must be in the model's id or label, or name what it can: reasoning,
    images, tools.
    """
    words = search.casefold().split()
    groups: dict[str, list[ModelInfo]] = {}
    for model in listed(models):
        if not words or all(word in _searched(model) for word in words):
            groups.setdefault(model.provider, []).append(model)
    return [ProviderModels(provider, tuple(group)) for provider, group in groups.items()]


def _searched(model: ModelInfo) -> str:
    can = (name for name in ("reasoning", "images", "tools") if getattr(model, name))
    return " ".join((model.id, model.label, *can)).casefold()


def _rest(model: ModelInfo) -> tuple[tuple[int, ...], int, str]:
    return ((), 0, "") if model.offline else newest_first(model.id)


# cost ---------------------------------------------------------------------------------------------


class Cost(Struct, frozen=True):
    """Dollars. ``known`` is False where the model's prices are not: then all figures are 0."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    known: bool = True
    low_priced: int = 0
    """See ``UsageSum.low_priced``."""

    @property
    def total(self) -> float:
        return self.input + self.output + self.cache_read + self.cache_write


UNKNOWN_COST = Cost(known=False)

_TWICE_FOR_AN_HOUR = "anthropic/claude-"
"""Of these models what goes into a cache for an hour costs twice what input does:
https://platform.claude.com/docs/en/about-claude/pricing."""


def cache_hour_price(
    model_id: str, into: float, write: float, listed: float | None
) -> float | None:
    """Dollars of a token that goes into a cache for an hour; None where that is not known.
    ``into``: of one of the input; ``write``: of one that goes into a cache for minutes;
    ``listed``: what the list says."""
    if listed is None and model_id.startswith(_TWICE_FOR_AN_HOUR):
        listed = 2 * into
    # None where only the price of minutes is listed for long prompts.
    return None if listed is None or listed < write else listed


def cost_of(usage: Usage, info: ModelInfo, for_hour: int = 0) -> Cost:
    """What the tokens of one call cost at the model's prices. ``for_hour``: how many of those that
    went into a cache went there for an hour, which this program itself never asks for.

    A prompt over a tier of the model is paid at that tier, all of it. Tokens that went into a
    cache or came from it cost what other input does, where no separate price is known; those that
    went there for an hour, what others do that went there.
    """
    prices = {name: getattr(info, name) for name in _PRICES}
    prompt = usage.input + usage.cache_read + usage.cache_write
    for tier in info.tiers:
        if prompt > tier.above:
            prices |= {name: price for name in prices if (price := getattr(tier, name)) is not None}
    into, out = prices["input_price"], prices["output_price"]
    if into is None or out is None:
        return UNKNOWN_COST
    read, write = prices["cache_read_price"], prices["cache_write_price"]
    write = into if write is None else write
    hour_price = cache_hour_price(info.id, into, write, prices["cache_write_1h_price"])
    is_low = hour_price is None
    return Cost(
        usage.input * into,
        usage.output * out,
        usage.cache_read * (into if read is None else read),
        (usage.cache_write - for_hour) * write
        + for_hour * (write if hour_price is None else hour_price),
        low_priced=for_hour if is_low else 0,
    )


def usage_record(usage: Usage | None, info: ModelInfo | None = None) -> TokenUsage:
    """A reply's usage as it is stored; all zero when the provider counted nothing.

    An estimate of this side is never stored as if it were the provider's (E7).
    """
    if usage is None or usage.source != "provider":
        usage = Usage(0, 0)
    cost = cost_of(usage, info) if info is not None else UNKNOWN_COST
    return TokenUsage(
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.total,
        cost.total,
        (cost.input, cost.output, cost.cache_read, cost.cache_write),
    )


Prices = Callable[[str], ModelInfo]
"""What is known of a model by its id; see ``Catalogue.info``."""
ListedCost = Callable[[TokenUsage | None, str], Listed]
"""What a call of a model cost by the list."""

_PROVIDERS = {"google": "gemini", "google-vertex": "vertex_ai", "amazon-bedrock": "bedrock"}
"""Names of providers that the list has another one for."""
_MAKERS = (
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gpt-|chatgpt-|codex-|o\d"), "openai"),
    (re.compile(r"gemini-"), "gemini"),
    (re.compile(r"grok-"), "xai"),
    (re.compile(r"deepseek-"), "deepseek"),
)
"""Who makes a model that is named alone."""
_DATE_OF_RELEASE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)$")
_REMARK = re.compile(r"\[\w+\]$")
_DOT = re.compile(r"(?<=\d)\.(?=\d)")


def listed_ids(model: str) -> Iterator[str]:
    """The ids under which the list may have a model, the likeliest first."""
    provider, slash, name = model.partition("/")
    if not slash:
        name = model
        provider = next((maker for start, maker in _MAKERS if start.match(name)), "")
    if not provider or not name:
        return
    provider = _PROVIDERS.get(provider, provider)
    name = _REMARK.sub("", name)  # Claude Code's mark of a longer window: claude-opus-4-5[1m]
    undated = _DATE_OF_RELEASE.sub("", name)
    spellings = (name, _DOT.sub("-", name), undated, _DOT.sub("-", undated))
    for spelling in dict.fromkeys(spellings):
        yield f"{provider}/{spelling}"


def listed_model(model: str, prices: Prices) -> ModelInfo | None:
    """The model with its prices; None where the list has none of it, or it costs nothing."""
    for model_id in listed_ids(model):
        info = prices(model_id)
        if info.input_price and info.output_price:
            return info
    return None


def listed_cost(usage: TokenUsage | None, model: str, prices: Prices) -> Listed:
    """What a call cost by the list, where no cost is recorded with it; ``NOT_LISTED`` where one is,
    where nobody counted input and output apart, and where the model has no listed price."""
    if usage is None or price_size(usage) == NO_LIST:
        return NOT_LISTED
    info = listed_model(model, prices)
    if info is None:
        return NOT_LISTED
    counted = Usage(usage.input, usage.output, usage.cache_read, usage.cache_write)
    cost = cost_of(counted, info, usage.cache_write_1h)
    return Listed(cost.total, cost.low_priced)


def no_listed_cost(_usage: TokenUsage | None, _model: str) -> Listed:
    """Of a session whose agent records what its calls cost: nothing is worked out."""
    return NOT_LISTED

"""How providers say that a request is larger than the model's window, and where each was seen.

Asked only after litellm's own classes and the status have had their say; see
``explorer.models.classify``. A new provider is a new row: the tests play every row's text over HTTP
through litellm, and expect an overflow.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class OverflowText(NamedTuple):
    """One provider's way to say it."""

    provider: str
    """As litellm names it; a server of one's own is ``openai`` with another address."""
    status: int
    pattern: str
    """A regular expression for what does not change, letters of either case."""
    text: str
    """What really was sent."""
    source: str
    code: str = ""
    error_type: str = ""


_GITHUB = "https://github.com/"

OVERFLOW_TEXTS: tuple[OverflowText, ...] = (
    OverflowText(
        "openai", 400, r"maximum context length (?:is|of) [\d,]+",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in"
        " 173172 tokens. Please reduce the length of the messages.",
        _GITHUB + "AsyncFuncAI/deepwiki-open/issues/144",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowText(
        "openai", 400, r"input tokens exceed the configured limit",
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in"
        " 289650 tokens. Please reduce the length of the messages.",
        _GITHUB + "cline/cline/issues/5474",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowText(
        "openai", 400, r"exceeds the context window",
        "Your input exceeds the context window of this model. Please adjust your input and try"
        " again.",
        _GITHUB + "anomalyco/opencode/issues/6071",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowText(
        "azure", 400, r"maximum context length is [\d,]+",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in"
        " 8227 tokens. Please reduce the length of the messages.",
        _GITHUB + "crewAIInc/crewAI-examples/issues/121",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowText(
        "anthropic", 400, r"prompt is too long",
        "prompt is too long: 200251 tokens > 200000 maximum",
        _GITHUB + "boldsoftware/exe.dev/issues/62",
        error_type="invalid_request_error",
    ),
    OverflowText(
        "anthropic", 400, r"input length and `?max_tokens`? exceed context limit",
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease"
        " input length or `max_tokens` and try again",
        _GITHUB + "docker/docker-agent/issues/569",
        error_type="invalid_request_error",
    ),
    OverflowText(
        "anthropic", 413, r"request exceeds the maximum size|request_too_large",
        "Request exceeds the maximum size",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
        error_type="request_too_large",
    ),
    OverflowText(
        "gemini", 400, r"input token count.{0,24}exceeds the maximum number of tokens",
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
        _GITHUB + "google-gemini/gemini-cli/issues/6678",
        error_type="INVALID_ARGUMENT",
    ),
    OverflowText(
        "mistral", 400, r"too large for model with [\d,]+ maximum context length",
        "Prompt contains 65673 tokens, too large for model with 32768 maximum context length",
        "https://discuss.google.dev/t/mistral-large-2407-inference-context-length-error/165446",
        "3051", "invalid_request_error",
    ),
    OverflowText(
        "deepseek", 400, r"maximum context length is [\d,]+",
        "This model's maximum context length is 131072 tokens. However, you requested 131134"
        " tokens (122942 in the messages, 8192 in the completion). Please reduce the length of"
        " the messages or completion.",
        _GITHUB + "evalstate/fast-agent/issues/621",
        "invalid_request_error", "invalid_request_error",
    ),
    OverflowText(
        "groq", 400, r"reduce the length of the messages",
        "Please reduce the length of the messages or completion.",
        _GITHUB + "thepersonalaicompany/amurex-backend/issues/51",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowText(
        "xai", 400, r"maximum prompt length is [\d,]+",
        "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
        _GITHUB + "cline/cline/issues/3120",
    ),
    OverflowText(
        "together_ai", 400, r"`inputs` tokens \+ `max_new_tokens` must be",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125"
        " `inputs` tokens and 4096 `max_new_tokens`",
        _GITHUB + "BerriAI/litellm/issues/4934",
        error_type="invalid_request_error",
    ),
    OverflowText(
        "together_ai", 400, r"is longer than the model'?s context length",
        "The input (132123 tokens) is longer than the model's context length (131072 tokens).",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
        error_type="invalid_request_error",
    ),
    OverflowText(
        "fireworks_ai", 400, r"prompt is too long: [\d,]+, model maximum context length",
        "The prompt is too long: 267657, model maximum context length: 262143",
        _GITHUB + "can1357/oh-my-pi/issues/1618",
        error_type="invalid_request_error",
    ),
    OverflowText(
        "openrouter", 400, r"endpoint'?s maximum context length is [\d,]+",
        "This endpoint's maximum context length is 16384 tokens. However, you requested about"
        " 94307 tokens (94307 of text input). Please reduce the length of either one, or use the"
        ' "middle-out" transform to compress your prompt automatically.',
        _GITHUB + "topoteretes/cognee/issues/1061",
    ),
    OverflowText(
        "cerebras", 400, r"current length is [\d,]+ while limit is",
        "Please reduce the length of the messages or completion. Current length is 42328 while"
        " limit is 40000",
        _GITHUB + "cline/cline/issues/5140",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowText(
        "bedrock", 400, r"input is too long for requested model",
        "Input is too long for requested model.",
        _GITHUB + "aws-samples/bedrock-chat/issues/95",
    ),
    OverflowText(
        "ollama", 400, r"prompt too long; exceeded (?:max )?context length",
        "prompt too long; exceeded max context length by 124 tokens",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    ),
    OverflowText(
        "ollama", 400, r"input length exceeds the (?:maximum )?context length",
        "the input length exceeds the context length",
        _GITHUB + "nano-step/nano-brain/issues/208",
    ),
    OverflowText(
        "llama.cpp", 400, r"exceeds the available context size",
        "the request exceeds the available context size. try increasing the context size or"
        " enable context shift",
        _GITHUB + "oobabooga/textgen/issues/7257",
        error_type="exceed_context_size_error",
    ),
    OverflowText(
        "llama.cpp", 500, r"exceeds the available context size",
        "the request exceeds the available context size. try increasing the context size or"
        " enable context shift",
        _GITHUB + "ggml-org/llama.cpp/pull/15780",
        error_type="exceed_context_size_error",
    ),
    OverflowText(
        "vllm", 400, r"maximum context length is [\d,]+",
        "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens"
        " (9591 in the messages, 10000 in the completion). Please reduce the length of the"
        " messages or completion. None",
        _GITHUB + "vllm-project/vllm/issues/20409",
        "400", "BadRequestError",
    ),
    OverflowText(
        "vllm", 400, r"prompt contains at least [\d,]+ input tokens",
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output"
        " tokens and your prompt contains at least 62466 input tokens, for a total of at least"
        " 128001 tokens.",
        _GITHUB + "vllm-project/vllm/issues/42474",
        "400", "BadRequestError",
    ),
    OverflowText(
        "lm-studio", 400, r"model is loaded with context length of only [\d,]+ tokens",
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is"
        " loaded with context length of only 32768 tokens, which is not enough. Try to load the"
        " model with a larger context length, or provide a shorter input.",
        _GITHUB + "lmstudio-ai/lmstudio-bug-tracker/issues/546",
    ),
    OverflowText(
        "lm-studio", 400, r"tokens to keep from the initial prompt is greater than the context",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        _GITHUB + "logancyang/obsidian-copilot/issues/962",
    ),
    OverflowText(
        "omlx", 400, r"tokens exceeds max context window of [\d,]+",
        "Prompt too long: 41911 tokens exceeds max context window of 32768 tokens",
        _GITHUB + "ValueCell-ai/ClawX/issues/658",
    ),
    OverflowText(
        "mlx-serve", 400, r"exceeds (?:the )?(?:model'?s )?maximum context length",
        "Prompt exceeds maximum context length",
        _GITHUB + "ddalcu/mlx-serve/issues/66",
    ),
)  # fmt: skip
"""Providers that answer an overflow with words; Cerebras also does it with none at all."""

THROTTLED_TEXTS: tuple[OverflowText, ...] = (
    OverflowText(
        "openai", 429, "",
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The"
        " input or output tokens must be reduced in order to run successfully.",
        _GITHUB + "vanna-ai/vanna-flask/issues/11",
        "rate_limit_exceeded", "tokens",
    ),
    OverflowText(
        "groq", 413, "",
        "Request too large for model `llama-3.3-70b-versatile` in organization `org_0` service"
        " tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce"
        " your message size and try again.",
        _GITHUB + "continuedev/continue/issues/10218",
        "rate_limit_exceeded", "tokens",
    ),
    OverflowText(
        "bedrock", 429, "",
        "Too many tokens, please wait before trying again.",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    ),
)  # fmt: skip
"""What sounds like an overflow and is none: the same request may go through a minute later."""

OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "context_window_exceeded", "model_max_prompt_tokens_exceeded"}
)
OVERFLOW_TYPES = frozenset({"exceed_context_size_error", "request_too_large"})
THROTTLE_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests"})
_OVERFLOW_STATUSES = frozenset({400, 413, 422, 500, None})
"""None: the provider said it inside a stream that had begun well. 500: servers of one's own, and
what litellm makes of an error inside a stream."""
_ANY = re.compile("|".join(dict.fromkeys(row.pattern for row in OVERFLOW_TEXTS)), re.IGNORECASE)
_THROTTLED = re.compile(
    r"per[ _-]?(?:min(?:ute)?|second|hour|day)\b|\b[TR]P[MD]\b|rate[ _-]?limit|too many requests"
    r"|throttl|too many tokens, please wait",
    re.IGNORECASE,
)
_SILENT = frozenset({"cerebras"})
"""Providers whose empty refusal means that too much was sent."""


def said_throttled(status: int | None, code: str, text: str) -> bool:
    """Whether a refusal is about how much is sent in a while, whatever else it says (E12)."""
    return status == 429 or code in THROTTLE_CODES or bool(_THROTTLED.search(text))


def said_overflow(
    status: int | None, code: str, error_type: str, text: str, provider: str = ""
) -> bool:
    """Whether a refusal says that the request is larger than the window.

    ``status``: the HTTP status, None inside a stream. ``text``: the provider's own words, without
    what was sent to it. ``provider``: as litellm names it.
    """
    if status not in _OVERFLOW_STATUSES or said_throttled(status, code, text):
        return False
    if code in OVERFLOW_CODES or error_type in OVERFLOW_TYPES:
        return True
    if not text.strip():
        return status == 413 or (status == 400 and provider in _SILENT)
    return status == 413 or bool(_ANY.search(text))

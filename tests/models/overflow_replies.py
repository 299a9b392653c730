"""Refusals of too large requests, as providers really word them, and where each was seen."""

from __future__ import annotations

from typing import NamedTuple


class OverflowReply(NamedTuple):
    """One provider's way to say it."""

    provider: str
    """As litellm names it, or the name of a local server."""
    status: int
    text: str
    """What really was sent."""
    source: str
    code: str = ""
    error_type: str = ""


_GITHUB = "https://github.com/"

OVERFLOW_REPLIES: tuple[OverflowReply, ...] = (
    OverflowReply(
        "openai", 400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in"
        " 173172 tokens. Please reduce the length of the messages.",
        _GITHUB + "AsyncFuncAI/deepwiki-open/issues/144",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowReply(
        "openai", 400,
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in"
        " 289650 tokens. Please reduce the length of the messages.",
        _GITHUB + "cline/cline/issues/5474",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowReply(
        "openai", 400,
        "Your input exceeds the context window of this model. Please adjust your input and try"
        " again.",
        _GITHUB + "anomalyco/opencode/issues/6071",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowReply(
        "azure", 400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in"
        " 8227 tokens. Please reduce the length of the messages.",
        _GITHUB + "crewAIInc/crewAI-examples/issues/121",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowReply(
        "anthropic", 400,
        "prompt is too long: 200251 tokens > 200000 maximum",
        _GITHUB + "boldsoftware/exe.dev/issues/62",
        error_type="invalid_request_error",
    ),
    OverflowReply(
        "anthropic", 400,
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease"
        " input length or `max_tokens` and try again",
        _GITHUB + "docker/docker-agent/issues/569",
        error_type="invalid_request_error",
    ),
    OverflowReply(
        "anthropic", 413,
        "Request exceeds the maximum size",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
        error_type="request_too_large",
    ),
    OverflowReply(
        "gemini", 400,
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
        _GITHUB + "google-gemini/gemini-cli/issues/6678",
        error_type="INVALID_ARGUMENT",
    ),
    OverflowReply(
        "mistral", 400,
        "Prompt contains 65673 tokens, too large for model with 32768 maximum context length",
        "https://discuss.google.dev/t/mistral-large-2407-inference-context-length-error/165446",
        "3051", "invalid_request_error",
    ),
    OverflowReply(
        "deepseek", 400,
        "This model's maximum context length is 131072 tokens. However, you requested 131134"
        " tokens (122942 in the messages, 8192 in the completion). Please reduce the length of"
        " the messages or completion.",
        _GITHUB + "evalstate/fast-agent/issues/621",
        "invalid_request_error", "invalid_request_error",
    ),
    OverflowReply(
        "groq", 400,
        "Please reduce the length of the messages or completion.",
        _GITHUB + "thepersonalaicompany/amurex-backend/issues/51",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowReply(
        "xai", 400,
        "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
        _GITHUB + "cline/cline/issues/3120",
    ),
    OverflowReply(
        "together_ai", 400,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125"
        " `inputs` tokens and 4096 `max_new_tokens`",
        _GITHUB + "BerriAI/litellm/issues/4934",
        error_type="invalid_request_error",
    ),
    OverflowReply(
        "together_ai", 400,
        "The input (132123 tokens) is longer than the model's context length (131072 tokens).",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
        error_type="invalid_request_error",
    ),
    OverflowReply(
        "fireworks_ai", 400,
        "The prompt is too long: 267657, model maximum context length: 262143",
        _GITHUB + "can1357/oh-my-pi/issues/1618",
        error_type="invalid_request_error",
    ),
    OverflowReply(
        "openrouter", 400,
        "This endpoint's maximum context length is 16384 tokens. However, you requested about"
        " 94307 tokens (94307 of text input). Please reduce the length of either one, or use the"
        ' "middle-out" transform to compress your prompt automatically.',
        _GITHUB + "topoteretes/cognee/issues/1061",
    ),
    OverflowReply(
        "cerebras", 400,
        "Please reduce the length of the messages or completion. Current length is 42328 while"
        " limit is 40000",
        _GITHUB + "cline/cline/issues/5140",
        "context_length_exceeded", "invalid_request_error",
    ),
    OverflowReply(
        "bedrock", 400,
        "Input is too long for requested model.",
        _GITHUB + "aws-samples/bedrock-chat/issues/95",
    ),
    OverflowReply(
        "ollama", 400,
        "prompt too long; exceeded max context length by 124 tokens",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    ),
    OverflowReply(
        "ollama", 400,
        "the input length exceeds the context length",
        _GITHUB + "nano-step/nano-brain/issues/208",
    ),
    OverflowReply(
        "llama.cpp", 400,
        "the request exceeds the available context size. try increasing the context size or"
        " enable context shift",
        _GITHUB + "oobabooga/textgen/issues/7257",
        error_type="exceed_context_size_error",
    ),
    OverflowReply(
        "llama.cpp", 500,
        "the request exceeds the available context size. try increasing the context size or"
        " enable context shift",
        _GITHUB + "ggml-org/llama.cpp/pull/15780",
        error_type="exceed_context_size_error",
    ),
    OverflowReply(
        "vllm", 400,
        "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens"
        " (9591 in the messages, 10000 in the completion). Please reduce the length of the"
        " messages or completion. None",
        _GITHUB + "vllm-project/vllm/issues/20409",
        "400", "BadRequestError",
    ),
    OverflowReply(
        "vllm", 400,
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output"
        " tokens and your prompt contains at least 62466 input tokens, for a total of at least"
        " 128001 tokens.",
        _GITHUB + "vllm-project/vllm/issues/42474",
        "400", "BadRequestError",
    ),
    OverflowReply(
        "lm-studio", 400,
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is"
        " loaded with context length of only 32768 tokens, which is not enough. Try to load the"
        " model with a larger context length, or provide a shorter input.",
        _GITHUB + "lmstudio-ai/lmstudio-bug-tracker/issues/546",
    ),
    OverflowReply(
        "lm-studio", 400,
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        _GITHUB + "logancyang/obsidian-copilot/issues/962",
    ),
    OverflowReply(
        "omlx", 400,
        "Prompt too long: 41911 tokens exceeds max context window of 32768 tokens",
        _GITHUB + "ValueCell-ai/ClawX/issues/658",
    ),
    OverflowReply(
        "mlx-serve", 400,
        "Prompt exceeds maximum context length",
        _GITHUB + "ddalcu/mlx-serve/issues/66",
    ),
)  # fmt: skip
"""Providers that answer an overflow with words; Cerebras also does it with none at all."""

THROTTLED_REPLIES: tuple[OverflowReply, ...] = (
    OverflowReply(
        "openai", 429,
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The"
        " input or output tokens must be reduced in order to run successfully.",
        _GITHUB + "vanna-ai/vanna-flask/issues/11",
        "rate_limit_exceeded", "tokens",
    ),
    OverflowReply(
        "groq", 413,
        "Request too large for model `llama-3.3-70b-versatile` in organization `org_0` service"
        " tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce"
        " your message size and try again.",
        _GITHUB + "continuedev/continue/issues/10218",
        "rate_limit_exceeded", "tokens",
    ),
    OverflowReply(
        "bedrock", 429,
        "Too many tokens, please wait before trying again.",
        _GITHUB + "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    ),
)  # fmt: skip
"""What sounds like an overflow and is none: the same request may go through a minute later."""

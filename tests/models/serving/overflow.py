"""Refusals as each provider words and wraps them."""

from __future__ import annotations

import json

from tests.models.overflow_replies import OverflowReply
from tests.models.serving.plans import HttpFailure

_OWN_SERVERS = ("ollama", "llama.cpp", "vllm", "lm-studio", "omlx", "mlx-serve")


def model_of(row: OverflowReply) -> str:
    """The model to ask, so that litellm goes the provider's own way."""
    if row.provider in _OWN_SERVERS:
        return "openai/test-model"
    if row.provider == "bedrock":
        return "bedrock/anthropic.claude-3-5-sonnet-20241022-v2:0"
    return f"{row.provider}/test-model"


def refusal(row: OverflowReply) -> HttpFailure:
    """What the provider's server sends."""
    return HttpFailure(row.status, row.text, raw_body=json.dumps(_body(row)))


def _body(row: OverflowReply) -> object:
    if row.provider == "anthropic":
        return {"type": "error", "error": {"type": row.error_type, "message": row.text}}
    if row.provider == "gemini":
        error = {"code": row.status, "message": row.text, "status": row.error_type}
        return {"error": error}
    if row.provider == "mistral":
        return {
            "object": "error", "message": row.text, "type": row.error_type, "param": None,
            "code": row.code,
        }  # fmt: skip
    if row.provider == "vllm":
        return {"object": "error", "message": row.text, "type": row.error_type, "code": 400}
    if row.provider == "bedrock":
        return {"message": row.text}
    if row.provider == "cerebras":
        return {
            "message": row.text, "type": row.error_type, "param": "messages", "code": row.code,
        }  # fmt: skip
    if row.provider == "openrouter":
        return {"error": {"message": row.text, "code": 400, "metadata": {"provider_name": None}}}
    if row.provider == "xai":
        return {"code": "Client specified an invalid argument", "error": row.text}
    if row.provider == "llama.cpp":
        return {
            "error": {
                "code": row.status, "message": row.text, "type": row.error_type,
                "n_prompt_tokens": 14429, "n_ctx": 8192,
            }
        }  # fmt: skip
    if row.provider == "lm-studio":
        return {"error": row.text}
    error = {"message": row.text, "type": row.error_type or None, "param": None}
    return {"error": {**error, "code": row.code or None}}

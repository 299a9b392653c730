"""What a person sends to the agent: words, and pictures along with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.models.client import ImagePart


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message of the person. ``images`` are base64 without a data-URL prefix."""

    text: str
    images: tuple[ImagePart, ...] = ()

    @classmethod
    def of(cls, prompt: Prompt | str) -> Prompt:
        """A prompt of words alone, or the prompt as it is."""
        return cls(prompt) if isinstance(prompt, str) else prompt

    def message(self) -> dict[str, Any]:
        """The user message as pi writes it, without its time."""
        content: list[dict[str, Any]] = []
        if self.text or not self.images:
            content.append({"type": "text", "text": self.text})
        return {"role": "user", "content": [*content, *image_blocks(self.images)]}


def image_blocks(images: Sequence[ImagePart]) -> list[dict[str, Any]]:
    """Pictures as content blocks of a stored message."""
    return [{"type": "image", "data": one.data_base64, "mimeType": one.mime} for one in images]

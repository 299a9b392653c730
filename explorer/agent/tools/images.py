"""Pictures that a model can be shown, told by their first bytes and not by their names."""

from __future__ import annotations

import base64

from explorer.agent.tools.arguments import ToolError
from explorer.models.request import ImagePart

LARGEST_IMAGE = 3_750_000
"""Bytes; in base64 just under the 5 MB that providers take of one picture."""
HEAD = 16
"""Bytes that tell a picture."""


def kind_of(head: bytes) -> str | None:
    """The media type of a picture that begins so; None for all else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def picture(name: str, kind: str, data: bytes) -> ImagePart:
    """The picture as it is sent. Raises ToolError for one that is too large."""
    if len(data) > LARGEST_IMAGE:
        raise ToolError(
            f"{name} is a picture of {len(data):,} bytes, and a model takes at most"
            f" {LARGEST_IMAGE:,}; make a smaller copy of it and read that"
        )
    return ImagePart(kind, base64.b64encode(data).decode("ascii"))

"""placeholder"""

from __future__ import annotations

from explorer.models.offline.pieces import Emit, IsCancelled, send_end, send_text
from explorer.models.request import ModelRequest


def answer(request: ModelRequest, emit: Emit, cancelled: IsCancelled) -> None:
    if send_text("hello there, I am a demo", emit, cancelled):
        send_end(request, "hello there", "stop", emit)

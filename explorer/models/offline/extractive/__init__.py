"""A summarizer without a language model: it picks, settles and arranges what was stated.

It answers the very request that a language model would get, and invents nothing: every
line is a piece of the conversation or of the earlier summary.
"""

from __future__ import annotations

from explorer.models.offline.answer_stream import Emit, IsCancelled, send_end, send_text
from explorer.models.offline.extractive.repair import is_mending, mend
from explorer.models.offline.extractive.summarizer import summarize
from explorer.models.request import ModelRequest

__all__ = ["answer", "summarize"]


def answer(request: ModelRequest, emit: Emit, cancelled: IsCancelled) -> None:
    """Summarize, or mend a summary, and stream the text; nothing more once `cancelled` returns
    True."""
    text = mend(request) if is_mending(request) else summarize(request, cancelled)
    if not cancelled() and send_text(text, emit, cancelled):
        send_end(request, text, "stop", emit)

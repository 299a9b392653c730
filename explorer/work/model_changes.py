"""A change of model or of thinking level, said in the session itself as entries of their own."""

from __future__ import annotations

from explorer.models.request import ThinkingLevel
from explorer.work.document import Document


async def note_model(
    document: Document, model: str, thinking: ThinkingLevel | None = None
) -> tuple[int, ...]:
    """Append what differs from what the path to the leaf says, so that a reader of the session
    knows from where on which model answered, and how long it was let think.

    ``model`` is ``provider/name``; ``thinking`` None leaves the level as the path has it. Call it
    before the first message that is sent so. Returns the entries that were appended, at most a
    ``model_change`` and a ``thinking_level_change``. Raises StoreError.
    """
    context = document.context()
    appended: list[int] = []
    provider, _, name = model.partition("/")
    name = name or provider  # as a reply of such a model is stored
    if model and context.model != f"{provider}/{name}":
        entry = await document.writer.append(
            "model_change", document.leaf, provider=provider, model_id=name
        )
        appended.append(entry)
    if thinking is not None and context.thinking_level != thinking:
        entry = await document.writer.append(
            "thinking_level_change", document.leaf, thinking_level=thinking
        )
        appended.append(entry)
    return tuple(appended)

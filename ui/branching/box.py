"""What stands in the message box: taken out of it, and put into it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.models.client import ImagePart
from ui.agent.composer_pictures import Attachment, PictureRefused, from_bytes
from ui.agent.pane import AgentPane


@dataclass(frozen=True, slots=True)
class Written:
    """Words and pictures of a message that was not sent."""

    text: str = ""
    pictures: tuple[Attachment, ...] = ()


def written(pane: AgentPane) -> Written:
    """What stands in the box now."""
    return Written(pane.composer.toPlainText(), pane.chips.attachments)


def put_written(pane: AgentPane, what: Written) -> None:
    """Put a message into the box in place of what is there."""
    pane.chips.clear()
    pane.composer.setPlainText(what.text)
    pane.composer.moveCursor(pane.composer.textCursor().MoveOperation.End)
    for picture in what.pictures:
        pane.chips.add(picture)


def decoded(pictures: Sequence[ImagePart]) -> tuple[tuple[Attachment, ...], list[str]]:
    """Pictures of a stored message as the box takes them, and why others cannot be; for a worker
    thread."""
    found: list[Attachment] = []
    refused: list[str] = []
    for number, picture in enumerate(pictures, 1):
        try:
            raw = base64.b64decode(picture.data_base64)
            found.append(from_bytes(raw, f"picture {number}"))
        except (binascii.Error, ValueError, PictureRefused) as error:
            refused.append(str(error) or f"picture {number} cannot be decoded")
    return tuple(found), refused

"""Pictures of the screen with a pointer and a caption, one after another into ffmpeg.

Time in the film is counted, not measured: a busy machine makes the filming longer, not the film.
"""

from __future__ import annotations

import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.window.running import RunningWindow

RATE = 10
"""Frames in a second."""
CAPTION = 72
"""Pixels below the window for the caption."""
_GLIDE_S = 0.9
_LETTERS_S = 22
"""Letters typed in a second."""

_POINTER = QPolygonF(
    [
        QPointF(x, y)
        for x, y in ((0, 0), (0, 20), (5, 15.5), (8.5, 23), (12, 21.5), (8.7, 14), (15, 14))
    ]
)


class Camera:
    """Films one window; its hands move at the pace of somebody who shows something."""

    def __init__(self, live: RunningWindow, encoder: subprocess.Popen[bytes], keep: Path | None):
        self.live = live
        self.seconds = 0.0
        self._encoder = encoder
        self._keep = keep
        self._caption = ""
        self._captions = 0
        self._at = QPoint(live.window.width() // 2, live.window.height() // 2)

    # frames --------------------------------------------------------------------------------------

    def _frame(self) -> QImage:
        screen = QApplication.primaryScreen()
        shot = screen.grabWindow(0).toImage().convertToFormat(QImage.Format.Format_RGB32)
        whole = QImage(shot.width(), shot.height() + CAPTION, QImage.Format.Format_RGB32)
        whole.fill(QColor("#1f2430"))
        painter = QPainter(whole)
        painter.drawImage(0, 0, shot)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor("white"), 1.2))
        painter.setBrush(QColor("black"))
        painter.drawPolygon(_POINTER.translated(QPointF(self._at)))
        font = QFont(self.live.window.font())
        font.setPixelSize(24)
        painter.setFont(font)
        painter.setPen(QColor("white"))
        room = QRect(24, shot.height(), shot.width() - 48, CAPTION)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(room, int(flags), self._caption)
        painter.end()
        return whole

    def _write(self, frame: QImage, times: int = 1) -> None:
        assert self._encoder.stdin is not None
        data = bytes(frame.constBits())
        for _ in range(times):
            self._encoder.stdin.write(data)
        self.seconds += times / RATE

    async def hold(self, seconds: float) -> None:
        """Show what is there for a while."""
        await self.live.settle(30)
        self._write(self._frame(), max(1, round(seconds * RATE)))

    async def say(self, words: str, seconds: float) -> None:
        """Put a caption under the window, and give time to read it."""
        self._caption = words
        await self.hold(seconds)
        if self._keep is not None:
            self._captions += 1
            self._frame().save(str(self._keep / f"{self._captions:02}.png"))

    # hands ---------------------------------------------------------------------------------------

    async def _glide(self, to: QPoint, on: Callable[[QPoint], None]) -> None:
        start, steps = self._at, round(_GLIDE_S * RATE)
        for step in range(1, steps + 1):
            share = step / steps
            share = share * share * (3 - 2 * share)
            self._at = start + QPoint(
                round((to.x() - start.x()) * share), round((to.y() - start.y()) * share)
            )
            on(self._at)
            await self.live.settle(3)
            self._write(self._frame())

    async def point(self, widget: QWidget, at: QPoint | None = None) -> None:
        """Move the pointer onto a widget."""
        spot = widget.mapToGlobal(at or widget.rect().center())

        def hover(place: QPoint) -> None:
            under = QApplication.widgetAt(place)
            if under is not None:
                local = QPointF(under.mapFromGlobal(place))
                none = Qt.MouseButton.NoButton
                move = QMouseEvent(
                    QEvent.Type.MouseMove, local, QPointF(place), none, none,
                    Qt.KeyboardModifier.NoModifier,
                )  # fmt: skip
                QApplication.sendEvent(under, move)

        await self._glide(spot, hover)

    async def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        """Move there, and click."""
        await self.point(widget, at)
        await self.hold(0.3)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or widget.rect().center())
        await self.hold(0.3)

    async def drag(self, widget: QWidget, start: QPoint, by: QPoint) -> None:
        """Take hold of something painted, move it and let go."""
        await self.point(widget, start)
        left = Qt.MouseButton.LeftButton
        QTest.mousePress(widget, left, pos=start)

        def move(place: QPoint) -> None:
            QTest.mouseMove(widget, widget.mapFromGlobal(place))

        await self._glide(widget.mapToGlobal(start + by), move)
        await self._glide(widget.mapToGlobal(start + by), move)
        QTest.mouseRelease(widget, left, pos=start + by)
        await self.hold(0.5)

    async def type(self, text: str) -> None:
        """Type words letter by letter."""
        step = max(1, _LETTERS_S // RATE)
        for at in range(0, len(text), step):
            self.live.type(text[at : at + step])
            await self.live.settle(2)
            self._write(self._frame())

    async def wait(self, condition: Callable[[], object], what: str) -> None:
        """Until something is there; of the time it takes, a second is filmed."""
        await self.live.until(condition, what)
        await self.live.settle(10)
        await self.hold(1.0)


Story = Callable[[Camera], Awaitable[None]]


def encode(target: Path, size: tuple[int, int]) -> subprocess.Popen[bytes]:
    """An ffmpeg that takes frames and writes a film or, to a name in .gif, a moving picture."""
    width, height = size
    command = [
        "ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "bgr0",
        "-video_size", f"{width}x{height}", "-framerate", str(RATE), "-i", "-",
    ]  # fmt: skip
    if target.suffix == ".gif":
        # Few colours and no dithering: text stays sharp, and what stands still takes no room.
        command += [
            "-vf",
            "mpdecimate=hi=1:lo=1:frac=0,scale=1024:-2:flags=lanczos,split[a][b];"
            "[a]palettegen=max_colors=96:stats_mode=full[p];"
            "[b][p]paletteuse=dither=none:diff_mode=rectangle",
            "-fps_mode", "vfr", "-loop", "0",
        ]  # fmt: skip
    else:
        command += ["-c:v", "libx264", "-preset", "veryfast", "-crf", "22", "-pix_fmt", "yuv420p"]
        command += ["-tune", "stillimage", "-movflags", "+faststart"]
    return subprocess.Popen([*command, str(target)], stdin=subprocess.PIPE)

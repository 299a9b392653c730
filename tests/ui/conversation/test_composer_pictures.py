"""Pictures that go with a message: what is pasted, how small it is made, how it is removed."""

from __future__ import annotations

import base64
from pathlib import Path
from random import Random

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ui.conversation.attachments import (
    LONGEST_SIDE,
    MOST_BYTES,
    AttachmentRefused,
    ChipRow,
    from_bytes,
    from_file,
    from_image,
)
from ui.conversation.composer import Composer

Key = Qt.Key


def picture(width: int, height: int) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#2458c5"))
    return image


def test_a_file_that_every_provider_takes_is_sent_as_it_is(
    app: QApplication, tmp_path: Path
) -> None:
    path = tmp_path / "shot.png"
    assert picture(300, 200).save(str(path))
    made = from_file(path)
    assert base64.b64decode(made.part.data_base64) == path.read_bytes()
    assert (made.part.mime, made.width, made.height) == ("image/png", 300, 200)
    assert made.words == "shot.png, 300 × 200"


def test_what_is_too_large_is_made_smaller(app: QApplication) -> None:
    made = from_image(picture(5000, 1000), "wide")
    assert (made.width, made.height) == (LONGEST_SIDE, LONGEST_SIDE // 5)
    side = 1900
    noise = QImage(Random(7).randbytes(side * side * 4), side, side, QImage.Format.Format_RGB32)
    made = from_image(noise, "noise")
    assert made.size <= MOST_BYTES
    assert made.part.mime == "image/jpeg"


def test_what_is_no_picture_is_refused_with_its_name(app: QApplication) -> None:
    for raw in (b"hello", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG\r\n\x1a\nxx"):
        with pytest.raises(AttachmentRefused, match=r"it\.png"):
            from_bytes(raw, "it.png")


def test_pictures_and_files_are_told_of_and_text_is_put_in(app: QApplication) -> None:
    composer = Composer()
    pictures: list[QImage] = []
    files: list[list[str]] = []
    composer.picture_given.connect(pictures.append)
    composer.files_given.connect(files.append)
    data = QMimeData()
    data.setImageData(picture(20, 10))
    composer.insertFromMimeData(data)
    assert [image.width() for image in pictures] == [20]
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/tmp/a b.txt"), QUrl("https://example.org/x")])
    composer.insertFromMimeData(data)
    assert files == [["/tmp/a b.txt"]]
    data = QMimeData()
    data.setImageData(picture(20, 10))
    data.setText("cell A1")
    composer.insertFromMimeData(data)
    assert composer.toPlainText() == "cell A1", "a table's cells are text first"
    assert len(pictures) == 1


def test_a_chip_is_removed_by_key_and_by_its_cross(app: QApplication) -> None:
    row = ChipRow()
    row.resize(500, 60)
    for name in ("one", "two", "three"):
        row.add(from_image(picture(30, 20), name))
    row.show()
    row.activateWindow()
    QTest.qWaitForWindowActive(row)
    row.chips[0].setFocus()
    QTest.keyClick(row.chips[0], Key.Key_Delete)
    assert [one.name for one in row.attachments] == ["two", "three"]
    QTest.mouseClick(row.chips[1]._cross, Qt.MouseButton.LeftButton)
    assert [one.name for one in row.attachments] == ["two"]
    assert "two" in row.chips[0].accessibleName()
    row.set_warning("blind takes no pictures.")
    emptied: list[bool] = []
    row.emptied.connect(lambda: emptied.append(True))
    row.chips[0].setFocus()
    QTest.keyClick(row.chips[0], Key.Key_Backspace)
    assert emptied == [True]
    assert row.isHidden()

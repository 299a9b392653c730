"""The tokens reach their contrast, and feed everything that is drawn."""

from __future__ import annotations

import plistlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontInfo, QImage, QPainter, QPalette, QTransform
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from explorer.compaction.partition import Verdict
from explorer.session.kinds import Flag, Kind
from ui import theme as themes
from ui.theme.style import ICON_DIR
from ui.theme.tokens import SURFACES, TEXT_TOKENS
from ui.widgets.labels import Caption


@pytest.fixture(autouse=True)
def _back_to_normal(app: QApplication) -> Iterator[None]:
    yield
    themes.set_text_scale(1.0)
    themes.set_theme("light", app)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_every_text_colour_is_readable_on_every_surface(name: str) -> None:
    """4.5:1 on window, panes and cards; on the selected row 4.5:1 for body text and accents."""
    now = themes.THEMES[name]
    for token in TEXT_TOKENS:
        for surface in SURFACES:
            ratio = themes.contrast(getattr(now, token), getattr(now, surface))
            assert ratio >= 4.5, f"{token} on {surface}: {ratio:.2f}"
    assert themes.contrast(now.on_accent, now.accent) >= 4.5
    assert themes.contrast(now.ink, now.added) >= 4.5
    assert themes.contrast(now.ink, now.removed) >= 4.5


def test_switching_changes_palette_sheet_and_painters_at_run_time(app: QApplication) -> None:
    spy = QSignalSpy(themes.theme_signals.changed)
    themes.set_theme("dark", app)
    assert spy.count() == 1
    assert themes.theme() is themes.DARK
    assert app.palette().color(QPalette.ColorRole.Window) == themes.DARK.paper
    assert themes.DARK.card.name() in app.styleSheet()
    assert themes.LIGHT.paper.name() not in app.styleSheet()


def test_system_choice_follows_the_system(app: QApplication) -> None:
    themes.set_theme("system", app)
    app.styleHints().setColorScheme(Qt.ColorScheme.Dark)
    try:
        app.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
        dark = app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        assert themes.theme().is_dark is dark
    finally:
        app.styleHints().unsetColorScheme()


def test_an_unknown_theme_is_refused(app: QApplication) -> None:
    with pytest.raises(ValueError, match="sepia"):
        themes.set_theme("sepia", app)  # type: ignore[arg-type]


def test_files_named_by_the_style_sheet_exist(app: QApplication) -> None:
    for name in ("light", "dark"):
        themes.set_theme(name, app)  # type: ignore[arg-type]
        for part in app.styleSheet().split('url("')[1:]:
            path = part.split('"')[0]
            assert (ICON_DIR / path.rsplit("/", 1)[1]).is_file(), path


def test_text_scale_grows_every_font(app: QApplication) -> None:
    before = [f().pointSizeF() for f in (themes.ui_font, themes.small_font, themes.mono_font)]
    themes.set_text_scale(2.0)
    after = [f().pointSizeF() for f in (themes.ui_font, themes.small_font, themes.mono_font)]
    assert after == pytest.approx([size * 2 for size in before])


def _painted(verdict: int, dpr: float) -> QImage:
    image = QImage(round(48 * dpr), round(32 * dpr), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(dpr)
    image.fill(themes.theme().paper)
    painter = QPainter(image)
    themes.paint_verdict(painter, QRectF(0, 0, 48, 32), verdict)
    painter.end()
    return image


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("dpr", [1.0, 1.5, 2.0])
def test_verdicts_differ_by_texture_not_only_by_colour(
    app: QApplication, name: str, dpr: float
) -> None:
    """Turned grey, every two verdicts still differ (E: no meaning by colour alone)."""
    themes.set_theme(name, app)  # type: ignore[arg-type]
    # The bits of an image last as long as the image.
    images = [
        _painted(v, dpr).convertToFormat(QImage.Format.Format_Grayscale8)
        for v in range(len(themes.VERDICT_TITLES))
    ]
    grey = [bytes(image.constBits()) for image in images]
    for a in range(len(grey)):
        for b in range(a):
            differing = sum(1 for x, y in zip(grey[a], grey[b], strict=True) if abs(x - y) > 12)
            assert differing > 60, (themes.verdict_title(a), themes.verdict_title(b))


def test_hatches_run_in_opposite_directions(app: QApplication) -> None:
    """Summarize falls to the right, turn prefix rises: mirrored, one is the other's pattern."""
    to_summarize, prefix = (
        themes.verdict_brush(v, 1.0).textureImage().convertToFormat(QImage.Format.Format_Alpha8)
        for v in (1, 2)
    )
    mirrored = prefix.transformed(QTransform().scale(-1, 1))
    rows = range(to_summarize.height())
    same = [
        abs(to_summarize.pixelColor(x, y).alpha() - mirrored.pixelColor(x, y).alpha()) < 40
        for x in rows
        for y in rows
    ]
    assert sum(same) > len(same) * 0.9


def test_role_of_a_reply_comes_from_what_it_holds() -> None:
    call_only = Flag.HAS_TOOL_CALL | Flag.HAS_THINKING
    assert themes.role_icon(Kind.ASSISTANT, Flag.HAS_TEXT) == "assistant"
    assert themes.role_icon(Kind.ASSISTANT, Flag.HAS_TEXT | call_only) == "assistant"
    assert themes.role_icon(Kind.ASSISTANT, call_only) == "tool"
    assert themes.role_icon(Kind.ASSISTANT, Flag.HAS_THINKING) == "thinking"
    assert themes.role_name(Kind.TOOL_RESULT, Flag.ERROR) == "tool result, failed"
    assert themes.role_icon(Kind.CUSTOM, Flag.PINNING) == "pin"
    assert themes.role_token(Kind.TOOL_RESULT, Flag.ERROR) == "lost"
    placeholder = Flag.ERROR | Flag.PLACEHOLDER | Flag.HAS_TEXT
    assert themes.role_name(Kind.ASSISTANT, placeholder) == "automatic reply"
    assert themes.role_token(Kind.ASSISTANT, placeholder) == "dim"


def test_every_kind_has_a_look() -> None:
    for kind in Kind:
        assert themes.role_icon(kind) in themes.ICON_NAMES
        assert isinstance(getattr(themes.theme(), themes.role_token(kind)), QColor)
    main = [Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH_EXECUTION, Kind.COMPACTION]
    assert len({themes.role_icon(kind) for kind in [*main, Kind.BRANCH_SUMMARY]}) == 6


def test_every_icon_draws_something(app: QApplication) -> None:
    for name in themes.ICON_NAMES:
        image = themes.icon_pixmap(name, "ink", 16, 2.0).toImage()
        inked = sum(
            image.pixelColor(x, y).alpha() > 128
            for x in range(image.width())
            for y in range(image.height())
        )
        assert 8 < inked < 700, name


def test_a_bound_icon_follows_the_theme(app: QApplication) -> None:
    button = QPushButton()
    themes.bind_icon(button, "copy")
    light = button.icon().pixmap(16, 16).toImage()
    themes.set_theme("dark", app)
    dark = button.icon().pixmap(16, 16).toImage()
    assert light != dark
    themes.bind_icon(button, "check")
    assert button.icon().pixmap(16, 16).toImage() != dark
    button.deleteLater()


def test_tone_can_change_after_showing(app: QApplication) -> None:
    widget = QWidget()
    themes.set_tone(widget, "lost")
    assert widget.property("tone") == "lost"
    widget.deleteLater()


def test_a_font_of_the_scale_stays_when_its_widget_moves(app: QApplication) -> None:
    window = QWidget()
    places = [QWidget(window), QWidget(window)]
    for place in places:
        QVBoxLayout(place)
    label = Caption("small", places[0])
    window.show()
    themes.set_text_scale(1.5)
    themes.set_theme("light", app)
    layout = places[1].layout()
    assert layout is not None
    layout.addWidget(label)
    assert label.font().pointSizeF() == pytest.approx(themes.small_font().pointSizeF())
    window.deleteLater()


def test_motion_is_short_and_can_be_off() -> None:
    assert themes.motion_ms(1000) <= 200
    themes.set_motion(False)
    try:
        assert themes.motion_ms(150) == 0
    finally:
        themes.set_motion(True)


def test_motion_is_less_where_the_system_says_so(tmp_path: Path) -> None:
    asks = themes.system_asks_for_less_motion
    assert not asks("linux", tmp_path, {})
    gtk = tmp_path / ".config/gtk-4.0/settings.ini"
    gtk.parent.mkdir(parents=True)
    gtk.write_text("[Settings]\ngtk-enable-animations=true\n")
    assert not asks("linux", tmp_path, {})
    gtk.write_text("[Settings]\ngtk-enable-animations=0\n")
    assert asks("linux", tmp_path, {})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kdeglobals").write_text("[KDE]\nAnimationDurationFactor=0\n")
    assert asks("linux", tmp_path, {"XDG_CONFIG_HOME": str(elsewhere)})
    (elsewhere / "kdeglobals").write_text("no section\n[KDE\n")
    assert not asks("linux", tmp_path, {"XDG_CONFIG_HOME": str(elsewhere)})
    mac = tmp_path / "Library/Preferences/com.apple.universalaccess.plist"
    mac.parent.mkdir(parents=True)
    mac.write_bytes(plistlib.dumps({"reduceMotion": 1}))
    assert asks("darwin", tmp_path, {})
    mac.write_bytes(b"damaged")
    assert not asks("darwin", tmp_path, {})


def test_the_textures_stand_for_the_verdicts_of_compaction() -> None:
    assert [verdict.name.lower().replace("_", " ") for verdict in Verdict] == list(
        themes.VERDICT_TITLES
    )


def test_no_text_is_smaller_than_twelve_pixels(app: QApplication) -> None:
    fonts = [
        themes.small_font(), themes.small_font(bold=True), themes.ui_font(-4),
        themes.mono_font(-1), themes.mono_font(-4),
    ]  # fmt: skip
    assert min(QFontInfo(font).pixelSize() for font in fonts) >= 12

"""One widget per block of an entry."""

from __future__ import annotations

import json
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.session.entries import ImageBlock, ShellMessage, TextBlock, ThinkingBlock
from ui.inspector.code import LIMIT, colour
from ui.inspector.diff_view import DiffView
from ui.inspector.images import PictureView
from ui.inspector.markdown_view import MarkdownView, can_render
from ui.theme import (
    S4,
    S8,
    S12,
    bind_font,
    bind_icon,
    icon_pixmap,
    mono_font,
    on_theme_changed,
    scaled,
    set_tone,
)
from ui.widgets.figures import count, size
from ui.widgets.labels import Caption, ElidedLabel, LinkButton
from ui.widgets.message_blocks import (
    Block,
    CallBlock,
    DiffBlock,
    FactsBlock,
    JsonBlock,
    NamedValue,
    PlainBlock,
    ResultBlock,
    shell_remarks,
)
from ui.widgets.panels import CollapsibleSection, column_in, row
from ui.widgets.plain_text import PlainTextView

RESULT_HEIGHT = 420
SHORT_HEIGHT = 200
BESIDE = 860
"""From this width on, a call and its result stand side by side."""


def copy_button(text: Callable[[], str], what: str, parent: QWidget) -> QToolButton:
    """A small button that copies a text."""
    button = QToolButton(parent)
    bind_icon(button, "copy", "dim")
    button.setToolTip(f"Copy {what}")
    button.setAccessibleName(f"Copy {what}")
    button.clicked.connect(lambda: QGuiApplication.clipboard().setText(text()))
    return button


class CodeView(PlainTextView):
    """Plain text in the fixed font, coloured when its language is known."""

    def __init__(
        self,
        text: str,
        *,
        language: str = "",
        path: str = "",
        fit: int = RESULT_HEIGHT,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, fit=fit)
        self._language, self._path = language, path
        self.set_text(text)
        on_theme_changed(self._colour)
        self._colour()

    def show_code(self, text: str) -> None:
        """Show another text in the same language."""
        self.set_text(text)
        self._colour()

    def _colour(self) -> None:
        text = self.text()
        if len(text) <= LIMIT and not self.is_loading:
            document = self.document()
            colour(document, document.begin(), text, self._language, self._path)


class BlockView(QWidget):
    """A block with its caption, what belongs at the caption's right end, and its content."""

    link_asked = Signal(str)
    entry_id_asked = Signal(str)
    entry_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(S4)

    def caption(self, icon: str, token: str, title: str, *tail: QWidget, dim: str = "") -> None:
        """Add the line above the content."""
        sign = QLabel(self)
        words = ElidedLabel(title, self)
        set_tone(words, "lost" if token == "lost" else "")
        parts: list[QWidget | int] = [sign, words]
        row_ = row(*parts, spacing=6, wide=words)
        if dim:
            row_.addWidget(Caption(dim, self))
        for widget in tail:
            row_.addWidget(widget)
        self.column.addLayout(row_)

        def restyle() -> None:
            sign.setPixmap(icon_pixmap(icon, token, scaled(14), self.devicePixelRatioF()))

        self._restyle_caption = restyle
        on_theme_changed(self._theme_changed)
        restyle()

    def _theme_changed(self) -> None:
        self._restyle_caption()

    def text(self, text: str, *, path: str = "", fit: int = RESULT_HEIGHT) -> PlainTextView:
        """Add plain text, coloured when the path tells a language."""
        view = CodeView(text, path=path, fit=fit, parent=self)
        self.column.addWidget(self.boxed(view))
        return view

    def boxed(self, inner: QWidget) -> QFrame:
        """A card around a view."""
        frame = QFrame(self)
        frame.setProperty("card", True)
        column = column_in(frame, margins=(S8, S4, S4, S4))
        column.addWidget(inner)
        return frame

    def prose(self, text: str) -> QWidget:
        """Add text of a person or a model: Markdown where it is not too large."""
        if not can_render(text):
            view = PlainTextView(self, fit=RESULT_HEIGHT, mono=False)
            view.set_text(text)
            self.column.addWidget(view)
            return view
        rendered = MarkdownView(self)
        rendered.link_asked.connect(self.link_asked)
        rendered.set_markdown(text)
        self.column.addWidget(rendered)
        return rendered


class TextView(BlockView):
    """Text that may be Markdown."""

    def __init__(self, block: TextBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.prose(block.text)


class PlainView(BlockView):
    """Text in the fixed font, with a title."""

    def __init__(self, block: PlainBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if block.title:
            icon, token = ("error", "lost") if block.is_error else ("note", "dim")
            self.caption(icon, token, block.title)
        self.text(block.text, path=block.path)


class ThinkingView(BlockView):
    """Thinking, folded."""

    def __init__(self, block: ThinkingBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if not block.text:
            self.caption("thinking", "think", "thinking that the provider does not show")
            return
        inner = BlockView(self)
        inner.link_asked.connect(self.link_asked)
        inner.prose(block.text)
        inner.column.setContentsMargins(S12, 0, 0, 0)
        lines = count(block.text.count("\n") + 1, "line")
        self.fold = CollapsibleSection(f"thinking, {lines}", inner, tone="think", parent=self)
        self.column.addWidget(self.fold)


class FactsView(BlockView):
    """Named values; those that name an entry are links to it."""

    def __init__(self, block: FactsBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(S12)
        grid.setVerticalSpacing(S4)
        grid.setColumnStretch(1, 1)
        for line, fact in enumerate(block.facts):
            name = Caption(fact.name, self)
            name.setAlignment(Qt.AlignmentFlag.AlignTop)
            grid.addWidget(name, line, 0)
            grid.addWidget(self._value(fact), line, 1)
        self.column.addLayout(grid)

    def _value(self, fact: NamedValue) -> QWidget:
        if fact.entry_id:
            link = LinkButton(fact.value, self)
            link.setToolTip("Go to this entry")
            link.clicked.connect(lambda: self.entry_id_asked.emit(fact.entry_id))
            return link
        if "\n" in fact.value or len(fact.value) > 120:
            view = PlainTextView(self, fit=SHORT_HEIGHT)
            view.setAccessibleName(fact.name)
            view.set_text(fact.value)
            return view
        label = QLabel(fact.value, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # A label that wraps asks for little; the names beside it would take the rest.
        label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        label.setWordWrap(True)
        return label


class JsonView(BlockView):
    """A value as indented JSON."""

    def __init__(self, block: JsonBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        text = json.dumps(block.value, ensure_ascii=False, indent=2)
        self.caption("raw", "dim", block.title, copy_button(lambda: text, "the JSON", self))
        self.column.addWidget(self.boxed(CodeView(text, language="json", parent=self)))


class ResultView(BlockView):
    """What a tool answered."""

    def __init__(self, block: ResultBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        state = "failed result" if block.is_error else "result"
        lines = "no output" if block.text else "no text"
        if block.lines:
            lines = count(block.lines, "line")
        tail: list[QWidget] = []
        if block.entry >= 0:
            link = LinkButton(f"#{block.entry}", self)
            link.setToolTip("Go to the result's entry")
            link.clicked.connect(lambda: self.entry_asked.emit(block.entry))
            tail.append(link)
        tail.append(copy_button(lambda: block.text, "the result", self))
        icon, token = ("error", "lost") if block.is_error else ("result", "tool")
        length = f", {size(len(block.text))}" if len(block.text) > 4096 else ""
        self.caption(icon, token, state, *tail, dim=lines + length)
        if block.text:
            self.body = self.text(block.text, path=block.path)
            self.body.setAccessibleName(f"{state} of {block.tool}")
        for image in block.images:
            self.column.addWidget(PictureView(image, self))


class CallView(BlockView):
    """A tool call beside its result; below it where there is less room."""

    def __init__(self, block: CallBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sides = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._sides.setSpacing(S12)
        self.call = BlockView(self)
        self._fill_call(block)
        self._sides.addWidget(self.call, 1, Qt.AlignmentFlag.AlignTop)
        self.results = [ResultView(result, self) for result in block.results]
        for view in self.results:
            view.entry_asked.connect(self.entry_asked)
            self._sides.addWidget(view, 1, Qt.AlignmentFlag.AlignTop)
        self.column.addLayout(self._sides)

    def _fill_call(self, block: CallBlock) -> None:
        tail: list[QWidget] = []
        if block.entry >= 0:
            link = LinkButton(f"#{block.entry}", self)
            link.setToolTip("Go to the reply that made this call")
            link.clicked.connect(lambda: self.entry_asked.emit(block.entry))
            tail.append(link)
        arguments = json.dumps(block.arguments, ensure_ascii=False, indent=2)
        tail.append(copy_button(lambda: arguments, "the arguments", self))
        self.call.caption("tool", "tool", block.title, *tail, dim=block.missing)
        for diff in block.diffs:
            self._diff(diff)
        if block.written:
            self.call.text(block.written, path=block.path)
        if block.command:
            view = CodeView(block.command, language="bash", fit=SHORT_HEIGHT, parent=self)
            view.setAccessibleName("Command")
            self.call.column.addWidget(self.call.boxed(view))
        if block.more:
            self._arguments(block)

    def _diff(self, diff: DiffBlock) -> None:
        view = DiffView(diff, self)
        changes = Caption(view.summary, self)
        self.call.column.addWidget(changes)
        self.call.column.addWidget(self.call.boxed(view))

    def _arguments(self, block: CallBlock) -> None:
        if words := block.more_words:
            label = Caption(words, self)
            bind_font(label, lambda: mono_font(-0.5))
            label.setWordWrap(True)
            self.call.column.addWidget(label)
            return
        text = json.dumps(block.more, ensure_ascii=False, indent=2)
        view = CodeView(text, language="json", fit=SHORT_HEIGHT, parent=self)
        self.call.column.addWidget(self.call.boxed(view))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        wide = self.width() >= BESIDE and bool(self.results)
        self._sides.setDirection(
            QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        )


class CommandView(BlockView):
    """A command that the person ran, with its exit code."""

    def __init__(self, block: ShellMessage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        failed = bool(block.exit_code)
        code = "no exit code" if block.exit_code is None else f"exit code {block.exit_code:g}"
        words = " · ".join([code, *shell_remarks(block)])
        icon = "python" if block.language == "python" else "shell"
        self.caption(
            icon,
            "lost" if failed else "shell",
            "command failed" if failed else "command",
            copy_button(lambda: block.command, "the command", self),
            dim=words,
        )
        view = CodeView(block.command, language=block.language, fit=SHORT_HEIGHT, parent=self)
        view.setAccessibleName("Command")
        self.column.addWidget(self.boxed(view))
        if block.output:
            out = count(block.output.count("\n") + 1, "line")
            self.caption(
                "result", "tool", "output", copy_button(lambda: block.output, "the output", self),
                dim=out,
            )  # fmt: skip
            self.text(block.output).setAccessibleName("Output")


def view_of(block: Block, parent: QWidget) -> QWidget:
    """The widget for a block."""
    match block:
        case TextBlock():
            return TextView(block, parent)
        case PlainBlock():
            return PlainView(block, parent)
        case ThinkingBlock():
            return ThinkingView(block, parent)
        case CallBlock():
            return CallView(block, parent)
        case ResultBlock():
            return ResultView(block, parent)
        case ShellMessage():
            return CommandView(block, parent)
        case FactsBlock():
            return FactsView(block, parent)
        case ImageBlock():
            return PictureView(block, parent)
        case JsonBlock():
            return JsonView(block, parent)

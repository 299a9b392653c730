"""What the settings of extensions do: asked or not, and how long a handler may take."""

from __future__ import annotations

from explorer.extensions.manager import user_folder
from explorer.settings import paths
from explorer.settings.live import following_extensions, live_settings
from tests.extensions.making import before_compact, handler, wait, write


def _set(text: str) -> None:
    path = paths.settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_extensions_are_asked_until_the_settings_say_otherwise() -> None:
    """A12: the file is read at every call; nothing is started anew."""
    write(user_folder(), "stop", handler("session_before_compact", "return {'cancel': True}"))
    extensions = following_extensions(live_settings())
    assert before_compact(wait(extensions.runner(""))).cancelled_by == "stop"
    _set('{"extensions.enabled": false}')
    assert not before_compact(wait(extensions.runner(""))).cancelled_by
    _set('{"extensions.enabled": true}')
    assert before_compact(wait(extensions.runner(""))).cancelled_by == "stop"
    extensions.close()


def test_a_handler_may_take_as_long_as_the_settings_say() -> None:
    code = handler("session_before_compact", "time.sleep(1)\nreturn {'cancel': True}")
    write(user_folder(), "slow", code)
    extensions = following_extensions(live_settings())
    _set('{"extensions.timeoutMs": 100}')
    found = before_compact(wait(extensions.runner("")))
    assert not found.cancelled_by and [record.did for record in found.records] == ["timed out"]
    extensions.close()

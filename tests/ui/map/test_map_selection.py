"""Another session has another entry of the same number: who shows the selected one is told."""

from __future__ import annotations

from tests.ui.sessions import Talk
from tests.ui.waiting import Heard
from ui.map.model import MapModel


def test_another_session_is_another_selection(app: object) -> None:
    first, second = Talk(), Talk()
    for talk in (first, second):
        talk.user("one")
    model = MapModel()
    heard = Heard(model.selection_changed)
    try:
        for talk in (first, second):
            document = talk.document
            model.show_session(document.tree, document.payloads.shown, document.leaf, {})
        assert [heard.at(0)[0], heard.at(1)[0]] == [0, 0]
        model.clear()
        assert heard.at(2)[0] == -1
    finally:
        model.close()

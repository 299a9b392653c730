"""All attacks."""

from __future__ import annotations

from tests.attacks.attack import Attack
from tests.attacks.commands import COMMANDS
from tests.attacks.content import CONTENT
from tests.attacks.kills import KILLS
from tests.attacks.long_lines import LONG_LINES
from tests.attacks.model_servers import MODEL_SERVERS
from tests.attacks.session_files import SESSION_FILES
from tests.attacks.terminals import TERMINALS

ATTACKS: tuple[Attack, ...] = (
    COMMANDS,
    CONTENT,
    KILLS,
    LONG_LINES,
    MODEL_SERVERS,
    SESSION_FILES,
    TERMINALS,
)

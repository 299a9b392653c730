"""A few rounds of every attack, the same ones each time."""

from __future__ import annotations

import pytest

from tests.attacks.attack import Attack, run_round
from tests.attacks.catalogue import ATTACKS


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_promise_is_broken(attack: Attack) -> None:
    findings = [
        str(finding)
        for number in range(attack.test_rounds)
        for finding in run_round(attack, f"test-{number}")
    ]
    assert findings == []

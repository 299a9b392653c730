"""What an attack is, and how rounds of it are run."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

Round = Callable[[Random, Path], Iterable[str]]
"""One round: input made from the random source alone, files in the folder alone; yields one
sentence for each promise that was broken, with the input that broke it."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One kind of attack. A round takes from some milliseconds to a few seconds."""

    name: str
    run: Round
    test_rounds: int
    """How many rounds the test suite runs, in some seconds together."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken promise, and how to see it again."""

    attack: str
    seed: str
    text: str

    def __str__(self) -> str:
        command = f"python -m tests.attacks --only {self.attack} --seed {self.seed} --rounds 1"
        return f"{self.attack}: {self.text}\n  again: {command}"


def run_round(attack: Attack, seed: str) -> Iterator[Finding]:
    """The findings of one round; the same seed makes the same input. An error that an attack
    does not expect is one of them, so that a long run goes on. The environment is as before."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix=f"attack-{attack.name}-") as folder:
        try:
            for text in attack.run(Random(f"{attack.name} {seed}"), Path(folder)):
                yield Finding(attack.name, seed, text)
        except Exception:  # noqa: BLE001 - reported with its traceback
            yield Finding(attack.name, seed, traceback.format_exc())
        finally:
            os.environ.clear()
            os.environ |= environment

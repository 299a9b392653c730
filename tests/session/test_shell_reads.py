"""What a command is said to print of files is what a shell prints of them."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from explorer.session.result_text import PrintedFile, printed_files
from explorer.session.shell_commands import FileLines, shell_command

FILES = {
    "a": "".join(f"a{at}\n" for at in range(1, 13)),
    "b": "b1\n\nb3\n",
    "d": "==\n\n==\nd4\n",
}
"""By name; ``c`` is not there."""
READS = (
    "cat a", "cat b", "cat c", "cat -n b", "cat a b", "cat ./d", "sed -n 2,4p a", "sed -n 3p b",
    "sed -n '1,2p;4p;6,$p' a", "sed -n '2,4p;4,5p' a", "sed -n 5,99p a", "head a", "head -2 a",
    "head -n 3 b", "tail -n +3 b", "tail -n+11 a", "nl -ba b", "nl -ba a | sed -n 2,4p",
    "cat -n a | sed -n '1p;3,4p'", "cat d | head -1", "cat a | tail -n +9",
    "sed 1,2p b", "sed -n '4,5p;2,3p' a", "cat a b | head -3", "cat a | head -3 | tail -n +2",
    "sed -n 1,3p a b", "head -2 a b", "cat -n a b", "nl b",
)  # fmt: skip
OTHERS = ("echo ==", "printf '\\n==\\n'", "test -f a", "[ -f c ]", "true", "grep -c b b", "wc -l a")
JOINTS = ("; ", " && ", " || ", "\n")


def lines() -> list[str]:
    """Command lines of one, two and three commands."""
    known = (*READS, *OTHERS)
    pairs = itertools.product(READS, JOINTS, known)
    several = [f"{one}{joint}{other}" for one, joint, other in pairs][::6]
    several += [f"{one}; echo ==; {other}" for one, other in itertools.product(READS, READS)][::4]
    several += [f"{one} && {two} && {one}" for one, two in itertools.pairwise(known)]
    mended = (f"{one} || true; {other}" for one, other in zip(READS, OTHERS, strict=False))
    return [*READS, *several, *mended]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By command line, what a shell prints for it."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        Path(folder, name).write_text(text)
    script = "".join(f"( {line}\n) 2>&1\nprintf '\\0'\n" for line in lines())
    done = subprocess.run(
        ["sh"], input=script, cwd=folder, capture_output=True, text=True, check=True
    )
    return dict(zip(lines(), done.stdout.split("\0"), strict=False))


def part(asked: FileLines) -> str:
    """The lines of the file itself."""
    all_lines = FILES[asked.path.removeprefix("./")].splitlines(keepends=True)
    return "".join(all_lines[asked.first - 1 : asked.last or None])


def is_right(found: PrintedFile) -> bool:
    name = found.asked.path.removeprefix("./")
    if found.text is None or name not in FILES:
        return found.text is None and name not in FILES
    if found.among:
        return set(part(found.asked).split("\n")[:-1]) <= {
            one.partition("\t")[2] if found.asked.numbered else one for one in found.among
        }
    return found.text == part(found.asked) and not found.is_cut


def test_what_is_said_to_be_printed_of_a_file_are_its_lines(outputs: dict[str, str]) -> None:
    told = 0
    for line, output in outputs.items():
        found = printed_files(output, shell_command(line).prints)
        assert [one for one in found if not is_right(one)] == [], line
        told += sum(bool(one.text) for one in found)
    # The rest cannot be told apart, is not there, or is of a command that may print more.
    assert told > len(outputs) // 2

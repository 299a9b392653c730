"""The command ``what-if``: a session under other rules, without a model."""

from __future__ import annotations

import pytest

from explorer.compaction.profile import PROFILES
from tests.commands.test_commands import refused, run, run_json
from tests.services.conftest import SAMPLE

SIZES = ("--window", "30000", "--keep-recent", "4000", "--reserve", "8000")


def test_it_tells_every_profile_beside_what_was_recorded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = run(capsys, "what-if", str(SAMPLE), *SIZES)
    for name in ("as recorded", *PROFILES):
        assert name in told
    assert "explorer: after #28 (threshold)" in told and "inside turn 4" in told
    assert "estimated from the provider's count of 68 of them: " in told and "-> about " in told
    assert "as in the session's own 2 compactions" in told


def test_programs_get_every_decision(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(
        capsys, "what-if", str(SAMPLE), *SIZES, "--profile", "explorer", "--profile", "pyagent",
        "--prices", "anthropic/claude-sonnet-4-5",
    )  # fmt: skip
    assert [one["profile"] for one in found["walks"]] == ["explorer", "pyagent"]
    first = found["walks"][0]
    assert first["sent"] < found["recorded"]["sent"]
    assert first["cost"]["total"] == pytest.approx(
        first["cost"]["replies"] + first["cost"]["summaries"]
    )
    assert first["compactions"][0]["split_turn"] == 4
    assert first["compactions"][0]["assumed"] is True
    assert found["walks"][1]["too_large"] > 0 and found["walks"][1]["not_done"]


def test_why_nothing_was_done_is_told_where_the_window_is_too_small(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = run(capsys, "what-if", str(SAMPLE), "--profile", "pi", "--window", "30000")
    assert "pi: nothing could be done 52 times, last after #280: " in told
    assert "rests after 3 failures in a row: All that the context holds is recent" in told
    alone = run(capsys, "what-if", str(SAMPLE), "--at", "#0", "--profile", "explorer")
    assert alone.startswith("1 entry in 0 turns, 0 requests.")
    assert "nothing could be done" not in alone


def test_a_sweep_tells_every_pair_of_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "what-if", str(SAMPLE), *SIZES, "--sweep", "--profile", "explorer")
    assert len(found["cells"]) == 144
    assert {"keep_recent": 4000, "reserve": 8000}.items() <= next(
        cell for cell in found["cells"] if cell["keep_recent"] == 4000 and cell["reserve"] == 8000
    ).items()
    told = run(capsys, "what-if", str(SAMPLE), *SIZES, "--sweep", "--profile", "explorer")
    assert "4,000" in told and "8,000" in told
    first = found["cells"][0]
    both = f"{(first['sent'] + first['asked_for_summaries']) / 1000:,.0f}"
    assert "those for summaries included" in told and both in told
    sizes = ("--keep-recent", str(first["keep_recent"]), "--reserve", str(first["reserve"]))
    window = ("--window", SIZES[SIZES.index("--window") + 1])
    alone = run_json(capsys, "what-if", str(SAMPLE), *sizes, *window, "--profile", "explorer")
    for figure in ("sent", "asked_for_summaries", "cached"):
        assert alone["walks"][0][figure] == first[figure], "the table has the same"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--window", "0"), "--window"),
        (("--summary-share", "1.5"), "--summary-share"),
        (("--profile", "nobody"), "nobody"),
        (("--prices", "nobody/knows-it"), "prices"),
    ],
)
def test_what_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    status, said = refused(capsys, "what-if", str(SAMPLE), *words)
    assert status == 2 and told in said

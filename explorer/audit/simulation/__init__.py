"""What if: a recorded session walked under other rules, without any model call.

- ``policy``: the rules, what is assumed, what a provider counts, and prices.
- ``track``: the recorded path as what happens along it; ``recorded_path``: what was sent and
  compacted then, and what can be learned from it.
- ``walk``: the walk itself, and many of them, over two sizes; ``simulated_compactor`` and
  ``simulated_prompts`` perform the steps of ``explorer.compaction.automatic`` and ``background`` on
  the columns of ``simulated_context``, with a tree of the walk's alone (``walked_tree``).
- ``result``: what a walk came to.
"""

from explorer.audit.simulation.policy import (
    Assumptions,
    Costs,
    KnownRun,
    Policy,
    Prices,
    RecordedPrompt,
    ReportedUsage,
    Tier,
)
from explorer.audit.simulation.recorded_path import Past, past_of
from explorer.audit.simulation.result import (
    Compacted,
    NotDone,
    PrunedThen,
    RequestMark,
    Requests,
    Simulation,
)
from explorer.audit.simulation.track import Track, track_of
from explorer.audit.simulation.walk import WalkStopped, simulate

__all__ = [
    "Assumptions",
    "Compacted",
    "Costs",
    "KnownRun",
    "NotDone",
    "Past",
    "Policy",
    "Prices",
    "PrunedThen",
    "RecordedPrompt",
    "ReportedUsage",
    "RequestMark",
    "Requests",
    "Simulation",
    "Tier",
    "Track",
    "WalkStopped",
    "past_of",
    "simulate",
    "track_of",
]

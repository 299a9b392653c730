"""What if: a recorded session walked under other rules, without any model call.

- ``policy``: the rules, and what is assumed; ``measurement``: what a provider counts, and prices.
- ``track``: the recorded path as what happens along it; ``recorded_path``: what was sent and
  compacted then, and what can be learned from it.
- ``walk``: the walk itself; ``simulated_compactor`` and ``simulated_prompts`` perform the steps of
  ``explorer.compaction.automatic`` and ``background`` on the columns of ``simulated_context``, with
  a tree of the walk's alone (``walked_tree``).
- ``result``: what a walk came to; ``sweep``: many of them, over two sizes.
"""

from explorer.audit.simulation.measurement import Costs, Prices, Tier
from explorer.audit.simulation.policy import (
    Assumptions,
    KnownRun,
    Policy,
    RecordedPrompt,
    ReportedUsage,
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

"""The model without a network: how long it takes to summarize."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import EXTRACTIVE, CancelToken, ModelClient, complete
from explorer.services.draft_records import model_request
from explorer.store import Store
from explorer.workbench import Workbench
from tests.benchmarks.children.storing import database_of


def extractive(home: str, rounds: int) -> dict[str, Any]:
    """Summarize everything before the cut of the first session; ms of each round."""
    client = ModelClient()
    with Store.open(database_of(home)) as store:
        bench = Workbench(store, client)
        document = bench.open_blocking(bench.sessions()[0].key)
        profile = PROFILES["explorer"]
        requests = document.compaction.requests(
            document.compaction.preview(None, profile, Settings.of(profile))
        )
        call = model_request(requests[0], EXTRACTIVE)
        found = []
        for _ in range(rounds):
            start = time.perf_counter()
            answer = asyncio.run(complete(client, call, CancelToken()))
            found.append((time.perf_counter() - start) * 1000)
    client.close()
    return {"ms": found, "characters": len(requests[0].prompt), "answer": len(answer.text)}

"""What ends a run comes out of the asker, and nothing of it is remembered."""

from pathlib import Path

import anyio
import numpy as np
import pytest

from servers.model_asks import maker
from vidence.contracts import Request
from vidence.engine.engine import Asker
from vidence.engine.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.engine.store import Memory, memory_key
from vidence.errors import AccessError
from vidence.records import Prompt, Sampling, TextPart

create = maker("model", "scripted")


def test_access_errors_come_out_and_are_not_remembered(tmp_path: Path):
    request = Request(item_id="q", prompt=Prompt(parts=(TextPart(text="?"),)), sampling=Sampling())
    model = create("A", {"fail": "401", "fail_share": "1"})

    async def go() -> None:
        limits = Limits(
            in_flight=AdaptiveLimit(1, clock=anyio.current_time),
            backoff=Backoff(rng=np.random.default_rng(0)),
            budget=Budget(),
            attempts=3,
            timeout_s=5.0,
        )
        with Memory(tmp_path / "replies.sqlite") as memory:
            asker = Asker(model, memory=memory, limits=limits, on_event=lambda event: None)
            with pytest.raises(AccessError):
                await asker.ask(request)
            assert memory.get(memory_key(request, identity=model.identity, by_item=model.by_item)) is None

    anyio.run(go)

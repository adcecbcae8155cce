"""Which models of a session are asked through the batch API of their provider."""

from collections.abc import Sequence
from pathlib import Path

from vidence.ask.models.batches import Batches
from vidence.ask.models.http import Caller, HttpModel
from vidence.ask.selection.search import AskingSelector, SearchingSelector
from vidence.contracts import Model, Selector
from vidence.engine.events import BatchNews, Listener
from vidence.engine.plan import Plan
from vidence.errors import UsageError


def open_batches(
    models: Sequence[Model],
    plan: Plan,
    *,
    selectors: Sequence[Selector],
    memory: Path,
    on_event: Listener,
) -> tuple[Batches, ...]:
    """The batch APIs of the models; none where the plan has no ``batch``.

    Args:
        models: those that answer and judge.
        plan: what is asked.
        selectors: those that choose frames.
        memory: the reply memory, beside which open batches are noted.
        on_event: told how far batches are.

    Raises:
        UsageError: a model has no batch API that is spoken here, or a selector asks one as it goes.
    """
    if not plan.batch:
        return ()
    if any(isinstance(one, AskingSelector | SearchingSelector) for one in selectors):
        raise UsageError(
            f"--batch: {plan.selector} asks which frames to show as it goes; leave --batch out, or name a "
            "--selector that asks nobody"
        )

    def opened(caller: Caller, path: str) -> Batches:
        return Batches(
            caller,
            path=path,
            folder=memory.with_suffix(".batches"),
            say=lambda message: on_event(BatchNews(message=message)),
            poll_s=plan.batch_poll_s,
        )

    found = []
    for model in {id(model): model for model in models}.values():
        if not isinstance(model, HttpModel):
            raise UsageError(f"{model.identity} cannot be asked with --batch: only openai: models can")
        found.append(model.ask_in_batches(opened))
    return tuple(found)

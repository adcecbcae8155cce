"""Choose which models of a session are asked through their provider's batch API."""

from collections.abc import Iterable, Sequence

from vidence.ask.models.batch_apis import APIS, BatchApi
from vidence.ask.models.batches import Batches
from vidence.ask.models.http import Caller, HttpModel
from vidence.ask.selection.search import AskingSelector, SearchingSelector
from vidence.engine.engine import Engine
from vidence.engine.events import BatchNews
from vidence.engine.plan import Plan
from vidence.engine.views import OpenView
from vidence.errors import UsageError


def open_batches(
    plan: Plan, engine: Engine, names: Sequence[str], *, views: Iterable[OpenView]
) -> tuple[Batches, ...]:
    """Open the batch APIs of the models; empty if the plan does not set ``batch``.

    Args:
        plan: what to ask.
        engine: holds the models, receives progress, and stores open batches next to its replies.
        names: the names of the answering and judging models; the empty name receives frames.
        views: the frames to show.

    Raises:
        UsageError: a model has no supported batch API, or a selector asks a model while frames are chosen.
    """
    if not plan.batch:
        return ()
    if plan.layout == "video" and "" in names:
        raise UsageError("--batch cannot send whole videos; omit it, or use --layout images")
    if any(isinstance(view.selector, AskingSelector | SearchingSelector) for view in views):
        raise UsageError(
            f"--batch excludes {plan.selector}, which asks a model; choose another --selector, or omit "
            "--batch"
        )

    def say(message: str) -> None:
        engine.on_event(BatchNews(message=message))

    batches = []
    models = [engine.model(name) for name in names]
    for model in {id(model): model for model in models}.values():
        if not (isinstance(model, HttpModel) and model.batch_protocol):
            raise UsageError(
                f"--batch works with openai:, anthropic: and gemini: models, not with {model.identity}"
            )
        api = APIS[model.batch_protocol]

        def opened(caller: Caller, path: str, api: type[BatchApi] = api) -> Batches:
            return Batches(
                api(caller, path=path),
                server=f"{caller.server.address}{path}",
                folder=engine.memory.with_suffix(".batches"),
                say=say,
                poll_s=plan.batch_poll_s,
            )

        batches.append(model.ask_in_batches(opened))
    return tuple(batches)

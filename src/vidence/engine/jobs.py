"""Run the flows of a construction step with the models that its configuration names.

The interface is synchronous; inside, an engine runs in another thread's event loop.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

import msgspec
from anyio.from_thread import BlockingPortal, start_blocking_portal

from vidence.ask.models.prices import Prices, given_prices, listed_prices, needs_prices
from vidence.catalog import parse_spec
from vidence.contracts import Flow, MadeT
from vidence.engine.engine import AskCount, Context, Engine, ModelRules, no_image
from vidence.engine.events import JobDone, Listener
from vidence.engine.executor import LOCAL, executor_of
from vidence.engine.limits import AskLimits, Budget
from vidence.engine.session import each
from vidence.engine.specs import check_secrets, without_sampling
from vidence.errors import UsageError
from vidence.records import Failed, Record, Sampling


class NamedModel(Record, omit_defaults=True):
    """A model that steps refer to by name.

    ``temperature``, ``top_p`` and ``max_tokens`` in `spec` override a step's own values.
    """

    spec: str
    price_in: float = 0.0
    """US dollars per million tokens read."""
    price_out: float = 0.0
    """US dollars per million tokens written."""

    @property
    def prices(self) -> Prices | None:
        """Return the prices: as given, else as listed; None if unknown."""
        return given_prices(self.price_in, self.price_out) or listed_prices([self.spec])


class Jobs(ExitStack):
    """Runs flows to their ends; a context manager.

    A model is opened at its first request and stays open. Replies are cached in the same file as those of
    runs, so that nothing is asked twice after an interruption. Weights are opened in this process, or where
    `on` says (`executor.Executor.opener`).
    """

    def __init__(
        self,
        models: Mapping[str, NamedModel | str],
        *,
        memory: Path,
        limits: AskLimits | None = None,
        pictures: Callable[[str], bytes] = no_image,
        on_event: Listener = lambda event: None,
        on: str = LOCAL,
    ) -> None:
        super().__init__()
        self.named = {n: NamedModel(spec=m) if isinstance(m, str) else m for n, m in models.items()}
        self._limits = limits = limits or AskLimits()
        self._pictures = pictures
        self._on_event = on_event
        self._portal: BlockingPortal | None = None
        open_model = executor_of(on).opener(
            [without_sampling(parse_spec(named.spec))[0] for named in self.named.values()]
        )
        self._engine = Engine(memory=memory, limits=limits, on_event=on_event, open_model=open_model)
        self._overrides: dict[str, Mapping[str, float]] = {}
        self._budgets: list[Budget] = []
        prices = {name: named.prices for name, named in self.named.items()}
        if limits.max_cost is not None and not any(prices.values()):
            raise UsageError(
                needs_prices(
                    (named.spec for named in self.named.values()), how="a model price_in and price_out"
                )
            )
        for name, named in self.named.items():
            check_secrets("model", named.spec)
            spec, self._overrides[name] = without_sampling(parse_spec(named.spec))
            budget = Budget(prices=prices[name], max_cost=limits.max_cost, shared=self._budgets)
            rules = ModelRules(spec=spec, budget=budget, sampling=Sampling(), overrides=self._overrides[name])
            self._engine.add(name, rules)

    def __enter__(self) -> Self:
        self._portal = portal = self.enter_context(start_blocking_portal())
        self.callback(setattr, self, "_portal", None)
        self.enter_context(portal.wrap_async_context_manager(self._engine))
        return self

    @property
    def spent(self) -> AskCount:
        """Return the replies and cost so far."""
        return replace(self._engine.count, cost=sum(budget.cost for budget in self._budgets))

    def spec(self, name: str) -> str:
        """Return the spec of a model; empty if no model has this name."""
        return self.named[name].spec if name in self.named else ""

    def identity(self, name: str) -> str:
        """Return the identity of a model and its sampling; this opens the model.

        Raises:
            UnknownNameError: no model has this name.
        """
        model = self._opened_portal().call(self._engine.model, name)
        overrides = self._overrides[name]
        return model.identity + (msgspec.json.encode(overrides, order="sorted").decode() if overrides else "")

    def run(self, flows: Mapping[str, Flow[MadeT]], *, model: str = "") -> dict[str, MadeT | Failed]:
        """Run flows, and return their results by name, in the order given.

        A flow fails if its model gives no reply or its pictures cannot be read; the others continue.

        Args:
            flows: by name, as progress displays show them.
            model: the default model for requests that name none.

        Raises:
            UnknownNameError: a model that the configuration does not name.
            BudgetSpentError: the spending limit is reached; replies so far are cached.
            ModelError: a model no longer answers; replies so far are cached.
        """
        future = self._opened_portal().start_task_soon(self._run_all, flows, model)
        try:
            result = future.result()
        except BaseException:
            future.cancel()  # Ctrl-C: what is in flight is given up, what was answered is remembered
            raise
        return {name: result[name] for name in flows}

    def _opened_portal(self) -> BlockingPortal:
        if self._portal is None:
            raise UsageError("jobs are run inside a with statement: with Jobs(...) as jobs")
        return self._portal

    async def _run_all(self, flows: Mapping[str, Flow[MadeT]], model: str) -> dict[str, MadeT | Failed]:
        context = Context(image=self._pictures, model=model, stage="media")
        values: dict[str, MadeT | Failed] = {}

        async def run(pair: tuple[str, Flow[MadeT]]) -> None:
            name, flow = pair
            result = values[name] = await self._engine.run(flow, context)
            self._on_event(JobDone(name=name, failed=result if isinstance(result, Failed) else None))

        await each(list(flows.items()), run, n_consumers=min(self._limits.concurrency, len(flows)))
        return values

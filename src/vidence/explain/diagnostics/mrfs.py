"""``mrfs``: how many frames a question demands, by HERBench's Minimum Required Frame-Set."""

from collections.abc import Callable, Mapping, Sequence
from typing import get_args

import msgspec
import numpy as np

from vidence import option_readers
from vidence.catalog import take_options
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics import _mrfs_summary
from vidence.explain.diagnostics.mrfs_search import SEARCHES, VIEW, Mode, MrfsFinding, Prober, Settings
from vidence.records import Record
from vidence.tables.findings import Statement

_OPTIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "mode": ("mode", option_readers.one_of(*get_args(Mode))),
    "max": ("most", option_readers.positive_whole),
    "min": ("least", option_readers.positive_whole),
    "text_only": ("has_text_only", option_readers.yes_or_no),
    "check_repeat": ("checks_repeat", option_readers.yes_or_no),
}


class Mrfs:
    """The smallest number of frames, best first, with which a model is right.

    The question is put without frames, with all frames of the ranking, and with prefixes of it; frames
    are shown in the order of time. A reply that cannot be read is wrong. A question with a request that
    is rejected is an error, and counted apart.

    Source: HERBench, section 3.4 and its released code; the shares of the categories and the restricted
        mean are ours.
    Departs: see the searches in `_mrfs_search`.
    """

    name = "mrfs"
    version = 1
    finding: type[Record] = MrfsFinding

    def __init__(self, settings: Settings, *, selector: str = "") -> None:
        self.settings = settings
        self._selector = selector

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """One ranking, by the plan's selector unless another was named; `n_frames` is not used."""
        ranking = self._selector or selector
        return {VIEW: View(selector=ranking, n_frames=self.settings.most, is_ranked=True)}

    def models(self) -> Mapping[str, str]:
        """None but the model under test."""
        return {}

    def examine(self, subject: Subject) -> Flow[MrfsFinding]:
        """Search for the number of frames of one question; see `_mrfs_search`."""
        n_frames = min(self.settings.most, subject.n_frames(VIEW))
        prober = Prober(subject=subject, n_frames=n_frames)
        result = yield from SEARCHES[self.settings.mode](prober, self.settings)
        return prober.finding(result, least=self.settings.least)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Mean demand, categories, each tag, demand against accuracy, and what the search met."""
        return _mrfs_summary.statements(examined, settings=self.settings, rng=rng, level=level)


def create(options: Mapping[str, str]) -> Diagnostic:
    """The diagnostic.

    Options: ``mode`` (nested-bisect, exhaustive, official), ``max`` (frames of the full context, 16),
    ``min`` (fewest frames that are tried, 1), ``selector`` (whose ranking; the plan's), ``text_only``
    (yes: ask without frames first), ``check_repeat`` (no: ask twice with all frames and count other
    answers).

    Raises:
        UsageError: an option that is not known or cannot be read, ``min`` above ``max``, or ``official``
            without ``text_only``.
    """
    known: dict[str, Callable[[str], object]] = {name: read for name, (_, read) in _OPTIONS.items()}
    known["selector"] = str
    values = take_options("mrfs", options, known)
    selector = str(values.pop("selector", ""))
    settings = msgspec.convert({_OPTIONS[name][0]: value for name, value in values.items()}, Settings)
    if settings.least > settings.most:
        raise UsageError(f"mrfs: min={settings.least} is above max={settings.most}; expected at most that")
    if settings.mode == "official" and not settings.has_text_only:
        raise UsageError(
            "mrfs: mode=official always asks without frames first; leave out text_only=no, "
            "or choose mode=nested-bisect"
        )
    return Mrfs(settings, selector=selector)

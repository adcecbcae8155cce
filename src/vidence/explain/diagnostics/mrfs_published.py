"""HERBench's published MRFS, and which results are comparable."""

import re
from dataclasses import dataclass
from typing import Final

from vidence.catalog import parse_spec

RANKING: Final = "aks:blip-itm"
N_FRAMES: Final = 16  # the paper's x
MODEL: Final = "Qwen2.5-VL"
_MEANS = (
    "The paper calls it a weighted mean: weighting the task means of its table 4 by all questions gives "
    "5.64, not weighting them 5.40; 5.49 needs the numbers of visual-required questions, which are not "
    "printed. The mean here is over these questions."
)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The model and the ranking of the frames: specs of model and selector."""

    model: str
    ranking: str


def departures(*, ranking: str | None, n_frames: int, n_orders: int, asks_without: bool) -> list[str]:
    """Return how a ranking and search differ from HERBench's; a ranking of None is ignored.

    Source: HERBench, section 3.4 (f, r and x) and equation 1.
    Departs: no.

    >>> departures(ranking="midpoints", n_frames=16, n_orders=1, asks_without=True)
    ['the ranking midpoints (expected aks:blip-itm)']
    """
    apart = []
    if ranking is not None and not _is_aks(ranking):
        apart.append(f"the ranking {ranking or 'of an unknown selector'} (expected {RANKING})")
    if n_frames != N_FRAMES:
        apart.append(f"x = {n_frames} (expected {N_FRAMES})")
    if n_orders != 1:
        apart.append(f"orders={n_orders} (expected 1)")
    if not asks_without:
        apart.append("text_only=false (expected true)")
    return apart


def _is_aks(ranking: str) -> bool:
    spec = parse_spec(ranking) if ranking else None
    return spec is not None and f"{spec.name}:{spec.argument.partition(':')[0]}" == RANKING


def of_another_model(model: str) -> list[str]:
    """Say that a model is not the paper's, if so.

    >>> of_another_model("transformers:Qwen/Qwen2.5-VL-7B-Instruct"), of_another_model("openai:gpt-5")
    ([], ['the model openai:gpt-5 (expected Qwen2.5-VL)'])
    """
    wanted, message = (re.sub("[^a-z0-9]", "", text.lower()) for text in (MODEL, model))
    return [] if wanted in message else [f"the model {model} (expected {MODEL})"]


def beside_herbench(apart: list[str]) -> str:
    """Return HERBench's published mean, or why it is not comparable."""
    how = f"{MODEL}, {RANKING}, x = {N_FRAMES}"
    if not apart:
        return f"HERBench prints 5.49 ({how}). {_MEANS}"
    return f"HERBench's 5.49 ({how}) is not set beside this mean, since it has {'; '.join(apart)}."

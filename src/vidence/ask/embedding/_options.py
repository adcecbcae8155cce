"""What can be set behind the ``?`` of an embedder that has weights."""

import re
from collections.abc import Callable, Mapping

import msgspec

from vidence.catalog import take_options
from vidence.errors import UsageError
from vidence.media.sizes import Size
from vidence.option_readers import one_of, whole_from, yes_or_no
from vidence.records import Record


class Options(Record, kw_only=True):
    """The options that all embedders with weights have.

    `device`: ``auto`` (a GPU, the CPU where there is none), ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
    `dtype`: ``float32``, ``float16``, ``bfloat16``, or ``auto`` (as the weights are stored).
    `batch`: frames (and texts) in one forward pass.
    `max_tokens`: texts are cut after so many tokens, those that mark start and end counted; 0: where the
    model's own limit is.
    `size`: the limit on the frames that are wanted, as in a plan; empty: the shorter side
    as the model sees it.
    `revision`: branch, tag or commit of a repository on the hub.
    `local_only`: ``yes`` takes what the hub's local cache has and asks nobody.
    """

    device: str = "auto"
    dtype: str = "float32"
    batch: int = 32
    max_tokens: int = 0
    size: str = ""
    revision: str = ""
    local_only: bool = False


def _device(text: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", text):
        raise ValueError("expected auto, cpu, mps, cuda or cuda:NUMBER")
    return text


def _size(text: str) -> str:
    try:
        return str(Size.parse(text))
    except UsageError as error:
        raise ValueError(str(error)) from error


_READERS: Mapping[str, Callable[[str], object]] = {
    "device": _device,
    "dtype": one_of("auto", "float32", "float16", "bfloat16"),
    "batch": whole_from(1),
    "max_tokens": whole_from(0),
    "size": _size,
    "revision": str,
    "local_only": yes_or_no,
}


def read_options(
    owner: str, options: Mapping[str, str], own: Mapping[str, Callable[[str], object]] | None = None
) -> tuple[Options, dict[str, object]]:
    """The options that all have, and those of this embedder alone.

    Args:
        owner: the name of the embedder, for messages.
        options: what the user wrote.
        own: readers of the options that only this embedder has.

    Raises:
        UsageError: an option that is not known, or a value that cannot be read.
    """
    values = take_options(f"{owner}:", options, {**_READERS, **(own or {})})
    extra = {key: values.pop(key) for key in own or {} if key in values}
    return msgspec.convert(values, Options), extra

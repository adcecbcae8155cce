"""Weights of embedders: which ones they are, where they lie, and the model that they make in memory."""

import importlib.util
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from PIL import Image

from vidence.ask import checkpoints
from vidence.ask.checkpoints import (
    Source,
    fetch_config,
    files_of,
    folder_of,
    has_weights,
    no_progress_bars,
    refuse_revision,
)
from vidence.catalog import FilePath
from vidence.errors import AccessError, UsageError
from vidence.installation import adding
from vidence.media.encode import Size
from vidence.records import Record

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BaseImageProcessor, PreTrainedModel, PreTrainedTokenizerBase

_log = logging.getLogger(__name__)

# What a checkpoint consists of; the model card changes no number.
SUFFIXES = (".json", ".safetensors", ".bin", ".model", ".txt")

# The embedders that can use a type of model.
_FITTING = {"blip": "blip-itm or blip-itc", "clip": "clip", "siglip": "siglip", "siglip2": "siglip"}


class WeightSettings(Record):
    """The options that all embedders with weights have."""

    positional: ClassVar[str] = "weights"

    weights: Annotated[FilePath, Meta(description="folder, or name of a repository on the hub")] = ""
    device: Annotated[
        str, Meta(description="auto (a GPU, the CPU where there is none), cpu, mps, cuda or cuda:NUMBER")
    ] = "auto"
    dtype: Annotated[
        Literal["auto", "float32", "float16", "bfloat16"],
        Meta(description="precision of the weights; auto: as they are stored"),
    ] = "float32"
    batch: Annotated[int, Meta(ge=1, description="frames, and texts, in one forward pass")] = 32
    max_tokens: Annotated[
        int,
        Meta(ge=0, description="tokens after which texts are cut; 0: the model's limit"),
    ] = 0
    size: Annotated[
        str, Meta(description="limit on frames, such as short:384; empty: the side that the model sees")
    ] = ""
    revision: Annotated[str, Meta(description="branch, tag or commit of a repository on the hub")] = ""
    local_only: Annotated[bool, Meta(description="use the local cache of the hub alone")] = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", self.device):
            raise UsageError(f"device={self.device!r}; expected auto, cpu, mps, cuda or cuda:NUMBER")
        if self.size:
            Size.parse(self.size)


# --------------------------------------------------------------------------- which weights


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Source):
    """One version of one checkpoint; `config` is what ``config.json`` says."""

    config: Mapping[str, object]

    @property
    def model_type(self) -> str:
        """The type of the model, such as ``clip``."""
        return str(self.config.get("model_type", "no type"))

    @property
    def image_size_px(self) -> int | None:
        """The side of the images that the model sees, where its configuration says so."""
        vision = self.config.get("vision_config")
        size = vision.get("image_size") if isinstance(vision, dict) else None
        return size if isinstance(size, int) and size > 0 else None


def find_checkpoint(owner: str, settings: WeightSettings, *, types: Mapping[str, str]) -> Checkpoint:
    """Find the weights: a folder if there is one of that name, otherwise a repository on the hub.

    Of a repository only ``config.json`` is fetched here, which also says which commit it is.

    Args:
        owner: the name of the embedder, for messages.
        settings: name the folder or the repository.
        types: the types of model that fit; for each the class that must have been stored.

    Raises:
        UsageError: a library is missing, nothing is there, or it is a model of another type.
        AccessError: the hub has no such repository or revision, does not let us in, or cannot be reached.
    """
    name, revision = settings.weights, settings.revision
    if not name:
        raise UsageError(
            f"{owner}: needs a folder or a name on the hub, for example {owner}:/path/to/weights"
        )
    require_libraries(owner, ("torch", "transformers"))
    folder = folder_of(name)
    if folder is not None:
        refuse_revision(folder, revision)
        config = _read_config(folder / "config.json")
        content = digest(folder)
        found = Checkpoint(
            place=str(folder), name=folder.resolve().name, revision="", content=content, config=config
        )
    else:
        asked = "local_only=true" if settings.local_only else ""
        path = fetch_config(
            name, revision=revision, local_only=asked, example="Salesforce/blip-itm-large-coco"
        )
        commit = path.parent.name
        found = Checkpoint(place=name, name=name, revision=commit, content=commit, config=_read_config(path))
    _check_type(owner, found, types)
    return found


def require_libraries(owner: str, libraries: Sequence[str]) -> None:
    """Refuse to go on without these libraries.

    Raises:
        UsageError: one is missing; the message names the extra that brings it.
    """
    for library in libraries:
        try:
            is_there = importlib.util.find_spec(library) is not None
        except ModuleNotFoundError:  # not even the package that it is a part of
            is_there = False
        if not is_there:
            raise UsageError(f"{owner}: needs {library}; run: {adding('select')}")


def _check_type(owner: str, found: Checkpoint, types: Mapping[str, str]) -> None:
    stored = found.config.get("architectures")
    kind = str(stored[0]) if isinstance(stored, list) and stored else ""
    wanted = types.get(found.model_type)
    if wanted is not None and kind in {"", wanted}:
        return
    if wanted is not None:
        hint = "it lacks the parts that compare images with texts"
    elif found.model_type in _FITTING:
        hint = f"use {_FITTING[found.model_type]} for it"
    else:
        hint = "no embedder can use it"
    raise UsageError(
        f"{found.place} holds a {kind or 'model'} of type {found.model_type!r}; "
        f"{owner}: needs {' or '.join(types.values())}; {hint}"
    )


def _read_config(path: Path) -> Mapping[str, object]:
    if not path.is_file():
        raise UsageError(
            f"{path.parent} has no config.json; expected a folder with config.json, weights, "
            "image processor and tokenizer, as save_pretrained writes it"
        )
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}; fetch the weights again") from error
    if not isinstance(config, dict):
        raise UsageError(f"{path} holds a {type(config).__name__}; expected a JSON object")
    return config


def digest(folder: Path) -> str:
    """A SHA-256 over the files of the checkpoint; see `vidence.ask.checkpoints.digest`.

    Raises:
        UsageError: the folder holds no weights.
    """
    files = files_of(folder, SUFFIXES)
    if not has_weights(files):
        raise UsageError(
            f"{folder} holds no weights; expected *.safetensors or *.bin, "
            f"found {', '.join(f.name for f in files)}"
        )
    return checkpoints.digest(files)


# --------------------------------------------------------------------------- the model in memory


class Weights:
    """The model with its tokenizer and its image processor, ready to be used.

    `limit` is how many tokens a text may have, start and end counted.

    Raises:
        UsageError: the device is not there, or `max_tokens` is more than the model takes.
        AccessError: the files are no complete model of that class.
    """

    def __init__(self, checkpoint: Checkpoint, settings: WeightSettings, *, model_class: str) -> None:
        self.place = checkpoint.place
        self._batch = settings.batch
        device = _device(settings.device)
        model, self.tokenizer, self._images = _load(checkpoint, settings, model_class=model_class)
        self.model = model.to(device).eval().requires_grad_(False)
        self.device = device
        self.longest: int = model.config.text_config.max_position_embeddings
        if settings.max_tokens > self.longest:
            raise UsageError(
                f"max_tokens={settings.max_tokens}, but {self.place} takes {self.longest} at most; "
                "say so many or fewer, or leave it out"
            )
        self.limit = settings.max_tokens or self.longest
        _log.info("loaded %s on %s as %s", self.place, device, self.model.dtype)

    def pixels(self, frames: Sequence[NDArray[np.uint8]]) -> dict[str, "Tensor"]:
        """The frames as the image processor of the checkpoint makes them, on the device of the model."""
        pictures = [Image.fromarray(frame) for frame in frames]
        made = self._images(images=pictures, return_tensors="pt")
        return {
            name: value.to(self.device, self.model.dtype if value.is_floating_point() else value.dtype)
            for name, value in made.items()
        }

    def tokens(self, texts: Sequence[str], *, fill_to: int | None = None) -> tuple["Tensor", "Tensor"]:
        """Tokens and mask of the texts, cut at `limit`, on the model's device; shape (n_texts, n_tokens).

        Args:
            texts: the texts.
            fill_to: pad all to so many tokens; None: to the longest of them.
        """
        import torch

        # The mark of the end stays: the tokenizer cuts the words before it.
        cut = self.tokenizer(list(texts), truncation=True, max_length=self.limit, verbose=False)["input_ids"]
        n_tokens = max(map(len, cut)) if fill_to is None else fill_to
        ids = torch.full((len(cut), n_tokens), self.tokenizer.pad_token_id, dtype=torch.long)
        mask = torch.zeros_like(ids)
        is_left = self.tokenizer.padding_side == "left"
        for i, words in enumerate(cut):
            where = slice(n_tokens - len(words), None) if is_left else slice(len(words))
            ids[i, where] = torch.tensor(words)
            mask[i, where] = 1
        return ids.to(self.device), mask.to(self.device)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Forward passes go in here: without gradients, and saying what to do where memory is too small.

        Raises:
            UsageError: a batch does not fit into memory.
        """
        import torch

        try:
            with torch.inference_mode():
                yield
        except torch.OutOfMemoryError as error:
            raise UsageError(
                f"a batch of {self._batch} does not fit into the memory of {self.device} for {self.place}; "
                f"say batch={max(self._batch // 2, 1)} or a smaller dtype"
            ) from error


def _device(device: str) -> str:
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(
            f"device={device}: torch {torch.__version__} sees no such device; use device=cpu or auto"
        )
    return device


def _load(
    checkpoint: Checkpoint, settings: WeightSettings, *, model_class: str
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase", "BaseImageProcessor"]:
    import torch
    import transformers
    from safetensors import SafetensorError

    places = {
        "revision": checkpoint.revision or None,
        "local_files_only": settings.local_only or not checkpoint.revision,
        "trust_remote_code": False,
    }
    dtype = "auto" if settings.dtype == "auto" else getattr(torch, settings.dtype)
    try:
        with no_progress_bars():
            tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint.place, **places)
            # Pillow everywhere: with torchvision the same frame would have other numbers.
            images = transformers.AutoImageProcessor.from_pretrained(
                checkpoint.place, backend="pil", **places
            )
            model, report = getattr(transformers, model_class).from_pretrained(
                checkpoint.place, dtype=dtype, output_loading_info=True, **places
            )
    except (ImportError, LookupError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
        raise AccessError(
            f"{checkpoint.place} cannot be loaded as a {model_class}: {type(error).__name__}: {error}"
        ) from error
    _check_weights(checkpoint, report)
    if tokenizer.pad_token_id is None:
        raise AccessError(f"the tokenizer in {checkpoint.place} has no token to pad with; fetch it again")
    return model, tokenizer, images


def _check_weights(checkpoint: Checkpoint, report: Mapping[str, object]) -> None:
    for key, fault in (("missing_keys", "lack"), ("mismatched_keys", "have another shape of")):
        names = report.get(key)
        if isinstance(names, set | list | tuple) and names:
            shown = ", ".join(sorted(map(str, names))[:3])
            raise AccessError(
                f"the weights in {checkpoint.place} {fault} {len(names)} of the model's tensors "
                f"({shown}, ...); they would be random numbers. Fetch the weights again"
            )

"""Which weights an embedder has: where they are, what makes them the same, and of which type they are."""

import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vidence.ask import checkpoints
from vidence.ask.checkpoints import fetch_config, files_of, folder_of, has_weights, refuse_revision
from vidence.errors import UsageError

# What a checkpoint consists of; the model card changes no number.
SUFFIXES = (".json", ".safetensors", ".bin", ".model", ".txt")

# The embedders that can use a type of model.
_FITTING = {"blip": "blip-itm or blip-itc", "clip": "clip", "siglip": "siglip", "siglip2": "siglip"}


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """One version of one checkpoint.

    `place` is what the libraries load from: a folder, or the name of a repository on the hub. `revision`
    is the commit on the hub, empty for a folder. `content` tells versions apart: the commit, or the
    digest of the files. `config` is what ``config.json`` says.
    """

    place: str
    name: str
    revision: str
    content: str
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


def find_checkpoint(
    owner: str, name: str, *, types: Mapping[str, str], revision: str = "", local_only: bool = False
) -> Checkpoint:
    """Find the weights: a folder if there is one of that name, otherwise a repository on the hub.

    Of a repository only ``config.json`` is fetched here, which also says which commit it is.

    Args:
        owner: the name of the embedder, for messages.
        name: folder or repository.
        types: the types of model that fit; for each the class that must have been stored.
        revision: branch, tag or commit on the hub.
        local_only: take what the hub's local cache has.

    Raises:
        UsageError: a library is missing, nothing is there, or it is a model of another type.
        AccessError: the hub has no such repository or revision, does not let us in, or cannot be reached.
    """
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
        asked = "local_only=yes" if local_only else ""
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
        parents = library.split(".")[:-1]
        names = [".".join(parents[: i + 1]) for i in range(len(parents))] + [library]
        # A submodule cannot be looked for where its parent is absent.
        if not all(importlib.util.find_spec(n) is not None for n in names):
            raise UsageError(f"{owner}: needs {library}; run: pip install 'vidence[select]'")


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

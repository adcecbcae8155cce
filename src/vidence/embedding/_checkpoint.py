"""Which weights an embedder has: where they are, what makes them the same, and of which type they are."""

import hashlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vidence.errors import AccessError, UsageError

# What a checkpoint consists of; the model card changes no number.
SUFFIXES = (".json", ".safetensors", ".bin", ".model", ".txt")
WHOLE_BYTES = 64 << 20
HEAD_BYTES = 1 << 20
BLOCK_BYTES = 4096
N_BLOCKS = 1024

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
    folder = Path(name).expanduser()
    if folder.is_dir():
        if revision:
            raise UsageError(
                f"revision={revision!r} makes no sense for the folder {folder}; "
                "leave it out, or name a repository on the hub"
            )
        config = _read_config(folder / "config.json")
        content = digest(folder)
        found = Checkpoint(
            place=str(folder), name=folder.resolve().name, revision="", content=content, config=config
        )
    else:
        path = _fetch_config(name, revision=revision, local_only=local_only)
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


def _fetch_config(name: str, *, revision: str, local_only: bool) -> Path:
    if name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1:
        raise UsageError(
            f"there is no folder {Path(name).expanduser()}; expected a folder with config.json and weights, "
            "or a repository on the hub such as Salesforce/blip-itm-large-coco"
        )
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HFValidationError

    try:
        path = hf_hub_download(name, "config.json", revision=revision or None, local_files_only=local_only)
    except HFValidationError as error:
        raise UsageError(
            f"there is no folder {name!r}, and it cannot be a repository on the hub: {error}"
        ) from error
    except (EntryNotFoundError, OSError) as error:
        where = "in the local cache of the hub (local_only=yes)" if local_only else "on the hub"
        raise AccessError(
            f"no config.json of {name} (revision {revision or 'main'}) {where}, and no folder of that name "
            f"here: {error}. Check the name, log in if the repository is gated, or give a folder"
        ) from error
    return Path(path)


def digest(folder: Path) -> str:
    """A SHA-256 over the files of the checkpoint, in hexadecimal.

    Names, sizes and contents enter. Files over 64 MiB enter with their first MiB and 1,024 blocks of
    4 KiB spread evenly over the rest, so that large ones take a second.

    Raises:
        UsageError: the folder holds no weights.
    """
    files = sorted(f for f in folder.iterdir() if f.suffix in SUFFIXES and f.is_file())
    if not any(f.suffix in {".safetensors", ".bin"} for f in files):
        raise UsageError(
            f"{folder} holds no weights; expected *.safetensors or *.bin, "
            f"found {', '.join(f.name for f in files)}"
        )
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.name}\n{file.stat().st_size}\n".encode())
        total.update(_content(file))
    return total.hexdigest()


def _content(file: Path) -> bytes:
    size = file.stat().st_size
    with file.open("rb") as opened:
        if size <= WHOLE_BYTES:
            return hashlib.file_digest(opened, "sha256").digest()
        partly = hashlib.sha256(opened.read(HEAD_BYTES))
        for i in range(N_BLOCKS):
            opened.seek(HEAD_BYTES + i * (size - HEAD_BYTES - BLOCK_BYTES) // (N_BLOCKS - 1))
            partly.update(opened.read(BLOCK_BYTES))
        return partly.digest()

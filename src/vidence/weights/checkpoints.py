"""Checkpoints in a folder or on the hub: their version, and their models in transformers."""

import hashlib
import importlib
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from vidence.catalog import FilePath
from vidence.errors import AccessError, UsageError, cause
from vidence.installation import adding, is_importable
from vidence.records import Record
from vidence.text import sentence

if TYPE_CHECKING:
    from transformers import PreTrainedModel

WHOLE_BYTES = 64 << 20
HEAD_BYTES = 1 << 20
BLOCK_BYTES = 4096
N_BLOCKS = 1024
PILLOW: Mapping[str, str] = {"backend": "pil"}
"""Options for image processors: with torchvision the same frame would give other numbers."""
# What a checkpoint of a model consists of; the optimiser's state and the model card change no reply.
SUFFIXES = (".json", ".safetensors", ".bin", ".jinja", ".model", ".txt", ".py")


def digest(files: Sequence[Path]) -> str:
    """Return a SHA-256 over files, in hexadecimal.

    It covers names, sizes and contents. Of files over 64 MiB, the first MiB and 1,024 evenly spaced blocks of
    4 KiB are hashed, so that 100 GB take seconds: further training, merging an adapter or quantising is
    detected, a change of a few numbers in the middle of a large file may not be.
    """
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


def folder_of(name: str) -> Path | None:
    """Return the folder of that name, expanding ``~``; None if it does not exist.

    Raises:
        UsageError: what is there cannot be looked at, or no file can have that name.
    """
    folder = Path(name).expanduser()
    try:
        return folder if folder.is_dir() else None
    except OSError as error:
        raise UsageError(f"cannot look for the weights {name!r}: {cause(error)}") from error


@contextmanager
def loading(place: str, what: str) -> Iterator[None]:
    """Load weights with transformers in this context: no progress bars, errors in our words.

    Raises:
        AccessError: what is there cannot be loaded as `what`.
    """
    from safetensors import SafetensorError
    from transformers.utils import logging as bars

    were_on = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    except (ImportError, LookupError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
        lacks = "torchvision" in str(error).lower()
        what_to_do = f"; run: {adding('transformers')} (torchvision for the device of torch)" if lacks else ""
        raise AccessError(
            f"{place} cannot be loaded as {what}: {type(error).__name__}: {error}{what_to_do}"
        ) from error
    finally:
        if were_on:
            bars.enable_progress_bar()


def check_weights(place: str, report: Mapping[str, object]) -> None:
    """Check that a checkpoint had every tensor of its model.

    Args:
        place: of the checkpoint, for messages.
        report: what `from_pretrained` gives with ``output_loading_info``.

    Raises:
        AccessError: it lacks one.
    """
    for key, fault in (("missing_keys", "lack"), ("mismatched_keys", "have another shape of")):
        names = report.get(key)
        if isinstance(names, set | list | tuple) and names:
            weights = ", ".join(sorted(map(str, names))[:3])
            raise AccessError(
                f"the weights in {place} {fault} {len(names)} of the model's tensors ({weights}, ...); they "
                "would be random numbers. Fetch them again"
            )


def device_of(device: str) -> str:
    """Return torch's device; ``auto`` is a GPU if there is one.

    Raises:
        UsageError: it is not there.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"device={device}: torch {torch.__version__} sees no such device; use cpu or auto")
    return device


def fetch_config(name: str, *, revision: str, local_only: str, example: str) -> Path:
    """Fetch ``config.json`` of a hub repository; its folder is named after the commit.

    Args:
        name: the repository.
        revision: branch, tag or commit; empty for the main branch.
        local_only: the option that the user set, to take what the hub's local cache has; empty otherwise.
        example: a repository, for messages.

    Raises:
        UsageError: this is no possible name of a repository.
        AccessError: the hub has no such repository or revision, does not let us in, or cannot be reached.
    """
    if name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1:
        raise UsageError(
            f"there is no folder {Path(name).expanduser()}; expected a folder with config.json and weights, "
            f"or a repository on the hub such as {example}"
        )
    from httpx2 import TransportError
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, HFValidationError

    logger, tag = logging.getLogger("huggingface_hub"), revision or None
    try:
        with ExitStack() as after:  # it warns twice for each of its tries, where our error says it once
            after.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.ERROR)
            is_kept = try_to_load_from_cache(name, "config.json", revision=tag)
            if not local_only and not is_kept:  # a hub that is away is tried once here, and for 25 s below
                with suppress(OSError):  # it answered, or HF_HUB_OFFLINE is set
                    get_hf_file_metadata(hf_hub_url(name, "config.json", revision=tag), timeout=5)
            path = hf_hub_download(name, "config.json", revision=tag, local_files_only=bool(local_only))
    except TransportError as error:
        raise AccessError(
            f"{name} is no folder, and the hub cannot be reached; check the connection, or give a folder"
        ) from error
    except HFValidationError as error:
        raise UsageError(f"{name!r} is neither a folder nor a valid repository name: {error}") from error
    except (EntryNotFoundError, OSError) as error:
        where = f"in the local cache of the hub ({local_only})" if local_only else "on the hub"
        raise AccessError(
            f"no config.json of {name} (revision {revision or 'main'}) {where}, and no folder of that name "
            f"here: {sentence(str(error))} Check the name, log in if the repository is gated, or give a "
            "folder"
        ) from error
    return Path(path)


@dataclass(frozen=True, kw_only=True)
class Source:
    """One version of one checkpoint.

    `place` is what the libraries load from: a folder, or the name of a repository on the hub.
    `revision` is the commit on the hub, empty for a folder. `content` tells versions apart: the commit
    or the digest of the files. `config` is what ``config.json`` says.
    """

    place: str
    name: str
    revision: str
    content: str
    config: Mapping[str, object] = field(default_factory=dict)
    is_local: bool = False
    """Whether only the hub's local cache is used."""

    @property
    def model_type(self) -> str:
        """Return the model type, such as ``clip``."""
        return str(self.config.get("model_type", "no type"))

    @property
    def places(self) -> dict[str, str | bool | None]:
        """Return arguments for ``from_pretrained`` that load this version and run none of its code."""
        is_local = self.is_local or not self.revision
        return {"revision": self.revision or None, "local_files_only": is_local, "trust_remote_code": False}


def locate(
    name: str, *, revision: str = "", local_only: bool = False, example: str = "Qwen/Qwen2.5-VL-7B-Instruct"
) -> Source:
    """Find a checkpoint: a folder of that name, otherwise a repository on the hub.

    Of a repository only ``config.json`` is fetched here, which also says which commit it is.

    Raises:
        UsageError: neither a checkpoint's folder nor a possible name of a repository.
        AccessError: the hub has no such repository or revision, does not let us in, or cannot be reached.
    """
    folder = folder_of(name)
    if folder is None:
        asked = "local_only=true" if local_only else ""
        path = fetch_config(name, revision=revision, local_only=asked, example=example)
        commit = path.parent.name
        return Source(
            place=name, name=name, revision=commit, content=commit, config=_config(path), is_local=local_only
        )
    if revision:
        raise UsageError(f"revision={revision!r}: the folder {folder} has no revisions; leave it out")
    content, config = digest_of_model(folder), _config(folder / "config.json")
    name = folder.resolve().name
    return Source(place=str(folder), name=name, revision="", content=content, config=config)


def _config(path: Path) -> Mapping[str, object]:
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}; fetch the checkpoint again") from error
    if not isinstance(config, dict):
        raise UsageError(f"{path} holds a {type(config).__name__}; expected a JSON object")
    return config


def digest_of_model(folder: Path) -> str:
    """Return a SHA-256 over the files of a checkpoint; see `digest`.

    Raises:
        UsageError: the folder holds no ``config.json`` or no weights.
    """
    files = sorted(f for f in folder.iterdir() if f.suffix in SUFFIXES and f.is_file())
    names = {f.name for f in files}
    if "config.json" not in names or not {".safetensors", ".bin"} & {f.suffix for f in files}:
        raise UsageError(
            f"{folder} is not a checkpoint: expected config.json and weights (*.safetensors or *.bin), "
            f"found {', '.join(sorted(names)) or 'none of the files of a checkpoint'}"
        )
    return digest(files)


# --------------------------------------------------------------------------- for models that are not asked


class WeightSettings(Record):
    """Options of everything that uses vision weights."""

    positional: ClassVar[str] = "weights"
    weights: Annotated[FilePath, Meta(description="folder, or name of a repository on the hub")] = ""
    device: Annotated[
        str, Meta(description="auto (a GPU, otherwise the CPU), cpu, mps, cuda or cuda:NUMBER")
    ] = "auto"
    batch: Annotated[int, Meta(ge=1, description="frames, or texts, per forward pass")] = 32
    revision: Annotated[str, Meta(description="branch, tag or commit of a repository on the hub")] = ""
    local_only: Annotated[bool, Meta(description="use only the local cache of the hub")] = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", self.device):
            raise UsageError(f"device={self.device!r}; expected auto, cpu, mps, cuda or cuda:NUMBER")


def find_weights(owner: str, settings: WeightSettings, *, types: Mapping[str, str], example: str) -> Source:
    """Find weights of a suitable type: a folder of that name, otherwise a repository on the hub.

    Args:
        owner: the plug-in, for messages.
        settings: name the folder or the repository.
        types: the types of model that fit; for each the class that must have been stored.
        example: a repository that fits.

    Raises:
        UsageError: a library is missing, nothing is there, or it is a model of another type.
        AccessError: the hub has no such repository or revision, does not let us in, or cannot be reached.
    """
    if not settings.weights:
        raise UsageError(f"{owner} needs a folder or a name on the hub, for example {owner}:/path/to/weights")
    require_libraries(owner, ("torch", "transformers"))
    source = locate(
        settings.weights, revision=settings.revision, local_only=settings.local_only, example=example
    )
    stored = source.config.get("architectures")
    kind = str(stored[0]) if isinstance(stored, list) and stored else ""
    if source.model_type not in types or kind not in {"", types[source.model_type]}:
        raise UsageError(
            f"{source.place} holds a {kind or 'model'} of type {source.model_type!r}; "
            f"{owner}: needs {' or '.join(dict.fromkeys(types.values()))}, such as {example}"
        )
    return source


@cache
def library(name: str, *, owner: str, extra: str) -> ModuleType:
    """Import a module of an extra's library, such as ``scipy.optimize``.

    Raises:
        UsageError: as for `require_libraries`.
    """
    require_libraries(owner, (name.partition(".")[0],), extra=extra)
    return importlib.import_module(name)


def require_libraries(owner: str, libraries: Sequence[str], *, extra: str = "select") -> None:
    """Check that these libraries are installed.

    Raises:
        UsageError: one is missing; the message names the extra that brings it.
    """
    for library in libraries:
        if not is_importable(library):
            raise UsageError(f"{owner}: needs {library}; run: {adding(extra)}")


def load_model(
    source: Source,
    kind: str,
    *,
    device: str,
    parts: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    dtype: str = "float32",
) -> "tuple[PreTrainedModel, ...]":
    """Load a model for inference on a device, and what prepares its input, such as an ``AutoTokenizer``.

    Args:
        source: the weights.
        kind: the class of the model.
        device: of torch, or ``auto``.
        parts: the classes of what else is loaded, each with its options.
        dtype: the precision, or ``auto``: as the weights are stored.

    Raises:
        UsageError: the device is not there.
        AccessError: the files are no complete model of that class.
    """
    import torch
    import transformers

    place, device = source.place, device_of(device)
    with loading(place, f"a {kind}"):
        loaded = [
            getattr(transformers, part).from_pretrained(place, **options, **source.places)
            for part, options in parts.items()
        ]
        model, report = getattr(transformers, kind).from_pretrained(
            place,
            dtype=dtype if dtype == "auto" else getattr(torch, dtype),
            output_loading_info=True,
            **source.places,
        )
    check_weights(place, report)
    return (model.to(device).eval().requires_grad_(False), *loaded)

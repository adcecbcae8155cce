"""Where a checkpoint is, and what makes it the same checkpoint."""

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

from vidence.ask import checkpoints
from vidence.ask.checkpoints import fetch_config, files_of, folder_of, has_weights, refuse_revision
from vidence.errors import UsageError

# What a checkpoint consists of; the optimiser's state and the model card change no reply.
SUFFIXES = (".json", ".safetensors", ".bin", ".jinja", ".model", ".txt", ".py")


@dataclass(frozen=True, kw_only=True)
class Source:
    """One version of one checkpoint.

    `place` is what the libraries load from: a folder, or the name of a repository on the hub.
    `revision` is the commit on the hub, empty for a folder. `content` tells versions apart: the commit
    or the digest of the files.
    """

    place: str
    name: str
    revision: str
    content: str


def locate(name: str, *, revision: str = "", local_only: bool = False) -> Source:
    """Find the checkpoint: a folder if there is one of that name, otherwise a repository on the hub.

    Of a repository only ``config.json`` is fetched here, which also says which commit it is.

    Raises:
        UsageError: neither a checkpoint's folder nor a possible name of a repository.
        AccessError: the hub has no such repository or revision, does not let us in, or cannot be reached.
    """
    folder = folder_of(name)
    if folder is not None:
        refuse_revision(folder, revision)
        return Source(place=str(folder), name=folder.resolve().name, revision="", content=digest(folder))
    is_possible = not name.startswith(("/", ".", "~"))
    if is_possible and importlib.util.find_spec("huggingface_hub") is None:
        raise UsageError(f"{name!r} is no folder, and the hub needs: pip install 'vidence[transformers]'")
    asked = "local_only=true" if local_only else ""
    config = fetch_config(name, revision=revision, local_only=asked, example="Qwen/Qwen2.5-VL-7B-Instruct")
    commit = config.parent.name
    return Source(place=name, name=name, revision=commit, content=commit)


def digest(folder: Path) -> str:
    """A SHA-256 over the files of the checkpoint; see `vidence.ask.checkpoints.digest`.

    Raises:
        UsageError: the folder holds no readable ``config.json`` or no weights.
    """
    files = files_of(folder, SUFFIXES)
    names = {f.name for f in files}
    if "config.json" not in names or not has_weights(files):
        raise UsageError(
            f"{folder} is not a checkpoint: expected config.json and weights (*.safetensors or *.bin), "
            f"found {', '.join(sorted(names)) or 'none of the files of a checkpoint'}"
        )
    try:
        json.loads((folder / "config.json").read_bytes())
    except ValueError as error:
        raise UsageError(
            f"{folder / 'config.json'} is not JSON: {error}; fetch the checkpoint again"
        ) from error
    return checkpoints.digest(files)

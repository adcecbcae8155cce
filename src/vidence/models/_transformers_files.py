"""Where a checkpoint is, and what makes it the same checkpoint."""

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

from vidence.errors import AccessError, UsageError

# What a checkpoint consists of; the optimiser's state and the model card change no reply.
SUFFIXES = (".json", ".safetensors", ".bin", ".jinja", ".model", ".txt", ".py")
WHOLE_BYTES = 64 << 20
HEAD_BYTES = 1 << 20
BLOCK_BYTES = 4096
N_BLOCKS = 1024


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
    folder = Path(name).expanduser()
    if folder.is_dir():
        if revision:
            raise UsageError(
                f"revision={revision!r} makes no sense for the folder {folder}; "
                "leave it out, or name a repository on the hub"
            )
        return Source(place=str(folder), name=folder.resolve().name, revision="", content=digest(folder))
    if name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1:
        raise UsageError(
            f"there is no folder {folder}; expected a folder with config.json and weights, "
            "or a repository on the hub such as Qwen/Qwen2.5-VL-7B-Instruct"
        )
    commit = _commit(name, revision=revision, local_only=local_only)
    return Source(place=name, name=name, revision=commit, content=commit)


def _commit(name: str, *, revision: str, local_only: bool) -> str:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise UsageError(f"{name!r} is no folder, and the hub needs: pip install 'vidence[transformers]'")
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HFValidationError

    wanted = f"{name} (revision {revision or 'main'})"
    try:
        config = hf_hub_download(name, "config.json", revision=revision or None, local_files_only=local_only)
    except HFValidationError as error:
        raise UsageError(
            f"there is no folder {name!r}, and it cannot be a repository on the hub: {error}"
        ) from error
    except (EntryNotFoundError, OSError) as error:
        where = "in the local cache of the hub (local_only=true)" if local_only else "on the hub"
        raise AccessError(
            f"no config.json of {wanted} {where}, and no folder of that name here: {error}. "
            "Check the name, log in if the repository is gated, or give a folder"
        ) from error
    return Path(config).parent.name


def digest(folder: Path) -> str:
    """A SHA-256 over the files of the checkpoint, in hexadecimal.

    Names, sizes and contents enter. Files over 64 MiB enter with their first MiB and 1,024 blocks of
    4 KiB spread evenly over the rest, so that 100 GB take seconds: training a model further, merging
    an adapter or quantising is seen, a change of a few numbers in the middle of a large file may not be.

    Raises:
        UsageError: the folder holds no readable ``config.json`` or no weights.
    """
    files = sorted(f for f in folder.iterdir() if f.suffix in SUFFIXES and f.is_file())
    names = {f.name for f in files}
    if "config.json" not in names or not any(n.endswith((".safetensors", ".bin")) for n in names):
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

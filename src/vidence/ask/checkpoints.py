"""Weights in a folder or on the hub: which version they are, without reading all of them."""

import hashlib
import importlib.util
import json
import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vidence.errors import AccessError, UsageError
from vidence.installation import adding
from vidence.text import sentence

WHOLE_BYTES = 64 << 20
HEAD_BYTES = 1 << 20
BLOCK_BYTES = 4096
N_BLOCKS = 1024
# What a checkpoint of a model consists of; the optimiser's state and the model card change no reply.
SUFFIXES = (".json", ".safetensors", ".bin", ".jinja", ".model", ".txt", ".py")


def files_of(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files of a checkpoint that have one of these endings, by name."""
    return sorted(f for f in folder.iterdir() if f.suffix in suffixes and f.is_file())


def has_weights(files: Sequence[Path]) -> bool:
    """Whether weights are among the files."""
    return any(file.suffix in {".safetensors", ".bin"} for file in files)


def digest(files: Sequence[Path]) -> str:
    """A SHA-256 over files, in hexadecimal.

    Names, sizes and contents enter. Files over 64 MiB enter with their first MiB and 1,024 blocks of
    4 KiB spread evenly over the rest, so that 100 GB take seconds: training a model further, merging
    an adapter or quantising is seen, a change of a few numbers in the middle of a large file may not be.
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
    """The folder of that name, ``~`` being the user's own; None where there is none.

    Raises:
        UsageError: what is there cannot be looked at, or no file can have that name.
    """
    folder = Path(name).expanduser()
    try:
        return folder if folder.is_dir() else None
    except OSError as error:
        raise UsageError(f"the weights {name!r} cannot be looked for: {error.strerror}") from error


def refuse_revision(folder: Path, revision: str) -> None:
    """Refuse a version for what has none.

    Raises:
        UsageError: there is a revision.
    """
    if revision:
        raise UsageError(
            f"revision={revision!r} makes no sense for the folder {folder}; "
            "leave it out, or name a repository on the hub"
        )


@contextmanager
def _quiet(library: str) -> Iterator[None]:
    """Keep back the warnings of a library: two for each of its tries, where our error says it once."""
    logger = logging.getLogger(library)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Transformers shows no bars; they come back afterwards."""
    from transformers.utils import logging as library_logging

    were_on = library_logging.is_progress_bar_enabled()
    library_logging.disable_progress_bar()
    try:
        yield
    finally:
        if were_on:
            library_logging.enable_progress_bar()


def fetch_config(name: str, *, revision: str, local_only: str, example: str) -> Path:
    """Fetch ``config.json`` of a repository on the hub; the folder that it lies in is named after the commit.

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
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HFValidationError

    try:
        with _quiet("huggingface_hub"):
            path = hf_hub_download(
                name, "config.json", revision=revision or None, local_files_only=bool(local_only)
            )
    except HFValidationError as error:
        raise UsageError(
            f"there is no folder {name!r}, and it cannot be a repository on the hub: {error}"
        ) from error
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
        return Source(
            place=str(folder), name=folder.resolve().name, revision="", content=digest_of_model(folder)
        )
    is_possible = not name.startswith(("/", ".", "~"))
    if is_possible and importlib.util.find_spec("huggingface_hub") is None:
        raise UsageError(f"{name!r} is no folder, and the hub needs: {adding('transformers')}")
    asked = "local_only=true" if local_only else ""
    config = fetch_config(name, revision=revision, local_only=asked, example="Qwen/Qwen2.5-VL-7B-Instruct")
    commit = config.parent.name
    return Source(place=name, name=name, revision=commit, content=commit)


def digest_of_model(folder: Path) -> str:
    """A SHA-256 over the files of the checkpoint; see `digest`.

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
    return digest(files)

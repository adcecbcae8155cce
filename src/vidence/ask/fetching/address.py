"""Addresses of hub data, ``hf:OWNER/NAME@REVISION/FOLDER``, and the folders of their files."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from vidence.errors import DataError, UsageError

_SCHEME = "hf:"
_ADDRESS = re.compile(
    r"hf:(?P<owner>\w[\w.-]*)/(?P<name>\w[\w.-]*)(?:@(?P<revision>\w[^/@\s]*)(?:/(?P<folder>[^\s].*))?)?"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CACHE_FOLDER = "datasets--"


@dataclass(frozen=True)
class HubAddress:
    """A hub data set at a revision, or a folder of it."""

    repo: str
    revision: str = "main"
    folder: str = ""

    def __str__(self) -> str:
        return f"{_SCHEME}{self.repo}@{self.revision}" + (f"/{self.folder}" if self.folder else "")

    @property
    def is_pinned(self) -> bool:
        """Whether the revision is a commit, which never changes."""
        return _COMMIT.fullmatch(self.revision) is not None

    @classmethod
    def parse(cls, text: str) -> "HubAddress":
        """Parse an address.

        Raises:
            UsageError: it is none.

        >>> HubAddress.parse("hf:yale-nlp/MMVU@main/videos")
        HubAddress(repo='yale-nlp/MMVU', revision='main', folder='videos')
        """
        match = _ADDRESS.fullmatch(text)
        if match is None or ".." in text.split("/"):
            raise UsageError(f"{text!r} is not an address; expected hf:OWNER/NAME@REVISION")
        folder = (match["folder"] or "").strip("/")
        return cls(f"{match['owner']}/{match['name']}", match["revision"] or "main", folder)


def is_address(text: str) -> bool:
    """Whether a text is a hub address rather than a file."""
    return text.startswith(_SCHEME)


def hub_cache() -> Path:
    """Return the cache folder of the hub's library."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def pinned(address: HubAddress, cache: Path) -> HubAddress:
    """Return the address with the commit that its branch or tag had when fetched.

    Raises:
        DataError: it was not fetched; the message has the command that does.
    """
    if address.is_pinned:
        return address
    ref = cache_folder(address, cache) / "refs" / address.revision
    if not ref.is_file():
        raise _not_fetched(address, cache)
    return replace(address, revision=ref.read_text(encoding="utf-8").strip())


def fetched(address: HubAddress, cache: Path) -> Path:
    """Return the folder with the fetched files of an address.

    Raises:
        DataError: nothing of it was fetched; the message has the command that does.
    """
    place = cache_folder(address, cache) / "snapshots" / pinned(address, cache).revision / address.folder
    if not place.exists():
        raise _not_fetched(address, cache)
    return place


def data_place(text: str, cache: Path | None = None) -> Path:
    """Return the file or folder that a text names: a path, a folder of the hub's cache, or an address.

    A folder ``datasets--OWNER--NAME`` stands for its revision ``main``, or for the only one that it has.

    Args:
        text: what names it.
        cache: the folder of the hub's library; None takes the one of the environment.

    Raises:
        DataError: an address that was not fetched, or a cache folder with several revisions and no main one.
    """
    if is_address(text):
        return fetched(HubAddress.parse(text), cache or hub_cache())
    path = Path(text)
    snapshots = path / "snapshots"
    if not path.name.startswith(_CACHE_FOLDER) or not snapshots.is_dir():
        return path
    main = path / "refs" / "main"
    there = sorted(folder for folder in snapshots.iterdir() if folder.is_dir())
    if main.is_file() and (named := snapshots / main.read_text(encoding="utf-8").strip()) in there:
        return named
    if len(there) == 1:
        return there[0]
    names = ", ".join(folder.name for folder in there) or "none"
    raise DataError(
        f"{path} is a cache folder of the hub with these revisions: {names}; name one: "
        f"{snapshots / 'REVISION'}"
    )


def cache_folder(address: HubAddress, cache: Path) -> Path:
    """Return the folder of the hub's library with all revisions of a data set."""
    return cache / f"{_CACHE_FOLDER}{address.repo.replace('/', '--')}"


def _not_fetched(address: HubAddress, cache: Path) -> DataError:
    return DataError(
        f"{address} is not in {cache}; fetch it with: vidence get '{replace(address, folder='')}'"
    )

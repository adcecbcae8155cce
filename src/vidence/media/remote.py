"""Files at addresses, read by ranges with fsspec: nothing is downloaded whole or written.

A server's metadata (ETag, size, modification time) distinguishes versions of a file; hashing would require a
download. Importing this imports no driver.
"""

import io
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from vidence.errors import MediaError, UsageError
from vidence.installation import adding, pip
from vidence.media.address import Address, redacted
from vidence.records import by_key

if TYPE_CHECKING:
    from typing_extensions import Buffer

T = TypeVar("T")
_log = logging.getLogger(__name__)

BLOCK_BYTES: Final = 2**17
"""Minimum bytes per request."""
_MOST_AHEAD: Final = 32  # blocks that one request asks for where a file is read from end to end
_KEPT_BYTES: Final = 2**26  # of blocks, in the memory of a process
# Before each further try of a request that failed. The drivers of stores try again themselves, too.
_PAUSES_S: Final = {"http": (0.5, 1.0, 2.0), "https": (0.5, 1.0, 2.0)}
_PAUSES_OF_STORES_S: Final = (0.5,)
_AT_A_TIME: Final = 16  # files that are asked about side by side
_ASKED_ONE_BY_ONE: Final = 20  # of one folder; where more are wanted the folder is listed
# What servers and stores call the version of a file.
_VERSION: Final = (
    *("ETag", "etag", "generation", "md5Hash", "Content-MD5", "Digest", "blob_id"),
    *("Last-Modified", "LastModified", "mtime", "updated"),
)
_WORTH_ANOTHER_TRY: Final = (408, 425, 429)
_NO_CREDENTIALS: Final = (
    "NoCredentialsError",
    "PartialCredentialsError",
    "TokenRetrievalError",
    "DefaultCredentialsError",
)
# The variables by which drivers are led to other servers; they are read when a driver is made.
_ENDPOINTS: Final = {"s3": "AWS_ENDPOINT_URL", "hf": "HF_ENDPOINT", "gs": "STORAGE_EMULATOR_HOST"}
# The variables of keys, without which a driver reads what is open to all, or nothing.
_KEYS: Final = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"),
    "hf": ("HF_TOKEN",),
    "gs": ("GOOGLE_APPLICATION_CREDENTIALS",),
}
_SPOKEN: set[str] = set()  # the protocols of which this process has made a driver


@dataclass(frozen=True, kw_only=True)
class RemoteFacts:
    """A server's metadata of a file.

    `version` changes with the file; `sha256` is of its bytes, empty if the server does not state it.
    """

    size_bytes: int
    version: str
    sha256: str = ""
    is_folder: bool = False


# ----------------------------------------------------------------------------------------- what is there


def look(address: Address) -> RemoteFacts | None:
    """Return the metadata of an address; None if it does not exist.

    Raises:
        MediaError: the server refuses, cannot be reached, or does not state the size.
        UsageError: the protocol's driver is not installed.
    """
    return _absent_or(address, partial(_looked, address))


def listing(folder: Address) -> dict[str, RemoteFacts] | None:
    """Return the direct contents of a folder by name; None if there is no such folder.

    Raises:
        MediaError: as for `look`, and for web servers, which cannot be listed.
        UsageError: as for `look`.
    """
    if not folder.lists:
        raise MediaError(f"{folder}: web servers do not list folders; use s3://, gs://, hf:// or a local one")
    return _absent_or(folder, partial(_listed, folder))


def look_at_all(addresses: Sequence[Address]) -> dict[Address, RemoteFacts | None]:
    """Apply `look` to many addresses: folders with many are listed, others are queried concurrently.

    Raises:
        MediaError: as for `look`.
        UsageError: as for `look`.
    """
    values: dict[Address, RemoteFacts | None] = {}
    alone: list[Address] = []
    for folder, inner in by_key((address.parent, address) for address in addresses).items():
        if not folder.lists or len(inner) < _ASKED_ONE_BY_ONE:
            alone += inner
            continue
        there = listing(folder) or {}
        values.update({entry: there.get(entry.name) for entry in inner})
    pool = ThreadPoolExecutor(_AT_A_TIME)
    try:
        values.update(zip(alone, pool.map(look, alone), strict=True))
    finally:  # where a server is down, those that wait are not tried, too
        pool.shutdown(cancel_futures=True)
    return values


def _looked(address: Address) -> RemoteFacts:
    driver = _driver(address)
    if address.scheme == "hf":
        return _of_hub(address, driver)
    return _found(address, driver.info(address.text))


def _listed(folder: Address) -> dict[str, RemoteFacts]:
    rows = _driver(folder).ls(
        folder.text, detail=True, **({"refresh": True} if folder.scheme == "hf" else {})
    )
    inner = (row for row in rows if row["name"].rstrip("/").rpartition("/")[2])
    return {row["name"].rstrip("/").rpartition("/")[2]: _found(folder, row) for row in inner}


def _found(address: Address, info: "Mapping[str, object]") -> RemoteFacts:
    if info["type"] == "directory":
        return RemoteFacts(size_bytes=0, version="", is_folder=True)
    if info.get("size") is None:
        raise MediaError(f"{address}: its server does not state its size; download it to read it")
    versions = [f"{name}={info[name]}" for name in _VERSION if info.get(name)]
    lfs = info.get("lfs")
    sha256 = getattr(lfs, "sha256", "") or (lfs.get("sha256", "") if isinstance(lfs, dict) else "")
    size = int(str(info["size"]))
    return RemoteFacts(size_bytes=size, version=" ".join([f"size={size}", *versions]), sha256=sha256)


def _of_hub(address: Address, driver: "Any") -> RemoteFacts:  # noqa: ANN401 - fsspec has no types
    """Return the hub's metadata of one file; its driver would list the whole folder."""
    from huggingface_hub import HfApi

    at = driver.resolve_path(address.text)
    if not at.path_in_repo:
        return RemoteFacts(size_bytes=0, version="", is_folder=True)
    rows = HfApi(endpoint=driver.endpoint, token=driver.token).get_paths_info(
        at.repo_id, at.path_in_repo, revision=at.revision, repo_type=at.repo_type
    )
    if not rows:
        raise FileNotFoundError(address.text)
    row = rows[0]
    if not hasattr(row, "blob_id"):
        return RemoteFacts(size_bytes=0, version="", is_folder=True)
    lfs = {"sha256": row.lfs.sha256} if row.lfs else None
    return _found(address, {"type": "file", "size": row.size, "blob_id": row.blob_id, "lfs": lfs})


# ------------------------------------------------------------------------------------------------ drivers


def _driver(address: Address) -> "Any":  # noqa: ANN401 - fsspec has no types
    """Return the fsspec file system of a protocol, without cached listings.

    Raises:
        UsageError: a required package is not installed.
    """
    try:
        return _file_system(address.scheme, os.environ.get(_ENDPOINTS.get(address.scheme, "")))
    except ImportError as error:
        command = f"{pip()} install gcsfs" if address.scheme == "gs" else adding("remote")
        raise UsageError(
            f"{address.scheme}:// needs a driver that is not installed ({error.name or error}); add it with: "
            f"{command}"
        ) from error


def keys_in_use() -> tuple[str, ...]:
    """Return the environment variables with the keys for reading remote media."""
    return tuple(name for scheme in sorted(_SPOKEN) for name in _KEYS.get(scheme, ()) if os.environ.get(name))


@lru_cache(maxsize=8)  # fsspec would make one for each thread, and that of S3 takes half a second
def _file_system(scheme: str, endpoint: str | None) -> "Any":  # noqa: ANN401 - fsspec has no types
    import fsspec

    _SPOKEN.add(scheme)
    if scheme == "hf":
        return fsspec.filesystem("hf", endpoint=endpoint)
    return fsspec.filesystem(scheme, use_listings_cache=False)


def _absent_or(address: Address, ask: Callable[[], T]) -> T | None:
    try:
        return _tried(address, ask)
    except _AbsentError:
        return None


class _AbsentError(MediaError):
    """Raised if nothing exists at this address."""


def _tried(address: Address, ask: Callable[[], T]) -> T:
    """Return a driver's result, retrying transient failures.

    Raises:
        _AbsentError: nothing exists at the address.
        MediaError: the server refuses, or fails every time.
    """
    pauses_s = _PAUSES_S.get(address.scheme, _PAUSES_OF_STORES_S)
    for pause_s in (*pauses_s, None):
        try:
            return ask()
        except (MediaError, UsageError):
            raise
        except Exception as error:
            if (known := _refusal(address, error)) is not None:
                raise known from error
            if pause_s is None:
                why = _words(_causes(error)[-1])
                raise MediaError(
                    f"{address}: could not be read in {len(pauses_s) + 1} tries ({why}); check that "
                    "its server is up, then continue with vidence resume"
                ) from error
            _log.debug("%s: %s; trying again", address, _words(error))
            time.sleep(pause_s)
    raise AssertionError("the last try returns or raises")


def _refusal(address: Address, error: Exception) -> MediaError | None:
    """Return the error for a permanent failure; None if a retry may help."""
    chain = _causes(error)
    statuses = [status for entry in chain if (status := _status(entry)) is not None]
    status = statuses[0] if statuses else None
    if any(type(entry).__name__ in _NO_CREDENTIALS for entry in chain):
        return MediaError(
            f"{address}: no credentials were found ({_words(error)}); set the environment variables of its "
            "driver, or the one for public buckets (docs/guides/fetching.md)"
        )
    if status in (401, 403) or (status is None and isinstance(error, PermissionError)):
        return MediaError(
            f"{address}: its server refuses access ({status or 'no permission'}); check that the keys in the "
            "environment may read it, and that it exists: a store that you may not list gives the same error"
        )
    # The driver of the web says "not found", too, where nobody answers; then that is its cause.
    is_absent = status is None and isinstance(error, FileNotFoundError) and len(chain) == 1
    if status in (404, 410) or is_absent:
        return _AbsentError(f"{address}: there is no such file")
    if status is not None and 400 <= status < 500 and status not in _WORTH_ANOTHER_TRY:
        return MediaError(f"{address}: its server refuses the request ({_words(error)})")
    if isinstance(error, ValueError):  # the driver of the web found that it gets whole files only
        return MediaError(f"{address}: cannot be read in parts ({_words(error)}); download the file")
    return None


def _causes(error: BaseException) -> list[BaseException]:
    """Return an exception and its causes, the root last."""
    chain = [error]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    return chain


def _status(error: BaseException) -> int | None:
    """Return the HTTP status of a driver's exception."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        status = getattr(response, "status_code", None)
    # `code` is gcsfs's; aiohttp says 400 there of a reply that broke off.
    code = getattr(error, "code", None) if type(error).__name__ == "HttpError" else None
    values = (status, getattr(error, "status", None), code)
    return next((value for value in values if isinstance(value, int)), None)


def _words(error: BaseException) -> str:
    """Return a driver's message on one line, without possible secrets."""
    words = " ".join(redacted(str(error)).split())[:200]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


# ------------------------------------------------------------------------------------------------- bytes


@dataclass
class _Blocks:
    """The most recently read blocks of files, up to a total size."""

    max_bytes: int
    _kept: OrderedDict[tuple[Address, str, int], bytes] = field(default_factory=OrderedDict)
    _n_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def get(self, key: tuple[Address, str, int]) -> bytes | None:
        """Return a block if it is cached, and mark it as used."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: tuple[Address, str, int], block: bytes) -> None:
        """Store a block, deleting the least recently used."""
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = block
            self._n_bytes += len(block)
            while self._n_bytes > self.max_bytes:
                _, old = self._kept.popitem(last=False)
                self._n_bytes -= len(old)


_BLOCKS: Final = _Blocks(max_bytes=_KEPT_BYTES)


class RemoteFile(io.RawIOBase):
    """A file at an address, open for reading: data is fetched block by block.

    Where it is read on from block to block, more is fetched at a time. An error of the server is raised where
    it is met, and kept in `trouble`: libavformat may go on after it, and finds the end of the file. What lies
    in `hollow` (beginnings and ends of places) is given as zeros, and not fetched.

    Args:
        address: the file.
        found: what `look` said of it.
    """

    def __init__(self, address: Address, facts: RemoteFacts) -> None:
        super().__init__()
        self.name = str(address)  # libavformat goes by its ending where the bytes do not tell
        self.found = facts
        self.trouble: MediaError | None = None
        self.hollow: tuple[tuple[int, int], ...] = ()
        self._address = address
        self._position = 0
        self._raw: Any = None
        self._next = -1  # the block after those that were fetched last
        self._ahead = 1

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the current position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to another position without fetching."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.found.size_bytes}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: "Buffer") -> int:
        """Read into a buffer, up to the end of the file.

        Raises:
            MediaError: the server fails, or the file has changed.
        """
        if self.trouble is not None:  # it was raised before, and libavformat goes on
            return 0
        view = memoryview(buffer).cast("B")
        end = min(self._position + len(view), self.found.size_bytes)
        n_read = max(end - self._position, 0)
        at = self._position
        for start, stop, is_hollow in self._parts(at, end):
            view[start - at : stop - at] = bytes(stop - start) if is_hollow else self._bytes(start, stop)
        self._position += n_read
        return n_read

    def _parts(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Split a span into parts that are entirely hollow or not at all."""
        for first, after in self.hollow:
            if after <= start or first >= end:
                continue
            if start < first:
                yield start, first, False
            start = max(start, first)
            yield start, min(after, end), True
            start = min(after, end)
        if start < end:
            yield start, end, False

    def _bytes(self, start: int, end: int) -> bytes:
        blocks = range(start // BLOCK_BYTES, (end - 1) // BLOCK_BYTES + 1)
        joined = b"".join(self._block(block, last=blocks[-1]) for block in blocks)
        offset = start - blocks[0] * BLOCK_BYTES
        return joined[offset : offset + end - start]

    def _block(self, block: int, *, last: int) -> bytes:
        key = self._address, self.found.version, block
        if (kept := _BLOCKS.get(key)) is not None:
            return kept
        self._ahead = min(self._ahead * 2, _MOST_AHEAD) if block == self._next else 1
        n_blocks = max(self._ahead, last - block + 1)
        first_byte = block * BLOCK_BYTES
        end = min(first_byte + n_blocks * BLOCK_BYTES, self.found.size_bytes)
        fetched = self._fetched(first_byte, end)
        self._next = block + n_blocks
        parts = [fetched[at : at + BLOCK_BYTES] for at in range(0, len(fetched), BLOCK_BYTES)]
        for number, part in enumerate(parts):
            _BLOCKS.put((self._address, self.found.version, block + number), part)
        return parts[0]

    def _fetched(self, start: int, end: int) -> bytes:
        try:
            return _tried(self._address, partial(self._once, start, end))
        except _AbsentError as error:
            self.trouble = MediaError(f"{self._address}: no longer exists; start again when it is back")
            raise self.trouble from error
        except MediaError as error:
            self.trouble = error
            raise

    def _once(self, start: int, end: int) -> bytes:
        """Request a range once; the driver's file is reopened after a failure."""
        if self._raw is None:
            self._raw = _driver(self._address).open(
                self._address.text, "rb", size=self.found.size_bytes, cache_type="none"
            )
        raw, self._raw = self._raw, None
        raw.seek(start)
        fetched: bytes = raw.read(end - start)
        if len(fetched) != end - start:
            raise OSError(f"got {len(fetched)} of the {end - start} bytes requested from byte {start}")
        self._raw = raw
        return fetched


def opened(address: Address) -> RemoteFile:
    """Open a file at an address for reading.

    Raises:
        MediaError: it does not exist, is a folder or empty, or its server refuses or fails.
        UsageError: the protocol's driver is not installed.
    """
    facts = look(address)
    if facts is None:
        raise MediaError(f"{address}: there is no such file")
    if facts.is_folder:
        raise MediaError(f"{address}: is a folder; a folder of images has the kind 'frames'")
    if facts.size_bytes == 0:
        raise MediaError(f"{address}: is empty (0 bytes)")
    return RemoteFile(address, facts)

"""Data sets of the Hugging Face hub: list and fetch files, verified against listed hashes."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from vidence.ask.fetching.address import HubAddress, cache_folder
from vidence.ask.fetching.archives import is_inside
from vidence.errors import DataError

T = TypeVar("T")
_AT_ONCE = 8
_TRIES = 4
_LONGEST_WAIT_S = 120.0
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True, kw_only=True)
class HubFile:
    """A file in a hub's listing; `sha256` is empty for small files, which have only git's hash."""

    path: str
    n_bytes: int
    git_sha1: str
    sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class DatasetListing:
    """A data set at one commit; `address` is pinned to it."""

    address: HubAddress
    licence: str
    is_gated: bool
    files: tuple[HubFile, ...]


class Hub:
    """The hub that ``HF_ENDPOINT`` names, with the token of ``HF_TOKEN`` or of a login.

    Args:
        cache: the folder in which the hub's library keeps files.
        endpoint: another hub; None takes that of the environment.
        wait: how to wait for some seconds.
    """

    def __init__(
        self, cache: Path, *, endpoint: str | None = None, wait: Callable[[float], None] = time.sleep
    ) -> None:
        from huggingface_hub import HfApi, constants

        self.cache = cache
        self._api = HfApi(endpoint=endpoint)
        self._wait = wait
        self._is_offline = bool(constants.HF_HUB_OFFLINE)

    def listing(self, address: HubAddress) -> DatasetListing:
        """List a data set.

        Raises:
            DataError: there is no such data set or revision, it is not open to this user, or the hub
                cannot be reached.
        """
        from huggingface_hub.hf_api import RepoFile

        with _explained(address, is_offline=self._is_offline):
            info = self._again(lambda: self._api.dataset_info(address.repo, revision=address.revision))
            commit = str(info.sha)
            entries = self._again(
                lambda: list(
                    self._api.list_repo_tree(
                        address.repo, recursive=True, revision=commit, repo_type="dataset"
                    )
                )
            )
        if odd := [entry.path for entry in entries if not is_inside(entry.path)]:
            raise DataError(
                f"{address} lists {odd[0]!r}, which leaves its folder; nothing is fetched from it"
            )
        card = info.card_data.to_dict() if info.card_data else {}
        licence = card.get("license_name") or card.get("license") or ""
        return DatasetListing(
            address=HubAddress(address.repo, commit, address.folder),
            licence=", ".join(map(str, licence)) if isinstance(licence, list) else str(licence),
            is_gated=bool(info.gated),
            files=tuple(
                HubFile(
                    path=entry.path,
                    n_bytes=entry.size,
                    git_sha1=entry.blob_id,
                    sha256=entry.lfs.sha256 if entry.lfs else "",
                )
                for entry in entries
                if isinstance(entry, RepoFile)
            ),
        )

    def absent(self, listing: DatasetListing, files: Sequence[HubFile]) -> tuple[HubFile, ...]:
        """Return which files of a data set are not cached."""
        folder = cache_folder(listing.address, self.cache) / "snapshots" / listing.address.revision
        return tuple(file for file in files if not (folder / file.path).exists())

    def fetch(
        self,
        listing: DatasetListing,
        files: Sequence[HubFile],
        *,
        named: str,
        on_file: Callable[[HubFile], None],
    ) -> Path:
        """Fetch files of a data set concurrently; existing ones are only verified.

        What was fetched of a file before an interruption is kept, and the rest asked for.

        Args:
            listing: the data set.
            files: those to fetch.
            named: the branch or tag by which it was asked for, noted in the cache.
            on_file: called for each file.

        Returns:
            The folder of the data set at its commit.

        Raises:
            DataError: a file cannot be had, or is not the one that is listed.
        """
        address = listing.address
        folder = cache_folder(address, self.cache)
        with _explained(address, is_offline=self._is_offline), ThreadPoolExecutor(_AT_ONCE) as pool:
            futures = [pool.submit(self._fetch_one, address, entry) for entry in files]
            try:
                for file, future in zip(files, futures, strict=True):
                    future.result()
                    on_file(file)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        if named != address.revision:
            ref = folder / "refs" / named
            ref.parent.mkdir(parents=True, exist_ok=True)
            ref.write_text(address.revision, encoding="utf-8")
        return folder / "snapshots" / address.revision

    def _fetch_one(self, address: HubAddress, file: HubFile) -> None:
        download = partial(
            self._api.hf_hub_download,
            address.repo,
            file.path,
            repo_type="dataset",
            revision=address.revision,
            cache_dir=self.cache,
        )
        for is_forced in (False, True):  # a damaged copy in the cache is replaced once
            path = Path(self._again(partial(download, force_download=is_forced)))
            if _is_as_listed(path, file):
                return
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise DataError(
            f"{file.path} of {address} differs from the hub's listing in size or hash and was removed; "
            "try again, or report it to those who run the hub"
        )

    def _again(self, ask: Callable[[], T]) -> T:
        """Repeat a request a few times, waiting as long as the hub says."""
        from huggingface_hub.errors import HfHubHTTPError

        for k in range(_TRIES - 1):
            try:
                return ask()
            except HfHubHTTPError as error:
                response = error.response
                if response is None or response.status_code not in _AGAIN:
                    raise
                header = response.headers.get("retry-after", "")
                self._wait(min(float(header) if header.isdecimal() else 2.0**k, _LONGEST_WAIT_S))
        return ask()


def _is_as_listed(path: Path, file: HubFile) -> bool:
    """Whether a file has the listed size and hash."""
    if path.stat().st_size != file.n_bytes:
        return False
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % file.n_bytes)  # noqa: S324
    with path.open("rb") as opened:
        hashlib.file_digest(opened, lambda: digest)
    return digest.hexdigest() == (file.sha256 or file.git_sha1)


@contextmanager
def _explained(address: HubAddress, *, is_offline: bool) -> Iterator[None]:
    """Convert errors of the hub's library to messages with advice."""
    import httpx2
    from huggingface_hub import errors

    try:
        yield
    except errors.OfflineModeIsEnabled as error:
        raise DataError(f"HF_HUB_OFFLINE is set, so that {address} cannot be fetched; unset it") from error
    except errors.GatedRepoError as error:
        raise DataError(
            f"{address.repo} is gated: accept its terms on its page at the hub, create a token there, "
            "and set HF_TOKEN to it"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise DataError(f"{address.repo} has no revision {address.revision!r}") from error
    except errors.RepositoryNotFoundError as error:
        raise DataError(
            f"there is no data set {address.repo} at the hub that this user may see; if it is private, "
            "set HF_TOKEN"
        ) from error
    except errors.RemoteEntryNotFoundError as error:
        raise DataError(f"{address}: {_first_line(error)}") from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        hint = "; with HF_TOKEN more is allowed" if status == 429 else ""
        raise DataError(
            f"the hub answered {status} for {address}, several times; try again later{hint}"
        ) from error
    except (errors.LocalEntryNotFoundError, httpx2.HTTPError, OSError) as error:
        is_away = isinstance(error, httpx2.ConnectError)
        why = "the hub cannot be reached" if is_away else _first_line(error)
        why = "HF_HUB_OFFLINE is set" if is_offline else why
        raise DataError(
            f"{address} cannot be fetched ({why}); what was fetched is kept: repeat the command to continue"
        ) from error


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)

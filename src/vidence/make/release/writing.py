"""Write a released dataset: files with checksums, once and atomically."""

import hashlib
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from vidence.errors import StoreError, UsageError, VidenceError, cause
from vidence.make.gates.splits import sha256_of
from vidence.make.release.media import NOTHING, Attached
from vidence.media.whole import is_marked, temporary_beside

RELEASE = "release"
SUMS_FILE = "SHA256SUMS"
ABOUT = Path("about")


def with_sums(
    files: Mapping[Path, bytes], *, comment: str = "", more: Mapping[Path, str] = MappingProxyType({})
) -> dict[Path, bytes]:
    """The files plus a checksum file that starts with a comment; `more` holds other files' hashes."""
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()} | dict(more)
    sums = "".join(
        f"{digest}  {path.as_posix()}\n"
        for path, digest in sorted(hashes.items(), key=lambda pair: pair[0].as_posix())
    )
    head = f"# {comment}\n" if comment else ""
    return {**files, Path(SUMS_FILE): (head + sums).encode()}


def write_release(
    files: Mapping[Path, bytes],
    folder: Path,
    *,
    check: Callable[[Path], None] | None = None,
    attached: Attached = NOTHING,
) -> bool:
    """Write a release, whole or not at all; whether it is new.

    Args:
        files: by their paths in it.
        folder: where it goes.
        check: looks through the folder before it gets its name, and raises what speaks against it.
        attached: further files, which are copied or linked.

    Raises:
        UsageError: another release is there, or something else.
        StoreError: it cannot be written; nothing is left behind.
    """
    if is_marked(folder, SUMS_FILE):
        _same_or_refuse(files, folder, attached)
        if check is not None:
            check(folder)
        return False
    partial = temporary_beside(folder)
    try:
        for name, content in files.items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            (partial / name).write_bytes(content)
        for name, source in attached.files.items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            if attached.is_linked:
                (partial / name).symlink_to(source)
            else:
                shutil.copyfile(source, partial / name)
        if check is not None:
            check(partial)
        partial.rename(folder)
    except VidenceError:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise StoreError(f"cannot write the release {folder}: {cause(error)}") from error
    return True


def _there(folder: Path, ours: Collection[str]) -> set[str]:
    """The files of a folder, apart from videos added by the user."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if name in ours or not name.startswith("data/videos/")}


def _same_or_refuse(files: Mapping[Path, bytes], folder: Path, attached: Attached) -> None:
    ours = {name.as_posix() for name in (*files, *attached.files)}
    differ = sorted(ours ^ _there(folder, ours))
    if not differ:
        differ = sorted(n.as_posix() for n, content in files.items() if (folder / n).read_bytes() != content)
    if not differ:
        differ = sorted(n.as_posix() for n, name in attached.hashes.items() if sha256_of(folder / n) != name)
    if differ:
        raise UsageError(
            f"{folder} holds another release ({differ[0]} differs); a release is never changed. Give the new "
            "one another version, or move the old one away"
        )

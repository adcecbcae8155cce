"""Where the media of questions lie, and which of them are absent."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from vidence.errors import DataError
from vidence.records import Item, Media


def resolve(media_root: Path, media: Media) -> Path:
    """The file of a video or image, or the folder of numbered images.

    An absolute path stands for itself; a relative one starts from `media_root` and may leave it.
    Nothing is downloaded: a medium that has only a URL is expected in `media_root` under the host and
    path of the URL, where ``wget -x`` puts it.

    Raises:
        DataError: the medium has neither path nor URL.

    >>> resolve(Path("data"), Media(url="https://example.org/clips/a.mp4")).as_posix()
    'data/example.org/clips/a.mp4'
    """
    if media.path:
        return media_root / media.path
    if not media.url:
        raise DataError("a medium has neither path nor url; expected the path of a file")
    url = urlsplit(media.url)
    query = f"?{url.query}" if url.query else ""
    return media_root / url.netloc / f"{url.path.lstrip('/')}{query}"


def missing(media_root: Path, items: Iterable[Item]) -> tuple[Path, ...]:
    """The files and folders that the items need and that are not there, each once, in their order.

    Each one is looked for once; it counts as missing, too, where a folder stands for a file, or a file
    for a folder of images.
    """
    media = dict.fromkeys(medium for item in items for medium in item.media)
    needed = dict.fromkeys((resolve(media_root, medium), medium.kind) for medium in media)
    absent = (path for path, kind in needed if not (path.is_dir() if kind == "frames" else path.is_file()))
    return tuple(dict.fromkeys(absent))

"""Where the media of questions lie, and which of them are absent."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vidence.errors import MissingMediaError
from vidence.records import Item, Media

_LISTED = 10


@dataclass(frozen=True, kw_only=True)
class Missing:
    """What the questions name and the disk lacks.

    `paths` are the absent files and folders, `urls` the addresses of media that name no file;
    `item_ids` are the questions that need one of either. All are in the order of the questions,
    each once. False where nothing is missing.
    """

    paths: tuple[Path, ...]
    urls: tuple[str, ...]
    item_ids: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.item_ids)

    def error(self) -> MissingMediaError:
        """An error that lists what is missing and says what to do."""
        names = [str(path) for path in self.paths] + list(self.urls)
        shown = "\n".join(f"  {name}" for name in names[:_LISTED])
        more = f"\n  and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        fetch = "; download addresses to files and name these as path" if self.urls else ""
        return MissingMediaError(
            f"{len(self.item_ids)} questions need {len(names)} media that are not there:\n{shown}{more}\n"
            f"put them there{fetch}, or go on without these questions (--allow-missing)",
            self.paths,
        )


def resolve(media_root: Path, media: Media) -> Path | None:
    """The file of a video or image, or the folder of numbered images; None where only a URL is known.

    An absolute path stands for itself; a relative one starts from `media_root` and may leave it.
    """
    return media_root / media.path if media.path else None


def missing(media_root: Path, items: Sequence[Item]) -> Missing:
    """Which media of the items are not on disk; every path is looked at once."""
    seen: dict[Media, bool] = {}
    paths: dict[Path, None] = {}
    urls: dict[str, None] = {}
    item_ids: dict[str, None] = {}
    for item in items:
        for media in item.media:
            if media not in seen:
                seen[media] = _is_there(media_root, media)
            if seen[media]:
                continue
            item_ids[item.item_id] = None
            path = resolve(media_root, media)
            if path is None:
                urls[media.url or ""] = None
            else:
                paths[path] = None
    return Missing(paths=tuple(paths), urls=tuple(urls), item_ids=tuple(item_ids))


def _is_there(media_root: Path, media: Media) -> bool:
    path = resolve(media_root, media)
    if path is None:
        return False
    return path.is_dir() if media.kind == "frames" else path.is_file()

"""The page of a making of HERBench questions."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from vidence.errors import MediaError
from vidence.make.cards.pictures import PictureFolder
from vidence.make.herbench.report_page import Filmed, PageFacts, build_page, write_page
from vidence.make.herbench.work import Known, Work
from vidence.make.pipeline.accounts import Account
from vidence.make.pipeline.kept_video import kept_video
from vidence.make.pipeline.output import Question
from vidence.media.video import Video


def report(
    work: Work,
    videos: Sequence[Known],
    questions: Sequence[Question],
    *,
    account: Account,
    sentences: Sequence[str],
) -> Path:
    """Write the page of a session; where it is.

    Raises:
        StoreError: it cannot be written.
    """
    work.began("report", 1)
    html = build_page(
        account,
        [_film(work, one) for one in videos],
        questions,
        pictures=PictureFolder(work.pictures),
        facts=PageFacts(
            title=work.config.name, maker="herbench", sentences=sentences, settings=_settings(work)
        ),
        rng=np.random.default_rng(work.config.seed),
    )
    return write_page(html, work.out)


def _film(work: Work, one: Known) -> Filmed:
    video: Video | None = None
    if one.source.file is not None:
        around = work.workshop
        try:
            video = kept_video(
                one.source.file, cache_root=around.cache_root, max_bytes=around.cache_max_bytes
            )
        except MediaError:
            video = None  # the account has it
    return Filmed(
        material=one.material,
        video=video,
        pictures=one.pictures,
        flags=one.flags,
        absent=one.absent,
    )


def _settings(work: Work) -> list[tuple[str, list[tuple[str, str]]]]:
    """The configuration as it is in effect, step by step; models by their specs, which hold no secret."""
    found: list[tuple[str, list[tuple[str, str]]]] = [
        ("Set", [("name", work.config.name), ("seed", str(work.config.seed))])
    ]
    for name in ("tracking", "shots", "cards", "scenes", "models", "tasks"):
        value = getattr(work.config, name)
        if value:
            built = msgspec.to_builtins(value)
            pairs = [(key, msgspec.json.encode(one).decode()) for key, one in built.items()]
            found.append((name.capitalize(), pairs or [("as usual", "yes")]))
    return found

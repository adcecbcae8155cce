"""A phantom world whose items are drafts, and models for gates to ask."""

from pathlib import Path

import msgspec

from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.world import World, render
from vidence.engine.jobs import Jobs
from vidence.engine.limits import AskLimits
from vidence.make.gates.frames import FrameSource
from vidence.make.pipeline.cache import ArtifactCache
from vidence.make.pipeline.material import Draft, VideoSource
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import BuildContext
from vidence.records import Item


def models_of(tmp_path: Path, pictures=None, **models: str) -> Jobs:
    more = {} if pictures is None else {"pictures": pictures}
    return Jobs(
        models, memory=tmp_path / "replies.sqlite", limits=AskLimits(attempts=1, patience_s=0), **more
    )


class Planted:
    """A phantom world whose items are drafts."""

    def __init__(self, folder: Path) -> None:
        spec = WorldSpec(n_videos=2, min_s=20, max_s=20, n_variable=0, sizes=((320, 180),), rates=(10,))
        self.folder = folder
        self.world: World = render(folder / "world", spec, seed=4)
        lines = (folder / "world" / "items.jsonl").read_bytes().splitlines()
        self.items = {one.item_id: one for one in (msgspec.json.decode(line, type=Item) for line in lines)}
        self.drafts = [self._draft(item) for item in self.items.values()]

    @staticmethod
    def _draft(item: Item) -> Draft:
        return Draft(
            draft_id=item.item_id,
            task="AC",
            structure="pair",
            video_id=item.media[0].path,
            question=item.question,
            choices=item.choices,
            answer_index="ABCDEFGH".index(item.answer),
            evidence=item.evidence,
            k=len(item.evidence),
        )

    def cutting(self, tmp_path: Path, *, with_files: bool = True) -> FrameSource:
        root = self.folder / "world"
        videos = {
            v.path: VideoSource(
                video_id=v.path,
                path=v.path,
                n_frames=v.n_frames,
                fps=v.rate,
                duration_s=v.duration_s,
                width_px=v.width_px,
                height_px=v.height_px,
                sha256=v.sha256,
            )
            for v in self.world.videos
        }
        return FrameSource(
            files={name: root / name for name in videos} if with_files else {},
            videos=videos,
            pictures=PictureFolder(tmp_path / "pictures"),
            cache=ArtifactCache(folder=tmp_path / "stages"),
            context=BuildContext(
                cache_root=self.folder / "cache", memory=tmp_path / "replies.sqlite", cache_max_bytes=2**30
            ),
        )

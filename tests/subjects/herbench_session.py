"""A session of making HERBench questions in a folder, for tests of single steps."""

import hashlib
from pathlib import Path

from vidence.engine.jobs import Jobs
from vidence.engine.limits import AskLimits
from vidence.make.herbench.config import HerbenchConfig, SourceRule
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.sources import Source
from vidence.make.pipeline.cache import digest_of
from vidence.make.pipeline.ledger import MakeListener, ignore
from vidence.make.pipeline.material import Material
from vidence.make.pipeline.session import BuildContext, MakeOverrides


def session(
    folder: Path, *, overrides: MakeOverrides | None = None, on_event: MakeListener = ignore, **config: object
) -> HerbenchSession:
    """A session without sources of its own; `config` are fields of the configuration."""
    settings = {"name": "set", "sources": (SourceRule(path="v.mp4"),)} | config
    whole = HerbenchConfig(**settings)
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite", on_event=on_event)
    return HerbenchSession(
        root=folder,
        out=folder / "out",
        context=context,
        overrides=overrides or MakeOverrides(),
        config=whole,
        models=Jobs(whole.models, memory=context.memory, limits=AskLimits()),
    )


def state(material: Material, **rule: str) -> VideoState:
    """What a session knows of a video that is not here itself; `rule` are fields of its source."""
    source = material.source
    made = VideoState(
        source=Source(video=source, file=None, rule=SourceRule(path=source.path, **rule)), material=material
    )
    for part in ("tracked", "chosen", "events"):
        if value := getattr(material, part):
            text = repr(value) if part == "tracked" else digest_of(value)
            made.digests[part] = hashlib.sha256(text.encode()).hexdigest()
    return made

"""Write scenes from a table, an event log, tracks, or a model's proposals."""

from pathlib import Path
from typing import Annotated

from vidence.console.files import screen, write_said
from vidence.console.flags import JSON, argument, command, flag
from vidence.console.screen import say, several
from vidence.engine.environment import environment
from vidence.errors import DataError, UsageError
from vidence.records import Record

GROUP = "videos"

_MOST_SHOWN = 10


class Scenes(Record):
    """Which scenes to write."""

    source: Annotated[str, argument()]
    out: Annotated[Path, flag("File of scenes to write (.jsonl).")]
    json_path: Annotated[Path | None, JSON] = None


@command()
def scenes(given: Scenes) -> None:
    """Write the scenes of SOURCE for vidence items prove, with their vocabulary in TOML.

    SOURCE is a spec such as events:log.csv?format=epic or tracks:gt.txt?fps=30; see vidence list
    scene-sources. Missing facts are unknown, except for what the option complete lists.
    """
    from vidence import catalog
    from vidence.contracts import Flow
    from vidence.engine.jobs import Jobs
    from vidence.engine.trust import needs_of_spec, remember
    from vidence.make.sources.scene_writing import SceneSet, SceneSource, write_scenes
    from vidence.records import Failed

    source, out = given.source, given.out
    result = screen(given.json_path)
    if out.suffix != ".jsonl":
        raise UsageError(f"--out {out}: expected a name that ends in .jsonl; the vocabulary gets .toml")
    scene_source: SceneSource = catalog.create("scene-source", source)
    models = scene_source.models()
    place = environment()
    for spec in models.values():
        remember(needs_of_spec("model", spec), environment=place)
    place.memory().parent.mkdir(parents=True, exist_ok=True)
    flow: Flow[SceneSet] = scene_source.read()
    with Jobs(models, memory=place.memory(), pictures=scene_source.picture, on=place.on) as jobs:
        scenes = jobs.run({"scenes": flow}, model=next(iter(models), ""))["scenes"]
    if isinstance(scenes, Failed):
        raise DataError(f"{source.partition('?')[0]}: {scenes.message}")
    entries = write_scenes(scenes, out)
    n_entities = sum(len(scene.entities) for scene in entries.values())
    n_facts = sum(len(scene.facts) for scene in entries.values())
    pairs = {pair for scene in entries.values() for pair in scene.complete}
    complete = sorted(f"{what} for {of}" if of else what for what, of in pairs)
    truth = sorted({scene.header.truth for scene in entries.values()})
    sentence = (
        f"{several(len(entries), 'scene')}, {n_entities:,} entities and events, {n_facts:,} facts; "
        f"complete: {', '.join(complete) or 'nothing'}; truth: {', '.join(truth)}"
    )
    values = {
        "scenes": list(entries),
        "n_entities": n_entities,
        "n_facts": n_facts,
        "complete": complete,
        "truth": truth,
        "left_out": list(scenes.problems),
        "notes": list(scenes.notes),
    }
    write_said(given.json_path, "scenes", sentences=[sentence], values=values)
    if not result.quiet:
        for line in scenes.problems[:_MOST_SHOWN]:
            say(result, ("left out: ", "yellow"), line)
        if len(scenes.problems) > _MOST_SHOWN:
            say(
                result,
                ("left out: ", "yellow"),
                f"{len(scenes.problems) - _MOST_SHOWN:,} more (--json has all)",
            )
        for line in scenes.notes:
            say(result, ("note: ", "yellow"), line)
        say(result, sentence)
        say(result, f"wrote {out} and {out.with_suffix('.toml')}")

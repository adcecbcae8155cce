"""Write the scenes of a table, a log of events, tracks, or what a model proposes."""

from pathlib import Path
from typing import Annotated

from vidence.console.files import screen, write_said
from vidence.console.flags import JSON, argument, command, flag
from vidence.console.screen import say, several
from vidence.engine.environment import environment
from vidence.errors import DataError, UsageError
from vidence.records import Record

SECTION = "Make"

_MOST_SHOWN = 10


class Scenes(Record):
    """Which scenes are written."""

    source: Annotated[str, argument()]
    out: Annotated[Path, flag("The file of scenes (.jsonl) to write.")]
    json_path: Annotated[Path | None, JSON] = None


@command()
def scenes(given: Scenes) -> None:
    """Write the scenes of SOURCE as a file that vidence prove reads; the vocabulary lies beside it (.toml).

    SOURCE is a spec, such as events:log.csv?format=epic or tracks:gt.txt?fps=30; vidence list scene-sources
    has all. What a source does not know is not said; only what its option complete names is complete.
    """
    from vidence import catalog
    from vidence.contracts import Flow
    from vidence.engine.jobs import Jobs, NamedModel
    from vidence.engine.trust import needs_of_spec, remember
    from vidence.make.sources.scene_writing import SceneSet, SceneSource, write_scenes
    from vidence.records import Failed

    source, out = given.source, given.out
    shown = screen(given.json_path)
    if out.suffix != ".jsonl":
        raise UsageError(f"--out {out}: expected a name that ends in .jsonl; the vocabulary gets .toml")
    made: SceneSource = catalog.create("scene-source", source)
    models = {name: NamedModel(spec=spec) for name, spec in made.models().items()}
    place = environment()
    for one in models.values():
        remember(needs_of_spec("model", one.spec), environment=place)
    place.memory().parent.mkdir(parents=True, exist_ok=True)
    flow: Flow[SceneSet] = made.read()
    with Jobs(models, memory=place.memory(), pictures=made.picture, on=place.on) as jobs:
        told = jobs.run({"scenes": flow}, model=next(iter(models), ""))["scenes"]
    if isinstance(told, Failed):
        raise DataError(f"{source.partition('?')[0]}: {told.message}")
    found = write_scenes(told, out)
    n_entities = sum(len(one.entities) for one in found.values())
    n_facts = sum(len(one.facts) for one in found.values())
    pairs = {pair for one in found.values() for pair in one.complete}
    complete = sorted(f"{what} for {of}" if of else what for what, of in pairs)
    truth = sorted({one.header.truth for one in found.values()})
    sentence = (
        f"{several(len(found), 'scene')}, {n_entities:,} entities and events, {n_facts:,} facts; "
        f"complete: {', '.join(complete) or 'nothing'}; truth: {', '.join(truth)}"
    )
    values = {
        "scenes": list(found),
        "n_entities": n_entities,
        "n_facts": n_facts,
        "complete": complete,
        "truth": truth,
        "left_out": list(told.problems),
        "notes": list(told.notes),
    }
    write_said(given.json_path, "scenes", sentences=[sentence], values=values)
    if not shown.quiet:
        for line in told.problems[:_MOST_SHOWN]:
            say(shown, ("left out: ", "yellow"), line)
        if len(told.problems) > _MOST_SHOWN:
            say(
                shown, ("left out: ", "yellow"), f"{len(told.problems) - _MOST_SHOWN:,} more (--json has all)"
            )
        for line in told.notes:
            say(shown, ("note: ", "yellow"), line)
        say(shown, sentence)
        say(shown, f"wrote {out} and {out.with_suffix('.toml')}")

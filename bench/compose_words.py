"""How composed questions read: 200 drawn from four worlds, and what was marked in them.

A program read them, an assistant that knows English, not a person.

``python bench/compose_words.py --data FOLDER`` counts the marks of ``compose_words_read.tsv``; with
``--draw`` it prints the questions without a mark, to be read and marked: nothing for good English, else a
word for what is odd.
"""

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
READ = HERE / "compose_words_read.tsv"
LANE = HERE.parent / "tests" / "golden" / "compose" / "lane.jsonl"
N_EACH = 60
CROWDS = ("MOT16-11_gt", "TUD-Campus_gt", "PETS09-S2L1_tracker_result_devkit")


def kitchens(data: Path):
    """Twelve videos of EPIC-KITCHENS-100's validation split: kinds and objects without phrases."""
    return dict(list(epic_scenes(data).items())[:12])


def epic_scenes(data: Path):
    """All videos of EPIC-KITCHENS-100's validation split."""
    return events_of(data / "ego" / "epic100" / "EPIC_100_validation.csv", "epic")


def events_of(path: Path, form: str):
    """All videos of a log that lists every event."""
    from vidence.make.sources.scene_sources.events import Settings, create

    return _told(create(Settings(path=str(path), format=form, complete=("event",))), str(path))


def crowds(data: Path):
    """Three published sets of tracks, in the words that vidence has for them."""
    from vidence.make.sources.scene_sources.tracks import Settings, create

    found = {}
    for name, fps, size in zip(CROWDS, (30, 25, 7), ("1920x1080", "640x480", "768x576"), strict=True):
        path = str(data / "tracking" / f"{name}.txt")
        complete = ("person", "enter", "leave")
        settings = Settings(path=path, fps=fps, identities="true", size=size, complete=complete)
        found |= _told(create(settings), path)
    return found


def street(data: Path):
    """The street of the worked examples: nouns without phrases."""
    from vidence.make.sources.scene_files import read_scenes

    return read_scenes(LANE)


def market(data: Path):
    """Four drawn markets in the words of ``compose_words.toml``: verbs without phrases."""
    from vidence.make.sources.vocabulary import read_vocabulary

    words = read_vocabulary(HERE / "compose_words.toml")
    return {f"m{seed}": _market(seed, words) for seed in range(4)}


def _market(seed: int, words):
    from vidence.make.sources.scene import (
        AttributeFact,
        Entity,
        EventFact,
        Header,
        KnownFact,
        RelationFact,
        Scene,
    )

    rng, facts, entities = Random(seed), [], {}
    people, stalls = [f"p{i}" for i in range(12)], [f"s{i}" for i in range(6)]
    for name in (*people, *stalls):
        category, at = "person" if name in people else "stall", round(rng.uniform(0, 150), 1)
        entities[name] = Entity(entity=name, category=category, spans=((at, at + 9),))
        for attribute, one in words.attributes.items():
            if category in one.of:
                value = rng.randint(1, 9) if one.number else rng.choice(one.values)
                facts.append(AttributeFact(of=name, name=attribute, value=value))
    facts += [RelationFact(name="stands_at", of=one, to=rng.choice(stalls)) for one in people[::2]]
    facts += [
        RelationFact(name="talks_to", of=a, to=b) for a, b in zip(people[::3], people[1::3], strict=True)
    ]
    facts += [
        RelationFact(name="next_to", of=a, to=b) for a, b in zip(stalls[::2], stalls[1::2], strict=True)
    ]
    for i in range(10):
        kind, at = rng.choice(sorted(words.events)), 15.0 * i + rng.random()
        roles = {role: rng.choice(people if role != "where" else stalls) for role in words.events[kind].roles}
        facts.append(EventFact(id=f"e{i}", kind=kind, roles=roles, span=(at, at + 4)))
        entities[f"e{i}"] = Entity(entity=f"e{i}", category="event", spans=((at, at + 4),))
    towns = zip(words.attributes["sells"].values, words.known["town"].values, strict=True)
    facts += [KnownFact(table="town", of=what, value=where) for what, where in towns]
    listed = [(name, "") for name in (*words.categories, "event", *words.relations)]
    return Scene(
        header=Header(scene=f"m{seed}", vocabulary="v"),
        vocabulary=words,
        entities=entities,
        facts=tuple(facts),
        complete=frozenset(listed),
    )


WORLDS = {"kitchens": kitchens, "crowds": crowds, "street": street, "market": market}


def _told(source, path: str):
    from vidence.make.sources.scene_writing import scenes_of

    flow = source.read()
    try:
        next(flow)
    except StopIteration as done:
        return scenes_of(done.value, source=path)
    raise AssertionError("these sources ask no model")


def composed(scenes) -> list:
    """What the search finds by its defaults, shuffled."""
    from vidence.make.compose.quotas import Quota, Strength, fill
    from vidence.make.compose.scene_bits import SceneBits

    quota = Quota(per_video=max(96 // len(scenes), 8), facts=0)
    found = fill(
        {name: SceneBits(scene) for name, scene in scenes.items()}, quota, Strength(), seed=2
    ).composed
    Random(1).shuffle(found)
    return found


def drawn(data: Path) -> Iterator[tuple[str, str, object]]:
    """`N_EACH` questions of each world with their compositions; fewer where it gives no more."""
    from vidence.make.compose.wording import PlainWords

    for world, scenes_of_world in WORLDS.items():
        scenes = scenes_of_world(data)
        for made in composed(scenes)[:N_EACH]:
            words = PlainWords(scenes[made.composition.scene].vocabulary)
            yield world, words.write(made.composition), made


def counted(rows, marks) -> Iterator[str]:
    """The table of the page: what was read of each world, what was odd, and what is asked."""
    from vidence.make.sources.composition import Compare, parts

    yield "| world | questions | read | odd | shapes | denied conditions |"
    yield "|---|---|---|---|---|---|"
    for world in WORLDS:
        own = [(question, made) for name, question, made in rows if name == world]
        read = [marks[world, question] for question, _ in own if (world, question) in marks]
        shapes = Counter(made.shape for _, made in own)
        n = sum(len(made.composition.conditions) for _, made in own)
        denied = sum(
            isinstance(one, Compare) and one.how == "!="
            for _, made in own
            for step in made.composition.steps
            for one in parts(step.value)
        )
        odd = Counter(filter(None, read))
        said = "".join(f" ({', '.join(f'{k} {v}' for k, v in odd.most_common())})") if odd else ""
        listed = ", ".join(f"{name} {k}" for name, k in shapes.most_common())
        yield f"| {world} | {len(own)} | {len(read)} | {odd.total()}{said} | {listed} | {denied} of {n} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="folder with ego/ and tracking/")
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    marks = {}
    if READ.exists():
        with READ.open(encoding="utf-8", newline="") as file:
            marks = {(world, question): mark for world, mark, question in csv.reader(file, delimiter="\t")}
    rows = list(drawn(options.data))
    if options.draw:
        for world, question, _ in rows:
            if (world, question) not in marks:
                print(world, "", question, sep="\t")
    print("\n".join(counted(rows, marks)))

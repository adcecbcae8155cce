"""How composed questions read: drawn from eleven worlds, and what was marked in them.

A program read them, an assistant that knows English, not a person.

``python bench/compose_words.py --data FOLDER`` counts the marks of ``compose_words_read.tsv``; with
``--draw`` it prints the questions without a mark, to be read and marked: nothing for good English, else a
word for what is odd. The worlds of ``compose_worlds`` are vocabularies without phrases, as people write them;
their scenes are drawn (`--seed`).
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
N_EACH, SEED = 20, 21
WORDS = HERE / "compose_worlds"
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


def drawn_world(name: str, seed: int):
    """Four drawn scenes in the words of a vocabulary."""
    from vidence.make.sources.vocabulary import read_vocabulary

    words = read_vocabulary(WORDS / f"{name}.toml")
    return {f"{name}{n}": _scene(f"{name}{n}", n, words) for n in range(4 * seed, 4 * seed + 4)}


def _scene(name: str, seed: int, words):
    """A scene with some members of each category; things have places in every second one."""
    from vidence.make.sources.scene import (
        AttributeFact,
        Entity,
        EventFact,
        Header,
        KnownFact,
        PlaceFact,
        RelationFact,
        Scene,
    )

    rng, facts, entities = Random(seed), [], {}
    parents = {category.parent for category in words.categories.values()}

    def members(*categories: str) -> list[str]:
        return [n for n, e in entities.items() if any(words.is_a(e.category, c) for c in categories)]

    for category in (*(c for c in words.categories if c not in parents),):
        for i in range(rng.randint(4, 8)):
            entity, at = f"{category}{i}", round(rng.uniform(0, 150), 1)
            entities[entity] = Entity(entity=entity, category=category, spans=((at, at + 9),))
            if seed % 2:
                facts.append(PlaceFact(of=entity, at=(rng.uniform(0, 30), rng.uniform(0, 30))))
    events = {}
    for i in range(12):
        kind, at = rng.choice(sorted(words.events)), 12.0 * i + rng.random()
        roles = {role: rng.choice(members(of)) for role, of in words.events[kind].roles.items()}
        events[f"e{i}"] = EventFact(id=f"e{i}", kind=kind, roles=roles, span=(at, at + rng.randint(1, 9)))
    facts += events.values()
    entities |= {n: Entity(entity=n, category="event", spans=(event.span,)) for n, event in events.items()}
    for attribute, known in words.attributes.items():
        for entity in members(*known.of):
            value = rng.randint(1, 9) if known.number else rng.choice(known.values)
            facts.append(AttributeFact(of=entity, name=attribute, value=value))
    for relation, known in words.relations.items():
        for _ in range(6 if relation <= (words.inverse(relation) or relation) else 0):
            of, to = rng.choice(members(*known.of)), rng.choice(members(*known.to))
            facts += [RelationFact(name=relation, of=of, to=to)] if of != to else []
    for table, known in words.known.items():
        enough = (a for a in words.attributes.values() if len(a.values) >= len(known.values))
        values = next(a.values for a in enough if a.of != ("event",))
        facts += [KnownFact(table=table, of=a, value=b) for a, b in zip(values, known.values, strict=False)]
    listed = [(each, "") for each in (*words.categories, "event", *words.relations)]
    return Scene(
        header=Header(scene=name, vocabulary="v"),
        vocabulary=words,
        entities=entities,
        facts=tuple(facts),
        complete=frozenset(listed),
    )


WORLDS = {"kitchens": kitchens, "crowds": crowds, "street": street}
DRAWN = ("market", "ward", "match", "galley", "library", "airport", "farm", "harbour")


def _told(source, path: str):
    from vidence.make.sources.scene_writing import scenes_of

    flow = source.read()
    try:
        next(flow)
    except StopIteration as done:
        return scenes_of(done.value, source=path)
    raise AssertionError("these sources ask no model")


def composed(scenes, seed: int) -> list:
    """What the search finds by its defaults, shuffled."""
    from vidence.make.compose.quotas import Quota, Strength, fill
    from vidence.make.compose.scene_bits import SceneBits

    quota = Quota(per_video=max(96 // len(scenes), 8), facts=0)
    found = fill(
        {name: SceneBits(scene) for name, scene in scenes.items()}, quota, Strength(), seed=seed
    ).composed
    Random(seed).shuffle(found)
    return found


def drawn(data: Path, seed: int) -> Iterator[tuple[str, str, object]]:
    """`N_EACH` questions of each world with their compositions; fewer where it gives no more."""
    from vidence.make.compose.phrases import WordingError
    from vidence.make.compose.wording import PlainWords

    for world in (*WORLDS, *DRAWN):
        scenes = WORLDS[world](data) if world in WORLDS else drawn_world(world, seed)
        n = 0
        for made in composed(scenes, seed):
            words = PlainWords(scenes[made.composition.scene].vocabulary)
            try:
                question = words.write(made.composition)
            except WordingError:  # no question: its making says what to write
                continue
            n += 1
            if n <= N_EACH:
                yield world, question, made


def counted(rows, marks) -> Iterator[str]:
    """The table of the page: what was read of each world, what was odd, and what is asked."""
    from vidence.make.sources.composition import Compare, parts

    yield "| world | questions | read | odd | shapes | denied conditions |"
    yield "|---|---|---|---|---|---|"
    for world in (*WORLDS, *DRAWN):
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
    parser.add_argument("--seed", type=int, default=SEED, help="other questions, of other drawn scenes")
    options = parser.parse_args()
    marks = {}
    if READ.exists():
        with READ.open(encoding="utf-8", newline="") as file:
            marks = {(world, question): mark for world, mark, question in csv.reader(file, delimiter="\t")}
    rows = list(drawn(options.data, options.seed))
    if options.draw:
        for world, question, _ in rows:
            if (world, question) not in marks:
                print(world, "", question, sep="\t")
    print("\n".join(counted(rows, marks)))

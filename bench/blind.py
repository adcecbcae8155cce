"""What readers without video get on made questions: the table of docs/making/choices.md.

    python bench/blind.py ../shared/data [--only epic-verbs compose ...] [--seeds 10 11 12]

`--only` takes sets, or what the names of several begin with. What a seed gave is printed to the standard
error as it comes: a minute or two of a processor for composed questions, nearly all of it for making them.

`DATA` holds ``ego/epic100``, ``ego/hdepic`` and ``mocap/cmu_index`` as their owners give them. The readers
share no code with the drawing of wrong choices. Each is taught on four fifths of the videos, ranks choices
of questions on the last fifth, and takes the first, the last, or always the same one between, as choices that
avoid what is likely would tell by that.

* co-occurrence: which answer goes with which word most often, over all events of the log, asked about or not;
* words: softmax regression from the words of questions to answers, over all events of the log;
* key: conditional logit over the choices of made questions, with answers, words beside answers, ranks by
  length and size, and words of the question that a choice has;
* order: conditional logit over the orders of made questions, with log odds of what comes before what in the
  logs of other videos, by text, first word and last word, for all pairs and for neighbours;
* check: the best rule of `vidence items audit`.

What readers, places and rules get is the mean over seeds; the best place and the best rule are chosen after.
"""

import argparse
import csv
import gzip
import json
import re
import sys
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, vstack

N_FOLDS = 5
READERS = ("co-occurrence", "words", "key", "order")
LEAST_VIDEOS = 5  # that an object of HD-EPIC is moved in
LEAST_SUBJECTS = 3  # of CMU's that a motion is recorded of
CMU_FPS = 120


@dataclass
class Made:
    """A made set: its questions with choices, how many were asked for, and the log: words, answer, video."""

    items: list
    n_asked: int
    log: tuple[tuple[str, str, str], ...] = ()
    events: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of each video the texts, in the order of time


def fold_of(video: str) -> int:
    """The fifth that a video is in."""
    return zlib.crc32(video.encode()) % N_FOLDS


def words_of(text: str) -> list[str]:
    """The words of a text in small letters."""
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


# --------------------------------------------------------------------------- readers


@cache
def co_occurring(taught: tuple[tuple[str, str, str], ...]) -> Callable[[str, Sequence[str]], list[float]]:
    """The share of an answer among the texts with the same words; where there are none, among all."""
    usual = Counter(answer for _, answer, _ in taught)
    by_text: dict[str, Counter] = defaultdict(Counter)
    for text, answer, _ in taught:
        by_text[" ".join(words_of(text))][answer] += 1

    def scores(text: str, choices: Sequence[str]) -> list[float]:
        seen = by_text[" ".join(words_of(text))]
        return [seen[one] + usual[one] / max(1, len(taught)) for one in choices]

    return scores


@cache
def by_words(taught: tuple[tuple[str, str, str], ...]) -> Callable[[str, Sequence[str]], list[float]]:
    """Softmax regression on bags of words."""
    words = {w: i for i, w in enumerate(sorted({w for text, *_ in taught for w in words_of(text)}))}
    answers = {a: i for i, a in enumerate(sorted({a for _, a, _ in taught}))}

    def bags(texts: Sequence[str]) -> csr_matrix:
        cells = [(i, words[w]) for i, t in enumerate(texts) for w in set(words_of(t)) if w in words]
        cells += [(i, len(words)) for i in range(len(texts))]
        rows, columns = zip(*cells, strict=True)
        return csr_matrix((np.ones(len(cells)), (rows, columns)), (len(texts), len(words) + 1))

    kinds = Counter((text, answer) for text, answer, _ in taught)
    x = bags([text for text, _ in kinds])
    y = np.array([answers[a] for _, a in kinds])
    n = np.array(list(kinds.values()), float)
    shape = (x.shape[1], len(answers))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        w = flat.reshape(shape)
        z = x @ w
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(axis=1, keepdims=True)
        value = -(n * np.log(p[np.arange(len(y)), y])).sum() + 0.5 * (w**2).sum()
        p[np.arange(len(y)), y] -= 1
        return value, (np.asarray(x.T @ (n[:, None] * p)) + w).ravel()

    w = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 30}).x
    w = w.reshape(shape)

    def scores(text: str, choices: Sequence[str]) -> list[float]:
        z = np.asarray(bags([text]) @ w)[0]
        return [float(z[answers[one]]) if one in answers else -1e3 for one in choices]

    return scores


def marks(item) -> list[list[str]]:
    """What the conditional logit sees of each choice."""
    asked = words_of(item.question)
    lengths = [len(c) for c in item.choices]
    numbers = [float(c) if c.replace(".", "", 1).isdigit() else None for c in item.choices]
    by_choice = []
    for i, choice in enumerate(item.choices):
        mine = words_of(choice)
        seen = [f"is {choice}", f"length {sorted(lengths).index(lengths[i])}"]
        seen += [f"has {w}" for w in mine] + [f"{w} > {choice}" for w in set(asked)]
        seen += ["echo"] * bool(set(mine) & set(asked))
        if None not in numbers:
            seen.append(f"rank {sorted(numbers).index(numbers[i])}")
        by_choice.append(seen)
    return by_choice


def by_key(items: Sequence) -> Callable[[object], np.ndarray]:
    """Conditional logit on the choices of questions whose key is known."""
    seen = [marks(item) for item in items]
    names = {m: i for i, m in enumerate(sorted({m for one in seen for some in one for m in some}))}

    def bags(some: Sequence[Sequence[str]]) -> csr_matrix:
        cells = [(i, names[m]) for i, one in enumerate(some) for m in set(one) if m in names]
        rows, columns = zip(*cells, strict=True) if cells else ((), ())
        return csr_matrix((np.ones(len(cells)), (rows, columns)), (len(some), len(names)))

    x = vstack([bags(one) for one in seen]).tocsr()
    group = np.repeat(np.arange(len(items)), [len(item.choices) for item in items])
    right = np.concatenate([np.arange(len(i.choices)) == ord(i.answer) - 65 for i in items]).astype(float)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w
        p = np.exp(z - z.max())
        p /= np.bincount(group, p)[group]
        return -(right * np.log(p)).sum() + 0.5 * (w**2).sum(), x.T @ (p - right) + w

    w = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
    return lambda item: np.asarray(bags(marks(item)) @ w)


def orders_of(item) -> list[list[str]]:
    """The texts that each choice of a question about an order puts in order; none of other questions."""
    listed = dict(re.findall(r"^(\d)\. (.+)$", item.question, re.MULTILINE))
    ends = re.findall(r"after '(.+)' and before '(.+)'\?", item.question)
    first, last = ends[0] if ends else ("", "")
    some = [[first, *(listed.get(t, t) for t in c.split(" -> ")), last] for c in item.choices if " -> " in c]
    return [[" ".join(words_of(text)) for text in texts if text] for texts in some]


def levels(text: str) -> tuple[str, str, str]:
    """A text, its first word, its last."""
    return text, text.split(maxsplit=1)[0], text.rsplit(maxsplit=1)[-1]


class Before:
    """What comes before what in videos: log odds by text, first word and last."""

    def __init__(self, events: Sequence[Sequence[str]]) -> None:
        self.tables = []
        for level in range(3):
            number = {key: i for i, key in enumerate({levels(t)[level] for texts in events for t in texts})}
            n = np.full((len(number) + 1, len(number) + 1), 0.5, np.float32)
            for texts in events:
                here, places = np.unique([number[levels(t)[level]] for t in texts], return_inverse=True)
                is_of = np.eye(len(here))[places]
                before = is_of.T @ (np.cumsum(is_of[::-1], axis=0)[::-1] - is_of)
                n[np.ix_(here, here)] += before / np.maximum(before + before.T, 1)
            self.tables.append((number, np.log(n / n.T)))

    def marks(self, orders: Sequence[Sequence[str]]) -> np.ndarray:
        """Of each order the log odds of all pairs, and of neighbours, at each level."""
        rows = []
        for texts in orders:
            rows.append([])
            for level, (number, odds) in enumerate(self.tables):
                at = [number.get(levels(text)[level], -1) for text in texts]
                rows[-1] += [np.triu(odds[np.ix_(at, at)], 1).sum(), odds[at[:-1], at[1:]].sum()]
        return np.array(rows)


@cache
def before_in(events: tuple[tuple[str, tuple[str, ...]], ...], folds: frozenset[int]) -> Before:
    """What comes before what in all folds but some."""
    return Before([texts for video, texts in events if fold_of(video) not in folds])


def by_order(made: Made, fold: int) -> Callable[[object], np.ndarray] | None:
    """The reader of a fold; taught on orders of which neither the own fold nor the asked one tells."""
    others = [i for i in made.items if fold_of(i.source_id) != fold and len(orders_of(i)) == len(i.choices)]
    if not made.events or not others:
        return None
    before = {other: before_in(made.events, frozenset({fold, other})) for other in range(N_FOLDS)}
    x = np.array([before[fold_of(item.source_id)].marks(orders_of(item)) for item in others])
    scale = x.std(axis=(0, 1)) + 1e-9
    x /= scale
    each, right = np.arange(len(x)), np.array([ord(item.answer) - 65 for item in others])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        p = np.exp(x @ w - (x @ w).max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        value = -np.log(p[each, right]).sum() + 0.5 * (w**2).sum()
        p[each, right] -= 1
        return value, np.einsum("nc,nct->t", p, x) + w

    w = minimize(loss, np.zeros(x.shape[2]), jac=True, method="L-BFGS-B").x
    return lambda item: before[fold].marks(orders_of(item)) / scale @ w


def place(scores: Sequence[float], right: int) -> np.ndarray:
    """How likely the right choice is at each place, first to last, by score; equal scores share theirs."""
    scores = np.asarray(scores)
    first = int((scores > scores[right] + 1e-9).sum())
    equal = int((abs(scores - scores[right]) <= 1e-9).sum())
    shares = np.zeros(len(scores))
    shares[first : first + equal] = 1 / equal
    return shares


def read(made: Made) -> dict[str, list[float]]:
    """Of each reader, how often of 100 its choice of each place is right, first to last."""
    from vidence.explain.audit.blind import blind_test, board_of

    log = made.log or tuple((i.question, i.choices[ord(i.answer) - 65], i.source_id) for i in made.items)
    places: dict[str, list[np.ndarray]] = defaultdict(list)
    for fold in range(N_FOLDS):
        asked = [item for item in made.items if fold_of(item.source_id) == fold]
        others = [item for item in made.items if fold_of(item.source_id) != fold]
        taught = tuple(event for event in log if fold_of(event[2]) != fold)
        if not asked or not others:
            continue
        pairs, words, key, order = (
            co_occurring(taught),
            by_words(taught),
            by_key(others),
            by_order(made, fold),
        )
        for item in asked:
            right = ord(item.answer) - 65
            text = item.tags.get("reads", item.question)
            places["co-occurrence"].append(place(pairs(text, item.choices), right))
            places["words"].append(place(words(text, item.choices), right))
            places["key"].append(place(key(item), right))
            if order is not None and orders_of(item):
                places["order"].append(place(order(item), right))
    scores = {name: list(100 * np.mean(some, axis=0)) for name, some in places.items()}
    boards = [board for item in made.items if (board := board_of(item)) is not None]
    checks = blind_test(boards, rng=np.random.default_rng(0), n_draws=0).scores
    return scores | {f"check {s.key}": [100 * s.score] for s in checks if s.n * 3 >= len(boards)}


# --------------------------------------------------------------------------- sets


def by_structure(made: Made) -> dict[str, Made]:
    """The questions of each structure of each task of `herbench`; none of other sets."""
    groups: dict[str, list] = defaultdict(list)
    for item in made.items:
        if item.benchmark == "herbench":
            groups[f"{item.tags['task']} `{item.tags['structure']}`"].append(item)
    return {
        name: Made(items=groups[name], n_asked=len(groups[name]), events=made.events)
        for name in sorted(groups)
    }


def vidence(*words: object) -> None:
    """A command of vidence, in this process."""
    from vidence.cli.main import main

    try:
        main([str(one) for one in words])
    except SystemExit as end:
        if end.code not in (None, 0, 3):
            raise


def choices(folder: Path, config: str, log: Sequence[tuple[str, str, str]], reads: Callable) -> Made:
    """`vidence make choices`; `reads` gives the words of a question that the log has, too."""
    import msgspec

    from vidence.records import Item

    (folder / "choices.toml").write_text(config)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        vidence("make", "choices", folder / "choices.toml", "--out", folder / "made")
    lines = (folder / "made" / "items.jsonl").read_bytes().splitlines()
    items = [msgspec.json.decode(line, type=Item) for line in lines]
    items = [msgspec.structs.replace(i, tags=i.tags | {"reads": reads(i.question)}) for i in items]
    account = json.loads((folder / "made" / "account.json").read_text())
    stage = next(one for one in account["stages"] if one["stage"] == "options")
    return Made(items=items, n_asked=stage["n_in"], log=tuple(log))


TASK = """
name = "blind"
seed = {seed}

[[records]]
name = "log"
format = "{format}"
path = "{path}"
split = "validation"
licence = "CC BY-NC 4.0"

[tasks.what]
records = "log"
way = "template"
dimension = "Behavior"
aspect = "{aspect}"
seeds = {seeds}
n_choices = 4
per_label = {per_label}
"""


def epic(data: Path, folder: Path, seed: int, *, label: str) -> Made:
    """EPIC-KITCHENS-100, validation: verbs asked for by nouns, or nouns by verbs."""
    from vidence import catalog

    kind = f"events?log=epic&label={label}&classes=EPIC_100_{label}_classes.csv"
    path = data / "ego" / "epic100" / "EPIC_100_validation.csv"
    other, seeds = {
        "verb": (
            "noun",
            ["What does the person do with the {noun}?", "Which action is carried out on the {noun}?"],
        ),
        "noun": ("verb", ["With which thing does the person carry out the action '{verb}'?"]),
    }[label]
    records = catalog.create("annotation-format", kind).read(path).records
    config = TASK.format(
        seed=seed, format=kind, path=path, aspect="what a person does with a thing", per_label=20,
        seeds=json.dumps(seeds),
    )  # fmt: skip
    frames = sorted({w for s in seeds for w in words_of(s.replace("{" + other + "}", ""))})
    log = [(one.fields[other], one.label, one.source_id) for one in records]
    return choices(folder, config, log, lambda text: " ".join(w for w in words_of(text) if w not in frames))


def hd_epic(data: Path, folder: Path, seed: int) -> Made:
    """HD-EPIC: which object is moved first in which activity, by its movements and its recipes."""
    source = data / "ego" / "hdepic"
    activities: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for path in sorted(source.glob("P*_recipe_timestamps.csv")):
        for row in csv.DictReader(path.open(encoding="utf-8")):
            span = float(row["start_time"]), float(row["end_time"].replace("end", "inf"))
            activities[row["video_id"]].append((*span, row["high_level_activity_label"].strip()))
    moved = json.loads(gzip.decompress((source / "assoc_info.json.gz").read_bytes()))
    times: dict[str, dict[str, list]] = {}
    for video, some in moved.items():
        for one in some.values():
            times.setdefault(video, {}).setdefault(one["name"], []).extend(
                t["time_segment"] for t in one["tracks"]
            )
    n_videos = Counter(name for some in times.values() for name in some)
    lines, log = [], []
    for video, name in ((v, n) for v, some in times.items() for n in some if n_videos[n] >= LEAST_VIDEOS):
        for number, (start, end) in enumerate(times[video][name]):
            during = next((a for low, high, a in activities[video] if low <= start < high), "")
            if not during or end - start < 0.5:
                continue
            also = sorted(
                n for n, some in times[video].items() if any(s < end + 1 and e > start - 1 for s, e in some)
            )
            lines.append({
                "record_id": f"{video}/{name}/{number}", "label": name, "space": "object",
                "also_true": [n for n in also if n != name and n_videos[n] >= LEAST_VIDEOS],
                "media": [{"path": f"{video}.mp4", "start_s": start, "end_s": end}],
                "fields": {"activity": during}, "source_id": video, "n_people": 1, "truth": "log",
            })  # fmt: skip
            log.append((during, name, video))
    asks = "Which object does the person move during the activity '{activity}'?"
    return records(folder, lines, log, seed=seed, aspect="what a person moves", per_label=8, asks=asks)


def motions_of(row: Mapping[str, str]) -> list[str]:
    """What a recording of CMU's index has, in its order."""
    texts = re.split(r"[,;/]| - |\band\b", re.sub(r"\(.*?(\)|$)", "", row["description"].lower()))
    return [text.strip() for text in texts if text.strip() not in ("", "unknown")]


def cmu(data: Path, folder: Path, seed: int) -> Made:
    """CMU's motion capture: which motion of its index is in a recording, by the theme of the session."""
    with (data / "mocap" / "cmu_index" / "cmu_index.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    subjects: dict[str, set[str]] = defaultdict(set)
    parts: dict[str, list[str]] = {}
    for row in rows:
        parts[row["motion"]] = sorted(set(motions_of(row)))
        for text in parts[row["motion"]]:
            subjects[text].add(row["subject_description"])
    lines, log = [], []
    for row in rows:
        theme = row["subject_description"].partition("(")[2].rstrip(")")
        known = [text for text in parts[row["motion"]] if len(subjects[text]) >= LEAST_SUBJECTS]
        for label in known:
            lines.append({
                "record_id": f"{row['motion']}/{label}", "label": label, "space": "motion",
                "also_true": [text for text in known if text != label], "fields": {"theme": theme},
                "media": [{"path": f"{row['motion']}.avi", "start_s": 0, "end_s": 2}],
                "source_id": row["subject_description"], "n_people": 1, "truth": "log",
            })  # fmt: skip
            log.append((theme, label, row["subject_description"]))
    asks = "Which motion does the person perform in a session on '{theme}'?"
    return records(folder, lines, log, seed=seed, aspect="how a person moves", per_label=20, asks=asks)


def records(
    folder: Path, lines: Sequence[dict], log: Sequence[tuple[str, str, str]], *, seed: int, aspect: str,
    per_label: int, asks: str,
) -> Made:  # fmt: skip
    """`choices` of records in our own format; the quoted words of the question are what the log has, too."""
    space = {"space": lines[0]["space"], "labels": sorted({line["label"] for line in lines})}
    path = folder / "records.jsonl"
    path.write_text("\n".join(map(json.dumps, [space, *lines])) + "\n")
    config = TASK.format(
        seed=seed, format="jsonl", path=path, aspect=aspect, per_label=per_label, seeds=json.dumps([asks])
    )
    return choices(folder, config, log, lambda text: text.partition("'")[2].rpartition("'")[0])


def herbench(data: Path, folder: Path, seed: int) -> Made:
    """The four tasks of `vidence make herbench` that need no pixels, on EPIC-100."""
    import msgspec

    from vidence.records import Item

    source = data / "ego" / "epic100"
    settings = f"""
name = "h"
seed = {seed}
[[logs]]
format = "epic"
path = "{source / "EPIC_100_validation.csv"}"
table = "{source / "EPIC_100_video_info.csv"}"
media = "EPIC/{{video_id}}.MP4"
collection = "EPIC-KITCHENS-100"
licence = "CC BY-NC 4.0"
[tasks.asii]
[tasks.fam]
[tasks.fom]
[tasks.ac]
"""
    (folder / "herbench.toml").write_text(settings)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        vidence("make", "herbench", folder / "herbench.toml", "--out", folder / "made")
    lines = (folder / "made" / "items.jsonl").read_bytes().splitlines()
    items = [msgspec.json.decode(line, type=Item) for line in lines]
    events: dict[str, list[str]] = defaultdict(list)
    with (source / "EPIC_100_validation.csv").open(encoding="utf-8") as file:
        for row in sorted(csv.DictReader(file), key=lambda row: row["start_timestamp"]):
            events[f"data/videos/EPIC/{row['video_id']}.MP4"].append(" ".join(words_of(row["narration"])))
    if others := {item.source_id for item in items} - events.keys():
        raise SystemExit(f"no events of {sorted(others)[:3]}: readers would be taught on what they are asked")
    in_time = tuple((video, tuple(texts)) for video, texts in sorted(events.items()))
    return Made(items=items, n_asked=len(items), events=in_time)


_QUOTED = re.compile("“(.+?)”")


def epic_scenes(data: Path) -> dict[str, Any]:
    """All videos of EPIC-100's validation split, with their kinds and objects."""
    from compose_words import epic_scenes

    return epic_scenes(data)


def scenes_of(rows: Sequence[tuple[str, float, float, str, str]]) -> dict[str, Any]:
    """Scenes of a log that lists every event: video, start, end, kind, object."""
    from compose_words import events_of

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([
                ("video_id", "start", "end", "narration", "verb", "noun"),
                *((*when, f"{verb} {noun}", verb, noun) for *when, verb, noun in rows),
            ])  # fmt: skip
        return events_of(path, "plain")


def hd_epic_scenes(data: Path) -> dict[str, Any]:
    """Every other video of HD-EPIC: which objects are moved, which ingredients are weighed and added."""
    source = data / "ego" / "hdepic"
    moved = json.loads(gzip.decompress((source / "assoc_info.json.gz").read_bytes()))
    rows = [
        (video, *track["time_segment"], "move", re.sub(r"\s*\d+$", "", thing["name"]))
        for video, things in moved.items()
        for thing in things.values()
        for track in thing["tracks"]
    ]
    recipes = json.loads(gzip.decompress((source / "complete_recipes.json.gz").read_bytes()))
    for capture in (capture for recipe in recipes.values() for capture in recipe["captures"]):
        for ingredient in capture["ingredients"].values():
            for verb in ("weigh", "add"):
                rows += [
                    (t["video"], t["start"], t["end"], verb, ingredient["name"]) for t in ingredient[verb]
                ]
    return dict(list(scenes_of(rows).items())[::2])


def cmu_scenes(data: Path) -> dict[str, Any]:
    """CMU's actors, one recording after another: a motion's first word is its kind, the others its object."""
    rows, ends = [], Counter[str]()
    with (data / "mocap" / "cmu_index" / "cmu_index.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            actor, motions = row["subject_description"], motions_of(row)
            for number, motion in enumerate(motions):
                kind, *more = words_of(motion) or ["unnamed"]
                each = float(row["frames"]) / CMU_FPS / len(motions)
                at = ends[actor] + number * each
                rows.append((actor, at, at + each, kind, " ".join(more) or "nothing more"))
            ends[actor] += float(row["frames"]) / CMU_FPS + 1
    return scenes_of(rows)


WORLDS = {"EPIC-100": epic_scenes, "HD-EPIC": hd_epic_scenes, "CMU": cmu_scenes}


@cache
def composed(
    data: Path, seed: int, world: str
) -> tuple[list, Counter, dict[str, tuple[tuple[str, str, str], ...]]]:
    """Composed questions of a world, how many were found by kind of answer, and all events as a log."""
    from vidence.make.compose.offers import Offer, OptionRules, offers
    from vidence.make.compose.quotas import Quota, Strength, fill
    from vidence.make.compose.scene_bits import SceneBits
    from vidence.make.compose.wording import PlainWords
    from vidence.records import Item, Media, Provenance

    scenes = {name: SceneBits(scene) for name, scene in WORLDS[world](data).items()}
    found = fill(scenes, Quota(), Strength(), seed=seed).composed
    offered = offers(found, scenes, OptionRules(), seed=seed)
    log: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for name, scene in scenes.items():
        objects = {fact.of: fact.value for fact in scene.scene.facts if hasattr(fact, "of")}
        for event in (fact for fact in scene.scene.facts if getattr(fact, "id", "") in objects):
            kind, thing = event.kind, objects[event.id]
            log["kind"] += [(text, kind, name) for text in (thing, "")]
            log["object"] += [(text, thing, name) for text in (kind, "")]
            log["kind; object"] += [(text, f"{kind}; {thing}", name) for text in (kind, thing, "")]
    words = PlainWords(next(iter(scenes.values())).words)  # the scenes of a log share them
    items, rng = [], np.random.default_rng(seed)
    for one in found:
        offer, name = offered[one.composition.composition], one.composition.scene
        if isinstance(offer, Offer):
            order = rng.permutation(len(offer.options))
            question = words.write(one.composition)
            domain = one.proof.answer.domain
            of_it = (
                " ".join(re.findall("“(.+?)”", question.split(". ")[-2])) if domain != "count" else question
            )
            item = Item(
                item_id=one.composition.composition,
                benchmark="blind",
                media=(Media(path=name),),
                question=question,
                choices=tuple(str(offer.options[i]) for i in order),
                answer="ABCDEFGH"[int(np.flatnonzero(order == 0)[0])],
                tags={"domain": domain, "reads": of_it},
                provenance=Provenance(source=name),
            )
            items.append(item)
    logs = {domain: tuple(events) for domain, events in log.items()}
    return items, Counter(one.proof.answer.domain for one in found), logs


def compose(data: Path, folder: Path, seed: int, *, domain: str, world: str) -> Made:
    """Composed questions of a world whose answers are of one domain."""
    items, n_found, log = composed(data, seed, world)
    mine = [item for item in items if item.tags["domain"] == domain]
    return Made(items=mine, n_asked=n_found[domain], log=log.get(domain, ()))


SETS: dict[str, tuple[str, Callable[[Path, Path, int], Made]]] = {
    "epic-verbs": ("`choices`, EPIC-100, verbs", lambda d, f, s: epic(d, f, s, label="verb")),
    "epic-nouns": ("`choices`, EPIC-100, nouns", lambda d, f, s: epic(d, f, s, label="noun")),
    "hd-epic": ("`choices`, HD-EPIC, objects", hd_epic),
    "cmu": ("`choices`, CMU, motions", cmu),
    "herbench": ("`herbench`, EPIC-100", herbench),
    **{
        f"compose-{name}{title}": (
            f"`compose`, {world}, {title}",
            partial(compose, domain=domain, world=world),
        )
        for name, world in (("", "EPIC-100"), ("hd-", "HD-EPIC"), ("cmu-", "CMU"))
        for title, domain in (
            ("counts", "count"),
            ("kinds", "kind"),
            ("objects", "object"),
            ("events", "kind; object"),
        )
        if world != "HD-EPIC" or domain != "kind"  # it has three
    },
}


def in_words(scores: Mapping[str, Sequence[float]]) -> list[str]:
    """What readers get by their first, their best middle, and their last choice; and the best check."""
    readers = [scores.get(reader, ()) for reader in READERS]
    cells = [f"{some[0]:.1f}/{max(some[1:-1]):.1f}/{some[-1]:.1f}" if len(some) else "" for some in readers]
    return [*cells, f"{max(some[0] for some in scores.values() if len(some) == 1):.1f}"]


def main() -> None:
    """Print the table: means over seeds, and the most that a reader got of a seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", default=[""], help=f"beginnings of {', '.join(SETS)}")
    parser.add_argument("--seeds", nargs="*", type=int, default=[10, 11, 12, 13, 14])
    given = parser.parse_args()
    print(f"| set | asked | kept | {' | '.join(READERS)} | check | most of a seed |")
    print(f"|---|---:|---:|{'---:|' * len(READERS)}---:|---:|")
    for name in (name for name in SETS if name.startswith(tuple(given.only))):
        title, make = SETS[name]
        rows: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
        for seed in given.seeds:
            with tempfile.TemporaryDirectory() as folder:
                made = make(given.data.resolve(), Path(folder), seed)
            for part, some_made in {title: made, **by_structure(made)}.items():
                share = len(some_made.items) / some_made.n_asked
                rows[part]["asked"].append([some_made.n_asked, 100 * share])
                scores = read(some_made)
                for reader, some in scores.items():
                    rows[part][reader].append(some)
                print(
                    f"{part}, seed {seed}: {len(some_made.items)} of {some_made.n_asked} kept;",
                    " ".join(in_words(scores)), f"({time.process_time():.0f} s)", file=sys.stderr, flush=True,
                )  # fmt: skip
        for part, scores in rows.items():
            asked, kept = np.mean(scores.pop("asked"), axis=0)
            cells = in_words({reader: np.mean(some, axis=0) for reader, some in scores.items()})
            most = max(x for some in scores.values() for of_seed in some for x in of_seed)
            print(f"| {part} | {asked:,.0f} | {kept:.0f} % | {' | '.join(cells)} | {most:.1f} |", flush=True)


if __name__ == "__main__":
    main()

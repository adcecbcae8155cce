"""What readers without video get on made questions: the table of docs/making/choices.md.

    python bench/blind.py ../shared/data [--only epic-verbs ...] [--seeds 3]

`DATA` holds ``ego/epic100`` and ``ego/hdepic`` as their owners give them. The readers share no code with the
drawing of wrong choices; each is taught on four fifths of the videos and asked about the last fifth.

* co-occurrence: which answer goes with which word most often, over all events of the log, asked about or not;
* words: softmax regression from the words of questions to answers, over all events of the log;
* key: conditional logit over the choices of made questions, with answers, words beside answers, ranks by
  length and size, and words of the question that a choice has;
* check: the best rule of `vidence items audit`.

Reversed readers take what theirs takes last: wrong choices that avoid what is likely would tell by that.
"""

import argparse
import csv
import gzip
import json
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, vstack

N_FOLDS = 5
LEAST_VIDEOS = 5  # that an object of HD-EPIC is moved in
MARGIN = 5  # points over chance that a reader may reach
LEAST_KEPT = 60


@dataclass
class Made:
    """A made set: its questions with choices, how many were asked for, and the log: words, answer, video."""

    items: list
    n_asked: int
    log: list[tuple[str, str, str]] = field(default_factory=list)


def fold_of(video: str) -> int:
    """The fifth that a video is in."""
    return zlib.crc32(video.encode()) % N_FOLDS


def words_of(text: str) -> list[str]:
    """The words of a text in small letters."""
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


# --------------------------------------------------------------------------- readers


def co_occurring(taught: Sequence[tuple[str, str, str]]) -> Callable[[str, Sequence[str]], list[float]]:
    """The share of an answer among the texts with the same words; where there are none, among all."""
    usual = Counter(answer for _, answer, _ in taught)
    by_text: dict[str, Counter] = defaultdict(Counter)
    for text, answer, _ in taught:
        by_text[" ".join(words_of(text))][answer] += 1

    def scores(text: str, choices: Sequence[str]) -> list[float]:
        seen = by_text[" ".join(words_of(text))]
        return [seen[one] + usual[one] / max(1, len(taught)) for one in choices]

    return scores


def by_words(taught: Sequence[tuple[str, str, str]]) -> Callable[[str, Sequence[str]], list[float]]:
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


def taken(scores: Sequence[float], right: int) -> float:
    """Whether the highest score is right; several share."""
    top = np.asarray(scores) >= max(scores) - 1e-9
    return float(top[right]) / float(top.sum())


def read(made: Made) -> dict[str, float]:
    """How often each reader is right, of 100, and what guessing gets."""
    from vidence.explain.audit.blind import blind_test, board_of

    log = made.log or [(i.question, i.choices[ord(i.answer) - 65], i.source_id) for i in made.items]
    hits: dict[str, list[float]] = defaultdict(list)
    for fold in range(N_FOLDS):
        asked = [one for one in made.items if fold_of(one.source_id) == fold]
        others = [one for one in made.items if fold_of(one.source_id) != fold]
        taught = [one for one in log if fold_of(one[2]) != fold]
        if not asked or not others:
            continue
        pairs, words, key = co_occurring(taught), by_words(taught), by_key(others)
        for item in asked:
            right = ord(item.answer) - 65
            text = item.tags.get("reads", item.question)
            hits["co-occurrence"].append(taken(pairs(text, item.choices), right))
            hits["words"].append(taken(words(text, item.choices), right))
            hits["key"].append(taken(key(item), right))
            hits["key reversed"].append(taken(-key(item), right))
            hits["rarest"].append(taken([-one for one in pairs(text, item.choices)], right))
            hits["chance"].append(1 / len(item.choices))
    scores = {name: 100 * float(np.mean(some)) for name, some in hits.items()}
    boards = [board for item in made.items if (board := board_of(item)) is not None]
    checks = blind_test(boards, rng=np.random.default_rng(0), n_draws=0).scores
    best = max((s for s in checks if s.n * 3 >= len(boards)), key=lambda one: one.score - one.chance)
    return scores | {"check": 100 * best.score, "rule": best.title}


# --------------------------------------------------------------------------- sets


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
    return Made(items=items, n_asked=stage["n_in"], log=list(log))


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
    space = {"space": "object", "labels": sorted({line["label"] for line in lines})}
    (folder / "moved.jsonl").write_text("\n".join(map(json.dumps, [space, *lines])) + "\n")
    seeds = ["Which object does the person move during the activity '{activity}'?"]
    config = TASK.format(
        seed=seed, format="jsonl", path=folder / "moved.jsonl", aspect="what a person moves", per_label=8,
        seeds=json.dumps(seeds),
    )  # fmt: skip
    return choices(folder, config, log, lambda text: text.partition("'")[2].rpartition("'")[0])


def herbench(data: Path, folder: Path, seed: int) -> Made:
    """The four tasks of `vidence make herbench` that need no pixels, on EPIC-100; none is matched."""
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
    return Made(items=items, n_asked=len(items))


SETS: dict[str, tuple[str, Callable[[Path, Path, int], Made]]] = {
    "epic-verbs": ("`choices`, EPIC-100, verbs", lambda d, f, s: epic(d, f, s, label="verb")),
    "epic-nouns": ("`choices`, EPIC-100, nouns", lambda d, f, s: epic(d, f, s, label="noun")),
    "hd-epic": ("`choices`, HD-EPIC, objects", hd_epic),
    "herbench": ("`herbench`, EPIC-100", herbench),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print("| set | asked | kept | chance | co-occurrence, reversed | words | key, reversed | best check |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for name in given.only:
        title, make = SETS[name]
        found: list[dict] = []
        for seed in range(given.seeds):
            with tempfile.TemporaryDirectory() as folder:
                made = make(given.data.resolve(), Path(folder), seed)
            found.append(read(made) | {"asked": made.n_asked, "kept": 100 * len(made.items) / made.n_asked})
        mean = {k: float(np.mean([f[k] for f in found])) for k in found[0] if k != "rule"}
        rule = found[0]["rule"]
        print(
            f"| {title} | {mean['asked']:.0f} | {mean['kept']:.0f} % | {mean['chance']:.1f} | "
            f"{mean['co-occurrence']:.1f}, {mean['rarest']:.1f} | {mean['words']:.1f} | "
            f"{mean['key']:.1f}, {mean['key reversed']:.1f} | "
            f"{mean['check']:.1f} ({rule}) |",
            flush=True,
        )


if __name__ == "__main__":
    main()

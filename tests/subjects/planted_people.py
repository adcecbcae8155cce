"""Videos that exist only as material: people on known paths, and shots with known descriptions."""

from dataclasses import dataclass

import numpy as np

from subjects.tracks import video, walk
from vidence.make.pipeline.material import Card, Change, Corpus, Material, SceneCard, VideoSource
from vidence.seeing.shooting import Shot

WIDTH, HEIGHT, FPS = 1000, 800, 10.0
_SHARE_AT_EDGES = 0.85
COLOURS = ("red", "green", "yellow", "black", "white", "purple", "orange", "grey", "pink", "brown")
GARMENTS = ("coat", "hoodie", "jacket", "dress", "shirt", "jumper", "raincoat", "vest", "suit", "cardigan")
THINGS = ("umbrella", "backpack", "suitcase", "bicycle", "phone", "newspaper", "cup", "dog", "pram", "cane")
HAIR = ("bald", "blond", "dark curls", "ponytail", "long braid", "turban", "helmet", "cap", "beret", "hood")


@dataclass(frozen=True)
class Planted:
    """Somebody as planted: waypoints as shares of the frame, and first and last frame."""

    track_id: str
    text: str
    first: int
    last: int
    waypoints: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Street:
    """A video with its people."""

    material: Material
    people: tuple[Planted, ...]
    n_frames: int

    def of(self, text: str) -> Planted:
        """The person with that description."""
        (found,) = [p for p in self.people if p.text.rstrip(".") == text.rstrip(".")]
        return found


def looks(rng: np.random.Generator, n: int) -> list[str]:
    """`n` descriptions that share few words."""
    picks = [rng.permutation(10)[:n] for _ in range(4)]
    return [
        f"A {COLOURS[a]} {GARMENTS[b]}, with {THINGS[c]}, {HAIR[d]}."
        for a, b, c, d in zip(*picks, strict=True)
    ]


def street(
    seed: int, *, name: str = "street", n_people: int = 8, n_others: int = 0, n_frames: int = 600
) -> Street:
    """People who walk between random places, some from the first frame or until the last."""
    rng = np.random.default_rng(seed)
    people = []
    for i, text in enumerate([*looks(rng, n_people), *[""] * n_others]):
        first = int(rng.integers(0, n_frames * 2 // 3)) if rng.random() > 0.15 else 0
        last = min(n_frames - 1, first + int(rng.integers(30, n_frames // 2)))
        n_points = int(rng.integers(2, 5))
        points = tuple((float(x), float(y)) for x, y in rng.uniform(0.02, 0.98, (n_points, 2)))
        at_edges = [_at_edge(rng) if rng.random() < _SHARE_AT_EDGES else None for _ in range(2)]
        points = (at_edges[0] or points[0], *points[1:-1], at_edges[1] or points[-1])
        if not text:
            points = ((0.05, 0.5), points[0], (0.95 if i % 3 else 0.5, 0.6))
        people.append(Planted(track_id=f"t{i}", text=text, first=first, last=last, waypoints=points))
    tracks = []
    for person in people:
        n = person.last - person.first + 1
        at = np.linspace(0, len(person.waypoints) - 1, n)
        points = np.array(person.waypoints)
        xs = np.interp(at, range(len(points)), points[:, 0]) * WIDTH
        ys = np.interp(at, range(len(points)), points[:, 1]) * HEIGHT
        tracks.append(
            walk(person.track_id, list(zip(xs, ys, strict=True)), size=(60, 120), first=person.first)
        )
    material = Material(
        source=source(name, n_frames),
        tracked=video(tracks, size=(WIDTH, HEIGHT), n_frames=n_frames, fps=FPS),
        chosen=tuple(person.track_id for person in people if person.text),
        a_cards=tuple(Card(track_id=p.track_id, kind="A", text=p.text) for p in people if p.text),
        b_cards=tuple(
            Card(track_id=p.track_id, kind="B", text="Stops at a bench, talks to a guard and walks on.")
            for p in people
            if p.text
        ),
    )
    return Street(material=material, people=tuple(people), n_frames=n_frames)


def _at_edge(rng: np.random.Generator) -> tuple[float, float]:
    """A point at one of the edges, away from the corners more often than not."""
    along = float(rng.uniform(0.1, 0.9))
    edges = ((0.03, along), (0.97, along), (along, 0.04), (along, 0.96))
    return edges[int(rng.integers(4))]


def source(name: str, n_frames: int) -> VideoSource:
    """The source of a planted video."""
    return VideoSource(
        video_id=name,
        path=f"{name}.mp4",
        n_frames=n_frames,
        fps=FPS,
        duration_s=n_frames / FPS,
        width_px=WIDTH,
        height_px=HEIGHT,
    )


def strangers(seed: int) -> Corpus:
    """People of another video, who look like nobody in `street`."""
    rng = np.random.default_rng(seed)
    kinds = ("soldier", "nurse", "clown", "diver", "chef", "monk", "pilot", "skier", "miner", "judge")
    tools = ("trumpet", "ladder", "kite", "anchor", "lantern", "shovel", "violin", "net", "broom", "map")
    cards = tuple(
        Card(track_id=f"s{i}", kind="A", text=f"Uniform of {kinds[i]}, {tools[j]} under an arm.")
        for i, j in enumerate(rng.permutation(10))
    )
    return Corpus(a_cards={"elsewhere": cards})


_PLACES = (
    *("beach", "kitchen", "forest", "station", "stadium"),
    *("library", "harbour", "desert", "cellar", "roof"),
)
_ACTS = ("sleeps", "argues", "dances", "paints", "digs", "sings", "reads", "boxes", "cooks", "juggles")
_WHO = ("sailor", "teacher", "widow", "boy", "robot", "king", "nun", "farmer", "thief", "doctor")


def trailer(seed: int, *, n_shots: int = 9, with_false: bool = True) -> Material:
    """Shots with one true description each, and false ones for most of them."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(20, 60, n_shots)
    firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    shots = tuple(
        Shot(
            shot_id=f"sh{i}",
            first_frame=int(a),
            last_frame=int(a + n - 1),
            start_s=float(a / FPS),
            end_s=float((a + n) / FPS),
        )
        for i, (a, n) in enumerate(zip(firsts, lengths, strict=True))
    )
    orders = [rng.permutation(10) for _ in range(4)]
    cards: list[SceneCard] = []
    for i in range(n_shots):
        who, act, place, colour = (int(order[i]) for order in orders)
        words = [COLOURS[colour], _WHO[who], _ACTS[act], _PLACES[place]]
        cards.append(SceneCard(card_id=f"c{i}", shot_id=f"sh{i}", text=_scene(words)))
        if with_false and rng.random() < 0.8:
            colour_after, place_after = COLOURS[(colour + 1) % 10], _PLACES[(place + 3) % 10]
            changes = (
                Change(kind="modification", before=COLOURS[colour], after=colour_after),
                Change(kind="modification", before=_PLACES[place], after=place_after),
            )
            false = _scene([colour_after, *words[1:3], place_after])
            cards.append(SceneCard(card_id=f"f{i}", shot_id=f"sh{i}", text=false, changes=changes))
    n_frames = int(lengths.sum())
    order = rng.permutation(len(cards))
    return Material(
        source=source("trailer", n_frames), shots=shots, scene_cards=tuple(cards[i] for i in order)
    )


def _scene(words: list[str]) -> str:
    colour, who, act, place = words
    return f"A {who} in {colour} {act} at the {place}."

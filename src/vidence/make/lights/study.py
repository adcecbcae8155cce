"""Pages for a human study: describe each clip first, then choose one of three, as in ActPLD.

A form is one HTML page that works without a network. It draws the dots itself, holds neither names of clips
nor what is right, and keeps what was answered in the browser until it is saved as a CSV file; the key to it
lies in ``study/key.csv``. Answers and key are put together by `vidence.make.lights.answers`.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from markupsafe import Markup

from vidence.ask import files
from vidence.ask.files import FieldError, csv_rows, usable
from vidence.errors import DataError, UsageError
from vidence.make.lights.sheets import template, window_of
from vidence.make.lights.tables import ClipChoices
from vidence.media.lights import light_player
from vidence.media.whole import write_whole
from vidence.pointlight.experiments import Dots
from vidence.records import Record
from vidence.tables.export import FORMULA, NUMBER, csv_text

N_CHOICES = 3
KEY_COLUMNS = (
    "form",
    "place",
    "trial_id",
    "kind",
    "item_id",
    "set",
    "source_id",
    *(f"choice_{n + 1}" for n in range(N_CHOICES)),
    *(f"letter_{n + 1}" for n in range(N_CHOICES)),
    "right",
)
_FRAMES = re.compile(r"all|actpld(:[1-9]\d{0,4})?")


class StudyRules(Record, omit_defaults=True):
    """What the forms of a study are.

    There are `n_forms` (0: no study), each with up to `n_clips` clips of each set, its own as long as there
    are enough; with `order` ``sets`` those of one actor come first, ``mixed`` mixes them. `target` is
    ``label`` or ``intention``. `n_practice` clips are set aside for practice, where the right answer is told;
    `n_catch` trials ask for a certain answer, so that it is seen who reads. A film is shown `repeats` times
    each time it is played, and can be played `most_plays` times (0: as often as somebody likes).
    `frames` ``actpld`` shows the eight frames only that a model is shown, ``actpld:4`` every fourth, at the
    pace of the recording. `consent` and `debrief` are files of plain text beside the configuration; `answers`
    are names or patterns of the files that people saved.
    """

    n_forms: int = 0
    n_clips: int = 30
    target: str = "label"
    seed: int = 0
    order: Literal["sets", "mixed"] = "sets"
    n_practice: int = 2
    n_catch: int = 2
    repeats: int = 1
    most_plays: int = 0
    frames: str = "all"
    width_px: int = 384
    consent: str = ""
    debrief: str = ""
    answers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n_forms < 0 or self.n_clips < 1 or self.target not in {"label", "intention"}:
            raise UsageError(
                f"a study has 0 or more forms of 1 or more clips and asks for label or intention, not "
                f"{self.n_forms} of {self.n_clips} for {self.target!r}"
            )
        least = {"n_practice": 0, "n_catch": 0, "repeats": 1, "most_plays": 0, "width_px": 32}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise UsageError(f"{name} of a study is {getattr(self, name)}; expected {value} or more")
        if not _FRAMES.fullmatch(self.frames):
            raise UsageError(f"frames of a study is {self.frames!r}; expected all, actpld or actpld:STRIDE")

    def texts(self, root: Path) -> tuple[str, str]:
        """What people consent to, and what they are told afterwards; empty where there is no file.

        Raises:
            DataError: a file cannot be read, or is empty.
        """
        found = []
        for name, file in (("consent", self.consent), ("debrief", self.debrief)):
            text = ""
            if file:
                try:
                    text = (root / file).read_text(encoding="utf-8").strip()
                except (OSError, UnicodeDecodeError) as error:
                    raise DataError(
                        f"{root / file}: the {name} of the study cannot be read: {error}"
                    ) from error
                if not text:
                    raise DataError(f"{root / file}: the {name} of the study is empty")
            found.append(text)
        return found[0], found[1]


@dataclass(frozen=True, kw_only=True)
class StudyClip:
    """A clip that a study can show: its set and source, what it is asked with, and where its dots are."""

    clip_id: str
    set: str
    source: str
    choice: ClipChoices
    dots: Callable[[], Dots]


@dataclass(frozen=True, kw_only=True)
class _Trial:
    """One trial of a form: a clip, why it is there, and the order of its choices."""

    trial_id: str
    kind: Literal["practice", "asked", "catch"]
    shown: StudyClip
    order: tuple[int, ...]
    right: int

    @property
    def words(self) -> list[str]:
        """The choices as they are shown."""
        return [self.shown.choice.choices[i].words.text.replace("_", " ") for i in self.order]

    def key(self, form: int, place: int) -> dict[str, object]:
        """The row of the key; only what is asked has an item."""
        row: dict[str, object] = {"form": form, "place": place, "trial_id": self.trial_id, "kind": self.kind}
        row |= {"right": self.right + 1, "set": self.shown.set}
        for n, (i, text) in enumerate(zip(self.order, self.words, strict=True), start=1):
            # The letter is that of the order in which `vidence run actpld` has the choices.
            row |= {f"choice_{n}": text, f"letter_{n}": chr(ord("A") + i)}
        if self.kind == "asked":
            row["item_id"] = f"{self.shown.clip_id}/{self.shown.choice.target}"
            row["source_id"] = self.shown.source
        return row


def write_study(
    clips: Sequence[StudyClip], folder: Path, *, rules: StudyRules, texts: tuple[str, str] = ("", "")
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Write ``study/form-N.html`` and ``study/key.csv``.

    Args:
        clips: what can be shown.
        folder: that of the benchmark.
        rules: how many forms, of what.
        texts: what people consent to, and what they are told afterwards.

    Returns:
        The files, and what there is to say: sets with fewer clips than are wanted. Rows of forms that were
        made before stay in the key.

    Raises:
        UsageError: no clip is left when those for practice are set aside.

    Source: ActPLD, section 3.2: people described each display and then chose one of three, 30 displays of one
        actor and 30 of two.
    Departs: one page each, not a survey service; practice, catch trials and numbers are free.
    """
    if rules.n_forms == 0 or not clips:
        return (), ()
    rng = np.random.default_rng(rules.seed)
    practice, decks = _set_aside(clips, rules, rng)
    notes = tuple(
        f"study: {len(deck)} clips of the set {name}, so that a form has these instead of {rules.n_clips}"
        for name, deck in decks.items()
        if len(deck) < rules.n_clips
    )
    left: dict[str, list[StudyClip]] = {name: [] for name in decks}
    pages: list[Path] = []
    rows: list[dict[str, object]] = []
    for form in range(1, rules.n_forms + 1):
        chosen: list[StudyClip] = []
        for name, deck in decks.items():
            while len(left[name]) < min(rules.n_clips, len(deck)):
                fresh = [one for one in deck if one not in left[name]]
                left[name] += [fresh[i] for i in rng.permutation(len(fresh))]
            chosen += left[name][: rules.n_clips]
            left[name] = left[name][rules.n_clips :]
        if rules.order == "mixed":
            chosen = [chosen[i] for i in rng.permutation(len(chosen))]
        trials = _trials(chosen, practice, rules=rules, rng=rng)
        rows += [trial.key(form, place) for place, trial in enumerate(trials, start=1)]
        path = folder / "study" / f"form-{form}.html"
        write_whole(path, _page(form, trials, rules=rules, texts=texts).encode())
        pages.append(path)
    key = folder / "study" / "key.csv"
    cells = [[str(row.get(name, "")) for name in KEY_COLUMNS] for row in rows]
    # Forms that were given to people before the clips changed can be marked for ever.
    now = {row["trial_id"] for row in rows}
    old = [[row[name] for name in KEY_COLUMNS] for row in read_key(key) if row["trial_id"] not in now]
    write_whole(key, csv_text([KEY_COLUMNS, *cells, *old], is_data=True).encode())
    return (*pages, key), notes


def read_key(path: Path) -> list[dict[str, str]]:
    """The rows of a key; none where there is no such file.

    Raises:
        DataError: it is no key.
    """
    if not path.exists():
        return []
    rows = csv_rows(files.read(path), needed=KEY_COLUMNS)
    try:
        return [usable(row) for _, row in rows]
    except FieldError as error:
        raise DataError(f"{path}: {error}; it is no key of a study") from error


def _set_aside(
    clips: Sequence[StudyClip], rules: StudyRules, rng: np.random.Generator
) -> tuple[list[StudyClip], dict[str, list[StudyClip]]]:
    """The clips for practice, of the largest set first, and the others by their sets."""
    ordered = sorted(clips, key=lambda one: one.clip_id)
    decks = {name: [one for one in ordered if one.set == name] for name in ("single", "social")}
    decks = {name: deck for name, deck in decks.items() if deck}
    if rules.n_practice >= len(ordered):
        raise UsageError(
            f"a study with {rules.n_practice} clips for practice needs more than these {len(ordered)}; lower "
            "n_practice"
        )
    practice = []
    for _ in range(rules.n_practice):
        deck = max(decks.values(), key=len)
        practice.append(deck.pop(int(rng.integers(len(deck)))))
    return practice, {name: deck for name, deck in decks.items() if deck}


def _trials(
    chosen: Sequence[StudyClip],
    practice: Sequence[StudyClip],
    *,
    rules: StudyRules,
    rng: np.random.Generator,
) -> list[_Trial]:
    """What a form has, in its order: practice first, catch trials anywhere after it."""

    def trial(kind: Literal["practice", "asked", "catch"], shown: StudyClip) -> _Trial:
        order = tuple(int(i) for i in rng.permutation(len(shown.choice.choices)))
        right = int(rng.integers(len(order))) if kind == "catch" else order.index(shown.choice.right)
        made = _Trial(trial_id="", kind=kind, shown=shown, order=order, right=right)
        # By what it stands for, so that the same id never stands for two things, in whatever study.
        meant = msgspec.json.encode([rng.bytes(8).hex(), made.key(0, 0), shown.clip_id])
        return replace(made, trial_id=hashlib.sha256(meant).hexdigest()[:12])

    made = [trial("asked", shown) for shown in chosen]
    pool = practice or chosen
    for _ in range(rules.n_catch):
        shown = pool[int(rng.integers(len(pool)))]
        made.insert(int(rng.integers(1, len(made) + 1)), trial("catch", shown))
    return [trial("practice", shown) for shown in practice] + made


def _page(form: int, trials: Sequence[_Trial], *, rules: StudyRules, texts: tuple[str, str]) -> str:
    """A form: it tells what is right in practice only, and what is to be chosen in a catch trial."""
    items = [
        {
            "id": trial.trial_id,
            "kind": trial.kind,
            "choices": trial.words,
            "dots": _drawn(trial.shown.dots(), rules.frames),
            **({} if trial.kind == "asked" else {"told": trial.right + 1}),
        }
        for trial in trials
    ]
    said = msgspec.json.encode([form, items, msgspec.to_builtins(rules), texts])
    player = light_player().decode()
    return template("pld_study.html").render(
        form=form,
        study=hashlib.sha256(said).hexdigest()[:16],
        items=items,
        rules=rules,
        consent=texts[0],
        debrief=texts[1],
        n_asked=sum(trial.kind != "practice" for trial in trials),
        player=Markup(player),  # noqa: S704 - a file of this package
        formula=FORMULA,
        number=NUMBER,
    )


def _drawn(dots: Dots, which: str) -> Mapping[str, object]:
    """What the player needs of dots; of the frames those that are wanted."""
    chosen, stride = list(range(len(dots.frames))), 1
    if which != "all":
        stride = int(which.partition(":")[2] or 1)
        numbers = window_of(len(dots.frames), stride=stride)
        chosen, stride = numbers, numbers[1] - numbers[0] if len(numbers) > 1 else 1
    return {
        "width_px": dots.width_px,
        "height_px": dots.height_px,
        "fps": dots.fps / stride,
        "background": dots.background,
        "radius_px": dots.radius_px,
        "dots": [{"rgb": dot.rgb} for dot in dots.dots],
        "frames": [
            {
                "x_px": _short(dots.frames[n].x_px),
                "y_px": _short(dots.frames[n].y_px),
                "visible": [int(v) for v in dots.frames[n].visible],
            }
            for n in chosen
        ],
    }


def _short(values: Sequence[float | None]) -> list[float | None]:
    return [None if v is None else round(v, 2) for v in values]

"""Sheets for a human study: describe each clip first, then choose one of three, as in ActPLD.

A sheet is one HTML page that works without a network: each clip is played, a description is asked for, and
only then the three choices are shown. The answers are saved as a CSV file, which `vidence run actpld --model
replay:FILE` reads like the replies of a model.
"""

import base64
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

import jinja2
import numpy as np

from vidence.errors import UsageError
from vidence.make.lights.clips import ClipMade
from vidence.make.lights.tables import Choice
from vidence.media.whole import write_whole
from vidence.records import Record
from vidence.tables.export import FORMULA, NUMBER, csv_text

_KEY_COLUMNS = ("form", "place", "item_id", "choice_1", "choice_2", "choice_3", "right")


class StudyRules(Record, omit_defaults=True):
    """How many forms there are, with how many clips each (0 forms: no sheets), and what is asked.

    `target` is ``label`` or ``intention``. Every form has its own clips as long as there are enough; the
    order of clips and of choices is drawn for each form.
    """

    n_forms: int = 0
    n_clips: int = 30
    target: str = "label"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_forms < 0 or self.n_clips < 1 or self.target not in {"label", "intention"}:
            raise UsageError(
                f"a study has 0 or more forms of 1 or more clips and asks for label or intention, not "
                f"{self.n_forms} of {self.n_clips} for {self.target!r}"
            )


def write_study(
    choices: Mapping[str, Sequence[Choice]], clips: Mapping[str, ClipMade], folder: Path, *, rules: StudyRules
) -> tuple[Path, ...]:
    """Write ``study/form-N.html`` and ``study/key.csv``.

    Args:
        choices: of every clip.
        clips: the clips.
        folder: that of the benchmark.
        rules: how many forms, of what.

    Returns:
        The files.

    Source: ActPLD, section 3.2: people described each display and then chose one of three.
    Departs: one page each, not a survey service; the number of clips is free.
    """
    if rules.n_forms == 0 or not choices:
        return ()
    rng = np.random.default_rng(rules.seed)
    deck: list[str] = []
    files: list[Path] = []
    rows: list[dict[str, object]] = []
    template = _template()
    for form in range(1, rules.n_forms + 1):
        while len(deck) < min(rules.n_clips, len(choices)):
            fresh = [c for c in sorted(choices) if c not in deck]
            deck += [fresh[i] for i in rng.permutation(len(fresh))]
        chosen, deck = deck[: rules.n_clips], deck[rules.n_clips :]
        items = []
        for place, clip_id in enumerate(chosen, start=1):
            choice = next(c for c in choices[clip_id] if c.target == rules.target)
            order = [int(i) for i in rng.permutation(len(choice.choices))]
            words = [choice.choices[i].words.text.replace("_", " ") for i in order]
            item_id = f"{clip_id}/{rules.target}"
            film = base64.b64encode((folder / clips[clip_id].path).read_bytes()).decode()
            # The letter is that of the order in which `vidence run actpld` has the choices.
            letters = [chr(ord("A") + i) for i in order]
            items.append(
                {"item_id": item_id, "film": film, "choices": list(zip(letters, words, strict=True))}
            )
            names = dict(zip(("choice_1", "choice_2", "choice_3"), words, strict=True))
            right = order.index(choice.right) + 1
            rows.append({"form": form, "place": place, "item_id": item_id, **names, "right": right})
        path = folder / "study" / f"form-{form}.html"
        page = template.render(form=form, items=items, target=rules.target, formula=FORMULA, number=NUMBER)
        write_whole(path, page.encode())
        files.append(path)
    key = folder / "study" / "key.csv"
    cells = ([str(row[name]) for name in _KEY_COLUMNS] for row in rows)
    write_whole(key, csv_text([_KEY_COLUMNS, *cells]).encode())
    return (*files, key)


def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    text = resources.files("vidence.make").joinpath("templates", "pld_study.html").read_text("utf-8")
    return environment.from_string(text)

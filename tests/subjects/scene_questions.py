"""SVA and TSO drafts about made-up films, with false descriptions of any making."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from subjects.kitchens import source
from vidence.make.herbench.cards.plausible import SlotCounts
from vidence.make.herbench.cards.swapping import perturb_by_rules
from vidence.make.herbench.tasks import sva, tso
from vidence.make.pipeline.material import Change, Corpus, Draft, Material, SceneCard
from vidence.seeing.shooting import Shot

Falsify = Callable[[SceneCard, Sequence[SceneCard], SlotCounts, np.random.Generator], SceneCard | None]
# Words that hardly anybody writes about a shot.
_ABSURD = (
    *("axe", "trench", "ladle", "dune", "poncho", "waistcoat", "veil"),
    *("crawling", "tram", "skyscraper", "crown", "shawl", "lantern", "swamp"),
)


def plausibly(
    card: SceneCard, others: Sequence[SceneCard], known: SlotCounts, rng: np.random.Generator
) -> SceneCard | None:
    """As `perturb_by_rules` does."""
    made = perturb_by_rules(card, others=others, known=known, rng=rng)
    return made if isinstance(made, SceneCard) else None


def absurdly(
    card: SceneCard, others: Sequence[SceneCard], known: SlotCounts, rng: np.random.Generator
) -> SceneCard | None:
    """Two words become what nobody writes there."""
    words = card.text.removesuffix(".").split()
    places = rng.choice(np.arange(1, len(words)), size=2, replace=False)
    changes = []
    for place, number in zip(places.tolist(), rng.permutation(len(_ABSURD))[:2].tolist(), strict=True):
        changes.append(Change(kind="modification", before=words[place], after=_ABSURD[number]))
        words[place] = _ABSURD[number]
    return SceneCard(
        card_id=card.card_id.replace("true", "false"),
        shot_id=card.shot_id,
        text=" ".join(words) + ".",
        changes=tuple(changes),
    )


def falsified(
    films: Mapping[str, Sequence[SceneCard]], falsify: Falsify, *, seed: int
) -> dict[str, tuple[SceneCard, ...]]:
    """The cards of each film with the false ones behind them."""
    found = {}
    for place, (name, cards) in enumerate(films.items()):
        rng = np.random.default_rng([seed, place])
        known = SlotCounts.of(card for other, some in films.items() if other != name for card in some)
        false = [made for card in cards if (made := falsify(card, cards, known, rng)) is not None]
        found[name] = (*cards, *false)
    return found


def scene_drafts(
    films: Mapping[str, Sequence[SceneCard]], *, per_film: int, seed: int, tasks: str = "SVA"
) -> list[Draft]:
    """Questions of one task about every film."""
    task = {"SVA": lambda: sva.Sva(sva.Settings()), "TSO": lambda: tso.Tso(tso.Settings())}[tasks]()
    found: list[Draft] = []
    for place, (name, cards) in enumerate(films.items()):
        ids = list(dict.fromkeys(card.shot_id for card in cards))
        shots = tuple(
            Shot(shot_id=one, first_frame=25 * i, last_frame=25 * i + 24, start_s=float(i), end_s=i + 1.0)
            for i, one in enumerate(ids)
        )
        material = Material(source=source(name, len(ids)), shots=shots, scene_cards=tuple(cards))
        flow = task.draft(material, Corpus(), most=per_film, rng=np.random.default_rng([seed, place, 7]))
        try:
            next(flow)
        except StopIteration as done:
            found += [one for one in done.value if isinstance(one, Draft)]
    return found

"""Questions that each format of a release can say, and a set with a hidden split."""

from pathlib import Path

from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.sets import ReleasedSet, SetMaterial, SetRules, release_set
from vidence.records import Evidence, Item, Media, Provenance

CHOICES = ("a red cup", "a blue bowl", "a green plate", "a tall vase", "an old spoon")
TAGS = {
    "items": {"task": "any"},
    "huggingface": {"task": "any"},
    "herbench": {"task": "AC", "family": "MEA&N", "structure": "pair", "k": "3"},
    "perceptioncomp": {"category": "movie", "difficulty": "2"},
    "mmvu": {"subject": "Art", "discipline": "Humanities & Social Sciences", "textbook": "Colours"},
    "humanpcr": {"level": "perception", "dimension": "Contact", "task": "Held"},
}
OPEN_TAGS = {
    "mmvu": TAGS["mmvu"],
    "humanpcr": {"level": "reasoning", "reasoning": "Planning", "domain": "Household"},
    "items": {},
    "huggingface": {},
}


def question(n: int, tags: dict[str, str], *, split: str = "test", **changes: object) -> Item:
    """The `n`-th question about something on a table, of a film of its own."""
    fields = {
        "item_id": f"table-{n:03d}",
        "benchmark": "table-things",
        "media": (Media(path=f"videos/film-{n:03d}.mp4"),),
        "source": f"film {n:03d}",
        "question": f"What is put on the table as number {n}?",
        "choices": CHOICES,
        "answer": "ABCDE"[n % 5],
        "tags": tags | {"split": split},
        "evidence": (
            Evidence(kind="oracle", start_s=10.0 + n, end_s=12.5 + n, note=f"the hand of person {n}"),
        ),
        "rationale": f"At second {n} a hand comes in and sets the thing down.",
        "knowledge": (f"https://en.wikipedia.org/wiki/Thing_{n}",),
        "provenance": Provenance(source="own recordings", licence="CC-BY-4.0"),
    }
    return Item(**fields | changes)


def questions_of(exporter: str, n: int = 6, **changes: object) -> list[Item]:
    """Questions that a format can say; of those that have open questions the last is one."""
    found = [question(i, TAGS.get(exporter, {}), **changes) for i in range(n)]
    if exporter in OPEN_TAGS:
        words = f"Somebody takes it up again and carries it out of room {n}."
        open_one = {"choices": (), "answer": words, "answer_kind": "text"}
        found[-1] = question(n - 1, OPEN_TAGS[exporter], **open_one | changes)
    return found


def half_hidden() -> list[Item]:
    """Eight questions: four to validate with, and four whose answers are hidden, one of them open."""
    items = [
        question(i, TAGS["mmvu"] | {"n_steps": "2"}, split=("validation", "test")[i % 2]) for i in range(7)
    ]
    words = "The potter turns the wheel against the clock"
    return [
        *items,
        question(
            7,
            TAGS["mmvu"],
            choices=(),
            answer=words,
            answer_kind="text",
            steps=("She looks at the wheel first.",),
        ),
    ]


def rules_of(*formats: str, **changes: object) -> SetRules:
    settings = {
        "name": "table",
        "about": ReleaseRules(version="1.0.0", licence="CC-BY-4.0"),
        "formats": formats,
    }
    return SetRules(**settings | changes)


def released(into: Path, items: list[Item] | None = None, **changes: object) -> ReleasedSet:
    """A release of half-hidden questions in three formats."""
    rules = rules_of("items", "mmvu", "huggingface", **{"hidden": frozenset({"test"})} | changes)
    return release_set(half_hidden() if items is None else items, rules, MATERIAL, into=into)


MATERIAL = SetMaterial(fresh_secret=bytes(range(32)), agreement="# Use\n\nFor research.\n")

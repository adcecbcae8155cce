"""How many planted doubles the checks of made questions find, and what else they take for doubles.

    python bench/doubles.py ../shared/checks

`CHECKS` holds the published questions of MMVU and PerceptionComp. From each set 30 questions are drawn for a
way of asking again about the same video with the same answer; the checks run with their defaults on the whole
set and these. With another word in place of one it is a new question, which must stay. The last column counts
published questions that are dropped as repeats of another one.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random

N_PLANTED, SEED = 30, 39
PREFIXES = (
    "Looking at this clip, ",
    "From what is shown in the footage: ",
    "Based on the video that you have been given, ",
    "Please watch the recording carefully and tell us: ",
    "Now, in the film above, ",
    "Having watched the clip, ",
    "With the video in mind, ",
    "As seen in the recording, ",
    "Concerning the footage: ",
    "Answer this question about the whole video: ",
)


def prefixed(question: str, rng: Random) -> str:
    """The question behind a few words that any question could have."""
    return rng.choice(PREFIXES) + question[:1].lower() + question[1:]


def moved(question: str, rng: Random) -> str:
    """The question with its last words first."""
    words = question.rstrip("?. ").split()
    n = rng.randint(1, max(1, len(words) // 2))
    return " ".join((*words[-n:], *words[:-n])) + "?"


def other(question: str, rng: Random, words: Sequence[str]) -> str:
    """Another question: in place of its longest word it has one of the set."""
    mine = question.split()
    place = max(range(len(mine)), key=lambda i: len(mine[i]) * mine[i].isalpha())
    new = rng.choice([word for word in words if word.casefold() not in question.casefold()])
    return " ".join((*mine[:place], new, *mine[place + 1 :]))


def main() -> None:
    """Print the table."""
    from vidence.ask.benchmarks import mmvu, perceptioncomp

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checks", type=Path)
    checks = parser.parse_args().checks
    print("| set | questions | prefix | order of words | order of options | another word | as published |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for title, benchmark, path, split in (
        ("MMVU, validation", mmvu, "mmvu/validation.json.gz", "validation"),
        ("PerceptionComp", perceptioncomp, "perceptioncomp/annotations_1-1114.json", "all"),
    ):
        items = benchmark.create().load(checks / path, split=split).items
        print(f"| {title} | {len(items):,} | {' | '.join(map(str, counts(items)))} |")


def counts(items: Sequence) -> list[int]:
    """How many of the questions planted in each way go, and how many of those published."""
    from msgspec.structs import replace

    from vidence.make.gates.checks import check
    from vidence.make.gates.rules import CheckRules

    rng, rules = Random(SEED), CheckRules()
    words = sorted(
        {word for item in items for word in item.question.split() if len(word) > 5 and word.isalpha()}
    )
    published = check(items, rules)
    sound = [item for item in items if item.item_id not in {one.what for one in published}]
    choosing = [item for item in sound if item.choices]
    turned = "ABCDEFGHIJ"
    ways = {
        "prefix": (sound, lambda i: replace(i, question=prefixed(i.question, rng))),
        "words": (sound, lambda i: replace(i, question=moved(i.question, rng))),
        "options": (
            choosing,
            lambda i: replace(
                i, choices=i.choices[::-1], answer=turned[len(i.choices) - 1 - turned.index(i.answer)]
            ),
        ),
        "other": (sound, lambda i: replace(i, question=other(i.question, rng, words))),
    }
    found = []
    for name, (of, again) in ways.items():
        planted = [replace(again(i), item_id=f"{name} of {i.item_id}") for i in rng.sample(of, N_PLANTED)]
        gone = {one.what for one in check([*sound, *planted], rules)}
        found.append(len(gone.intersection(one.item_id for one in planted)))
    return [*found, sum("repeat" in one.reason for one in published)]


if __name__ == "__main__":
    main()

"""Structures of a set: how they are found, tested together, and which answer is right too often."""

import numpy as np

from vidence.explain.audit.structures import read_structures, same_answer, structures_of
from vidence.records import Item, Media


def item(number, choices, answer, *, video=None, question="Which?", **tags):
    media = (Media(path=f"{video if video is not None else number}.mp4"),)
    return Item(
        item_id=f"q{number}", media=media, question=question, choices=tuple(choices), answer=answer, tags=tags
    )


def read(groups, **more):
    return {one.name: one for one in read_structures(groups, rng=np.random.default_rng(0), **more)}


def test_structures_are_told_by_tags():
    tagged = [item(i, "abc", "A", task="MPDR", structure="overlap" if i else "order") for i in range(3)]
    assert {name: len(some) for name, some in structures_of(tagged).items()} == {
        "MPDR order": 1,
        "MPDR overlap": 2,
    }
    assert set(structures_of([item(i, "abc", "A", category=str(i % 2)) for i in range(4)])) == {"0", "1"}
    assert set(structures_of([item(i, "abc", "A") for i in range(3)])) == {"all"}
    assert structures_of([]) == {}


def test_one_answer_that_is_right_too_often_is_named():
    choices = ["Every two of them", "None", "The first two", "The last two", "All at once"]
    found = same_answer(
        [item(i, choices, "A" if i < 16 else "BCDE"[i % 4]) for i in range(20)], rng=np.random.default_rng(0)
    )
    assert found is not None
    assert (found.text, found.n, round(found.expected, 6)) == ("Every two of them", 16, 4.0)
    assert found.p_value < 0.01
    even = same_answer([item(i, choices, "ABCDE"[i % 5]) for i in range(20)], rng=np.random.default_rng(0))
    assert even is not None
    assert even.p_value > 0.5
    apart = [item(i, [f"{i} {c}" for c in choices], "A") for i in range(4)]
    assert same_answer(apart, rng=np.random.default_rng(0)) is None


def test_the_rank_of_ranges_is_seen():
    def ranges(number, right):
        start = 3 * number
        choices = [f"{start + 3 * i} to {start + 3 * i + 2}" for i in range(5)]
        return item(number, choices, "ABCDE"[right], structure="range")

    leaky = read({"low": [ranges(i, 0 if i % 3 else i % 5) for i in range(24)]})["low"]
    assert leaky.verdict == "above"
    assert leaky.worst is not None
    assert leaky.worst.key in ("smallest", "popular-size")
    even = read({"even": [ranges(i, i % 5) for i in range(25)]})["even"]
    assert even.verdict == "chance"


def test_listed_statements_are_tested_beside_choices():
    rng = np.random.default_rng(2)
    words = [f"word{i}" for i in range(40)]
    made = []
    for i in range(30):
        texts = [" ".join(rng.choice(words, 5)) for _ in range(4)]
        false = int(rng.integers(4))
        texts[false] += " axe dune"
        listed = (
            "Descriptions:\n" + "\n".join(f"{n}. {t}" for n, t in enumerate(texts, 1)) + "\nHow many fit?"
        )
        made.append(
            item(
                i, ["0", "1", "2", "3", "4"], "ABCDE"[i % 5], question=listed, false_statements=str(false + 1)
            )
        )
    found = read({"SVA how-many": made})["SVA how-many"]
    assert set(found.tests) == {"choices", "listed statements"}
    assert (found.verdict, found.worst_of) == ("above", "listed statements")
    assert "of listed statements" in found.says()


def test_few_questions_cannot_be_told_and_say_so():
    found = read({"few": [item(i, ["cat", "dog", "cow", "hen", "fox"], "ABCDE"[i]) for i in range(3)]})["few"]
    assert found.verdict == "untold"
    assert "cannot be told with 3 questions about 3 sources" in found.says()

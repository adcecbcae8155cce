"""How well parsers read made replies whose meaning is known.

python bench/parsing.py [--replies 5200] [--seed 0] [--parser robust ...] [--half first|second] [--misses N]

Every template says one thing in one way; its meaning is a letter, or nothing. The rules of ``robust`` are
worked out on the first half of the templates of each style and checked on the second, so the table says
both.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import parsing_templates

from vidence.catalog import create
from vidence.contracts import Scorer
from vidence.records import Answered, Item, Reply

PARSERS = ("robust", "perceptioncomp-api", "perceptioncomp-gemini", "herbench-official")


@dataclass(frozen=True)
class Made:
    """A reply, the question that it answers, and the letter that it means ("" where it means none)."""

    style: str
    is_second_half: bool
    item: Item
    text: str
    meant: str


@dataclass(frozen=True)
class Tally:
    """How many replies were read in which way."""

    right: int
    abstained: int
    wrong: int
    invented: int
    n_meant: int
    n_none: int


def made(*, n: int, seed: int) -> Iterator[Made]:
    """Make `n` replies, spread over all templates; the same for the same seed."""
    rng = random.Random(seed)
    templates = [
        (style, i % 2 == 1, template)
        for style, listed in parsing_templates.STYLES.items()
        for i, template in enumerate(listed)
    ]
    for i in range(n):
        style, is_second, template = templates[i % len(templates)]
        yield _fill(style, template, rng, is_second=is_second)


def _fill(style: str, template: str, rng: random.Random, *, is_second: bool) -> Made:
    asked = rng.choice(parsing_templates.QUESTIONS)
    texts = list(asked.choices)
    rng.shuffle(texts)
    x, y, z = rng.sample(range(len(texts)), 3)
    letters = [chr(ord("A") + i) for i in range(len(texts))]
    filled = template
    values = {
        "X": letters[x],
        "x": letters[x].lower(),
        "t": texts[x],
        "Y": letters[y],
        "u": texts[y],
        "Z": letters[z],
        "w": texts[z],
        "s": asked.sentence.replace("#", texts[x]),
        "v": asked.sentence.replace("#", texts[y]),
        "p": rng.choice(parsing_templates.REMARKS),
        "q": asked.question,
        "list": "\n".join(f"{a}. {b}" for a, b in zip(letters, texts, strict=True)),
    }
    for name, value in values.items():
        filled = filled.replace("{" + name + "}", value)
    item = Item(item_id="made", question=asked.question, choices=tuple(texts), answer=letters[x])
    meant = "" if style in parsing_templates.NONE_MEANT else letters[x]
    return Made(style, is_second, item, filled, meant)


def tally(parser: Scorer, replies: Sequence[Made], *, misses: int = 0) -> Tally:
    """Read the replies; prints the first `misses` that are not read as they are meant."""
    counts: Counter[str] = Counter()
    for reply in replies:
        outcome = parser.read(reply.item, Reply(text=reply.text))
        letter = outcome.answer if isinstance(outcome, Answered) else ""
        kind = "none" if not reply.meant else "meant"
        counts[kind] += 1
        if letter == reply.meant:
            counts["right"] += kind == "meant"
            continue
        counts["abstained" if not letter else "invented" if kind == "none" else "wrong"] += 1
        if misses > 0:
            misses -= 1
            print(f"{reply.style}: {reply.text!r} of {reply.item.choices} means {reply.meant!r}: {outcome}")
    return Tally(
        right=counts["right"],
        abstained=counts["abstained"],
        wrong=counts["wrong"],
        invented=counts["invented"],
        n_meant=counts["meant"],
        n_none=counts["none"],
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def line(what: str, parser: str, t: Tally) -> str:
    """One row of the table."""
    shares = (_share(n, t.n_meant) for n in (t.right, t.abstained, t.wrong))
    none = f"{t.invented} of {t.n_none}" if t.n_none else ""
    return f"| {what} | {parser} | {t.n_meant + t.n_none} | {' | '.join(shares)} | {none} |"


def report(replies: Sequence[Made], names: Sequence[str], *, misses: int = 0) -> str:
    """The Markdown table: all replies, both halves, then every style, for each parser."""
    lines = [
        "| replies | parser | number | right % | abstains % | wrong letter % | letter where none is meant |",
        "|---|---|---|---|---|---|---|",
    ]
    groups = {"**all**": list(replies)}
    halves = {
        name: [r for r in replies if r.is_second_half == is_second]
        for name, is_second in (("first half of the templates", False), ("second half", True))
    }
    groups |= {name: found for name, found in halves.items() if len(found) < len(replies) and found}
    groups |= {style: [r for r in replies if r.style == style] for style in parsing_templates.STYLES}
    parsers = {name: create("parser", name) for name in names}
    for group, found in groups.items():
        lines += [
            line(group, name, tally(parser, found, misses=misses if group == "**all**" else 0))
            for name, parser in parsers.items()
        ]
    return "\n".join(lines)


def main() -> int:
    """Print the table."""
    options = argparse.ArgumentParser(description="How well parsers read made replies.")
    options.add_argument("--replies", type=int, default=5200)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--parser", action="append", choices=PARSERS)
    options.add_argument("--half", choices=("first", "second"))
    options.add_argument("--misses", type=int, default=0, help="print so many replies that are misread")
    given = options.parse_args()
    replies = list(made(n=given.replies, seed=given.seed))
    if given.half:
        replies = [r for r in replies if r.is_second_half == (given.half == "second")]
    print(report(replies, given.parser or PARSERS, misses=given.misses))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""How well parsers read made replies whose meaning is known.

    python bench/parsing.py [--replies 6900] [--seed 0] [--parser robust ...] [--part dev|held-out|new|all]
        [--misses N] [--docs docs/guides/parsers.md]

A *style* is one way in which models answer, in several phrasings that mean the same: a letter, or nothing.
``parsing_styles.toml`` holds the styles that the rules of ``robust`` may be worked out on,
``parsing_held_out.toml`` a third that is drawn by the name of the style (`is_held_out`) and that nobody reads
who works on the rules; of these only counts are printed. ``parsing_new.toml`` holds styles that were written
without a look at the parser and its styles, and that are not shown either. ``parsing_questions.toml`` holds
the questions.
"""

import argparse
import hashlib
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from vidence.catalog import create
from vidence.contracts import Scorer
from vidence.records import Answered, Item, Reply

HERE = Path(__file__).parent
PARSERS = ("robust", "perceptioncomp-api", "perceptioncomp-gemini", "herbench-official")
FILES = {"dev": "parsing_styles.toml", "held-out": "parsing_held_out.toml", "new": "parsing_new.toml"}
DRAWN = ("dev", "held-out")
DRAWN_WITH = "2026"
NONE_MEANT = "none meant"
FROM = "<!-- made by bench/parsing.py --docs: do not edit -->"
TO = "<!-- end of what bench/parsing.py made -->"
_PLACE = re.compile(r"\{(X|t|x|T|F|C|Y|u|y|Z|w|z|W|N|s|v|p|q|list|inline|wrongs|verdicts|comments)\}")


class Style(NamedTuple):
    """One way to answer. `of` names the kind of questions that it needs ("" for any)."""

    name: str
    language: str
    group: str
    part: str
    of: str
    phrasings: tuple[str, ...]

    @property
    def means_a_choice(self) -> bool:
        """Whether a careful person would read a choice."""
        return not self.group.startswith(NONE_MEANT)


class Question(NamedTuple):
    """A question; `sentence` says a choice where its ``#`` stands. Only styles `of` a special kind get it."""

    language: str
    kind: str
    question: str
    choices: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Made:
    """A reply, the question that it answers, and the letter that it means ("" where it means none)."""

    style: Style
    item: Item
    text: str
    meant: str


class Tally(NamedTuple):
    """How many replies were read in which way."""

    right: int
    abstained: int
    wrong: int
    invented: int
    n_meant: int
    n_none: int


def is_held_out(name: str) -> bool:
    """Whether the style of this name is held out: a third are, and one that is there never moves."""
    return int(hashlib.sha256(f"{DRAWN_WITH}:{name}".encode()).hexdigest(), 16) % 3 == 0


@cache
def styles() -> tuple[Style, ...]:
    """All styles of both files."""
    return tuple(
        Style(f"{language}: {name}", language, group, part, of, tuple(phrasings))
        for part, file in FILES.items()
        for language, groups in tomllib.loads((HERE / file).read_text("utf-8")).items()
        for group, listed in groups.items()
        for full, phrasings in listed.items()
        for name, _, of in [full.partition(" @")]
    )


@cache
def _pool() -> tuple[Mapping[str, Mapping[str, Sequence[str]]], tuple[Question, ...]]:
    """The words of each language, and the questions."""
    read = tomllib.loads((HERE / "parsing_questions.toml").read_text("utf-8"))
    asked = tuple(
        Question(q["language"], q.get("kind", ""), q["question"], tuple(q["choices"]), q["sentence"])
        for q in read["question"]
    )
    return read["words"], asked


def made(*, n: int, seed: int, part: str = "all") -> Iterator[Made]:
    """Make `n` replies, as many of each style; a style's replies are the same whatever else there is."""
    chosen = [style for style in styles() if part in {"all", style.part}]
    asked = {style: _questions(style, seed) for style in chosen}
    for i in range(n):
        style, turn = chosen[i % len(chosen)], i // len(chosen)
        phrasing = style.phrasings[turn % len(style.phrasings)]
        yield _fill(style, phrasing, asked[style][turn % len(asked[style])], f"{seed} {style.name} {turn}")


def _questions(style: Style, seed: int) -> list[Question]:
    """The questions for a style in its order: of its own language, and in English where that is another."""
    text = " ".join(style.phrasings)
    own = {style.language} if "{s}" in text or "{v}" in text else {style.language, "en"}
    own = {"en"} if style.language == "mixed" else own
    fits = [q for q in _pool()[1] if q.language in own and q.kind == style.of]
    if not style.means_a_choice or any(place in text for place in ("{Z}", "{w}", "{z}")):
        fits = [q for q in fits if len(q.choices) > 2]
    random.Random(f"{seed} {style.name}").shuffle(fits)
    return sorted(fits, key=lambda q: q.language != style.language) if own != {"en"} else fits


def _fill(style: Style, phrasing: str, asked: Question, seed: str) -> Made:
    rng = random.Random(seed)
    texts = list(asked.choices)
    rng.shuffle(texts)
    x, y, z = [*rng.sample(range(len(texts)), min(3, len(texts))), 0][:3]
    letters = [chr(ord("A") + i) for i in range(len(texts))]
    words = _pool()[0].get(style.language, _pool()[0]["en"])
    remarks = list(words["remarks"])
    rng.shuffle(remarks)
    mark = rng.choice(("# {}. {}", "# {}) {}", "# ({}) {}", "# {}: {}")).replace("# ", "")
    options = [mark.format(*pair) for pair in zip(letters, texts, strict=True)]

    def each(right: str, wrong: str) -> list[str]:
        said = [rng.choice(words[right if i == x else wrong]) for i in range(len(texts))]
        return [f"- {option}: {remark}" for option, remark in zip(options, said, strict=True)]

    values: dict[str, Callable[[], str]] = {
        "X": lambda: letters[x],
        "x": letters[x].lower,
        "t": lambda: texts[x],
        "T": lambda: texts[x][:1].upper() + texts[x][1:],
        "F": lambda: chr(ord("\uff21") + x),
        "C": lambda: chr(ord("\u24b6") + x),
        "Y": lambda: letters[y],
        "y": letters[y].lower,
        "u": lambda: texts[y],
        "Z": lambda: letters[z],
        "z": letters[z].lower,
        "w": lambda: texts[z],
        "W": lambda: chr(ord("A") + len(texts) + 1),
        "N": lambda: letters[-1],
        "s": lambda: asked.sentence.replace("#", texts[x]),
        "v": lambda: asked.sentence.replace("#", texts[y]),
        "p": remarks.pop,
        "q": lambda: asked.question,
        "list": lambda: "\n".join(options),
        "inline": lambda: " ".join(options),
        "wrongs": lambda: "\n".join(line for i, line in enumerate(each("right", "wrong")) if i != x),
        "verdicts": lambda: "\n".join(each("right", "wrong")),
        "comments": lambda: "\n".join(each("neutral", "neutral")),
    }
    text = _PLACE.sub(lambda place: values[place[1]](), phrasing)
    item = Item(item_id="made", question=asked.question, choices=tuple(texts), answer=letters[x])
    return Made(style, item, text, letters[x] if style.means_a_choice else "")


def tally(parser: Scorer, replies: Sequence[Made], *, misses: int = 0) -> Tally:
    """Read the replies; prints the first `misses` that are not read as they are meant and not held out."""
    counts: Counter[str] = Counter()
    for reply in replies:
        outcome = parser.read(reply.item, Reply(text=reply.text))
        letter = outcome.answer if isinstance(outcome, Answered) else ""
        kind = "meant" if reply.meant else "none"
        counts[kind] += 1
        if letter == reply.meant:
            counts["right"] += kind == "meant"
            continue
        counts["abstained" if not letter else "invented" if kind == "none" else "wrong"] += 1
        if misses > 0 and reply.style.part == "dev":
            misses -= 1
            seen = f"{reply.style.name}: {reply.text!r} of {reply.item.choices}"
            print(f"{seen} means {reply.meant!r}: {outcome}\n")
    kinds = ("right", "abstained", "wrong", "invented", "meant", "none")
    return Tally(*(counts[kind] for kind in kinds))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def _cells(t: Tally) -> list[str]:
    shares = [_share(n, t.n_meant) for n in (t.right, t.abstained, t.wrong)]
    return [*shares, f"{t.invented} of {t.n_none}" if t.n_none else ""]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def by_part(replies: Sequence[Made], names: Sequence[str]) -> str:
    """The Markdown table of each parser on each part."""
    rows = []
    for part in (*FILES, "all"):
        own = [r for r in replies if part in {"all", r.style.part}]
        if own:
            n = len({r.style for r in own})
            rows += [
                [part, str(n), str(len(own)), name, *_cells(tally(create("parser", name), own))]
                for name in names
            ]
    heads = ["part", "styles", "replies", "parser", "right %", "abstains %", "wrong letter %"]
    return _table([*heads, "letter where none is meant"], rows)


def by_kind(replies: Sequence[Made], name: str) -> str:
    """The Markdown table of one parser on each language and each group of styles, both parts in columns."""
    parser, rows = create("parser", name), []
    drawn = [r for r in replies if r.style.part in DRAWN]
    for kind in dict.fromkeys([r.style.language for r in drawn] + [r.style.group for r in drawn]):
        row = [kind]
        for part in DRAWN:
            own = [r for r in drawn if r.style.part == part and kind in {r.style.language, r.style.group}]
            row += [str(len({r.style for r in own})), *_cells(tally(parser, own))]
        rows.append(row)
    heads = [
        f"{part}{what}"
        for part in DRAWN
        for what in (": styles", ", right %", ", abstains %", ", wrong %", ", where none")
    ]
    return _table([f"{name} on", *heads], rows)


def write_docs(path: Path, text: str) -> None:
    """Put the tables between the two marks of a page."""
    before, _, rest = path.read_text("utf-8").partition(FROM)
    _old, mark, after = rest.partition(TO)
    if not mark:
        raise SystemExit(
            f"{path} does not hold the lines {FROM!r} and {TO!r}. Put them where the tables belong."
        )
    path.write_text(f"{before}{FROM}\n\n{text}\n\n{mark}{after}", "utf-8")


def main() -> int:
    """Print the tables."""
    options = argparse.ArgumentParser(description="How well parsers read made replies.")
    options.add_argument("--replies", type=int, default=6900)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--parser", action="append", choices=PARSERS)
    options.add_argument("--part", choices=(*FILES, "all"), default="all")
    options.add_argument("--misses", type=int, default=0, help="print so many replies that are misread")
    options.add_argument("--docs", type=Path, help="a page to write the table of all parts into")
    given = options.parse_args()
    names = given.parser or PARSERS
    if given.misses and given.part in ("held-out", "new"):
        options.error(
            "--misses shows no held-out replies: rules that are mended by looking at them would only learn "
            "these styles, and nothing would be left that says how new ones are read. Use --part dev."
        )
    replies = list(made(n=given.replies, seed=given.seed, part=given.part))
    if given.misses:
        tally(create("parser", names[0]), replies, misses=given.misses)
        if given.part == "all":
            print("Replies of held-out styles are counted below and not shown.\n")
    tables = [by_part(replies, names), by_kind(replies, names[0])]
    if given.docs:
        write_docs(given.docs, tables[0])
    print("\n\n".join([*tables, *(by_kind(replies, name) for name in names[1:])]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

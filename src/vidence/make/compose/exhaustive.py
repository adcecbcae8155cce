"""All minimal conjunctions of a small scene, each proven."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import msgspec

from vidence.errors import UsageError
from vidence.make.compose.atoms import AskableAttribute, AttributeStatement, Statements
from vidence.make.compose.finding import CompositionResult, find_proof
from vidence.make.compose.program import Program
from vidence.make.compose.reached import Unique
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import Composed
from vidence.make.sources.composition import Aggregate, AttributeOf, Members, The, Variable
from vidence.make.sources.vocabulary import EVENT

MOST_ENTITIES, MOST_STATEMENTS, MOST_TOGETHER = 40, 40, 4
"""Members of a category, statements about them, and conditions of a composition."""


def all_conjunctions(
    scene: SceneBits,
    *,
    asked: AskableAttribute,
    sizes: Sequence[int],
    statements: Sequence[AttributeStatement],
    unique: Unique,
) -> Iterator[tuple[tuple[AttributeStatement, ...], Composed]]:
    """All sets of statements that give one value of an attribute, or (no `attribute`) a count, and need each.

    Without any of the statements another value comes out, or nothing.
    """
    everybody = scene.everybody[asked.category]
    vocabulary = scene.words.sha256()
    for chosen in (some for size in sizes for some in combinations(statements, size)):
        must = may = everybody
        for one in chosen:
            must, may = must & one.masks.must, may & one.masks.may
        is_one = must.bit_count() == 1 or (unique == "value" and must)
        if must != may or (asked.attribute and not is_one):
            continue
        program = _program(asked, chosen)
        made = program.composition("conjunction", scene.scene, vocabulary_sha256=vocabulary)
        found = find_proof(made, scene, unique=unique)
        if isinstance(found, CompositionResult):
            yield chosen, Composed(made, found, "attribute" if asked.attribute else "count")


def _program(asked: AskableAttribute, chosen: Sequence[AttributeStatement]) -> Program:
    program = Program()
    members = Members(category=asked.category, atoms=program.atoms(chosen))
    if asked.attribute:
        program.add("P", The(of=members, pick="P"))
        program.add("answer", AttributeOf(of=Variable(name="P"), name=asked.attribute))
    else:
        program.add("answer", Aggregate(how="count", of=members))
    return program


def everything(
    name: str, scene: SceneBits, *, sizes: Sequence[int], negations: bool, unique: Unique
) -> Iterator[Composed]:
    """All minimal proven conjunctions of a scene, numbered: what can be asked of each category, and counts.

    Raises:
        UsageError: a category has too many members or statements.
    """
    known = Statements(scene, negations=negations)
    counts = [AskableAttribute(category, "", "attribute") for category in known.categories]
    number = 0
    for asked in (*[one for one in known.asked() if one.category != EVENT], *counts):
        said = [one for one in known.of(asked.category) if one.attribute != asked.attribute]
        _check_size(name, asked.category, n_members=len(scene.members[asked.category]), n_said=len(said))
        for _, made in all_conjunctions(scene, asked=asked, sizes=sizes, statements=said, unique=unique):
            number += 1
            yield _named(made, f"{name}/{number:05d}")


def _named(made: Composed, name: str) -> Composed:
    return Composed(
        msgspec.structs.replace(made.composition, composition=name),
        msgspec.structs.replace(made.found, composition=name),
        made.shape,
    )


def _check_size(name: str, category: str, *, n_members: int, n_said: int) -> None:
    for n, most, what, do in (
        (n_members, MOST_ENTITIES, "members", "leave out `exhaustive`, or split the scene"),
        (
            n_said,
            MOST_STATEMENTS,
            "statements",
            "say negations = false in [quota], or leave out `exhaustive`",
        ),
    ):
        if n > most:
            raise UsageError(
                f"the scene {name} has {n} {what} of the category {category!r}; `exhaustive` takes {most} at "
                f"most: {do}"
            )

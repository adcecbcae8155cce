"""Check that composed questions have a unique answer and no redundant condition."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, write_asked, write_said
from vidence.console.flags import JSON, argument, command, file_flag, flag
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.make.sources.proof import Problem, Verdict, Without
    from vidence.make.sources.scene import Scene

GROUP = "items"


class Prove(Record):
    """What to prove, and the rules of the proof."""

    compositions: Annotated[Path, argument()]
    scenes: Annotated[Path, flag("File of scenes.")]
    out: Annotated[Path | None, file_flag("Write the proofs as JSON lines; - prints them.")] = None
    json_path: Annotated[Path | None, JSON] = None


@command()
def prove(given: Prove) -> int:
    """Check that composed questions have a unique answer and no redundant condition.

    COMPOSITIONS is a file of programs separated by lines of ---, or of JSON lines. The exit code is 0 if all
    are proven, 1 if some are not, 2 if the input cannot be read.
    """
    import msgspec

    from vidence.make.compose.program import read_compositions
    from vidence.make.compose.prove import Rules, prove_all
    from vidence.make.sources.scene_files import read_scenes
    from vidence.media.whole import write_file
    from vidence.text import visible

    result = screen(given.out, given.json_path)
    known = read_scenes(given.scenes)
    read = read_compositions(given.compositions, known)
    verdicts = prove_all(read, known, rules=Rules())
    used = dict.fromkeys(composition.scene for composition, _ in read)
    sentences = [*(line for name in used for line in _notes(known[name])), *_counts(verdicts)]
    proofs = [verdict.proof for verdict in verdicts if verdict.is_proven]
    lines = b"".join(msgspec.json.encode(proof, order="deterministic") + b"\n" for proof in proofs)
    write_asked((given.out, lambda file: write_file(file, lines)))
    write_said(
        given.json_path, "prove", sentences=sentences, values={"verdicts": msgspec.to_builtins(verdicts)}
    )
    messages = [line for verdict in verdicts for line in _said(verdict, given.compositions)]
    if not result.quiet:
        for line in [*messages, *sentences]:
            click.echo(visible(line))
    return 0 if all(verdict.is_proven for verdict in verdicts) else 1


def _notes(scene: "Scene") -> Iterator[str]:
    """Return notes on a scene: contradictory facts, which are not used, and indistinguishable entities."""
    for name in dict.fromkeys(contradiction.says for contradiction in scene.contradictions):
        yield f"{scene.header.scene}: contradiction, neither is used: {name}"
    for note in scene.notes:
        yield f"{scene.header.scene}: {note}"


def _counts(verdicts: "Sequence[Verdict]") -> Iterator[str]:
    n_proven = sum(verdict.is_proven for verdict in verdicts)
    yield f"{n_proven:,} of {len(verdicts):,} proven"
    reasons = Counter(reason for verdict in verdicts for reason in {p.reason for p in verdict.problems})
    for reason, count in sorted(reasons.items(), key=lambda names: (-names[1], names[0])):
        yield f"{reason}: {count:,}"


def _said(verdict: "Verdict", path: Path) -> Iterator[str]:
    """Format the result for one composition: the proof with witnesses, or the reasons with line numbers."""
    proof = verdict.proof
    if proof is not None and verdict.is_proven:
        tried = f"{proof.subsets.tried} {'subsets' if proof.subsets.mode == 'all' else 'conditions left out'}"
        n = len(proof.conditions)
        yield f"{verdict.composition}: proven: {proof.answer.value}; {n} conditions, {tried}"
        for condition in proof.conditions:
            yield f"  {condition.id} ({condition.skill}) left out: {_left(condition.without)}"
    for problem in verdict.problems:
        yield f"{path}:{problem.line}: {verdict.composition}: {problem.name}: {_at(problem)}"
    for problem in verdict.warnings:
        yield f"{path}:{problem.line}: {verdict.composition}: warning, {problem.name}: {_at(problem)}"


def _left(without: "Without") -> str:
    witness = without.witness
    if witness is None:
        return "nothing fits"
    binding = ", ".join(f"{name} = {value}" for name, value in witness.binding.items())
    return f"{witness.value}{f' ({binding})' if binding else ''}"


def _at(problem: "Problem") -> str:
    return (
        f"step {problem.step}: {problem.says}"
        if problem.step and "step" not in problem.says
        else problem.says
    )

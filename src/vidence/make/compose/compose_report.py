"""The report of a set of composed questions: each chain with what it names, and who lands where."""

from collections.abc import Iterator, Mapping, Sequence

from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.output import letter_of
from vidence.make.sources.proof import Proof


def report_text(
    name: str,
    drafts: Sequence[Draft],
    proofs: Mapping[str, Proof],
    *,
    account: Account,
    sentences: Sequence[str],
) -> str:
    """The report as Markdown."""
    lines = [f"# {name}", "", *(f"- {one}" for one in sentences), "", "## Stages", ""]
    lines += ["| stage | in | out | dropped |", "|---|---|---|---|"]
    for stage in account.stages:
        dropped = ", ".join(f"{n} {reason}" for reason, n in stage.dropped.items())
        lines.append(f"| {stage.stage} ({stage.unit}) | {stage.n_in} | {stage.n_out} | {dropped} |")
    lines += ["", "## Questions", ""]
    for draft in drafts:
        lines += [*_question(draft, proofs[draft.draft_id]), ""]
    return "\n".join(lines) + "\n"


def _question(draft: Draft, proof: Proof) -> Iterator[str]:
    yield f"### {draft.draft_id}"
    yield ""
    yield draft.question
    yield ""
    chain = " → ".join(f"{name} = {value}" for name, value in proof.binding.items())
    yield f"Right: {letter_of(draft)}, {proof.answer.value}. {chain or 'Nothing is picked.'}"
    yield ""
    yield "| ignored | comes out | somebody who lands there | seen at | right all the same |"
    yield "|---|---|---|---|---|"
    for one in proof.conditions:
        without, witness = one.without, one.without.witness
        values = ", ".join(f"{value} ({n})" for value, n in without.values.items()) or "nothing"
        who = ", ".join(f"{k} = {v}" for k, v in witness.binding.items()) if witness is not None else ""
        at = ", ".join(f"{a:g}-{b:g} s" for a, b in witness.spans) if witness is not None else ""
        yield f"| {one.id} ({one.skill}) | {_cell(values)} | {_cell(who)} | {at} | {without.guess:.2f} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

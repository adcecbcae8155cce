"""The configuration of a composed set; proven compositions as drafts of questions; keys and report."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from vidence.engine.config_file import read_config
from vidence.make.compose.offers import Offer, OptionRules
from vidence.make.compose.quotas import Quota, Strength, skills_of
from vidence.make.compose.search import Composed
from vidence.make.gates.rules import GateRules
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import BY_MODEL, Draft
from vidence.make.pipeline.output import letter_of
from vidence.make.release.made_release import MadeConfig
from vidence.make.sources.composition import Composition
from vidence.make.sources.proof import Proof
from vidence.make.sources.scene import SILVER_TRACKS, Scene
from vidence.records import Evidence, Media, Record

TASK = "compose"


class Key(Record, omit_defaults=True):
    """The answer key of a question, kept out of the public files of a hidden split.

    `option_of` says for each wrong option which conditions somebody ignored who takes it.
    """

    item_id: str
    composition: str
    answer: str
    option_of: dict[str, tuple[str, ...]]
    composition_sha256: str


def finished(composed: Composed, offered: Offer, question: str) -> Composition:
    """Return a composition with its wording, options and answer."""
    return msgspec.structs.replace(
        composed.composition, question=question, options=offered.options, answer=offered.options[0]
    )


def draft_of(
    composed: Composed, proof: Proof, offered: Offer, *, question: str, scene: Scene, benchmark: str
) -> Draft:
    """Return a draft question; the right option is first until letters are spread."""
    header = scene.header
    truth = BY_MODEL if header.truth == "model" else header.truth or "scene facts"
    path = header.video or header.scene
    return Draft(
        draft_id=proof.composition,
        task=TASK,
        structure=f"{proof.logic} {composed.shape}",
        video_id=path,
        question=question,
        choices=tuple(map(str, offered.options)),
        answer_index=0,
        evidence=tuple(_evidence(proof, scene)),
        k=None,
        truth=truth,
        review="identities-by-tracker" if truth == SILVER_TRACKS else "",
        tags=_tags(composed, proof, offered) | ({"category": header.category} if header.category else {}),
        facts={name: str(value) for name, value in proof.binding.items()},
        media=(Media(path=path),),
        source_id=header.source_id,
        benchmark=benchmark,
    )


def _tags(composed: Composed, proof: Proof, offered: Offer) -> dict[str, str]:
    skills = sorted(set(skills_of(composed.composition)))
    tags = {
        "logic": proof.logic,
        "shape": composed.shape,
        "n_conditions": str(len(proof.conditions)),
        "depth": str(proof.depth),
        "skills": ", ".join(skills),
        "answer_type": proof.answer.type,
        "no_witness_option": ", ".join(offered.without_place),
        "no_witness": ", ".join(
            condition.id for condition in proof.conditions if condition.without.witness is None
        ),
    }
    return {name: value for name, value in tags.items() if value}


def _evidence(proof: Proof, scene: Scene) -> Iterator[Evidence]:
    """Return the spans in which the evidence is visible, sorted and distinct."""
    spans: dict[tuple[float, float], list[str]] = {}
    named = [(variable, str(value)) for variable, value in proof.binding.items()]
    for message, name in (*named, *((_COUNTED, name) for name in proof.counted)):
        entity = scene.entities.get(name)
        for span in entity.spans if entity is not None else ():
            of_span = spans.setdefault(span, [])
            of_span += [message] if message not in of_span else []
    for (start_s, end_s), names in sorted(spans.items()):
        yield Evidence(kind="oracle", start_s=start_s, end_s=end_s, note=f"{', '.join(names)} in view")


_COUNTED = "what is counted"


def report_text(
    name: str,
    drafts: Sequence[Draft],
    proofs: Mapping[str, Proof],
    *,
    account: Account,
    sentences: Sequence[str],
) -> str:
    """The report as Markdown."""
    lines = [f"# {name}", "", *(f"- {sentence}" for sentence in sentences), "", "## Stages", ""]
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
    yield "| ignored | result | one binding with that result | seen at | right all the same |"
    yield "|---|---|---|---|---|"
    for condition in proof.conditions:
        without, witness = condition.without, condition.without.witness
        values = ", ".join(f"{value} ({n})" for value, n in without.values.items()) or "nothing"
        who = ", ".join(f"{k} = {v}" for k, v in witness.binding.items()) if witness is not None else ""
        at = ", ".join(f"{a:g}-{b:g} s" for a, b in witness.spans) if witness is not None else ""
        yield (
            f"| {condition.id} ({condition.skill}) | {_cell(values)} | {_cell(who)} | {at} | "
            f"{without.guess:.2f} |"
        )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


class ComposeConfig(MadeConfig, omit_defaults=True):
    """The configuration; paths are relative to its folder.

    `media` is the folder with the videos of scenes, `media_licence` the licence that these are under.
    """

    scenes: tuple[str, ...] | str
    media: str = ""
    media_licence: str = ""
    quota: Quota = Quota()
    need: Strength = Strength()
    options: OptionRules = OptionRules()
    gates: GateRules | None = None

    @property
    def scene_files(self) -> tuple[str, ...]:
        """The files of scenes."""
        return (self.scenes,) if isinstance(self.scenes, str) else self.scenes


def read_compose(path: Path) -> ComposeConfig:
    """The configuration.

    Raises:
        UsageError: as for `read_config`.
        UnknownNameError: ``[gates.blind]`` names a task that there is not.
    """
    read = read_config(path, ComposeConfig)
    if read.gates is not None:
        read.gates.check_hold((TASK,))
    return read

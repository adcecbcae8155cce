"""Proven compositions as drafts of questions: options, evidence, tags; and what belongs to their answers."""

from collections.abc import Iterator

import msgspec

from vidence.make.compose.offers import Offer
from vidence.make.compose.quotas import skills_of
from vidence.make.compose.search import Composed
from vidence.make.pipeline.material import BY_MODEL, Draft
from vidence.make.sources.composition import Composition
from vidence.make.sources.proof import Proof
from vidence.make.sources.scene import SILVER_TRACKS, Scene
from vidence.records import Evidence, Media, Record

TASK = "compose"


class Key(Record, omit_defaults=True):
    """What belongs to the answer of a question and into no public file of a hidden split.

    `option_of` says for each wrong option which conditions somebody ignored who takes it.
    """

    item_id: str
    composition: str
    answer: str
    option_of: dict[str, tuple[str, ...]]
    composition_sha256: str


def finished(one: Composed, offered: Offer, question: str) -> Composition:
    """A composition with its words, its options and its answer."""
    return msgspec.structs.replace(
        one.composition, question=question, options=offered.options, answer=offered.options[0]
    )


def draft_of(
    one: Composed, proof: Proof, offered: Offer, *, question: str, scene: Scene, benchmark: str
) -> Draft:
    """A question on its way through the gates; the right option comes first until the letters are spread."""
    header = scene.header
    truth = BY_MODEL if header.truth == "model" else header.truth or "scene facts"
    path = header.video or header.scene
    return Draft(
        draft_id=proof.composition,
        task=TASK,
        structure=f"{proof.logic} {one.shape}",
        video_id=path,
        question=question,
        choices=tuple(map(str, offered.options)),
        answer_index=0,
        evidence=tuple(_evidence(proof, scene)),
        k=None,
        truth=truth,
        review="identities-by-tracker" if truth == SILVER_TRACKS else "",
        tags=_tags(one, proof, offered) | ({"category": header.category} if header.category else {}),
        facts={name: str(value) for name, value in proof.binding.items()},
        media=(Media(path=path),),
        source_id=header.source_id,
        benchmark=benchmark,
    )


def _tags(one: Composed, proof: Proof, offered: Offer) -> dict[str, str]:
    skills = sorted(set(skills_of(one.composition)))
    found = {
        "logic": proof.logic,
        "shape": one.shape,
        "n_conditions": str(len(proof.conditions)),
        "depth": str(proof.depth),
        "skills": ", ".join(skills),
        "answer_type": proof.answer.type,
        "no_witness_option": ", ".join(offered.without_place),
        "no_witness": ", ".join(one.id for one in proof.conditions if one.without.witness is None),
    }
    return {name: value for name, value in found.items() if value}


def _evidence(proof: Proof, scene: Scene) -> Iterator[Evidence]:
    """When what the answer rests on is in view: one span after the other, each once."""
    spans: dict[tuple[float, float], list[str]] = {}
    named = [(variable, str(value)) for variable, value in proof.binding.items()]
    for said, name in (*named, *((_COUNTED, name) for name in proof.counted)):
        entity = scene.entities.get(name)
        for span in entity.spans if entity is not None else ():
            of_span = spans.setdefault(span, [])
            of_span += [said] if said not in of_span else []
    for (start_s, end_s), names in sorted(spans.items()):
        yield Evidence(kind="oracle", start_s=start_s, end_s=end_s, note=f"{', '.join(names)} in view")


_COUNTED = "what is counted"

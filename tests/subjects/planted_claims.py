"""Questions about planted material, held against the plan that it was drawn from."""

from subjects import kitchen_claims, street_claims
from vidence.make.pipeline.material import Draft
from vidence.make.planted.planted_making import Planted


def is_right(draft: Draft, planted: Planted) -> bool:
    """Whether exactly the choice that a question calls right says what was planted."""
    about = {"task": draft.task, "structure": draft.structure, "choices": draft.choices}
    streets = {street.name: street for street in planted.streets}
    if draft.video_id in streets:
        true = street_claims.true_choices(streets[draft.video_id], draft.question, **about)
    else:
        (kitchen,) = (one for one in planted.kitchens if one.name == draft.video_id)
        true = kitchen_claims.true_choices(kitchen, draft.question, **about)
    return true == tuple(i == draft.answer_index for i in range(len(true)))

"""False scene cards, written by a model: two to five details are changed, listed, and checked."""

import json
from collections.abc import Sequence
from typing import Final, Literal

from vidence.ask.judging.objects import Object, find_objects
from vidence.contracts import Flow
from vidence.make.cards.changing import FEWEST, MOST, FalseText, check_changes
from vidence.make.cards.scenes import read_sentence
from vidence.make.pipeline.material import Change, Dropped, SceneCard
from vidence.make.pipeline.wording import FALSE, SYSTEM, CardWording
from vidence.make.writing.writer import Objection, Piece, tidy, write_all
from vidence.records import Prompt, TextPart

STAGE: Final = "false-scenes"
_KINDS: Final[dict[str, Literal["modification", "addition"]]] = {
    "modification": "modification",
    "modify": "modification",
    "modified": "modification",
    "addition": "addition",
    "add": "addition",
    "added": "addition",
}
SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "the false sentence"},
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["modification", "addition"]},
                    "before": {
                        "type": "string",
                        "description": "words of the first sentence; empty for an addition",
                    },
                    "after": {"type": "string", "description": "the words of the false sentence instead"},
                },
                "required": ["kind", "before", "after"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["text", "changes"],
    "additionalProperties": False,
}


def perturb(
    card: SceneCard, *, others: Sequence[SceneCard], wording: CardWording, writer: str = ""
) -> Flow[SceneCard | Dropped]:
    """Have a false variant of a scene card written by a model.

    What cannot be read, or does not change what it says it changes, is asked for once more.

    Args:
        card: the faithful card.
        others: the cards of the same video; the false one must equal none of them.
        wording: the templates.
        writer: the identity of the model, kept with the card.

    Source: HERBench, section 7.4: modifications and additions, false but plausible.
    Departs: the words are ours; the model lists its changes, and a program checks them (`check_changes`).
    """
    words = wording.fill(
        FALSE, {"text": json.dumps(card.text, ensure_ascii=False), "fewest": FEWEST, "most": MOST}
    )
    prompt = Prompt(
        parts=(TextPart(text=words),),
        system=wording.fill(SYSTEM, {}),
        template=wording.label(FALSE),
        reply_schema=SCHEMA,
    )
    taken = [other.text for other in others]

    def read(said: str) -> FalseText | Objection:
        found = read_false(said)
        if isinstance(found, Objection):
            return found
        return check_changes(card.text, found.text, found.changes, taken=taken) or found

    (piece,) = yield from write_all([Piece(prompt=prompt, read=read)], wording)
    if piece.made is None:
        why = piece.objection or Objection(reason="empty", detail="it holds no words")
        return Dropped(what=false_id(card), stage=STAGE, reason=why.reason, detail=why.detail)
    return false_card(card, piece.made, writer=writer)


def false_id(card: SceneCard) -> str:
    """The id of the false variant of a card.

    >>> false_id(SceneCard(card_id="shot-0001-true", shot_id="shot-0001", text="A."))
    'shot-0001-false'
    """
    return f"{card.card_id.removesuffix('-true')}-false"


def false_card(card: SceneCard, made: FalseText, *, writer: str) -> SceneCard:
    """The false variant of a card, with the frames of the faithful one."""
    return SceneCard(
        card_id=false_id(card),
        shot_id=card.shot_id,
        text=made.text,
        changes=made.changes,
        frames=card.frames,
        writer=writer,
    )


def read_false(said: str) -> FalseText | Objection:
    """The false sentence and its changes in a reply: the last JSON object that has both."""
    try:
        found = [dict(one.value.pairs) for one in find_objects(said)]
    except ValueError as error:
        return Objection(reason="unreadable", detail=f"it cannot be read: {error}")
    whole = [
        one for one in found if isinstance(one.get("text"), str) and isinstance(one.get("changes"), list)
    ]
    if not whole:
        return Objection(reason="unreadable", detail="it holds no JSON object with 'text' and 'changes'")
    text = read_sentence(str(whole[-1]["text"]))
    if isinstance(text, Objection):
        return Objection(reason=text.reason, detail=f"of the false sentence: {text.detail}")
    listed = whole[-1]["changes"]
    changes = [_change(one) for one in listed] if isinstance(listed, list) else []
    for change in changes:
        if isinstance(change, Objection):
            return change
    return FalseText(text=text, changes=tuple(c for c in changes if isinstance(c, Change)))


def _change(written: object) -> Change | Objection:
    if not isinstance(written, Object):
        return Objection(
            reason="unreadable", detail="'changes' must hold objects with kind, before and after"
        )
    fields = dict(written.pairs)
    kind = _KINDS.get(str(fields.get("kind", "")).strip().casefold())
    before, after = fields.get("before"), fields.get("after")
    if before is None:
        before = ""
    if kind is None or not isinstance(before, str) or not isinstance(after, str) or not after.strip():
        return Objection(
            reason="unreadable",
            detail="each change needs a kind (modification or addition), a text 'before' and a text 'after'",
        )
    return Change(kind=kind, before=tidy(before), after=tidy(after))

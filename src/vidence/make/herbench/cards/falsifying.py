"""False scene cards, written by a model: two to five details are changed, listed, and checked."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from vidence.contracts import Flow
from vidence.installation import packaged_schema
from vidence.make.herbench.cards.scenes import read_sentence
from vidence.make.pipeline.lexicon import listed, stand_in, words_in
from vidence.make.pipeline.material import Change, Dropped, SceneCard
from vidence.make.pipeline.wording import FALSE, SYSTEM, CardWording
from vidence.make.pipeline.writer import Objection, WritingTask, in_words, tidy, write_all
from vidence.records import Prompt, TextPart
from vidence.text import json_objects

FEWEST, MOST = 2, 5
_MOST_NAMED: Final = 6


def folded(text: str) -> tuple[str, ...]:
    """Fold a text to lower-case words for comparison."""
    return tuple(word.casefold() for word in words_in(text))


def check_changes(
    faithful: str, false: str, changes: Sequence[Change], *, taken: Sequence[str] = ()
) -> Objection | None:
    """Return what is wrong with a false description; None if valid.

    There are two to five changes. Each `before` stands in the faithful text, each `after` in the false one; a
    change changes words that mean something. With these changes, in any order, and with words of the list
    ``glue`` and plural endings that come or go, the one text becomes the other. It is none of the texts in
    `taken`, and not the faithful one with the parts around an "and" in another order.

    Args:
        faithful: the true sentence.
        false: the changed one.
        changes: what was changed, as its writer says.
        taken: texts of other cards, true ones above all.

    Source: HERBench, section 7.4: 2-5 atomic details are modified or added.
    Departs: the paper only asks the model for this; here a program checks it.
    """
    n_changes = len(changes)
    if not FEWEST <= n_changes <= MOST:
        listed = f"it lists {n_changes} change{'s' * (n_changes != 1)}"
        return Objection(reason="wrong-number-of-changes", detail=f"{listed}; wanted are {FEWEST} to {MOST}")
    old, new = folded(faithful), folded(false)
    if _parts(old) == _parts(new) or new in {folded(text) for text in taken}:
        return Objection(reason="same-as-another", detail="it says what another description says already")
    for change in changes:
        if wrong := _wrong(change, old, new):
            return Objection(reason="change-not-there", detail=wrong)
    if not _explains(old, new, [(folded(c.before), folded(c.after)) for c in changes]):
        return Objection(reason="other-differences", detail=_others(old, new, changes))
    return None


def changes_between(faithful: str, false: str) -> tuple[Change, ...]:
    """Return the changes between two sentences of a person: one per run of differing words.

    Where that is a single change, a run of as many words as before is taken word by word.

    >>> [(c.before, c.after) for c in changes_between("A red coat and two hats.", "A red bag and six hats.")]
    [('coat', 'bag'), ('two', 'six')]
    >>> [(c.before, c.after) for c in changes_between("A small dragon.", "A large horse.")]
    [('small', 'large'), ('dragon', 'horse')]
    """
    old, new = folded(faithful), folded(false)
    parts = [
        (old[i:j], new[m:n])
        for tag, i, j, m, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    if len(parts) < FEWEST and all(len(before) == len(after) for before, after in parts):
        parts = [((a,), (b,)) for before, after in parts for a, b in zip(before, after, strict=True)]
    return tuple(
        Change(kind="modification" if before else "addition", before=" ".join(before), after=" ".join(after))
        for before, after in parts
    )


def _parts(words: tuple[str, ...]) -> list[str]:
    """What stands around each "and", without words that come and go, in one order."""
    return sorted(" ".join(word for word in words if word not in listed("glue") - {"and"}).split(" and "))


def _wrong(change: Change, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    """What is wrong with one change, or nothing."""
    before, after = folded(change.before), folded(change.after)
    if not set(after) - listed("function") - set(before):
        return f"the change to {change.after!r} puts in no word that means something"
    if change.kind == "addition" and before:
        return f"the addition {change.after!r} has a 'before', {change.before!r}; it must be empty"
    if change.kind == "modification":
        if not before:
            return f"the modification to {change.after!r} has an empty 'before'"
        if not stand_in(before, old):
            return f"{change.before!r} does not stand in the first sentence in these words"
    if not stand_in(after, new):
        return f"{change.after!r} does not stand in the false sentence in these words"
    return ""


def _explains(
    old: tuple[str, ...], new: tuple[str, ...], changes: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
) -> bool:
    """Return whether the changes, each used once, and optional words turn `old` into `new`."""
    everything = (1 << len(changes)) - 1

    @cache
    def goes(i: int, j: int, used: int) -> bool:
        if i == len(old) and j == len(new):
            return used == everything
        if i < len(old) and j < len(new) and _same(old[i], new[j]) and goes(i + 1, j + 1, used):
            return True
        if i < len(old) and old[i] in listed("glue") and goes(i + 1, j, used):
            return True
        if j < len(new) and new[j] in listed("glue") and goes(i, j + 1, used):
            return True
        return any(
            not used >> n & 1
            and old[i : i + len(before)] == before
            and new[j : j + len(after)] == after
            and goes(i + len(before), j + len(after), used | 1 << n)
            for n, (before, after) in enumerate(changes)
        )

    return goes(0, 0, 0)


def _same(name: str, other: str) -> bool:
    """Whether two words are the same but for the ending that number asks for."""
    short, long = sorted((name, other), key=len)
    return long in (short, f"{short}s", f"{short}es") and (short == long or len(short) > 2)


def _others(old: tuple[str, ...], new: tuple[str, ...], changes: Sequence[Change]) -> str:
    """Return words of either text that the changes do not explain."""
    others = {word for c in changes for word in (*folded(c.before), *folded(c.after))} | listed("glue")
    gone = [word for word in dict.fromkeys(old) if word not in new and word not in others]
    come = [word for word in dict.fromkeys(new) if word not in old and word not in others]
    if named := ", ".join((gone + come)[:_MOST_NAMED]):
        return f"it also differs in what the list does not name: {named}"
    return "apart from the listed changes the sentences differ in the order or the number of their words"


@dataclass(frozen=True, kw_only=True)
class FalseText:
    """A false description and what was changed."""

    text: str
    changes: tuple[Change, ...]


STAGE: Final = "false-scenes"
_KINDS: Final[dict[str, Literal["modification", "addition"]]] = {
    "modification": "modification",
    "modify": "modification",
    "modified": "modification",
    "addition": "addition",
    "add": "addition",
    "added": "addition",
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
        reply_schema=packaged_schema("vidence.make.herbench.cards", "card_false.schema.json"),
    )
    taken = [other.text for other in others]

    def read(message: str) -> FalseText | Objection:
        result = read_false(message)
        if isinstance(result, Objection):
            return result
        return check_changes(card.text, result.text, result.changes, taken=taken) or result

    (piece,) = yield from write_all([WritingTask(prompt=prompt, read=in_words(read))], wording)
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


def false_card(card: SceneCard, text: FalseText, *, writer: str) -> SceneCard:
    """The false variant of a card, with the frames of the faithful one."""
    return SceneCard(
        card_id=false_id(card),
        shot_id=card.shot_id,
        text=text.text,
        changes=text.changes,
        frames=card.frames,
        writer=writer,
    )


def read_false(message: str) -> FalseText | Objection:
    """The false sentence and its changes in a reply: the last JSON object that has both."""
    whole = [
        json_object
        for json_object in json_objects(message)
        if isinstance(json_object.get("text"), str) and isinstance(json_object.get("changes"), list)
    ]
    if not whole:
        return Objection(reason="unreadable", detail="it holds no JSON object with 'text' and 'changes'")
    text = read_sentence(str(whole[-1]["text"]))
    if isinstance(text, Objection):
        return Objection(reason=text.reason, detail=f"of the false sentence: {text.detail}")
    listed = whole[-1]["changes"]
    changes = [_change(entry) for entry in listed] if isinstance(listed, list) else []
    for change in changes:
        if isinstance(change, Objection):
            return change
    return FalseText(text=text, changes=tuple(c for c in changes if isinstance(c, Change)))


def _change(written: object) -> Change | Objection:
    if not isinstance(written, dict):
        return Objection(
            reason="unreadable", detail="'changes' must hold objects with kind, before and after"
        )
    kind = _KINDS.get(str(written.get("kind", "")).strip().casefold())
    before, after = written.get("before"), written.get("after")
    if before is None:
        before = ""
    if kind is None or not isinstance(before, str) or not isinstance(after, str) or not after.strip():
        return Objection(
            reason="unreadable",
            detail="each change needs a kind (modification or addition), a text 'before' and a text 'after'",
        )
    return Change(kind=kind, before=tidy(before), after=tidy(after))

"""Convert a row of foreign results to a reply, with the other tool's score."""

from collections.abc import Mapping

from vidence.ask.mapping.columns import Row, getter, words_of
from vidence.ask.mapping.mapping import ReplyColumns
from vidence.records import Record

_RIGHT = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
# Under which names tools keep what was read beside what is right, or the score itself.
_PAIRS = (
    ("pred_answer", "answer"),
    ("pred_answer", "gt_answer"),
    ("parsed_pred", "answer"),
    ("pred", "ground_truth"),
)
_SCORES = ("rating", "score", "value", "correct", "accuracy", "acc")


class Recorded(Record, omit_defaults=True):
    """One reply out of a log; with the names of the columns of ``replay:``.

    `correct` is the score that the other tool gave, from 0 to 1; None if the log holds none.
    """

    item_id: str
    sample: int = 0
    text: str
    reasoning: str = ""
    refusal: str = ""
    finish: str = ""
    model: str = ""
    prompt: str = ""
    correct: float | None = None


def score_of(value: object) -> float | None:
    """Return the score from 0 to 1 in a cell; None if it has none.

    >>> score_of(True), score_of("C"), score_of({"pred_answer": "B", "answer": "A"}), score_of("")
    (1.0, 1.0, 0.0, None)
    """
    if isinstance(value, bool | int | float):
        return float(value) if 0 <= value <= 1 else None
    if isinstance(value, str):
        return _RIGHT.get(value.strip().lower())
    if isinstance(value, Mapping):
        # The score first: beside it lmms-eval keeps for MVBench the whole reply as what was read.
        name = next((word for word in _SCORES if word in value), None)
        if name is not None and (score := score_of(value[name])) is not None:
            return score
        for read, right in _PAIRS:
            if read in value and right in value:
                return float(str(value[read]).strip() == str(value[right]).strip())
        return next((score_of(row) for row in value.values() if isinstance(row, Mapping)), None)
    return None


def recorded(row: Row, columns: ReplyColumns, *, item_id: str, sample: int) -> Recorded | None:
    """Return the reply in a row; None if it has none.

    Raises:
        FieldError: a column that is no text.
    """
    value = getter(columns.text)(row)
    if value is None:
        return None
    values = {
        name: words_of(getter(source)(row), source)
        for name in ("reasoning", "refusal", "finish", "model", "prompt")
        if (source := getattr(columns, name))
    }
    values["reasoning"] = values.get("reasoning") or words_of(value, columns.text, kind="reasoning")
    return Recorded(
        item_id=item_id,
        sample=sample,
        text=words_of(value, columns.text),
        correct=score_of(getter(columns.correct)(row)) if columns.correct else None,
        **values,
    )

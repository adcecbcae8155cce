"""Pieces that a model writes: asked for together, once more where that helps, each with its own fate."""

from collections.abc import Sequence

import pytest

from vidence.errors import RejectedRequestError
from vidence.make.pipeline.writer import Doubt, Objection, WritingTask, in_words, write_all
from vidence.records import Prompt, Reply, TextPart

SHORT = Objection(reason="short", detail="write more")
NOTHING = Objection(reason="nothing", detail="nothing is there", is_final=True)


class Wording:
    """Asks again with the problem behind the prompt."""

    def repaired(self, prompt: Prompt, said: str, *, problem: str) -> Prompt:
        return Prompt(parts=(*prompt.parts, TextPart(text=f"not {said!r}: {problem}")))


def read(text: str) -> str | Doubt[str] | Objection:
    match text.split(maxsplit=1)[0]:
        case "short":
            return SHORT
        case "nothing":
            return NOTHING
        case "doubtful":
            return Doubt(made=text, objection=SHORT)
    return text


def piece(name: str) -> WritingTask[str]:
    return WritingTask(prompt=Prompt(parts=(TextPart(text=name),)), read=in_words(read))


def written(
    names: Sequence[str], replies: Sequence[Sequence[Reply | str | RejectedRequestError]]
) -> tuple[list[WritingTask[str]], list[list[str]]]:
    """What becomes of the pieces, and what was asked for in each round."""
    flow, rounds = write_all([piece(name) for name in names], Wording()), []
    wanted, said = next(flow), iter(replies)
    while True:
        rounds.append([prompt.text for prompt in wanted])
        answers = next(said)
        try:
            if isinstance(error := answers[0], RejectedRequestError):
                wanted = flow.throw(error)
            else:
                wanted = flow.send([Reply(text=one) if isinstance(one, str) else one for one in answers])
        except StopIteration as stop:
            return stop.value, rounds


def test_only_what_cannot_be_used_is_asked_for_once_more() -> None:
    (one, two), rounds = written(["a", "b"], [["fine", "short"], ["short"]])
    assert rounds == [["a", "b"], ["b\nnot 'short': write more"]]
    assert (one.made, one.n_tries) == ("fine", 1)
    assert (two.made, two.objection, two.n_tries) == (None, SHORT, 2)


def test_a_rejected_request_is_an_objection_to_its_piece_alone() -> None:
    rejected = RejectedRequestError("too many pictures")
    (one, two), rounds = written(["a", "b"], [[rejected], [rejected], ["fine"]])
    assert rounds == [["a", "b"], ["a"], ["b"]]
    assert one.objection == Objection(reason="request-rejected", detail="too many pictures", is_final=True)
    assert two.made == "fine"


@pytest.mark.parametrize(
    ("second", "made"),
    [
        ("short", "doubtful one"),
        ("better", "better"),
        ("nothing", None),  # it takes back what was written before
        (Reply(text="", finish="refusal"), "doubtful one"),
    ],
)
def test_what_is_doubtful_is_kept_unless_it_is_taken_back(second: str | Reply, made: str | None) -> None:
    (one,), _ = written(["a"], [["doubtful one"], [second]])
    assert one.made == made


@pytest.mark.parametrize(
    ("reply", "reason", "n_tries"),
    [
        (Reply(text="", finish="refusal"), "refused", 1),
        (Reply(text="I'm sorry, I cannot."), "refused", 2),
        (Reply(text="<think>hm</think>"), "empty", 2),
        (Reply(text="A man and", finish="length"), "cut-off", 2),
    ],
)
def test_replies_without_usable_words(reply: Reply, reason: str, n_tries: int) -> None:
    (one,), _ = written(["a"], [[reply], [reply]])
    assert one.objection is not None
    assert (one.objection.reason, one.n_tries) == (reason, n_tries)

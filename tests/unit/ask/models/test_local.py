"""What models share that make up their replies in this process."""

import anyio
import pytest

from servers.model_asks import asking, image_part
from vidence.ask.models.local import LocalModel, check_rule, drawn, images_shown, said
from vidence.contracts import Request
from vidence.errors import RejectedRequestError, UnknownNameError, UsageError
from vidence.records import Record, Reply, TextPart, VideoPart


class Options(Record):
    rule: str
    letter: str | None = None


class Echo(LocalModel):
    identity = "echo"

    async def reply(self, request: Request) -> Reply:
        return said(request.prompt.text, request)


def check(rule: str, letter: str | None = None) -> None:
    spec, options = f"baseline:{rule}", Options(rule=rule, letter=letter)
    check_rule(spec, options, kind="baseline", known=("random", "constant"), options={"letter": "constant"})


def test_a_model_looks_at_images_only_and_has_no_limit_unless_it_says_otherwise() -> None:
    model = Echo()
    assert (model.looks, model.by_item, model.max_in_flight) == (True, False, None)
    assert anyio.run(model.reply, asking()).text == "Which?"
    anyio.run(model.close)
    parts = (TextPart(text="Which?"), image_part("d1"), image_part("d2"))
    assert images_shown(asking(*parts), owner="phantom:fuser") == [*parts[1:]]
    with pytest.raises(RejectedRequestError, match=r"fuser reads images, not a whole video \(a\.mp4\)"):
        images_shown(asking(VideoPart(path="a.mp4", digest="v")), owner="phantom:fuser")
    found = [drawn("ABC", "q", n) for n in range(60)]
    assert found == [drawn("ABC", "q", n) for n in range(60)]
    assert set(found) == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("limit", "text", "finish"),
    [(None, " a\nb  c ", "stop"), (3, " a\nb  c ", "stop"), (2, " a\nb", "length"), (1, " a", "length")],
)
def test_words_are_cut_at_the_limit(limit: int | None, text: str, finish: str) -> None:
    reply = said(" a\nb  c ", asking(max_tokens=limit))
    assert (reply.text, reply.finish) == (text, finish)


def test_a_rule_has_its_own_options_only() -> None:
    check("random")
    check("constant", "c")
    with pytest.raises(UnknownNameError, match="no baseline named 'constnt'"):
        check("constnt")
    with pytest.raises(UsageError, match="baseline:random has no option 'letter'; baseline:constant has it"):
        check("random", "C")
    with pytest.raises(UsageError, match="baseline:constant: letter='CC' is not one letter"):
        check("constant", "CC")

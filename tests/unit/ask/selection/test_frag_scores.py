"""FRAG's scores are asked for frame by frame."""

import math
from pathlib import Path

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.prompting.templates import Templates
from vidence.ask.selection.frag_scores import FragScores
from vidence.contracts import Ask
from vidence.errors import DataError, UsageError
from vidence.records import ImagePart, Item, Reply

ITEM = Item(item_id="q1", question="Who falls?", answer="A", choices=("He", "She"))
WORDS = Templates.load("plain")
IMAGES = [ImagePart(digest=f"{i}" * 64, width_px=8, height_px=8) for i in range(3)]


def make(argument: str = "model:openai:x", **options: str) -> FragScores:
    return catalog.create("selector", catalog.Spec(name="frag-scores", argument=argument, options=options))


def said(*, yes: float | None) -> Reply:
    return Reply(text="A", choice_logps=None if yes is None else {"A": math.log(yes), "B": math.log(1e-3)})


def test_every_frame_is_asked_about_on_its_own_and_all_together() -> None:
    flow = make().ask(ITEM, IMAGES, words=WORDS)
    asks = next(flow)
    assert len(asks) == 3
    for ask, image in zip(asks, IMAGES, strict=True):
        assert isinstance(ask, Ask)
        assert ask.prompt.parts[0] == image
        assert "Who falls?" in ask.prompt.text
        assert "He" not in ask.prompt.text
        assert ask.prompt.letters == ("A", "B")
        assert ask.prompt.template == WORDS.label("frag-scores")
        assert ask.sampling is not None
        assert ask.sampling.want_choice_logps
        assert (ask.sampling.temperature, ask.sampling.max_tokens) == (0.0, 1)
    with pytest.raises(StopIteration) as done:
        flow.send([said(yes=0.2), said(yes=0.9), said(yes=0.5)])
    np.testing.assert_allclose(done.value.value, [0.2, 0.9, 0.5])


def test_the_choices_and_the_words_may_be_others(tmp_path: Path) -> None:
    (ask,) = next(make(query="question+choices").ask(ITEM, IMAGES[:1], words=WORDS))
    assert isinstance(ask, Ask)
    assert "Who falls?\nA. He\nB. She" in ask.prompt.text
    (tmp_path / "frag-scores.txt").write_text("Enough for <{{ question }}>? A. Yes B. No")
    words = Templates.load("plain", override=tmp_path)
    (ask,) = next(make().ask(ITEM, IMAGES[:1], words=words))
    assert isinstance(ask, Ask)
    assert ask.prompt.text == "Enough for <Who falls?>? A. Yes B. No"
    assert ask.prompt.template.startswith("own/frag-scores.txt sha256:")


@pytest.mark.parametrize("reply", [said(yes=None), Reply(text="B", choice_logps={"B": -0.1})])
def test_a_model_without_that_probability_is_refused(reply: Reply) -> None:
    flow = make().ask(ITEM, IMAGES[:1], words=WORDS)
    next(flow)
    with pytest.raises(DataError, match=r"item 'q1': a score is the probability of the letter A.*(none|B)\."):
        flow.send([reply])


def test_candidates_are_up_to_256_uniform_frames() -> None:
    long = timed_clip(np.arange(1024) / 10, fps=10.0)
    assert make().candidates(long).tolist() == list(range(0, 1024, 4))
    assert make().score_rules.embedder == "model:openai:x"
    assert make().models == ("openai:x",)


@pytest.mark.parametrize("argument", ["openai:x", "model:", "models"])
def test_the_argument_names_a_model(argument: str) -> None:
    with pytest.raises(UsageError, match="names no model; expected frag-scores:model:"):
        make(argument)


def test_the_help_names_frags_own_form_and_no_embedder_that_is_refused() -> None:
    settings = catalog.settings_type("selector", "frag-scores")
    assert settings is not None
    (said,) = (one.help for one in catalog.options_of(settings) if one.name == "embedder")
    assert said.startswith("model: the model under test")
    assert "blip" not in said

"""People as models: their answers as they were collected, under a pseudonym."""

import anyio
import pytest

from vidence.catalog import Spec, create
from vidence.contracts import Request
from vidence.engine.specs import short_name, whole_spec
from vidence.errors import DataError, RejectedRequestError, UsageError
from vidence.records import Prompt, Sampling


def person(path, name="P03"):
    return create("model", Spec(name="person", argument=name, options={"answers": str(path)}))


def asking(item_id):
    return Request(item_id=item_id, prompt=Prompt(parts=()), sampling=Sampling(), images={})


def test_a_person_says_what_was_collected_and_is_known_by_name_and_answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"item_id": "q1", "text": "B", "reasoning": "waves"}\n{"item_id": "q2", "text": ""}\n')
    model = person(path)
    assert not model.looks
    assert model.recorded_ids() == {"q1", "q2"}
    reply = anyio.run(model.reply, asking("q1"))
    assert (reply.text, reply.reasoning) == ("B", "waves")
    assert anyio.run(model.reply, asking("q2")).text == ""
    with pytest.raises(RejectedRequestError, match="no recorded reply for item 'q3'"):
        anyio.run(model.reply, asking("q3"))
    first = model.identity
    assert first.startswith("person:P03 replay:")
    assert person(path, "P04").identity != first
    path.write_text('{"item_id": "q1", "text": "C"}\n')
    assert person(path).identity != first


def test_its_spec_has_a_whole_path_and_a_short_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = whole_spec("model", "person:P03?answers=answers.jsonl")
    assert spec == f"person:P03?answers={tmp_path / 'answers.jsonl'}"
    assert short_name(spec) == "person:P03"


def test_a_person_without_a_name_or_answers_is_refused(tmp_path):
    with pytest.raises(UsageError, match="' ' is not a pseudonym; expected a name such as P03"):
        person(tmp_path / "answers.jsonl", " ")
    with pytest.raises(DataError, match=r"answers\.jsonl"):
        person(tmp_path / "answers.jsonl")

"""The schema that a reply is held to is part of what is remembered."""

import hashlib

import msgspec
import pytest

from vidence.contracts import Request
from vidence.engine.memory import memory_key
from vidence.records import ImagePart, Prompt, Sampling, TextPart

PROMPT = Prompt(parts=(ImagePart(digest="d1", width_px=4, height_px=3), TextPart(text="Who?")))


def key(schema: dict[str, object] | None) -> bytes:
    prompt = msgspec.structs.replace(PROMPT, reply_schema=schema)
    request = Request(item_id="q", prompt=prompt, sampling=Sampling())
    return memory_key(request, identity="m", by_item=False)


def test_without_a_schema_the_key_is_what_it_was_before_there_were_schemas():
    sampling = '{"max_tokens":1024,"seed":null,"temperature":0.0,"top_p":null,"want_choice_logps":false}'
    sent = f'["m",{sampling},"",[["image/jpeg","d1"],"Who?"],[],0,""]'
    assert key(None) == hashlib.sha256(sent.encode()).digest()


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "required": ["score"]}])
def test_another_schema_is_another_key(schema: dict[str, object]):
    assert key(schema) not in {key(None), key({"type": "string"})}


def test_the_order_in_which_a_schema_is_written_does_not_count():
    assert key({"a": 1, "b": {"c": 2, "d": 3}}) == key({"b": {"d": 3, "c": 2}, "a": 1})

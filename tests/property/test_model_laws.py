"""What is sent arrives unchanged, and what was recorded is repeated unchanged."""

import base64
import csv
import io
import json
from pathlib import Path

import anyio
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from vidence.ask.files import DataFile
from vidence.ask.models.answers import Server
from vidence.ask.models.chat import ChatDialect, Settings
from vidence.ask.models.replay import Settings as ReplaySettings
from vidence.ask.models.replay import recorded, rows
from vidence.contracts import Request
from vidence.records import ImagePart, Prompt, Sampling, TextPart

# Surrogates cannot be written as UTF-8.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
PARTS = st.lists(TEXTS | st.binary(), min_size=2, max_size=5)


@given(parts=PARTS, system=TEXTS)
def test_words_and_images_arrive_unchanged_and_in_order(parts: list[str | bytes], system: str):
    images = {str(n): part for n, part in enumerate(parts) if isinstance(part, bytes)}
    prompt = Prompt(
        parts=tuple(
            TextPart(text=part)
            if isinstance(part, str)
            else ImagePart(digest=str(n), width_px=1, height_px=1)
            for n, part in enumerate(parts)
        ),
        system=system,
    )
    request = Request(item_id="q", prompt=prompt, sampling=Sampling(), images=images)
    dialect = ChatDialect(Server(address="http://h/v1", key_env="K", key=""), Settings(name="m"))

    async def body_of() -> bytes:
        return b"".join(await dialect.written(request, leave_out=()))

    body = msgspec.json.decode(anyio.run(body_of))
    *before, user = body["messages"]
    assert [message["content"] for message in before] == ([system] if system else [])
    arrived = [
        part["text"]
        if part["type"] == "text"
        else base64.b64decode(part["image_url"]["url"].removeprefix("data:image/jpeg;base64,"))
        for part in user["content"]
    ]
    assert arrived == parts


@given(replies=st.dictionaries(TEXTS.filter(bool), TEXTS, min_size=1, max_size=5))
def test_recorded_replies_come_back_unchanged_from_every_format(replies: dict[str, str]):
    table = [{"item_id": item_id, "text": text} for item_id, text in replies.items()]
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, ["item_id", "text"])
    writer.writeheader()
    writer.writerows(table)
    contents = {
        "a.jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in table),
        "a.json": json.dumps(table),
        "a.csv": written.getvalue(),
    }
    for name, content in contents.items():
        found = [
            recorded(place, row, ReplaySettings(file=name))
            for place, row in rows(DataFile(Path(name), content.encode()))
        ]
        assert {one.item_id: one.reply.text for one in found} == replies

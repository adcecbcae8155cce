"""Under what a reply is remembered: the hash of what was sent."""

import hashlib

import msgspec

from vidence.contracts import Request
from vidence.records import ImagePart, TextPart


def memory_key(request: Request, *, identity: str, by_item: bool) -> bytes:
    """The hash of what is sent: model, way of drawing, words, exact image bytes, schema of the reply, sample.

    Names of templates, positions of frames and the id of the item (unless the model reads it) are
    not sent and do not count. The choices count where their log-probabilities are asked for.
    """
    prompt = request.prompt
    parts: list[object] = []
    for part in prompt.parts:
        match part:
            case TextPart():
                parts.append(part.text)
            case ImagePart():
                parts.append([part.media_type, part.digest])
            case _:
                parts.append({"video": part.digest, "type": part.media_type})
    reads_choices = request.sampling.want_choice_logps or by_item
    sent: list[object] = [
        identity,
        request.sampling,
        prompt.system,
        parts,
        prompt.choices if reads_choices else (),
        request.sample,
        request.item_id if by_item else "",
    ]
    if prompt.reply_schema is not None:  # only then, so that keys of prompts without one stay what they were
        sent.append({"reply_schema": prompt.reply_schema})
    return hashlib.sha256(msgspec.json.encode(sent, order="sorted")).digest()

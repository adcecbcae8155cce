"""Images are turned into base64 once, and the memory for them is bounded."""

import base64
from collections.abc import Iterator, Mapping, Sequence

import anyio
import msgspec

from vidence.ask.models.answers import Server
from vidence.ask.models.chat import ChatDialect, Settings
from vidence.ask.models.images import EncodedMedia, Pieces
from vidence.contracts import Request
from vidence.records import ImagePart, Prompt, Sampling, TextPart


class Counted(Mapping[str, bytes]):
    """Image bytes that count how often they are taken."""

    def __init__(self, images: dict[str, bytes]) -> None:
        self.images = images
        self.n_taken = 0

    def __getitem__(self, digest: str) -> bytes:
        self.n_taken += 1
        return self.images[digest]

    def __contains__(self, digest: object) -> bool:
        return digest in self.images

    def __iter__(self) -> Iterator[str]:
        return iter(self.images)

    def __len__(self) -> int:
        return len(self.images)


def request_for(images: Mapping[str, bytes], media_type: str = "image/jpeg") -> Request:
    parts = [ImagePart(digest=d, width_px=8, height_px=8, media_type=media_type) for d in images]
    prompt = Prompt(parts=(*parts, TextPart(text='say "hé"')))
    return Request(item_id="q", prompt=prompt, sampling=Sampling(), images=images)


def encode(request: Request, media: EncodedMedia) -> list[bytes]:
    """The images of a request, as JSON strings."""
    media.next_request()
    return [media.of_image(part, request) for part in request.prompt.parts if isinstance(part, ImagePart)]


def test_an_image_is_encoded_once_for_many_requests():
    images = Counted({"a": b"1" * 100, "b": b"2" * 100})
    media = EncodedMedia()
    first = encode(request_for(images), media)
    assert images.n_taken == 2
    again = encode(request_for(images), media)
    assert images.n_taken == 2
    assert [a is b for a, b in zip(first, again, strict=True)] == [True, True]
    assert first[0] == b'"data:image/jpeg;base64,' + base64.b64encode(b"1" * 100) + b'"'
    [other] = encode(request_for({"a": b"1" * 100}, "image/png"), media)
    assert other.startswith(b'"data:image/png;base64,')
    assert encode(request_for({"a": b"1"}), EncodedMedia(as_url=False)) == [b'"MQ=="']
    small = EncodedMedia(max_bytes=10)
    assert encode(request_for({"a": b"1" * 100}), small) == [first[0]]
    assert small.n_bytes == 0


def test_a_body_holds_what_was_encoded_without_a_copy():
    server = Server(address="http://h/v1", key_env="K", key="")
    dialect = ChatDialect(server, Settings(name="m"))
    request = request_for({"a": b"1" * 100})

    async def body() -> Sequence[bytes]:
        return await dialect.written(request, leave_out=())

    (before, image, behind), (_, again, _) = (anyio.run(body) for _ in range(2))
    assert again is image
    assert before.endswith(b"[")
    assert image.startswith(b'{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,')
    assert behind.startswith(b'{"type":"text"')
    content = msgspec.json.decode(before + image + behind)["messages"][0]["content"]
    assert content[1] == {"type": "text", "text": 'say "hé"'}
    pieces = Pieces()
    body = {"a": pieces.mark(b'"one"'), "b": [pieces.mark(b'"two"'), "\x00"]}
    assert pieces.of(body) == (b'{"a":', b'"one"', b',"b":[', b'"two"', b',"\\u0000"]}')


def test_images_of_a_list_bring_their_commas_but_the_last_of_all():
    pieces = Pieces()
    images = [b'{"url":"one"},', b'{"url":"two"},']
    sent = pieces.of({"content": [pieces.mark(image) for image in images], "n": 2})
    assert sent == (b'{"content":[', images[0], b'{"url":"two"}', b'],"n":2}')


def test_the_memory_is_bounded_and_forgets_what_was_not_used():
    images = {name: bytes([n]) * 300 for n, name in enumerate("abc")}
    one_url = len(base64.b64encode(images["a"])) + len('"data:image/jpeg;base64,"')
    media = EncodedMedia(max_bytes=2 * one_url)
    asked = {name: Counted({name: content}) for name, content in images.items()}
    for name in ("a", "b", "a", "c", "a", "b"):
        encode(request_for(asked[name]), media)
        assert media.n_bytes <= 2 * one_url
    assert {name: counted.n_taken for name, counted in asked.items()} == {"a": 1, "b": 2, "c": 1}
    media = EncodedMedia(max_requests=2)
    asked = {name: Counted({name: name.encode() * 300}) for name in "abc"}
    for name in ("a", "b", "a", "c", "c", "a", "b"):
        encode(request_for(asked[name]), media)
    assert {name: counted.n_taken for name, counted in asked.items()} == {"a": 2, "b": 2, "c": 1}
    one_url = len(base64.b64encode(b"a" * 300)) + len('"data:image/jpeg;base64,"')
    assert media.n_bytes == 3 * one_url

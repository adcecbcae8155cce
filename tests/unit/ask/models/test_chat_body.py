"""Images are turned into data URLs once, and the memory for them is bounded."""

import base64
from collections.abc import Iterator, Mapping

import anyio
import msgspec

from vidence.ask.models._chat_body import BodyRules, chat_body
from vidence.ask.models._data_urls import DataUrls
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


def body_of(request: Request, urls: DataUrls) -> dict[str, object]:
    rules = BodyRules(model="m", max_tokens_field="max_tokens")
    return msgspec.json.decode(b"".join(anyio.run(chat_body, request, rules, urls)))


def test_an_image_is_encoded_once_for_many_requests():
    images = Counted({"a": b"1" * 100, "b": b"2" * 100})
    urls = DataUrls()
    first = body_of(request_for(images), urls)
    assert images.n_taken == 2
    assert body_of(request_for(images), urls) == first
    assert images.n_taken == 2
    assert first["messages"][0]["content"][2] == {"type": "text", "text": 'say "hé"'}


def test_requests_about_the_same_image_share_its_url():
    urls, rules = DataUrls(), BodyRules(model="m", max_tokens_field="max_tokens")
    request = request_for({"a": b"1" * 100})
    bodies = [anyio.run(chat_body, request, rules, urls) for _ in range(2)]
    (before, url, behind), (_, again, _) = bodies
    assert again is url
    assert url == b'"data:image/jpeg;base64,' + base64.b64encode(b"1" * 100) + b'"'
    assert before.endswith(b'"url":')
    assert behind.startswith(b"}")


def test_the_memory_is_bounded_and_forgets_the_image_not_used_for_longest():
    images = {name: bytes([n]) * 300 for n, name in enumerate("abc")}
    one_url = len(base64.b64encode(images["a"])) + len('"data:image/jpeg;base64,"')
    urls = DataUrls(max_bytes=2 * one_url)
    asked = {name: Counted({name: content}) for name, content in images.items()}
    for name in ("a", "b", "a", "c", "a", "b"):
        body_of(request_for(asked[name]), urls)
        assert urls.n_bytes <= 2 * one_url
    assert {name: counted.n_taken for name, counted in asked.items()} == {"a": 1, "b": 2, "c": 1}


def test_an_image_that_the_last_requests_did_not_carry_is_forgotten():
    urls = DataUrls(max_requests=2)
    asked = {name: Counted({name: name.encode() * 300}) for name in "abc"}
    for name in ("a", "b", "a", "c", "c", "a", "b"):
        body_of(request_for(asked[name]), urls)
    assert {name: counted.n_taken for name, counted in asked.items()} == {"a": 2, "b": 2, "c": 1}
    one_url = len(base64.b64encode(b"a" * 300)) + len('"data:image/jpeg;base64,"')
    assert urls.n_bytes == 3 * one_url


def test_an_image_larger_than_the_memory_is_sent_and_not_kept():
    urls = DataUrls(max_bytes=10)
    content = body_of(request_for({"a": b"x" * 99}), urls)["messages"][0]["content"]
    assert content[0]["image_url"]["url"].endswith(base64.b64encode(b"x" * 99).decode())
    assert urls.n_bytes == 0


def test_the_same_bytes_under_another_media_type_are_another_url():
    urls = DataUrls()
    for media_type in ("image/jpeg", "image/png"):
        content = body_of(request_for({"a": b"x"}, media_type), urls)["messages"][0]["content"]
        assert content[0]["image_url"]["url"] == f"data:{media_type};base64,eA=="

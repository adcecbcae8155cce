"""Batches without a run: limits, notes of earlier processes, batches that are gone."""

import anyio
import pytest

from servers.batch_api import BatchApi, MessageBatchApi
from servers.openai_stub import Canned, OpenAIStub
from vidence.ask.models import batch_apis, batches
from vidence.ask.models.answers import Server
from vidence.ask.models.batches import Batches
from vidence.ask.models.http import Caller
from vidence.errors import LaterError, RejectedRequestError, StoreError

BODIES = [f'{{"n":{n}}}'.encode() for n in range(5)]


@pytest.fixture
def api():
    return BatchApi()


@pytest.fixture
def tried(tmp_path, request):
    """Work with one client of `api` after the other, as processes would; what they said comes back."""

    def go(*works, api=None):
        said = []
        api = api or request.getfixturevalue("api")
        is_of_messages = isinstance(api, MessageBatchApi)

        async def main(work, address):
            address = address.removesuffix("/v1") if is_of_messages else address
            caller = Caller(Server(address=address, key="", key_env="NONE"), headers={})
            kind = batch_apis.MessageBatches if is_of_messages else batch_apis.OpenAIBatches
            client = Batches(
                kind(caller, path="/chat/completions"),
                server=address,
                folder=tmp_path,
                say=said.append,
                poll_s=0.01,
            )
            try:
                await work(client)
            finally:
                await client.close()

        with OpenAIStub(canned_for=api) as server:
            for work in works:
                anyio.run(main, work, server.base_url)
        return said

    return go


def collect(client, bodies=BODIES):
    for body in bodies:
        with pytest.raises(LaterError):
            client.answer([body], sample=0)


def test_a_file_has_so_many_requests_and_bytes_at_most(tried, api, monkeypatch):
    async def work(client):
        monkeypatch.setattr(batch_apis.OpenAIBatches, "most_asks", 2)
        collect(client, BODIES + BODIES)  # the same is asked once
        assert await client.wave() == 5
        for body in BODIES:
            assert client.answer([body], sample=0).is_success
        monkeypatch.setattr(batch_apis.OpenAIBatches, "most_each", 300)
        with pytest.raises(
            RejectedRequestError, match=r"in a batch it may have 0\.0003 MB; ask it without --batch"
        ):
            client.answer([b"0" * 300], sample=0)

    tried(work)
    assert sorted(map(len, api.files.values())) == [1, 2, 2]


def test_samples_are_asked_apart_and_an_answer_is_given_once(tried, api):
    async def work(client):
        for sample in (0, 1):
            with pytest.raises(LaterError):
                client.answer([BODIES[0]], sample=sample)
        await client.wave()
        assert client.answer([BODIES[0]], sample=1).is_success
        with pytest.raises(LaterError):
            client.answer([BODIES[0]], sample=1)

    tried(work)
    assert len(set(api.asked)) == 2


def test_a_batch_that_the_server_does_not_know_any_more_is_sent_again(tried, api):
    async def first(client):
        api.is_open = True
        collect(client)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.wave)
            while not api.made:
                await anyio.sleep(0.01)
            await anyio.sleep(0.3)  # until its id is noted
            tasks.cancel_scope.cancel()

    async def second(client):
        api.is_open, api.made[0]["id"] = False, "batch-9"
        collect(client)
        await client.wave()
        collect(client)
        await client.wave()
        assert client.answer([BODIES[0]], sample=0).is_success

    said = tried(first, second)
    assert any("no longer knows batch batch-0" in words for words in said)
    assert len(api.made) == 2


class Unmade(MessageBatchApi):
    """The first batch is not made at all."""

    def __call__(self, seen):
        if seen.method == "POST" and self.has_lost:
            self.has_lost = False
            return Canned(status=500)
        return super().__call__(seen)


@pytest.mark.parametrize("kind", [MessageBatchApi, Unmade])
def test_a_batch_of_others_with_our_size_is_left_and_ours_is_found_or_sent_again(tried, tmp_path, kind):
    api = kind(has_lost=True)
    for name in ("theirs", "another"):
        api.files[name] = [{"custom_id": f"{name}-{n}", "params": {}} for n in range(len(BODIES))]
        api.made.append(api._batch(name, n_left=0))

    async def work(client):
        collect(client)
        await client.wave()
        if kind is Unmade:
            collect(client)
            await client.wave()
        for body in BODIES:
            assert client.answer([body], sample=0).is_success
        client.settle()

    said = tried(work, api=api)
    assert [words.split()[1] for words in said if "requests of another run" in words] == ["theirs", "another"]
    assert len(api.made) == 3
    assert not [*tmp_path.glob("*.json")]


def test_a_request_without_an_answer_is_not_sent_for_ever(tried, api):
    async def work(client):
        for _ in range(batches.MOST_TRIES):
            api.n_expired = 1  # of the first file only
            api.made.clear()
            api.files.clear()
            collect(client, BODIES[:2])
            await client.wave()
            assert client.answer([BODIES[1]], sample=0).is_success
            client.settle()
        with pytest.raises(RejectedRequestError, match="had no answer in 3 batches"):
            client.answer([BODIES[0]], sample=0)

    tried(work)


def test_a_note_that_cannot_be_read_is_said(tried, tmp_path):
    (tmp_path / "vidence-1.json").write_text("{")

    async def work(client):
        """Not reached."""

    with pytest.raises(StoreError, match=r"cannot be read: .*; their requests are paid for"):
        tried(work)

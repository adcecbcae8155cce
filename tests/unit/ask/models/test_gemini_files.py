"""`gemini:` and whole videos: in the request, or through the File API."""

from pathlib import Path

import anyio
import pytest

from servers.gemini_stub import GeminiStub, StoredFile, blob_bytes, refusal
from servers.model_asks import ask, asking, maker
from servers.openai_stub import Canned, Seen
from vidence.ask.models.http import HttpModel
from vidence.catalog import parse_spec
from vidence.errors import AccessError, RejectedRequestError, TransientModelError
from vidence.records import Reply, TextPart, VideoPart

BYTES = bytes(range(256)) * 40
LONG = bytes(range(256)) * 40_000  # 10 MB: more than one piece of the upload

create = maker("model", "gemini")


def model_for(server: GeminiStub, options: str = "inline_mb=0") -> HttpModel:
    spec = parse_spec(f"gemini:tiny?base_url={server.base_url}&timeout_s=10&poll_s=0.01&{options}")
    return create(spec.argument, spec.options)


def video(folder: Path, name: str = "clip.mp4", content: bytes = BYTES, digest: str = "") -> VideoPart:
    path = folder / name
    path.write_bytes(content)
    return VideoPart(path=str(path), digest=digest or f"digest of {name}")


def starts(server: GeminiStub) -> int:
    """How many uploads were begun."""
    return sum(s.path.startswith("/upload/") and s.path.endswith("/files") for s in server.requests)


def together(model: HttpModel, *parts: VideoPart) -> list[Reply]:
    """The replies about these videos, all asked for at once."""
    replies: list[Reply] = []

    async def one(part: VideoPart) -> None:
        replies.append(await model.reply(asking(part)))

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for part in parts:
                group.start_soon(one, part)
        await model.close()

    anyio.run(all_of_them)
    return replies


def test_a_small_video_goes_in_the_request_to_the_byte(tmp_path: Path):
    part = video(tmp_path)
    with GeminiStub(answer="B") as server:
        [reply] = ask(model_for(server, "video_fps=2.5"), asking(part, TextPart(text="Which?")))
    assert reply.text == "B"
    [first, second] = server.asked[0]["contents"][0]["parts"]
    assert first["inlineData"]["mimeType"] == "video/mp4"
    assert blob_bytes(first) == BYTES
    assert first["videoMetadata"] == {"fps": 2.5}
    assert second == {"text": "Which?"}
    assert server.n_requests == 1
    exactly, above = video(tmp_path, "a.mp4", b"x" * 10_000), video(tmp_path, "b.mp4", b"x" * 10_001)
    with GeminiStub() as server:
        ask(model_for(server, "inline_mb=0.01"), asking(exactly), asking(above))
    sent = [body["contents"][0]["parts"][0].keys() for body in server.asked]
    assert ["inlineData" in keys for keys in sent] == [True, False]
    assert "videoMetadata" not in sent[0] | sent[1]


@pytest.mark.parametrize("options", ["inline_mb=14", "inline_mb=0"])
def test_a_video_that_cannot_be_read_is_a_rejected_request(tmp_path: Path, options: str):
    part = VideoPart(path=str(tmp_path / "gone.mp4"), digest="d")
    folder = VideoPart(path=str(tmp_path), digest="e")
    with GeminiStub() as server:
        for broken in (part, folder):
            with pytest.raises(RejectedRequestError, match="cannot be read"):
                ask(model_for(server, options), asking(broken))
    assert server.n_requests == 0


def test_a_large_video_is_uploaded_waited_for_and_deleted(tmp_path: Path):
    part = video(tmp_path, "Müller privat.mp4", LONG)
    with GeminiStub(processing=3) as server:
        ask(model_for(server, "inline_mb=1&video_fps=2"), asking(part))
    [file] = server.files.values()
    assert file.content == LONG
    assert (file.mime_type, file.is_deleted) == ("video/mp4", True)
    assert len(server.uploads) == 2
    [sent] = server.asked[0]["contents"][0]["parts"]
    assert sent["fileData"] == {"fileUri": f"{server.base_url}/v1/files/f0", "mimeType": "video/mp4"}
    assert sent["videoMetadata"] == {"fps": 2.0}
    assert not [s for s in server.requests if "ller privat" in str(s.headers) + str(s.raw)]


def test_a_file_that_many_questions_need_at_once_is_uploaded_once(tmp_path: Path):
    same = video(tmp_path)
    again = video(tmp_path, "copy.mp4", digest=same.digest)
    other = video(tmp_path, "other.mp4", b"other")
    with GeminiStub(answer="B", processing=2, latency_s=0.05) as server:
        replies = together(model_for(server), same, again, same, other, same)
    assert [r.text for r in replies] == ["B"] * 5
    assert starts(server) == 2
    assert sorted(len(f.content) for f in server.files.values()) == [len(b"other"), len(BYTES)]
    assert all(f.is_deleted for f in server.files.values())


def test_the_bytes_go_to_the_address_that_is_asked_whatever_the_server_calls_itself(tmp_path: Path):
    file = StoredFile(name="files/f0", mime_type="video/mp4", size=len(BYTES))

    def start(seen: Seen) -> Canned | None:
        if not seen.path.startswith("/upload/v1/files"):
            return None
        address = "https://internal.example/upload/session/f0"
        return Canned(status=200, body=b"", headers={"X-Goog-Upload-URL": address})

    with GeminiStub(answer="B", canned_for=start) as server:
        server.files["files/f0"] = file
        assert ask(model_for(server), asking(video(tmp_path)))[0].text == "B"
    assert file.content == BYTES


def test_a_file_that_expires_or_is_lost_is_uploaded_again(tmp_path: Path):
    part = video(tmp_path)
    with GeminiStub(expires="2020-01-01T00:00:00Z") as server:
        ask(model_for(server), *[asking(part)] * 2)
    assert starts(server) == 2
    assert all(f.is_deleted for f in server.files.values())
    part = video(tmp_path)

    async def lose(model: HttpModel, server: GeminiStub) -> str:
        await model.reply(asking(part))
        server.files["files/f0"].is_deleted = True
        with pytest.raises(TransientModelError, match=r"403.*uploaded again at the next try"):
            await model.reply(asking(part))
        reply = await model.reply(asking(part))
        await model.close()
        return reply.text

    with GeminiStub(answer="B") as server:
        assert anyio.run(lose, model_for(server), server) == "B"
    assert starts(server) == 2


def test_who_comes_after_a_request_that_was_given_up_does_not_upload_again(tmp_path: Path):
    part = video(tmp_path)

    async def give_up_first(model: HttpModel, server: GeminiStub) -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(model.reply, asking(part))
            while not server.files or not server.files["files/f0"].content:
                await anyio.sleep(0.01)
            await anyio.sleep(0.05)  # the upload is done, the server is not
            group.cancel_scope.cancel()
        server.files["files/f0"].left = 0
        reply = await model.reply(asking(part))
        await model.close()
        return reply.text

    with GeminiStub(answer="B", processing=10**9) as server:
        assert anyio.run(give_up_first, model_for(server), server) == "B"
    assert starts(server) == 1


def test_a_video_that_the_server_cannot_process_is_uploaded_once_and_rejected_each_time(tmp_path: Path):
    part = video(tmp_path)

    async def twice(model: HttpModel) -> None:
        for _ in range(2):
            with pytest.raises(RejectedRequestError, match=r"could not process .*clip\.mp4: no video stream"):
                await model.reply(asking(part))
        await model.close()

    with GeminiStub(file_fails="no video stream", processing=1) as server:
        anyio.run(twice, model_for(server))
    assert starts(server) == 1
    assert server.asked == []
    assert server.files["files/f0"].is_deleted


def test_the_wait_has_an_end_and_what_cannot_be_deleted_does_not_spoil_it(tmp_path, caplog):
    with GeminiStub(processing=10**9) as server:
        model = model_for(server, "inline_mb=0&upload_timeout_s=1")
        with pytest.raises(TransientModelError, match=r"within 1 s.*upload_timeout_s=SECONDS"):
            ask(model, asking(video(tmp_path)))
    assert server.files["files/f0"].is_deleted

    def choose(seen: Seen) -> Canned | None:
        return Canned(status=500) if seen.method == "DELETE" else None

    with GeminiStub(answer="B", canned_for=choose) as server:
        assert ask(model_for(server), asking(video(tmp_path)))[0].text == "B"
    assert "files/f0 was not deleted" in caplog.text


START, SESSION, FILE = "/upload/v1/files", "/upload/session/f0", "/v1/files/f0"
AGAIN = TransientModelError


def uploaded(status: str, body: bytes = b"{}") -> Canned:
    return Canned(status=200, body=body, headers={"X-Goog-Upload-Status": status})


@pytest.mark.parametrize(
    ("path", "canned", "kind", "words"),
    [
        (START, Canned(status=403), AccessError, "403"),
        (START, Canned(status=400, body=refusal(400, "I", "too big")), RejectedRequestError, "too big"),
        (START, Canned(status=200, body=b"{}"), AGAIN, "no address for the upload"),
        (SESSION, Canned(status=500), AGAIN, "500"),
        (SESSION, uploaded("cancelled"), AGAIN, "not finalized"),
        (
            SESSION,
            uploaded("final"),
            AGAIN,
            "no uploaded file.*is .* the address of an API with the File API",
        ),
        (SESSION, uploaded("final", b'{"file": {}}'), AGAIN, "without name or uri"),
        (SESSION, Canned(status=200, body=b"{}", drop=True), AGAIN, "broke"),
        (FILE, Canned(status=404), AGAIN, "404.*uploaded again"),
        (FILE, Canned(status=200, body=b"nothing"), AGAIN, "not JSON.*nothing"),
        (FILE, Canned(status=200, body=b'{"name": "f", "state": "ACTIVE"}'), AGAIN, "without name or uri"),
    ],
)
def test_what_goes_wrong_on_the_way_is_said_once_and_can_be_tried_again(tmp_path, path, canned, kind, words):
    left = [canned]

    def choose(seen: Seen) -> Canned | None:
        is_it = seen.path.partition("?")[0] == path and seen.method != "DELETE"
        return left.pop() if is_it and left else None

    part = video(tmp_path)

    async def twice(model: HttpModel) -> str:
        with pytest.raises(kind, match=words):
            await model.reply(asking(part))
        reply = await model.reply(asking(part))
        await model.close()
        return reply.text

    with GeminiStub(answer="B", processing=1, canned_for=choose) as server:
        assert anyio.run(twice, model_for(server)) == "B"
        assert left == []

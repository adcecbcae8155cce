"""Pages of this process without a server: cookies are kept, and a body can go into a file."""

import anyio

from vidence.studio.viewer.page_client import Asker


def application(said):
    """Answers each request with its cookie and its address, in two pieces, and gives a cookie."""

    async def answer(scope, receive, send):
        said.append(await receive())
        headers = dict(scope["headers"])
        status = 404 if scope["path"] == "/absent" else 200
        await send(
            {"type": "http.response.start", "status": status, "headers": [(b"Set-Cookie", b"a=1; Path=/")]}
        )
        body = headers.get(b"cookie", b"none") + b" " + scope["path"].encode() + b"?" + scope["query_string"]
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"."})

    return answer


def test_the_cookie_of_one_answer_goes_with_the_next_question():
    said = []
    asker = Asker(application(said))
    first, second = anyio.run(asker.get, "/a%20b?c=%2F"), anyio.run(asker.get, "/d")
    assert (first.status, first.body) == (200, b"none /a b?c=%2F.")
    assert second.body == b"a=1 /d?."
    assert said[0] == {"type": "http.request", "body": b"", "more_body": False}


def test_a_good_body_goes_into_a_file_and_a_bad_one_does_not(tmp_path):
    asker, path = Asker(application([])), tmp_path / "body"

    async def ask(address):
        return await asker.get(address, into=path)

    assert anyio.run(ask, "/x").body == b""
    assert path.read_bytes() == b"none /x?."
    path.unlink()
    assert anyio.run(ask, "/absent").body == b"a=1 /absent?."
    assert not path.exists()

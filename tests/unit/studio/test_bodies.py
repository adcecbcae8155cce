"""Bodies that are too long: refused by the length they say, and where they say none, once they are."""

import asyncio

from django.core.files.uploadedfile import SimpleUploadedFile

from vidence.studio.bodies import MOST_BYTES, with_limit


def asked(pieces, *headers):
    """What an application that reads everything gets and answers, as the browser sees it."""
    given, sent = [], []
    waiting = [{"type": "http.request", "body": one, "more_body": True} for one in pieces]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive():
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    async def application(scope, receive, send):
        while (message := await receive())["type"] == "http.request":
            given.append(len(message["body"]))
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    asyncio.run(with_limit(application)({"type": "http", "headers": list(headers)}, receive, send))
    return sum(given), [one["status"] for one in sent if "status" in one], len(waiting)


def test_what_says_that_it_is_too_long_is_not_read():
    said = (b"content-length", str(2**30).encode())
    assert asked([b"x"] * 3, said) == (0, [413], 4)


def test_what_says_nothing_is_read_as_far_as_a_form_may_be_long():
    piece = b"x" * 2**20
    assert asked([piece] * 9) == (MOST_BYTES, [413], 7)
    assert asked([piece] * 2) == (MOST_BYTES, [200], 0)


def test_no_page_takes_a_file(team):
    project = team.project("films")
    team.user("Olga", "operator", project=project.slug)
    client = team.signed_in("Olga")
    sent = {"act": "add", "source": SimpleUploadedFile("a.html", b"<script>", content_type="video/mp4")}
    assert client.post("/projects/films/guidelines", sent).status_code == 400

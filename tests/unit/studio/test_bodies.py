"""Bodies that are too long, or no forms: refused in words, and nothing is kept of them."""

import asyncio

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from vidence.studio.bodies import MOST_BYTES, with_limit
from vidence.studio.records.people import GuidelineRow


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


def test_too_long_a_body_is_not_read():
    said = (b"content-length", str(2**30).encode())
    assert asked([b"x"] * 3, said) == (0, [413], 4)
    piece = b"x" * 2**20
    assert asked([piece] * 9) == (MOST_BYTES, [200], 7)  # the browser is gone for the application
    assert asked([piece] * 2) == (MOST_BYTES, [200], 0)


MULTIPART = "multipart/form-data; boundary=b"
FORM = "application/x-www-form-urlencoded"


def parts(n):
    return (
        b"".join(b'--b\r\nContent-Disposition: form-data; name="f%d"\r\n\r\nx\r\n' % i for i in range(n))
        + b"--b--\r\n"
    )


def test_forms_of_too_many_parts_or_with_files_are_refused(team):
    team.user("Olga", "operator", project=team.project("films").slug)
    client = team.signed_in("Olga")
    for kind, body in [
        (MULTIPART, parts(10_000)),
        (FORM, b"&".join(b"f%d=x" % i for i in range(10_000))),
        (MULTIPART, b"--b\r\nContent-Disposition: form-data"),
        ("multipart/form-data", parts(1)),
        ("multipart/form-data; boundary=" + "b" * 1000, parts(1)),
    ]:
        answer = client.post("/projects/films/guidelines", body, content_type=kind)
        assert answer.status_code in {400, 403}
    sent = {"act": "add", "source": SimpleUploadedFile("a.html", b"<script>", content_type="video/mp4")}
    assert client.post("/projects/films/guidelines", sent).status_code == 400


@pytest.mark.parametrize("value", [b"%FF%FEa", b"\xff\xfea", b"%ED%A0%80a", b"%00a", b"%F8%88%80%80%80a"])
def test_what_is_no_text_is_refused_or_kept_as_signs_that_can_be_read(team, value):
    """Postgres takes no NUL in a text."""
    project = team.project("films")
    team.user("Olga", "operator", "author", project=project.slug)
    client = team.signed_in("Olga")
    for path, name in (("/projects/films/guidelines", b"source"), ("/projects/films/new/", b"title")):
        answer = client.post(path, b"act=add&%b=%b" % (name, value), content_type=FORM)
        assert answer.status_code < 500, path
        assert answer.status_code == 400 or value != b"%00a"
    assert "\x00" not in "".join(GuidelineRow.objects.values_list("source", flat=True))

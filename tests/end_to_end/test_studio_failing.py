"""A server that fails prints nothing that was planted, and a run on a read-only disk is shown."""

import http.client
import re
import resource
import sqlite3
import urllib.parse
from contextlib import closing, contextmanager

PASSWORD = "planted-password-4711"  # noqa: S105 - of tests
WORDS = "planted-words-4712"


def ask(port, path, *, form=None, cookie=""):
    """One request; its status, page and cookie."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}"}
    body = None
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urllib.parse.urlencode(form)
    with closing(connection):
        connection.request("GET" if form is None else "POST", path, body=body, headers=headers)
        answer = connection.getresponse()
        kept = dict(one.split("=", 1) for one in cookie.split("; ") if one)
        new = (one.partition(";")[0].split("=", 1) for one in answer.headers.get_all("Set-Cookie", ()))
        said = "; ".join(f"{name}={value}" for name, value in (kept | dict(new)).items())
        return answer.status, answer.read().decode(), said


def token(page):
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]


@contextmanager
def no_file_grows(process):
    """A disk that takes nothing: a process that may write no byte into any file."""
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)


def signs_in_and_out(port):
    """Where nothing can be written: refused, signed in, at work, signed out; the cookie of then."""
    _, page, cookie = ask(port, "/sign-in")
    form = {"csrfmiddlewaretoken": token(page), "username": "Ada", "password": "wrong password"}
    assert ask(port, "/sign-in", form=form, cookie=cookie)[0] == 403
    status, _, copy = ask(port, "/sign-in", form=form | {"password": PASSWORD}, cookie=cookie)
    assert status == 302
    status, page, _ = ask(port, "/health", cookie=copy)
    assert (status, "happened 2 times" in page) == (200, True)
    form = {"csrfmiddlewaretoken": token(page)}
    assert ask(port, "/sign-out", form=form, cookie=copy)[0] == 302
    return copy


def test_a_server_that_fails_prints_and_shows_no_secret(vidence):
    (vidence.folder / "team").mkdir()
    (vidence.folder / "team").chmod(0o755)
    done = vidence.apart("studio", "project", "team", "films", "--protocol", "mmvu")
    assert (done.code, "others could read it" in done.err) == (0, True)
    for path in (vidence.folder / "team").glob("*.sqlite3"):
        path.chmod(0o644)
    add = ("studio", "user", "add", "team", "Ada", "--roles", "author,operator", "--project", "films")
    assert vidence.apart(*add, "--password-stdin", said=f"{PASSWORD}\n").code == 0
    served = vidence.start("studio", "serve", "team", "--port", "0")
    pages = []
    try:
        port = int(re.search(r":(\d+)/", served.stdout.readline())[1])
        _, page, cookie = ask(port, "/sign-in")
        form = {"csrfmiddlewaretoken": token(page), "username": "Ada", "password": PASSWORD}
        status, _, cookie = ask(port, "/sign-in", form=form, cookie=cookie)
        assert status == 302
        status, page, cookie = ask(port, "/projects/films/guidelines", cookie=cookie)
        assert status == 200
        form = {"csrfmiddlewaretoken": token(page), "act": "add", "source": WORDS}
        assert vidence.apart("studio", "backup", "team").code == 0
        kept = [vidence.folder / "team", *(vidence.folder / "team").rglob("*")]
        assert {"studio.sqlite3-wal", "studio.sqlite3-shm", "secret"} <= {path.name for path in kept}
        assert [path for path in kept if path.stat().st_mode & 0o077] == []
        with no_file_grows(served.pid):
            copy = signs_in_and_out(port)
            assert ask(port, "/projects/films/guidelines", form=form, cookie=cookie)[0] == 507
        assert ask(port, "/", cookie=copy)[0] == 302
        with closing(sqlite3.connect(vidence.folder / "team" / "studio.sqlite3", timeout=20)) as opened:
            for table in [f"studio_{one}row" for one in ("guideline", "user", "item", "project")]:
                opened.execute(f"ALTER TABLE {table} RENAME TO {table}_gone")
            opened.commit()
        failed = [
            ask(port, f"/projects/films/guidelines?q={WORDS}", form=form, cookie=cookie),
            ask(port, f"/projects/films/?q={WORDS}", cookie=cookie),
            ask(port, "/sign-in", form=form | {"username": "Ada", "password": PASSWORD}, cookie=cookie),
        ]
        assert [one[0] for one in failed] == [500] * 3
        pages = [one[1] for one in failed]
        argv = " ".join(served.args)
    finally:
        served.terminate()
        out, err = served.communicate(timeout=30)
    key = (vidence.folder / "team" / "keys" / "secret").read_bytes()
    planted = [
        PASSWORD,
        WORDS,
        *(one.partition("=")[2] for one in cookie.split("; ")),
        form["csrfmiddlewaretoken"],
        key.hex(),
    ]
    for where in (out, err, argv, *pages):
        assert [one for one in planted if one in where] == []
        assert repr(key)[2:-1] not in where
    for page in pages:
        assert "Traceback" not in page
        assert "studio_" not in page

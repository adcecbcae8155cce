"""Reading what a server asks for and who it is; answers of any size; connections that cannot be made."""

import contextlib
import json
import logging
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import pytest

from vidence.ask.models.answers import Server, believed, first, retry_after_s
from vidence.ask.models.http import check_address
from vidence.catalog import create
from vidence.contracts import Model, Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import Prompt, Reply, Sampling, TextPart, Usage


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None), ({"retry-after": "0"}, 0.0), ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "nan"}, None), ({"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:30 GMT"}, 0.0), ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2.0),
    ],
)  # fmt: skip
def test_retry_after(headers: dict[str, str], expected: float | None):
    assert retry_after_s(headers, now_s=1000.0) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "ftp://h/v1", "http://a b/v1", "http://h/v1#x", "http://h:port/v1", "http://[::1/v1",
        "http://h\x7f/v1",
    ],
)  # fmt: skip
def test_what_is_no_address(text: str):
    with pytest.raises(UsageError, match="base_url"):
        check_address(text)
    assert check_address("https://h.example:8000/a/v1/") == "https://h.example:8000/a/v1"


def test_a_server_hides_its_key_and_the_first_reply_is_that_with_the_lowest_index():
    server = Server(address="http://Host:1/v1", key_env="K", key="abc")
    assert "abc" not in repr(server)
    assert server.hide_key("my abc here") == "my [key] here"
    assert Server(address="http://h", key_env="K", key="").hide_key("as is") == "as is"
    assert server.host == "host"

    class One:
        def __init__(self, index: object) -> None:
            self.index = index

    three = [One(2), One(0), One(1)]
    assert first(three) is three[1]
    unnamed = [One(None), One("x")]
    assert first(unnamed) is unnamed[0]


ASKED = Request(item_id="q", prompt=Prompt(parts=(TextPart(text="?"),)), sampling=Sampling())


def _has_request(connection: socket.socket) -> bool:
    """Read one request; False at the end of the connection."""
    got = b""
    while b"\r\n\r\n" not in got:
        if not (part := connection.recv(2**16)):
            return False
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    wanted = re.search(rb"content-length: (\d+)", head.lower())
    left = int(wanted[1] if wanted else 0) - len(body)
    while left > 0:
        left -= len(connection.recv(2**16))
    return True


@contextlib.contextmanager
def serving(
    *answers: bytes, again: bool = False, pause_s: float = 0.0, tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """An address that gives one of these after the other, each once or the last `again` and again.

    With a pause, whatever follows a first answer at once is sent so many seconds later.
    """
    left = list(answers)

    def one(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            talking = tls.wrap_socket(connection, server_side=True) if tls else connection
            with talking:
                while left and _has_request(talking):
                    said = left[0] if again else left.pop(0)
                    first, mark, second = (
                        said[1:].partition(b"HTTP/1.1 ") if pause_s else (said[1:], b"", b"")
                    )
                    talking.sendall(said[:1] + first)
                    time.sleep(pause_s)
                    talking.sendall(mark + second)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=one, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def answer(body: bytes, *lines: str) -> bytes:
    head = "".join(f"{line}\r\n" for line in (f"content-length: {len(body)}", *lines))
    return b"HTTP/1.1 200 OK\r\n" + head.encode() + b"\r\n" + body


def chat(text: str, **more: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}], **more}).encode()


def asked(
    spec: str, *, n: int = 1, pause_s: float = 0.0, request: Request = ASKED
) -> list[Reply | ModelError]:
    """What came of asking the same `n` times, one after the other."""

    async def go() -> list[Reply | ModelError]:
        model = create("model", spec)
        found: list[Reply | ModelError] = []
        for _ in range(n):
            try:
                found.append(await model.reply(request))
            except ModelError as error:
                found.append(error)
            await anyio.sleep(pause_s)
        await model.close()
        return found

    return anyio.run(go)


def test_an_answer_is_read_to_its_limit_and_many_large_ones_are() -> None:
    with serving(answer(chat("A" * 900_000)), answer(chat("A" * 1_100_000))) as host:
        short, long = asked(f"openai:m?base_url=http://{host}/v1&max_answer_mb=1", n=2)
    assert isinstance(short, Reply)
    assert isinstance(long, RejectedRequestError)  # and so not tried again
    assert "sent an answer of more than 1 MB, which was not read to its end; max_answer_mb=MB" in str(long)
    body = answer(chat("A" * 2_000_000))
    lengths: list[int] = []

    async def ask(model: Model) -> None:
        lengths.append(len((await model.reply(ASKED)).text))

    async def go(host: str) -> None:
        model = create("model", f"openai:m?base_url=http://{host}/v1")
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(ask, model)
        await model.close()

    with serving(body, again=True) as host:
        anyio.run(go, host)
    assert lengths == [2_000_000] * 20


def packed(body: bytes) -> bytes:
    return zlib.compress(body, wbits=31)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (answer(packed(b" " * 10**8), "content-encoding: gzip"), "more than 32 MB"),
        (answer(packed(packed(chat("A"))), "content-encoding: gzip, gzip"), "packed several times"),
        (answer(chat("A")[:-1] + b', "x": ' + b"[" * 10**5 + b"]" * 10**5 + b"}"), "nested too deeply"),
    ],
    ids=["large when unpacked", "packed twice", "deep"],
)
def test_an_answer_that_cannot_be_taken_fails_its_question(sent: bytes, words: str) -> None:
    with serving(sent) as host:
        [error] = asked(f"openai:m?base_url=http://{host}/v1")
    assert isinstance(error, RejectedRequestError)
    assert words in str(error)


@pytest.mark.parametrize("wait_s", [0.0, 0.1], ids=["at once", "later"])
def test_a_second_answer_is_not_that_of_the_next_question(wait_s: float) -> None:
    answers = [answer(chat("A")) + answer(chat("SMUGGLED")), answer(chat("B")), answer(chat("C"))]
    with serving(*answers, pause_s=wait_s) as host:
        replies = asked(f"openai:m?base_url=http://{host}/v1", n=3, pause_s=2 * wait_s)
    assert [r.text for r in replies if isinstance(r, Reply)] == ["A", "B", "C"]


def test_an_answer_before_the_question_was_sent_is_thrown_away() -> None:
    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        connection.sendall(answer(chat("EARLY")))
        time.sleep(0.5)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        long = Request(item_id="q", prompt=Prompt(parts=(TextPart(text="?" * 10**7),)), sampling=Sampling())
        [lost] = asked(f"openai:m?base_url=http://127.0.0.1:{listening.getsockname()[1]}/v1", request=long)
    assert isinstance(lost, TransientModelError)
    assert "answered before the request was sent" in str(lost)


def test_tokens_that_cannot_be_are_unknown_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    usages = [{"prompt_tokens": -60, "completion_tokens": 3}, {"prompt_tokens": 5}, {"prompt_tokens": "9"}]
    with (
        serving(*(answer(chat("A", usage=usage)) for usage in usages)) as host,
        caplog.at_level(logging.WARNING),
    ):
        found = asked(f"openai:m?base_url=http://{host}/v1", n=3)
    counted = [reply.usage for reply in found if isinstance(reply, Reply)]
    assert counted == [Usage(output_tokens=3), Usage(input_tokens=5), Usage()]
    assert [r.getMessage().partition(" says ")[2] for r in caplog.records] == [
        "that a reply took [-60, 3] tokens; such counts are treated as unknown"
    ]


@pytest.mark.parametrize("count", [b"1e999", b"9" * 5000, b"NaN"])
def test_a_count_of_tokens_that_no_program_holds_costs_no_reply(count: bytes) -> None:
    body = chat("A", usage={"prompt_tokens": 4711, "completion_tokens": 3}).replace(b"4711", count)
    with serving(answer(body), answer(chat("B", usage="free"))) as host:
        one, two = asked(f"openai:m?base_url=http://{host}/v1", n=2)
    assert isinstance(one, Reply)
    assert (one.text, one.usage) == ("A", Usage(output_tokens=3))
    assert isinstance(two, Reply)
    assert two.text == "B"


@pytest.mark.parametrize("counts", [[-1], [10**9 + 1], [True], [1.5], [3, -1], [float("nan")]])
def test_what_is_no_count_of_tokens(counts: Sequence[object]) -> None:
    assert believed(counts) == "absurd"


def test_what_a_server_says_is_logged_visibly(caplog: pytest.LogCaptureFixture) -> None:
    said = json.dumps({"error": {"message": "no response_format \x1b[2J\x1b]0;x\x07"}}).encode()
    refusal = answer(said).replace(b"200 OK", b"400 No")
    request = Request(
        item_id="q",
        prompt=Prompt(parts=(TextPart(text="?"),), reply_schema={"type": "object"}),
        sampling=Sampling(),
    )

    async def go(host: str) -> Reply:
        model = create("model", f"openai:m?base_url=http://{host}/v1")
        reply: Reply = await model.reply(request)
        await model.close()
        return reply

    with serving(refusal, answer(chat("A"))) as host, caplog.at_level(logging.WARNING):
        assert anyio.run(go, host).text == "A"
    [line] = [record.getMessage() for record in caplog.records]
    assert "no response_format ␛[2J␛]0;x␇" in line


def test_a_server_without_tls_is_said_to_be_so_at_once() -> None:
    def serve() -> None:
        with contextlib.suppress(OSError), listening.accept()[0] as connection:
            connection.recv(2**16)  # the beginning of a handshake
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        [error] = asked(f"openai:m?base_url=https://127.0.0.1:{listening.getsockname()[1]}/v1")
    assert isinstance(error, AccessError)
    assert "the TLS handshake with" in str(error)


def test_a_certificate_that_is_not_trusted_is_not_waited_for(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    how = ["-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    command = ["openssl", "req", *how, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with serving(answer(chat("A")), tls=tls) as host:
        [error] = asked(f"openai:m?base_url=https://{host}/v1")
    assert isinstance(error, AccessError)
    assert "the TLS certificate of https://127.0.0.1:" in str(error)
    assert "self-signed certificate" in str(error)


def test_what_may_be_over_soon_is_an_outage() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host = f"127.0.0.1:{listening.getsockname()[1]}"
    [refused] = asked(f"openai:m?base_url=http://{host}/v1")
    with serving(b"") as host:
        [hung_up] = asked(f"openai:m?base_url=http://{host}/v1")
    with serving(answer(b"x")) as host:
        [garbage] = asked(f"openai:m?base_url=http://{host}/v1")
    errors = [error for error in (refused, hung_up, garbage) if isinstance(error, TransientModelError)]
    assert [error.is_outage for error in errors] == [True, True, False]

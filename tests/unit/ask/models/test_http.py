"""Reading what a server asks for and who it is."""

import pytest

from vidence.ask.models.answers import Server, retry_after_s
from vidence.ask.models.http import check_address
from vidence.errors import UsageError


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:30 GMT"}, 0.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2.0),
    ],
)
def test_retry_after(headers: dict[str, str], expected: float | None):
    assert retry_after_s(headers, now_s=1000.0) == expected


def test_an_address_loses_only_its_last_slash():
    assert check_address("https://h.example:8000/a/v1/") == "https://h.example:8000/a/v1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://h/v1",
        "http://a b/v1",
        "http://h/v1#x",
        "http://h:port/v1",
        "http://[::1/v1",
        "http://h\x7f/v1",
    ],
)
def test_what_is_no_address(text: str):
    with pytest.raises(UsageError, match="base_url"):
        check_address(text)


def test_a_server_hides_its_key():
    server = Server(address="http://Host:1/v1", key_env="K", key="abc")
    assert "abc" not in repr(server)
    assert server.hide_key("my abc here") == "my [key] here"
    assert Server(address="http://h", key_env="K", key="").hide_key("as is") == "as is"
    assert server.host == "host"

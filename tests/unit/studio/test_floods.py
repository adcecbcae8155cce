"""Who asks too much at once is told when to come again; others are answered meanwhile."""

from uuid import UUID

import pytest

from servers.studio import PASSWORD, studio
from vidence.studio.rules.floods import Limits, Rate

FEW = Limits(of_session=Rate(at_once=4, a_second=0.5), of_address=Rate(at_once=9, a_second=1))


@pytest.fixture
def flooded(tmp_path):
    with studio("team", tmp_path, limits=FEW) as made:
        made.project("films")
        made.user("Ann", "author", "operator", project="films")
        yield made


@pytest.mark.parametrize(
    ("method", "address", "sent"),
    [
        ("post", "/projects/films/guidelines", {"act": "add", "source": "x"}),
        ("post", "/projects/films/new/", {"form": "x"}),
        ("post", f"/projects/films/items/{UUID(int=7)}/edit", {"question": "x", "action": "submit"}),
        ("post", "/projects/films/next", {"role": "reviewer"}),
        ("get", "/projects/films/media/", {"q": "x"}),
    ],
)
def test_one_browser_that_asks_too_much_waits_and_another_does_not(flooded, method, address, sent):
    ann = flooded.signed_in("Ann")
    found = [getattr(ann, method)(address, sent) for _ in range(5)]
    assert [one.status_code == 429 for one in found] == [False] * 4 + [True]
    assert found[-1]["Retry-After"] == "2"
    assert b"Nothing was saved" in found[-1].content
    assert "default-src 'none'" in found[-1]["Content-Security-Policy"]
    assert ann.get("/work").status_code == 200
    assert flooded.signed_in("Ann").get(address, sent).status_code != 429
    flooded.clock.move(2)
    assert getattr(ann, method)(address, sent).status_code != 429


def test_sign_ins_from_one_address_wait_with_whatever_cookie(flooded):
    said = {"name": "Ann", "password": PASSWORD}
    found = [flooded.client().post("/sign-in", said).status_code for _ in range(10)]
    assert found == [302] * 9 + [429]
    elsewhere = flooded.client(REMOTE_ADDR="198.51.100.7")
    assert elsewhere.post("/sign-in", said).status_code == 302

"""Texts that want to be more than text: in every field of a project, on every screen, they stay text."""

import html
import re
from pathlib import Path

import pytest

from servers.studio import configured, studio
from subjects.hostile_texts import MADE_OF_TEMPLATES, PAYLOADS, Looked, fill, shorts

configured()  # before tests import tables

SOURCE = Path(__file__).parents[2] / "src" / "vidence" / "studio"


def crawled(client, *starts):
    """All pages that somebody comes to by links: of each address what it says, and its faults."""
    waiting, pages, faults = list(starts), {}, []
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        answer = client.get(address)
        if answer.status_code == 302:
            waiting.append(answer["location"])
            pages[address] = ""
            continue
        assert answer.status_code < 500, address
        if not answer["content-type"].startswith("text/html"):
            pages[address] = ""
            continue
        pages[address] = answer.content.decode()
        assert "script-src 'self'" in answer["content-security-policy"]
        looked = Looked()
        looked.feed(pages[address])
        faults += [(address, one) for one in looked.faults]
        waiting += looked.links - pages.keys()
    return pages, faults


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with studio("team", folder) as made:
        fill(folder, now=made.clock())
        yield made


def the_items():
    from vidence.studio.records.items import ItemRow

    return list(ItemRow.objects.order_by("item_id"))


def contents():
    """Every row of the studio."""
    from django.apps import apps

    models = apps.get_app_config("studio").get_models(include_auto_created=True)
    return {one.__name__: sorted(map(repr, one.objects.values_list())) for one in models}


RUNS = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function"
FAMILIES = ("", "people", "guidelines", "qualification", "trials", "media/", "new/", "time", "ledger")
FAMILIES += ("rates", "release", "export", "questions/")


@pytest.mark.parametrize("n", [0, 2, 3, 4, 11, 12, 13, 20, 21, 22, 23, 24, 25, 27, 29, 30])
def test_the_crawler_sees_what_is_not_escaped(n):
    looked = Looked()
    looked.feed(f"<p>{PAYLOADS[n]}</p>")
    assert looked.faults


@pytest.mark.parametrize("n", [5, 7])
def test_the_crawler_sees_what_leaves_an_attribute(n):
    looked = Looked()
    looked.feed(f'<input value="{PAYLOADS[n]}">')
    assert looked.faults


@pytest.mark.parametrize("name", ["Olga", "Ann", "Rob", "Rex"])
def test_no_text_becomes_more_than_text_on_any_screen(seeded, name, record_attack):
    items = [f"/projects/films/items/{one.public}/" for one in the_items()]
    starts = ["/", "/work", *[f"/projects/films/{one}" for one in FAMILIES], *items]
    starts += [f"{one}{more}" for one in items for more in ("review", "edit", "review/edit")]
    client = seeded.signed_in(name)
    before = contents()
    pages, faults = crawled(client, *starts)
    record_attack(
        "pages of the studio with texts of an attacker", len(pages), max(0, len(pages) - len(faults))
    )
    assert faults == []
    assert contents() == before  # no GET changes a row, in a project where much was done
    text = "\n".join(pages.values())
    assert MADE_OF_TEMPLATES not in text
    if name != "Rex":
        shown = html.unescape(text)
        assert [one for one in shorts(60) if one not in shown] == []
        assert len([one for one in pages.values() if "pwned" in one]) > 20


def test_what_is_sent_and_refused_comes_back_as_text(seeded):
    olga, ann, rob = (seeded.signed_in(one) for one in ("Olga", "Ann", "Rob"))
    looked_at, written = the_items()[0], the_items()[-1]
    item = f"/projects/films/items/{looked_at.public}"
    form = f"/projects/films/items/{written.public}/edit"
    sent = [
        (olga, "/projects/films/people", ("name", "domains", "until", "roles", "user")),
        (olga, "/projects/films/guidelines", ("act", "source")),
        (olga, "/projects/films/trials", ("role", "words", "options", "right", "why", "act")),
        (ann, "/projects/films/media/", ("path", "url", "source")),
        (ann, "/projects/films/new/", ("form", "medium")),
        (ann, form, ("question", "right-text", "language", "version")),
        (rob, "/projects/films/qualification", ("role",)),
        (rob, "/projects/films/draw", ("share", "seed", "tag", "role")),
        (rob, f"{item}/review", ("act", "message", "answer", "words", "check:c0", "score:s")),
        (rob, f"{item}/review/edit", ("text:question", "text:evidence", "seen")),
        (rob, "/sets/", ("folder", "project")),
        (seeded.client(), "/sign-in", ("username", "next")),
    ]  # fmt: skip
    n = 0
    for client, address, fields in sent:
        for text in PAYLOADS[::3] if client is olga or address != "/sign-in" else PAYLOADS[:3]:
            answer = client.post(address, {**dict.fromkeys(fields, text), "password": "wrong"})
            assert answer.status_code < 500, (address, text)
            looked = Looked()
            looked.feed(answer.content.decode())
            assert looked.faults == [], (address, text)
            n += answer.status_code >= 400
    assert n > 100
    for act in ("accept", "return", "reject", "say", "witness", "solve"):
        answer = rob.post(
            f"{item}/review", {"act": act, "message": PAYLOADS[5], "note:question": PAYLOADS[5]}
        )
        assert PAYLOADS[5] not in answer.content.decode()


def test_what_is_saved_is_checked_in_words_that_are_escaped(seeded):
    ann, address = seeded.signed_in("Ann"), f"/projects/films/items/{the_items()[-1].public}/edit"
    for n, text in enumerate(one for one in PAYLOADS if "\0" not in one):  # a NUL is refused at the door
        fields = {"question": text, "right-text": text, "wrong-0-text": text, "evidence-0-start": text}
        fields |= {"knowledge-0-url": text, "evidence-0-steps": text, "request": f"w{n}", "version": n}
        answer = ann.post(address, fields, headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.content
        assert answer["content-type"] == "application/json"
        looked = Looked()
        looked.feed(ann.get(f"{address}/checks").content.decode())
        assert looked.faults == []


def test_no_page_says_that_a_text_is_safe():
    """Cards, replies of models and names of files are escaped as all else is: nothing turns it off."""
    for path in (SOURCE / "templates").rglob("*.html"):
        found = re.findall(r"\|\s*(?:safe|urlize)\w*|autoescape|escapeseq|\{%\s*filter", path.read_text())
        assert found == [], path
    for path in (SOURCE / "static").glob("*.js"):
        found = re.findall(RUNS, path.read_text())
        assert found == [], path
    said = {
        one
        for path in SOURCE.rglob("*.py")
        for one in re.findall(r"mark_safe|format_html|SafeString\([^)]*\)|SafeText", path.read_text())
    }
    # Pieces of the report, which its templates have escaped, and addresses of our own files.
    assert said <= {'SafeString(piece or "")', 'SafeString(f"/static/{edition()'}

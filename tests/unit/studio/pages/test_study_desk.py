"""The pages of operators of studies: the list, writing study.toml, links, withdrawing, closing."""

import re

from subjects.open_study import SENTINEL, Person, link_of, plain


def test_a_study_is_written_from_the_fields_of_a_preset_with_faults_by_line(solo):
    client = solo.signed_in()
    sent = {"name": "cards", "preset": "exam", "title": 'The "cards"', "n": "3", "people": "2"}
    page = client.post("/studies/new", {**sent, "act": "fill"}).content.decode()
    text = 'preset = "exam"\ntitle = "The \\"cards\\""\nn_people = 2\n\n[draw]\nn = 3\n'
    assert text.replace('"', "&quot;") in page
    bad = client.post(
        "/studies/new", {"name": "cards", "act": "keep", "source": "order = 'given'\nfroms = 1\n"}
    )
    assert bad.status_code == 400
    assert "froms" in bad.content.decode()
    assert "study.toml:2" in bad.content.decode()

    kept = client.post("/studies/new", {"name": "cards", "act": "keep", "source": text}).content.decode()
    assert "Before it can be drawn" in kept or "It can be drawn" in kept
    assert "not drawn" in client.get("/studies/").content.decode()
    assert "The \\&quot;cards" in client.get("/studies/new?name=cards").content.decode()
    for name in ("../x", "", "Ä"):
        answer = client.post("/studies/new", {"name": name, "act": "keep", "source": text})
        assert answer.status_code == 400
        assert "expected lower-case letters" in answer.content.decode()
    assert "cannot be read" in client.get("/studies/new?name=absent").content.decode()


def test_links_are_made_and_given_again_and_people_taken_out(opened, people, solo):
    study = opened(plain(n=1))
    client, home = solo.signed_in(), f"/studies/{study.public}/"
    assert client.post(home, {"act": "invite", "n": "2"}).status_code == 302
    assert client.post(home, {"act": "invite", "n": "900"}).status_code == 400
    client.post(home, {"act": "many"})
    page = client.get(home).content.decode()
    assert "?PROLIFIC_PID=" in page
    links = re.findall(r"<code>http://127.0.0.1(/j/[\w-]+)</code>", page)
    assert solo.client().get(links[0]).headers["Location"].startswith(link_of(study, links[0][3:]))
    ann = Person(solo.client(), link_of(study, links[0][3:])).joined()
    ann.act("begin")
    ann.send(ann.at(), answer="A")
    page = client.get(home).content.decode()
    assert "1 of 1" in page
    assert links[0] not in page
    public = re.search(r'name="person" value="([^"]+)"', page)[1]
    client.post(home, {"act": "link", "person": public})
    assert "is not part" in ann.get().content.decode()
    again = re.findall(r"<code>http://127.0.0.1(/j/[\w-]+)</code>", client.get(home).content.decode())
    Person(ann.client, link_of(study, again[0][3:])).joined()
    assert "The end" in ann.get().content.decode()
    client.post(home, {"act": "withdraw", "person": public})
    refused = client.post(home, {"act": "withdraw", "person": public})
    assert "is no longer possible" in refused.content.decode()
    client.post(home, {"act": "close"})
    for act in ("invite", "many", "link"):
        assert "is closed" in client.post(home, {"act": act, "n": "1", "person": public}).content.decode()
    assert "closed" in client.get("/studies/").content.decode()


def test_an_account_sees_the_studies_to_take_part_in_and_nothing_else(opened, team):
    study = opened()
    team.user("Ann", "author")
    client = team.signed_in("Ann")
    page = client.get("/studies/").content.decode()
    assert f"/s/{study.public}/join" in page
    assert study.folder not in page
    assert client.get(f"/studies/{study.public}/").status_code == 403


def test_what_is_exported_has_pseudonyms_alone(opened, people, solo):
    from vidence.studio.studies import answers_of, invite

    study = opened(plain(n=1), is_recruited=True)
    link = f"/s/{study.public}/join/{study.key}?PROLIFIC_PID={SENTINEL}&SESSION_ID={SENTINEL}"
    ann = Person(solo.client(), link).joined()
    ann.act("begin")
    solo.clock.move(2)
    place = ann.at()
    solo.clock.move(4)
    ann.send(place, answer="B")
    ann.act("finish")
    invite(study, 1)
    found = answers_of(study)
    assert [(one.name, one.state, one.recruited) for one in found.participants] == [
        ("P01", "finished", "recruiter"),
        ("P02", "invited", "link"),
    ]
    (response,) = found.responses
    assert (response.participant, response.values, response.seconds) == ("P01", {"answer": "B"}, 6.0)
    assert [one.kind for one in found.events][-1] == "finished"
    assert SENTINEL not in re.sub(r"item_id='[^']*'", "", str(found))


def test_the_report_of_a_closed_study_is_a_page(opened, people, solo):
    from functools import partial
    from pathlib import Path

    import anyio

    from vidence.engine.environment import Environment
    from vidence.studio.studies import answers_of
    from vidence.study.running import write_closed
    from vidence.study.study import read_study

    study = opened(plain(n=2))
    client, address = solo.signed_in(), f"/studies/{study.public}/report"
    assert "there are no answers yet" in client.get(address).content.decode()
    (ann,) = people(study)
    ann.joined().act("begin")
    for _ in range(2):
        ann.send(ann.at(), answer="A")
    ann.act("finish")
    folder = Path(study.folder)
    environment = Environment(cache_root=folder / "cache", n_workers=1)
    write = partial(write_closed, environment=environment, now=solo.clock(), on_event=lambda _: None)
    anyio.run(write, read_study(folder), answers_of(study))
    page = client.get(address).content.decode()
    assert "Reporting checklist" in page
    assert "finished" in page
    assert str(folder) not in page

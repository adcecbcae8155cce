"""Guidelines and trial items as pages: who reads, who answers, what is not shown before."""

import pytest

from vidence.studio.records.items import MediumRow
from vidence.studio.records.people import GuidelineReadRow, GuidelineRow, QualificationRow, TrialRow

PROTOCOL = """title = "With trials"
[[stages]]
role = "reviewer"
[[stages.checks]]
id = "right"
words = "It is right."
[qualification]
pass_mark = 1.0
"""
HERE = "/projects/films"


@pytest.fixture
def place(team, tmp_path):
    file = tmp_path / "trials.toml"
    file.write_text(PROTOCOL)
    project = team.project(protocol=str(file))
    team.user("Rob", "reviewer", project="films")
    team.user("Olga", "operator", project="films")
    return project


def add(client, **more):
    said = {
        "act": "add",
        "role": "reviewer",
        "words": "A cup?",
        "options": "yes\r\nno",
        "right": "no",
        "why": "SECRET",
    }
    return client.post(f"{HERE}/trials", {**said, **more})


def test_operators_put_versions_in_and_people_read_them(team, place):
    rob, olga = team.signed_in("Rob"), team.signed_in("Olga")
    where = f"{HERE}/guidelines"
    assert "No guidelines yet" in rob.get(where).content.decode()
    assert rob.post(where, {"act": "add", "source": "mine"}).status_code == 400
    assert olga.post(where, {"act": "add", "source": "Write <b>plainly</b>."}).status_code == 302
    page = rob.get(where).content.decode()
    assert "Write &lt;b&gt;plainly&lt;/b&gt;." in page
    assert "textarea" not in page
    assert rob.post(where, {"act": "read", "version": "1"}).status_code == 302
    assert "You confirmed this version" in rob.get(where).content.decode()
    assert olga.post(where, {"act": "add", "source": "Write briefly."}).status_code == 302
    stale = rob.post(where, {"act": "read", "version": "1"})
    assert (stale.status_code, "there is a newer version" in stale.content.decode()) == (400, True)
    assert "You have read version 1" in rob.get(where).content.decode()
    assert "-Write &lt;b&gt;plainly" in rob.get(where).content.decode()
    assert (GuidelineRow.objects.count(), GuidelineReadRow.objects.count()) == (2, 1)


def test_trial_items_are_retired_and_what_is_right_is_hidden_before_the_role_is_open(team, place):
    rob, olga = team.signed_in("Rob"), team.signed_in("Olga")
    bad = add(olga, right="maybe")
    assert bad.status_code == 400
    assert "A cup?" in bad.content.decode()
    add(olga)
    name = str(TrialRow.objects.get().public)
    assert olga.post(f"{HERE}/trials", {"act": "retire", "trial": name}).status_code == 302
    assert "There are no trial items for this role" in rob.get(f"{HERE}/qualification").content.decode()
    assert olga.post(f"{HERE}/trials", {"act": "retire", "trial": name}).status_code == 302
    assert TrialRow.objects.get().is_used
    assert olga.post(f"{HERE}/trials", {"act": "retire", "trial": "x"}).status_code == 404
    where = f"{HERE}/qualification"
    assert "SECRET" not in rob.get(where).content.decode()
    assert rob.post(where, {"role": "reviewer"}).status_code == 400
    assert rob.post(where, {"role": "meta", name: "no"}).status_code == 404
    assert rob.post(where, {"role": "reviewer", name: "yes"}).status_code == 302
    page = rob.get(where).content.decode()
    assert "0 of 1 were right" in page
    assert "SECRET" not in page
    assert rob.post(where, {"role": "reviewer", name: "no"}).status_code == 302
    assert "SECRET" in rob.get(where).content.decode()
    assert rob.post(where, {"role": "reviewer", name: "no"}).status_code == 400
    assert "1 of 1" in olga.get(f"{HERE}/trials").content.decode()
    assert QualificationRow.objects.count() == 2
    assert rob.get(f"{HERE}/trials").status_code == 403


def test_an_operator_lets_somebody_try_again(team, place):
    rob, olga = team.signed_in("Rob"), team.signed_in("Olga")
    add(olga)
    name = str(TrialRow.objects.get().public)
    for _ in range(2):
        rob.post(f"{HERE}/qualification", {"role": "reviewer", name: "yes"})
    assert "ask an operator" in rob.get(f"{HERE}/qualification").content.decode()
    assert "Let Rob try again" in olga.get(f"{HERE}/trials").content.decode()
    said = {"act": "again", "user": str(QualificationRow.objects.first().user.public), "role": "reviewer"}
    assert olga.post(f"{HERE}/trials", {**said, "role": "author"}).status_code == 404
    assert olga.post(f"{HERE}/trials", said).status_code == 302
    assert "set aside" in olga.get(f"{HERE}/trials").content.decode()
    assert rob.post(f"{HERE}/qualification", {"role": "reviewer", name: "no"}).status_code == 302
    assert "The role is open" in rob.get(f"{HERE}/qualification").content.decode()


@pytest.mark.parametrize(("is_there", "said"), [(True, "data-player"), (False, "tell an operator")])
def test_a_trial_item_has_its_video(team, place, tmp_path, is_there, said):
    (tmp_path / "media").mkdir()
    place.media_root = str(tmp_path / "media") if is_there else ""
    place.save()
    (tmp_path / "media" / "a.mp4").touch()
    medium = MediumRow.objects.create(project=place, kind="video", path="a.mp4", state="usable")
    olga = team.signed_in("Olga")
    assert "a.mp4" in olga.get(f"{HERE}/trials").content.decode()
    assert add(olga, medium=str(medium.public)).status_code == 302
    page = team.signed_in("Rob").get(f"{HERE}/qualification").content.decode()
    assert said in page
    assert "a.mp4" not in page


def test_a_protocol_without_trials_says_so(team):
    team.project(protocol="humanpcr-pc")
    team.user("Olga", "operator", "reviewer", project="films")
    client = team.signed_in("Olga")
    assert "has no table" in client.get(f"{HERE}/trials").content.decode()
    assert "requires no qualification" in client.get(f"{HERE}/qualification").content.decode()

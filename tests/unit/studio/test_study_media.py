"""What trials show: media for one view, media that are lost, counts of plays and problems."""

import re

import pytest

from subjects.open_study import ONCE, SENTINEL, plain


def ready(person, address):
    """Begin a view, as the script of the page does; the answer."""
    return person.client.post(address, {"action": "view"}, headers={"Accept": "application/json"})


def notes(study, kind):
    from vidence.studio.records.studies import StudyEventRow

    return [row.note for row in StudyEventRow.objects.filter(participant__study=study, kind=kind)]


def test_a_video_that_is_seen_once_is_served_for_one_view(opened, people, solo):
    study = opened(plain(phases=ONCE, n=2))
    (ann,) = people(study)
    ann.joined().act("begin")
    place = ann.at()
    page = ann.get(place).content.decode()
    address = re.search(r'data-once="([^"]+)"', page)[1]
    assert "<video" not in page
    assert "data-player" not in page
    told = ready(ann, address).json()
    assert told["state"] == "ready"
    assert told["left_s"] == pytest.approx(1.25, abs=0.05)
    for sent in ({}, {"Range": "bytes=0-99"}, {"Range": "bytes=100-"}):
        answer = ann.client.head(told["address"], headers=sent)
        assert answer.status_code == (206 if sent else 200)
        assert answer.headers["Cache-Control"] == "no-store"
    assert "is shown only once, and it has been shown" in ann.get(place).content.decode()
    again = ready(ann, address)
    assert again.status_code == 409
    assert "shown only once" in again.json()["words"]
    assert ann.client.head(told["address"][:-4] + "none").status_code == 410
    as_file = re.sub("/view/", "/media/", address) + "/file"
    assert ann.client.head(as_file).status_code == 404
    solo.clock.move(1.3)
    assert ann.client.head(told["address"], headers={"Range": "bytes=0-99"}).status_code == 410
    assert notes(study, "played") == [""]
    refused = ["it was seen before", "its time was over", "its file was requested", "its time was over"]
    assert notes(study, "refused-view") == refused
    ann.send(place, answer="A")
    place = ann.at()
    address = re.search(r'data-once="([^"]+)"', ann.get(place).content.decode())[1]
    told = ready(ann, address).json()
    ann.client.post(address, {"action": "viewed"})
    assert ann.client.head(told["address"]).status_code == 410
    assert notes(study, "viewed") == [""]
    for _ in range(250):
        ann.client.get(told["address"])
    assert len(notes(study, "refused-view")) == 200 + 4, "asking again and again fills no disk"


def test_media_that_are_lost_are_named_by_no_message(opened, people):
    from pathlib import Path

    study = opened(plain(n=2))
    (ann,) = people(study)
    ann.joined().act("begin")
    for clip in Path(study.folder).glob("videos/*.mp4"):
        clip.unlink()
    page = ann.get(ann.at())
    address = re.search(r'data-media="([^"]+)"', page.content.decode())[1]
    for tail in ("file", "frames.json", "still/0.jpg", "copy.json"):
        answer = ann.client.get(f"{address}/{tail}")
        assert answer.status_code == 404
        assert answer.json() == {"error": "it cannot be read"}


def test_plays_late_frames_and_problems_are_counted(opened, people):
    study = opened(plain(n=1, phases='[[phases]]\nname = "p"\nmost_plays = 2\nmost_late = 3\n'))
    (ann,) = people(study)
    ann.joined().act("begin")
    place = ann.at()

    def tell(action, **more):
        sent = {"action": action, **more}
        return ann.client.post(place, sent, headers={"Accept": "application/json"})

    assert [tell("play").status_code for _ in range(3)] == [200, 200, 409]
    tell("late-frames", n="5", note="1:20:48")
    assert tell("problem", problem="no picture").status_code == 302
    from vidence.studio.records.studies import ResponseRow

    row = ResponseRow.objects.get()
    assert (row.n_plays, row.late_frames, row.problem) == (2, 5, "no picture")
    assert notes(study, "late-frames") == ["1:20:48"]


def test_point_lights_are_numbers_of_one_size_under_addresses_that_say_nothing(opened, people, solo):
    phases = '[[phases]]\nname = "p"\ncondition = "dots"\nmost_plays = 2\n'
    study = opened("calibrates = true\ncanvas_cm = 5.0\n" + plain(phases=phases))
    (ann,) = people(study)
    ann.joined().act("calibrate", width_px="428")
    ann.act("begin")
    sizes, addresses = set(), set()
    for letter in "ABC":
        page = ann.get(ann.at()).content.decode()
        told = dict(re.findall(r'data-(dots|most-plays|n-plays|width-px)="([^"]*)"', page))
        assert (told["most-plays"], told["n-plays"], told["width-px"]) == ("2", "0", "250")
        answer = solo.client().get(told["dots"])
        assert answer.status_code == 404  # it is hers alone
        answer = ann.client.get(told["dots"])
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json()["fps"] == 30
        assert SENTINEL not in page + answer.content.decode() + told["dots"]
        sizes.add(len(answer.content))
        addresses.add(told["dots"])
        ann.send(ann.at(), answer=letter)
    assert (len(sizes), len(addresses)) == (1, 3)
    for name in ("point-light.js", "study-dots.js", "study-lights.js"):
        script = re.search(rf'src="([^"]+/{name})"', page)[1]
        assert ann.client.get(script).headers["Content-Type"] == "text/javascript"

"""Studies in the studio: ways in, consent, phases, clocks, frozen fields, withdrawal, own items."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from subjects.open_study import SENTINEL, Person, draw_study, link_of, plain
from vidence.errors import UsageError


def kinds(study):
    from vidence.studio.records.studies import StudyEventRow

    rows = StudyEventRow.objects.filter(participant__study=study).order_by("pk")
    return [row.kind for row in rows]


def test_a_person_consents_answers_and_finishes(opened, people, solo):
    study = opened(plain(more="\n[pay]\nflat = 3.0\n"))
    (ann,) = people(study)
    assert "I agree" in ann.get(ann.link).content.decode()
    assert kinds(study) == []
    ann.joined()
    assert "Watch and answer" in ann.get().content.decode()
    assert "Trial 1 of 3" in ann.act("begin").content.decode()
    for letter in "ABC":
        solo.clock.move(10)
        page = ann.send(ann.at(), answer=letter)
    assert "The end" in page.content.decode()
    assert "Thank you" in ann.act("finish").content.decode()
    from vidence.studio.records.studies import ParticipantRow, ResponseRow

    assert ParticipantRow.objects.get(study=study).state == "finished"
    rows = ResponseRow.objects.order_by("place")
    assert [msgspec.json.decode(row.entered) for row in rows] == [{"answer": one} for one in "ABC"]
    assert kinds(study) == ["consented", "phase-began", *["shown", "answered"] * 3, "finished"]


def test_a_refusal_keeps_nothing_and_a_link_is_of_one_browser(opened, people, solo):
    from vidence.studio.records.studies import ParticipantRow

    study = opened(is_recruited=True)
    no, yes = people(study, 2)
    assert "Nothing about you is kept" in no.client.post(no.link, {"act": "decline"}).content.decode()
    assert no.get(no.link).status_code == 404
    many = Person(solo.client(), f"{link_of(study, study.key)}?PROLIFIC_PID=4711")
    many.client.post(many.link, {"act": "decline"})
    states = ParticipantRow.objects.filter(study=study).values_list("state", flat=True)
    assert sorted(states) == ["declined", "invited"]
    assert kinds(study) == []
    yes.joined()
    other = Person(solo.client(), yes.link)
    for answer in (other.get(other.link), other.client.post(other.link, {"act": "agree"})):
        assert answer.status_code == 409
        assert "already used in another browser" in answer.content.decode()
    assert "is not part" in other.get().content.decode()
    from vidence.studio.studies import another_link

    row = ParticipantRow.objects.get(study=study, state="begun")
    another_link(row)
    back = Person(solo.client(), link_of(study, row.key))
    assert "Go on in this browser" in back.get(back.link).content.decode()
    back.joined()
    assert "Begin" in back.get().content.decode()
    assert "is not part" in yes.get().content.decode()


def test_a_recruiters_link_is_for_many_and_ends_with_its_code(opened, solo):
    from vidence.studio.records.studies import ParticipantRow

    recruit = '\n[recruit]\ncompletion_code = "C0DE"\ncompletion_url = "https://app.prolific.com/done"\n'
    study = opened(plain(more=recruit, n=1, n_people=1), is_recruited=True)
    link = link_of(study, study.key)
    assert "has no PROLIFIC_PID" in solo.client().get(link).content.decode()
    said = f"{link}?PROLIFIC_PID={SENTINEL}4711&STUDY_ID=s&SESSION_ID=t&OTHER=x"
    ann = Person(solo.client(), said).joined()
    ann.act("begin")
    again = Person(solo.client(), said)
    assert "Welcome back" in again.get(said).content.decode()
    again.joined()
    again.send(again.at(), answer="A")
    page = again.act("finish").content.decode()
    assert "C0DE" in page
    assert 'href="https://app.prolific.com/done"' in page
    assert SENTINEL not in page
    row = ParticipantRow.objects.get(study=study)
    assert row.parameters == {"PROLIFIC_PID": f"{SENTINEL}4711", "STUDY_ID": "s", "SESSION_ID": "t"}
    late = solo.client().post(f"{link}?PROLIFIC_PID=2", {"act": "agree"})
    assert late.status_code == 409
    assert "All places" in late.content.decode()


def test_phases_open_when_they_may_and_end_by_the_clock(opened, people, solo):
    text = plain(
        phases='[[phases]]\nname = "first"\nlimit_s = 60.0\n[[phases]]\nname = "second"\n'
        'opens_at = "2026-11-23T10:00:00+00:00"\ntrial_limit_s = 20.0\n'
    )
    study = opened(text)
    (ann,) = people(study)
    ann.joined().act("begin")
    first = ann.at()
    assert "1 min left" in ann.get(first).content.decode()
    assert ann.save(first, version=0, request="a", answer="A").json()["version"] == 1
    solo.clock.move(70)
    late = ann.save(first, version=1, request="b", answer="B")
    assert late.status_code == 400
    assert "has ended" in late.json()["words"]
    page = ann.get().content.decode()
    assert "The time for the previous part is over" in page
    assert "not open yet" in page
    assert "2026-11-23 10:00" in page
    solo.clock.move(3600)
    ann.act("begin")
    second = ann.at()
    assert "20 s left" in ann.get(second).content.decode()
    solo.clock.move(30)
    assert ann.at() > second
    assert "The time for the previous trial is over" in ann.get().content.decode()
    assert "run out" in ann.save(second, version=0, request="c", answer="A").json()["words"]


def test_the_page_behind_the_last_trial_says_how_much_time_is_left(opened, people, solo):
    phases = '[[phases]]\nname = "first"\nlimit_s = 60.0\nmay_change = true\n'
    (ann,) = people(opened(plain(phases=phases)))
    ann.joined().act("begin")
    for letter in "ABC":
        solo.clock.move(5)
        page = ann.send(ann.at(), answer=letter)
    assert "Go back to any of them, or end this part. You have 45 s left." in page.content.decode()


def test_what_is_frozen_stays_and_the_fields_behind_it_come_afterwards(opened, people):
    more = (
        '\n[[form]]\nname = "how"\ntitle = "Sure?"\nkind = "scale"\nlow = 1\nhigh = 3\nneeds = "answer=B"\n'
    )
    text = plain(more=more, n=1).replace(
        "[[form]]",
        '[[form]]\nname = "words"\nkind = "text"\nis_frozen = true\ntitle = "In your words"\n[[form]]',
        1,
    )
    study = opened(text)
    (ann,) = people(study)
    ann.joined().act("begin")
    place = ann.at()
    page = ann.get(place).content.decode()
    assert "In your words" in page
    assert "the red card" not in page
    assert "Send and go on" in page
    assert "fill it in" in ann.send(place).content.decode()
    assert "no field" in ann.save(place, version=0, request="x", words="a", answer="B").json()["words"]
    page = ann.send(place, words="a hand turns a card").content.decode()
    assert "the red card" in page
    assert "a hand turns a card" in page
    assert 'name="words"' not in page
    stale = ann.save(place, version=1, request="y", words="another")
    assert stale.status_code == 400
    assert "can no longer be changed" in stale.json()["words"]
    assert "answer is B" in page
    assert "“Sure?”: empty; fill it in" in ann.send(place, answer="B").content.decode()
    assert "The end" in ann.send(place, answer="B", how="2").content.decode()
    from vidence.studio.records.studies import ResponseRow

    kept = msgspec.json.decode(ResponseRow.objects.get().entered)
    assert kept == {"words": "a hand turns a card", "answer": "B", "how": "2"}


def test_saves_name_the_version_they_saw_and_answers_that_are_sent_stay(opened, people):
    study = opened()
    (ann,) = people(study)
    ann.joined().act("begin")
    place = ann.at()
    assert ann.save(place, version=0, request="a", answer="A").json()["version"] == 1
    assert ann.save(place, version=0, request="a", answer="A").json()["version"] == 1
    other = ann.save(place, version=0, request="b", answer="C")
    assert other.status_code == 409
    assert other.json() == {"version": 1, "closed": False}
    assert "checked" in ann.get(place).content.decode()
    for value in ("D", "AB", "x" * 10_001):
        assert ann.save(place, version=1, request="c", answer=value).status_code == 400
    ann.send(place, answer="B")
    assert ann.save(place, version=2, request="d", answer="C").json()["closed"] is True
    assert ann.get(place).redirect_chain
    assert ann.at() != place


def test_letters_on_the_page_are_kept_as_those_of_the_item(opened, people):
    study = opened(plain(n=1).replace('order = "given"', 'order = "given"\nshuffle_choices = true'))
    from vidence.studio.records.studies import ResponseRow
    from vidence.studio.rules.study_forms import shown_letter
    from vidence.study.study import PlannedTrial

    seen = set()
    for ann in people(study, 3):
        ann.joined().act("begin")
        page = ann.get(ann.at()).content.decode()
        letter = re.search(r"<b>(\w)\.</b> the blue card", page)[1]
        ann.send(ann.at(), answer=letter)
        row = ResponseRow.objects.order_by("-pk")[0]
        planned = msgspec.json.decode(row.trial, type=PlannedTrial)
        assert msgspec.json.decode(row.entered) == {"answer": "B"}
        assert shown_letter(planned, "B") == letter
        seen.add(letter)
    assert len(seen) > 1


def test_who_withdraws_takes_words_along_and_leaves_counts(opened, people):
    more = '\n[[form]]\nname = "why"\nkind = "text"\n'
    study = opened(plain(more=more), is_recruited=True)
    ann = Person(people(study)[0].client, f"{link_of(study, study.key)}?PROLIFIC_PID={SENTINEL}").joined()
    ann.act("begin")
    ann.send(ann.at(), answer="A", why=f"{SENTINEL} said so")
    place = ann.at()
    ann.client.post(place, {"action": "problem", "problem": f"{SENTINEL} no sound"})
    ann.save(place, version=0, request="a", why=f"{SENTINEL} and more")
    assert "cannot be undone" in ann.get(f"{ann.home}leave").content.decode()
    assert "What you wrote is removed" in ann.client.post(f"{ann.home}leave").content.decode()
    from vidence.studio.records.studies import ParticipantRow, ResponseRow, StudyEventRow

    for table in (ParticipantRow, ResponseRow, StudyEventRow):
        assert SENTINEL not in re.sub(r'"item_id":"[^"]*"', "", str(list(table.objects.values())))
    assert ResponseRow.objects.filter(answered_at__isnull=False).count() == 1
    assert ParticipantRow.objects.get(state="withdrawn").ended_at is not None
    assert "is not part" in ann.get().content.decode()
    assert "finished your part" in ann.get(ann.link).content.decode()


def test_a_closed_study_takes_nothing_and_says_so(opened, people):
    from vidence.studio.studies import close_study, open_study

    study = opened()
    ann, late = people(study, 2)
    ann.joined().act("begin")
    place = ann.at()
    close_study(study)
    assert "is closed" in late.get(late.link).content.decode()
    assert late.client.post(late.link, {"act": "agree"}).status_code == 409
    assert "is closed" in ann.get().content.decode()
    refused = ann.save(place, version=0, request="a", answer="A")
    assert refused.status_code == 400
    assert "is closed" in refused.json()["words"]
    assert ann.get(place).status_code == 409
    with pytest.raises(UsageError, match="is closed"):
        open_study(Path(study.folder))


def test_only_practice_tells_what_is_right(opened, people):
    study = opened(plain(more="\n[practice]\nn = 1\n", n=2))
    (ann,) = people(study)
    ann.joined()
    page = ann.get().content.decode()
    assert "Practice, trial 1 of 1" in page
    right = ann.send(ann.at(), answer="A").content.decode()
    assert "The right answer:" in right
    assert "You answered: A. the red card" in right
    ann.act("begin")
    place = ann.at()
    assert "The right answer" not in ann.send(place, answer="A").content.decode()
    assert "The right answer" not in ann.get(f"{place}/told").content.decode()


def test_a_study_that_was_changed_or_lost_a_video_is_not_opened(opened, questions, tmp_path, solo):
    from vidence.studio.studies import open_study

    folder = Path(opened(name="first").folder)
    (folder / "study.toml").write_text(plain(n=2))
    with pytest.raises(UsageError, match="changed after it was drawn"):
        open_study(folder)
    (folder / "drawn.json").unlink()
    draw_study(folder, plain(n=2))
    with pytest.raises(UsageError, match="changed after the study was opened"):
        open_study(folder)
    lost = Path(opened(name="second").folder)
    (lost / f"{SENTINEL}-clip-0.mp4").unlink()
    with pytest.raises(UsageError, match="is not on this machine"):
        open_study(lost)


def test_nobody_gets_an_item_that_they_made_or_reviewed(questions, tmp_path, team):
    from vidence.studio.projects import add_items
    from vidence.studio.records.items import ItemRow
    from vidence.studio.studies import answers_of, folder_of, open_study

    for path in questions.iterdir():
        (tmp_path / path.name).symlink_to(path)
    study = open_study(draw_study(tmp_path, plain()))
    project = team.project("films")
    ids = [f"{SENTINEL}-item-{i}" for i in range(6)]
    add_items(project, ids, kinds={})
    ann = team.user("Ann", "author", project="films")
    ItemRow.objects.filter(item_id__in=ids[:5]).update(author=ann)
    counts = {}
    for name in ("Ann", "Bob"):
        if name == "Bob":
            team.user("Bob", "author", project="films")
        person = Person(team.signed_in(name), f"/s/{study.public}/join").joined()
        counts[name] = re.search(r"(\d+) trial", person.get().content.decode() + " 0 trials")[1]
    asked = {one.item_id for one in folder_of(study).drawn.asked}
    assert counts == {"Ann": str(len(asked - set(ids[:5]))), "Bob": "3"}
    ann, bob = answers_of(study).participants
    assert (asked & set(ann.own_items), bob.own_items) == (asked & set(ids[:5]), ())
    assert team.client().get(f"/s/{study.public}/join").headers["Location"].startswith("/sign-in")


def test_the_size_of_a_screen_is_measured_with_either_side_of_a_card(opened, people):
    from vidence.studio.records.studies import ParticipantRow

    study = opened("calibrates = true\n" + plain(n=1))
    ann, bob = people(study, 2)
    for person, side in ((ann, "long"), (bob, "short")):
        person.joined()
        assert "The size of your screen" in person.get().content.decode()
        for wrong in ({"width_px": "0"}, {"width_px": "324", "side": "thick"}):
            assert person.act("calibrate", **wrong).status_code == 409
        assert "Begin" in person.act("calibrate", width_px="428", side=side).content.decode()
    sizes = ParticipantRow.objects.filter(study=study).order_by("slot").values_list("px_per_cm", flat=True)
    assert [round(one, 1) for one in sizes] == [50.0, 79.3]


def test_a_consent_that_is_sent_twice_counts_once(opened, people, team):
    from vidence.studio.records.studies import ParticipantRow
    from vidence.studio.studies import enter, invitation_of

    study = opened(plain(n_people=2), is_recruited=True)
    (ann,) = people(study)
    page = ann.get(ann.link).content.decode()
    word = re.search(r'name="word" value="(\w+)"', page)[1]
    for client in (ann.client, team.client()):  # the first answer was lost with its cookie
        assert client.post(ann.link, {"act": "agree", "word": word}).status_code == 302
        assert "Begin" in client.get(ann.home).content.decode()
    assert ann.client.post(ann.link, {"act": "agree"}).headers["Location"] == ann.home
    before = [invitation_of(study, study.key, {"PROLIFIC_PID": "4711"}) for _ in range(2)]
    assert len({enter(door, agrees=True) for door in before}) == 2
    assert ParticipantRow.objects.filter(study=study, recruited="recruiter").count() == 1
    assert kinds(study).count("consented") == 2


def test_a_refusal_in_another_tab_does_not_say_that_nothing_is_kept(opened, solo):
    from vidence.studio.records.studies import ParticipantRow

    study = opened(is_recruited=True)
    ann = Person(solo.client(), f"{link_of(study, study.key)}?PROLIFIC_PID=1").joined()
    refused = ann.client.post(ann.link, {"act": "decline"})
    assert refused.status_code == 409
    assert "press Leave the study" in refused.content.decode()
    assert ParticipantRow.objects.get(study=study).state == "begun"


def test_two_people_at_one_browser_are_two_participants(opened, solo):
    study = opened(is_recruited=True)
    ann = Person(solo.client(), f"{link_of(study, study.key)}?PROLIFIC_PID=1").joined()
    bob = Person(ann.client, f"{link_of(study, study.key)}?PROLIFIC_PID=2")
    assert "I agree" in bob.get(bob.link).content.decode()
    bob.joined()
    assert "Welcome back" in ann.get(ann.link).content.decode()


def test_the_code_of_who_finished_is_there_after_the_end_and_in_another_browser(opened, solo):
    from vidence.studio.studies import close_study

    study = opened(plain(n=1, more='\n[recruit]\ncompletion_code = "C0DE"\n'), is_recruited=True)
    ann = Person(solo.client(), f"{link_of(study, study.key)}?PROLIFIC_PID=1").joined()
    ann.act("begin")
    ann.send(ann.at(), answer="A")
    ann.act("finish")
    close_study(study)
    for client in (ann.client, solo.client()):
        assert "C0DE" in client.get(ann.link, follow=True).content.decode()
    other = solo.client().get(ann.link.replace("PID=1", "PID=2")).content.decode()
    assert "is closed" in other
    assert "C0DE" not in other


def test_who_comes_in_the_place_of_another_gets_the_same_share(opened, people, solo):
    from vidence.studio.records.studies import ParticipantRow
    from vidence.studio.studies import withdraw

    study = opened(plain(n=6))
    _, bob, _ = people(study, 3)
    bob.client.post(bob.link, {"act": "decline"})
    people(study)
    withdraw(ParticipantRow.objects.get(study=study, name="P03"))
    people(study, 2)
    slots = ParticipantRow.objects.filter(study=study).order_by("pk").values_list("slot", flat=True)
    assert list(slots) == [0, 1, 2, 4, 5, 6]


def test_an_account_that_withdraws_is_forgotten_and_not_taken_again(opened, team):
    from vidence.studio.records.studies import ParticipantRow
    from vidence.studio.studies import answers_of

    study = opened()
    team.user("Ann", "author")
    ann = Person(team.signed_in("Ann"), f"/s/{study.public}/join").joined()
    ann.client.post(f"{ann.home}leave")
    (row,) = ParticipantRow.objects.filter(study=study)
    assert (row.user, row.state) == (None, "withdrawn")
    assert "finished your part" in ann.get(ann.link).content.decode()
    assert [one.own_items for one in answers_of(study).participants] == [()]
    team.user("Sue", "submitter")
    assert team.signed_in("Sue").get(ann.link).status_code == 403


def test_a_form_that_another_tab_has_overtaken_says_what_it_shows(opened, people):
    study = opened(plain(more='\n[[form]]\nname = "why"\nkind = "text"\n'))
    (ann,) = people(study)
    ann.joined().act("begin")
    place = ann.at()
    old = {"version": "0", "request": "old", "action": "submit", "answer": "A", "why": "mine"}
    ann.save(place, version=0, request="a", why="of the other tab")
    page = ann.client.post(place, old)
    assert page.status_code == 400
    assert "replaces the other version" in page.content.decode()
    assert "mine" in page.content.decode()
    ann.send(place, answer="A", why="mine")
    assert ann.at() != place


def test_a_page_of_a_part_that_is_over_begins_no_other(opened, people):
    two = "".join(f'[[phases]]\nname = "p{i}"\ntitle = "Part {i}"\n' for i in range(2))
    study = opened(plain(phases=two, n=1))
    (ann,) = people(study)
    sent = re.search(r'name="part" value="(\d)"', ann.joined().get().content.decode())[1]
    ann.act("begin", part=sent)
    ann.send(ann.at(), answer="A")
    assert "Part 1" in ann.act("begin", part=sent).content.decode()  # in the tab that stayed open
    assert kinds(study).count("phase-began") == 1
    ann.act("begin", part="1")
    assert kinds(study).count("phase-began") == 2


def test_a_folder_that_was_changed_is_named_to_operators_alone(opened, people, solo):
    from vidence.studio.studies import _kept_folder

    study = opened('consent = "consent.txt"\n' + plain(), before={"consent.txt": "Are you in?"})
    ann, late = people(study, 2)
    assert "Are you in?" in ann.get(ann.link).content.decode()
    (Path(study.folder) / "consent.txt").unlink()
    assert "Are you in?" in ann.get(ann.link).content.decode()  # as long as the server runs
    ann.joined().act("begin")
    place = ann.at()
    _kept_folder.cache_clear()
    for answer in (late.get(late.link), ann.get(place), ann.save(place, version=0, request="a", answer="A")):
        assert answer.status_code == 409
        assert "Tell those who invited you" in answer.content.decode()
        assert study.folder not in answer.content.decode()
    assert "What you wrote is removed" in ann.client.post(f"{ann.home}leave").content.decode()
    page = solo.signed_in().get(f"/studies/{study.public}/")
    assert page.status_code == 404
    assert "consent.txt cannot be read" in page.content.decode()


WITHDRAWN = """
import sys
from pathlib import Path
from vidence.studio.app import configure
from vidence.studio.settings import StudioSettings

data, folder, words = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
configure(StudioSettings(mode="solo", data=data), secret=b"s" * 50)
from vidence.studio.upkeep import migrate
migrate()
from vidence.studio import studies
from vidence.studio.records.studies import ParticipantRow

study = studies.open_study(folder, is_recruited=True)
studies.enter(studies.invitation_of(study, study.key, {"PROLIFIC_PID": words}), agrees=True)
row = ParticipantRow.objects.get(study=study)
studies.act(row, "begin")
place = studies.Seat(row).step().planned.place
studies.show(row, place)
for version, text in enumerate((words, words * 900, words)):
    sent = {"act": "save", "place": place, "values": {"why": text}, "seen": version, "request": str(version)}
    studies.write(row, studies.Written(**sent))
studies.happened(row, "problem", place=place, words=words)
assert any(words.encode() in path.read_bytes() for path in data.glob("*sqlite3*"))
studies.withdraw(row)
print(sum(words.encode() in path.read_bytes() for path in data.glob("*sqlite3*")))
"""


def test_words_of_who_withdraws_are_not_in_the_file_of_the_database(questions, tmp_path):
    for path in questions.iterdir():
        (tmp_path / path.name).symlink_to(path)
    draw_study(tmp_path, plain(more='\n[[form]]\nname = "why"\nkind = "text"\n'))
    (tmp_path / "studio").mkdir(mode=0o700)
    told = [str(tmp_path / "studio"), str(tmp_path), "zzwithdrawn"]
    done = subprocess.run(
        [sys.executable, "-c", WITHDRAWN, *told], capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.stdout.strip()) == ("", "0")

"""What a participant's browser receives: no ids, names, keys or sizes that tell trials apart."""

import json
import re
import subprocess
import sys

import pytest

from subjects.open_study import SENTINEL, draw_study, plain


@pytest.fixture
def everything(people):
    """Walk through a study and keep all that is received: address, headers, body."""

    def walk(study, person, **values):
        values = values or {"answer": "A"}
        got = []

        def keep(answer):
            for one in (*(path for path, _ in getattr(answer, "redirect_chain", ())), answer):
                head = "" if isinstance(one, str) else str(dict(one.headers)) + str(one.cookies)
                got.append(one if isinstance(one, str) else head)
            body = b"".join(answer) if answer.streaming else answer.content
            got.append(body.decode("utf-8", "replace"))
            return answer

        page = keep(person.get(person.link))
        person.joined()
        for _ in range(40):
            page = keep(person.get())
            text = page.content.decode()
            if 'value="begin"' in text:
                keep(person.act("begin"))
            elif 'value="finish"' in text:
                keep(person.act("finish"))
                return got
            elif "Trial " in text or "Practice, trial" in text:
                place = person.at()
                for address in re.findall(r'(?:src|data-media|data-once)="(/s/[^"]+)"', text):
                    for tail in ("", "/frames.json", "/copy.json", "/still/0.jpg", "/no", "/strip.jpg?n=99"):
                        if not address.endswith("/file") or not tail:
                            # The client of tests has no way for the bytes of files: their head is enough.
                            ask = person.client.head if address.endswith("/file") else person.client.get
                            keep(ask(f"{address}{tail}"))
                keep(person.save(place, version=0, request="w", answer="Z"))
                keep(person.send(place, **values))
        raise AssertionError("the study does not end")

    return walk


def test_nothing_tells_what_a_trial_is_of(opened, people, everything):
    study = opened(plain(n=4, more="\n[practice]\nn = 1\n[catch]\nn = 2\n"))
    (ann,) = people(study)
    got = everything(study, ann)
    text = "\n".join(got)
    assert "the red card" in text
    assert "The right answer" in text
    for secret in (SENTINEL, "items.jsonl", "items-", "catch", "vidence-study", str(study.folder)):
        assert secret not in text, secret
    trials = [one for one in got if "<html" in one and "Trial " in one]
    assert len({len(one.encode()) for one in trials}) == 1
    assert {len(one) for one in re.findall(r'data-media="([^"]+)"', text)} == {len(f"{ann.home}media/") + 22}
    after = text[text.rindex("The right answer") + len("The right answer") :]
    assert not re.search(r"\b(correct|wrong|score|right)\b", re.sub(r"<[^>]+>", "", after), re.IGNORECASE)


def test_what_is_received_is_the_same_whether_answers_are_right(opened, people, everything):
    study = opened(plain(n=3))
    ann, bob = people(study, 2)

    def blind(got):
        hidden = (
            r'(csrfmiddlewaretoken|request|word)" value="\w+"|[\w-]{22}(?=[/"])|[0-9a-f-]{36}|"at":"[^"]+"'
        )
        body = re.sub(hidden, "", "\n".join(got))
        return re.sub(r'checked|[\w-]{32,}|"version":\d+|Set-Cookie[^\n]*', "", body)

    first, second = everything(study, ann, answer="A"), everything(study, bob, answer="C")
    assert blind(first) == blind(second)


def test_others_answers_and_the_names_of_runs_stay_on_the_server(opened, people, questions, tmp_path, solo):
    study = opened()
    ann, bob = people(study, 2)
    for person in (ann, bob):
        person.joined().act("begin")
    place = ann.at()
    ann.save(place, version=0, request="a", answer="B")
    assert "checked" in ann.get(place).content.decode()
    assert "checked" not in bob.get(place).content.decode()
    address = re.search(r'src="(/s/[^"]+/file)"', ann.get(place).content.decode())[1]
    assert ann.client.head(address).status_code == 200
    assert bob.client.head(address).status_code == 404
    assert solo.client().head(address).status_code == 404
    ann.send(place, answer="B")
    assert ann.client.head(address).status_code == 404


def test_those_who_mark_replies_see_no_model(questions, people, everything, tmp_path, solo):
    """The runs, their models and their folders have planted names."""
    from vidence.studio.studies import open_study

    items = questions / "items.jsonl"
    ids = [json.loads(line)["item_id"] for line in items.read_text().splitlines()]
    for name, letters in (("zzmodel-a", "ABCABC"), ("zzmodel-b", "BBBAAA")):
        replies = [{"item_id": i, "text": f"Answer: {x}"} for i, x in zip(ids, letters, strict=True)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in replies))
        run = ("run", "table", "--data", items, "--model", f"replay:{tmp_path / name}.jsonl", "--no-page")
        command = [sys.executable, "-m", "vidence", *run, "--selector", "none", "--out", tmp_path / name]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    folder = tmp_path / "study"
    folder.mkdir()
    text = 'preset = "judge"\nn_people = 1\nruns = ["../zzmodel-a", "../zzmodel-b"]\n'
    study = open_study(draw_study(folder, f'{text}[draw]\nof = "same"\nn = 3\n'))
    (ann,) = people(study)
    got = everything(study, ann, correct="right", score="4", better="first")
    page = "\n".join(got)
    assert "Second reply" in page
    assert "Answer: B" in page
    for secret in ("zzmodel", "replay", f"{SENTINEL}-item", f"{SENTINEL}-source"):
        assert secret not in page, secret
    trials = [one for one in got if "<html" in one and "Trial " in one]
    assert len({len(one.encode()) for one in trials}) == 1

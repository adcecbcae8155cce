"""``vidence items release`` as a person calls it."""

import json
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from huggingface_hub import constants

from servers.hub import TOKEN, Hub
from servers.youtube import KEY, YouTubeServer
from subjects.released import half_hidden, question

FREE, SHUT = "aaaaaaaaaaa", "bbbbbbbbbbb"


def write(path, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


@pytest.fixture
def items(vidence):
    write(vidence.folder / "set" / "things.jsonl", half_hidden())
    return "set/things.jsonl"


def test_a_set_is_released_with_a_hidden_split_and_read_by_run(items, vidence) -> None:
    (vidence.folder / "about.toml").write_text('title = "Things"\nauthors = ["A. Maker"]\n')
    words = (
        *("--format", "items,mmvu,huggingface", "--hide", "test", "--about", "about.toml"),
        *("--version", "2.0.0", "--json", "said.json"),
    )
    done = vidence("items", "release", items, "--into", "out", *words)
    assert done.code == 0, done.err
    folder = vidence.folder / "out" / "things-2.0.0"
    assert "4 questions with answers, 4 without" in done.out
    assert "Left out with the hidden answers: the tags n_steps." in done.out
    assert json.loads((vidence.folder / "said.json").read_text())["tables"][0]["name"] == "formats"
    again = vidence("items", "release", items, "--into", "out", *words)
    assert (again.code, "as it was" in again.out) == (0, True)
    table = "out/things-2.0.0/huggingface/data/validation-00000-of-00001.parquet"
    for name, data in (
        ("table", "out/things-2.0.0/items.jsonl"),
        ("table", table),
        ("mmvu", "out/things-2.0.0/mmvu"),
    ):
        run = vidence("items", "describe", name, "--data", data, "--no-measure", "--json", "-")
        assert "4 questions about 4 videos" in run.out, run.err
    assert vidence("items", "release", "out/things-2.0.0", "--scan", "out/things-2.0.0.hidden").code == 0
    (folder / "more.csv").write_text("item_id,letter\ntable-001,B\n")
    found = vidence("items", "release", "out/things-2.0.0", "--scan", "out/things-2.0.0.hidden")
    assert (found.code, "more.csv: the answer under 'letter' of table-001" in found.out) == (3, True)


def test_a_release_is_pushed_to_the_hub_once(items, vidence, monkeypatch) -> None:
    words = ("items", "release", items, "--into", "out", "--format", "items,huggingface", "--push")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with Hub() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        vidence.env["HF_TOKEN"] = TOKEN
        done = vidence(*words, "lab/things")
        assert done.code == 0, done.err
        assert f"It is at {hub.url}/datasets/lab/things; a data set that is new is private." in done.out
        assert "croissant.json" in hub.sets["lab/things"].files[hub.sets["lab/things"].names["1.0.0"]]
        again = vidence(*words, "lab/things")
        assert (again.code, "lab/things has version 1.0.0 already" in again.err) == (2, True)


def test_files_of_splits_become_one_release_without_paths_of_this_machine(items, vidence) -> None:
    assert vidence("items", "split", items, "--shares", "train=0.5,test=0.5", "--out", "cut").code == 0
    done = vidence("items", "release", "cut/train.jsonl", "--into", "out", "--name", "things")
    assert done.code == 0, done.err
    rows = [
        json.loads(line)
        for line in (vidence.folder / "out/things-1.0.0/items.jsonl").read_text().splitlines()
    ]
    assert {row["tags"]["split"] for row in rows} == {"train"}
    paths = {one["path"] for row in rows for one in row["media"]}
    assert all("/" not in path and path.startswith("film-") for path in paths)


def test_licences_are_looked_up_again_where_the_look_is_old(vidence) -> None:
    films = [question(i, {}, source=film, provenance=None) for i, film in enumerate((FREE, SHUT))]
    write(vidence.folder / "films.jsonl", films)
    old = (datetime.now(tz=UTC) - timedelta(days=40)).isoformat()
    looks = [
        {"video": film, "outcome": "passed", "licence": "creativeCommon", "at": old} for film in (FREE, SHUT)
    ]
    write(vidence.folder / "licences.jsonl", looks)
    with YouTubeServer(licences={FREE: "creativeCommon", SHUT: "youtube"}) as server:
        vidence.env.update({"VIDENCE_YOUTUBE_API": server.url, "YOUTUBE_API_KEY": KEY})
        done = vidence("items", "release", "films.jsonl", "--into", "out", "--licences", "licences.jsonl")
        assert done.code == 0, done.err
        assert server.asked == [[FREE, SHUT]]
        assert (
            vidence("items", "release", "films.jsonl", "--into", "out", "--licences", "licences.jsonl").code
            == 0
        )
        assert len(server.asked) == 1
    assert "licences: 1 of 2 questions left out (1 licence-refused)" in done.out
    sheet = (vidence.folder / "out" / "films-1.0.0" / "DATASHEET.md").read_text()
    assert "The licences of 2 films were looked up" in sheet


def test_an_agreement_begins_with_its_headings(items, vidence) -> None:
    done = vidence("items", "release", items, "--into", "out", "--agreement", "terms.md")
    assert (done.code, "Hosting, Licences, Use, Removal" in done.err) == (2, True)
    text = (vidence.folder / "terms.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Hosting",
        "## Licences",
        "## Use",
        "## Removal",
    ]
    again = vidence("items", "release", items, "--into", "out", "--agreement", "terms.md")
    assert (again.code, "has no terms yet" in again.err) == (2, True)
    (vidence.folder / "terms.md").write_text("# Terms\n\nFor research.\n")
    assert vidence("items", "release", items, "--into", "out", "--agreement", "terms.md").code == 0


def test_the_release_before_and_a_review_and_an_account(items, vidence) -> None:
    assert vidence("items", "release", items, "--into", "out").code == 0
    write(vidence.folder / "less.jsonl", half_hidden()[1:])
    words = ("--into", "out", "--name", "things", "--version", "1.1.0", "--after", "out/things-1.0.0")
    account = {
        "stages": [{"stage": "blind", "unit": "drafts", "n_in": 9, "n_out": 8, "dropped": {"solved": 1}}]
    }
    (vidence.folder / "account.json").write_text(json.dumps(account))
    done = vidence("items", "release", "less.jsonl", *words, "--account", "account.json")
    assert done.code == 0, done.err
    gone = (vidence.folder / "out/things-1.1.0/about/withdrawn.jsonl").read_text().splitlines()[1:]
    assert [json.loads(line)["item_id"] for line in gone] == ["table-000"]
    assert (
        "| blind | drafts | 9 | 8 | 1 solved |"
        in (vidence.folder / "out/things-1.1.0/DATASHEET.md").read_text()
    )
    refused = vidence(
        "items", "release", items, "--into", "out", "--version", "1.2.0", "--after", "out/things-1.1.0"
    )
    assert (refused.code, "withdrawn: table-000" in refused.err) == (2, True)
    assert (
        vidence(
            "items", "review", "open", items, "--out", "review", "--protocol", "herbench", "--by", "ann"
        ).code
        == 0
    )
    nobody = vidence("items", "release", items, "--into", "out", "--version", "3", "--review", "review")
    assert (nobody.code, "8 review-submitted" in nobody.err) == (2, True)


def test_what_the_making_warns_of_is_said_by_the_release(items, vidence) -> None:
    caution = "9 of 10 readings said that they are false: 90%, more than the 50% that most_told allows"
    account = {"format": "vidence-make-account/1", "stages": [], "cautions": [caution]}
    path = vidence.folder / "set" / "account.json"
    path.write_text(json.dumps(account))
    done = vidence("items", "release", items, "--into", "out")
    assert f"Caution: {caution}. The datasheet does not say so: name " in done.out
    named = vidence("items", "release", items, "--into", "told", "--account", "set/account.json")
    assert f"Caution: {caution}.\n" in named.out
    (folder,) = (vidence.folder / "told").iterdir()
    (sheet,) = [one for one in folder.rglob("*.md") if "**Caution**: 9 of 10" in one.read_text()]
    assert sheet.is_file()
    path.write_text("[]")
    assert "is no account of a making" in vidence("items", "release", items, "--into", "third").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("items", "release", "set/things.jsonl"), "--into"),
        (("items", "release", "set/things.jsonl", "--into", "out", "--format", "coco"), "coco"),
        (
            ("items", "release", "set/things.jsonl", "--into", "out", "--account", "set/things.jsonl"),
            "no account",
        ),
        (("items", "release", "set", "--scan", "set"), "expected a release"),
    ],
)
def test_what_makes_no_sense_is_refused(items, vidence, words, said) -> None:
    done = vidence(*words)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (vidence.folder / "out").exists()

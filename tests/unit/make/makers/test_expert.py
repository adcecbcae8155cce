"""From folders of experts to questions: planted faults, gates, people, pages, releases."""

import csv
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from servers.wikipedia import WikipediaServer
from subjects.expert_set import drafts_of, write_drafts
from subjects.making import Making, contents, lines
from vidence.errors import DataError, UsageError
from vidence.make.pipeline.session import MakeOverrides
from vidence.make.release.sets import scan_again
from vidence.make.review.files import read_reviews
from vidence.make.review.recording import Recorder, Share, draw, write
from vidence.make.review.sheets import sheet, take_in
from videos.samples import squares, write_video

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
CHECKS = ("question", "choices", "answer", "clip", "knowledge", "rationale", "not-text", "not-one-frame")
CHECKS = (*CHECKS, "expert", "licence")

READER = """
def reads(prompt, choices):
    return f"Answer: {'ABCDE'[next((i for i, one in enumerate(choices) if 'angular momentum' in one), 0)]}"
"""


def configured(tmp_path: Path, text: str | None) -> Making:
    one = Making(tmp_path, "expert")
    if text is not None:
        one.config.write_text(f'name = "workshop"\n{text}')
    return one


def made(one: Making, *, now=NOW, **overrides: object):
    return one.make(at=now, **overrides)


def aged(root: Path, **changes: dict[str, object]) -> None:
    """Change the records of some videos."""
    some = [one | changes.get(str(one["video_id"]), {}) for one in lines(root / "videos.jsonl")]
    (root / "videos.jsonl").write_text("".join(json.dumps(one) + "\n" for one in some))


def test_the_sample_becomes_questions_and_the_bytes_are_the_same_again(tmp_path):
    work = configured(tmp_path, None)
    built = made(work)
    assert built.account.questions == {"Chemistry": 1, "Mechanics": 2}
    first = contents(work.out)
    made(work, out=work.root / "other")
    assert contents(work.root / "other") == first
    made(work)
    assert contents(work.out) == first
    released = lines(built.folder / "release/workshop-1.0.0/items.jsonl")
    assert {one["tags"]["split"] for one in released} == {"validation", "test"}
    by_source = {(one["source_id"], one["tags"]["split"]) for one in released}
    assert len(by_source) == 2
    (wheel,) = (one for one in released if one["item_id"] == "wheel-1")
    answer = wheel["choices"]["ABCDE".index(wheel["answer"])]
    assert answer == "Its angular momentum turns under the torque of its weight"
    assert wheel["provenance"]["licence"] == "creativeCommon, as declared on 2026-01-02"


def test_a_release_hides_a_split_and_says_what_was_looked_up(tmp_path):
    work = configured(tmp_path, None)
    hidden = 'splits = { validation = 0.5, test = 0.5 }\nhidden = ["test"]\nformats = ["items"]\n'
    work.edit("splits = { validation = 0.5, test = 0.5 }\n", hidden)
    built = made(work)
    folder = built.folder / "release" / "workshop-1.0.0"
    (outside,) = (one.split(" are in ")[1].split(",")[0] for one in built.sentences if "for you alone" in one)
    assert Path(outside) == folder.with_name("workshop-1.0.0.hidden")
    rows = lines(folder / "questions-test.jsonl")
    assert rows
    assert not any({"answer", "steps", "knowledge", "rationale"} & row.keys() for row in rows)
    looked = lines(folder / "about/licences.jsonl")[1:]
    assert looked
    assert not any("answer" in one for one in looked)
    assert scan_again(folder, Path(outside)) == ()
    assert "The licences of" in (folder / "DATASHEET.md").read_text()


def test_a_folder_with_one_fault_of_every_place_gives_exactly_these(tmp_path):
    work = configured(tmp_path, "[licence]\ndays = 1000000\n")
    root = work.root
    with (root / "videos.jsonl").open("a") as file:
        for name in ("standard", "unasked"):
            file.write(json.dumps({"video_id": name, "url": f"https://youtu.be/{name:x<11}"}) + "\n")
    with (root / "licences.jsonl").open("a") as file:
        look = {
            "video": "standardxxx",
            "outcome": "refused",
            "at": "2026-01-02T10:00:00Z",
            "licence": "youtube",
        }
        file.write(json.dumps(look) + "\n")
    good = drafts_of(root)
    (open_one,) = (one for one in good if one["kind"] == "open")
    planted = {
        "on-standard": {"video": "standard"},
        "on-unasked": {"video": "unasked"},
        "on-lecture": {"video": "lecture"},
        "on-dropped": {"concept_id": "beats"},
        "elsewhere": {"knowledge": ["https://example.org/Torque"]},
        "too-late": {"end_s": 130},
        "no-number": {"start_s": "early"},
        "of-ann": {"concept_id": "clock", "author": "ann"},
    }
    write_drafts(root, [*good, *(open_one | {"draft_id": name} | one for name, one in planted.items())])
    with (root / "drafts.jsonl").open("a") as file:
        file.write('{"draft_id": \n')
    built = made(work)
    assert [one["item_id"] for one in work.lines("items.jsonl")] == ["wheel-1", "wheel-2", "flask-1"]
    assert work.dropped() == {
        "beats": ("concepts", "dropped-by-people"),
        "lecture": ("videos", "refused-by-people"),
        "standard": ("licence", "licence-refused"),
        "unasked": ("licence", "licence-not-checked"),
        "drafts.jsonl:12": ("drafts", "unreadable"),
        "on-standard": ("checks", "video-left-out"),
        "on-unasked": ("checks", "video-left-out"),
        "on-lecture": ("checks", "video-left-out"),
        "on-dropped": ("checks", "concept-left-out"),
        "elsewhere": ("checks", "not-wikipedia"),
        "too-late": ("checks", "outside-video"),
        "no-number": ("checks", "unreadable"),
        "of-ann": ("checks", "author-without-subject"),
    }
    rows = list(csv.DictReader((work.out / "drafts-checked.csv").read_text("utf-8-sig").splitlines()))
    assert sum(row["state"] == "fault" for row in rows) == 9
    assert "9 of 12 drafts have faults" in " ".join(built.sentences)
    (table,) = (one for one in built.tables if one.name == "concepts")
    assert {row.label: row.values for row in table.rows}["4 Acids"] == (0, 0, 1, 0)


def test_readers_of_the_words_leave_questions_to_people(tmp_path):
    reader = tmp_path / "reader.py"
    reader.write_text(READER)
    more = f'[models]\nblind = "python:{reader}:reads"\n[gates]\ntext_only = ["blind"]\n'
    work = configured(tmp_path, more)
    built = made(work)
    items = {one["item_id"]: one["tags"].get("left_open", "") for one in work.lines("items.jsonl")}
    # Free answers are marked by nobody here, so that people look.
    assert items == {"wheel-1": "text-only", "wheel-2": "text-only", "flask-1": ""}
    assert (built.folder / "verdicts.jsonl").is_file()
    assert [one.stage for one in built.account.stages if one.stage.startswith("gates")] == [
        "gates: checks",
        "gates: text-only",
        "gates: blind",
    ]


def judge(folder: Path, *, by: str, verdicts: dict[str, str], now: datetime) -> None:
    """One reviewer draws all that waits, and fills the sheet in."""
    at = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    recorder = Recorder(read_reviews(folder), by=by, role="reviewer", at=at)
    draw(read_reviews(folder), recorder, by=by, role="reviewer", wanted=Share())
    write(folder, [recorder])
    rows = list(
        csv.reader(sheet(read_reviews(folder), by=by, role="reviewer").decode("utf-8-sig").splitlines(True))
    )
    head = rows[0]
    for row in rows[1:]:
        verdict = verdicts.get(row[head.index("item_id")], "accept")
        filled = dict.fromkeys(CHECKS, "yes") | {"verdict": verdict, "minutes": "4.2"}
        if verdict != "accept":
            filled |= {
                "answer": "no",
                "note": "The answer does not follow from what the clip shows, see step 2.",
            }
        for name, cell in filled.items():
            row[head.index(name)] = cell
    path = folder / f"{by}.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    recorder = Recorder(read_reviews(folder), by=by, role="reviewer", at=at)
    take_in(read_reviews(folder), recorder, [path], by=by, role="reviewer")
    write(folder, [recorder])


def test_people_accept_return_once_and_exclude(tmp_path):
    work = configured(tmp_path, '[licence]\ndays = 1000000\n[review]\n[release]\nversion = "1.0.0"\n')
    root = work.root
    built = made(work)
    assert built.is_empty
    assert "3 wait for people: vidence items review draw" in " ".join(built.sentences)
    before = (root / "review/reviews.jsonl").read_bytes()
    made(work, now=NOW.replace(hour=13))
    assert (root / "review/reviews.jsonl").read_bytes() == before
    content = read_reviews(root / "review").content("wheel-1")
    assert content["misconception"]["The hand still holds it from behind"] == "The hand is thought to stay."
    judge(
        root / "review",
        by="eve",
        verdicts={"wheel-2": "return", "flask-1": "reject"},
        now=NOW.replace(hour=14),
    )
    made(work, now=NOW.replace(hour=15))
    assert [one["item_id"] for one in work.lines("items.jsonl")] == ["wheel-1"]
    assert work.dropped()["wheel-2"] == ("review", "returned-to-author")
    assert work.dropped()["flask-1"] == ("review", "rejected")
    assert not (work.out / "release").exists()  # one draft is with its author
    drafts = drafts_of(root)
    drafts[1]["steps"] = [*drafts[1]["steps"], "The axle follows the torque."]
    drafts[0]["question"] = "Why does the wheel in the clip not fall?"
    write_drafts(root, drafts)
    built = made(work, now=NOW.replace(hour=16))
    assert "1 drafts differ from what the review holds, such as wheel-1" in " ".join(built.sentences)
    assert read_reviews(root / "review").states["wheel-2"].returns_left == 0
    judge(root / "review", by="eve", verdicts={}, now=NOW.replace(hour=17))
    made(work, now=NOW.replace(hour=18), out=root / "last")
    assert len(lines(root / "last/release/workshop-1.0.0/items.jsonl")) == 2
    items = lines(root / "last/items.jsonl")
    assert [(one["item_id"], len(one["steps"])) for one in items] == [("wheel-1", 3), ("wheel-2", 3)]
    assert "misconception" not in items[0]
    assert items[0]["provenance"]["licence"].startswith("creativeCommon")


def test_pages_are_looked_up_only_where_that_is_wanted(tmp_path, monkeypatch):
    work = configured(tmp_path, "[knowledge]\nonline = true\n")
    pages = {
        "Precession": None,
        "Angular momentum": "?",
        "Torque": "Moment of force",
        "Moment of force": None,
    }
    with WikipediaServer(pages=pages) as server:
        monkeypatch.setenv("VIDENCE_WIKIPEDIA", server.url)
        built = made(work)
        made(work)
        assert len(server.asked) == 1
        work.config.write_text('name = "workshop"\n')
        made(work, out=work.root / "offline")
        assert len(server.asked) == 1
    assert "1 disambiguation, 1 missing, 1 page, 1 redirect" in " ".join(built.sentences)
    assert work.dropped() == {
        "beats": ("concepts", "dropped-by-people"),
        "lecture": ("videos", "refused-by-people"),
        "wheel-1": ("checks", "page-disambiguation"),
        "flask-1": ("checks", "page-missing"),
    }
    assert [one["item_id"] for one in work.lines("items.jsonl")] == ["wheel-2"]
    assert len(lines(work.root / "pages.jsonl")) == 4


def test_a_video_that_is_here_says_how_long_it_is_and_shows_its_frames(tmp_path):
    reader = tmp_path / "reader.py"
    reader.write_text(
        READER.replace("(prompt, choices):", "(prompt, images, choices):\n    assert len(images) == 1")
    )
    more = f'[models]\neye = "python:{reader}:reads"\n[gates]\none_frame = "eye"\n'
    work = configured(tmp_path, f'media = "films"\nshuffle = false\n{more}')
    root = work.root
    (root / "films").mkdir()
    film = root / "films" / "wheel.mp4"
    write_video(film, squares())
    (root / "films" / "flask.mp4").write_bytes(b"no video")
    (root / "videos.jsonl").write_text(
        '{"video_id": "wheel", "path": "wheel.mp4", "duration_s": 9999, "licence": "CC BY 4.0"}\n'
        '{"video_id": "flask", "path": "flask.mp4"}\n'
    )
    drafts = [one | {"start_s": 0, "end_s": 1, "evidence": []} for one in drafts_of(root)]
    drafts[1]["end_s"] = 100
    write_drafts(root, drafts)
    made(work)
    (item,) = work.lines("items.jsonl")
    assert item["media"][0]["sha256"] == hashlib.sha256(film.read_bytes()).hexdigest()
    assert item["tags"]["left_open"] == "one-frame"
    (verdict,) = (one for one in work.lines("verdicts.jsonl") if one["gate"] == "one-frame")
    assert (verdict["decision"], verdict["n_right"], verdict.get("n_unusable", 0)) == ("open", 1, 0)
    assert work.dropped() == {
        "beats": ("concepts", "dropped-by-people"),
        "flask": ("videos", "media-failed"),
        "wheel-2": ("checks", "outside-video"),
        "flask-1": ("checks", "video-left-out"),
    }


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ('[gates]\ntext_only = ["nobody"]\n', UsageError, r"gates\.models is 'nobody'; \[models\] has none"),
        ('[release]\nversion = "1"\n', UsageError, r"\[release\] without \[review\]"),
        ('drafts = "nowhere.jsonl"\n', DataError, "no drafts there"),
        ('concepts = "nowhere.jsonl"\n', DataError, "nowhere.jsonl is not there"),
        ('[review]\nprotocol = "nobodys"\n', UsageError, "nobodys"),
        ('form = "quiz"\n', UsageError, "form"),
    ],
)
def test_bad_configurations_are_refused(tmp_path, text, error, says):
    work = configured(tmp_path, text)
    with pytest.raises(error, match=says):
        work.maker.foresee(work.config, overrides=MakeOverrides(), context=None)


def test_a_selection_of_videos_leaves_the_others_out(tmp_path):
    work = configured(tmp_path, '[videos]\nkept = "kept.csv"\n[checks]\nmost_per_video = 1\n')
    (work.root / "kept.csv").write_text("video,outcome,reasons,published,sha256\nflask,kept,,2025-01-01,\n")
    good = drafts_of(work.root)
    write_drafts(work.root, [*good, good[-1] | {"draft_id": "more", "question": "Which acid is it?"}])
    made(work)
    assert [one["item_id"] for one in work.lines("items.jsonl")] == ["flask-1"]
    assert work.dropped()["wheel"] == ("videos", "not-selected")
    assert work.dropped()["more"] == ("checks", "over-quota")

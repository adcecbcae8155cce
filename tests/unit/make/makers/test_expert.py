"""From folders of experts to questions: planted faults, gates, people, pages, releases."""

import csv
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from servers.wikipedia import WikipediaServer
from subjects.expert_set import drafts_of, set_in, write_drafts
from vidence.errors import DataError, UsageError
from vidence.make.makers.expert import create
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.release.rescan import scan_again
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


def made(config: Path, *, now=NOW, out="out", **overrides: object):
    root = config.parent
    context = BuildContext(
        cache_root=root / "cache", memory=root / "replies.sqlite", is_trusted=True, clock=lambda: now
    )
    return create().make(config, out=root / out, overrides=MakeOverrides(**overrides), context=context)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def dropped(config: Path) -> dict[str, tuple[str, str]]:
    return {one["what"]: (one["stage"], one["reason"]) for one in lines(config.parent / "out/dropped.jsonl")}


def configured(tmp_path: Path, text: str) -> Path:
    config = set_in(tmp_path / "set")
    config.write_text(f'name = "workshop"\n{text}')
    return config


def aged(root: Path, **changes: dict[str, object]) -> None:
    """Change the records of some videos."""
    some = [one | changes.get(str(one["video_id"]), {}) for one in lines(root / "videos.jsonl")]
    (root / "videos.jsonl").write_text("".join(json.dumps(one) + "\n" for one in some))


def test_the_sample_becomes_questions_and_the_bytes_are_the_same_again(tmp_path):
    config = set_in(tmp_path / "set")
    built = made(config)
    assert built.account.questions == {"Chemistry": 1, "Mechanics": 2}
    first = {p.relative_to(built.folder): p.read_bytes() for p in built.folder.rglob("*") if p.is_file()}
    made(config, out="other")
    other = config.parent / "other"
    second = {p.relative_to(other): p.read_bytes() for p in other.rglob("*") if p.is_file()}
    assert first == second
    made(config)
    assert {p: (built.folder / p).read_bytes() for p in first} == first
    released = lines(built.folder / "release/workshop-1.0.0/items.jsonl")
    assert {one["tags"]["split"] for one in released} == {"validation", "test"}
    by_source = {(one["source_id"], one["tags"]["split"]) for one in released}
    assert len(by_source) == 2
    (wheel,) = (one for one in released if one["item_id"] == "wheel-1")
    answer = wheel["choices"]["ABCDE".index(wheel["answer"])]
    assert answer == "Its angular momentum turns under the torque of its weight"
    assert wheel["provenance"]["licence"] == "creativeCommon, as declared on 2026-01-02"


def test_a_release_hides_a_split_and_says_what_was_looked_up(tmp_path):
    config = set_in(tmp_path / "set")
    hidden = 'splits = { validation = 0.5, test = 0.5 }\nhidden = ["test"]\nformats = ["items"]\n'
    text = config.read_text()
    config.write_text(text.replace("splits = { validation = 0.5, test = 0.5 }\n", hidden))
    built = made(config)
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


def test_a_session_that_is_ended_early_goes_on(tmp_path):
    config = set_in(tmp_path / "set")
    for stage in create().stages:
        account = made(config, until=stage).account
        assert all(one.n_in == one.n_out + one.n_dropped for one in account.stages)
    whole = made(config, out="whole")
    assert (config.parent / "out/account.json").read_bytes() == (whole.folder / "account.json").read_bytes()


def test_a_folder_with_one_fault_of_every_place_gives_exactly_these(tmp_path):
    config = configured(tmp_path, "[licence]\ndays = 1000000\n")
    root = config.parent
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
    built = made(config)
    assert [one["item_id"] for one in lines(root / "out/items.jsonl")] == ["wheel-1", "wheel-2", "flask-1"]
    assert dropped(config) == {
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
    rows = list(csv.DictReader((root / "out/drafts-checked.csv").read_text("utf-8-sig").splitlines()))
    assert sum(row["state"] == "fault" for row in rows) == 9
    assert "9 of 12 drafts have faults" in " ".join(built.sentences)
    (table,) = (one for one in built.tables if one.name == "concepts")
    assert {row.label: row.values for row in table.rows}["4 Acids"] == (0, 0, 1, 0)


def test_a_mended_sheet_takes_the_place_of_the_drafts(tmp_path):
    config = configured(tmp_path, "")
    root = config.parent
    good = drafts_of(root)
    write_drafts(root, [good[0] | {"end_s": 500}, *good[1:]])
    made(config)
    text = (root / "out/drafts-checked.csv").read_text("utf-8-sig")
    assert "500 s; the video ends at 120 s" in text
    (root / "mended.csv").write_text(text.replace(",500,", ",40.5,"))
    config.write_text('name = "workshop"\ndrafts = "mended.csv"\n')
    made(config, out="again")
    assert [one["item_id"] for one in lines(root / "again/items.jsonl")] == [one["draft_id"] for one in good]


def test_readers_of_the_words_leave_questions_to_people(tmp_path):
    reader = tmp_path / "reader.py"
    reader.write_text(READER)
    more = f'[models]\nblind = "python:{reader}:reads"\n[gates]\ntext_only = ["blind"]\n'
    config = configured(tmp_path, more)
    built = made(config)
    items = {one["item_id"]: one["tags"].get("left_open", "") for one in lines(built.folder / "items.jsonl")}
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
    config = configured(tmp_path, '[licence]\ndays = 1000000\n[review]\n[release]\nversion = "1.0.0"\n')
    root = config.parent
    built = made(config)
    assert built.is_empty
    assert "3 wait for people: vidence review draw" in " ".join(built.sentences)
    before = (root / "review/reviews.jsonl").read_bytes()
    made(config, now=NOW.replace(hour=13))
    assert (root / "review/reviews.jsonl").read_bytes() == before
    content = read_reviews(root / "review").content("wheel-1")
    assert content["misconception"]["The hand still holds it from behind"] == "The hand is thought to stay."
    judge(
        root / "review",
        by="eve",
        verdicts={"wheel-2": "return", "flask-1": "reject"},
        now=NOW.replace(hour=14),
    )
    made(config, now=NOW.replace(hour=15))
    assert [one["item_id"] for one in lines(root / "out/items.jsonl")] == ["wheel-1"]
    assert dropped(config)["wheel-2"] == ("review", "returned-to-author")
    assert dropped(config)["flask-1"] == ("review", "rejected")
    drafts = drafts_of(root)
    drafts[1]["steps"] = [*drafts[1]["steps"], "The axle follows the torque."]
    drafts[0]["question"] = "Why does the wheel in the clip not fall?"
    write_drafts(root, drafts)
    config.write_text(config.read_text().replace("1.0.0", "1.0.1"))
    built = made(config, now=NOW.replace(hour=16))
    assert "1 drafts differ from what the review holds, such as wheel-1" in " ".join(built.sentences)
    assert read_reviews(root / "review").states["wheel-2"].returns_left == 0
    judge(root / "review", by="eve", verdicts={}, now=NOW.replace(hour=17))
    made(config, now=NOW.replace(hour=18), out="last")
    items = lines(root / "last/items.jsonl")
    assert [(one["item_id"], len(one["steps"])) for one in items] == [("wheel-1", 3), ("wheel-2", 3)]
    assert "misconception" not in items[0]
    assert items[0]["provenance"]["licence"].startswith("creativeCommon")


def test_pages_are_looked_up_only_where_that_is_wanted(tmp_path, monkeypatch):
    config = configured(tmp_path, "[knowledge]\nonline = true\n")
    pages = {
        "Precession": None,
        "Angular momentum": "?",
        "Torque": "Moment of force",
        "Moment of force": None,
    }
    with WikipediaServer(pages=pages) as server:
        monkeypatch.setenv("VIDENCE_WIKIPEDIA", server.url)
        built = made(config)
        made(config)
        assert len(server.asked) == 1
        config.write_text('name = "workshop"\n')
        made(config, out="offline")
        assert len(server.asked) == 1
    assert "1 disambiguation, 1 missing, 1 page, 1 redirect" in " ".join(built.sentences)
    assert dropped(config) | {} == {
        "beats": ("concepts", "dropped-by-people"),
        "lecture": ("videos", "refused-by-people"),
        "wheel-1": ("checks", "page-disambiguation"),
        "flask-1": ("checks", "page-missing"),
    }
    assert [one["item_id"] for one in lines(config.parent / "out/items.jsonl")] == ["wheel-2"]
    assert len(lines(config.parent / "pages.jsonl")) == 4


def test_a_video_that_is_here_says_how_long_it_is_and_shows_its_frames(tmp_path):
    reader = tmp_path / "reader.py"
    reader.write_text(READER)
    more = f'[models]\neye = "python:{reader}:reads"\n[gates]\none_frame = "eye"\n'
    config = configured(tmp_path, f'media = "films"\nshuffle = false\n{more}')
    root = config.parent
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
    made(config)
    (item,) = lines(root / "out/items.jsonl")
    assert item["media"][0]["sha256"] == hashlib.sha256(film.read_bytes()).hexdigest()
    assert item["tags"]["left_open"] == "one-frame"
    assert dropped(config) == {
        "beats": ("concepts", "dropped-by-people"),
        "flask": ("videos", "media-failed"),
        "wheel-2": ("checks", "outside-video"),
        "flask-1": ("checks", "video-left-out"),
    }


def test_questions_of_reasoning_go_through_their_own_review(tmp_path):
    config = configured(tmp_path, 'form = "humanpcr-r"\n[review]\nprotocol = "humanpcr-r"\n')
    root = config.parent
    aged(root, wheel={"duration_s": 400, "published": "2025-01-01"})
    evidence = ["referred 12-20 step 1: the wheel hangs", "proactive 20-30 step 2: a finger lets go"]
    asked = [one | {"evidence": evidence, "reasoning": "causal"} for one in drafts_of(root)[:2]]
    write_drafts(root, [asked[0], asked[1] | {"evidence": evidence[:1], "reasoning": "none"}])
    made(config)
    assert dropped(config) == {
        "beats": ("concepts", "dropped-by-people"),
        "lecture": ("videos", "refused-by-people"),
        "wheel-1": ("review", "waits-for-review"),
        "wheel-2": ("checks", "few-evidence"),
    }
    content = read_reviews(root / "review").content("wheel-1")
    assert [(one.get("kind", "referred"), one["step"]) for one in content["evidence"]] == [
        ("referred", 0),
        ("proactive", 1),
    ]


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ('[gates]\ntext_only = ["nobody"]\n', UsageError, r"\[gates\] asks 'nobody'; \[models\] has none"),
        ('[release]\nversion = "1"\n', UsageError, r"\[release\] without \[review\]"),
        ('drafts = "nowhere.jsonl"\n', DataError, "no drafts there"),
        ('concepts = "nowhere.jsonl"\n', DataError, "nowhere.jsonl is not there"),
        ('[review]\nprotocol = "nobodys"\n', UsageError, "nobodys"),
        ('form = "quiz"\n', UsageError, "form"),
    ],
)
def test_bad_configurations_are_refused(tmp_path, text, error, says):
    with pytest.raises(error, match=says):
        create().check(configured(tmp_path, text))


def test_a_narrowed_session_releases_nothing(tmp_path):
    config = set_in(tmp_path / "set")
    assert any("narrowed with --only or --limit" in one for one in made(config, limit=1).sentences)
    with pytest.raises(UsageError, match="no sheets"):
        made(config, sheets="x")
    assert made(config, limit=1, until="questions").account.questions == {"Mechanics": 1}


def test_a_selection_of_videos_leaves_the_others_out_with_its_reasons(tmp_path):
    config = configured(tmp_path, '[videos]\nkept = "selected/kept.csv"\n')
    root = config.parent
    (root / "selected").mkdir()
    kept = "video,outcome,reasons,published,sha256\nflask,kept,,2025-01-01,\n"
    (root / "selected/kept.csv").write_text(kept)
    (root / "selected/sources.csv").write_text(kept + "wheel,dropped,120 s; expected 300 or more,,\n")
    built = made(config)
    assert [one["item_id"] for one in lines(root / "out/items.jsonl")] == ["flask-1"]
    gone = {one["what"]: one for one in lines(root / "out/dropped.jsonl")}
    assert (gone["wheel"]["reason"], gone["wheel"]["detail"]) == (
        "not-selected",
        "120 s; expected 300 or more",
    )
    assert gone["wheel-1"]["reason"] == "video-left-out"
    (stage,) = (one for one in built.account.stages if one.stage == "videos")
    assert stage.dropped == {"not-selected": 1, "refused-by-people": 1}
    (root / "selected/kept.csv").unlink()
    with pytest.raises(DataError, match=r"kept\.csv is not there"):
        made(config)


def test_reasoning_asks_for_long_videos_of_the_last_two_years(tmp_path):
    config = configured(tmp_path, 'form = "humanpcr-r"\n')
    root = config.parent
    evidence = ["referred 12-20 step 1: the wheel hangs", "proactive 20-30 step 2: a finger lets go"]
    (first,) = (one | {"evidence": evidence, "reasoning": "causal"} for one in drafts_of(root)[:1])
    write_drafts(root, [first | {"date": "2026-03-02"}])
    for record, reason in (
        ({"duration_s": 299.0, "published": "2025-01-01"}, "short-video"),
        ({"duration_s": 300.0, "published": "2024-02-29"}, "old-video"),
        ({"duration_s": 300.0, "published": "2024-03-01"}, None),
        ({"duration_s": 300.0}, None),
    ):
        aged(root, wheel={"published": None} | record)
        made(config)
        assert dropped(config).get("wheel-1") == (None if reason is None else ("checks", reason))
    sheet_of = (root / "out/drafts-checked.csv").read_text("utf-8-sig")
    assert "nobody knows when the video was published" in sheet_of


def test_what_the_gate_of_checks_finds_is_dropped_and_what_models_solve_is_left_to_people(tmp_path):
    config = configured(tmp_path, "[gates]\npreset = 'mmvu'\n")
    good = drafts_of(config.parent)
    write_drafts(config.parent, [*good, good[0] | {"draft_id": "again"}])
    made(config)
    assert dropped(config)["again"] == ("gates: checks", "repeat")


LINKS = {
    "https://en.wikipedia.org.example.org/wiki/Torque": "not-wikipedia",
    "https://en.wikipedia.org@example.org/wiki/Torque": "not-wikipedia",
    "https://example.org/en.wikipedia.org/wiki/Torque": "not-wikipedia",
    "https://xn--wikipdia-f1a.org/wiki/Torque": "not-wikipedia",
    "https://en.wikipedia.com/wiki/Torque": "not-wikipedia",
    "javascript:alert('https://en.wikipedia.org/wiki/Torque')": "not-wikipedia",
    "file:///wiki/Torque": "not-wikipedia",
    "https://[::1/wiki/Torque": "not-wikipedia",
    "https://fandom.com/wiki/Torque": "not-wikipedia",
    "http://en.wikipedia.org/wiki/Torque": "link-form",
    "https://user@en.wikipedia.org/wiki/Torque": "link-form",
    "https://en.wikipedia.org:8443/wiki/Torque": "link-form",
    "https://en.wikipedia.org/w/index.php?title=Torque": "link-form",
    "https://en.wikipedia.org/wiki/": "link-form",
    "https://en.wikipedia.org/wiki/%3Cscript%3E": "link-form",
    "https://en.wikipedia.org/wiki/Torque?action=edit": "link-form",
    "https://en.m.wikipedia.org/wiki/Torque": "link-form",
}


def test_a_link_that_only_looks_like_wikipedia_keeps_its_draft_out(tmp_path):
    config = configured(tmp_path, "")
    good = drafts_of(config.parent)
    planted = [
        good[0]
        | {"draft_id": f"link-{i}", "question": f"Why does wheel {i} stay up?", "knowledge": [{"url": url}]}
        for i, url in enumerate(LINKS)
    ]
    write_drafts(config.parent, [*good, *planted])
    built = made(config)
    gone = {name: why for name, why in dropped(config).items() if name.startswith("link-")}
    assert gone == {f"link-{i}": ("checks", reason) for i, reason in enumerate(LINKS.values())}
    (stage,) = (one for one in built.account.stages if one.stage == "checks")
    assert stage.dropped == {"not-wikipedia": 9, "link-form": 8}
    assert len(lines(config.parent / "out/items.jsonl")) == len(good)


def test_a_quota_keeps_the_first_of_the_file(tmp_path):
    config = configured(tmp_path, "[checks]\nmost_per_video = 1\n")
    built = made(config)
    assert [one["item_id"] for one in lines(config.parent / "out/items.jsonl")] == ["wheel-1", "flask-1"]
    assert dropped(config)["wheel-2"] == ("checks", "over-quota")
    (stage,) = (one for one in built.account.stages if one.stage == "checks")
    assert stage.dropped == {"over-quota": 1}


@pytest.mark.parametrize(
    ("name", "reason"), [("concepts.jsonl", "unknown-concept"), ("videos.jsonl", "unknown-video")]
)
def test_a_set_without_concepts_or_videos_has_a_reason_for_each_draft(tmp_path, name, reason):
    config = configured(tmp_path, "")
    first = lines(config.parent / name)[0]
    unknown = first | {"concept_id": "other"} if name == "concepts.jsonl" else first | {"video_id": "other"}
    (config.parent / name).write_text(json.dumps(unknown) + "\n")
    built = made(config)
    assert built.is_empty
    reasons = {why for what, why in dropped(config).items() if why[0] == "checks"}
    assert reasons == {("checks", reason)}
    assert (config.parent / "out/items.jsonl").read_bytes() == b""

"""What a configuration can give, before anything is made."""

import shutil
from pathlib import Path

import pytest

from vidence.errors import DataError, UnknownNameError
from vidence.make.gates.rules import ReviewRules
from vidence.make.herbench.planning import review_words
from vidence.make.makers.herbench import create
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Outlook
from videos.special import MAKERS
from videos.stamped import cut_off
from videos.walkers import film

GOLDEN = Path(__file__).parents[3] / "golden" / "makers" / "herbench"
HEAD = 'name = "n"\nvideos = "v"\n'


def outlook(config: Path, **overrides: object) -> Outlook:
    context = BuildContext(cache_root=config.parent / "cache", memory=config.parent / "replies.sqlite")
    return create().foresee(config, overrides=MakeOverrides(**overrides), context=context)


def numbers(found: Outlook) -> dict[str, tuple[object, ...]]:
    (table,) = found.tables
    return {row.key: (*row.values[:2], row.values[3]) for row in table.rows}


def eyes(found: Outlook) -> dict[str, object]:
    (table,) = found.tables
    return {row.key: row.values[2] for row in table.rows}


@pytest.fixture
def clips(tmp_path) -> Path:
    """Five videos that nobody made for this: plain, upright, of variable rate, cut off, and no video."""
    (tmp_path / "v").mkdir()
    film(tmp_path / "v" / "street.mp4", (), n_frames=12)
    MAKERS["turned-90"](tmp_path / "v")
    MAKERS["vfr"](tmp_path / "v")
    cut_off(tmp_path / "v" / "street.mp4", tmp_path / "v" / "broken.mp4", share=0.5)
    (tmp_path / "v" / "words.mp4").write_text("no video")
    return tmp_path


def config(folder: Path, more: str = "", source: str = "") -> Path:
    path = folder / "config.toml"
    path.write_text(f'{HEAD}[[sources]]\npath = "*"\n{source}{more}')
    return path


def test_a_folder_of_videos_alone_is_told_what_it_lacks_in_ten_lines(clips):
    found = outlook(config(clips))
    assert not found.can_make
    assert len(found.sentences) <= 10
    said = "\n".join(found.sentences)
    assert found.sentences[0].endswith("gives no question as it is")
    assert "3 videos can be used; 2 cannot: broken (v/broken.mp4" in said.replace(str(clips) + "/", "")
    assert "Add [[logs]] for AC, ASII, FAM and FOM (4 tasks)." in found.sentences
    assert "Add [tracking] and [cards] for AGLT, MEGL and MPDR (3 tasks)." in found.sentences
    assert "Add [shots] and [scenes] or scene_cards for SVA and TSO (2 tasks)." in found.sentences
    assert "Add [tracking] and people's counts for RLPC (1 task)." in found.sentences
    assert "upright videos are used as they are shown: turned90.mp4" in said
    assert "variable frame rate are used with the time of each frame: vfr.mp4" in said
    assert {row[:2] for row in numbers(found).values()} == {(0, 0)}


def test_bounds_follow_videos_and_quotas(clips):
    paper = 'options = { count = "paper" }\n'
    more = f"[tracking]\n[shots]\n[tasks.rlpc]\n{paper}per_video = 4\n[tasks.tso]\n[tasks.mpdr]\n"
    found = outlook(config(clips, more))
    assert found.can_make
    assert numbers(found) == {
        "RLPC": (12, 3, ""),
        "TSO": (0, 0, "[scenes] or scene_cards"),
        "MPDR": (0, 0, "[cards]"),
    }
    assert "At most 12 questions of 1 task: RLPC 12." in found.sentences
    total = outlook(config(clips, more.replace("per_video = 4", "per_video = 4\ntotal = 5")), limit=3)
    assert numbers(total)["RLPC"] == (5, 2, "")
    assert list(numbers(outlook(config(clips, more), only=("rlpc",)))) == ["RLPC"]


def test_eyes_are_named_beside_the_tasks_that_they_make_possible(clips):
    more = "[tracking]\n[shots]\n[people]\n[tasks.rlpc]\n[tasks.tso]\n[tasks.mpdr]\n[tasks.ac]\n"
    seen = eyes(outlook(config(clips, more)))
    assert seen == {"AC": "", "MPDR": "hog, deepsort", "RLPC": "hog, deepsort, counts", "TSO": "content"}
    for name in ("street", "turned90", "vfr"):
        (clips / f"{name}.txt").write_text("1,1,1,1,9,9,1\n12,1,1,1,9,9,1\n")
    given = eyes(outlook(config(clips, more, 'tracks = "mot:{video_id}.txt"\n')))
    assert (given["MPDR"], given["RLPC"]) == ("given tracks", "given tracks")


@pytest.mark.parametrize(
    ("tracking", "source", "message", "add"),
    [
        ('detector = "rfdetr:absent.pth"', "", "the detector rfdetr:absent.pth cannot be used", "[tracking]"),
        ('detector = "rfdetr:absent.pth"', 'detections = "boxes.txt"\n', "", ""),
        ('second = "rfdetr:absent.pth"', "", "the detector rfdetr:absent.pth cannot be used", ""),
        ('tracker = "sam2"', "", "the tracker sam2 cannot be used: sam2 needs a folder", "[tracking]"),
    ],
)
def test_a_task_that_needs_eyes_that_cannot_be_used_here_is_not_possible(
    clips, tracking, source, message, add
):
    (clips / "boxes.txt").write_text("1,-1,1,1,9,9,1\n")
    paper = '[tasks.rlpc.options]\ncount = "paper"\n'
    found = outlook(config(clips, f"[tracking]\n{tracking}\n{paper}", source))
    assert numbers(found)["RLPC"][2] == add
    assert found.can_make == (not add)
    assert message in "\n".join(found.sentences)
    assert ("# into the [tracking] that is there:" in found.sentences[-1]) == bool(add)


def test_boxes_that_are_not_there_are_named(clips):
    with pytest.raises(DataError, match=r"the boxes of the video street: .*absent\.txt"):
        outlook(config(clips, "[tracking]\n[tasks.rlpc]\n", 'detections = "absent.txt"\n'))


def test_shots_that_cannot_be_found_here_make_no_task_possible(clips):
    written = '[scenes]\nmodel = "w"\n[models]\nw = "scripted:A"\n[tasks.tso]\n'
    more = f'[shots]\nsecond = "content?threshold=-1"\n{written}'
    found = outlook(config(clips, more))
    assert numbers(found)["TSO"] == (0, 0, "[shots]")
    assert "Note: the shot-detector content?threshold=-1 cannot be used" in "\n".join(found.sentences)


COUNTED = (
    "video_id,check,window,place,n,n_low,n_high,counter\nstreet,abcdefghijkl,whole,entered:left,3,3,3,P1\n"
)
PASTED = "Lines that add all this, for the end of the file:\n"
LOG = "video_id,start,end,narration,verb,noun\n" + "".join(
    f"{video},{i},{i + 1},take cup,take,cup\n" for video in ("street", "turned90", "vfr") for i in range(3)
)


def pasted(found: Outlook) -> str:
    """The lines that the last sentence says to paste."""
    head, _, lines = found.sentences[-1].partition(PASTED)
    assert not head
    return lines.partition("\nWhat lies in")[0] + "\n"


def test_the_lines_to_paste_lead_to_questions_of_every_task(clips):
    """Pasted as they are; then the files that are named are written and filled in."""
    path = config(clips)
    path.write_text(path.read_text() + pasted(outlook(path)))
    (clips / "log.csv").write_text(LOG)
    missing = {row[2] for row in numbers(outlook(path)).values()} - {""}
    assert missing == {"A-cards in files", "A-cards and B-cards in files", "counts, or rows on everybody"}
    (clips / "sheets" / "street").mkdir(parents=True)
    row = "video_id,track_id,appearance,path\nstreet,1,A red coat.,Walks by.\n"
    (clips / "sheets" / "street" / "cards.csv").write_text(row)
    (clips / "people").mkdir()
    (clips / "people" / "counts.csv").write_text(COUNTED)
    found = outlook(path)
    assert {code: row[2] for code, row in numbers(found).items() if not row[0]} == {}
    assert numbers(found)["RLPC"][1] == 1
    assert PASTED not in found.sentences[-1]


def test_counts_of_people_need_people(clips):
    """They counted, or answer for the tracks, or gave them."""
    said = "counts, or rows on everybody"
    counted = "[people]\n[tracking]\n[tasks.rlpc]\n"
    assert numbers(outlook(config(clips, counted)))["RLPC"] == (0, 0, said)
    (clips / "people").mkdir()
    (clips / "people" / "counts.csv").write_text(COUNTED)
    assert numbers(outlook(config(clips, counted)))["RLPC"][1] == 1
    (clips / "people" / "counts.csv").unlink()
    rows = "video_id,check,track_id,act,by\nstreet,abcdefghijkl,1,ok,P1\n"
    (clips / "people" / "tracks.csv").write_text(rows)
    assert numbers(outlook(config(clips, counted)))["RLPC"] == (0, 0, said)
    (clips / "people" / "tracks.csv").write_text(f"{rows}street,abcdefghijkl,everybody,all,P1\n")
    assert numbers(outlook(config(clips, counted)))["RLPC"][1] == 1
    given = "[tracking]\n[tasks.rlpc]\n"
    for name in ("street", "turned90", "vfr"):
        (clips / f"{name}.txt").write_text("1,1,1,1,9,9,1\n12,1,1,1,9,9,1\n")
    assert numbers(outlook(config(clips, given, 'tracks = "mot:{video_id}.txt"\n')))["RLPC"][1] == 3


def test_only_videos_whose_shots_are_described_are_counted(clips):
    """One has sentences, the sheet of another is empty, and the third, of one shot, has none."""
    given = config(clips, "[shots]\n[tasks.tso]\n", 'scene_cards = "{video_id}.csv"\n')
    assert numbers(outlook(given))["TSO"] == (0, 0, "sentences in scene cards")
    head = "video_id,shot_id,start_s,text\n"
    (clips / "vfr.csv").write_text(f"{head}vfr,shot-0001,0,\n")
    assert numbers(outlook(given))["TSO"][1] == 0
    (clips / "street.csv").write_text(f"{head}street,shot-0001,0,A street.\n")
    assert numbers(outlook(given))["TSO"][1] == 1


def test_tracks_of_people_are_read_and_laid_over_their_videos(clips):
    """All that is wrong with them is said at once: not there, beyond the end."""
    given = config(clips, "[tracking]\n[tasks.rlpc]\n", 'tracks = "mot:{video_id}.txt"\n')
    rows = [f"{f + 1},{i},{20 * f},{5 + 60 * i},30,50,1\n" for i in range(3) for f in range(12)]
    (clips / "street.txt").write_text("".join(rows))
    (clips / "vfr.txt").write_text("4000,1,1,1,9,9,1\n")
    with pytest.raises(DataError) as wrong:
        outlook(given)
    turned, vfr = str(wrong.value).splitlines()
    assert turned.startswith("the tracks of the video turned90: ")
    assert "turned90.txt cannot be read" in turned
    assert "1 of 1 boxes beyond the end" in vfr


def test_files_of_cards_are_read_before_anybody_waits_for_tracks(clips):
    more, source = "[tracking]\n[tasks.mpdr]\n[tasks.agbi]\n", 'cards = "cards.csv"\n'
    with pytest.raises(DataError, match=r"the cards of the video street: .*cards\.csv"):
        outlook(config(clips, more, source))
    (clips / "cards.csv").write_text("track_id,kind,text\n1,B,walks by\n")
    found = numbers(outlook(config(clips, more, source)))
    assert found["MPDR"] == (0, 0, "A-cards in files")
    (clips / "cards.csv").write_text("track_id,kind,text\n1,A,a red coat\n")
    assert numbers(outlook(config(clips, more, source)))["MPDR"][:2] == (30, 3)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[tracking]\ndetector = "yolo:x"\n', "no detector named 'yolo'"),
        ('[tracking]\ntracker = "deepsrot"\n', "Did you mean 'deepsort'"),
        ('[tracking]\ntracker = "deepsort:colours"\n', "Did you mean 'colour'"),
        ('[shots]\ndetector = "contents"\n', "Did you mean 'content'"),
    ],
)
def test_names_that_nothing_has_are_said_before_the_making(clips, table, said):
    with pytest.raises(UnknownNameError, match=said):
        outlook(config(clips, table))


def test_a_log_bounds_by_its_videos(tmp_path):
    shutil.copytree(GOLDEN, tmp_path / "set")
    found = outlook(tmp_path / "set" / "config.toml")
    assert found.can_make
    bounds = {name: row[:2] for name, row in numbers(found).items()}
    assert bounds == {"AC": (15, 5), "ASII": (15, 5), "FAM": (5, 5), "FOM": (15, 5)}
    (tmp_path / "set" / "log.csv").write_text(
        "video_id,start,end,narration,verb,noun\nv1,1,2,take cup,take,cup\n"
    )
    few = outlook(tmp_path / "set" / "config.toml")
    assert not few.can_make
    assert numbers(few)["AC"] == (0, 0, "a log with 3 events of a video or more")


def test_reviews_are_counted_before_anybody_starts():
    said = review_words(ReviewRules())
    assert "released after 9 reviews or more without a rejection" in said
    assert "share = 0.15 draws these of tasks with about 60 questions and more, each_task = 9" in said
    assert "each_task = 12 has so many" in review_words(ReviewRules(each_task=12))

"""Two counters on the right edge of PETS09-S2L1, through the board, and the questions that come of it.

The tracks are those of a detector: alone they are refused. Who counts here is no
person: the first counter notes where tracks of the published tracker (silver, not truth) begin at the edge,
the second one misses two of them and is a few frames late.
"""

import shutil

import msgspec
import pytest

from conftest import need
from servers.studio import configured, studio

configured()  # before tests import tables

from subjects.board_studio import Boards, open_boards  # noqa: E402
from subjects.street_set import StreetSet  # noqa: E402

pytestmark = pytest.mark.parity

CONFIG = """
name = "street"
seed = 7
videos = "."
[[sources]]
path = "north.mp4"
detections = "boxes.txt"
[tracking]
tracker = "deepsort"
[tracking.refine.filter]
least_area_px = 800.0
[shots]
[people]
[tasks.rlpc]
"""
FIRST = (11, 42, 115, 133, 219, 229, 421, 462, 502, 506, 570, 656, 690)
SECOND = tuple(frame + 3 for frame in FIRST if frame not in (229, 656))
PLACE = {"place": "entered:right", "first": "", "last": ""}


@pytest.fixture
def pets(data_dir, tmp_path):
    made = StreetSet(tmp_path / "pets")
    made.folder.mkdir()
    shutil.copy(need(data_dir / "video" / "pets09_s2l1_view1_768x576.mp4"), made.folder / "north.mp4")
    shutil.copy(need(data_dir / "tracking" / "PETS09-S2L1_det_sort.txt"), made.folder / "boxes.txt")
    made.config.write_text(CONFIG)
    return made


def said(frames):
    n = str(len(frames))
    return {**PLACE, "n": n, "n_low": n, "n_high": n, "frames": " ".join(map(str, frames))}


def test_two_counters_differ_agree_and_are_asked_about_where_tracks_were_refused(pets, tmp_path):
    refused = pets.make()
    assert pets.drafts() == []
    assert any("detected-tracks-alone" in one for one in refused.sentences)
    with studio("team", tmp_path / "studio", paths=(pets.config,)) as made:
        made.project("films")
        made.user("Olga", "operator", project="films")
        first = open_boards(pets, made.signed_in("Olga"), project="films")
        made.user("Ada", "author", project="films")
        second = Boards(street=pets, made=first.made, client=made.signed_in("Ada"))
        assert first.post("counts", act="count", **said(FIRST)).status_code == 302
        blind = second.page("counts?place=entered:right")
        assert "the tracks clearly" not in blind
        assert ": 13" not in blind
        assert second.post("counts", act="count", **said(SECOND)).status_code == 302
        page = second.page("counts?place=entered:right")
        assert "they differ by 2, and no number is in both ranges: look again together" in page
        assert "frame 229: p001, not p002" in page
        assert "frame 656: p001, not p002" in page
        assert page.count(", not p0") == 2
        pets.make()
        assert pets.drafts() == []  # nothing is known where ranges do not meet
        for counter in (second, first):
            assert counter.post("counts", act="agree", **said(FIRST)).status_code == 302
        page = first.page("counts")
        assert "agreed on 13 (13 to 13)." in page
        assert "the tracks clearly show 13 of 13: recall 1.00" in page
        assert "Redone next time:</strong> 1 count, drafts of this video" in page
        built = pets.make()
        assert "Redone next time" not in first.page("counts")
    (draft,) = pets.drafts()
    assert draft.truth == "person"
    assert draft.question.startswith("How many people come into view through the right edge of the frame?")
    assert draft.facts["counted by"] == "p001 13 (13 to 13); p002 11 (11 to 11); agreed 13 (13 to 13)"
    assert draft.facts["share found by tracks"] == "1.00"
    assert len(draft.evidence) >= 3
    low, _, high = draft.choices[draft.answer_index].partition(" to ")
    assert int(low.split()[0]) <= 13 <= int((high or low).split()[0])
    assert built.sentences
    account = msgspec.json.decode((pets.made / "account.json").read_bytes())
    assert any("persons counted 13 (13 to 13), tracks 13: recall 1.00" in one for one in account["notes"])

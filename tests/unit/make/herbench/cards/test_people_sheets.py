"""The page and the tables of a sheet."""

from vidence.make.herbench.cards.people_sheets import SheetShot, SheetTrack, VideoSheet, page, scenes_csv
from vidence.seeing.shooting import Shot

SHOTS = (
    Shot(shot_id="shot-0001", first_frame=0, last_frame=9, start_s=0.0, end_s=1.0),
    Shot(shot_id="shot-0002", first_frame=10, last_frame=29, start_s=1.0, end_s=3.0),
)
TRACK = SheetTrack(
    track_id="7",
    check="abc",
    is_picked=True,
    is_left_out=False,
    first_frame=0,
    last_frame=29,
    first_s=0.0,
    last_s=3.0,
    begins="middle left",
    ends="middle right",
)


def sheet(*, n_shots: int = 0, tracks: tuple[SheetTrack, ...] = (), is_given: bool = False) -> VideoSheet:
    return VideoSheet(
        video_id="v",
        path="v.mp4",
        sha256="0" * 64,
        fps=10.0,
        n_frames=30,
        width_px=64,
        height_px=36,
        is_given=is_given,
        tracks=tracks,
        shots=tuple(SheetShot(shot=shot) for shot in SHOTS[:n_shots]),
    )


def told(of: VideoSheet) -> list[str]:
    """The tables that the page speaks of."""
    text = page(of, picture=lambda _: b"")
    names = ("cards.csv", "tracks.csv", "shots.csv", "scenes.csv")
    return [name for name in names if f"<b>{name}</b>" in text]


def test_the_page_speaks_of_no_table_that_the_video_does_not_have() -> None:
    assert told(sheet(n_shots=2)) == ["shots.csv", "scenes.csv"]
    assert told(sheet(n_shots=1, tracks=(TRACK,))) == ["cards.csv", "tracks.csv", "shots.csv"]
    assert told(sheet(tracks=(TRACK,), is_given=True)) == ["cards.csv"]
    assert " tracks, " not in page(sheet(n_shots=2), picture=lambda _: b"")


def test_the_page_says_what_the_verdicts_count_and_how_to_name_a_mixed_track() -> None:
    text = page(sheet(tracks=(TRACK,)), picture=lambda _: b"")
    assert "or a person whom another track shows at the same time: it is not counted" in text
    assert "a person of their own, who is counted" in text
    assert "DIFFERENT PEOPLE" in text


def test_the_sheet_of_scenes_has_a_row_for_each_shot() -> None:
    head, first, second = scenes_csv(sheet(n_shots=2)).decode("utf-8-sig").splitlines()
    assert head == "video_id,shot_id,start_s,end_s,text,false,note"
    assert (first, second) == ("v,shot-0001,0.000,1.000,,,", "v,shot-0002,1.000,3.000,,,")

"""Scene cards: which frames are shown, which sentences are taken."""

import io

import msgspec
import numpy as np
import pytest
from PIL import Image

from vidence.errors import UsageError
from vidence.make.herbench.cards.scenes import (
    SceneRules,
    ShotPictures,
    describe,
    frames_of,
    read_sentence,
    take_pictures,
    unlike_each_other,
)
from vidence.make.pipeline.material import Crop, Dropped, SceneCard
from vidence.make.pipeline.pictures import PictureFolder
from vidence.media.video import open_video
from vidence.records import ImagePart, Reply
from vidence.seeing.shooting import Shot, cuts_to_spans, timed
from videos import edited

SHOT = Shot(shot_id="shot-0002", first_frame=40, last_frame=79, start_s=1.6, end_s=3.2)
GOOD = "A red-haired woman in a brown coat walks through deep snow towards dark mountains."


@pytest.fixture
def shown() -> ShotPictures:
    crops = tuple(
        Crop(track_id="", frame_index=i, digest=f"{i:064x}", width_px=96, height_px=64) for i in (45, 60)
    )
    return ShotPictures(shot=SHOT, pictures=crops)


def test_the_frames_of_a_shot_are_the_middles_of_equal_parts():
    # 15 % of 40 frames are left out on both sides: 46 to 74; the middles of its thirds are 50.67, 60, 69.33.
    assert frames_of(SHOT, SceneRules()) == (50, 60, 69)
    assert frames_of(SHOT, SceneRules(n_frames=1)) == (60,)
    # Of 52 frames twelve still show the shot before.
    mixed = msgspec.structs.replace(SHOT, first_frame=28, n_mixed=12)
    assert frames_of(mixed, SceneRules()) == (50, 60, 69)
    one = Shot(shot_id="s", first_frame=7, last_frame=7, start_s=0, end_s=0.04)
    assert frames_of(one, SceneRules()) == (7,)


def test_one_sentence_becomes_a_card(play, shown, wording):
    played = play(describe(shown, wording=wording, writer="model-x"), f' "{GOOD}" ')
    assert played.made == SceneCard(
        card_id="shot-0002-true", shot_id="shot-0002", text=GOOD, frames=(45, 60), writer="model-x"
    )
    (prompt,) = played.prompts
    assert [p.digest for p in prompt.parts if isinstance(p, ImagePart)] == [c.digest for c in shown.pictures]
    assert "2 pictures" in prompt.text
    assert "card_scene.txt" in prompt.template


@pytest.mark.parametrize(
    ("said", "reason", "told"),
    [
        ("", "empty", "no words"),
        ("Snow.", "wrong-length", "1 word;"),
        (f"{GOOD} It is cold.", "wrong-length", "2 sentences"),
        ("word " * 90, "wrong-length", "90 words"),
        ("The scene shows a woman in a brown coat who walks.", "names-the-scene", "'scene'"),
        ("In this Shot a woman in a coat walks through snow.", "names-the-scene", "'Shot'"),
        ("I'm sorry, but I can't help with that.", "refused", "declines"),
    ],
)
def test_what_cannot_be_used_is_asked_for_again_and_then_dropped(play, shown, wording, said, reason, told):
    mended = play(describe(shown, wording=wording), said, GOOD)
    assert mended.made.text == GOOD
    assert told in mended.prompts[1].text
    lost = play(describe(shown, wording=wording), said, said).made
    assert isinstance(lost, Dropped)
    assert (lost.what, lost.stage, lost.reason) == ("shot-0002", "scenes", reason)


def test_a_refusal_of_the_server_is_dropped_at_once(play, shown, wording):
    lost = play(describe(shown, wording=wording), Reply(text="", finish="refusal")).made
    assert lost.reason == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "A man snapshots the screenshot of a scenery at noon.",
        "Mr. Smith and Dr. Ho wait at St. Pancras for the J. R. train",
        "Two men, aged approx. 30, shout «no!» at a dog.",
    ],
)
def test_words_that_hold_scene_or_shot_and_short_forms_are_fine(text):
    assert read_sentence(text) == text


def test_pictures_of_all_shots_are_taken_and_poor_shots_dropped(tmp_path):
    film = [*edited.frames((20, 6)), *[np.full((64, 96, 3), 9, np.uint8)] * 20]
    video = open_video(edited.write(tmp_path / "film.mp4", iter(film)))
    shots = timed(cuts_to_spans([20, 26], n_frames=46), video.times_s)
    folder = PictureFolder(tmp_path / "pictures")
    found, dropped = take_pictures(video, shots, pictures=folder, rules=SceneRules())
    assert [one.shot.shot_id for one in found] == ["shot-0001"]
    assert [(d.what, d.reason) for d in dropped] == [("shot-0002", "too-short"), ("shot-0003", "blank")]
    assert [c.frame_index for c in found[0].pictures] == list(frames_of(shots[0], SceneRules()))
    for crop in found[0].pictures:
        kept = np.asarray(Image.open(io.BytesIO(folder.get(crop.digest))), np.int64)
        assert np.abs(kept - film[crop.frame_index]).mean() < 8


def test_the_same_sentence_is_kept_once():
    cards = [
        SceneCard(card_id=f"{i}", shot_id=f"{i}", text=text)
        for i, text in enumerate(["A dog runs.", "a Dog runs!", "A cat runs."])
    ]
    kept, dropped = unlike_each_other(cards)
    assert [card.card_id for card in kept] == ["0", "2"]
    assert [(d.what, d.reason, d.detail) for d in dropped] == [("1", "said-before", "it says the same as 0")]


def test_rules_that_make_no_sense_are_refused():
    with pytest.raises(msgspec.ValidationError, match="n_frames"):
        msgspec.convert({"n_frames": 0}, SceneRules)
    with pytest.raises(UsageError, match="size"):
        SceneRules(size="large")

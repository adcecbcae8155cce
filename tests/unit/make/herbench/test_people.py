"""People's files in makings of two drawn streets: own tracks, cards, readings of cards, counts."""

import json
from shutil import copytree

import msgspec
import pytest

from subjects.card_writer import CardWriter
from unit.make.herbench.test_opened_set import CONFIG, Street
from vidence.engine import engine
from vidence.errors import DataError, UsageError
from vidence.make.herbench.config import (
    BY_PEOPLE,
    CardStep,
    HerbenchConfig,
    PeopleRules,
    SourceRule,
    read_herbench,
)
from vidence.make.herbench.opened_set import remade_by
from vidence.make.review.people.checks import (
    check_of_card,
    check_of_scene,
    check_of_shot,
    check_of_shots,
    check_of_track,
    check_of_video,
    said_by_people,
)
from vidence.make.review.people.rows import (
    Act,
    CardCheckRow,
    CountRow,
    FalseCheckRow,
    ShotRow,
    TrackRow,
    append_row,
    read_rows,
)
from vidence.studio.bridge.board_sets import board_set

WAITING = CONFIG.replace('file = "cards/{video_id}.jsonl"', 'model = "people"')
LOOKS = {
    "1": "A man with short hair. He wears a red coat and black trousers.",
    "2": "A woman with long hair. She wears a blue coat and grey trousers.",
    "3": "A man with a cap. He wears a green coat and white trousers.",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with the results of all stages, of which each test has a copy."""
    one = Street(tmp_path_factory.mktemp("kept"))
    one.make()
    return one.folder


@pytest.fixture
def street(tmp_path, kept):
    return Street(tmp_path, like=kept)


@pytest.fixture
def waiting(street):
    street.configure(WAITING)
    street.built = street.make(until="cards")
    return street


def write_cards(street, texts, *, video="north", check=None):
    opened = street.opened().video(video)
    checks = {track.track_id: check_of_track(track) for track in opened.tracked.tracks}
    path = street.people / "cards" / f"{video}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"track_id": name, "kind": "A", "text": text, "writer": "P03", "check": check or checks[name]}
        for name, text in texts.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_cards_wait_for_people_and_a_session_says_how_many_are_missing(waiting):
    said = "People are still to write 20 cards (north 10, south 10), into people/cards/VIDEO.jsonl."
    assert said in waiting.built.sentences
    north = waiting.opened().video("north")
    assert set(north.pictures) == {"1", "2", "3", "4", "5"}
    assert north.described.absent["a_cards"] == "its cards are not written yet"
    write_cards(waiting, LOOKS)
    built = waiting.make(until="cards")
    assert "People are still to write 17 cards (north 7, south 10), into people/cards/VIDEO.jsonl." in (
        built.sentences
    )
    cards = waiting.opened().video("north").described.a_cards
    assert [(card.track_id, card.writer) for card in sorted(cards, key=lambda one: one.track_id)] == [
        ("1", "P03"),
        ("2", "P03"),
        ("3", "P03"),
    ]


def test_a_card_of_a_track_that_changed_since_is_named_and_not_used(waiting):
    write_cards(waiting, {"1": LOOKS["1"]}, check="a" * 12)
    waiting.make(until="cards")
    why = "north: cards/north.jsonl:1: not used: the track 1 has changed since; write its card again"
    assert why in waiting.troubles
    assert waiting.opened().video("north").described.a_cards == ()


def test_cards_that_fit_several_or_none_go_and_one_that_fits_is_known_to_fit(waiting):
    write_cards(waiting, LOOKS)
    waiting.make(until="cards")
    cards = {card.track_id: card for card in waiting.opened().video("north").described.a_cards}
    for name, fits in (("1", "one"), ("2", "several"), ("3", "none")):
        row = CardCheckRow(
            video_id="north",
            check=check_of_card(cards[name]),
            track_id=name,
            kind="A",
            fits=fits,
            leaks="no",
            by="P07",
        )
        append_row(waiting.people, row)
    append_row(waiting.people, msgspec.structs.replace(row, track_id="4"))
    waiting.make(until="cards")
    reasons = {one["what"]: one["reason"] for one in waiting.dropped() if one["stage"] == "card-checks"}
    assert reasons == {"north: 2/A": "fits-several", "north: 3/A": "fits-none"}
    (left,) = waiting.opened().video("north").described.a_cards
    assert (left.track_id, left.fits, left.identified_by) == ("1", ("1",), "people")
    assert "people/card_checks.csv:5: not used: the card 4/A is not there" in waiting.troubles


def test_model_people_needs_the_folder_and_its_name():
    sources = (SourceRule(path="a.mp4"),)
    cards = CardStep(model=BY_PEOPLE)
    with pytest.raises(UsageError, match=r"add a table \[people\]"):
        HerbenchConfig(name="set", sources=sources, cards=cards)
    with pytest.raises(UsageError, match="give the model 'people' another name"):
        HerbenchConfig(name="set", sources=sources, cards=cards, people=PeopleRules(), models={"people": "x"})
    with pytest.raises(UsageError, match="the folder in"):
        PeopleRules(folder="a{b}")


def test_tracks_that_people_gave_need_no_detector_and_lose_nobody(street):
    street.make(until="watching")
    north = street.opened().video("north")
    rows = [
        f"{frame + 1},{number},{left},{top},{right - left},{bottom - top},1,1,1"
        for number, track in enumerate(north.tracked.tracks, 1)
        for frame, (left, top, right, bottom) in zip(
            track.frame_indices.tolist(), track.boxes_px.tolist(), strict=True
        )
    ]
    (street.people / "tracks").mkdir(parents=True)
    (street.people / "tracks" / "north.txt").write_text("\n".join(rows) + "\n")
    (street.folder / "videos" / "north.txt").unlink()
    street.make()
    given = street.opened().video("north")
    assert given.described.is_given
    assert given.tracked.basis.kind == "given"
    assert len(given.tracked.tracks) == 5
    row = TrackRow(
        video_id="north",
        check=check_of_track(given.tracked.tracks[0]),
        track_id=given.tracked.tracks[0].track_id,
        act="ok",
        by="P03",
    )
    append_row(street.people, row)
    with pytest.raises(DataError, match=r"tracks\.csv has rows on the tracks of north, which people gave"):
        street.make()


def count(street, n, *, counter="P03", place="visited:whole", window="whole", low=None, high=None, **more):
    sha256 = street.opened().video("north").described.source.sha256
    row = CountRow(
        video_id="north",
        check=check_of_video(sha256),
        window=window,
        place=place,
        n=n,
        n_low=n if low is None else low,
        n_high=n if high is None else high,
        counter=counter,
        **more,
    )
    append_row(street.people, row)


def drafts(street):
    lines = (street.folder / "made" / "drafts.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_counts_of_persons_are_asked_where_tracks_alone_refused(street):
    street.make()
    before = street.bytes()
    assert [one for one in drafts(street) if one["task"] == "RLPC"] == []
    assert any(one["reason"] == "detected-tracks-alone" for one in street.dropped())
    count(street, 6, high=7, frames=(10, 50, 70, 100, 130, 150))
    count(street, 6, counter="P07")
    street.make()
    assert all("south" not in unit for unit in street.made_units)
    (draft,) = [one for one in drafts(street) if one["task"] == "RLPC"]
    assert draft["truth"] == "person"
    assert draft["question"].startswith("How many people are in view at some time?")
    assert draft["facts"]["counted by"] == "P03 6 (6 to 7); P07 6 (6 to 6)"
    assert draft["facts"]["counted by tracks"] == "5"
    assert draft["facts"]["share found by tracks"] == "0.83"
    low, _, high = draft["choices"][draft["answer_index"]].partition(" to ")
    assert int(low) <= 6
    assert int(high or low) >= 7
    (note,) = [one for one in street.account()["notes"] if "persons counted" in one]
    assert "persons counted 6 (6 to 7), tracks 5: recall 0.83" in note
    (street.people / "counts.csv").unlink()
    street.make()
    assert street.bytes() == before


SCENES = """
name = "street"
seed = 7
videos = "videos"
[[sources]]
path = "*.mp4"
[shots]
[scenes]
false_model = "rules"
[people]
[tasks.sva]
"""


def write_scenes(street, name):
    """A true sentence about a video, and a false one."""
    path = street.people / "scenes" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    true = {"shot_id": "shot-0001", "text": "A man in a red coat walks past two cars.", "writer": "P03"}
    false = {
        **true,
        "text": "A man in a green coat walks past three cars.",
        "changes": [
            {"kind": "modification", "before": "red", "after": "green"},
            {"kind": "modification", "before": "two", "after": "three"},
        ],
    }
    path.write_text("".join(json.dumps(one) + "\n" for one in (true, false)))


def tell(street, video, told, *, by="P03", occurs="no"):
    """What a reader says of the false sentence of a video."""
    (card,) = [one for one in street.opened().video(video).described.scene_cards if one.changes]
    row = FalseCheckRow(
        video_id=video,
        check=check_of_scene(card),
        card_id=card.card_id,
        told=told,
        occurs=occurs,
        natural="yes",
        by=by,
    )
    append_row(street.people, row)


@pytest.fixture
def scenes(street):
    street.configure(SCENES)
    for name in ("north", "south"):
        write_scenes(street, name)
    street.make(until="scenes")
    return street


def test_false_cards_that_are_true_or_told_by_their_words_go(scenes):
    for video, told, occurs in (("north", "false", "no"), ("south", "true", "yes")):
        tell(scenes, video, told, occurs=occurs)
    scenes.make(until="scenes")
    reasons = {one["what"].partition(":")[0]: one["reason"] for one in scenes.dropped()}
    assert reasons == {"north": "told-by-its-words", "south": "is-true"}
    assert all(len(scenes.opened().video(v).described.scene_cards) == 1 for v in ("north", "south"))
    (note,) = [one for one in scenes.account()["notes"] if "without the film" in one]
    assert "1 of 2 readings of false descriptions" in note
    assert "over 2 cards, of one reader: others may tell more or fewer" in note
    assert "cautions" not in scenes.account()


def test_a_set_whose_false_cards_are_told_is_named_with_those_that_nobody_read(scenes):
    for by in ("P03", "P04", "P05"):
        tell(scenes, "north", "false" if by != "P05" else "cannot-say", by=by)
    scenes.make(until="scenes")
    (caution,) = scenes.account()["cautions"]
    assert caution == (
        "2 of 3 readings of false descriptions without the film said that they are false: 67%, more than the "
        "50% that most_told in [people] allows. Recognized ones are dropped; 1 false description without "
        "readings remains"
    )
    assert caution in scenes.troubles
    (note,) = [one for one in scenes.account()["notes"] if "without the film" in one]
    assert "over 1 cards for these 3 readers" not in note
    assert "over 1 card for these 3 readers" in note


# --------------------------------------------------------------------------- people over a model

BY_MODEL = (
    CONFIG.replace("seed = 7", 'seed = 7\nout = "made"')
    .replace('file = "cards/{video_id}.jsonl"', 'model = "writer"\nidentify = "writer"')
    .replace('tracker = "deepsort"', 'tracker = "deepsort"\nend_at_cuts = false')
    .replace("[people]", '[scenes]\nmodel = "writer"\n[people]\n[models]\nwriter = "scripted:writer"')
    + "[tasks.megl]\n[tasks.sva]\n"
)
CUTS = (60, 110)


def cut(street, frame):
    """A cut at a frame of the north."""
    act = Act(name="cut-at", first=frame, last=frame)
    row = ShotRow(
        video_id="north",
        check=check_of_shots(street.opened().video("north").found_shots, act),
        act=f"cut-at:{frame}",
        by="P03",
    )
    append_row(street.people, row)


@pytest.fixture(scope="module")
def written(tmp_path_factory, kept):
    """Two streets of which a model wrote everything, three shots of the north."""
    writer = CardWriter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "create", lambda kind, spec: writer)
        one = Street(tmp_path_factory.mktemp("written"), like=kept)
        one.make(until="watching")
        for frame in CUTS:
            cut(one, frame)
        one.configure(BY_MODEL)
        one.make()
    return one.folder


@pytest.fixture
def by_model(tmp_path, written, monkeypatch):
    copytree(written, tmp_path, dirs_exist_ok=True, symlinks=True)
    one = Street.__new__(Street)
    one.folder, one.people, one.writer = tmp_path, tmp_path / "people", CardWriter()
    monkeypatch.setattr(engine, "create", lambda kind, spec: one.writer)
    return one


def mend(street, folder, *rows):
    path = street.people / folder / "north.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def foreseen(street):
    """What a board says of the north."""
    read = {kind: read_rows(street.people, kind, videos=None) for kind in (TrackRow, ShotRow)}
    return remade_by(
        street.opened().video("north"),
        tracks=read[TrackRow],
        shots=read[ShotRow],
        said=said_by_people(street.people, "north"),
        config=read_herbench(street.folder / "config.toml"),
    )


def described(street):
    """Every card and sentence that is in use, by video, in their order."""
    found = {}
    for name in ("north", "south"):
        made = street.opened().video(name).described
        found |= {(name, one.track_id, one.kind): one for one in (*made.a_cards, *made.b_cards)}
        found |= {(name, one.card_id): one for one in made.scene_cards}
    return found


def other(before, after):
    """What is new, gone or other, by what it is about; the rest has its place."""
    assert [one for one in before if one in after] == [one for one in after if one in before]
    return {one for one in {*before, *after} if before.get(one) != after.get(one)}


def test_one_card_mended_changes_that_card_and_costs_what_a_board_says(by_model):
    before, first = described(by_model), by_model.bytes()
    assert len(before) == 2 * 5 * 2 + 2 * 3 + 2
    (track, *_) = by_model.opened().video("north").tracked.tracks
    row = {"track_id": "9", "kind": "A", "text": LOOKS["1"], "writer": "P03", "check": check_of_track(track)}
    mend(by_model, "cards", row)  # under whatever number: it is known by its frames and boxes
    cost = foreseen(by_model)
    assert cost.words == "1 card, drafts of this video; 2 asks of models"
    boards = board_set([by_model.folder / "config.toml"], (by_model.folder / "made").resolve())
    assert boards.remake("north") == cost.words.replace("video;", "video and of south;")  # MEGL shows both
    by_model.make()
    assert by_model.writer.asked == ["card_identify"] * cost.n_asks
    after = described(by_model)
    assert other(before, after) == {("north", track.track_id, "A")}
    mended = after["north", track.track_id, "A"]
    assert (mended.text, mended.writer, mended.identified_by) == (LOOKS["1"], "P03", "writer")
    assert foreseen(by_model).words == ""

    (by_model.people / "cards" / "north.jsonl").unlink()
    assert foreseen(by_model).words == "1 card, drafts of this video; 0 asks of models"
    by_model.make()
    assert by_model.bytes() == first
    assert len(by_model.writer.asked) == 2


TRUE = "Several people in dark coats go past a long wall, a parked van and a gate without a shadow."


def test_one_sentence_mended_changes_that_sentence_and_its_false_one(by_model):
    before, first = described(by_model), by_model.bytes()
    shots = by_model.opened().video("north").shots
    row = {"shot_id": "shot-0002", "text": TRUE, "writer": "P03", "check": check_of_shot(shots[1])}
    mend(by_model, "scenes", row)
    cost = foreseen(by_model)
    assert cost.words == "1 scene card, drafts of this video; 1 ask of models"
    by_model.make()
    assert by_model.writer.asked == ["card_false"] * cost.n_asks
    mended = described(by_model)
    assert other(before, mended) == {("north", "shot-0002-true"), ("north", "shot-0002-false")}
    assert mended["north", "shot-0002-false"].text.startswith("Three people in dark coats")

    wrong = TRUE.replace("long", "short").replace("van", "bus")
    mend(by_model, "scenes", row | {"false": wrong})
    assert foreseen(by_model).words == "1 scene card, drafts of this video; 0 asks of models"
    by_model.make()
    assert other(mended, described(by_model)) == {("north", "shot-0002-false")}

    cut(by_model, 30)  # the mended sentence goes on with its frames, and what a model wrote with its own
    cost = foreseen(by_model)
    assert (cost.n_shots, cost.n_scene_cards) == (2, 2)
    by_model.writer.asked.clear()
    by_model.make()
    assert by_model.writer.asked == ["card_scene"] * 2 + ["card_false"] * 2
    assert cost.n_asks >= 4
    after = described(by_model)
    assert (after["north", "shot-0003-true"].text, after["north", "shot-0003-false"].text) == (TRUE, wrong)
    assert after["north", "shot-0004-true"].text == before["north", "shot-0003-true"].text

    for path in (by_model.people / "scenes" / "north.jsonl", by_model.people / "shots.csv"):
        path.unlink()
    for frame in CUTS:
        cut(by_model, frame)
    by_model.make()
    assert by_model.bytes() == first


def test_a_person_overrules_a_model_that_saw_different_people(by_model):
    by_model.writer.identity = "doubting"
    by_model.writer.card_appearance = lambda colours, text: "DIFFERENT PEOPLE: 2"
    (track, *_) = by_model.opened().video("north").tracked.tracks
    mend(by_model, "cards", {"track_id": track.track_id, "kind": "A", "text": LOOKS["1"]})
    by_model.make(until="cards")
    assert {one for one in described(by_model) if one[0] == "north"} == {("north", track.track_id, "A")}
    gone = {one["what"]: one["reason"] for one in by_model.dropped() if one["stage"] == "cards"}
    assert set(gone.values()) == {"not-one-person"}
    assert not {f"north: {track.track_id}/{kind}" for kind in "AB"} & set(gone)

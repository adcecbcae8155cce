"""Boards of words: cards of people and of scenes, the line-up of a card, and false cards without the film."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from uuid import UUID

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from vidence.make.herbench.cards.cards import CardChecks, check_cards
from vidence.make.herbench.cards.crops import CropPlan, plan_crops
from vidence.make.herbench.cards.falsifying import changes_between, check_changes
from vidence.make.herbench.cards.scenes import read_sentence
from vidence.make.herbench.cards.screening import MARK, leakage
from vidence.make.pipeline.material import Card, SceneCard
from vidence.make.pipeline.writer import Objection
from vidence.make.review.people.checks import check_of_card, check_of_scene, check_of_shot, check_of_track
from vidence.make.review.people.readings import WordsOnlyAnswer, told
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo, listed_others
from vidence.studio.access import BOTH, EVERY_ROLE, route
from vidence.studio.pages.board_tracks import anchor_of, crop_address, shots_now, still, tracks_now
from vidence.studio.pages.boards import (
    VIDEO,
    ActButton,
    BoardPage,
    Field,
    Line,
    OpenBoard,
    Picture,
    Shown,
    board_of,
    board_route,
    refuse_idle,
)
from vidence.studio.rules.boards import drawn
from vidence.studio.verdicts import (
    FALSE,
    SCENE,
    Reading,
    Refused,
    Said,
    Words,
    change,
    natural,
    said_on,
    say,
    words_of,
)

_MOST_LETTERS: Final = 4_000
_EVERY: Final = 3  # of the portraits of a person in a line-up
Written: TypeAlias = Mapping[tuple[str, str], Words]
"""The latest words by track (or shot) and kind."""


# --------------------------------------------------------------------------- words that leak


def leaks_of_cards(rules: CardChecks, a_text: str, b_text: str) -> tuple[list[str], list[str]]:
    """What the making would say of the two cards of a track: sentences, and the words themselves.

    Args:
        rules: the `CardChecks` of the set.
        a_text: what the person looks like.
        b_text: what they do.
    """
    both = (Card(track_id="card", kind="A", text=a_text), Card(track_id="card", kind="B", text=b_text))
    cards = [card for card in both if card.text]
    if not cards:
        return [], []
    track_cards = check_cards(cards, rules)
    leaks = [
        f"{dropped.what.rpartition('/')[2]}: {dropped.detail} ({dropped.reason})"
        for dropped in track_cards.dropped
    ]
    leaks += [f"{flag.kind}: {flag.reason}, look at: {', '.join(flag.words)}" for flag in track_cards.flags]
    words = [word for flag in track_cards.flags for word in flag.words]
    if len(cards) == 2:
        alike = leakage(a_text, b_text)
        leaks.append(f"similarity of A and B: {alike.similarity:.2f}, at most {rules.limit:g}")
        if alike.is_leak(rules.limit):
            words += alike.repeated or alike.shared
    return leaks, list(dict.fromkeys(words))


def leaks_of_scene(text: str, false: str) -> tuple[list[str], list[str]]:
    """What the making would say of the sentence about a shot and of the false one, and the false words."""
    leaks: list[str] = []
    for name, sentence in (("true", text), ("false", false)):
        read = read_sentence(sentence) if sentence else ""
        if isinstance(read, Objection):
            leaks.append(f"{name}: {read.detail}")
    if not text or not false:
        return leaks, []
    changes = changes_between(text, false)
    if (wrong := check_changes(text, false, changes)) is not None:
        leaks.append(f"false: {wrong.detail}")
    return leaks, [entry.after for entry in changes]


# --------------------------------------------------------------------------- cards


def _cards(board: OpenBoard, _given: QueryDict) -> Shown:
    now, shots = tracks_now(board), shots_now(board)
    written = words_of(board.made, board.video.video_id)
    chosen = board.video.chosen
    lines = []
    if now is not None:
        tracks = sorted(
            now[1].tracks, key=lambda track: (track.track_id not in chosen, natural(track.track_id))
        )
        tried = {
            (words.track_id, words.kind): f"fits {words.fits}, says {words.by}"
            for words in said_on(board.made, Words, video_id=board.video.video_id)
            if words.fits
        }
        lines = [_card_line(board, track, video=now[1], written=written, tried=tried) for track in tracks]
        lines.sort(key=lambda line: not line.is_open)
    scenes = [] if shots is None else [_scene_line(board, shot, written) for shot in shots.shots]
    return {"groups": [("", lines), ("Scenes", scenes)]}


def text_of(board: OpenBoard, written: Written, card: tuple[str, str], *, seen: str = "") -> tuple[str, str]:
    """The words of a card, and who wrote them: a person who saw this track, or the writer of the making."""
    words = written.get(card)
    if words is not None and (not words.check or seen in ("", words.check)):
        return words.text, words.by
    result = board.video.card(*card)
    return (result.text, result.writer) if result is not None else ("", "")


_CARDS: Final = MappingProxyType({"A": "A: looks", "B": "B: way and acts"})


def _card_line(
    board: OpenBoard,
    track: Track,
    *,
    video: TrackedVideo,
    written: Written,
    tried: Mapping[tuple[str, str], str],
) -> Line:
    name = track.track_id
    plan = plan_crops(
        track,
        width_px=video.width_px,
        height_px=video.height_px,
        rules=board.opened.crop_rules,
        others=(*video.tracks, *video.others),
        fps=video.fps,
    )
    looks, way = (
        (plan.appearance, plan.path) if isinstance(plan, CropPlan) else (board.video.portraits(track), ())
    )
    seen = check_of_track(track)
    cards = {kind: text_of(board, written, (name, kind), seen=seen) for kind in _CARDS}
    texts = [text for text, _ in cards.values()]
    notes = {kind: _note(by, tried.get((name, kind))) for kind, (_, by) in cards.items()}
    messages, marked = leaks_of_cards(board.opened.card_checks, texts[0], texts[1])
    why_none = () if isinstance(plan, CropPlan) else (f"No crops for cards: {plan.reason}: {plan.detail}",)
    return Line(
        anchor=f"c-{name}",
        title=f"Track {name}",
        name=name,
        notes=(*why_none, *messages),
        marked=marked,
        pictures=[
            *(Picture(src=crop_address(board, at, track=name), alt=f"looks, frame {at}") for at in looks),
            *(
                Picture(src=crop_address(board, at, track=name, whole="1"), alt=f"way, frame {at}")
                for at in way
            ),
        ],
        hidden={"track": name, "check": seen},
        fields=[
            Field(name=kind, label=_CARDS[kind], kind="words", value=text, note=notes[kind])
            for kind, (text, _) in cards.items()
        ],
        acts=[
            ActButton(act="keep", words="Keep the words"),
            ActButton(act="different", words="Different people in these pictures: go back to the tracks"),
            *(
                ActButton(act=f"reject-{kind}", words=f"Reject {kind}")
                for kind, (text, _) in cards.items()
                if text
            ),
        ],
        link=(f"{board.address('line-up')}?track={name}", "Which of them does A fit?")
        if texts[0]
        else ("", ""),
        is_open=not all(texts),
    )


def _note(by: str, tried: str | None) -> str:
    return "; ".join(filter(None, (f"by {by}" if by else "", tried)))


def _is_of(words: Words, shot_id: str, seen: str) -> bool:
    """Whether words are of a shot: by what their writer saw, or by its number where nothing says that."""
    return words.check == seen if words.check else words.track_id == shot_id


def _scene_texts(board: OpenBoard, shot: Shot, written: Written) -> dict[str, tuple[str, str]]:
    """The sentence of a shot and the false one, each with its writer."""
    # Other cuts give a shot another number; its words are known by what was seen.
    seen = check_of_shot(shot)
    before = {entry.shot_id for entry in board.video.opened.shots if check_of_shot(entry) == seen}
    texts = {
        SCENE if card.is_faithful else FALSE: (card.text, card.writer)
        for card in board.video.scene_cards
        if card.shot_id in before
    }
    own = {
        kind: (words.text, words.by)
        for (_, kind), words in written.items()
        if _is_of(words, shot.shot_id, seen)
    }
    return {SCENE: ("", ""), FALSE: ("", ""), **texts, **own}


def _scene_line(board: OpenBoard, shot: Shot, written: Written) -> Line:
    texts = _scene_texts(board, shot, written)
    (text, by), (false, _) = texts[SCENE], texts[FALSE]
    messages, marked = leaks_of_scene(text, false)
    frames = (
        (shot.clear_frame, "first clear frame"),
        ((shot.clear_frame + shot.last_frame) // 2, "middle frame"),
    )
    return Line(
        anchor=shot.shot_id,
        title=shot.shot_id,
        about=f"from {shot.start_s:.1f} s",
        notes=messages,
        marked=marked,
        pictures=[still(board, at, alt) for at, alt in frames] if board.medium else (),
        hidden={"shot": shot.shot_id, "check": check_of_shot(shot)},
        fields=[
            Field(
                name="text",
                label="What it shows, in one sentence",
                kind="words",
                value=text,
                note=_note(by, None),
            ),
            Field(name="false", label="The same with two to five details wrong", kind="words", value=false),
        ],
        acts=(ActButton(act="keep", words="Keep the words"),),
    )


def _keep_words(board: OpenBoard, given: QueryDict) -> Said | Refused:
    act, is_scene = given.get("act", ""), "shot" in given
    thing = given.get("shot" if is_scene else "track", "")
    if act in ("reject-A", "reject-B"):
        return _reject(board, thing, act[-1])
    seen, kinds, texts = "", ((SCENE, "text"), (FALSE, "false")), dict[str, tuple[str, str]]()
    written = words_of(board.made, board.video.video_id)
    if is_scene:
        shots = shots_now(board)
        shot = next((entry for entry in shots.shots if entry.shot_id == thing), None) if shots else None
        if shot is not None:
            seen, texts = check_of_shot(shot), _scene_texts(board, shot, written)
            thing = _name_of_scene(written, shot)
    else:
        now = tracks_now(board)
        tracks = now[1].tracks if now else ()
        seen = next((check_of_track(track) for track in tracks if track.track_id == thing), "")
        kinds = (("A", "A"), ("B", "B"))
        texts = {kind: text_of(board, written, (thing, kind), seen=seen) for kind in "AB"}
    if not seen or seen != given.get("check", seen if is_scene else ""):
        return Refused(reason=f"{thing or 'that'} has changed or is gone; reload the page")
    if act == "different":
        if is_scene or texts["A"][0] == MARK:
            return Refused(reason="the pictures of this track were already sent back, or belong to a shot")
        return _keep(board, thing, "A", text=MARK, seen=seen)
    done: Said | Refused = Refused(reason="there are no words to keep")
    keep_words = {kind: " ".join(given.get(name, "")[:_MOST_LETTERS].split()) for kind, name in kinds}
    new = [kind for kind, text in keep_words.items() if text and text != texts[kind][0]]
    if new == [FALSE] and keep_words[SCENE] and (thing, SCENE) not in written:
        new = [SCENE, FALSE]  # in the file a false sentence stands beside the true one
    for kind in new:
        done = _keep(board, thing, kind, text=keep_words[kind], seen=seen)
        if isinstance(done, Refused):
            return done
    return done


def _name_of_scene(written: Written, shot: Shot) -> str:
    """Under which name the words of a shot are kept: its number, unless another shot has words under it."""
    seen = check_of_shot(shot)
    words = {name: entry for (name, kind), entry in written.items() if kind in (SCENE, FALSE)}
    if known := next((name for name, word in words.items() if _is_of(word, shot.shot_id, seen)), ""):
        return known
    taken = f"{shot.shot_id}@{shot.first_frame}-{shot.last_frame}"
    return taken if shot.shot_id in words else shot.shot_id


def _mine(board: OpenBoard, thing: str, kind: str) -> Words | None:
    rows = said_on(board.made, Words, video_id=board.video.video_id)
    return next((o for o in rows if (o.track_id, o.kind, o.by) == (thing, kind, board.person.name)), None)


def _keep(board: OpenBoard, thing: str, kind: str, *, text: str, seen: str) -> Said | Refused:
    new = Words(
        video_id=board.video.video_id, check=seen, track_id=thing, kind=kind, by=board.person.name, text=text
    )
    mine = _mine(board, thing, kind)
    # Other words have to be tried on everybody again.
    return (
        say(board.made, new)
        if mine is None
        else change(board.made, mine, msgspec.structs.replace(new, note=mine.note))
    )


def _reject(board: OpenBoard, name: str, kind: str) -> Said | Refused:
    text, _ = text_of(board, words_of(board.made, board.video.video_id), (name, kind))
    if not text:
        return Refused(reason="there is no such card to reject")
    card = Card(track_id=name, kind="A" if kind == "A" else "B", text=text)
    return _fits(board, card, "none", leaks=False, note="rejected")


def _fits(
    board: OpenBoard, card: Card, fits: Literal["one", "several", "none"], *, leaks: bool, note: str
) -> Said | Refused:
    """Keep how many people a card fits."""
    mine = _mine(board, card.track_id, card.kind)
    if mine is not None and mine.text and mine.text != card.text:
        return Refused(reason="you wrote other words for this card; keep them or take them back first")
    new = Words(
        video_id=board.video.video_id,
        check=check_of_card(card) if mine is None or not mine.text else mine.check,
        track_id=card.track_id,
        kind=card.kind,
        by=board.person.name,
        text="" if mine is None else mine.text,
        frames=() if mine is None else mine.frames,
        fits=fits,
        leaks="yes" if leaks else "no",
        note=note,
    )
    return say(board.made, new) if mine is None else change(board.made, mine, new)


def _after_cards(board: OpenBoard, given: QueryDict, _said: Said) -> str:
    is_back = given.get("act") == "different"
    return board.address("tracks", anchor_of(given.get("track", ""))) if is_back else board.address()


# --------------------------------------------------------------------------- line-up


def line_up(request: HttpRequest, made_set: UUID, video: str) -> HttpResponse:
    """Show one description and the crops of all people in the video, in random order."""
    board = board_of(request, made_set, video, name="cards")
    pair = tracks_now(board)
    name = request.GET.get("track", "")
    text, _ = text_of(board, words_of(board.made, video), (name, "A"))
    if pair is None or not text:
        raise Http404
    result, now = pair
    everybody = {track.track_id: track for track in (*now.tracks, *listed_others(result.others, now))}
    order = drawn(list(everybody), seed=f"{board.made.public}/{video}/{name}/{board.person.name}")
    card, fault, answer = Card(track_id=name, kind="A", text=text), "", ""
    if request.method == "POST":
        refuse_idle(board)
        picked = [word for word in order if board.mask(word) in request.POST.getlist("fits")]
        fits: Literal["one", "several", "none"] = (
            "one" if picked == [name] else "several" if name in picked else "none"
        )
        words = f"picked {', '.join(sorted(picked, key=natural))}" if picked else "picked no one"
        done = _fits(board, card, fits, leaks=request.POST.get("leaks") == "yes", note=words)
        if isinstance(done, Refused):
            fault = done.reason
        else:
            answer = f"It fits {fits}: {words}; it is the card of {name}."
    people = [
        (
            board.mask(word),
            [
                Picture(
                    src=crop_address(board, at, who=board.mask(word)), alt=f"person {number}, picture {i}"
                )
                for i, at in enumerate(board.video.portraits(everybody[word])[::_EVERY], 1)
            ],
        )
        for number, word in enumerate(order, 1)
    ]
    told_ = {**board.told(), "fault": fault, "card": card, "people": people, "answer": answer}
    return render(request, "boards/line_up.html", told_, status=400 if fault else 200)


# --------------------------------------------------------------------------- false cards


def _false_cards(board: OpenBoard, _given: QueryDict) -> Shown:
    """Rate sentences about shots as true or false without the video, then check them against it."""
    cards = {card.card_id: card for card in board.video.scene_cards}
    false_ids = [card.card_id for card in cards.values() if not card.is_faithful]
    rows = said_on(board.made, Reading, video_id=board.video.video_id)
    mine = {row.card_id: row for row in rows if row.by == board.person.name}
    shots = {cards[false_id].shot_id for false_id in false_ids}
    asked = [card.card_id for card in cards.values() if card.shot_id in shots]
    order = drawn(asked, seed=f"{board.made.public}/{board.video.video_id}/{board.person.name}")
    left = [name for name in order if name not in mine]
    to_see = [false_id for false_id in false_ids if false_id in mine and not mine[false_id].natural]
    answers = [
        WordsOnlyAnswer(
            card=row.card_id, reader=row.by, is_true=cards[row.card_id].is_faithful, said=row.told
        )
        for row in rows
        if row.card_id in cards
    ]
    return {
        "n_asked": len(order),
        "n_left": len(left),
        "card": cards[left[0]] if left else None,
        "card_mask": board.mask(left[0]) if left else "",
        "see": None if left or not to_see else _beside(board, cards[to_see[0]]),
        "n_to_see": len(to_see),
        "result": None if left else told(answers),
        "done_rows": [] if left else [row for row in rows if row.card_id in false_ids],
    }


def _beside(board: OpenBoard, card: SceneCard) -> Shown:
    """Show a false card next to the video."""
    shot = next((entry for entry in board.video.shots if entry.shot_id == card.shot_id), None)
    spans: Sequence[Sequence[float]] = [] if shot is None else [[shot.start_s, shot.end_s]]
    return {
        "card": card,
        "mask": board.mask(card.card_id),
        "frame": 0 if shot is None else shot.clear_frame,
        "lanes": msgspec.json.encode([{"name": "the shot", "spans": spans}]).decode(),
    }


def _say_of_false(board: OpenBoard, given: QueryDict) -> Said | Refused:
    cards = {board.mask(card.card_id): card for card in board.video.scene_cards}
    card = cards.get(given.get("card", ""))
    if card is None:
        return Refused(reason="there is no such card in this video now")
    rows = said_on(board.made, Reading, video_id=board.video.video_id)
    mine = next((o for o in rows if (o.card_id, o.by) == (card.card_id, board.person.name)), None)
    try:
        if given.get("told"):
            if mine is not None:
                return Refused(reason="you have already judged this sentence")
            return say(
                board.made,
                msgspec.convert(
                    {
                        "video_id": board.video.video_id,
                        "check": check_of_scene(card),
                        "card_id": card.card_id,
                        "told": given["told"],
                        "by": board.person.name,
                    },
                    Reading,
                ),
            )
        if mine is None or card.is_faithful:
            return Refused(reason="judge it without the film first")
        seen = {name: given.get(name, "") for name in ("occurs", "natural")}
        note = " ".join(given.get("note", "").split())
        new = msgspec.convert(msgspec.structs.asdict(mine) | seen | {"note": note}, Reading)
    except msgspec.ValidationError as error:
        return Refused(reason=str(error))
    return change(board.made, mine, new) if all(seen.values()) else Refused(reason="answer both questions")


urls = [
    board_route(
        BoardPage(
            name="cards", template="boards/cards.html", shown=_cards, say=_keep_words, after=_after_cards
        )
    ),
    route(f"{VIDEO}/line-up", line_up, name="board-line-up", roles=EVERY_ROLE, to=BOTH),
    board_route(
        BoardPage(
            name="false-cards", template="boards/false_cards.html", shown=_false_cards, say=_say_of_false
        )
    ),
]

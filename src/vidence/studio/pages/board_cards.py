"""Boards of words: cards of people and of scenes, whom a card fits, and false cards without the film."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from vidence.make.herbench.cards.cards import CardChecks, check_cards
from vidence.make.herbench.cards.crops import CropPlan, plan_crops
from vidence.make.herbench.cards.falsifying import changes_between, check_changes
from vidence.make.herbench.cards.scenes import read_sentence
from vidence.make.herbench.cards.screening import MARK, leakage
from vidence.make.pipeline.material import Card, SceneCard
from vidence.make.pipeline.writer import Objection
from vidence.make.review.people.checks import check_of_card, check_of_scene, check_of_shot, check_of_track
from vidence.make.review.people.words_only import WordsOnlyAnswer, told
from vidence.records import Record
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo, listed_others
from vidence.studio.access import BOTH, EVERY_ROLE, route
from vidence.studio.pages.answers import as_json
from vidence.studio.pages.boards import (
    VIDEO,
    OpenBoard,
    anchor_of,
    board_of,
    mask,
    refuse_idle,
    shots_now,
    told_why,
    tracks_now,
    tried,
)
from vidence.studio.records.boards import CardCheckRow, FalseCheckRow
from vidence.studio.rules.boards import drawn
from vidence.studio.verdicts import FALSE, SCENE, BoardRow, Refused, change, natural, say

_MOST_LETTERS: Final = 4_000
_EVERY: Final = 3  # of the portraits of somebody in a line-up
_ANSWERS: Final = ("true", "false", "cannot-say")


class Leaks(Record):
    """What is wrong with words that somebody is writing: sentences, and the words themselves."""

    said: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


# --------------------------------------------------------------------------- words that leak


def leaks_of_cards(rules: CardChecks, a_text: str, b_text: str) -> Leaks:
    """What the making would say of the two cards of a track.

    Args:
        rules: the `CardChecks` of the set.
        a_text: what somebody looks like.
        b_text: what they do.
    """
    both = (
        Card(track_id="card", kind="A", text=a_text.strip()),
        Card(track_id="card", kind="B", text=b_text.strip()),
    )
    cards = [one for one in both if one.text]
    if not cards:
        return Leaks()
    found = check_cards(cards, rules)
    said = [f"{one.what.rpartition('/')[2]}: {one.detail} ({one.reason})" for one in found.dropped]
    said += [f"{one.kind}: {one.reason}, look at: {', '.join(one.words)}" for one in found.flags]
    words = [word for one in found.flags for word in one.words]
    if len(cards) == 2:
        alike = leakage(a_text, b_text)
        said.append(f"similarity of A and B: {alike.similarity:.2f}, at most {rules.limit:g}")
        if alike.is_leak(rules.limit):
            words += alike.repeated or alike.shared
    return Leaks(said=tuple(said), words=tuple(dict.fromkeys(words)))


def leaks_of_scene(text: str, false: str) -> Leaks:
    """What the making would say of the sentence about a shot, and of the false one."""
    said: list[str] = []
    for name, sentence in (("true", text), ("false", false)):
        read = read_sentence(sentence) if sentence.strip() else ""
        if isinstance(read, Objection):
            said.append(f"{name}: {read.detail}")
    words: tuple[str, ...] = ()
    if text.strip() and false.strip():
        changes = changes_between(text, false)
        words = tuple(one.after for one in changes)
        wrong = check_changes(text, false, changes)
        if wrong is not None:
            said.append(f"false: {wrong.detail}")
    return Leaks(said=tuple(said), words=words)


@told_why
def leaks(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """The same for whoever is typing, as JSON."""
    board = board_of(request, made, video, name="cards")
    given = {name: request.POST.get(name, "")[:_MOST_LETTERS] for name in ("A", "B", "text", "false")}
    if given["text"] or given["false"]:
        found = leaks_of_scene(given["text"], given["false"])
    else:
        found = leaks_of_cards(board.opened.card_checks, given["A"], given["B"])
    return as_json(found)


# --------------------------------------------------------------------------- cards


@dataclass(frozen=True, kw_only=True)
class CardsShown:
    """The two cards of one track, and the frames that they are written from."""

    track_id: str
    check: str
    looks: tuple[int, ...]
    way: tuple[int, ...]
    why_none: str
    texts: dict[str, str]
    writers: dict[str, str]
    fits: dict[str, str]
    leaks: Leaks

    @property
    def is_open(self) -> bool:
        """Whether a card is still to be written."""
        return not all(self.texts.get(kind) for kind in "AB")


@dataclass(frozen=True, kw_only=True)
class SceneShown:
    """The words of one shot."""

    shot_id: str
    check: str
    clear_frame: int
    middle_frame: int
    start_s: float
    text: str
    false: str
    writer: str
    leaks: Leaks


@told_why
def cards(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """Write, mend and reject the cards of a video."""
    board = board_of(request, made, video, name="cards")
    done, fault = tried(request, board, _keep_words)
    if done is not None and request.POST.get("act") == "different":
        tracks_at = reverse("board-tracks", args=(board.made.public, board.video.video_id))
        return HttpResponseRedirect(f"{tracks_at}#{anchor_of(request.POST.get('track', ''))}")
    if done is not None:
        return HttpResponseRedirect(board.address())
    found, shot_rows = tracks_now(board), shots_now(board)
    written = written_of(board)
    shown = (
        []
        if found is None
        else [_shown(board, one, video=found[1], written=written) for one in _order(board, found[1])]
    )
    shown.sort(key=lambda one: not one.is_open)
    scenes = [] if shot_rows is None else [_scene(board, one, written) for one in shot_rows.shots]
    leaks_at = reverse("board-leaks", args=(board.made.public, board.video.video_id))
    told_ = board.told(fault=fault, rows=shown, scenes=scenes, leaks_at=leaks_at)
    return render(request, "boards/cards.html", told_, status=400 if fault else 200)


def written_of(board: OpenBoard) -> dict[tuple[str, str], CardCheckRow]:
    """The latest words of people by track (or shot) and kind."""
    rows = board.rows(CardCheckRow).exclude(text="").order_by("at", "pk")
    return {(row.track_id, row.kind): row for row in rows}


def _order(board: OpenBoard, video: TrackedVideo) -> list[Track]:
    """The chosen ones first, then everybody who may be asked about."""
    return sorted(
        video.tracks, key=lambda one: (one.track_id not in board.video.chosen, natural(one.track_id))
    )


def text_of(
    board: OpenBoard, written: dict[tuple[str, str], CardCheckRow], card: tuple[str, str]
) -> tuple[str, str]:
    """The words of a card, and who wrote them: a person, or whoever the making had."""
    row = written.get(card)
    if row is not None:
        return row.text, row.by_name
    made = board.video.card(*card)
    return (made.text, made.writer) if made is not None else ("", "")


def _shown(
    board: OpenBoard, track: Track, *, video: TrackedVideo, written: dict[tuple[str, str], CardCheckRow]
) -> CardsShown:
    plan = plan_crops(
        track,
        width_px=video.width_px,
        height_px=video.height_px,
        rules=board.opened.crop_rules,
        others=(*video.tracks, *video.others),
        fps=video.fps,
    )
    found = {kind: text_of(board, written, (track.track_id, kind)) for kind in "AB"}
    texts = {kind: text for kind, (text, _) in found.items()}
    checks = board.rows(CardCheckRow).filter(track_id=track.track_id).exclude(fits="")
    return CardsShown(
        track_id=track.track_id,
        check=check_of_track(track),
        looks=plan.appearance if isinstance(plan, CropPlan) else board.video.portraits(track),
        way=plan.path if isinstance(plan, CropPlan) else (),
        why_none="" if isinstance(plan, CropPlan) else f"{plan.reason}: {plan.detail}",
        texts=texts,
        writers={kind: who for kind, (_, who) in found.items()},
        fits={row.kind: f"fits {row.fits}, says {row.by_name}" for row in checks},
        leaks=leaks_of_cards(board.opened.card_checks, texts["A"], texts["B"]),
    )


def _scene(board: OpenBoard, shot: Shot, written: dict[tuple[str, str], CardCheckRow]) -> SceneShown:
    # Other cuts give a shot another number; its words are known by what was seen.
    seen = check_of_shot(shot)
    before = {one.shot_id for one in board.video.opened.shots if check_of_shot(one) == seen}
    made = {one.is_faithful: one for one in board.video.scene_cards if one.shot_id in before}
    of_shot = {kind: row for (_, kind), row in written.items() if _is_of(row, shot.shot_id, seen=seen)}
    true, false = of_shot.get(SCENE), of_shot.get(FALSE)
    text = true.text if true else made[True].text if True in made else ""
    wrong = false.text if false else made[False].text if False in made else ""
    return SceneShown(
        shot_id=shot.shot_id,
        check=seen,
        clear_frame=shot.clear_frame,
        middle_frame=(shot.clear_frame + shot.last_frame) // 2,
        start_s=shot.start_s,
        text=text,
        false=wrong,
        writer=true.by_name if true else made[True].writer if True in made else "",
        leaks=leaks_of_scene(text, wrong),
    )


def _keep_words(request: HttpRequest, board: OpenBoard) -> BoardRow | Refused:
    given, name = request.POST, request.POST.get("track", "")
    if given.get("act") == "reject":
        return _reject(board, name, given.get("kind", ""))
    is_scene = "shot" in given
    kinds = ((SCENE, "text"), (FALSE, "false")) if is_scene else (("A", "A"), ("B", "B"))
    thing = given.get("shot", "") if is_scene else name
    seen = _check_of(board, thing, is_scene=is_scene)
    if not seen or seen != given.get("check", seen if is_scene else ""):
        return Refused(reason=f"{thing or 'that'} has changed or is gone: load the page again, and look")
    done: BoardRow | Refused = Refused(reason="no word is there to be kept")
    written = written_of(board)
    if given.get("act") == "different":
        if is_scene or text_of(board, written, (name, "A"))[0] == MARK:
            return Refused(
                reason="of whose pictures? Those of this track are sent back already, or of a shot"
            )
        return _keep(board, name, "A", text=MARK, seen=seen)
    if is_scene:
        thing = _name_of_scene(board, written, shot_id=thing, seen=seen)
    for kind, field in kinds:
        text = " ".join(given.get(field, "")[:_MOST_LETTERS].split())
        if not text or text == text_of(board, written, (thing, kind))[0]:
            continue
        done = _keep(board, thing, kind, text=text, seen=seen)
        if isinstance(done, Refused):
            return done
    return done


def _check_of(board: OpenBoard, thing: str, *, is_scene: bool) -> str:
    """The letters of the track that a card is of; or the shot; empty where it is gone."""
    if is_scene:
        now = shots_now(board)
        return next((check_of_shot(one) for one in now.shots if one.shot_id == thing), "") if now else ""
    found = tracks_now(board)
    tracks = {} if found is None else {one.track_id: one for one in found[1].tracks}
    return check_of_track(tracks[thing]) if thing in tracks else ""


def _is_of(row: CardCheckRow, shot_id: str, *, seen: str) -> bool:
    """Whether words are of a shot: by what their writer saw, or by its number where nothing says that."""
    return row.seen == seen if row.seen else row.track_id == shot_id


def _name_of_scene(
    board: OpenBoard, written: Mapping[tuple[str, str], CardCheckRow], *, shot_id: str, seen: str
) -> str:
    """Under which name the words of a shot are kept: its number, unless another shot has words under it."""
    words = {name: row for (name, kind), row in written.items() if kind in (SCENE, FALSE)}
    if known := next((name for name, row in words.items() if _is_of(row, shot_id, seen=seen)), ""):
        return known
    if shot_id not in words:
        return shot_id
    now = shots_now(board)
    shot = next(one for one in (() if now is None else now.shots) if one.shot_id == shot_id)
    return f"{shot_id}@{shot.first_frame}-{shot.last_frame}"


def _keep(board: OpenBoard, thing: str, kind: str, *, text: str, seen: str) -> BoardRow | Refused:
    mine = _mine(board, thing, kind)
    if mine is None:
        row = board.row(CardCheckRow, seen=seen, track_id=thing, kind=kind, text=text)
        return say(row, board.person)
    # Other words have to be tried on everybody again.
    mine.seen, mine.text, mine.fits, mine.leaks = seen, text, "", None
    return change(mine)


def _mine(board: OpenBoard, thing: str, kind: str) -> CardCheckRow | None:
    mine = board.rows(CardCheckRow).filter(track_id=thing, kind=kind, by_name=board.person.name)
    row: CardCheckRow | None = mine.first()
    return row


def _reject(board: OpenBoard, name: str, kind: str) -> BoardRow | Refused:
    text, _ = text_of(board, written_of(board), (name, kind))
    if kind not in ("A", "B") or not text:
        return Refused(reason="there is no such card to reject")
    card = Card(track_id=name, kind="A" if kind == "A" else "B", text=text)
    return _fits(board, card, "none", leaks=False, note="rejected")


def _fits(board: OpenBoard, card: Card, fits: str, *, leaks: bool, note: str) -> BoardRow | Refused:
    """Keep whom a card fits."""
    mine = _mine(board, card.track_id, card.kind)
    if mine is None:
        row = board.row(
            CardCheckRow,
            seen=check_of_card(card),
            track_id=card.track_id,
            kind=card.kind,
            fits=fits,
            leaks=leaks,
            note=note,
        )
        return say(row, board.person)
    if not mine.text:
        mine.seen = check_of_card(card)
    elif mine.text != card.text:
        return Refused(reason="you wrote other words for this card; keep or take back these first")
    mine.fits, mine.leaks, mine.note = fits, leaks, note
    return change(mine)


# --------------------------------------------------------------------------- line-up


@told_why
def line_up(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """One description and the crops of everybody in the video, in a drawn order."""
    board = board_of(request, made, video, name="cards")
    found = tracks_now(board)
    name = request.GET.get("track", "")
    text, _ = text_of(board, written_of(board), (name, "A"))
    if found is None or not text:
        raise Http404
    result, now = found
    everybody = {one.track_id: one for one in (*now.tracks, *listed_others(result.others, now))}
    order = drawn(list(everybody), seed=f"{board.made.public}/{video}/{name}/{board.person.name}")
    card, fault, answer = Card(track_id=name, kind="A", text=text), "", ""
    if request.method == "POST":
        refuse_idle(board)
        picked = [one for one in order if mask(board, one) in request.POST.getlist("fits")]
        fits = "one" if picked == [name] else "several" if name in picked else "none"
        words = f"picked {', '.join(sorted(picked, key=natural))}" if picked else "picked nobody"
        done = _fits(board, card, fits, leaks=request.POST.get("leaks") == "yes", note=words)
        if isinstance(done, Refused):
            fault = done.reason
        else:
            answer = f"It fits {fits}: {words}; it is the card of {name}."
    people = [
        (number, board.video.portraits(everybody[one])[::_EVERY], mask(board, one))
        for number, one in enumerate(order, 1)
    ]
    told_ = board.told(fault=fault, card=card, people=people, answer=answer)
    return render(request, "boards/line_up.html", told_, status=400 if fault else 200)


# --------------------------------------------------------------------------- false cards


@told_why
def false_cards(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """Sentences about shots: told true or false without the film first, then looked at beside it."""
    board = board_of(request, made, video, name="false-cards")
    done, fault = tried(request, board, _say_of_false)
    if done is not None:
        return HttpResponseRedirect(board.address())
    all_cards = {one.card_id: one for one in board.video.scene_cards}
    false_ids = [one.card_id for one in all_cards.values() if not one.is_faithful]
    rows = list(board.rows(FalseCheckRow).order_by("pk"))
    mine = {row.card_id: row for row in rows if row.by_name == board.person.name}
    shots = {all_cards[one].shot_id for one in false_ids}
    asked = [one.card_id for one in all_cards.values() if one.shot_id in shots]
    order = drawn(asked, seed=f"{board.made.public}/{video}/{board.person.name}")
    left = [one for one in order if one not in mine]
    to_see = [one for one in false_ids if one in mine and mine[one].reads_natural is None]
    answers = [
        WordsOnlyAnswer(
            card=row.card_id,
            reader=row.by_name,
            is_true=all_cards[row.card_id].is_faithful,
            said=row.told_without_film,
        )
        for row in rows
        if row.card_id in all_cards
    ]
    told_ = board.told(
        fault=fault,
        n_asked=len(order),
        n_left=len(left),
        card=all_cards[left[0]] if left else None,
        card_mask=mask(board, left[0]) if left else "",
        see=None if left or not to_see else _beside(board, all_cards, to_see[0]),
        n_to_see=len(to_see),
        result=None if left else told(answers),
        done_rows=[] if left else [row for row in rows if row.card_id in false_ids],
    )
    return render(request, "boards/false_cards.html", told_, status=400 if fault else 200)


def _beside(board: OpenBoard, cards_: dict[str, SceneCard], card_id: str) -> dict[str, object]:
    """A false card as it is looked at beside the film."""
    card = cards_[card_id]
    shot = next((one for one in board.video.shots if one.shot_id == card.shot_id), None)
    spans = [] if shot is None else [[shot.start_s, shot.end_s]]
    lanes = [{"name": "the shot", "spans": spans}]
    return {
        "card": card,
        "mask": mask(board, card_id),
        "frame": 0 if shot is None else shot.clear_frame,
        "lanes": msgspec.json.encode(lanes).decode(),
    }


def _say_of_false(request: HttpRequest, board: OpenBoard) -> BoardRow | Refused:
    given = request.POST
    cards_ = board.video.scene_cards
    card = next((one for one in cards_ if mask(board, one.card_id) == given.get("card")), None)
    if card is None:
        return Refused(reason="there is no such card in this video now")
    mine = board.rows(FalseCheckRow).filter(card_id=card.card_id, by_name=board.person.name).first()
    if given.get("told"):
        if given["told"] not in _ANSWERS or mine is not None:
            return Refused(reason="say true, false or cannot say, once")
        row = board.row(
            FalseCheckRow,
            seen=check_of_scene(card),
            card_id=card.card_id,
            told_without_film=given["told"],
        )
        return say(row, board.person)
    occurs, reads = given.get("occurs", ""), given.get("natural", "")
    if mine is None or card.is_faithful:
        return Refused(reason="say first what you take it for without the film")
    if occurs not in ("yes", "no", "cannot-say") or reads not in ("yes", "no"):
        return Refused(reason="answer both questions")
    mine.occurs_in_film = None if occurs == "cannot-say" else occurs == "yes"
    mine.reads_natural = reads == "yes"
    mine.note = " ".join(given.get("note", "").split())
    return change(mine)


urls = [
    route(f"{VIDEO}/cards", cards, name="board-cards", roles=EVERY_ROLE, to=BOTH),
    route(f"{VIDEO}/leaks", leaks, name="board-leaks", roles=EVERY_ROLE, to=("POST",)),
    route(f"{VIDEO}/line-up", line_up, name="board-line-up", roles=EVERY_ROLE, to=BOTH),
    route(f"{VIDEO}/false-cards", false_cards, name="board-false-cards", roles=EVERY_ROLE, to=BOTH),
]

"""Report step: a page of the questions made, their sources, and the drops."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import numpy as np
from markupsafe import Markup

from vidence.errors import MediaError
from vidence.make.herbench.cards.crops import TrackPictures
from vidence.make.herbench.report_tables import (
    letter_table,
    source_table,
    stage_table,
    structure_table,
    task_table,
)
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline import report_pictures
from vidence.make.pipeline.ledger import Account, write_file
from vidence.make.pipeline.output import Question
from vidence.make.pipeline.pictures import PictureFolder
from vidence.media.video import Video
from vidence.report.questions import ContactSheet
from vidence.tables.rendering import render

PAGE_FILE: Final = "report.html"
MOST_VIDEOS: Final = 12
MOST_QUESTIONS: Final = 48
_MOST_SPANS: Final = 12
_MOST_SHOTS: Final = 24


Film: TypeAlias = tuple[VideoState, Video | None]
Settings: TypeAlias = list[tuple[str, list[tuple[str, str]]]]  # headings, each with names and values
Shown: TypeAlias = dict[str, object]  # what the template is given of one thing, by name


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """Further content of the page: title, sentences, and settings under headings."""

    title: str
    sentences: Sequence[str]
    settings: Settings


def report(
    work: HerbenchSession,
    videos: Sequence[VideoState],
    questions: Sequence[Question],
    *,
    account: Account,
    sentences: Sequence[str],
) -> Path:
    """Write the page of a session; return its path.

    Raises:
        StoreError: it cannot be written.
    """
    work.began("report", 1)
    html = build_page(
        account,
        [(video, _video(work, video)) for video in videos],
        questions,
        pictures=work.pictures,
        rng=np.random.default_rng(work.config.seed),
        facts=PageFacts(title=work.config.name, sentences=sentences, settings=_settings(work)),
    )
    path = work.out / PAGE_FILE
    write_file(path, html.encode())
    return path


def _video(work: HerbenchSession, state: VideoState) -> Video | None:
    try:
        return state.open(work)
    except MediaError:
        return None  # the account has it


def _settings(work: HerbenchSession) -> Settings:
    """Return the effective configuration by step; model specs contain no secrets."""
    settings: Settings = [("Set", [("name", work.config.name), ("seed", str(work.config.seed))])]
    for name in ("tracking", "shots", "cards", "scenes", "models", "tasks"):
        if value := getattr(work.config, name):
            built = msgspec.to_builtins(value)
            pairs = [(key, msgspec.json.encode(entry).decode()) for key, entry in built.items()]
            settings.append((name.capitalize(), pairs or [("as usual", "yes")]))
    return settings


def build_page(
    account: Account,
    films: Sequence[Film],
    questions: Sequence[Question],
    *,
    pictures: PictureFolder,
    rng: np.random.Generator,
    facts: PageFacts,
) -> str:
    """The page as HTML that loads nothing from elsewhere.

    Args:
        account: what every stage did.
        films: the videos, None for one that is not here; the first `MOST_VIDEOS` to see are pictured.
        questions: all of them; `MOST_QUESTIONS` drawn ones are shown, every task and form first.
        pictures: where crops are.
        rng: for drawing.
        facts: what else is said.
    """
    drafts = [question.draft for question in questions]
    to_see = [
        (state, v) for state, v in films if v is not None and (state.material.chosen or state.material.shots)
    ]
    by_id = {state.video_id: video for state, video in films}
    drawn = sample(questions, most=MOST_QUESTIONS, rng=rng)
    return render(
        "made.html.j2",
        title=facts.title,
        command="make herbench",
        sentences=facts.sentences,
        tables=[
            stage_table(account),
            task_table(drafts),
            structure_table(drafts),
            letter_table(drafts),
            source_table([state.source.video for state, _ in films], drafts),
        ],
        videos=[_shown(state, video, pictures) for state, video in to_see[:MOST_VIDEOS]],
        videos_note=(
            f"{MOST_VIDEOS} of {len(to_see)} videos are pictured." if len(to_see) > MOST_VIDEOS else ""
        ),
        questions=[_asked(question, by_id.get(question.draft.video_id)) for question in drawn],
        questions_note=f"{len(drawn)} of {len(questions):,} questions, drawn so that every form is there.",
        facts=facts.settings,
        notes=account.notes,
    )


def sample(questions: Sequence[Question], *, most: int, rng: np.random.Generator) -> list[Question]:
    """Some questions: one of each form first, then others, in their own order."""
    order = [questions[i] for i in rng.permutation(len(questions))]
    firsts = {(q.draft.task, q.draft.structure): q for q in reversed(order)}
    chosen = {q.question_id for q in list(firsts.values())[:most]}
    for question in order:
        if len(chosen) >= most:
            break
        chosen.add(question.question_id)
    return [question for question in questions if question.question_id in chosen]


def _shown(state: VideoState, video: Video, pictures: PictureFolder) -> Shown:
    """A video as the template shows it: what is known of it, and the pictures that could be made."""
    material, tracked, chosen = state.material, state.material.tracked, state.material.chosen
    notes = list(absences(state.absent))
    ways = tracks = shots = None
    if tracked is not None and chosen:
        ways = Markup(report_pictures.ways(tracked, chosen))  # noqa: S704 - our own SVG
        tracks = _sheet(partial(report_pictures.tracks_sheet, video, tracked, chosen), notes)
    if material.shots:
        shots = _sheet(partial(report_pictures.shots_sheet, video, material.shots, most=_MOST_SHOTS), notes)
    n_shots = len(material.shots)
    return {
        "video_id": material.source.video_id,
        "notes": list(dict.fromkeys(notes)),
        "tracks": tracks,
        "ways": ways,
        "people": [_person(state, name, pictures) for name in chosen],
        "shots": shots,
        "shots_note": f"{_MOST_SHOTS} of {n_shots} are pictured." if n_shots > _MOST_SHOTS else "",
        "scenes": material.scene_cards,
    }


def _sheet(make: Callable[[], ContactSheet], notes: list[str]) -> ContactSheet | None:
    """A sheet of pictures; None and a note where the video cannot be read."""
    try:
        return make()
    except MediaError as error:
        notes.append(str(error))
        return None


def absences(absent: Mapping[str, str]) -> Iterator[str]:
    """Return missing parts grouped by reason."""
    for why in dict.fromkeys(absent.values()):
        parts = [part.replace("_", " ") for part, reason in absent.items() if reason == why]
        yield f"no {', '.join(parts)}: {why}"


def _person(state: VideoState, track_id: str, pictures: PictureFolder) -> Shown:
    """A chosen track: when it is seen, its crops, its cards, and what of these a person should look at."""
    material = state.material
    span = ""
    if material.tracked is not None:
        start_s, end_s = material.tracked.span_s(material.tracked.track(track_id))
        span = f"{start_s:.1f} to {end_s:.1f} s"
    cards = (*material.a_cards, *material.b_cards)
    return {
        "track_id": track_id,
        "span": span,
        "crops": _crops(state.pictures.get(track_id), pictures),
        "cards": [card for card in cards if card.track_id == track_id],
        "flags": [flag for flag in state.flags if flag.track_id == track_id],
    }


def _crops(track_pictures: TrackPictures | None, pictures: PictureFolder) -> ContactSheet | None:
    """The crops of a track, those for its looks (A) before those for its path (B)."""
    if track_pictures is None:
        return None
    labels = [("A", crop) for crop in track_pictures.appearance] + [
        ("B", crop) for crop in track_pictures.path
    ]
    try:
        data = [pictures.get(crop.digest) for _, crop in labels]
    except MediaError:
        return None
    return report_pictures.crops_sheet(data, labels=[label for label, _ in labels])


def _asked(question: Question, video: Video | None) -> Shown:
    """A question with a frame of each span of its evidence, where the video is here."""
    draft, sheet = question.draft, None
    if video is not None:
        sheet = _sheet(partial(report_pictures.evidence_sheet, draft, video, most=_MOST_SPANS), [])
    evidence = "; ".join(
        f"{span.start_s:.1f}-{span.end_s:.1f} s{': ' + span.note if span.note else ''}"
        for span in draft.evidence
        if span.start_s is not None and span.end_s is not None
    )
    return {"asked": question, "draft": draft, "evidence": evidence, "sheet": sheet}

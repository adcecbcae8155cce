"""A model's proposals from contact sheets of a video; a person must confirm each fact that counts.

model:lane.mp4?vocabulary=street.toml&model=openai:gpt-4.1
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from vidence.ask.prompting.templates import Template
from vidence.catalog import FilePath, ModelSpec
from vidence.contracts import Flow
from vidence.errors import DataError, MediaError
from vidence.make.pipeline.wording import load_template
from vidence.make.pipeline.writer import Objection, WritingTask, in_words, write_all
from vidence.make.sources.scene import (
    AttributeFact,
    Complete,
    Entity,
    EventFact,
    Header,
    RelationFact,
    fact_id,
)
from vidence.make.sources.scene_files import Line, entity_of, line_faults, read_line
from vidence.make.sources.scene_writing import SceneDraft, SceneSet, SceneSource
from vidence.make.sources.vocabulary import Vocabulary, read_vocabulary
from vidence.media.encode import EncodedFrame, Encoding, Size, montage
from vidence.media.files import Job, deliver, known_video
from vidence.records import ImagePart, Prompt, Record, TextPart

TEMPLATE: Final = "scene_propose"
VARIABLES: Final[Mapping[str, str]] = {
    "duration_s": "the length of the video in seconds",
    "sheets": "which times each contact sheet shows",
    "vocabulary": "the words that can be used",
}
_MOST_SHOWN: Final = 5
_Proposed = Entity | AttributeFact | RelationFact | EventFact


class Settings(Record):
    """Options of proposals."""

    positional: ClassVar[str] = "path"
    path: Annotated[FilePath, Meta(description="the video")]
    model: Annotated[ModelSpec, Meta(description="model that proposes facts")]
    vocabulary: Annotated[FilePath, Meta(description="vocabulary (TOML)")]
    n_frames: Annotated[int, Meta(ge=1, le=400, description="frames to show, evenly spaced")] = 27
    columns: Annotated[int, Meta(ge=1, le=8, description="columns of a contact sheet")] = 3
    rows: Annotated[int, Meta(ge=1, le=8, description="rows of a contact sheet")] = 3
    side: Annotated[int, Meta(ge=32, description="longer side of a frame on a sheet, in pixels")] = 448
    templates: Annotated[FilePath, Meta(description="folder with your own scene_propose.txt")] = ""


@dataclass(frozen=True)
class _ModelReply:
    """The usable part of a reply, and the rest."""

    lines: tuple[_Proposed, ...]
    problems: tuple[str, ...]


@dataclass
class _Proposals:
    """A model's facts, never complete: what it does not list may still exist."""

    settings: Settings
    _pictures: dict[str, bytes] = field(default_factory=dict)

    def models(self) -> Mapping[str, str]:
        """The model that proposes."""
        return {"proposer": self.settings.model}

    def picture(self, digest: str) -> bytes:
        """A contact sheet."""
        return self._pictures[digest]

    def read(self) -> Flow[SceneSet]:
        """The scene of the video.

        Raises:
            DataError: of two replies no line can be used.
            MediaError: the video cannot be read.
        """
        words = read_vocabulary(Path(self.settings.vocabulary))
        folder = Path(self.settings.templates) if self.settings.templates else None
        template = load_template(TEMPLATE, variables=VARIABLES, folder=folder)
        path = Path(self.settings.path)
        duration_s, sheets = self._sheets(path)
        header = Header(
            scene=path.stem,
            vocabulary="",
            video=path.name,
            duration_s=round(duration_s, 3),
            source_id=path.stem,
            truth="model",
        )
        prompt = _prompt(template, sheets, duration_s=duration_s, words=words)

        def usable(text: str) -> _ModelReply | Objection:
            reply = read_proposals(text, header, words=words, by=f"model:{self.settings.model}")
            if reply.lines:
                return reply
            detail = "; ".join(reply.problems[:_MOST_SHOWN]) or "no line is a JSON object"
            return Objection(reason="no-fact", detail=detail)

        (piece,) = yield from write_all([WritingTask(prompt=prompt, read=in_words(usable))], _Again())
        if piece.made is None:
            message = piece.objection.detail if piece.objection else "nothing"
            raise DataError(
                f"model:{path.name}: {self.settings.model} proposed nothing that can be used: {message}"
            )
        return SceneSet(
            vocabulary=words,
            scenes=(SceneDraft(header=header, lines=piece.made.lines),),
            problems=piece.made.problems,
            notes=("proposed by a model, not confirmed by a person; nothing counts as complete",),
        )

    def _sheets(self, path: Path) -> tuple[float, list[tuple[EncodedFrame, tuple[float, ...]]]]:
        """The contact sheets with the times of their frames."""
        video, _ = known_video(path, kind="video", cache_root=None)
        n = min(self.settings.n_frames, video.n_frames)
        indices = [int((place + 0.5) * video.n_frames / n) for place in range(n)]
        encoding = Encoding(size=Size(kind="long", pixels=self.settings.side))
        job = Job(
            path=str(path),
            kind="video",
            frame_indices=tuple(indices),
            encoding=encoding,
            cache_root=None,
            cache_max_bytes=0,
        )
        frames = deliver(job).frames
        if not frames:
            raise MediaError(f"{path}: none of {n} frames can be read")
        values = sorted(frames)
        each = self.settings.columns * self.settings.rows
        sheets = []
        for start in range(0, len(values), each):
            part = values[start : start + each]
            sheet = montage(
                [frames[index] for index in part],
                columns=self.settings.columns,
                rows=self.settings.rows,
                encoding=encoding,
            )
            self._pictures[sheet.digest] = sheet.data
            sheets.append((sheet, tuple(float(video.times_s[index]) for index in part)))
        return float(video.probe.counted.duration_s), sheets


def create(settings: Settings) -> SceneSource:
    """A source of scenes proposed by a model."""
    return _Proposals(settings)


class _Again:
    """How a model is asked again."""

    def repaired(self, prompt: Prompt, message: str, *, problem: str) -> Prompt:
        """The prompt with what was wrong; the earlier reply is data."""
        words = (
            f"Your last reply cannot be used: {problem}\nIt was: "
            f"{msgspec.json.encode(message[:4000]).decode()}"
        )
        return msgspec.structs.replace(prompt, parts=(*prompt.parts, TextPart(text=words)))


def _prompt(
    template: Template,
    sheets: Sequence[tuple[EncodedFrame, tuple[float, ...]]],
    *,
    duration_s: float,
    words: Vocabulary,
) -> Prompt:
    prompt = "\n".join(
        f"sheet {number}: {', '.join(f'{time:.1f} s' for time in times)}"
        for number, (_, times) in enumerate(sheets, start=1)
    )
    text = template.fill({"duration_s": f"{duration_s:.1f}", "sheets": prompt, "vocabulary": _listed(words)})
    images = tuple(
        ImagePart(digest=s.digest, width_px=s.width_px, height_px=s.height_px, media_type=s.media_type)
        for s, _ in sheets
    )
    return Prompt(parts=(*images, TextPart(text=text)), template=template.place)


def _listed(words: Vocabulary) -> str:
    """A vocabulary as lines of text."""
    lines = [f"categories: {', '.join(sorted(words.categories))}"]
    for name, attribute in sorted(words.attributes.items()):
        values = (
            ", ".join(attribute.values)
            if attribute.values
            else "a number"
            if attribute.number
            else "any words"
        )
        lines.append(f"attribute {name} of {', '.join(attribute.of)}: {values}")
    for name, relation in sorted(words.relations.items()):
        lines.append(f"relation {name} of {', '.join(relation.of)} to {', '.join(relation.to)}")
    for name, kind in sorted(words.events.items()):
        roles = ", ".join(f"{role} ({of})" for role, of in sorted(kind.roles.items()))
        lines.append(f"event {name}, roles: {roles or 'none'}")
    return "\n".join(lines)


def read_proposals(text: str, header: Header, *, words: Vocabulary, by: str) -> _ModelReply:
    """Return the usable lines of a reply: entities first, then facts.

    A line that is no JSON, uses other words, names nothing that is there, lies outside the video, or claims
    what a model cannot know (that something is complete, knowledge, expectations) is left out and told.
    """
    problems: list[str] = []
    known: dict[str, Entity] = {}
    kept: list[_Proposed] = []
    proposals = sorted(_decoded(text, problems), key=lambda values: (_order(values[1]), values[0]))
    for number, line in proposals:
        if faults := [*_faults(line, header, known), *line_faults(line, header, known=known, words=words)]:
            problems.append(f"line {number}: {faults[0]}")
            continue
        known |= {entity.entity: entity for entity in entity_of(line)}
        kept.append(line if isinstance(line, Entity) else msgspec.structs.replace(line, by=by))
    return _ModelReply(lines=tuple(kept), problems=tuple(problems))


def _order(line: _Proposed) -> int:
    """Entities first, then events, then facts about them."""
    return 0 if isinstance(line, Entity) else 1 if isinstance(line, EventFact) else 2


def _faults(line: _Proposed, header: Header, known: Mapping[str, Entity]) -> Iterable[str]:
    for entity in entity_of(line):
        if entity.entity in known:
            yield f"{entity.entity!r} is there twice"
    if isinstance(line, Entity):
        return
    for time in line.seen_at:
        if not 0 <= time <= (header.duration_s or 0):
            yield f"{fact_id(line)}: {time:g} s is not in the video"


def _decoded(text: str, problems: list[str]) -> Iterable[tuple[int, _Proposed]]:
    for number, raw in enumerate(text.split("\n"), start=1):
        stripped = raw.strip().rstrip(",")
        if not stripped or stripped.startswith("```"):
            continue
        try:
            line: Line = read_line(stripped)
        except (msgspec.DecodeError, ValueError) as error:
            problems.append(f"line {number}: {str(error)[:200]}")
            continue
        if isinstance(line, Entity | AttributeFact | RelationFact | EventFact):
            yield number, line
        else:
            kind = "that something is complete" if isinstance(line, Complete) else type(line).__name__
            problems.append(f"line {number}: a model cannot state {kind}")

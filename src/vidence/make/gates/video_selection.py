"""Select videos: listed, measured side by side, looked at and captioned by models, gated, written."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, Generic, TypeVar

from vidence.contracts import Flow, Loaded
from vidence.engine.side_by_side import side_by_side
from vidence.errors import MediaError, VidenceError
from vidence.make.gates import video_model_measures as model_measures
from vidence.make.gates.video_candidates import Candidate
from vidence.make.gates.video_gates import Verdict, judge, over_quota
from vidence.make.gates.video_list import ListedVideo, PeopleSaid, VideoListing
from vidence.make.gates.video_measuring import (
    N_CAPTIONED,
    N_LOOKED,
    Measured,
    MeasuredAway,
    can_part,
    check_detector,
    evenly,
    identity,
    measure,
    measure_away,
)
from vidence.make.gates.video_model_measures import (
    BEHIND,
    CAPTION,
    LOOK,
    Captioned,
    FrameShares,
    FromCaption,
    SelectWording,
)
from vidence.make.gates.video_report import Selected, write_selection
from vidence.make.gates.video_rules import SelectRules
from vidence.make.pipeline.cache import Artifact, FlowUnit, Stage, digest_of
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE
from vidence.make.pipeline.material import Crop, Dropped
from vidence.make.pipeline.models import Models
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.probing import look_side_by_side
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Results, Session
from vidence.media.files import MediaFacts, known_video, resolve
from vidence.media.scan import Scan
from vidence.records import Failed, Item
from vidence.seeing.following import open_detector
from vidence.seeing.watching import LastResort
from vidence.statistics.paired import compare

T = TypeVar("T")
SaidT = TypeVar("SaidT", FrameShares, Captioned)
STAGES: Final = ("videos", "measured", "looked", "captioned", "read", "gates", "quotas")
_MOST_NAMED: Final = 5
_NONE_FAILED: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class SelectJob:
    """What is selected from, and how. `rules_file` is where the rules are from, for messages.

    `questions` are those of the set, for the sufficiency of captions; None where there are none.
    """

    listing: VideoListing
    rules: SelectRules
    rules_file: Path
    today: date
    said: Mapping[str, PeopleSaid] = field(default_factory=dict)
    questions: Loaded | None = None


@dataclass(frozen=True)
class _ModelRequest(Generic[SaidT]):
    """What a model that is shown frames is asked: in which stage, in which role, by which prompt."""

    stage: str
    kind: type[SaidT]
    role: str
    model: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What came of it: all videos with their verdicts, the files, and words for the user."""

    selected: Selected
    files: tuple[Path, ...]
    sentences: tuple[str, ...]


def select_videos(job: SelectJob, *, out: Path, context: BuildContext) -> Selection:
    """Measure the videos, ask about them, and keep those that pass every gate.

    Every result is kept in `out`, so that the same call decodes nothing and asks nobody again.

    Raises:
        VidenceError: it cannot go on: a detector or a model cannot be used, nothing can be written. A video
            that cannot be read is dropped with the reason.
    """
    session = Session(
        root=job.rules_file.parent, out=out, context=context, overrides=MakeOverrides(), stages=STAGES
    )
    work = _Work(job=job, session=session, pictures=PictureFolder(out / "pictures"))
    work.measure()
    work.ask()
    return work.finish()


@dataclass(kw_only=True)
class _Work:
    """One call: what is known of each video so far, by its id."""

    job: SelectJob
    session: Session
    pictures: PictureFolder
    facts: dict[str, MediaFacts] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    measured: dict[str, Artifact[Measured]] = field(default_factory=dict)
    looked: dict[str, FrameShares] = field(default_factory=dict)
    captioned: dict[str, Captioned] = field(default_factory=dict)
    answers: dict[str, tuple[FromCaption, ...]] = field(default_factory=dict)
    why_no_answers: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def rules(self) -> SelectRules:
        return self.job.rules

    @property
    def videos(self) -> tuple[ListedVideo, ...]:
        return self.job.listing.videos

    # ------------------------------------------------------------------ measured

    def measure(self) -> None:
        """Look into every file; those that cannot be read are dropped here."""
        for problem in self.job.listing.problems:
            self.session.trouble(problem)
        check_detector(self.rules.measure, n_videos=len(self.videos))
        failed = self._facts()
        ids = [one.video_id for one in self.videos]
        self._close("videos", ids, list(self.facts), failed=failed)
        rules, n_shown = self.rules.measure, self._n_shown
        stage = Stage(name="measured", kind=Measured, settings=identity(rules, n_shown=n_shown))
        self.session.began("measured", len(self.facts))
        missing = [
            one for one in self.videos if one.video_id in self.facts and not self._found(stage, one.video_id)
        ]
        n_cached = len(self.measured)
        failed = {}
        for one, found in self._measured(missing):
            if isinstance(found, MediaError):
                failed[one.video_id] = str(found)
                self.session.trouble(str(found))
            else:
                name = one.video_id
                self.measured[name] = self.session.cache.put(stage, self._inputs(name), found)
                self.session.done("measured", name, was_cached=False)
        self._close("measured", list(self.facts), list(self.measured), failed=failed, n_cached=n_cached)

    def _found(self, stage: Stage[Measured], name: str) -> bool:
        """Whether an earlier call measured a video, and the pictures of it are there still."""
        kept = self.session.cache.find(stage, self._inputs(name))
        if kept is None or not self.pictures.holds(kept.value.frames):
            return False
        self.measured[name] = kept
        self.session.done("measured", name, was_cached=True)
        return True

    def _facts(self) -> dict[str, str]:
        """What each file holds; for those that cannot be read, why not."""
        context = self.session.context
        self.session.began("videos", len(self.videos))
        failed: dict[str, str] = {}
        for number, facts in look_side_by_side(
            [Path(one.path) for one in self.videos],
            context.parallel,
            cache_root=context.cache_root,
            on_trouble=self.session.trouble,
        ):
            name = self.videos[number].video_id
            if isinstance(facts.made, MediaError):
                failed[name] = str(facts.made)
                self.session.trouble(failed[name])
            else:
                self.facts[name] = facts.made
                self.session.done("videos", name, was_cached=facts.was_kept)
        return failed

    def _measured(self, videos: Sequence[ListedVideo]) -> Iterator[tuple[ListedVideo, Measured | MediaError]]:
        """What is measured of each video, or why it cannot be read; other errors end everything."""
        context, rules, n_shown = self.session.context, self.rules.measure, self._n_shown
        if not videos:
            return
        if not can_part(rules):  # a detector on a device is opened once
            for one in videos:
                try:
                    made = measure(self._scan(one), rules, pictures=self.pictures.root, n_shown=n_shown)
                    yield one, made
                except MediaError as error:
                    yield one, error
            return
        pieces = ((one.path, self._measuring(one)) for one in videos)
        for number, found in side_by_side(pieces, context.parallel, on_trouble=self.session.trouble):
            if isinstance(found, VidenceError) and not isinstance(found, MediaError):
                raise found
            yield videos[number], self._brought(found) if isinstance(found, MeasuredAway) else found

    def _measuring(self, one: ListedVideo) -> Callable[[], Measured | MeasuredAway]:
        """The work of measuring a video, for another process."""
        rules, n_shown = self.rules.measure, self._n_shown
        try:
            scan = self._scan(one)
        except MediaError as error:  # it has changed, or gone, since it was looked into
            return partial(_unreadable, error)
        if self.session.context.parallel.is_away:
            return partial(measure_away, scan, rules, n_shown=n_shown)
        return partial(measure, scan, rules, pictures=self.pictures.root, n_shown=n_shown)

    def _brought(self, found: MeasuredAway) -> Measured:
        """What another machine measured; its pictures are kept here."""
        for picture in found.pictures:
            self.pictures.put(picture)
        return found.measured

    def _scan(self, one: ListedVideo) -> Scan:
        """What is known of a file; it was looked into before."""
        video, _ = known_video(Path(one.path), kind="video", cache_root=self.session.context.cache_root)
        return video.scan

    def _inputs(self, name: str) -> dict[str, str]:
        return {"video": self.facts[name].content_hash}

    @property
    def _n_shown(self) -> tuple[int, ...]:
        """How many frames each of the models wants that are asked with frames."""
        ask = self.rules.ask
        return (*((N_LOOKED,) if ask.looker else ()), *((N_CAPTIONED,) if ask.captioner else ()))

    def _close(
        self,
        stage: str,
        taken: Sequence[str],
        kept: Iterable[str],
        *,
        failed: Mapping[str, str] = _NONE_FAILED,
        n_cached: int = 0,
    ) -> None:
        """Close the account of a stage in which only files that cannot be read are dropped."""
        self.unreadable |= failed
        dropped = [
            Dropped(what=name, stage=stage, reason="unreadable", detail=failed[name])
            for name in taken
            if name in failed
        ]
        self.session.close(
            stage, unit="videos", taken=taken, kept=list(kept), dropped=dropped, n_cached=n_cached
        )

    # ------------------------------------------------------------------ asked

    def ask(self) -> None:
        """Put the frames to the models that the rules name."""
        ask = self.rules.ask
        if not ask.looker and not ask.captioner:
            return
        own = self.session.root / ask.templates if ask.templates else None
        words = SelectWording.load(own)
        with self.session.context.models(
            self.rules.models,
            source=self.job.rules_file,
            limits=self.rules.asking,
            pictures=self.pictures.get,
        ) as models:
            if ask.looker:
                self._look(models, words)
            if ask.captioner:
                self._read(models, words, self._caption(models, words))

    def _frames(self, name: str, n: int) -> tuple[Crop, ...]:
        """The frames of a video that a model is shown."""
        found = self.measured[name].value
        facts = self.facts[name]
        wanted = set(evenly(facts.times_s, n, seconds=facts.probe.counted.duration_s))
        return tuple(crop for crop in found.frames if crop.frame_index in wanted)

    def _look(self, models: Models, words: SelectWording) -> None:
        frames = {name: self._frames(name, N_LOOKED) for name in self.measured if name not in self.job.said}
        prompt = _ModelRequest("looked", FrameShares, "looker", self.rules.ask.looker, words.label(LOOK))
        self.looked = self._show(prompt, frames, lambda some: model_measures.look(some, words), models=models)

    def _show(
        self,
        shown: _ModelRequest[SaidT],
        frames: Mapping[str, tuple[Crop, ...]],
        start: Callable[[Sequence[Crop]], Callable[[], Flow[SaidT]]],
        *,
        models: Models,
    ) -> dict[str, SaidT]:
        """What a model says of the frames of each video; why, where it says nothing that can be used."""
        settings = [shown.label, models.spec(shown.model)]
        stage = Stage(name=shown.stage, kind=shown.kind, version=model_measures.VERSION, settings=settings)
        units = [
            FlowUnit(stage=stage, name=name, inputs={"frames": digest_of(some)}, start=start(some))
            for name, some in frames.items()
        ]
        found: Results[SaidT] = self.session.ask(shown.stage, units, models=models, model=shown.model)
        said: dict[str, SaidT] = _values(found)
        self._note_silent(shown.role, [*found.failed, *(name for name, one in said.items() if one.why)])
        self._close(shown.stage, list(frames), list(frames), n_cached=found.n_cached)
        return said | {name: shown.kind(why=_why(one)) for name, one in found.failed.items()}

    def _note_silent(self, role: str, names: Sequence[str]) -> None:
        """Say of how many videos a model said nothing that can be used."""
        if names:
            listed = ", ".join(sorted(names)[:_MOST_NAMED])
            self.notes.append(f"the {role} said nothing usable of {len(names):,} videos: {listed}")

    def _caption(self, models: Models, words: SelectWording) -> dict[str, list[Item]]:
        """Have captions written of the videos with questions; the questions of each."""
        questions = self._questions()
        frames = {name: self._frames(name, N_CAPTIONED) for name in questions}
        prompt = _ModelRequest(
            "captioned", Captioned, "captioner", self.rules.ask.captioner, words.label(CAPTION)
        )
        self.captioned = self._show(
            prompt, frames, lambda some: model_measures.caption(some, words), models=models
        )
        return questions

    def _read(self, models: Models, words: SelectWording, questions: Mapping[str, Sequence[Item]]) -> None:
        model = self.rules.ask.reader
        stage = Stage(
            name="read",
            kind=tuple[FromCaption, ...],
            version=model_measures.VERSION,
            settings=[words.label(BEHIND), words.plain.label("choice-direct"), models.spec(model)],
        )
        written = {name: one.caption for name, one in self.captioned.items() if one.caption}
        units = [
            FlowUnit(
                stage=stage,
                name=name,
                inputs={"caption": digest_of(said), "questions": digest_of(questions[name])},
                start=model_measures.read_caption(questions[name], said, words),
            )
            for name, said in written.items()
        ]
        found = self.session.ask("read", units, models=models, model=model)
        self.answers = _values(found)
        self.why_no_answers |= {name: _why(one) for name, one in found.failed.items()}
        self._close("read", list(written), list(written), n_cached=found.n_cached)

    def _questions(self) -> dict[str, list[Item]]:
        """The questions with choices of each video, by its id."""
        loaded = self.job.questions
        names = {
            Path(one.path).resolve(): one.video_id for one in self.videos if one.video_id in self.measured
        }
        found: dict[str, list[Item]] = defaultdict(list)
        n_open = n_elsewhere = 0
        for item in loaded.items if loaded is not None else ():
            paths = {resolve(loaded.media_root, one).resolve() for one in item.media} if loaded else set()
            name = names.get(next(iter(paths))) if len(paths) == 1 else None
            if name is None:
                n_elsewhere += 1
            elif item.answer_kind != "choice" or not item.choices:
                n_open += 1
            else:
                found[name].append(item)
        if n_open:
            self.notes.append(f"{n_open:,} open questions were not put to the reader; it picks choices")
        if n_elsewhere:
            self.notes.append(f"{n_elsewhere:,} questions are about no video of the list, or about several")
        return {one: found[one] for one in self.measured if one in found}

    # ------------------------------------------------------------------ the end

    def finish(self) -> Selection:
        """Gate, write, say."""
        candidates = tuple(self._candidate(one) for one in self.videos if one.video_id in self.measured)
        verdicts, gates = judge(candidates, self.rules, today=self.job.today)
        passed = self._gate("gates", candidates, verdicts)
        extra = over_quota(passed, self.rules)
        verdicts |= {
            name: Verdict(faults=(fault,), open=verdicts[name].open) for name, fault in extra.items()
        }
        kept = self._gate("quotas", passed, verdicts) if self.rules.quotas else passed
        sentences = (*self._sentences(candidates, kept), *self.notes)
        selected = Selected(
            candidates=candidates,
            verdicts=verdicts,
            gates=gates,
            today=self.job.today,
            sentences=sentences,
            unreadable={
                one.video_id: self.unreadable[one.video_id]
                for one in self.videos
                if one.video_id in self.unreadable
            },
        )
        self.session.ledger.notes.extend(sentences)
        settings = {
            "preset": self.rules.preset or "none",
            **{gate.name: gate.says for gate in gates},
            "unmeasured": self.rules.unmeasured,
            "quotas": dict(self.rules.quotas) or "none",
            "seed": self.rules.seed,
            "detector": self.rules.measure.detector or "none",
            "cuts": self.rules.measure.cuts or "none",
            "day": self.job.today.isoformat(),
        }
        files = write_selection(selected, self.session.out, settings=settings)
        self.session.ledger.write(self.session.out, ())
        out = self.session.out
        return Selection(
            selected=selected, files=(*files, out / DROPPED_FILE, out / ACCOUNT_FILE), sentences=sentences
        )

    def _candidate(self, one: ListedVideo) -> Candidate:
        name = one.video_id
        lacks = self.why_no_answers.get(name, "")
        if self.rules.ask.captioner and name not in self.captioned:
            lacks = "the set has no question with choices about it"
        return Candidate(
            listed=one,
            measured=self.measured[name].value,
            sha256=self.facts[name].content_hash,
            said=self.job.said.get(name),
            looked=self.looked.get(name),
            captioned=self.captioned.get(name),
            answers=self.answers.get(name, ()),
            why_no_answers=lacks,
        )

    def _gate(
        self, stage: str, candidates: Sequence[Candidate], verdicts: Mapping[str, Verdict]
    ) -> tuple[Candidate, ...]:
        """Those that stay; the others are dropped for the first of their faults, and all are said."""
        self.session.began(stage, len(candidates))
        kept = tuple(one for one in candidates if verdicts[one.video_id].is_kept)
        dropped = [
            Dropped(
                what=one.video_id,
                stage=stage,
                reason=verdicts[one.video_id].faults[0].reason,
                detail="; ".join(fault.detail for fault in verdicts[one.video_id].faults),
            )
            for one in candidates
            if not verdicts[one.video_id].is_kept
        ]
        names = [one.video_id for one in candidates]
        self.session.close(
            stage, unit="videos", taken=names, kept=[one.video_id for one in kept], dropped=dropped
        )
        return kept

    def _sentences(self, candidates: Sequence[Candidate], kept: Sequence[Candidate]) -> list[str]:
        n, n_bad = len(self.videos), len(self.videos) - len(candidates)
        unread = f", {n_bad} cannot be read" if n_bad else ""
        said = [f"{n:,} videos: {len(kept):,} kept, {len(candidates) - len(kept):,} dropped{unread}"]
        if not self.rules.wanted_gates:
            said.append("no gate was asked for: name a preset, or gates in a file of rules")
        problems = self.job.listing.problems
        if problems:
            said.append(
                f"{len(problems):,} rows of the list name no video: {'; '.join(problems[:_MOST_NAMED])}"
            )
        damaged = [one.video_id for one in candidates if one.measured.n_damaged or one.measured.problem]
        if n_bad:
            named = [one.video_id for one in self.videos if one.video_id in self.unreadable][:_MOST_NAMED]
            said.append(f"cannot be read: {', '.join(named)}{' and more' if n_bad > len(named) else ''}")
        if damaged:
            said.append(
                f"{len(damaged):,} files are damaged, and measured by what is whole: "
                f"{', '.join(damaged[:_MOST_NAMED])}"
            )
        said += self._of_captions(candidates)
        return said + _cautions(self.rules.measure.detector)

    def _of_captions(self, candidates: Sequence[Candidate]) -> list[str]:
        """What one caption is worth, over all questions, paired with what the reader says blind."""
        scored = [(one.video_id, *scores) for one in candidates for scores in one.scored]
        if not scored:
            return []
        names, told, blind, chance = zip(*scored, strict=True)
        found = compare(told, blind, clusters=names)
        ends, guessed = found.difference, sum(chance) / len(chance)
        interval = ends.reason or f"{100 * ends.low:+.1f} to {100 * ends.high:+.1f}"
        return [
            f"from one caption alone the reader answers {100 * found.mean_first:.1f} % of {len(scored):,} "
            f"questions, blind {100 * found.mean_second:.1f} %, by chance {100 * guessed:.1f} %: "
            f"{100 * ends.value:+.1f} points ({interval}; {found.verdict})"
        ]


def _unreadable(error: MediaError) -> Measured:
    """The work on a video that cannot be read."""
    raise error


def _cautions(spec: str) -> list[str]:
    """What a detector says of itself that is only for want of a better one."""
    detector = open_detector(spec) if spec else None
    return [detector.caution] if detector is not None and isinstance(detector, LastResort) else []


def _values(found: Results[T]) -> dict[str, T]:
    return {name: one.value for name, one in found.made.items()}


def _why(failed: Failed) -> str:
    return f"{failed.stage} failed: {failed.message}"

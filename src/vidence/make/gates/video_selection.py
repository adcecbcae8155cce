"""Select videos: list, measure in parallel, rate by a model, gate, write."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from vidence.engine.side_by_side import look_side_by_side
from vidence.errors import MediaError
from vidence.make.gates.video_gates import Candidate, Selected, Verdict, judge, over_quota, write_selection
from vidence.make.gates.video_list import ListedVideo, PeopleSaid, VideoListing
from vidence.make.gates.video_measuring import (
    LOOK_VERSION,
    N_LOOKED,
    FrameShares,
    Measured,
    can_part,
    check_detector,
    identity,
    look,
    look_template,
    measure,
)
from vidence.make.gates.video_rules import SelectRules
from vidence.make.pipeline.cache import FlowUnit, MadeAway, Stage, Unit, digest_of
from vidence.make.pipeline.ledger import ACCOUNT_FILE, DROPPED_FILE
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.pictures import PICTURES, PictureFolder
from vidence.make.pipeline.session import BuildContext, MakeOverrides, Session
from vidence.make.pipeline.wording import CardWording
from vidence.media.files import MediaFacts, known_video
from vidence.media.scan import Scan
from vidence.media.whole import own_folder
from vidence.seeing.false_people import false_people
from vidence.seeing.following import open_detector
from vidence.seeing.watching import LastResort

_MOST_NAMED: Final = 5
_NONE_FAILED: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class SelectJob:
    """The selection job. `rules_file` is the source of the rules, for messages."""

    listing: VideoListing
    rules: SelectRules
    rules_file: Path
    today: date
    said: Mapping[str, PeopleSaid] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Result of a selection: all videos with verdicts, and the files."""

    selected: Selected
    files: tuple[Path, ...]


def select_videos(job: SelectJob, *, out: Path, context: BuildContext) -> Selection:
    """Measure the videos, rate them, and keep those that pass every gate.

    Every result is kept in `out`, so that the same call decodes nothing and asks nobody again.

    Raises:
        VidenceError: it cannot go on: a detector or a model cannot be used, nothing can be written. A video
            that cannot be read is dropped with the reason.
    """
    own_folder(out, ".vidence-select")
    session = Session(root=job.rules_file.parent, out=out, context=context, overrides=MakeOverrides())
    work = _Work(job=job, session=session, pictures=PictureFolder(out / PICTURES))
    work.measure()
    work.look()
    return work.finish()


@dataclass(kw_only=True)
class _Work:
    """State of one selection: what is known of each video, by id."""

    job: SelectJob
    session: Session
    pictures: PictureFolder
    facts: dict[str, MediaFacts] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    measured: dict[str, Measured] = field(default_factory=dict)
    looked: dict[str, FrameShares] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def rules(self) -> SelectRules:
        return self.job.rules

    @property
    def videos(self) -> tuple[ListedVideo, ...]:
        return self.job.listing.videos

    # ------------------------------------------------------------------ measured

    def measure(self) -> None:
        """Open every file; unreadable ones are dropped."""
        for problem in self.job.listing.problems:
            self.session.trouble(problem)
        rules, session = self.rules.measure, self.session
        check_detector(rules, n_videos=len(self.videos))
        failed = self._facts()
        self._close("videos", [video.video_id for video in self.videos], self.facts, failed=failed)
        n_shown = N_LOOKED if self.rules.ask.looker else 0
        stage = Stage(name="measured", kind=Measured, settings=identity(rules, n_shown=n_shown))
        units = [
            self._unit(stage, video, n_shown=n_shown) for video in self.videos if video.video_id in self.facts
        ]
        # A detector on a device is opened once.
        if can_part(rules):
            results = session.compute_apart("measured", units, folder=self.pictures.root)
        else:
            results = session.compute("measured", units)
        self.measured = {name: artifact.value for name, artifact in results.made.items()}
        failed = {name: entry.message for name, entry in results.failed.items()}
        self._close("measured", list(self.facts), self.measured, failed=failed, n_cached=results.n_cached)

    def _unit(self, stage: Stage[Measured], video: ListedVideo, *, n_shown: int) -> Unit[Measured]:
        """Return the unit that measures a video; remote results include its pictures."""
        rules, pictures = self.rules.measure, self.pictures.root

        def apart(is_away: bool) -> Callable[[], Measured | MadeAway[Measured]]:
            make = partial(measure, self._scan(video), rules, n_shown=n_shown)
            if is_away:
                return partial(MadeAway.of, partial(_into, make), folder=PICTURES)
            return partial(make, pictures=pictures)

        return Unit(
            stage=stage,
            name=video.video_id,
            inputs={"video": self.facts[video.video_id].content_hash},
            make=lambda: measure(self._scan(video), rules, pictures=pictures, n_shown=n_shown),
            is_usable=lambda measured: self.pictures.holds(measured.frames),
            reads=(Path(video.path),),
            apart=apart,
        )

    def _facts(self) -> dict[str, str]:
        """Return the facts of each file, or why it is unreadable."""
        context = self.session.context
        self.session.began("videos", len(self.videos))
        failed: dict[str, str] = {}
        for number, facts in look_side_by_side(
            [Path(video.path) for video in self.videos],
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

    def _scan(self, listed_video: ListedVideo) -> Scan:
        """Return the facts of a file that was opened before."""
        video, _ = known_video(
            Path(listed_video.path), kind="video", cache_root=self.session.context.cache_root
        )
        return video.scan

    def _close(
        self,
        stage: str,
        taken: Sequence[str],
        kept: Iterable[str],
        *,
        failed: Mapping[str, str] = _NONE_FAILED,
        n_cached: int = 0,
    ) -> None:
        """Close the account of a stage that drops only unreadable files."""
        self.unreadable |= failed
        dropped = [
            Dropped(what=name, stage=stage, reason="unreadable", detail=failed[name])
            for name in taken
            if name in failed
        ]
        self.session.close(
            stage, unit="videos", taken=taken, kept=list(kept), dropped=dropped, n_cached=n_cached
        )

    # ------------------------------------------------------------------ looked at

    def look(self) -> None:
        """Ask the configured model to rate frames that no person rated."""
        looker = self.rules.ask.looker
        if not looker:
            return
        own = self.session.root / self.rules.ask.templates if self.rules.ask.templates else None
        template, repairs = look_template(own), CardWording.load(own)
        frames = {
            name: measured.frames for name, measured in self.measured.items() if name not in self.job.said
        }
        with self.session.context.models(
            self.rules.models, source=self.job.rules_file, limits=self.rules.asking, out=self.session.out
        ) as models:
            settings = [template.label, models.spec(looker)]
            stage = Stage(name="looked", kind=FrameShares, version=LOOK_VERSION, settings=settings)
            units = [
                FlowUnit(
                    stage=stage,
                    name=name,
                    inputs={"frames": digest_of(some)},
                    start=look(some, template, repairs),
                )
                for name, some in frames.items()
            ]
            results = self.session.ask("looked", units, models=models, model=looker)
        self.looked = {name: artifact.value for name, artifact in results.made.items()} | {
            name: FrameShares(why=f"{failed.stage} failed: {failed.message}")
            for name, failed in results.failed.items()
        }
        if silent := sorted(name for name, shares in self.looked.items() if shares.why):
            listed = ", ".join(silent[:_MOST_NAMED])
            self.notes.append(f"the looker said nothing usable of {len(silent):,} videos: {listed}")
        self._close("looked", list(frames), frames, n_cached=results.n_cached)

    # ------------------------------------------------------------------ the end

    def finish(self) -> Selection:
        """Gate, write and summarize."""
        candidates = tuple(
            Candidate(
                listed=video,
                measured=self.measured[video.video_id],
                sha256=self.facts[video.video_id].content_hash,
                said=self.job.said.get(video.video_id),
                looked=self.looked.get(video.video_id),
            )
            for video in self.videos
            if video.video_id in self.measured
        )
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
                video.video_id: self.unreadable[video.video_id]
                for video in self.videos
                if video.video_id in self.unreadable
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
        out = self.session.out
        files = write_selection(selected, out, settings=settings)
        self.session.ledger.write(out, ())
        return Selection(selected=selected, files=(*files, out / DROPPED_FILE, out / ACCOUNT_FILE))

    def _gate(
        self, stage: str, candidates: Sequence[Candidate], verdicts: Mapping[str, Verdict]
    ) -> tuple[Candidate, ...]:
        """Drop videos by their first fault; report all faults."""
        faults = {candidate.video_id: verdicts[candidate.video_id].faults for candidate in candidates}
        dropped = [
            Dropped(
                what=name,
                stage=stage,
                reason=mine[0].reason,
                detail="; ".join(fault.detail for fault in mine),
            )
            for name, mine in faults.items()
            if mine
        ]
        self.session.close(stage, unit="videos", taken=list(faults), dropped=dropped)
        return tuple(candidate for candidate in candidates if not faults[candidate.video_id])

    def _sentences(self, candidates: Sequence[Candidate], kept: Sequence[Candidate]) -> list[str]:
        n, n_bad = len(self.videos), len(self.videos) - len(candidates)
        unread = f", {n_bad} cannot be read" if n_bad else ""
        sentences = [f"{n:,} videos: {len(kept):,} kept, {len(candidates) - len(kept):,} dropped{unread}"]
        if not self.rules.wanted_gates:
            sentences.append("no gate was asked for: name a preset, or gates in a file of rules")
        if problems := self.job.listing.problems:
            sentences.append(
                f"{len(problems):,} rows of the list name no video: {'; '.join(problems[:_MOST_NAMED])}"
            )
        if n_bad:
            named = [video.video_id for video in self.videos if video.video_id in self.unreadable][
                :_MOST_NAMED
            ]
            sentences.append(f"cannot be read: {', '.join(named)}{' and more' if n_bad > len(named) else ''}")
        if damaged := [c.video_id for c in candidates if c.measured.n_damaged or c.measured.problem]:
            sentences.append(
                f"{len(damaged):,} files are damaged, and measured by what is whole: "
                f"{', '.join(damaged[:_MOST_NAMED])}"
            )
        spec = self.rules.measure.detector
        detector = open_detector(spec) if spec else None
        sentences += [detector.caution] if isinstance(detector, LastResort) else []
        empty = {c.video_id: c.measured.peopled for c in candidates if c.listed.people == 0}
        if spec and (empty or "people" in self.rules.wanted_gates):
            sentences.append(false_people(spec, empty, judge="the list (0 under people)"))
        return sentences


def _into(make: Callable[..., Measured], folder: Path) -> Measured:
    """Return the work for another machine, with a picture folder of its own."""
    return make(pictures=folder)

"""Scenes -> composed questions, each proved to have one answer and to need every condition."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from vidence.engine.jobs import Jobs
from vidence.errors import DataError
from vidence.make.compose.atoms import Statements
from vidence.make.compose.compose_drafting import (
    ComposeConfig,
    Key,
    draft_of,
    finished,
    read_compose,
    report_text,
)
from vidence.make.compose.offers import NoOffer, Offer, faults_of_options, offers, witness_notes
from vidence.make.compose.phrases import WordingError
from vidence.make.compose.quotas import Filled, Unmet, cell_of, fill, gaps
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import Composed
from vidence.make.compose.wording import PlainWords
from vidence.make.compose.world import World
from vidence.make.gates.gate_sequence import GateDesk, pass_gates
from vidence.make.gates.letters import spread_letters
from vidence.make.pipeline.cache import Stage, Unit, digest_of
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.output import ITEMS_FILE, item_of_draft, json_lines
from vidence.make.pipeline.session import (
    BuildContext,
    Built,
    MakeOverrides,
    Maker,
    Outlook,
    Session,
    StageRow,
    check_models,
    started,
)
from vidence.make.release.made_release import ReleaseExtras, release_questions
from vidence.make.review.files import read_reviews
from vidence.make.sources.composition import canonical
from vidence.make.sources.scene import Scene
from vidence.make.sources.scene_files import read_scenes
from vidence.media.whole import write_into
from vidence.records import Item, Provenance
from vidence.tables.table import several
from vidence.text import quoted

NAME, VERSION = "compose", 11
PROOFS_FILE, KEYS_FILE, COMPOSITIONS_FILE, REPORT_FILE = (
    "proofs.jsonl", "keys.jsonl", "compositions.jsonl", "report.md",
)  # fmt: skip


_MOST_SHORT = 3
"""Of this many scenes with too few compositions the reasons are printed; the account has all."""


def _scenes(read: ComposeConfig, root: Path) -> dict[str, Scene]:
    scenes: dict[str, Scene] = {}
    for name in read.scene_files:
        for scene_name, scene in read_scenes(root / name).items():
            if scene_name in scenes:
                raise DataError(f"{root / name}: the scene {scene_name!r} is also in another file")
            scenes[scene_name] = scene
    return scenes


@dataclass(frozen=True, kw_only=True)
class _CompositionState:
    """A composition and what is known of it so far."""

    composed: Composed
    offer: Offer
    question: str


@dataclass(kw_only=True)
class _Build(Session):
    """One session with the intermediate results of its stages."""

    config: ComposeConfig
    models: Jobs
    scenes: dict[str, Scene] = field(default_factory=dict)
    composed: dict[str, Composed] = field(default_factory=dict)
    offers: dict[str, Offer] = field(default_factory=dict)
    asked: dict[str, _CompositionState] = field(default_factory=dict)
    drafts: tuple[Draft, ...] = ()
    short: list[str] = field(default_factory=list)
    """Why scenes have fewer than half of the compositions that are wanted."""

    # ------------------------------------------------------------------ scenes and search

    def find_scenes(self) -> None:
        """Read the scenes, up to the limit."""
        known = _scenes(self.config, self.root)
        limit = self.overrides.limit
        names = list(known)[:limit]
        for name in names:
            scene = known[name]
            for word in dict.fromkeys(contradiction.says for contradiction in scene.contradictions):
                self.ledger.notes.append(f"{name}: contradiction, neither is used: {word}")
            self.ledger.notes += [f"{name}: {note}" for note in scene.notes]
        self.close("scenes", unit="scenes", taken=names, kept=names)
        self.scenes = {name: known[name] for name in names}
        self._take(())

    def _count(self, drafts: Sequence[Draft]) -> None:
        """Keep the remaining drafts."""
        self.drafts = tuple(drafts)
        self.tasks = [NAME] * len(drafts)

    def _take(self, drafts: Sequence[Draft]) -> None:
        """Keep the remaining drafts and report the number of questions."""
        self._count(drafts)
        self.sentences = [f"{several(len(drafts), 'question')} about {several(len(self.scenes), 'scene')}."]
        self.sentences += self.short[:_MOST_SHORT]

    def search(self) -> None:
        """Compositions that fill the quota, each with a proof."""
        config, scenes = self.config, self.scenes
        stage = Stage(
            name="search", kind=Filled, version=VERSION, settings=[config.quota, config.need, config.seed]
        )
        inputs = {
            name: digest_of([scene.sha256, scene.vocabulary.sha256()]) for name, scene in scenes.items()
        }

        def search() -> Filled:
            fields = {name: SceneBits(scene) for name, scene in scenes.items()}
            return fill(fields, config.quota, config.need, seed=config.seed)

        unit = Unit(stage=stage, name="all scenes", inputs=inputs, make=search)
        artifact = self.compute("search", [unit]).made["all scenes"]
        filled = artifact.value
        self.ledger.notes += filled.notes
        have = {(composed.composition.scene, cell_of(composed)) for composed in filled.composed}
        unmet = [entry for entry in filled.unmet if (entry.scene, entry.cell) not in have]
        cells = [_cell(Unmet(name, cell, "")) for name in scenes for cell in config.quota.cells]
        dropped = [
            Dropped(
                what=_cell(entry),
                stage="search",
                reason="unmet",
                detail=f"most attempts: {entry.reason} ({entry.n:,} of up to {config.quota.tries:,})",
            )
            for entry in unmet
        ]
        gone = {entry.what for entry in dropped}
        kept = [cell for cell in cells if cell not in gone]
        taken = Counter(composed.composition.scene for composed in filled.composed)
        for name in sorted(name for name in scenes if 2 * taken[name] < config.quota.per_video):
            bits = SceneBits(scenes[name])
            alike, unknown = Statements(bits, negations=True).alike(), "; ".join(gaps(bits)) or "nothing"
            wanted = several(config.quota.per_video, "composition")
            self.short.append(
                f"{name}: {taken[name]} of {wanted} found. Not singled out by all their attributes: {alike}. "
                f"Unknown: {unknown}. Add what is unknown, or attributes that tell them apart"
            )
        self.ledger.notes += self.short
        self.close(
            "search", unit="cells", taken=cells, kept=kept, dropped=dropped, n_cached=int(artifact.was_cached)
        )
        self.composed = {composed.composition.composition: composed for composed in filled.composed}

    # ------------------------------------------------------------------ options and words

    def choose_options(self) -> None:
        """Choose the options of each composition, one of them right."""
        composed, scenes = self.composed, self.scenes
        proofs = {name: entry.proof for name, entry in composed.items()}
        worlds = {name: World(scene) for name, scene in scenes.items()}
        self.began("options", len(proofs))
        fields = {name: SceneBits(scene) for name, scene in scenes.items()}
        offered = offers(list(composed.values()), fields, self.config.options, seed=self.config.seed)
        kept: dict[str, Offer] = {}
        dropped: list[Dropped] = []
        for name, result in offered.items():
            if isinstance(result, NoOffer):
                reason, detail = result.reason, result.detail
            else:
                world = worlds[composed[name].composition.scene]
                faults = faults_of_options(composed[name], result, proof=proofs[name], world=world)
                reason, detail = faults[0].partition(":")[0] if faults else "", ", ".join(faults)
                kept |= {} if faults else {name: result}
            if reason:
                dropped.append(Dropped(what=name, stage="options", reason=reason, detail=detail))
        self.ledger.notes += witness_notes(kept, proofs)
        self.close("options", unit="compositions", taken=list(proofs), kept=list(kept), dropped=dropped)
        self.offers = kept

    def put_into_words(self) -> None:
        """Word the compositions; keep those whose text parses back to the same program."""
        self.began("wording", len(self.offers))
        words = {name: PlainWords(scene.vocabulary) for name, scene in self.scenes.items()}
        dropped: list[Dropped] = []
        for name, offered in self.offers.items():
            composed = self.composed[name]
            plain = words[composed.composition.scene]
            question, reason = "", "no-words"
            try:
                question, reason = plain.write(composed.composition), "not-readable"
                why = (
                    ""
                    if plain.read(question) == composed.composition.steps
                    else "it reads as another program"
                )
            except WordingError as error:
                why = str(error)
            if why:
                detail = f"{question}: {why}".removeprefix(": ")
                dropped.append(Dropped(what=name, stage="wording", reason=reason, detail=detail))
            else:
                self.asked[name] = _CompositionState(composed=composed, offer=offered, question=question)
        taken, kept = list(self.offers), list(self.asked)
        self.close("wording", unit="compositions", taken=taken, kept=kept, dropped=dropped)

    # ------------------------------------------------------------------ drafts, gates, questions

    def draft(self) -> None:
        """Draft each composition, with the right letters balanced."""
        asked, scenes = self.asked, self.scenes
        drafts = tuple(
            draft_of(
                state.composed,
                state.composed.proof,
                state.offer,
                question=state.question,
                scene=scenes[state.composed.composition.scene],
                benchmark=self.config.name,
            )
            for state in asked.values()
        )
        self.close(
            "drafts", unit="compositions", taken=list(asked), kept=[draft.draft_id for draft in drafts]
        )
        self._take(spread_letters(drafts, seed=self.config.seed))

    def gate(self) -> None:
        """Keep the drafts that pass the gates."""
        config = self.config
        media_root = self.root / config.media
        desk = replace(
            GateDesk.of(self, models=self.models, seed=config.seed, media_root=media_root),
            sources={draft.video_id: draft.source_id for draft in self.drafts if draft.source_id},
            is_released=config.release is not None,
        )
        self._take(pass_gates(self.drafts, config.gates, desk).drafts)

    def _item(self, draft: Draft) -> Item:
        maker = f"vidence make {NAME}/{VERSION}"
        origin = Provenance(source=draft.video_id, licence=self.config.media_licence, maker=maker)
        return item_of_draft(draft, item_id=draft.draft_id, provenance=origin)

    def _contents(self) -> dict[str, bytes]:
        """The files of a set: items, their answers' records, proofs, programs."""
        drafts = self.drafts
        some = [self.asked[draft.draft_id] for draft in drafts]
        programs = [finished(state.composed, state.offer, state.question) for state in some]
        keys = [
            Key(
                item_id=draft.draft_id,
                composition=draft.draft_id,
                answer=draft.choices[draft.answer_index],
                option_of=state.offer.option_of,
                composition_sha256=digest_of(canonical(program).decode()),
            )
            for draft, state, program in zip(drafts, some, programs, strict=True)
        ]
        return {
            ITEMS_FILE: json_lines([self._item(draft) for draft in drafts]),
            PROOFS_FILE: json_lines([state.composed.proof for state in some]),
            KEYS_FILE: json_lines(keys),
            COMPOSITIONS_FILE: b"".join(canonical(program) + b"\n" for program in programs),
        }

    def write_questions(self) -> None:
        """Write the files of the set."""
        self.files += write_into(self.out, self._contents())
        self.n_made = len(self.drafts)
        self.close("questions", unit="drafts", taken=[draft.draft_id for draft in self.drafts])

    # ------------------------------------------------------------------ review and release

    def review(self) -> None:
        """Keep what people accepted if there is a review, else all that needs no review."""
        rules, drafts = self.config.review, self.drafts
        ids, dropped = [draft.draft_id for draft in drafts], list[Dropped]()
        if rules is None:
            dropped = [
                Dropped(what=draft.draft_id, stage="review", reason="not-confirmed-by-a-person")
                for draft in drafts
                if draft.doubt and self.config.release is not None
            ]
        elif not (self.root / rules.folder).is_dir():
            self.sentences.append(
                f"Not reviewed yet: vidence items review open {quoted(self.out / ITEMS_FILE)} --out "
                f"{quoted(self.root / rules.folder)} --protocol perceptioncomp begins a review."
            )
            dropped = [Dropped(what=name, stage="review", reason="not-looked-at") for name in ids]
        else:
            states = read_reviews(self.root / rules.folder).states
            for name in ids:
                state = states[name].state if name in states else "not in the review"
                if state != "accepted":
                    dropped.append(Dropped(what=name, stage="review", reason="not-accepted", detail=state))
        gone = {entry.what for entry in dropped}
        self._count([draft for draft in drafts if draft.draft_id not in gone])
        self.close("review", unit="drafts", taken=ids, dropped=dropped)

    def release(self) -> None:
        """Release the remaining questions."""
        names = [draft.draft_id for draft in self.drafts]
        rows = {
            name: dict(zip(names, content.splitlines(), strict=True))
            for name, content in self._contents().items()
            if name != ITEMS_FILE
        }
        items = [self._item(draft) for draft in self.drafts]
        extras = ReleaseExtras(rows=rows)
        release_questions(self, items, self.config, media_root=self.root / self.config.media, extras=extras)

    def report(self) -> None:
        """Write the report."""
        proofs = {name: composed.proof for name, composed in self.composed.items()}
        account = self.ledger.account(self.tasks)
        text = report_text(self.config.name, self.drafts, proofs, account=account, sentences=self.sentences)
        write_file(self.out / REPORT_FILE, text.encode())
        self.files.append(self.out / REPORT_FILE)


STAGES: Final[tuple[StageRow[_Build], ...]] = (
    StageRow(name="scenes", do=_Build.find_scenes),
    StageRow(name="search", do=_Build.search),
    StageRow(name="options", do=_Build.choose_options),
    StageRow(name="wording", do=_Build.put_into_words),
    StageRow(name="drafts", do=_Build.draft),
    StageRow(name="gates", do=_Build.gate, asks=("gates.models",)),
    StageRow(name="questions", do=_Build.write_questions),
    StageRow(name="review", do=_Build.review),
    StageRow(name="release", do=_Build.release),
    StageRow(name="report", do=_Build.report),
)


def _cell(unmet: Unmet) -> str:
    """The name of a scene's cell in the account."""
    return f"{unmet.scene}: {unmet.cell.type}, {unmet.cell.logic}, {unmet.cell.n_conditions} conditions"


class ComposeMaker:
    """Annotated scenes -> multi-condition questions with options, a proof, and a witness per condition.

    Source: PerceptionComp, section 3 (conjunctive and sequential compositions; no smaller set of conditions
        determines the answer; five options of one category).
    Departs: the paper's were written by people; the search, the proofs and the words are ours.
    """

    name = NAME
    version = VERSION
    stages: tuple[str, ...] = tuple(row.name for row in STAGES)

    def foresee(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Outlook:
        """How many compositions are wanted of how many scenes; only the search finds how many exist."""
        read = _read(config)
        scenes = _scenes(read, config.parent)
        for scene in scenes.values():
            PlainWords(scene.vocabulary)
        n = len(scenes)
        message = f"{n:,} scenes; up to {n * read.quota.per_video:,} compositions are wanted"
        return Outlook(sentences=(message,), can_make=n > 0)

    def make(self, config: Path, *, overrides: MakeOverrides, context: BuildContext) -> Built:
        """Make the questions; see `Maker`. `limit` counts scenes."""
        read = _read(config)
        start = started(self, config, read, overrides=overrides, context=context)
        with context.models(read.models, source=config, limits=read.asking, out=start["out"]) as models:
            return _Build(**start, config=read, models=models).run(STAGES)


def create() -> Maker:
    """The maker."""
    return ComposeMaker()


def _read(path: Path) -> ComposeConfig:
    """The configuration; errors as for `read_compose` and `check_models`."""
    read = read_compose(path)
    check_models(path, read, STAGES, models=read.models)
    return read

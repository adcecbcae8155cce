"""The stages of written questions after their gates: review, items, release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from vidence.engine.jobs import Jobs
from vidence.make.gates.gate_sequence import VERDICTS_FILE, Gated, GateDesk, pass_gates
from vidence.make.gates.licences import LicenceCheck
from vidence.make.gates.model_gates import Asked
from vidence.make.gates.rules import GateRules, ReviewFolder
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import Session
from vidence.make.release.made_release import MadeConfig, ReleaseExtras, release_questions
from vidence.make.review.files import PROTOCOL_FILE, Reviews, question_of, read_reviews
from vidence.make.review.protocol import canonical, protocol_bytes
from vidence.make.review.recording import begin, submit, write
from vidence.make.review.states import State
from vidence.records import Item
from vidence.text import quoted

REVIEW: Final = "review"
_WAITS: Final = "waits-for-review"
_REASONS: Final[Mapping[State, str]] = {
    "returned": "returned-to-author",
    "rejected": "rejected",
    "withdrawn": "withdrawn",
    "voided": "withdrawn",
}
_AGES: Final = ("tags", "provenance")  # what may change without another question being asked


class QuestionReview(ReviewFolder, omit_defaults=True):
    """The review by people: `folder` is that of `vidence items review`, `protocol` a name or file.

    What is not decided yet stays in the set where `waiting` is ``keep``.
    """

    protocol: str = "mmvu"
    waiting: Literal["keep", "hold"] = "hold"

    def named(self, root: Path) -> str:
        """Return the protocol's name, or its file's path from the configuration's folder."""
        return str(root / self.protocol) if self.protocol.endswith(".toml") else self.protocol


class WrittenConfig(MadeConfig, omit_defaults=True):
    """The configuration of a maker of written questions."""

    review: QuestionReview | None = None


@dataclass(kw_only=True)
class WritingSession(Session):
    """One session, and the remaining questions; `tally` is the tag that the account counts by."""

    config: WrittenConfig
    models: Jobs | None = None
    tally: str
    items: tuple[Item, ...] = ()
    n_undecided: int = 0

    def take(self, items: Sequence[Item]) -> None:
        """Take over the remaining questions."""
        self.items = tuple(items)
        self.tasks = [item.tags.get(self.tally, "") for item in items]

    @property
    def media_root(self) -> Path:
        """Return the base folder of media paths."""
        return self.out

    @property
    def desk(self) -> GateDesk:
        """Return the environment of the gates."""
        return GateDesk.of(self, models=self.models, seed=self.config.seed, media_root=self.media_root)

    def gated(self, asked: Sequence[Asked], rules: GateRules | None, desk: GateDesk) -> Gated:
        """Run the stage ``gates``; see `pass_gates`."""
        gated = pass_gates(asked, rules, desk)
        self.sentences += (*gated.words, *gated.notes)
        if rules is not None:
            self.files.append(self.out / VERDICTS_FILE)
        return gated

    def reviewed(self, wordings: Mapping[str, Mapping[str, object]], *, by: str = "") -> None:
        """Run the stage ``review``: submit new and mended questions; keep accepted ones as worded there.

        Reasons: ``waits-for-review``, ``returned-to-author``, ``rejected``, ``withdrawn``.

        Source: MMVU, section 3.3; HumanPCR, section 3.3 (every question is accepted, revised or discarded).
        Departs: HumanPCR does not say who decides where two differ; the protocol does.

        Args:
            wordings: what the review keeps of each question.
            by: who puts them in; empty if each has an ``author``.

        Raises:
            DataError: a question cannot be put in, or the last wording of one is none.
        """
        config = self.config
        rules = config.review
        if rules is None:
            return
        folder = self.root / rules.folder
        reviews = self._put_in(wordings, folder, protocol=rules.named(self.root), by=by)
        keeps = rules.waiting == "keep" or (config.release is not None and config.release.unreviewed)
        kept: list[Item] = []
        dropped: list[Dropped] = []
        n_waiting = 0
        for item in self.items:
            state = reviews.states[item.item_id].state
            reason = _REASONS.get(state, _WAITS)
            n_waiting += state != "accepted" and reason == _WAITS
            self.n_undecided += state != "accepted" and (reason == _WAITS or state == "returned")
            if state == "accepted":
                kept.append(from_review(item, reviews.content(item.item_id)))
            elif keeps and reason == _WAITS:
                kept.append(item)
            else:
                dropped.append(Dropped(what=item.item_id, stage=REVIEW, reason=reason, detail=state))
        taken = [item.item_id for item in self.items]
        self.close(REVIEW, unit="questions", taken=taken, dropped=dropped)
        if n_waiting:
            self.sentences.append(
                f"{n_waiting:,} wait for people: vidence items review draw {quoted(folder)} --by NAME; then "
                "this command again."
            )
        if changed := [name for name in taken if _is_behind(reviews, name, wordings[name])]:
            self.sentences.append(
                f"{len(changed):,} drafts differ from what the review holds, such as {changed[0]}; "
                "the wording of the review counts until its author is asked to mend it."
            )
        self.take(kept)

    def _put_in(
        self, wordings: Mapping[str, Mapping[str, object]], folder: Path, *, protocol: str, by: str
    ) -> Reviews:
        """Return the review with new and previously returned questions submitted."""
        if not (folder / PROTOCOL_FILE).is_file():
            begin(folder, protocol_bytes(protocol))
        reviews = read_reviews(folder)
        fresh = {
            name: wording
            for name, wording in wordings.items()
            if name not in reviews.states or reviews.states[name].state in ("drafting", "returned")
        }
        at = self.context.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        recorders, _ = submit(reviews, fresh, by=by, role="author", at=at)
        write(folder, recorders)
        return read_reviews(folder)

    def wrote(self, stage: str, files: Sequence[Path]) -> None:
        """Close the stage that wrote the questions to these files."""
        self.files += files
        self.n_made = len(self.items)
        self.close(stage, unit="questions", taken=[item.item_id for item in self.items])

    def released(self, licences: Mapping[str, LicenceCheck] | None = None) -> None:
        """Run the stage ``release`` if people have decided on everything; see `release_questions`."""
        rules = self.config.release
        if self.n_undecided and rules is not None and not rules.unreviewed:
            self.sentences.append(
                f"Nothing is released while {self.n_undecided:,} questions wait for people or their authors."
            )
            return
        extras = ReleaseExtras(licences=licences)
        release_questions(self, self.items, self.config, media_root=self.media_root, extras=extras)


def _is_behind(reviews: Reviews, item_id: str, wording: Mapping[str, object]) -> bool:
    """Whether the author's wording differs from the one last submitted."""
    mine = [r for r in reviews.revisions_of[item_id] if r.origin in ("submit", "author_revise")]
    last = max(mine, key=lambda revision: revision.n, default=None)
    return last is not None and _asked(last.content) != _asked(wording)


def _asked(content: Mapping[str, object]) -> bytes:
    return canonical({name: value for name, value in content.items() if name not in _AGES})


def from_review(item: Item, content: Mapping[str, object]) -> Item:
    """Return the question in its last reviewed wording, with its current provenance.

    Raises:
        DataError: the wording is no question: an edit has broken it.
    """
    return msgspec.structs.replace(question_of(content), provenance=item.provenance)

"""One question as a strategy or a diagnostic sees it: views to show in any part and order, and scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vidence.ask.prompting.compose import Prompted
from vidence.contracts import Flow
from vidence.engine.engine import Context, ItemFailedError
from vidence.engine.prepare import Prepared
from vidence.engine.scoring import JudgePool, score_reply
from vidence.engine.views import Shown
from vidence.errors import UsageError
from vidence.records import Failed, Item, Outcome, Prompt, Reply, Score, Selection


@dataclass(kw_only=True)
class ShownSubject:
    """A `contracts.Question` (and so a `Subject`) over frames that were delivered.

    The choices of `item` are in the order in which they are shown; `choice_order` says which that is.
    """

    item: Item
    prepared: Prepared
    views: Mapping[str, Shown | Failed]
    pool: JudgePool | None = None
    repeat: int = 0
    n_repeats: int = 1
    choice_order: tuple[int, ...] = ()
    last_view: str | None = None
    """The view that was asked for last."""
    last_prompt: Prompt | None = None
    """The prompt that was made last; None where it could not be made."""
    _images: dict[str, bytes] = field(default_factory=dict)
    _ahead: dict[str, Prompted] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the views that can be shown."""
        return tuple(name for name, shown in self.views.items() if isinstance(shown, Shown))

    @property
    def context(self) -> Context:
        """What the asks about this question have in common."""
        return Context(
            item_id=self.item.item_id,
            image=self._images.__getitem__,
            repeat=self.repeat,
            n_repeats=self.n_repeats,
        )

    def n_frames(self, view: str) -> int:
        """How many frames this view has."""
        return len(self._shown(view).frames)

    def times_s(self, view: str) -> tuple[float, ...]:
        """The time of each frame of a view, in its order; several media are played one after the other."""
        shown = self._shown(view)
        starts_s = shown.starts_s or (0.0,) * len(self.item.media)
        return tuple(starts_s[ref.media_index] + ref.time_s for ref in shown.selection.frames)

    def selection(self, view: str | None) -> Selection | None:
        """The frames of a view; None where it cannot be shown, or the model looks at none."""
        shown = None if view is None else self.views.get(view)
        return shown.selection if isinstance(shown, Shown) and self.prepared.model.looks else None

    def compose_ahead(self, view: str) -> None:
        """Make the prompt that shows a whole view now, since its pictures take time; errors as `prompt`."""
        self._ahead[view] = self._composed(view, None, order=(), more="")

    def prompt(
        self,
        view: str,
        positions: Sequence[int] | None = None,
        *,
        order: tuple[int, ...] = (),
        more: str = "",
    ) -> Prompt:
        """The question with frames of a view, in the order of `positions`; `more` names words behind it.

        Raises:
            UsageError: there is no such view, or a position outside it.
            ItemFailedError: the view cannot be shown.
        """
        self.last_view, self.last_prompt = view, None
        is_plain = positions is None and not order and not more
        prompted = self._ahead.get(view) if is_plain else None
        if prompted is None:
            prompted = self._composed(view, positions, order=order, more=more)
        self._images.update(prompted.images)
        self.last_prompt = prompted.prompt
        return prompted.prompt

    def read(self, reply: Reply) -> Outcome:
        """What the plan's parser reads from a reply."""
        return self.ruled(reply).outcome

    def ruled(self, said: Reply | Failed, *, order: tuple[int, ...] = ()) -> Score:
        """The score of a reply, or of its absence, by the plan's parser alone."""
        item = self.item.with_order(order)
        return score_reply(item, said, self.prepared.parser_for(item))

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """Right or wrong, by the plan's parser and its judges."""
        ruled = self.ruled(reply, order=order)
        if self.pool is None:
            return ruled
        return (yield from self.pool.score(self.item.with_order(order), reply, ruled=ruled))

    def _composed(
        self, view: str, positions: Sequence[int] | None, *, order: tuple[int, ...], more: str
    ) -> Prompted:
        shown = self._shown(view)
        chosen = range(len(shown.frames)) if positions is None else positions
        outside = [p for p in chosen if not 0 <= p < len(shown.frames)]
        if outside:
            raise UsageError(
                f"frame {outside[0]} of view {view!r} of item {self.item.item_id!r}; "
                f"it has {len(shown.frames)} frames, counted from 0"
            )
        return self.prepared.prompter.prompt(
            self.item.with_order(order),
            [shown.frames[p] for p in chosen],
            duration_s=shown.duration_s,
            video=shown.video,
            more=more,
        )

    def _shown(self, view: str) -> Shown:
        if view not in self.views:
            raise UsageError(f"there is no view {view!r}; there are {', '.join(map(repr, self.views))}")
        shown = self.views[view]
        if isinstance(shown, Failed):
            raise ItemFailedError(shown)
        return shown

"""One question as a diagnostic sees it: views that can be shown in any part and order, and marking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vidence.ask.prompting.compose import Prompter
from vidence.contracts import Flow
from vidence.engine.marking import Panel, judged, marked
from vidence.engine.prepare import Prepared
from vidence.engine.showing import Shown
from vidence.errors import UsageError
from vidence.records import Failed, ImagePart, Item, Prompt, Reply, Score


@dataclass(frozen=True, kw_only=True)
class ShownSubject:
    """A `contracts.Subject` over frames that were delivered.

    `images` fills up with the images of the prompts made, by their digest.
    """

    item: Item
    prepared: Prepared
    views: Mapping[str, Shown | Failed]
    panel: Panel | None = None
    images: dict[str, bytes] = field(default_factory=dict)

    def n_frames(self, view: str) -> int:
        """How many frames this view has."""
        return len(self._shown(view).frames)

    def times_s(self, view: str) -> tuple[float, ...]:
        """The time of each frame of a view, in its order; several media are played one after the other."""
        shown = self._shown(view)
        starts_s = shown.starts_s or (0.0,) * len(self.item.media)
        return tuple(starts_s[ref.media_index] + ref.time_s for ref in shown.selection.frames)

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
            NotShownError: the view cannot be shown.
        """
        shown = self._shown(view)
        chosen = range(len(shown.frames)) if positions is None else positions
        outside = [p for p in chosen if not 0 <= p < len(shown.frames)]
        if outside:
            raise UsageError(
                f"frame {outside[0]} of view {view!r} of item {self.item.item_id!r}; "
                f"it has {len(shown.frames)} frames, counted from 0"
            )
        prompter: Prompter = self.prepared.prompter
        frames = [shown.frames[p] for p in chosen]
        item = self.item.with_order(order)
        prompted = prompter.prompt(item, frames, duration_s=shown.duration_s, more=more)
        self.images.update(prompted.images)
        return prompted.prompt

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """Right or wrong, by the plan's parser and its judges."""
        item = self.item.with_order(order)
        ruled = marked(item, reply, self.prepared.parser_for(item))
        if self.panel is None:
            return ruled
        return (yield from judged(self.panel, item, reply, ruled=ruled))

    def images_of(self, prompt: Prompt) -> dict[str, bytes]:
        """The bytes of the images that a prompt names."""
        digests = [part.digest for part in prompt.parts if isinstance(part, ImagePart)]
        return {digest: self.images[digest] for digest in digests}

    def _shown(self, view: str) -> Shown:
        if view not in self.views:
            raise UsageError(f"there is no view {view!r}; there are {', '.join(map(repr, self.views))}")
        shown = self.views[view]
        if isinstance(shown, Failed):
            raise NotShownError(shown)
        return shown


class NotShownError(UsageError):
    """A view of a question cannot be shown; `failed` says why."""

    def __init__(self, failed: Failed) -> None:
        self.failed = failed
        super().__init__(failed.message)

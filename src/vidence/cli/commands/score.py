"""Score a submission to a hidden split."""

from pathlib import Path
from typing import Annotated

from vidence.cli.asking import say_summary
from vidence.console.flags import JSON, NOT_ALL, PAGE, argument, command, flag
from vidence.console.screen import Screen, say
from vidence.engine.display import watched
from vidence.engine.environment import environment, now
from vidence.engine.plan import MOST_NAME, PlanOverrides, plan_part
from vidence.engine.trust import needs_of_spec, remember
from vidence.records import Record

GROUP = "items"

_FIELDS = ("parser", "judge", "judge_models", "judge_prompts_dir")
_SETTINGS = ("text_parser", "headline", "judge_panel", "judge_price_in", "judge_price_out")


class Score(Record):
    """The submission to score, and the answers."""

    submission: Annotated[Path, argument()]
    answers: Annotated[
        Path, flag("The folder of answers that vidence items release --hide wrote.", metavar="FOLDER")
    ]
    split: Annotated[str | None, flag("The hidden split, if there are several.")] = None
    overrides: Annotated[PlanOverrides, plan_part(only=_FIELDS, settings=_SETTINGS)]
    out: Annotated[Path | None, flag("Run folder (default: runs/scored-...).")] = None
    page: Annotated[bool, PAGE] = True
    json_path: Annotated[Path | None, JSON] = None


@command()
def score(given: Score) -> int:
    """Score SUBMISSION: a run folder, its submission.jsonl, or a table of item_id and answer.

    Unknown, missing and duplicate items, and answers outside the options, are counted, and make the exit
    code 3. The result is a run folder, which holds the answers.
    """
    from vidence.cli.commands.report import show_run
    from vidence.engine import submission as submitted

    console, place = Screen(stderr=True), environment()
    items = submitted.hidden_items(given.answers, given.split)
    submission = submitted.read_submission(given.submission)
    check = submitted.checked(submission, items)
    judges = given.overrides.get("judge_models") or ()
    remember((need for spec in judges for need in needs_of_spec("model", spec)), environment=place)
    folder = given.out or Path("runs") / f"scored-{submission.content_hash[:12]}"
    for sentence in check.sentences():
        say(console, (sentence, "yellow"))
    overrides: PlanOverrides = {
        "name": given.submission.resolve().stem[:MOST_NAME],
        **submitted.rules_for(items, is_judged=bool(judges)),
        **given.overrides,
    }
    summary = watched(
        lambda listen: submitted.score_submission(
            check, folder, overrides=overrides, environment=place, now=now(), on_event=listen
        ),
        console,
        doing="scoring",
        what=f"the score in {folder}",
        kept="the submission is unchanged",
    )
    show_run(folder, page=folder / "report.html" if given.page else None, json_path=given.json_path)
    summary.n_failed = 0  # what failed besides judges is missing
    say_summary(summary, folder, console)
    return NOT_ALL if summary.n_judge_errors or not check.is_clean else 0

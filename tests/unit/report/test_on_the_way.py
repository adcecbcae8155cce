"""How many rewards had no points, and how many rounds changed nothing, out of the steps of trials."""

import json
import re
from dataclasses import replace

import msgspec
import pytest

from subjects.simulated import Simulated, drive
from vidence.ask.strategies.rewards import order_of
from vidence.catalog import create
from vidence.records import Answered, Item, Reply, Score, Trial
from vidence.report.on_the_way import way_sentences, way_tables
from vidence.report.results import Row, Run
from vidence.report.tables import all_tables, headline


@pytest.fixture
def run(runs) -> Run:
    return runs.load()


class Asked(Simulated):
    """A question as a strategy sees it; letters are read as they are."""

    shown = ("",)

    def read(self, reply):
        return Answered(answer=reply.text[:1])


def rows(strategy, items, answers_of):
    """The trials of a strategy on some questions, out of what it asked itself."""
    for item in items:
        answer = drive(strategy.answer(Asked(item, {"": (0.0,)})), answers_of(item)).made
        score = Score(outcome=Answered(answer="A"), value=1.0, scorer="robust", scorer_version=1)
        trial = Trial(item_id=item.item_id, score=score, steps=answer.steps, reply=answer.reply)
        yield Row(item=item, trial=trial, score=score)


def asked_with(run: Run, strategy: str, answers_of) -> Run:
    items = [row.item for row in run.rows if row.item.choices][:4]
    made = tuple(rows(create("strategy", strategy), items, answers_of))
    return replace(run, plan=msgspec.structs.replace(run.plan, strategy=strategy), rows=made)


def told(run: Run) -> dict[str, tuple[int, int]]:
    (table,) = way_tables(run)
    return {row.key: (table.value(row.key, "n"), table.value(row.key, "of")) for row in table.rows}


def weigher(n_silent):
    """Candidates in four wordings; the first `n_silent` of them get no points, also not in a repair."""

    def answers_of(item: Item):
        def says(ask):
            text = ask.prompt.text
            if "words: reward" not in text:
                return Reply(text=f"A{ask.sample}")
            marked = re.search(r'id="([0-9a-f]{16})"', text)[1]
            place = int(re.search(r'"A(\d)"', text)[1])
            points = {"best": "1"} if "reward-list" in text else {"score": place}
            is_silent = place < n_silent if item.item_id != "q1" else True
            return Reply(text="hm" if is_silent else json.dumps({"id": marked} | points))

        return says

    return answers_of


def test_rewards_without_points_are_counted_and_so_are_trials_without_any(run):
    weighed = asked_with(run, "best-of-n?m=2", weigher(1))
    n = len(weighed.rows)
    assert told(weighed) == {"no-points": (4 + (n - 1), 4 * n), "no-reward": (1, n)}
    assert way_sentences(weighed) == [
        f"Of {4 * n} rewards {4 + n - 1} could not be read, also after a repair; they rank last.",
        f"In 1 of {n} trials no reward could be read, and the earliest candidate counts.",
    ]


def test_of_a_list_each_order_is_asked_once_and_read_once(run):
    weighed = asked_with(run, "best-of-n?m=1&form=list&orders=3", weigher(0))
    n = len(weighed.rows)
    asked = [
        len({step.reply.text for step in row.trial.steps if step.role == "reward"})
        for row in weighed.rows[1:]
    ]
    assert told(weighed) == {
        "no-points": (n_of(weighed.rows[0]), sum(map(n_of, weighed.rows))),
        "no-reward": (1, n),
    }
    assert asked == [n_of(row) for row in weighed.rows[1:]]


def n_of(row) -> int:
    """How many different orders there are among the three that a question is asked in."""
    return len({order_of(row.item, 2, number) for number in range(3)})


def test_a_repair_that_can_be_read_is_no_loss(run):
    plain = weigher(0)

    def answers_of(item):
        asked = plain(msgspec.structs.replace(item, item_id="other"))

        def says(ask):
            is_first = "words: reward-score" in ask.prompt.text and "reward-repair" not in ask.prompt.text
            return Reply(text="hm") if is_first else asked(ask)

        return says

    found = told(asked_with(run, "best-of-n?m=2", answers_of))
    assert [n for n, _ in found.values()] == [0, 0]


def refiner(item):
    """Of q1 nothing ever changes; of others the first of three rounds; reviews of q2 are empty."""

    def says(ask):
        text = ask.prompt.text
        if "words: critique" in text:
            return Reply(text="  " if item.item_id == "q2" else "Look again.")
        n_before = len(re.findall(r"\[Answer \d\]", text))
        return Reply(text="A" if n_before == 0 or item.item_id == "q1" else "B")

    return says


def test_rounds_that_change_nothing_are_counted(run):
    refined = asked_with(run, "self-refine?rounds=3", refiner)
    n = len(refined.rows)
    assert told(refined) == {
        "unchanged": (3 + 2 * (n - 1), 3 * n),
        "never-changed": (1, n),
        "empty-review": (3, 3 * n),
    }
    assert way_sentences(refined)[0] == (
        f"Of {3 * n} rounds of refining {3 + 2 * (n - 1)} left the answer in the same words."
    )


def test_the_report_says_so(run, rng):
    refined = asked_with(run, "self-refine?rounds=1", refiner)
    tables = all_tables(refined, rng=rng)
    assert "on-the-way" in [table.name for table in tables]
    assert any("rounds of refining" in sentence for sentence in headline(refined, tables[0]))


@pytest.mark.parametrize(
    "strategy", ["once", "self-consistency?n=3", "best-of-n?m=0", "self-refine?rounds=0"]
)
def test_of_other_strategies_nothing_is_said(run, strategy):
    other = asked_with(run, strategy, lambda _: lambda ask: Reply(text="A"))
    assert (way_tables(other), way_sentences(other)) == ((), [])

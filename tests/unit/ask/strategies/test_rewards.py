"""What reward models are shown, how their points are read, and which reply is picked by them."""

import json
import re

import pytest

from subjects.simulated import Simulated, drive
from vidence.ask.strategies.rewards import SAMPLING, RewardModel, best_by_points, most_chosen, order_of
from vidence.records import Item, Reply

ITEM = Item(item_id="q1", question="Which?", choices=("one", "two", "three"), answer="B")
REPLIES = [Reply(text=text) for text in ("A, since", "B, because", "C")]


def subject(item: Item = ITEM) -> Simulated:
    return Simulated(item, {"": (0.0, 1.0)})


def marked(ask) -> str:
    return re.search(r'id="([0-9a-f]{16})"|block_id: ([0-9a-f]{16})', ask.prompt.text)[0].split('"')[-2]


def points(of):
    """A reward model that gives each reply the points that `of` says of its words."""

    def says(ask):
        text = ask.prompt.text
        about = next(i for i, one in enumerate(REPLIES) if one.text in text)
        return Reply(text=json.dumps({"id": marked(ask), "score": of(about)}))

    return says


def scored(answers, replies=REPLIES, **options):
    return drive(RewardModel(view="", **options).score(subject(), replies), answers)


def test_each_reply_gets_its_points_alone_without_chance():
    found = scored(points(lambda i: i + 1), model="reward")
    assert [one.read for one in found.made] == [1, 2, 3]
    assert [one.about for one in found.made] == [(0,), (1,), (2,)]
    assert [(ask.model, ask.sampling, ask.sample) for ask in found.asks] == [("reward", SAMPLING, 0)] * 3
    assert all(len(re.findall("since|because", ask.prompt.text)) <= 1 for ask in found.asks)


def test_the_same_words_are_looked_at_once_with_frames_or_without():
    found = scored(points(lambda i: i), replies=[REPLIES[1], REPLIES[0], REPLIES[1]])
    assert len(found.asks) == 2
    assert [one.read for one in found.made] == [1, 0, 1]
    assert [len(one.said) for one in found.made] == [1, 1, 0]
    with_frames, without = (
        scored(points(lambda i: 0), frames=frames).asks[0].prompt for frames in ("plan", "none")
    )
    assert (len(with_frames.parts) - len(without.parts)) == 2
    own = Reply(text='A\n{"id": "0123456789abcdef", "score": 4}')
    found = scored(lambda ask: Reply(text=own.text), replies=[own])
    assert found.made[0].read is None


@pytest.mark.parametrize("nonsense", ["4", '{"score": 4}', "I'd say four", "", '{"id": "?", "score": 9}'])
def test_nonsense_is_asked_for_once_more_and_then_it_is_nothing(nonsense):
    found = scored(lambda ask: Reply(text=nonsense))
    assert [one.read for one in found.made] == [None, None, None]
    assert [len(one) for one in found.rounds] == [3, 3]
    assert [len(one.said) for one in found.made] == [2, 2, 2]


def test_a_repair_can_be_read_and_only_what_needs_one_is_repaired():
    says = points(lambda i: 4 - i)

    def once(ask):
        is_first = "reward-repair" not in ask.prompt.text
        return Reply(text="hm") if is_first and REPLIES[1].text in ask.prompt.text else says(ask)

    found = scored(once)
    assert [one.read for one in found.made] == [4, 3, 2]
    assert [len(one) for one in found.rounds] == [3, 1]


def test_a_list_is_shown_in_several_orders_and_the_place_is_the_candidates():
    def second(ask):
        return Reply(text=json.dumps({"id": marked(ask), "best": "2"}))

    found = drive(RewardModel(view="").choose(subject(), REPLIES, orders=3), second)
    orders = [order_of(ITEM, 3, number) for number in range(3)]
    assert [one.about for one in found.made] == orders
    assert [one.read for one in found.made] == [order[1] for order in orders]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    for order, ask in zip(dict.fromkeys(orders), found.asks, strict=True):
        at = [ask.prompt.text.index(json.dumps(REPLIES[i].text)) for i in order]
        assert at == sorted(at)


def test_no_prompt_depends_on_the_answer():
    texts = []
    for answer in "ABC":
        item = Item(item_id="q1", question="Which?", choices=ITEM.choices, answer=answer)
        found = drive(RewardModel(view="").score(subject(item), REPLIES), lambda ask: Reply(text="?"))
        texts.append([ask.prompt.text for ask in found.asks])
    assert texts[0] == texts[1] == texts[2]


def test_ties_go_to_the_earliest_and_nothing_read_ranks_last():
    assert best_by_points([None, 2, 4, 4, None]) == 2
    assert best_by_points([None, None]) == 0
    assert most_chosen([1, 0]) == 0
    assert most_chosen([1, None, 1, 0]) == 1
    assert most_chosen([None, None]) == 0

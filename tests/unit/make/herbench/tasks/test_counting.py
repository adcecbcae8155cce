"""What can be counted in a video, and why the log leaves other counts open."""

import msgspec
import pytest

from subjects.kitchens import event, events, material
from vidence.make.herbench.tasks.counting import Counts
from vidence.make.pipeline.material import Corpus


def found(here, *, video_id="v", n_asked=9, **others):
    """What can be counted by structure and words."""
    corpus = Corpus(events={video_id: tuple(here), **others})
    counted = Counts(least=3, most=20).of(material(here), corpus, n_asked=n_asked)[video_id]
    return {name: {one.text: one for one in both} for name, both in counted.items()}


def test_a_pair_whose_words_another_pair_holds_shares_no_options():
    """Whoever picks up a pine nuts bag may be seen to pick up pine nuts; the bag is counted all the same."""
    done = [("pick up", "pine nuts")] * 3 + [("pick up", "pine nuts bag")] * 4
    done += [("wash", noun) for n, noun in enumerate(("pan", "cup", "fork", "knife"), 5) for _ in range(n)]
    pairs = found(events(done))["pair"]
    assert pairs["pick up pine nuts"].within == ("pick up pine nuts bag",)
    assert not pairs["pick up pine nuts"].options
    assert not pairs["pick up pine nuts"].reason
    assert pairs["pick up pine nuts bag"].within == ()
    assert pairs["pick up pine nuts bag"].options == (4, 5, 6, 7, 8)


@pytest.mark.parametrize(
    ("here", "text", "reason"),
    [
        ([event(0, "wash", "thing"), event(1, "wash", "thing")], "wash thing", "vague-object"),
        (
            [event(0, "wash", "carrot", start_s=0, end_s=5), event(1, "wash", "carrot", start_s=4, end_s=9)],
            "wash carrot",
            "overlapping-occurrences",
        ),
        (
            [
                event(0, "wash", "carrot"),
                msgspec.structs.replace(event(1, "wash", "carrot"), narration="Continue to wash carrot"),
            ],
            "wash carrot",
            "goes-on",
        ),
        (
            [event(0, "wash", "carrot"), event(1, "wash", "lemon", others=("carrot",))],
            "wash carrot",
            "object-beside-another",
        ),
    ],
)
def test_a_count_that_the_log_leaves_open_has_its_reason(here, text, reason):
    one = found(here)["pair"][text]
    assert one.reason == reason
    assert one.detail


def test_a_corpus_is_dealt_once_and_a_video_it_does_not_know_by_itself():
    here = events([("wash", "carrot")] * 4)
    corpus = Corpus(events={"v": here})
    counts = Counts(least=3, most=20)
    first = counts.of(material(here), corpus, n_asked=5)
    assert counts.of(material(here), corpus, n_asked=5) is first
    assert counts.of(material(here), corpus, n_asked=6) is not first
    more = events([("wash", "carrot")] * 6)
    assert len(counts.of(material(more), corpus, n_asked=5)["v"]["pair"][0].events) == 6

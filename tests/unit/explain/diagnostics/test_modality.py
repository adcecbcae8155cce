"""What of the video a score needs, against models whose needs are planted."""

import math

import msgspec
import numpy as np
import pytest

from subjects import evidenced
from subjects.evidenced import estimate, said_by, sheet, value
from subjects.simulated import Simulated, drive, times_shown
from vidence.contracts import Examined
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.modality import CONDITIONS, FLAGS
from vidence.records import Estimate, Failed, Item, Media, Reply, Usage

TIMES = (1.0, 3.0, 5.0, 7.0, 9.0, 11.0)
MIDDLE = 6.0
VIEWS = {"full": TIMES, "central": (MIDDLE,)}
CHOICES = ("one", "two", "three", "four")


def diagnostic(**options):
    return evidenced.diagnostic("modality", options)


def item(number, kind="", *, choices=CHOICES):
    """The right choice moves along; two questions share a video."""
    letter = chr(ord("A") + number % len(choices))
    media, tags = (Media(path=f"v{number // 2}.mp4"),), {"kind": kind} if kind else {}
    names = {"item_id": f"q{number:03d}", "question": "Which?"}
    return Item(**names, media=media, choices=choices, answer=letter, tags=tags)


WAITS = "the answer waits for a judge; name one with --judge-model"
# What a parser needs to see, by kind of question: the times shown, in the order shown.
NEEDS = {
    "leaks": lambda shown: True,
    "picture": lambda shown: len(shown) >= 1,
    "bag": lambda shown: set(TIMES) <= set(shown),
    "story": lambda shown: shown == TIMES,
    "hopeless": lambda shown: False,
}


def parser(asked):
    """Right where it sees what the question needs, wrong otherwise: never by luck."""
    wrong = "B" if asked.answer == "A" else "A"

    def answers(ask):
        is_right = NEEDS[asked.tags["kind"]](times_shown(ask))
        return Reply(text=asked.answer if is_right else wrong)

    return answers


def examined(items, **options):
    one = diagnostic(**options)
    return [
        Examined(item=i, finding=drive(one.examine(Simulated(i, dict(VIEWS))), parser(i)).made) for i in items
    ]


def said(found, **options):
    return said_by(diagnostic(**options), found)


def mixed(**counts):
    kinds = [kind for kind, n in counts.items() for _ in range(n)]
    return [item(number, kind) for number, kind in enumerate(kinds)]


def test_all_conditions_are_asked_together():
    driven = drive(diagnostic().examine(Simulated(item(1, "bag"), dict(VIEWS))), parser(item(1, "bag")))
    assert len(driven.rounds) == 1
    shown = dict(zip(CONDITIONS, map(times_shown, driven.asks), strict=True))
    assert shown["full"] == TIMES
    assert shown["text"] == ()
    assert shown["central"] == (MIDDLE,)
    assert shown["reversed"] == TIMES[::-1]
    assert sorted(shown["shuffled"]) == sorted(TIMES)
    assert shown["shuffled"] != TIMES
    assert [ask.model for ask in driven.asks] == [""] * 5


@pytest.mark.parametrize(
    ("kind", "solved"),
    [
        ("leaks", {"full", "text", "central", "shuffled", "reversed"}),
        ("picture", {"full", "central", "shuffled", "reversed"}),
        ("bag", {"full", "shuffled", "reversed"}),
        ("story", {"full"}),
        ("hopeless", set()),
    ],
)
def test_the_flags_of_a_question_are_what_it_needs(kind, solved):
    (found,) = examined([item(3, kind)])
    assert {name for name, is_so in found.finding.solved.items() if is_so} == solved
    assert found.finding.n_frames == 6


def orders(item_id, **options):
    one = msgspec.structs.replace(item(1, "bag"), item_id=item_id)
    asks = drive(diagnostic(**options).examine(Simulated(one, dict(VIEWS))), parser(one)).asks
    return [times_shown(a) for a in asks[CONDITIONS.index("shuffled") :: len(CONDITIONS)]]


def test_the_order_of_shuffled_frames_is_drawn_from_seed_and_question():
    assert orders("q1") == orders("q1")
    several = {tuple(orders(f"q{i}")[0]) for i in range(20)} | {tuple(orders("q1", seed="7")[0])}
    assert len(several) > 15
    repeats = orders("q1", repeats="8")
    assert len(set(repeats)) > 4
    assert repeats[0] == orders("q1")[0]


def test_repeats_are_told_apart_and_counted():
    asked = item(1, "bag")

    def by_sample(ask):
        return Reply(text=asked.answer if ask.sample < 2 else "A")

    driven = drive(diagnostic(repeats="3").examine(Simulated(asked, dict(VIEWS))), by_sample)
    assert [ask.sample for ask in driven.asks] == [0] * 5 + [1] * 5 + [2] * 5
    assert [m.value for m in driven.made.marks["text"]] == [1, 1, 0]
    assert not driven.made.solved["text"]
    enough = drive(diagnostic(repeats="3", at_least="2").examine(Simulated(asked, dict(VIEWS))), by_sample)
    assert enough.made.solved["text"]


@pytest.mark.parametrize(("n", "differs"), [(0, False), (1, False), (2, True), (3, True)])
def test_few_frames_are_shuffled_as_far_as_they_can_be(n, differs):
    asked = item(1, "hopeless")
    subject = Simulated(asked, {"full": TIMES[:n], "central": TIMES[:1]})
    asks = drive(diagnostic().examine(subject), parser(asked)).asks
    assert len(asks) == diagnostic().most_asks(asked, n_frames=8)
    assert diagnostic(repeats="3").most_asks(asked, n_frames=8) == 3 * len(asks)
    assert (times_shown(asks[CONDITIONS.index("shuffled")]) != TIMES[:n]) is differs


def test_the_central_view_is_one_frame_of_the_central_selector():
    views = diagnostic().views(selector="fps:2", n_frames=32)
    assert (views["full"].selector, views["full"].n_frames) == ("fps:2", 32)
    assert (views["central"].selector, views["central"].n_frames) == ("central", 1)
    assert diagnostic().models() == {}


@pytest.mark.parametrize(
    ("reply", "mark"),
    [
        (Reply(text="B"), ReplyScore(value=1.0, kind="answered", answer="B")),
        (Reply(text="C", finish="length"), ReplyScore(value=0.0, kind="answered", answer="C", is_cut=True)),
        (Reply(text="?"), ReplyScore(value=0.0, kind="unreadable")),
        (
            Reply(text="B", usage=Usage(output_tokens=7)),
            ReplyScore(value=1.0, kind="answered", answer="B", output_tokens=7),
        ),
        (Reply(text="judge"), ReplyScore(value=None, kind="answered", answer="judge", why=WAITS)),
        (Reply(text="broken"), ReplyScore(value=None, kind="failed", why="JudgeError: no verdict")),
    ],
)
def test_every_kind_of_reply_has_its_mark(reply, mark):
    driven = drive(diagnostic().examine(Simulated(item(1), dict(VIEWS))), lambda ask: reply)
    assert driven.made.marks == {name: (mark,) for name in CONDITIONS}
    assert driven.made.solved["full"] is (None if mark.value is None else mark.value == 1.0)


def test_ratios_and_shares_are_what_was_planted():
    items = mixed(leaks=20, picture=30, bag=60, story=70, hopeless=20)
    found = said(examined(items))
    accuracies = {"full": 180, "text": 20, "central": 50, "shuffled": 110, "reversed": 110}
    for name, n_right in accuracies.items():
        assert value(found, "modality", name, "accuracy") == pytest.approx(n_right / 200)
        if name != "full":
            assert value(found, "modality", name, "ratio") == pytest.approx(n_right / 180)
            assert value(found, "modality", name, "difference") == pytest.approx((n_right - 180) / 200)
            assert value(found, "modality", name, "p_holm") < 0.01
    assert sheet(found, "modality").value("full", "difference") is None
    shares = {"without-video": 20, "one-frame": 50, "one-frame-only": 30, "needs-frames": 130}
    shares["needs-order"] = 70
    for name, n in shares.items():
        assert value(found, "solved", name, "questions") == n
        assert value(found, "solved", name, "share") == pytest.approx(n / 200)
    estimates = [v for s in ("modality", "solved") for e in sheet(found, s).rows for v in e.values]
    for one in (v for v in estimates if isinstance(v, Estimate)):
        assert one.low <= one.value <= one.high
        assert (one.n, one.n_clusters, one.level) == (200, 100, 0.95)
        assert "clustered error" in one.method


def test_few_videos_have_few_degrees_of_freedom():
    found = said(examined(mixed(leaks=4, picture=6, story=10)))
    for name in ("accuracy", "difference", "ratio"):
        assert "t with 9.0 degrees" in estimate(found, "modality", "text", name).method
    assert math.isnan(value(said(examined(mixed(hopeless=8))), "modality", "text", "ratio"))


def test_guessing_is_counted_out():
    # 20 % know it, the others guess one of four: 40 % are right, of whom chance explains a part.
    rng = np.random.default_rng(3)
    found = []
    one = diagnostic()
    for number in range(1000):
        asked = item(number)
        knows = number % 5 == 0

        def answers(ask, asked=asked, knows=knows):
            return Reply(text=asked.answer if knows else "ABCD"[int(rng.integers(4))])

        found.append(
            Examined(item=asked, finding=drive(one.examine(Simulated(asked, dict(VIEWS))), answers).made)
        )
    statements = said(found)
    assert value(statements, "solved", "without-video", "chance") == pytest.approx(0.25)
    known = estimate(statements, "solved", "without-video", "known")
    assert known.low < 0.2 < known.high
    assert known.high - known.low < 0.12
    assert "beyond guessing" in known.method
    assert isinstance(sheet(statements, "solved").value("one-frame", "known"), Estimate)
    # 1/4 and not 1/4 of what is guessed; nothing is known for such a flag.
    assert value(statements, "solved", "one-frame-only", "chance") == pytest.approx(0.25 * 0.75)
    assert sheet(statements, "solved").value("one-frame-only", "known") is None
    assert "Guessing alone gets 25.0 %" in sheet(statements, "modality").note
    assert "repeats right" not in sheet(statements, "solved").note


def test_open_questions_cannot_be_guessed():
    asked = Item(item_id="q", question="Why?", answer="because", answer_kind="text", media=(Media(path="v"),))
    driven = drive(diagnostic().examine(Simulated(asked, dict(VIEWS))), lambda ask: Reply(text="because"))
    found = said([Examined(item=asked, finding=driven.made)])
    assert value(found, "solved", "without-video", "chance") == 0.0
    assert value(found, "solved", "without-video", "known") == 1.0
    found = said(examined([item(0, "leaks", choices=("only",))]))
    assert value(found, "solved", "without-video", "chance") == 1.0
    assert sheet(found, "solved").value("without-video", "known") is None
    # Two or three of three at 1/4: 3 * 3 / 64 + 1 / 64.
    options = {"repeats": "3", "at_least": "2"}
    found = said(examined(mixed(leaks=10, story=10), **options), **options)
    assert value(found, "solved", "without-video", "chance") == pytest.approx(10 / 64)
    assert "at least 2 of 3 repeats" in sheet(found, "solved").note


def test_what_has_no_mark_is_left_out_and_counted():
    items = mixed(leaks=4)
    found = examined(items)
    failed = Failed(stage="media", error="MediaError", message="gone")
    broken = drive(diagnostic().examine(Simulated(item(9), dict(VIEWS))), lambda ask: Reply(text="broken"))
    found += [Examined(item=item(8), finding=failed), Examined(item=item(9), finding=broken.made)]
    headline = sheet(said(found), "modality")
    assert headline.value("full", "questions") == 4
    assert "1 failed" in headline.note
    assert "1 have an answer without a score" in headline.note


def test_replies_without_an_answer_are_counted():
    asked = item(1)
    replies = {(): Reply(text="?"), (MIDDLE,): Reply(text="B", finish="length")}
    driven = drive(
        diagnostic().examine(Simulated(asked, dict(VIEWS))),
        lambda ask: replies.get(times_shown(ask), Reply(text="B")),
    )
    found = said([Examined(item=asked, finding=driven.made)])
    assert value(found, "modality", "text", "unreadable") == 1
    assert value(found, "modality", "central", "cut") == 1
    assert value(found, "modality", "full", "refused") == 0


def test_short_videos_are_named():
    found = []
    for number, times in enumerate([(1.0,), (1.0, 2.0)]):
        asked = item(number, "leaks")
        subject = Simulated(asked, {"full": times, "central": (1.0,)})
        found.append(Examined(item=asked, finding=drive(diagnostic().examine(subject), parser(asked)).made))
    assert "1 question with fewer than two frames" in sheet(said(found), "modality").note


def test_what_a_guesser_gets_of_each_flag():
    # Of four choices a guess is right in 1/4; one condition right and two wrong are 1/4 * 3/4 * 3/4.
    chances = {flag.key: flag.chance(0.25) for flag in FLAGS}
    assert chances["without-video"] == chances["one-frame"] == 0.25
    assert chances["needs-frames"] == chances["needs-order"] == pytest.approx(9 / 64)

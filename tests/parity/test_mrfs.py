"""The official search against the released code, call by call; the others against its true minimum."""

import json

import pytest

from conftest import need
from subjects.simulated import Simulated, drive, times_shown
from vidence import catalog
from vidence.errors import RejectedRequestError
from vidence.records import Item, Reply

pytestmark = pytest.mark.parity

ITEM = Item(item_id="q1", question="?", choices=("yes", "no"), answer="A")
# What the released code calls an error is one category here.
ERRORS = {"error", "video_error"}


@pytest.fixture(scope="module")
def cases(checks_dir):
    path = need(checks_dir / "herbench" / "mrfs_official_vectors.json")
    return json.loads(path.read_text())


def searched(case, mode):
    """Drive a search with the model of the case: right, wrong or broken by the number of frames."""
    available = case["frames_available"]
    n_frames = case["max_frames"] if available is None else min(available, case["max_frames"])
    subject = Simulated(ITEM, {"ranked": tuple(float(t) for t in range(n_frames))})

    def answers(ask):
        k = len(times_shown(ask))
        if k in case["error_ks"]:
            raise RejectedRequestError("out of memory")
        is_right = k in case["correct_ks"] if k else case["text_only_correct"]
        return Reply(text="A" if is_right else "B")

    options = {"mode": mode, "max": str(case["max_frames"]), "min": str(case["min_frames"])}
    return drive(
        catalog.create("diagnostic", catalog.Spec(name="mrfs", options=options)).examine(subject), answers
    )


def test_official_equals_the_released_code_call_by_call(cases):
    assert cases
    for case in cases:
        driven = searched(case, "official")
        found, wanted = driven.made, case["expected_mrfs"]
        assert [len(times_shown(ask)) for ask in driven.asks] == case["model_calls_k"], case
        assert found.n_steps == case["binary_search_steps"], case
        if wanted in ERRORS:
            assert found.category == "error", case
        elif wanted == "undefined":
            assert (found.category, found.mrfs) == ("undefined", None), case
        else:
            assert found.mrfs == wanted, case
            assert found.category == ("visual-required" if wanted else "text-only"), case
            assert min(found.mrfs, found.n_delivered) == case["n_selected"], case


def test_exhaustive_finds_the_true_minimum(cases):
    whole = [c for c in cases if c["frames_available"] is None and not c["error_ks"]]
    whole = [c for c in whole if not c["text_only_correct"]]
    assert whole
    for case in whole:
        assert searched(case, "exhaustive").made.mrfs == case["exhaustive_min_if_defined"], case


def test_bisection_agrees_wherever_answers_are_monotone(cases):
    n_compared = 0
    for case in cases:
        full = searched(case, "exhaustive").made
        if full.is_monotone and not case["error_ks"]:
            n_compared += 1
            bisected = searched(case, "nested-bisect").made
            assert (bisected.category, bisected.mrfs) == (full.category, full.mrfs), case
    assert n_compared

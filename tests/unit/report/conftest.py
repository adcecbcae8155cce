"""A small run whose numbers can be checked by hand."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import numpy as np
import pytest

from vidence.engine.plan import Facts, Plan, write_plan
from vidence.engine.store import RunStore
from vidence.records import (
    Answered,
    Failed,
    FrameRef,
    ImagePart,
    Item,
    Media,
    Prompt,
    Refused,
    Reply,
    Sampling,
    Score,
    Selection,
    TextPart,
    Trial,
    Unreadable,
    Usage,
)
from vidence.report.page import write_page
from vidence.report.results import load_run

COLOURS = ("red", "green", "blue", "black")

PLAN = Plan(
    benchmark="table",
    data="questions.jsonl",
    split="all",
    model="scripted:test",
    selector="midpoints",
    frames=4,
    style="direct",
    prompts="plain",
    layout="images",
    frame_times=False,
    size="short:720",
    jpeg_quality=85,
    sampling=Sampling(),
    parser="robust",
    headline="micro",
    price_in=2.0,
    price_out=10.0,
)
FACTS = Facts(
    vidence="0.1.0",
    git_revision="",
    python="3.11.7",
    platform="test",
    libraries={"numpy": "2.2.0"},
    benchmark_version=1,
    benchmark_revision="",
    content_hash="0" * 64,
    prompts_digest="1" * 64,
    selector_version=1,
    model_identity="scripted:test",
    citation="",
    licence="",
    n_items=7,
    n_planned=7,
    started_at="2026-11-21T08:00:00+00:00",
)


def question(item_id, video, answer, **fields):
    made = {
        "item_id": item_id,
        "media": (Media(path=f"{video}.mp4"),),
        "question": f"Question {item_id}?",
        "choices": COLOURS,
        "answer": answer,
        **fields,
    }
    return Item(**made)


def marked(item, outcome, **fields):
    """A trial marked the way letters are: right or wrong; free answers wait."""
    value = float(isinstance(outcome, Answered) and outcome.answer == item.answer)
    if item.answer_kind == "text" and isinstance(outcome, Answered):
        value = None
    scorer = "robust" if item.answer_kind == "choice" else "needs-judge"
    score = Score(outcome=outcome, value=value, scorer=scorer, scorer_version=1)
    return Trial(item_id=item.item_id, score=score, **fields)


def said(text, **fields):
    return Reply(text=text, usage=Usage(input_tokens=1000, output_tokens=10), **fields)


def shown():
    frames = tuple(FrameRef(frame_index=i * 10, time_s=i * 0.4) for i in range(4))
    parts = (
        TextPart(text="Look at these frames."),
        *(ImagePart(digest=f"{i}" * 64, width_px=64, height_px=48, frames=(i,)) for i in range(4)),
        TextPart(text="Answer with a letter."),
    )
    return {
        "selection": Selection(selector="midpoints", version=1, frames=frames, n_candidates=40),
        "prompt": Prompt(parts=parts, choices=COLOURS, system="Be brief."),
    }


ITEMS = (
    question("q1", "v1", "A", tags={"task": "order", "level": "1"}),
    question("q2", "v1", "B", tags={"task": "order", "level": "2"}),
    question("q3", "v1", "C", tags={"task": "count", "level": "10"}, choices=("1", "2", "3", "4")),
    question("q4", "v2", "C", tags={"task": "count", "level": "1"}, choices=("5", "7", "6", "8")),
    question("q5", "v2", "A", tags={"task": "count", "level": "2"}),
    question("q6", "v3", "A", tags={"task": "count"}, choices=("a", "bb", "c", "d", "e")),
    question("q7", "v3", "a dog", tags={"task": "order"}, choices=(), answer_kind="text"),
)
TRIALS = (
    marked(ITEMS[0], Answered(answer="A", rule="answer-line"), reply=said("Answer: A"), **shown()),
    marked(
        ITEMS[1],
        Answered(answer="C", rule="answer-line"),
        reply=said("Answer: C", reasoning="I looked."),
        is_remembered=True,
        **shown(),
    ),
    marked(ITEMS[2], Unreadable(reason="no letter"), reply=said("A man appears", finish="length"), **shown()),
    marked(ITEMS[3], Answered(answer="C", rule="answer-line"), reply=said("Answer: C"), **shown()),
    marked(ITEMS[4], Refused(reason="policy"), reply=Reply(text="", finish="refusal", refusal="policy")),
    marked(ITEMS[5], Failed(stage="media", error="MediaError", message="v3.mp4: cannot be read")),
    marked(ITEMS[6], Answered(answer="a cat", rule="whole-reply"), reply=said("a cat"), **shown()),
)


@dataclass(frozen=True)
class Builder:
    """Writes run folders; by default the run above."""

    folder: Path
    items: tuple[Item, ...] = ITEMS
    trials: tuple[Trial, ...] = TRIALS
    question = staticmethod(question)
    marked = staticmethod(marked)
    said = staticmethod(said)
    shown = staticmethod(shown)

    def write(self, name="run-a", /, *, items=ITEMS, trials=TRIALS, facts=None, **plan):
        folder = self.folder / name
        folder.mkdir()
        write_plan(
            folder, msgspec.structs.replace(PLAN, **plan), msgspec.structs.replace(FACTS, **(facts or {}))
        )
        with RunStore(folder, is_writer=True) as store:
            store.put_items(items)
            for trial in trials:
                store.add(trial)
        return folder

    def load(self, name="run-a", /, **options):
        """Write a run and load it."""
        return load_run(self.write(name, **options))

    def asked(self, name, marks, /, *, tags=(), per_video=1, fields=None, **options):
        """A run of a question for each mark: 1 right, 0 wrong, None unread, or an outcome; A is right."""
        items = [
            question(f"q{i}", f"v{i // per_video}", "A", tags=tags[i] if tags else {}, **(fields or {}))
            for i in range(len(marks))
        ]
        some = [Unreadable(reason="?") if m is None else m for m in marks]
        outcomes = [Answered(answer="BA"[int(m)]) if isinstance(m, int) else m for m in some]
        trials = [marked(item, outcome) for item, outcome in zip(items, outcomes, strict=True)]
        return self.load(name, items=items, trials=trials, **options)


@pytest.fixture
def runs(tmp_path):
    """Writes run folders into a temporary folder."""
    return Builder(tmp_path)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# Attributes that hold words and load nothing.
WORDS = {"title", "aria-label", "label"}
VOID = {"meta", "input", "br", "img", "link", "hr"}


class Page(HTMLParser):
    """Elements with their attributes, and the text of each kind of element."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.open = []
        self.texts = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs), []))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        for _, _, pieces in self.open:
            pieces.append(data)

    def handle_endtag(self, tag):
        name, attrs, pieces = self.open.pop()
        assert name == tag, f"</{tag}> closes <{name}>"
        self.texts.append((name, attrs, "".join(pieces)))

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def text_of(self, tag, **wanted):
        def fits(attrs):
            return all(value in (attrs.get(key) or "").split() for key, value in wanted.items())

        wanted = {key.rstrip("_"): value for key, value in wanted.items()}
        return [text for name, attrs, text in self.texts if name == tag and fits(attrs)]


@pytest.fixture
def page_of(tmp_path):
    def make(*runs, **options):
        path = tmp_path / "page.html"
        settings = {"cache_root": None, "media_root": None, "rng": np.random.default_rng(0), **options}
        write_page(runs, path, **settings)
        text = path.read_text(encoding="utf-8")
        return text, Page(text)

    return make


def assert_stays_at_home(text, page):
    for tag, attrs in page.elements:
        for name, value in attrs.items():
            assert not name.startswith("on"), f"<{tag} {name}>"
            if name in {"href", "src", "srcset", "action", "formaction", "data", "poster", "xlink:href"}:
                assert value.startswith(("#", "data:image/jpeg;base64,")), f"<{tag} {name}={value!r}>"
            assert name != "style"
            assert name in WORDS or "//" not in (value or "")
    assert {tag for tag, _ in page.elements}.isdisjoint({"link", "img", "iframe", "object", "embed", "base"})
    (css,) = page.text_of("style")
    assert not re.search(r"url\(|@import|//|\\", css)
    (js,) = page.text_of("script")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|fetch|XMLHttp|import\(", js
    )


@pytest.fixture
def stays_at_home():
    """Fails when a page loads or runs anything from elsewhere."""
    return assert_stays_at_home

"""What every format of a release must do."""

import msgspec
import pytest

from subjects.released import TAGS, half_hidden, question, questions_of
from vidence import catalog
from vidence.errors import DataError, UsageError
from vidence.make.release.exporters.exporting import ExportSet, exporters, read_back, refuse_misfits
from vidence.make.release.hidden import hide

NAMES = catalog.names("exporter")


def written(exporter, exported, folder):
    for path, content in exporter.files(exported).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


@pytest.fixture(params=NAMES)
def exporter(request):
    return exporters([request.param])[0]


def test_what_comes_back_is_what_went_in(exporter, tmp_path):
    items = questions_of(exporter.name)
    refuse_misfits(exporter, items)
    written(exporter, ExportSet(name="set", open_ones=items, canary="c-1"), tmp_path)
    lost = read_back(exporter, tmp_path, items)
    came = {item.item_id: item for item in exporter.read(tmp_path)}
    for item in items:
        mine = came[item.item_id]
        assert (mine.question, mine.choices, mine.answer, mine.answer_kind) == (
            item.question,
            item.choices,
            item.answer,
            item.answer_kind,
        )
        kept = {tag: text for tag, text in item.tags.items() if f"tag {tag}" not in lost}
        assert kept.items() <= mine.tags.items()
    if exporter.name in ("items", "huggingface"):
        assert lost == {}


def test_the_same_questions_give_the_same_bytes(exporter):
    exported = ExportSet(name="set", open_ones=questions_of(exporter.name), canary="c-1")
    assert exporter.files(exported) == exporter.files(exported)


def test_hidden_questions_stand_apart_and_say_nothing_of_their_answers(exporter, tmp_path):
    items = questions_of(exporter.name)
    hidden = hide(questions_of(exporter.name, split="secret"), keep={"split"})
    renamed = [msgspec.structs.replace(one, item_id=f"h-{one.item_id}") for one in hidden.public]
    exported = ExportSet(name="set", open_ones=items, hidden=renamed, canary="c-1")
    written(exporter, exported, tmp_path)
    assert {item.item_id for item in exporter.read(tmp_path)} == {item.item_id for item in items}
    alone = ExportSet(name="set", open_ones=items, canary="c-1")
    more = {
        path: content
        for path, content in exporter.files(exported).items()
        if path not in exporter.files(alone)
    }
    assert [path for path in more if "secret" in path.name] == list(more) != []
    for content in more.values():
        for word in (
            b"carries it out",
            b"comes in and sets",
            b"Thing_",
            b'"answer"',
            b"answer_id",
            b"the hand of",
        ):
            assert word not in content
        assert b"h-table-000" in content


def test_a_question_that_comes_back_as_another_one_is_a_fault(exporter, tmp_path):
    items = questions_of(exporter.name)
    written(exporter, ExportSet(name="set", open_ones=items), tmp_path)
    moved = [msgspec.structs.replace(items[0], question="What else?"), *items[1:]]
    with pytest.raises(DataError, match="back as it was: question differ"):
        read_back(exporter, tmp_path, moved)
    with pytest.raises(DataError, match="questions back"):
        read_back(exporter, tmp_path, items[1:])


@pytest.mark.parametrize("name", sorted(set(TAGS) - {"items", "huggingface"}))
def test_what_a_format_cannot_say_is_refused_with_counts(name):
    exporter = exporters([name])[0]
    strange = [question(i, {}) for i in range(4)]
    with pytest.raises(UsageError, match=rf"{name} cannot say 4 of 4 questions: 4 \(table-000\): .*tag"):
        refuse_misfits(exporter, strange)


@pytest.mark.parametrize("name", ["herbench", "mmvu", "perceptioncomp"])
def test_a_span_cut_out_of_a_video_is_no_whole_video(name):
    items = questions_of(name)[:2]
    media = (msgspec.structs.replace(items[0].media[0], start_s=1.0, end_s=2.0),)
    cut = [msgspec.structs.replace(items[0], media=media), *items[1:]]
    with pytest.raises(UsageError, match="a span is cut out"):
        refuse_misfits(exporters([name])[0], cut)


@pytest.mark.parametrize("name", ["items", "huggingface"])
def test_letters_as_choices_come_back(name, tmp_path):
    exporter = exporters([name])[0]
    item = msgspec.structs.replace(half_hidden()[0], choices=("E", "A", "D", "C", "B"), answer="A")
    written(exporter, ExportSet(name="set", open_ones=[item]), tmp_path)
    assert exporter.read(tmp_path)[0].answer == "A"

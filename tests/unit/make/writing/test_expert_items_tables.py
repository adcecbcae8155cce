"""What drafts cover and what the checks found, as tables."""

from subjects.expert_set import row, shelf
from vidence.make.pipeline.material import Dropped
from vidence.make.writing.expert_checking import check_rows
from vidence.make.writing.expert_items import concepts_table, counts_table, findings_table, textbooks_table
from vidence.make.writing.subjects import Concept, Curriculum

CONCEPTS = (
    Concept(concept_id="precession", subject="M", textbook="Motion", chapter="1", state="filmed"),
    Concept(concept_id="beats", subject="M", textbook="Motion", chapter="1", state="filmed"),
    Concept(concept_id="waves", subject="M", textbook="Motion", chapter="2"),
    Concept(concept_id="gone", subject="M", textbook="Motion", chapter="2"),
)
GONE = (Dropped(what="gone", stage="concepts", reason="no-why-moving"),)
DRAFTS = [row().draft, row(draft_id="b", kind="open").draft, row(draft_id="c", end_s=41).draft]


def test_concepts_are_covered_filmed_open_or_dropped():
    table = concepts_table(
        Curriculum(subjects={}, concepts=CONCEPTS, dropped=GONE), {one.concept_id for one in DRAFTS}
    )
    assert [(one.label, one.values) for one in table.rows] == [("1", (1, 1, 0, 0)), ("2", (0, 0, 1, 1))]


def test_drafts_by_textbook_and_in_numbers():
    assert [(one.label, one.values) for one in textbooks_table(CONCEPTS, DRAFTS).rows] == [("Motion", (3,))]
    counts = {one.label: one.values[0] for one in counts_table(CONCEPTS, DRAFTS, ["x", "x", "y"]).rows}
    assert counts["drafts"] == 3
    assert (counts["knowledge links"], counts["distinct links"]) == (3, 1)
    assert (counts["clips"], counts["clips with 1 question"], counts["clips with 2 questions"]) == (2, 1, 1)
    assert (counts["sources"], counts["textbooks"]) == (2, 1)


def test_findings_are_counted_by_cell_and_kind():
    rows = check_rows([row(end_s=500, misconception=[]), row(draft_id="b", end_s=121)], shelf())
    assert [(one.label, one.values) for one in findings_table(rows).rows] == [
        ("end_s", ("long-clip", 0, 1, 1)),
        ("end_s", ("outside-video", 2, 0, 2)),
        ("misconception", ("no-misconception", 0, 1, 1)),
    ]

"""Events of safety stand in a chain; a chain shows what is missing."""

from vidence.studio.audit import first_break, link, links, note
from vidence.studio.records.work import AuditEventRow


def test_events_are_numbered_and_tied(team):
    note("exported", by="p001", about="films", details={"n": 3, "words": "ä"})
    team.clock.move(0.000001)
    note("signed-out", by="p001")
    assert list(AuditEventRow.objects.order_by("number").values_list("number", "kind")) == [
        (1, "exported"),
        (2, "signed-out"),
    ]
    assert first_break(links()) == ""


def test_signing_in_is_noted_with_no_word_of_the_password(team):
    team.user("Ada", "author")
    team.client().post("/sign-in", {"username": "Ada", "password": "planted-secret"})
    team.signed_in("Ada").post("/sign-out")
    kinds = list(AuditEventRow.objects.order_by("number").values_list("kind", flat=True))
    assert kinds == ["user-added", "sign-in-refused", "signed-in", "signed-out"]
    assert "planted-secret" not in repr(list(AuditEventRow.objects.values_list()))


def chain(*contents):
    rows, before = [], ""
    for number, content in enumerate(contents, start=1):
        before = link(before, content)
        rows.append((number, content, before))
    return rows


def test_the_first_break_of_a_chain_is_named():
    assert first_break([]) == ""
    assert first_break(chain({"a": 1}, {"a": 2}, {"a": 3})) == ""
    rows = chain({"a": 1}, {"a": 2}, {"a": 3})
    changed = [rows[0], (2, {"a": 9}, rows[1][2]), rows[2]]
    assert first_break(changed) == "row 2 is not what its hash says"
    assert first_break([rows[0], rows[2]]) == "row 2 is missing"
    assert first_break(rows[1:]) == "row 1 is missing"
    hidden = [rows[0], (2, {"a": 9}, link(rows[0][2], {"a": 9})), rows[2]]
    assert first_break(hidden) == "row 3 is not what its hash says"

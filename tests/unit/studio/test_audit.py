"""Events of safety stand in a chain."""

from vidence.studio.audit import links, note
from vidence.studio.records.chains import first_break
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

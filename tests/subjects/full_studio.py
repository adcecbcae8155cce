"""A studio with rows in every table: real acts where states follow from them, and plain rows elsewhere."""

from datetime import timedelta
from typing import Any


def fill_every_table(team: Any) -> None:
    """Two rows at least in each table."""
    from django.apps import apps

    from vidence.studio.projects import add_items
    from vidence.studio.records.items import ItemRow
    from vidence.studio.seals import APPEND_ONLY
    from vidence.studio.workflow import Act, RecordedAct, act

    for name in ("Ada", "Bea"):
        team.user(name, "author")
    for slug in ("films", "clips"):
        add_items(team.project(slug), [f"{slug}-1", f"{slug}-2"], kinds={})
    for item in ItemRow.objects.order_by("pk"):
        said = Act(kind="submit", role="author", by="p001", content={"question": f"What of {item.item_id}?"})
        assert type(act(item, said)) is RecordedAct
    models = list(apps.get_app_config("studio").get_models(include_auto_created=True))
    while models:
        model = models.pop(0)
        if any(not one.objects.exists() for one in _needed(model)):
            models.append(model)
            continue
        fields = model._meta.concrete_fields[1:]
        for n in range(model.objects.count(), 2):
            model.objects.create(**{one.name: _value(team, one, n) for one in fields})
        for field in fields:
            empty = model.objects.filter(**{field.name: None}).order_by("pk")
            if field.null and empty and model._meta.db_table not in APPEND_ONLY:
                empty.filter(pk=empty[0].pk).update(**{field.name: _value(team, field, 0)})


def _needed(model: Any) -> list[Any]:
    return [one.related_model for one in model._meta.concrete_fields if one.is_relation and not one.null]


def _value(team: Any, field: Any, n: int) -> Any:
    """The value of a column in the n-th row, which its rules allow."""
    if field.is_relation:  # two optional ones of a row point elsewhere, as nobody reviews their own
        place = 1 - n if field.null else n
        return field.related_model.objects.order_by("pk")[place : place + 1].first()
    for rule in field.model._meta.constraints:
        for child in getattr(getattr(rule, "condition", None), "children", ()):
            if isinstance(child, tuple) and child[0] == f"{field.name}__in":
                return child[1][n]
    kind, now = field.get_internal_type(), team.clock() + timedelta(minutes=n)
    if kind in ("DateTimeField", "DateField"):
        at = now + timedelta(hours=field.name.startswith("end"))
        return at.date() if kind == "DateField" else at
    plain = {"JSONField": {"of": n}, "BooleanField": False, "FloatField": n + 0.5, "UUIDField": None}
    if kind == "UUIDField":
        return field.get_default()
    return plain.get(kind, n + 1 if "Integer" in kind else f"{field.name}-{n}")

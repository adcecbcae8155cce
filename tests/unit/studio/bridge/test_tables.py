"""Which columns go out."""

from django.apps import apps

from vidence.studio.bridge.tables import AFTER, AT_HOME, FIRST


def test_every_table_goes_out_or_says_why_not():
    models = apps.get_app_config("studio").get_models(include_auto_created=True)
    out = {one.model.__name__ for one in (*FIRST, *AFTER)}
    assert {one.__name__ for one in models} == out | set(AT_HOME)
    assert not out & set(AT_HOME)


def test_every_column_goes_out_or_is_one_of_those_that_stay():
    stays = {
        "ProjectRow": {"media_root"},
        "UserRow": {"public", "name", "key", "shown", "password", "has_first_password"},
        "ItemRow": {
            *("state", "returns_left", "standing", "current", "lock_version", "changed_at"),
            *("writer", "is_disputed", "claims"),
        },
        "MadeSetRow": {"people_folder"},
        "TimeCorrectionRow": {"span"},
    }
    for shape in (*FIRST, *AFTER):
        known = {one.name for one in (*shape.model._meta.fields, *shape.model._meta.many_to_many)}
        left = known - set(shape.columns) - {"id", "lock_version"}
        assert left == stays.get(shape.model.__name__, set()) - {"lock_version"}, shape.file


def test_the_key_of_a_row_is_among_its_columns():
    for shape in (*FIRST, *AFTER):
        assert set(shape.key) <= set(shape.columns), shape.file

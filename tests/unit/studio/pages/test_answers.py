"""What forms send as numbers, and what scripts are answered."""

import json

import pytest


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), (" 41 ", 41), ("999999999", 999_999_999), ("1000000000", None), ("", None), ("-1", None),
     ("1.5", None), ("٤", None), ("²", None), ("9" * 5000, None)],
)  # fmt: skip
def test_only_whole_numbers_of_a_usual_length_are_read(team, text, expected):
    from vidence.studio.pages.answers import whole_number

    assert whole_number(text) == expected


def test_scripts_are_answered_in_json(team):
    from vidence.studio.pages.answers import as_json

    answer = as_json({"version": 3}, 409)
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/json")
    assert json.loads(answer.content) == {"version": 3}


def test_saves_of_scripts_say_their_version_or_that_there_is_another(team):
    from vidence.studio.drafts import Conflict, Saved
    from vidence.studio.pages.answers import saved_as_json

    kept = saved_as_json(Saved(version=4, at="now"))
    assert (kept.status_code, json.loads(kept.content)) == (200, {"version": 4, "at": "now"})
    refused = saved_as_json(Conflict(version=5, at="now", body="{}", is_closed=False))
    assert (refused.status_code, json.loads(refused.content)) == (409, {"version": 5, "closed": False})


def test_a_row_is_found_by_its_public_name_where_all_else_holds(team):
    from django.http import Http404

    from vidence.studio.pages.answers import row_named
    from vidence.studio.records.people import ProjectRow

    films = team.project()
    assert row_named(ProjectRow, str(films.public), slug="films") == films
    for words, slug in ((str(films.public), "others"), ("films", "films"), ("", "films")):
        with pytest.raises(Http404):
            row_named(ProjectRow, words, slug=slug)


def test_a_form_leads_on_or_says_why_it_was_refused(team):
    from django.test import RequestFactory

    from vidence.errors import UsageError
    from vidence.studio.pages.answers import tried, version_in

    def refuse():
        raise UsageError("not so")

    asked, sent = RequestFactory().get("/"), RequestFactory().post("/", {"version": "7", "seen": "x"})
    assert tried(asked, refuse, "people", "films") == (None, "")
    assert tried(sent, refuse, "people", "films") == (None, "not so")
    done, why = tried(sent, lambda: None, "people", "films")
    assert (done["Location"], why) == ("/projects/films/people", "")
    assert (version_in(sent), version_in(sent, "seen"), version_in(asked)) == (7, -1, -1)

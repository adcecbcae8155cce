"""The pages that every studio has: the first, projects, the server's state, faults."""

from vidence.studio.pages import faults
from vidence.studio.pages.faults import fault


def test_the_first_page_has_the_projects_of_the_person(team):
    team.project("films")
    team.project("others")
    team.user("Ada", "author", project="films")
    page = team.signed_in("Ada").get("/").content.decode()
    assert "/projects/films/" in page
    assert "others" not in page
    assert "/health" not in page


def test_faults_have_words_and_one_who_only_looks_is_told_so(view):
    assert "read-only" in view.signed_in().get("/", follow=True).content.decode()
    rf = view.client().get("/sign-in").wsgi_request
    for status in (400, 403, 404, 405, 500, 418):
        answer = fault(rf, status)
        assert answer.status_code == status
        assert f"Status {status}" in answer.content.decode()
    assert faults.bad_request(rf, ValueError()).status_code == 400

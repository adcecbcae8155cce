"""Where a request is sent whose session is none, or has ended."""

from servers.studio import PASSWORD


def test_a_browser_that_is_not_signed_in_is_sent_to_the_form_and_back(team):
    team.user("Ada", "operator")
    asked = team.client().get("/health?a=1&b=2")
    assert asked["Location"] == "/sign-in?next=%2Fhealth%3Fa%3D1%26b%3D2"
    client = team.client()
    done = client.post(
        asked["Location"], {"username": "Ada", "password": PASSWORD, "next": "/health?a=1&b=2"}
    )
    assert done["Location"] == "/health?a=1&b=2"
    assert client.get(done["Location"]).status_code == 200


def test_a_part_of_a_page_is_told_that_the_session_has_ended(team):
    assert team.client().get("/health", headers={"hx-request": "true"}).status_code == 401

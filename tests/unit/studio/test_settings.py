"""What a studio is told, and the word of the printed address."""

from concurrent.futures import ThreadPoolExecutor

from servers.studio import SECRET
from vidence.studio.settings import Studio, StudioSettings, Ticket, current, new_secret


def test_of_many_who_say_the_word_at_once_one_is_let_in():
    ticket = Ticket("word")
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ticket.redeem, ["word", "wrong"] * 50)) == 1
    assert not Ticket("").redeem("")


def test_secrets_are_not_shown(tmp_path):
    settings = StudioSettings(mode="view", data=tmp_path)
    shown = repr(Studio(settings=settings, secret=SECRET, ticket=Ticket("the-word")))
    assert "ssss" not in shown
    assert "the-word" not in shown
    assert len(new_secret()) == 32


def test_the_studio_of_the_process_is_found(team):
    assert current().settings is team.settings

"""Sets in the making and files of questions."""

import json

import pytest

from vidence.studio.bridge.places import place_id

DRAFT = {
    "draft_id": "d<1>",
    "task": "TSO",
    "structure": "order",
    "question": "Which <b>first</b>?",
    "choices": ["one", "two"],
    "answer_index": 1,
    "evidence": [],
    "facts": {"gap_s": "3.1"},
}
DROPPED = {"what": "t<7>", "stage": "drafts", "reason": "too-few-events", "detail": "2 of 3"}


@pytest.fixture
def made(tmp_path):
    """A set with one draft, one thing that was dropped, and a line of each that is damaged."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "drafts.jsonl").write_text(json.dumps(DRAFT) + "\nno <i>json</i>\n")
    (folder / "dropped.jsonl").write_text(json.dumps(DROPPED) + "\n")
    stage = {"stage": "drafts", "unit": "draft", "n_in": 2, "n_out": 1, "dropped": {"too-few-events": 1}}
    account = {"format": "vidence-make-account/1", "stages": [stage], "questions": {"TSO": 1}, "notes": []}
    (folder / "account.json").write_text(json.dumps(account))
    item = {"item_id": "TSO_0", "question": "Which?", "choices": ["one", "two"], "answer": "B"}
    (folder / "items.jsonl").write_text(json.dumps(item | {"tags": {"draft": "d<1>"}}) + "\n")
    return folder


def test_a_set_shows_its_account_its_drafts_and_their_questions(look, made):
    client = look(made)
    text = client.get(f"/made/{place_id(made)}").content.decode()
    assert "1 too-few-events" in text
    assert "Which &lt;b&gt;first&lt;/b&gt;?" in text
    assert "drafts.jsonl:2: " in text
    assert "gap_s" in text
    dropped = client.get(
        f"/made/{place_id(made)}?sheet=dropped&reason=drafts:too-few-events"
    ).content.decode()
    assert "t&lt;7&gt;" in dropped
    assert (
        "t&lt;7&gt;" not in client.get(f"/made/{place_id(made)}?sheet=dropped&words=other").content.decode()
    )
    answer = client.get(f"/question/{place_id(made)}", {"draft": "d<1>"})
    assert "TSO_0" in answer.content.decode()
    assert client.get(f"/question/{place_id(made)}", {"draft": "d2"}).status_code == 404


def test_a_file_of_questions_is_filtered_by_words_and_tags(look, made):
    file = made / "items.jsonl"
    client = look(file)
    page = f"/questions/{place_id(file)}"
    assert "TSO_0" in client.get(page).content.decode()
    assert "TSO_0" not in client.get(f"{page}?words=nobody").content.decode()
    assert "TSO_0" in client.get(f"{page}?tag=draft%3Dd%3C1%3E").content.decode()


def test_a_file_that_holds_no_question_says_so(look, tmp_path):
    file = tmp_path / "none.jsonl"
    file.write_text("<b>\n")
    text = look(file).get(f"/questions/{place_id(file)}").content.decode()
    assert "none.jsonl" in text
    assert "<b>" not in text

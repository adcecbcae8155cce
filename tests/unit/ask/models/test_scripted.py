"""`scripted:` says its text, and fails on demand."""

import anyio
import pytest

from servers.model_asks import maker
from vidence.ask.models.scripted import ScriptedModel
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import Prompt, Reply, Sampling

create = maker("model", "scripted")


def say(model: ScriptedModel, item_id: str = "q", **sampling: object) -> Reply:
    request = Request(item_id=item_id, prompt=Prompt(parts=()), sampling=Sampling(**sampling))
    return anyio.run(model.reply, request)


@pytest.mark.parametrize(
    ("fail", "kind", "is_overload"),
    [
        ("429", TransientModelError, True),
        ("500", TransientModelError, False),
        ("400", RejectedRequestError, None),
        ("401", AccessError, None),
    ],
)
def test_it_fails_as_asked(fail: str, kind: type[ModelError], is_overload: bool | None):
    with pytest.raises(kind, match=f"fail={fail}") as caught:
        say(create("A", {"fail": fail}))
    assert getattr(caught.value, "is_overload", None) is is_overload


def _pattern(options: dict[str, str], item_ids: list[str]) -> dict[str, list[bool]]:
    model = create("A", {"fail": "500", "fail_share": "0.5", **options})
    found: dict[str, list[bool]] = {}
    for _ in range(8):
        for item_id in item_ids:
            try:
                say(model, item_id)
            except TransientModelError:
                found.setdefault(item_id, []).append(True)
            else:
                found.setdefault(item_id, []).append(False)
    return found


def test_failures_depend_on_seed_item_and_try_and_not_on_order():
    ids = [f"q{n}" for n in range(12)]
    found = _pattern({}, ids)
    assert found == _pattern({}, ids[::-1])
    assert found != _pattern({"fail_seed": "1"}, ids)
    n_failed = sum(sum(tries) for tries in found.values())
    assert 30 <= n_failed <= 66  # 96 tries at one half: outside with a chance of 0.0002


def test_options():
    assert create("A", {}).looks
    assert not create("A", {"looks": "false"}).looks
    assert create("A", {"delay_s": "0"}).identity == "scripted:A"
    assert say(create("A", {"delay_s": "0.01"})).latency_s == 0.01
    for options in ({"fail": "418"}, {"delay_s": "-1"}, {"delay_s": "inf"}, {"looks": "maybe"}, {"txt": "A"}):
        with pytest.raises(UsageError):
            create("A", options)
    with pytest.raises(UsageError, match="from 0 to 1"):
        create("A", {"fail": "500", "fail_share": "2"})
    with pytest.raises(UsageError, match="also say how"):
        create("A", {"fail_share": "0.5"})
    assert say(create("The answer is B%3F", {})).text == "The answer is B?"
    assert say(create("", {})).text == ""
    drills = [{"fail": "500"}, {"fail": "401"}, {"fail": "401", "fail_share": "0.5"}]
    drills.append({"fail": "401", "fail_share": "0.5", "fail_seed": "1"})
    assert len({create("A", options).identity for options in [{}, *drills]}) == 5

"""Options keep what the proof shows."""

BAG = 'A = the(person(top == "black", hat == "green", glasses == "no"))\nA.bag\n'
TOP = 'A = the(person(hair == "long", holds == "cup"))\nA.top\n'  # grey; red without c2


def reasons(verdict):
    return [problem.name for problem in verdict.problems]


def test_options_with_all_witness_values(verdict):
    assert verdict(f'options = ["white", "red", "blue"]\n{BAG}').is_proven


def test_a_witness_value_that_is_not_offered(verdict):
    found = verdict(f'options = ["white", "blue", "black"]\n{BAG}')
    assert reasons(found) == ["options-hide:c1"]
    assert "red" in found.problems[0].says


def test_the_right_option_is_missing(verdict):
    assert reasons(verdict(f'options = ["red", "blue", "black"]\n{BAG}')) == ["right-option-missing"]


def test_an_option_that_may_be_true(verdict):
    text = 'A = the(person(hat == "none", hair == "long"))\n'
    found = verdict(f'options = ["white", "red", "blue", "white"]\n{BAG}')
    assert reasons(found) == ["option-may-be-true"]
    near = verdict(f'options = ["grey", "black", "red", "white"]\n{text}A.top\n')
    assert reasons(near) == ["option-may-be-true"]

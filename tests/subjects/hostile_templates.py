"""Templates of prompts that would never end, fill the memory or break what reads them."""

import random

NEVER_ENDING = (
    "{{ 9**(9**9) }}",
    "{% set x = 9**9 %}{{ x**x }}",
    "{{ 'a' * 10000000000 }}",
    "{{ [1] * 10000000000 }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%1000000000d'|format(1) }}",
    "{{ '%.*f'|format(1000000000, 1.0) }}",
    "{{ ['%1000000000d']|map('format', 1)|join }}",
    "{{ '{:1000000000}'.format(1) }}",
    "{{ question|center(10000000000) }}",
    "{{ question.ljust(10000000000) }}",
    "{{ question|indent(10000000000) }}",
    "{{ 1.5|round(1000000000, 'ceil') }}",
    "{{ lipsum(1000000) }}",
    "{% for i in range(1000000000) %}{% endfor %}",
    "{{ range(99999)|map('string')|join(question) }}",
    "{% for a in question %}" * 6 + "{% endfor %}" * 6,
    "{% for a in letters %}" * 12 + "x" + "{% endfor %}" * 12,
    "{% for a in letters recursive %}{{ loop(letters) }}{% endfor %}",
    "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    "{% set x = question ~ question %}" * 60 + "{{ x }}",
    "{% set x = question %}" + "{% set x = x ~ x %}" * 60 + "{{ x }}",
    "{% set x = 9 %}" + "{% set x = x * x %}" * 60 + "{{ x }}",
    "{% set x = letters %}" + "{% set x = [x, x] %}" * 60 + "{{ x }}",
    "{% set x = letters %}" + "{% set x = [x, x]|list %}" * 60 + "{{ x }}",
    "{% set x %}aa{% endset %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 60 + "{{ x }}",
    "{{ question" + "|replace('', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')" * 30 + " }}",
    "{{ question" + "|tojson" * 60 + " }}",
    "{{ question|join(question)|join(question)|join(question) }}",
    "{{ letters" + "|join('aaaaaaaaaaaaaaaa')" * 40 + " }}",
    "{{ " + "(" * 40 + "question" + " ~ question)" * 40 + " }}",
    "{{ (" + " ~ ".join(["question"] * 9_000) + ")|length }}",
    "{% for a in letters %}{{ question }}{% endfor %}" * 400,
    "{% filter center(10000000000) %}a{% endfilter %}",
    "{% include 'a' %}{% extends 'b' %}{% import 'c' as d %}",
    "{{ namespace(a=1) }}{{ cycler('a') }}{{ joiner() }}{{ dict(a=1) }}",
    "{{ " + "9" * 5_000 + " }}",
    "{{ " + "*".join(["99999999"] * 2_000) + " }}",
    "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}",
    "{{ " + "not " * 5_000 + "1 }}",
    "{{ " + "1 if 1 else " * 5_000 + "1 }}",
    "{% if 1 %}" * 5_000 + "{% endif %}" * 5_000,
    "{% if 1 %}" + "{% elif 1 %}" * 5_000 + "{% endif %}",
    "{{ a" + ".a" * 5_000 + " }}",
    "{{" * 200_000,
    "x" * 50_000_000,
)
_ATOMS = (
    *(
        "question",
        "letters",
        "choices",
        "n_frames",
        "duration_s",
        "modality",
        "frames",
        "loop",
        "other",
        "x",
        "y",
    ),
    *("0", "1", "9", "99999999999", "1e308", "''", "'a'", "'%s'", "'%9d'", "'%999d'", "true", "none"),
    *("loop.index", "choices[0].text", "choices[0]['letter']", "letters[0]", "question[:3]", "letters[9]"),
    *("[1, 'a']", "(1, 2)", "question.upper", "question.__class__", *["question", "letters", "2"] * 9),
)
_FILTERS = (
    *(
        "upper",
        "join",
        "join('ab')",
        "join(question)",
        "replace('a', 'bb')",
        "replace('', 'cccccccc')",
        "trim",
    ),
    *(
        "map('upper')",
        "map(attribute='text')",
        "map('nothing')",
        "format(question)",
        "format(1, 2)",
        "tojson",
    ),
    *(
        "length",
        "first",
        "last",
        "int",
        "float",
        "round(2)",
        "round(99)",
        "abs",
        "list",
        "reverse",
        "indent(9)",
    ),
    *("default(question, true)", "string", "count", "capitalize", "center(99)", "random"),
)
_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "and", "or", "not in")


def _expression(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.2:
        return rng.choice(_ATOMS)
    inner = _expression(rng, depth - 1)
    if kind < 0.5:
        return f"({inner} {rng.choice(_OPERATORS)} {_expression(rng, depth - 1)})"
    if kind < 0.9:
        return f"({inner})|{rng.choice(_FILTERS)}"
    return f"({rng.choice(('not', '-', '+'))} {inner})"


def generated(rng: random.Random, depth: int = 2) -> str:
    """A template by chance, which mostly can be read and often cannot be filled."""
    pieces = []
    for _ in range(rng.randint(1, 2)):
        expression = _expression(rng, rng.randint(0, 3))
        inner = generated(rng, depth - 1) if depth else rng.choice(("a", "\n", ""))
        pieces.append(
            rng.choice(
                (
                    f"{{{{ {expression} }}}}",
                    f"{{% for x in {expression} %}}{inner}{{% endfor %}}",
                    f"{{% for x in letters %}}{inner}{{% endfor %}}",
                    f"{{% if {expression} %}}{inner}{{% else %}}{inner}{{% endif %}}",
                    f"{{% set x = {expression} %}}{inner}",
                    inner,
                )
            )
        )
    return "".join(pieces)

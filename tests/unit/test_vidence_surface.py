"""The names of `vidence`: they can be guessed, are imported when they are used, and are typed."""

import inspect
import subprocess
import sys
from typing import Unpack, get_type_hints

import pytest

import vidence
from vidence import catalog
from vidence.cli.finding import find_command
from vidence.engine import caller_objects
from vidence.errors import UnknownNameError, UsageError
from vidence.statistics import metrics


def fresh(code: str) -> str:
    """What a program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", vidence.__all__)
def test_every_public_name_is_there_and_is_documented(name: str):
    found = getattr(vidence, name)
    assert name in dir(vidence)
    assert name == "__version__" or inspect.getdoc(found)


@pytest.mark.parametrize(
    ("wrong", "right"), [("evalute", "evaluate"), ("diagnos", "diagnose"), ("video", "Video"), ("run", "Run")]
)
def test_a_wrong_name_gets_the_nearest_one(wrong: str, right: str):
    with pytest.raises(AttributeError, match=f"named '{wrong}'. Did you mean '{right}'"):
        getattr(vidence, wrong)
    assert not hasattr(vidence, wrong)


def test_classes_and_modules_are_imported_when_they_are_used():
    code = (
        "import sys, vidence\n"
        "def n(): return sum(m.startswith('vidence.') for m in sys.modules)\n"
        "before = n(); dir(vidence); vidence.evaluate; vidence.make\n"
        "print(before, n(), 'numpy' in sys.modules, vidence.Video.__module__, 'numpy' in sys.modules)"
    )
    assert fresh(code) == "0 0 False vidence.media.video True"


def test_measures_stand_under_their_names_in_the_literature():
    assert vidence.metrics is metrics
    assert vidence.metrics.cohen_kappa is metrics.cohen_kappa


def test_make_is_called_before_and_after_its_package_is_imported():
    code = (
        "import vidence\n"
        "def called():\n"
        "    try:\n        vidence.make('herbenc', 'x.toml')\n"
        "    except vidence.VidenceError as error:\n        return str(error)\n"
        "first = called()\n"
        "import vidence.make.pipeline.session\n"
        "assert called() == first, called()\n"
        "from vidence import make\n"
        "assert make.pipeline is vidence.make.pipeline\n"
        "print(first)"
    )
    assert "Did you mean 'herbench'" in fresh(code)


def test_keywords_of_evaluate_are_typed():
    names = {"Run": vidence.Run, **vars(caller_objects)}
    hints = get_type_hints(vidence.evaluate, localns=names)
    assert hints["overrides"] == Unpack[caller_objects.AnyOverrides]


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"n_frame": 3}, UnknownNameError, "Did you mean 'frames'"),
        ({"frames": "many"}, UsageError, "these settings are not valid: Expected `int | null`"),
    ],
)
def test_a_wrong_keyword_says_what_is_right(keywords: dict[str, object], error: type, message: str):
    with pytest.raises(error, match=message):
        vidence.evaluate("table", data="q.jsonl", model="scripted:A", **keywords)


# For each function that is a command: its options that are not arguments, and arguments that are not options.
OF_FILES = {"html", "csv_path", "json_path", "latex"}
COMMANDS = {
    "compare": ({"folders", "everything", *OF_FILES}, {"first", "second", "more"}),
    "contrast": ({"folders", *OF_FILES}, {"runs"}),
    "panel": (
        # the object that it returns has views
        {"check", "ask", "views", "tables_dir", "page", "json_path", "latex"},
        {"cache"},
    ),
    "correlate": ({"folders", *OF_FILES}, {"runs"}),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_function_takes_what_its_command_takes(name: str):
    command = find_command(f"stats {name}" if name in ("contrast", "correlate") else name)
    only_command, only_function = COMMANDS[name]
    options = {parameter.name for parameter in command.params}
    arguments = set(inspect.signature(getattr(vidence, name)).parameters)
    assert options - arguments <= only_command
    assert arguments - options == only_function


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tag": "level", "of": "3"}, 'give of= and to= together: of="3", to="1"'),
        ({"tag": "level", "to": "3"}, "give of= and to= together"),
        ({"tag": "level", "of": "3", "to": "1"}, "no run; name a run folder or more"),
    ],
)
def test_contrast_says_what_is_missing(options: dict[str, str], message: str):
    with pytest.raises(UsageError, match=message):
        vidence.contrast(**options)


def test_correlate_takes_runs_or_a_table():
    with pytest.raises(UsageError, match="nothing to correlate"):
        vidence.correlate(x="all", y="all")
    for wrong in ({"by": "Type"}, {"names": ["a"]}, {"parser": "robust"}):
        with pytest.raises(UsageError, match="--by, --as and --parser are for runs"):
            vidence.correlate(x="3AFC", y="Description Matching", table="actpld-table3", **wrong)
    found = vidence.correlate(
        x="3AFC", y="Description Matching", table="actpld-table3", cluster="Model", within="Type"
    )
    assert found.coefficients[0].kind == "spearman"


@pytest.mark.parametrize("name", catalog.names("diagnostic"))
def test_no_option_of_a_diagnostic_is_hidden_by_an_argument(name: str):
    settings = catalog.settings_type("diagnostic", name)
    assert settings is not None
    assert not {option.name for option in catalog.options_of(settings)} & {
        "data",
        "model",
        "out",
        "level",
        "cache",
    }

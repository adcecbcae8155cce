"""What a template asks of a value has a name in the code: Django and Jinja say nothing of what is missing."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "vidence"
TAG = re.compile(r"\{[%{](.*?)[%}]\}", re.DOTALL)
TEXT = re.compile(r"\"[^\"]*\"|'[^']*'")
ATTRIBUTE = re.compile(r"\.([a-z_]\w*)")
MACRO = re.compile(r"\{%-? macro (\w+)")
# Of the languages of templates themselves, and of Django's pages of a list.
BUILT_IN = {"counter0", "index0", "grouper", "has_previous", "has_next", "previous_page_number"}
BUILT_IN |= {"next_page_number", "start_index", "end_index", "num_pages"}


def test_every_attribute_that_a_template_names_is_in_the_code():
    code = " ".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    known = set(re.findall(r"\w+", code)) | BUILT_IN
    templates = [*PACKAGE.rglob("*.html"), *PACKAGE.rglob("*.j2")]
    assert len(templates) > 50
    known |= {name for path in templates for name in MACRO.findall(path.read_text(encoding="utf-8"))}
    asked = {
        (str(path.relative_to(PACKAGE)), name)
        for path in templates
        for tag in TAG.findall(path.read_text(encoding="utf-8"))
        for name in ATTRIBUTE.findall(TEXT.sub("", tag))
    }
    assert len(asked) > 500
    columns = {f"{name}_id" for name in known}  # of foreign keys
    assert sorted((path, name) for path, name in asked if name not in known | columns) == []

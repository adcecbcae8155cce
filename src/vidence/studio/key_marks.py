"""The key that stands on a button: the one that whoever looks has given to what it does."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from vidence.studio.rules.keys import SHORTCUTS, Keys, parts_of

register = template.Library()
_BY_USUAL = {one.usual: one for one in SHORTCUTS}


def key(context: Mapping[str, Any], usual: str) -> SafeString:
    """The key of what a key usually does, as ``kbd``; nothing where it has none.

    Args:
        context: of the page.
        usual: as the list of keys has it.
    """
    own: Keys = context["own_keys"]()
    return format_html_join(" ", "<kbd>{}</kbd>", ((one,) for one in parts_of(own.of(_BY_USUAL[usual]))))


register.simple_tag(key, takes_context=True)

"""Make questions from videos, motion capture, event logs and cards.

Importing this package puts it in the place of the function `vidence.make`, so that it is called as that one.
"""

import sys
from types import ModuleType

import vidence


class _CallablePackage(ModuleType):
    """A package that ``vidence.make(...)`` calls."""

    __call__ = staticmethod(vidence.make)


sys.modules[__name__].__class__ = _CallablePackage

"""pliant: mechanisms whose links bend and whose parts hit things."""

import sys as _sys

from pliant.host import program_start as _program_start  # noqa: F401 - before everything that takes time
from pliant.lazy_names import LazyNames as _LazyNames
from pliant.version import VERSION as __version__  # noqa: F401

_sys.modules[__name__].__class__ = _LazyNames

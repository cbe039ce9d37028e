"""Find what is real in data about people, without exposing anyone in it.

The public names are those of `__init__.pyi`; each module loads when a name of it is first used.
"""

import lazy_loader

from discreet.locate import locate as locate  # modules of the same name would hide these two
from discreet.measure import measure as measure

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]

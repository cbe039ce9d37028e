"""The methods by name. Nothing of a method but its description is loaded before it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.methods.all import ALL
from discreet.methods.auto import AUTO
from discreet.methods.aware import AWARE
from discreet.methods.focus import FOCUS
from discreet.methods.mirror import MIRROR
from discreet.methods.paper import ONESHOT, PEEL

if TYPE_CHECKING:
    from discreet.methods.method import Method

_KNOWN = (AUTO, AWARE, ALL, FOCUS, PEEL, ONESHOT, MIRROR)
METHODS: dict[str, Method] = {method.name: method for method in _KNOWN}
"""Every method there is. To add one: a folder with its `Method`, its name here and in `MethodName`."""

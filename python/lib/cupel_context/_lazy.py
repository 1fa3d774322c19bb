"""Types of annotations, imported when somebody reads them."""

from __future__ import annotations

import importlib
import types
import typing
from typing import Any


class Lazy(types.ModuleType):
    """A module of this package that is imported with the first look at it.

    The types of answers are many, and few programs ask for them; annotations name them all the same, so
    that ``typing.get_type_hints`` finds them.
    """

    def __getattr__(self, name: str) -> object:
        """Attribute of the module."""
        return getattr(importlib.import_module(self.__name__), name)


class _AnyOptions:
    """Stands for the options of a call, on a Python that has no word for them."""

    def __class_getitem__(cls, options: Any) -> Any:
        return Any


Unpack = getattr(typing, "Unpack", _AnyOptions)
"""``typing.Unpack``, which Python has since 3.11."""

answers = Lazy(f"{__package__}.types")
"""The types of the engine's answers."""

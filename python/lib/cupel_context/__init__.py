"""Decides what goes into a language model's context window.

>>> import cupel_context as cupel
>>> messages = [{"role": "user", "content": "Hello!"}]
>>> cupel.select(messages, max_tokens=8_000).messages is not messages
True

``select`` makes a request fit and says why; ``Engine`` does it for many requests, ``Session`` keeps
the prompt cache, ``Pipeline`` is for candidates that are no chat request. Modules for frameworks are
beside it, as ``cupel_context.langchain``; import the one that you need.
"""

from __future__ import annotations

from ._calls import (
    compare,
    count,
    evaluate,
    models,
    policies,
    repair,
    select,
    simulate,
    validate,
)
from ._engine import Engine, Selection, Session, Step, Window
from ._errors import (
    CupelError,
    DoesNotFitError,
    InvalidRequestError,
    RefusalError,
    UnsupportedTypeError,
)
from ._items import ItemWindow, Pipeline, policy_sensitivity
from ._native import VERSION as __version__
from ._native import Budget, Item, Placer, Scorer, Slicer, handle
from ._retrieve import retrieve_tool

__all__ = [
    "Budget",
    "CupelError",
    "DoesNotFitError",
    "Engine",
    "InvalidRequestError",
    "Item",
    "ItemWindow",
    "Pipeline",
    "Placer",
    "RefusalError",
    "Scorer",
    "Selection",
    "Session",
    "Slicer",
    "Step",
    "UnsupportedTypeError",
    "Window",
    "__version__",
    "compare",
    "count",
    "evaluate",
    "handle",
    "models",
    "policies",
    "policy_sensitivity",
    "repair",
    "retrieve_tool",
    "select",
    "simulate",
    "validate",
]

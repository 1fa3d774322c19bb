"""Answers and items that are written down: for other processes, and as copies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ._native import Budget, Item
from ._request import Request


@dataclass(frozen=True)
class Noted:
    """Everything that the engine says of a window, as data instead of the request that it was read from."""

    kept: list[int]
    tokens: int
    text: str
    is_repaired: bool
    rewritten: list[tuple[int, str]]
    answered: str
    reported: str | None = None
    explained: str | None = None

    @classmethod
    def of(cls, native: Any) -> Noted:
        """Fields of a selection or a step."""
        if isinstance(native, cls):
            return native
        plain = (native.kept, native.tokens, native.text, native.is_repaired, native.rewritten)
        if not hasattr(native, "report"):
            return cls(*plain, native.answer())
        return cls(*plain, native.answer(), native.report(), native.explain(2**32 - 1))

    def answer(self) -> str:
        """Everything but texts, as JSON."""
        return self.answered

    def report(self) -> str:
        """The report of the specification, as JSON."""
        return self.reported or "null"

    def explain(self, most_left_out: int) -> str:
        """Why, as JSON, with so much of what was left out."""
        explanation = json.loads(self.explained or "null")
        hidden = max(0, len(explanation["left_out"]) - most_left_out)
        explanation["left_out"] = explanation["left_out"][:most_left_out]
        explanation["hidden"] += hidden
        return json.dumps(explanation)


def restore(kind: Any, request: Request, noted: Noted) -> Any:
    """The window again."""
    return kind(request, noted)


def _item(content: str, tokens: int, known: dict[str, Any]) -> Item:
    return Item(content, tokens, **known)


def _budget(max_tokens: int, known: dict[str, Any]) -> Budget:
    return Budget(max_tokens, **known)


def _of_item(item: Item) -> tuple[Any, ...]:
    # Its own JSON has moments to the last digit, which a datetime has not.
    known = json.loads(item.to_json())
    return _item, (known.pop("content"), known.pop("tokens"), known)


def _of_budget(budget: Budget) -> tuple[Any, ...]:
    names = ("target_tokens", "output_reserve", "reserved_slots", "margin_percent")
    return _budget, (budget.max_tokens, {name: getattr(budget, name) for name in names})


def reduced(value: Item | Budget) -> tuple[Any, ...]:
    """Arguments from which pickle makes an item or a budget again: they are written in Rust."""
    return _of_item(value) if isinstance(value, Item) else _of_budget(value)

"""The pipeline itself: candidates that are no chat request, and strategies of one's own."""

from __future__ import annotations

import copyreg
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

from . import _native, _settings
from ._errors import CupelError
from ._native import Budget, Item, Placer, Scorer, Slicer
from ._settings import Policy

ScoreFunction = Callable[[Item, Sequence[Item]], float]
"""From an item and all items to a number; the higher, the better."""

AnyScorer = Union[Scorer, str, ScoreFunction]


def _reduced(value: Any) -> tuple[Any, ...]:
    from ._pickling import reduced

    return reduced(value)


copyreg.pickle(Item, _reduced)
copyreg.pickle(Budget, _reduced)


class ItemWindow:
    """The items that fit, in placed order, and the report."""

    def __init__(self, items: Sequence[Item], kept: list[int], report: str) -> None:
        self.kept = kept
        """The positions of what stays, in placed order."""
        self.items = [items[at] for at in kept]
        """Items that stay: the very objects that were handed in."""
        self.tokens = sum(item.tokens for item in self.items)
        """Tokens of the window."""
        self._report = report

    @property
    def report(self) -> dict[str, Any]:
        """The report of the specification; each entry also has the ``position`` of its item."""
        report: dict[str, Any] = json.loads(self._report)
        return report

    def __repr__(self) -> str:
        return f"ItemWindow({len(self.kept)} items, {self.tokens:,} tokens)"


class Pipeline:
    """Scores, slices and places items.

    >>> from cupel_context import Budget, Item, Pipeline
    >>> items = [
    ...     Item("You are terse.", 4, pinned=True),
    ...     Item("Tell me a very long story.", 80, timestamp="2025-01-01T09:00:00Z"),
    ...     Item("Why did the deploy fail?", 7, timestamp="2025-01-01T10:00:00Z"),
    ... ]
    >>> window = Pipeline("recency").run(items, Budget(50, output_reserve=10))
    >>> [item.content for item in window.items]
    ['Why did the deploy fail?', 'You are terse.']
    >>> reason = window.report["excluded"][0]["reason"]
    >>> reason["reason"], reason["item_tokens"], reason["available_tokens"]
    ('BudgetExceeded', 80, 29)

    A scorer may be a function; what it raises is raised where the pipeline runs:

    >>> def short(item, all_items):
    ...     return 1 / (1 + item.tokens)
    >>> Pipeline(short).run(items, Budget(50)).kept
    [2, 0]
    """

    def __init__(
        self,
        scorer: AnyScorer | Iterable[tuple[AnyScorer, float]] = "recency",
        slicer: Slicer | str = "greedy",
        placer: Placer | str = "chronological",
        *,
        deduplication: bool = True,
        overflow_strategy: str = "throw",
    ) -> None:
        self._native = _native.Pipeline(
            _scorer(scorer),
            _named(Slicer, "slicer", slicer),
            _named(Placer, "placer", placer),
            deduplication=deduplication,
            overflow_strategy=overflow_strategy.lower(),
        )

    @classmethod
    def from_policy(cls, policy: Policy) -> Pipeline:
        """A pipeline from a policy as data: a preset by its name, a description, or a file.

        >>> from cupel_context import Budget, Item, Pipeline
        >>> notes = [Item("The key is on the blue card.", 8), Item("Lunch is at noon.", 6)]
        >>> Pipeline.from_policy("auto").run(notes, Budget(8), query="Where is the key?").kept
        [0]
        """
        pipeline = cls.__new__(cls)
        pipeline._native = _native.Pipeline.described(_settings.policy(policy))
        return pipeline

    def run(self, items: Sequence[Item], budget: Budget, *, query: str = "") -> ItemWindow:
        """Runs all stages. The query matters to policies that look at one, as ``auto`` does."""
        items = list(items)
        kept, report = self._native.run(items, budget, query)
        return ItemWindow(items, kept, report)

    def marginal(
        self, items: Sequence[Item], budget: Budget, slack_tokens: int, *, query: str = ""
    ) -> list[int]:
        """The positions of the items that the last tokens of the budget buy."""
        return self._native.marginal(list(items), budget, slack_tokens, query)

    def min_budget(
        self, items: Sequence[Item], target: Item, search_ceiling: int, *, query: str = ""
    ) -> int | None:
        """The smallest budget whose window holds an item, up to a ceiling."""
        return self._native.min_budget(list(items), target, search_ceiling, query)


def policy_sensitivity(
    items: Sequence[Item], budget: Budget, variants: Mapping[str, Pipeline], *, query: str = ""
) -> dict[str, Any]:
    """Differences between two or more pipelines: ``variants`` with reports, and ``diffs``.

    >>> from cupel_context import Budget, Item, Pipeline, policy_sensitivity
    >>> items = [Item("old", 5, priority=9), Item("new", 5, timestamp="2025-01-01T00:00:00Z")]
    >>> variants = {"newest": Pipeline("recency"), "urgent": Pipeline("priority")}
    >>> policy_sensitivity(items, Budget(5), variants)["diffs"][0]
    {'content': 'old', 'statuses': ['Excluded', 'Included']}
    """
    named = [(label, pipeline._native) for label, pipeline in variants.items()]
    told = _native.Pipeline.sensitivity(list(items), budget, named, query)
    answer: dict[str, Any] = json.loads(told)
    return answer


def _scorer(given: AnyScorer | Iterable[tuple[AnyScorer, float]]) -> Scorer:
    if isinstance(given, Scorer):
        return given
    if isinstance(given, str):
        named: Scorer = _named(Scorer, "scorer", given)
        return named
    if callable(given):
        return Scorer.custom(given)
    try:
        pairs = [(_scorer(one), float(weight)) for one, weight in given]
    except TypeError as error:
        kind = type(given).__name__
        raise CupelError(
            f"scorer: must be a scorer, a name, a function or pairs with weights, got `{kind}`",
            path="scorer",
        ) from error
    return Scorer.composite(pairs)


def _named(kind: Any, what: str, given: Any) -> Any:
    """A strategy, or the one of this name that needs no options."""
    if isinstance(given, kind):
        return given
    make = None
    if isinstance(given, str):
        make = getattr(kind, given.replace("-", "_"), None)
    plain = {
        "scorer": "recency, priority, frequency, reflexive, kind, metadata_trust",
        "slicer": "greedy, knapsack",
        "placer": "chronological, u_shaped",
    }[what]
    if make is None or str(given).replace("-", "_") not in plain.split(", "):
        raise CupelError(
            f"{what}: must be one of {plain}, or made by {kind.__name__}, got {given!r}", path=what
        )
    return make()

"""The pipeline over items, and scorers that are written in Python."""

from __future__ import annotations

import concurrent.futures
import datetime
import math
import threading
from collections.abc import Sequence

import cupel_context as cupel
import pytest
from cupel_context import Budget, Item, Pipeline, Placer, Scorer, Slicer


def items(*tokens: int) -> list[Item]:
    return [Item(f"item {at}", cost) for at, cost in enumerate(tokens)]


def test_an_item_has_what_it_was_made_of() -> None:
    moment = datetime.datetime(2025, 1, 1, 12, tzinfo=datetime.timezone.utc)
    item = Item(
        "text",
        3,
        kind="Memory",
        source="Rag",
        priority=-1,
        tags=["a", "b"],
        metadata={"k": "v"},
        timestamp=moment,
        future_relevance_hint=0.5,
        pinned=True,
        original_tokens=9,
    )
    assert (item.content, item.tokens, item.kind, item.source) == ("text", 3, "Memory", "Rag")
    assert (item.priority, item.tags, item.metadata) == (-1, ["a", "b"], {"k": "v"})
    assert (item.timestamp, item.future_relevance_hint) == (moment, 0.5)
    assert (item.pinned, item.original_tokens) == (True, 9)
    assert Item("x", 1, timestamp="2025-01-01T12:00:00").timestamp == moment
    assert repr(item) == 'Item("text", 3)'
    for wrong, code in (({"kind": " "}, "empty_kind"), ({"source": ""}, "empty_source")):
        with pytest.raises(cupel.CupelError) as caught:
            Item("x", 1, **wrong)  # type: ignore[arg-type]
        assert caught.value.code == code
    with pytest.raises(cupel.CupelError, match="moment"):
        Item("x", 1, timestamp="yesterday")


def test_a_budget_checks_its_rules() -> None:
    budget = Budget(100, target_tokens=80, output_reserve=10, reserved_slots={"Memory": 5})
    assert (budget.max_tokens, budget.target_tokens, budget.output_reserve) == (100, 80, 10)
    assert budget.reserved_slots == {"Memory": 5}
    assert budget == Budget(100, target_tokens=80, output_reserve=10, reserved_slots={"Memory": 5})
    with pytest.raises(cupel.CupelError) as caught:
        Budget(-1)
    assert caught.value.code == "invalid_budget"


def test_the_window_holds_the_objects_that_were_handed_in() -> None:
    given = items(5, 5, 5)
    window = Pipeline("recency", "greedy", "chronological").run(given, Budget(10))
    assert all(item is given[at] for item, at in zip(window.items, window.kept))
    assert window.tokens == 10
    positions = [entry["position"] for entry in window.report["excluded"]]
    assert sorted(positions + window.kept) == [0, 1, 2]


def test_a_function_scores() -> None:
    seen: list[tuple[str, int]] = []

    def longest(item: Item, all_items: Sequence[Item]) -> float:
        seen.append((item.content, len(all_items)))
        return float(item.tokens)

    window = Pipeline(longest, Slicer.greedy(), Placer.u_shaped()).run(items(1, 9, 5), Budget(9))
    assert window.kept == [1]
    assert seen == [("item 0", 3), ("item 1", 3), ("item 2", 3)]
    mixed = Pipeline([(longest, 2.0), ("recency", 1.0), (Scorer.scaled(Scorer.custom(longest)), 1)])
    assert mixed.run(items(1, 9, 5), Budget(9)).kept == [1]


def test_what_a_scorer_raises_is_raised_by_the_run() -> None:
    class Mine(Exception):
        pass

    def fails(item: Item, all_items: Sequence[Item]) -> float:
        raise Mine(item.content)

    pipeline = Pipeline(Scorer.composite([(Scorer.recency(), 1.0), (Scorer.custom(fails), 1.0)]))
    for _ in range(2):
        with pytest.raises(Mine, match="item 0"):
            pipeline.run(items(1, 2), Budget(9))
    with pytest.raises(Mine):
        Scorer.custom(fails).score(items(1))
    with pytest.raises(Mine):
        cupel.policy_sensitivity(items(1), Budget(9), {"a": pipeline, "b": Pipeline()})
    # The engine goes on.
    assert Pipeline().run(items(1, 2), Budget(9)).kept == [0, 1]


def test_what_a_scorer_raises_is_raised_in_its_own_thread_alone() -> None:
    raised, done = threading.Event(), threading.Event()

    def fails(item: Item, all_items: Sequence[Item]) -> float:
        if item.content == "bad":
            raise KeyError("bad")
        return 1.0

    def waits(item: Item, all_items: Sequence[Item]) -> float:
        if item.content == "bad":
            raised.set()
            done.wait(30)
        return 1.0

    # While one run has failed and is not over yet, another one of the same pipeline passes.
    pipeline = Pipeline([(fails, 1.0), (waits, 1.0)])
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        bad = threads.submit(pipeline.run, [Item("bad", 1)], Budget(9))
        assert raised.wait(30)
        try:
            assert pipeline.run(items(1, 2), Budget(9)).kept == [0, 1]
        finally:
            done.set()
        with pytest.raises(KeyError):
            bad.result()


def test_a_scorer_may_catch_what_a_run_of_its_own_raises() -> None:
    def fails(item: Item, all_items: Sequence[Item]) -> float:
        raise KeyError(item.content)

    def outer(item: Item, all_items: Sequence[Item]) -> float:
        with pytest.raises(KeyError):
            Pipeline(fails).run([item], Budget(9))
        return 1.0

    assert Pipeline(outer).run(items(1, 2), Budget(9)).kept == [0, 1]


def test_a_scorer_that_returns_nonsense_is_told_so() -> None:
    def nothing(item: Item, all_items: Sequence[Item]) -> float:
        return math.nan

    with pytest.raises(cupel.CupelError) as caught:
        Pipeline(nothing).run(items(1, 2), Budget(9))
    assert caught.value.code == "not-a-number" and '"item 0"' in str(caught.value)
    allowed = Scorer.custom(nothing, allow_nan=True)
    assert Pipeline(allowed).run(items(1, 2), Budget(9)).kept == [0, 1]
    with pytest.raises(TypeError):
        Pipeline(lambda item, all_items: "high").run(items(1), Budget(9))  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError):
        Pipeline(lambda item: 1.0).run(items(1), Budget(9))  # type: ignore[arg-type, misc]


def test_presets_and_descriptions_make_pipelines() -> None:
    for policy in cupel.policies():
        window = Pipeline.from_policy(policy["name"]).run(items(5, 5, 5), Budget(10), query="item 1")
        assert window.tokens <= 10
    described = Pipeline.from_policy(
        {"scorers": ["priority"], "slicer": {"type": "knapsack", "bucket_size": 1}}
    )
    given = [Item("a", 5, priority=1), Item("b", 5, priority=2)]
    assert described.run(given, Budget(5)).kept == [1]
    with pytest.raises(cupel.CupelError) as caught:
        Pipeline.from_policy({"scorers": ["recncy"]})
    assert caught.value.code == "invalid-policy" and "recency" in str(caught.value)


def test_names_that_nobody_knows_are_refused() -> None:
    for arguments in (
        {"scorer": "newest"},
        {"slicer": "all"},
        {"placer": "random"},
        {"scorer": "custom"},
        {"scorer": 3},
    ):
        with pytest.raises(cupel.CupelError) as caught:
            Pipeline(**arguments)  # type: ignore[arg-type]
        assert caught.value.path == next(iter(arguments))
    with pytest.raises(cupel.CupelError, match="overflow_strategy"):
        Pipeline(overflow_strategy="explode")


def test_simulations_answer() -> None:
    given = [
        Item("old", 5, timestamp="2025-01-01T00:00:00Z"),
        Item("new", 5, timestamp="2025-01-02T00:00:00Z"),
    ]
    pipeline = Pipeline("recency")
    assert pipeline.min_budget(given, given[0], 100) == 10
    assert pipeline.marginal(given, Budget(10), 5) == [0]
    with pytest.raises(cupel.DoesNotFitError) as caught:
        pipeline.run([Item("a", 50, pinned=True)], Budget(10))
    assert caught.value.details == {"pinned_tokens": 50, "available": 10}

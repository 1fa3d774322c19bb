"""The engine behind the package: texts in, answers as JSON out."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

__all__ = [
    "VERSION",
    "Budget",
    "Engine",
    "Item",
    "Pipeline",
    "Placer",
    "Replay",
    "Scorer",
    "Selection",
    "Session",
    "Slicer",
    "Step",
    "dumps",
    "handle",
    "models",
    "policies",
    "run_command",
    "select_batch",
]

VERSION: str

def dumps(value: Any) -> str: ...
def handle(text: str) -> str:
    """The handle of a text: what names it for good, as ``renderings`` want it for ``hash``."""

def policies() -> str: ...
def models() -> str: ...
def run_command(arguments: Sequence[str]) -> int: ...
def select_batch(
    requests: Any,
    budgets: Any | None,
    engine: Engine,
    options: str,
    threads: int | None,
) -> tuple[Any, Any]: ...

@final
class Replay:
    def __new__(
        cls,
        policies: Sequence[tuple[str, Engine]],
        budgets: Sequence[int],
        *,
        session: bool = False,
        tokenizer: str | None = None,
        columns: str | None = None,
        threads: int | None = None,
    ) -> Replay: ...
    def push(self, rows: Any) -> tuple[Any, Any]: ...

@final
class Engine:
    def __new__(cls, settings: str, renderers: Sequence[Callable[[str, str], Any]]) -> Engine: ...
    @property
    def policy(self) -> str: ...
    def select(self, request: Any, options: str) -> Selection: ...
    def ask(self, request: Any, question: str) -> str: ...
    def count_texts(self, texts: Sequence[tuple[str, str]]) -> str: ...
    def session(
        self,
        *,
        state: str | None = None,
        cache_lifetime: datetime.timedelta | None = None,
        cache_marks: bool = False,
        resend_share: float | None = None,
    ) -> Session: ...

@final
class Selection:
    @property
    def kept(self) -> list[int]: ...
    @property
    def text(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def is_repaired(self) -> bool: ...
    @property
    def rewritten(self) -> list[tuple[int, str]]: ...
    def answer(self) -> str: ...
    def report(self) -> str: ...
    def explain(self, most_left_out: int) -> str: ...

@final
class Session:
    def next(self, request: Any, options: str, now: int | None) -> Step: ...
    def accept(self) -> bool: ...
    def roll_back(self) -> None: ...
    def state(self) -> str | None: ...

@final
class Step:
    @property
    def kept(self) -> list[int]: ...
    @property
    def text(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def is_repaired(self) -> bool: ...
    @property
    def rewritten(self) -> list[tuple[int, str]]: ...
    def answer(self) -> str: ...

@final
class Item:
    """A candidate: a text, what it costs, and what is known of it."""

    def __new__(
        cls,
        content: str,
        tokens: int,
        *,
        kind: str | None = None,
        source: str | None = None,
        priority: int | None = None,
        tags: Sequence[str] = ...,
        metadata: Mapping[str, str] = ...,
        timestamp: datetime.datetime | str | None = None,
        future_relevance_hint: float | None = None,
        pinned: bool = False,
        original_tokens: int | None = None,
    ) -> Item: ...
    @property
    def content(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def priority(self) -> int | None: ...
    @property
    def tags(self) -> list[str]: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def timestamp(self) -> datetime.datetime | None: ...
    @property
    def future_relevance_hint(self) -> float | None: ...
    @property
    def pinned(self) -> bool: ...
    @property
    def original_tokens(self) -> int | None: ...
    def to_json(self) -> str: ...

@final
class Budget:
    """How much fits, of items."""

    def __new__(
        cls,
        max_tokens: int,
        *,
        target_tokens: int | None = None,
        output_reserve: int = 0,
        reserved_slots: Mapping[str, int] = ...,
        margin_percent: float = 0.0,
    ) -> Budget: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def target_tokens(self) -> int: ...
    @property
    def output_reserve(self) -> int: ...
    @property
    def margin_percent(self) -> float: ...
    @property
    def reserved_slots(self) -> dict[str, int]: ...

@final
class Scorer:
    """Says how good items are."""

    @staticmethod
    def recency() -> Scorer: ...
    @staticmethod
    def priority() -> Scorer: ...
    @staticmethod
    def frequency() -> Scorer: ...
    @staticmethod
    def reflexive() -> Scorer: ...
    @staticmethod
    def kind(weights: Mapping[str, float] | None = None) -> Scorer: ...
    @staticmethod
    def tag(weights: Mapping[str, float], *, caseless: bool = False) -> Scorer: ...
    @staticmethod
    def composite(scorers: Sequence[tuple[Scorer, float]]) -> Scorer: ...
    @staticmethod
    def scaled(inner: Scorer) -> Scorer: ...
    @staticmethod
    def metadata_trust(default_score: float = 0.5) -> Scorer: ...
    @staticmethod
    def metadata_key(key: str, value: str, boost: float) -> Scorer: ...
    @staticmethod
    def decay(
        curve: str,
        steps: Sequence[tuple[float, float]],
        *,
        reference_time: datetime.datetime | str | None = None,
        null_timestamp_score: float = 0.5,
    ) -> Scorer: ...
    @staticmethod
    def custom(function: Callable[[Item, Sequence[Item]], float], *, allow_nan: bool = False) -> Scorer: ...
    def score(self, items: Sequence[Item]) -> list[float]: ...

@final
class Slicer:
    """Says which items fit."""

    @staticmethod
    def greedy() -> Slicer: ...
    @staticmethod
    def knapsack(bucket_size: int = 100) -> Slicer: ...
    @staticmethod
    def quota(quotas: Sequence[tuple[str, float, float]], inner: Slicer | None = None) -> Slicer: ...
    @staticmethod
    def count_quota(
        entries: Sequence[tuple[str, int, int]],
        inner: Slicer | None = None,
        *,
        scarcity: str = "degrade",
    ) -> Slicer: ...
    @staticmethod
    def count_constrained_knapsack(
        entries: Sequence[tuple[str, int, int]],
        *,
        bucket_size: int = 100,
        scarcity: str = "degrade",
    ) -> Slicer: ...
    def slice(
        self, items: Sequence[Item], scores: Sequence[float], budget: Budget
    ) -> tuple[list[int], list[int], list[tuple[str, int, int]]]: ...

@final
class Placer:
    """Says in which order items stand."""

    @staticmethod
    def chronological() -> Placer: ...
    @staticmethod
    def u_shaped() -> Placer: ...
    def place(self, items: Sequence[Item], scores: Sequence[float]) -> list[int]: ...

@final
class Pipeline:
    def __new__(
        cls,
        scorer: Scorer,
        slicer: Slicer,
        placer: Placer,
        *,
        deduplication: bool = True,
        overflow_strategy: str = "throw",
    ) -> Pipeline: ...
    @staticmethod
    def described(policy: str | tuple[str, str]) -> Pipeline: ...
    def run(self, items: Sequence[Item], budget: Budget, query: str) -> tuple[list[int], str]: ...
    def marginal(self, items: Sequence[Item], budget: Budget, slack_tokens: int, query: str) -> list[int]: ...
    def min_budget(
        self, items: Sequence[Item], target: Item, search_ceiling: int, query: str
    ) -> int | None: ...
    @staticmethod
    def sensitivity(
        items: Sequence[Item],
        budget: Budget,
        variants: Sequence[tuple[str, Pipeline]],
        query: str,
    ) -> str: ...

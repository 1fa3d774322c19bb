"""Columns of requests: Arrow in, Arrow out, for data at rest.

>>> import pyarrow
>>> from cupel_context.arrow import select_batch
>>> table = pyarrow.table({"request": ['[{"role": "user", "content": "Hello!"}]', "nonsense"]})
>>> windows = select_batch(table, max_tokens=1_000)
>>> windows.column_names
['window', 'kept', 'tokens_before', 'tokens_after', 'summary', 'error']
>>> windows["kept"].to_pylist(), windows["tokens_after"].to_pylist()
([[0], None], [9, None])
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute

from . import _native, _settings
from ._calls import _engine
from ._engine import Engine
from ._settings import Pin, Policy, Rules

__all__ = ["SCHEMA", "map_batches", "map_replay", "replay_batch", "select_batch"]

SCHEMA = pa.schema(
    [
        ("window", pa.string()),
        ("kept", pa.list_(pa.int64())),
        ("tokens_before", pa.int64()),
        ("tokens_after", pa.int64()),
        ("summary", pa.string()),
        ("error", pa.string()),
    ]
)
"""The columns that come back, all of which may be null."""


def select_batch(
    table: Any,
    max_tokens: int | None = None,
    *,
    request: str | None = None,
    budget: str | None = None,
    keep: Iterable[str] = (),
    policy: Policy = "auto",
    model: str | None = None,
    query: str | None = None,
    pins: Iterable[Pin] = (),
    rules: Rules = (),
    output_reserve: int | None = None,
    tokenizer: str | None = None,
    repair: bool = False,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """The windows of a column of requests, row by row: a table for a table, a batch for a batch.

    ``table`` is a ``pyarrow.Table``, ``RecordBatch``, ``Array`` or ``ChunkedArray``, or anything that
    speaks Arrow's interface for Python, as data frames of pandas and Polars do; a frame or a series of
    Polars comes back as one. ``request`` names the column of requests (``request``, or the only one): JSON,
    or lists and structs of messages. ``budget`` names that of budgets (``budget``, where there is one);
    ``keep`` names columns that are handed on. A row that fails, or whose budget is no number, has an
    ``error``, as JSON, and stops no other.
    """
    engine = engine or _engine(policy, tokenizer, repair)
    options = _settings.options(
        None,
        max_tokens=max_tokens,
        output_reserve=output_reserve,
        model=model,
        query=query,
        pins=pins,
        rules=rules,
    )
    given = _table(table)
    requests, budgets = _columns(given, request, budget)
    kept = list(keep)
    batches = []
    for batch in given.to_batches():
        column = batch.column(requests)
        fits, wrong = (None, {}) if budgets is None else _numbers(batch.column(budgets))
        windows = _windows(_texts(column), fits, engine, _native.dumps(options), threads)
        windows = _with_errors(windows, wrong)
        for at, name in enumerate(kept):
            windows = windows.add_column(at, given.schema.field(name), batch.column(name))
        batches.append(windows)
    schema = pa.schema([*(given.schema.field(name) for name in kept), *SCHEMA])
    whole = pa.Table.from_batches(batches, schema)
    if type(table).__module__.partition(".")[0] == "polars":
        return _polars(table, whole)
    return _one_batch(whole) if isinstance(table, pa.RecordBatch) else whole


def map_batches(**options: Any) -> Any:
    """``select_batch`` for an iterator of batches, as Spark's ``mapInArrow`` hands them out."""

    def selected(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield select_batch(batch, **options)

    return selected


def replay_batch(
    table: Any,
    max_tokens: int | Iterable[int] = (),
    *,
    row: str | None = None,
    keep: Iterable[str] = (),
    policies: Iterable[str] = ("auto",),
    session: bool = False,
    shorten: str | None = None,
    tokenizer: str | None = None,
    columns: str | None = None,
    threads: int | None = None,
) -> Any:
    """Windows of the requests in rows of a log, as ``cupel replay --output`` writes it.

    ``row`` names the column of rows as JSON, in any of the formats that ``cupel replay`` reads (``row``, or
    the only one). There is a result for each request and policy, anew and with ``session`` also in a
    session; ``keep`` names columns that are handed on to the results of their row. What was sent before in
    a conversation is looked for in the table alone; for a log in pieces see ``map_replay``.
    """
    options = _replay_options(max_tokens, policies, session, shorten, tokenizer, columns, threads)
    return _replayed(table, _native.Replay(*options[0], **options[1]), row, list(keep), 0)[0]


def map_replay(
    max_tokens: int | Iterable[int] = (),
    *,
    row: str | None = None,
    keep: Iterable[str] = (),
    policies: Iterable[str] = ("auto",),
    session: bool = False,
    shorten: str | None = None,
    tokenizer: str | None = None,
    columns: str | None = None,
    threads: int | None = None,
) -> Any:
    """``replay_batch`` for an iterator of batches, as Spark's ``mapInArrow`` hands them out: what was sent
    before in a conversation is remembered from batch to batch."""
    kept = list(keep)

    def replayed(batches: Iterator[Any]) -> Iterator[Any]:
        options = _replay_options(max_tokens, policies, session, shorten, tokenizer, columns, threads)
        replay, seen = _native.Replay(*options[0], **options[1]), 0
        for batch in batches:
            results, seen = _replayed(batch, replay, row, kept, seen)
            yield results

    return replayed


def _replay_options(
    max_tokens: int | Iterable[int],
    policies: Iterable[str],
    session: bool,
    shorten: str | None,
    tokenizer: str | None,
    columns: str | None,
    threads: int | None,
) -> tuple[tuple[Any, Any], dict[str, Any]]:
    budgets = [max_tokens] if isinstance(max_tokens, int) else list(max_tokens)
    engines = [
        (name, Engine(policy=name, tokenizer=tokenizer, shorten=shorten)._native) for name in policies
    ]
    named = {"session": session, "tokenizer": tokenizer, "columns": columns, "threads": threads}
    return (engines, budgets), named


def _replayed(
    table: Any, replay: _native.Replay, row: str | None, keep: list[str], seen: int
) -> tuple[Any, int]:
    """The results of a table's rows, and how many rows there have been."""
    given = _table(table)
    names: list[str] = given.column_names
    if row is None:
        row = names[0] if len(names) == 1 else "row"
    if row not in names:
        raise _unknown("row", row, names)
    batches, schema = [], None
    empty = pa.RecordBatch.from_pylist([], schema=given.schema)
    for batch in given.to_batches() or [empty]:
        pointers = replay.push(_texts(batch.column(row)))
        results = pa.RecordBatch._import_from_c_capsule(*pointers)
        places = pa.compute.subtract(results.column("row"), seen + 1)
        for at, name in enumerate(keep):
            results = results.add_column(at, given.schema.field(name), batch.column(name).take(places))
        seen += batch.num_rows
        batches.append(results)
        schema = results.schema
    whole = pa.Table.from_batches(batches, schema)
    return (_one_batch(whole) if isinstance(table, pa.RecordBatch) else whole), seen


def _windows(
    requests: Any, budgets: Any, engine: Engine, options: str, threads: int | None
) -> Any:
    schema, array = _native.select_batch(requests, budgets, engine._native, options, threads)
    return pa.RecordBatch._import_from_c_capsule(schema, array)


def _table(given: Any) -> Any:
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if isinstance(given, (pa.Array, pa.ChunkedArray)):
        return pa.table({"request": given})
    if not hasattr(given, "columns") and hasattr(given, "__arrow_c_stream__"):
        # A column by itself, as a series of Polars.
        return pa.table({"request": pa.chunked_array(given)})
    return pa.table(given)


def _polars(given: Any, windows: Any) -> Any:
    """The windows as Polars has them: a frame, or a series of structs for a series."""
    import polars

    frame = polars.DataFrame(windows)
    return frame if isinstance(given, polars.DataFrame) else frame.to_struct(given.name)


def _columns(table: Any, request: str | None, budget: str | None) -> tuple[int, int | None]:
    names: list[str] = table.column_names
    if request is None:
        request = names[0] if len(names) == 1 else "request"
    if request not in names:
        raise _unknown("request", request, names)
    if budget is None:
        return names.index(request), names.index("budget") if "budget" in names else None
    if budget not in names:
        raise _unknown("budget", budget, names)
    return names.index(request), names.index(budget)


def _unknown(what: str, name: str, names: list[str]) -> Exception:
    from ._errors import CupelError

    known = ", ".join(names)
    return CupelError(f"{what}: there is no column `{name}`; there are {known}", path=what)


def _texts(column: Any) -> Any:
    """Texts of every width are read as they are; dictionaries are taken apart, messages written as JSON."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        # Views cannot be looked up by an index.
        is_view = kind.value_type == pa.string_view()
        known = column.dictionary.cast(pa.large_string()) if is_view else column.dictionary
        return _texts(known.take(column.indices))
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_nested(kind):
        written = [None if row is None else _json(row) for row in column.to_pylist()]
        return pa.array(written, pa.large_string())
    if pa.types.is_binary_view(kind) or pa.types.is_fixed_size_binary(kind):
        return column.cast(pa.large_binary())
    return column


def _json(row: Any) -> str:
    return json.dumps(_said(row), ensure_ascii=False, default=str)


def _said(value: Any) -> Any:
    """A value without the fields that nobody set: a struct has those of all of its rows."""
    if isinstance(value, dict):
        return {name: _said(one) for name, one in value.items() if one is not None}
    return [_said(one) for one in value] if isinstance(value, list) else value


def _numbers(column: Any) -> tuple[Any, dict[int, Any]]:
    """Budgets as whole numbers, and the cells that are none, by their rows."""
    if column.type in (pa.int32(), pa.int64()):
        return column, {}
    try:
        return column.cast(pa.int64()), {}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        cells = column.to_pylist()
    numbers = [_number(cell) for cell in cells]
    wrong = {at: cell for at, cell in enumerate(cells) if numbers[at] is None and cell is not None}
    # A row whose budget is wrong has no window: it must not get that of a row that has none.
    told = [-1 if at in wrong else number for at, number in enumerate(numbers)]
    return pa.array(told, pa.int64()), wrong


def _number(cell: Any) -> int | None:
    try:
        number = int(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    is_same = isinstance(cell, str) or number == cell
    return number if is_same and abs(number) < 2**63 else None


def _with_errors(windows: Any, wrong: dict[int, Any]) -> Any:
    """The windows, where the rows with wrong budgets say so."""
    if not wrong:
        return windows
    errors = windows.column("error").to_pylist()
    for at, cell in wrong.items():
        rule = f"must be a whole number of tokens, got {cell!r}"
        told = {"code": "invalid-argument", "rule": rule, "path": "budget"}
        errors[at] = json.dumps({"schema": "cupel/1", **told})
    return windows.set_column(windows.schema.get_field_index("error"), "error", pa.array(errors, pa.string()))


def _one_batch(table: Any) -> Any:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)

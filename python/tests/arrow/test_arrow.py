"""Columns of requests: Arrow, pandas, Polars, DuckDB and Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import cupel_context as cupel
import cupel_context.arrow
import pyarrow as pa
import pytest
from cupel_context.arrow import SCHEMA, map_batches, select_batch


def request(n: int) -> str:
    messages = [
        {
            "role": "user" if at % 2 == 0 else "assistant",
            "content": f"Note {at} of talk {n}: the tide is {at * n % 13}.",
        }
        for at in range(21)
    ]
    return json.dumps(messages)


REQUESTS = [request(n) for n in range(40)]


def check(windows: list[dict[str, Any]], budgets: list[int]) -> None:
    """What each row holds is what the package selects by itself."""
    assert len(windows) == len(budgets)
    for row, text, budget in zip(windows, REQUESTS, budgets):
        alone = cupel.select(text, max_tokens=budget)
        assert row["window"] == alone.text
        assert list(row["kept"]) == alone.kept
        assert row["tokens_after"] == alone.tokens <= budget < row["tokens_before"]
        assert json.loads(row["summary"]) == alone.summary
        assert row["error"] is None


def test_a_table_comes_back_as_a_table() -> None:
    table = pa.table({"request": REQUESTS})
    windows = select_batch(table, max_tokens=200)
    assert windows.schema == SCHEMA
    check(windows.to_pylist(), [200] * 40)


def test_a_batch_comes_back_as_a_batch() -> None:
    batch = pa.RecordBatch.from_pydict({"request": REQUESTS, "id": list(range(40))})
    windows = select_batch(batch, max_tokens=200, keep=["id"])
    assert isinstance(windows, pa.RecordBatch)
    assert windows.schema.names == ["id", *SCHEMA.names]
    assert windows.column("id").to_pylist() == list(range(40))
    check(windows.to_pylist(), [200] * 40)


def test_each_row_may_have_its_budget() -> None:
    budgets = [100 + 4 * n for n in range(40)]
    table = pa.table({"request": REQUESTS, "budget": pa.array(budgets, pa.int32())})
    check(select_batch(table).to_pylist(), budgets)
    other = pa.table({"text": REQUESTS, "room": pa.array(budgets, pa.uint16())})
    check(select_batch(other, request="text", budget="room").to_pylist(), budgets)
    mixed = pa.table({"request": REQUESTS[:2], "budget": [None, 150]})
    after = select_batch(mixed, max_tokens=120)["tokens_after"].to_pylist()
    assert after[0] <= 120 < after[1] <= 150


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()]
)
def test_texts_of_every_width_are_read(kind: pa.DataType) -> None:
    column = pa.array(REQUESTS).cast(kind) if kind != pa.string_view() else pa.array(REQUESTS, kind)
    check(select_batch(column, max_tokens=200).to_pylist(), [200] * 40)
    # Slices and chunks begin anywhere.
    halves = pa.chunked_array([column[:7], column[7:]])
    check(select_batch(halves, max_tokens=200).to_pylist(), [200] * 40)


def test_dictionaries_are_texts_too() -> None:
    column = pa.array(REQUESTS).dictionary_encode()
    check(select_batch(column, max_tokens=200).to_pylist(), [200] * 40)


def test_one_bad_row_stops_nothing() -> None:
    table = pa.table({"request": [REQUESTS[0], "nonsense", None, '{"messages": 3}', REQUESTS[4]]})
    rows = select_batch(table, max_tokens=200).to_pylist()
    errors = [None if row["error"] is None else json.loads(row["error"]) for row in rows]
    assert [error and error["code"] for error in errors] == [
        None,
        "malformed-request",
        None,
        "malformed-request",
        None,
    ]
    assert errors[3]["path"] == "messages"
    assert [row["window"] is None for row in rows] == [False, True, True, True, False]
    small = select_batch(table, max_tokens=1).to_pylist()
    assert json.loads(small[0]["error"])["code"] == "does-not-fit"
    broken = pa.array([b"\xff\xfe"], pa.binary())
    assert "UTF-8" in select_batch(broken, max_tokens=9).to_pylist()[0]["error"]


def test_nothing_gives_nothing() -> None:
    empty = pa.table({"request": pa.array([], pa.string())})
    assert select_batch(empty, max_tokens=9).schema == SCHEMA
    batch = pa.RecordBatch.from_pydict({"request": pa.array([], pa.string())})
    assert select_batch(batch, max_tokens=9).num_rows == 0


def test_what_is_no_column_of_requests_is_refused() -> None:
    with pytest.raises(cupel.CupelError, match="texts"):
        select_batch(pa.table({"request": [1, 2]}), max_tokens=9)
    with pytest.raises(cupel.CupelError, match="no column `text`"):
        select_batch(pa.table({"request": REQUESTS}), request="text", max_tokens=9)
    with pytest.raises(cupel.CupelError, match="no column `room`"):
        select_batch(pa.table({"request": REQUESTS}), budget="room")


def test_any_number_of_threads_gives_the_same_bytes() -> None:
    table = pa.table({"request": REQUESTS})
    tables = [select_batch(table, max_tokens=200, threads=threads) for threads in (1, 2, 7, 64)]
    assert all(one.equals(tables[0]) for one in tables)


LOG = json.dumps(
    [
        {"role": "user", "content": "Is all well?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "log", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "tick\n" * 200},
    ]
)


def test_what_a_function_raises_is_the_error_of_its_row() -> None:
    def fails(text: str, tool: str) -> str:
        raise ZeroDivisionError(tool)

    engine = cupel.Engine(max_tokens=60, renderers=[fails])
    rows = select_batch(
        pa.array([REQUESTS[0], LOG] * 4), max_tokens=200, engine=engine, threads=3
    ).to_pylist()
    assert [row["window"] is None for row in rows] == [False, True] * 4
    error = json.loads(rows[1]["error"])
    assert error["code"] == "renderer-failed" and "ZeroDivisionError" in error["rule"]


def test_after_ctrl_c_no_row_is_begun() -> None:
    program = textwrap.dedent(
        """
        import json, signal, sys, time
        import pyarrow as pa
        import cupel_context as cupel
        from cupel_context.arrow import select_batch
        signal.signal(signal.SIGINT, signal.default_int_handler)
        log = json.loads(sys.argv[1])
        calls = []
        def slow(text, tool):
            calls.append(text)
            if len(calls) == 3:
                print("ready", flush=True)
            time.sleep(0.01)
        rows = []
        for n in range(3_000):
            log[2]["content"] = f"tick {n} " * 200
            rows.append(json.dumps(log))
        try:
            select_batch(pa.array(rows), engine=cupel.Engine(max_tokens=9_000, renderers=[slow]), threads=2)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        time.sleep(0.3)
        before = len(calls)
        time.sleep(0.3)
        print(len(calls) - before, before < 3_000, flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program, LOG], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out.splitlines() == ["interrupted", "0 True"]


def test_the_memory_of_a_column_is_given_back() -> None:
    before = pa.total_allocated_bytes()
    for _ in range(20):
        select_batch(pa.table({"request": REQUESTS}), max_tokens=200)
    assert pa.total_allocated_bytes() <= before + 1_000_000


def test_pandas_frames_go_in_and_out() -> None:
    import pandas as pd

    frame = pd.DataFrame({"request": REQUESTS, "budget": [200] * 40})
    windows = select_batch(pa.Table.from_pandas(frame)).to_pandas()
    assert windows["tokens_after"].max() <= 200
    check(select_batch(frame).to_pylist(), [200] * 40)


def test_polars_maps_batches() -> None:
    import polars as pl

    frame = pl.DataFrame({"request": REQUESTS})

    def fitted(batch: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame(select_batch(batch.to_arrow(), max_tokens=200))

    lazy = frame.lazy().map_batches(fitted, schema=fitted(frame.head(0)).schema)
    check(lazy.collect().to_dicts(), [200] * 40)


def test_duckdb_calls_it_as_a_function() -> None:
    import duckdb

    connection = duckdb.connect()
    connection.create_function("fit", fit_column, ["VARCHAR", "INTEGER"], "VARCHAR", type="arrow")
    connection.register("talks", pa.table({"n": list(range(40)), "request": REQUESTS}))
    rows = connection.sql("SELECT fit(request, 200) FROM talks ORDER BY n").fetchall()
    assert [row[0] for row in rows] == [cupel.select(text, max_tokens=200).text for text in REQUESTS]
    # A table in and a table out, with all columns.
    reader = connection.sql("SELECT n, request FROM talks").to_arrow_table()
    windows = select_batch(reader, max_tokens=200, keep=["n"])
    largest = connection.sql("SELECT max(tokens_after) FROM windows").fetchall()
    assert windows.column_names[0] == "n" and largest[0][0] <= 200


def fit_column(requests: pa.ChunkedArray, budgets: pa.ChunkedArray) -> pa.ChunkedArray:
    return select_batch(pa.table({"request": requests, "budget": budgets}))["window"]


def test_polars_takes_it_as_it_is() -> None:
    import functools

    import polars as pl

    fit = functools.partial(select_batch, max_tokens=200)
    frame = pl.DataFrame({"request": REQUESTS})
    assert isinstance(fit(frame), pl.DataFrame)
    lazy = frame.lazy().map_batches(fit, schema=fit(frame.head(0)).schema)
    check(lazy.collect().to_dicts(), [200] * 40)
    # A categorical column, and an expression.
    check(fit(frame.cast(pl.Categorical)).to_dicts(), [200] * 40)
    made = frame.select(pl.col("request").map_batches(fit, return_dtype=fit(frame["request"]).dtype))
    check(made.unnest("request").to_dicts(), [200] * 40)


def test_duckdb_goes_on_behind_a_bad_row() -> None:
    import duckdb

    connection = duckdb.connect()

    def fit(column: Any) -> Any:
        return select_batch(column, max_tokens=200)["window"]

    connection.create_function("fit", fit, ["VARCHAR"], "VARCHAR", type="arrow", null_handling="special")
    rows = pa.table({"n": [0, 1, 2], "request": [REQUESTS[0], "nonsense", None]})
    connection.register("talks", rows)
    told = connection.sql("SELECT fit(request) FROM talks ORDER BY n").fetchall()
    assert [row[0] for row in told] == [cupel.select(REQUESTS[0], max_tokens=200).text, None, None]


def test_a_bad_budget_stops_no_other_row() -> None:
    for budgets in (["200", "many", None], [200.0, 1.5, None]):
        table = pa.table({"request": REQUESTS[:3], "budget": pa.array(budgets)})
        rows = select_batch(table, max_tokens=200).to_pylist()
        check(rows[:1], [200])
        assert rows[1]["window"] is None and rows[2]["window"] is not None
        error = json.loads(rows[1]["error"])
        assert error["path"] == "budget" and str(budgets[1]) in error["rule"]


def test_columns_of_other_types_are_read() -> None:
    messages = [json.loads(text) for text in REQUESTS]
    nested = select_batch(pa.table({"request": messages}), max_tokens=200).to_pylist()
    alone = [cupel.select(one, max_tokens=200) for one in messages]
    assert [row["kept"] for row in nested] == [one.kept for one in alone]
    whole = [{"model": "gpt-4o", "messages": one} for one in messages]
    rows = select_batch(pa.table({"request": whole}), max_tokens=200).to_pylist()
    assert [row["kept"] for row in rows] == [one.kept for one in alone]
    view = pa.array([text.encode() for text in REQUESTS], pa.binary_view())
    check(select_batch(view, max_tokens=200).to_pylist(), [200] * 40)
    nothing = select_batch(pa.table({"request": pa.nulls(2)}), max_tokens=200).to_pylist()
    assert [row["window"] for row in nothing] == [None, None]


def test_examples_in_the_docstring_hold() -> None:
    import doctest

    ran = doctest.testmod(cupel_context.arrow)
    assert ran.attempted > 0 and ran.failed == 0


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("cupel")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_spark_maps_it_in_arrow(spark: Any) -> None:
    rows = [(n, text, 200) for n, text in enumerate(REQUESTS)] + [(40, "nonsense", 200)]
    frame = spark.createDataFrame(rows, "n int, request string, budget int").repartition(4)
    schema = "n int, window string, kept array<bigint>, tokens_before bigint, tokens_after bigint, summary string, error string"
    made = frame.mapInArrow(map_batches(keep=["n"], threads=1), schema).orderBy("n").collect()
    assert json.loads(made[40]["error"])["code"] == "malformed-request"
    check([row.asDict() for row in made[:40]], [200] * 40)
    assert made[7]["n"] == 7

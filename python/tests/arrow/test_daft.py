"""Daft, by way of Arrow."""

from __future__ import annotations

import daft
import pyarrow as pa
from cupel_context.arrow import select_batch
from test_arrow import REQUESTS, check


@daft.udf(return_dtype=daft.DataType.string())
def fit(requests: daft.Series) -> pa.Array:
    return select_batch(requests.to_arrow(), max_tokens=200)["window"].combine_chunks()


def test_daft_calls_it_as_a_function() -> None:
    frame = daft.from_arrow(pa.table({"n": list(range(40)), "request": REQUESTS}))
    made = frame.with_column("window", fit(frame["request"])).sort("n").to_arrow()
    whole = select_batch(made.select(["request"]), max_tokens=200)
    assert made["window"].to_pylist() == whole["window"].to_pylist()
    check(whole.to_pylist(), [200] * 40)


def test_daft_tables_are_arrow_tables() -> None:
    frame = daft.from_arrow(pa.table({"request": REQUESTS}))
    check(select_batch(frame.to_arrow(), max_tokens=200).to_pylist(), [200] * 40)

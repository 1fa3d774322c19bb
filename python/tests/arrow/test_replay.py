"""Rows of logs, replayed: the same numbers as the command, in one table, in pieces and on Spark."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cupel_context as cupel
import pyarrow as pa
import pytest
from cupel_context.arrow import map_replay, replay_batch

ROOT = Path(__file__).resolve().parents[3]
LANGSMITH = ROOT / "examples" / "logs" / "langsmith.jsonl"
ROWS = LANGSMITH.read_text().splitlines()


def figures(results: Any) -> dict[tuple[str, bool, int], tuple[int, int, int, int, int]]:
    """Requests, tokens, uncached tokens, found and used values of each way."""
    sums: dict[tuple[str, bool, int], tuple[int, int, int, int, int]] = {}
    for row in results.to_pylist():
        way = (row["policy"], row["in_session"], row["budget"])
        more = (1, row["tokens"] or 0, row["uncached"] or 0, row["found"] or 0, row["used"] or 0)
        sums[way] = tuple(a + b for a, b in zip(sums.get(way, (0,) * 5), more))  # type: ignore[assignment]
    return sums


def expected(**options: Any) -> dict[tuple[str, bool, int], tuple[int, int, int, int, int]]:
    return figures(replay_batch(pa.table({"row": ROWS}), **options))


OPTIONS: dict[str, Any] = {
    "max_tokens": [300, 400],
    "policies": ["auto", "chat"],
    "session": True,
    "tokenizer": "estimate",
}


def test_a_table_of_rows_gives_a_result_for_each_request_and_way() -> None:
    table = pa.table({"row": ROWS, "id": list(range(len(ROWS)))})
    results = replay_batch(table, 300, keep=["id"], tokenizer="estimate")
    assert results.num_rows == 18
    assert results["id"].to_pylist() == list(range(1, 19)), "the first row is no call of a model"
    windows = [row for row in results.to_pylist() if row["fits"]]
    assert len(windows) == 15, "what must be kept of three requests is larger"
    assert all(row["kept"] and row["tokens"] <= 300 for row in windows)
    assert any(row["reasons"] for row in windows), "why something was left out"
    broken = replay_batch(pa.table({"row": ["nonsense", ROWS[1]]}), 300)
    assert "is not JSON" in broken["problem"].to_pylist()[0]
    with pytest.raises(cupel.CupelError, match="no column `text`"):
        replay_batch(table, 300, row="text")


def test_pieces_give_what_the_whole_gives() -> None:
    replayed = map_replay(**OPTIONS)
    batches = [pa.RecordBatch.from_pydict({"row": ROWS[at : at + 5]}) for at in range(0, len(ROWS), 5)]
    assert figures(pa.Table.from_batches(replayed(iter(batches)))) == expected(**OPTIONS)
    one = expected(**OPTIONS, threads=1)
    assert one == expected(**OPTIONS, threads=7)


def test_the_command_gives_the_same_numbers() -> None:
    """With a command that has `replay`, which the wheel's has not: its path is in CUPEL_REPLAY."""
    command = os.environ.get("CUPEL_REPLAY")
    if command is None:
        pytest.skip("CUPEL_REPLAY names no command")
    words = ["replay", str(LANGSMITH), "--max", "300,400", "--policy", "auto", "--policy", "chat"]
    words += ["--session", "--tokenizer", "estimate", "--json"]
    told = json.loads(subprocess.run([command, *words], capture_output=True, check=True).stdout)
    of_command = {
        (way["policy"], way["in_session"], way["budget_tokens"]): (
            way["windows"] + way["does_not_fit"],
            way["sent"]["tokens"],
            way["sent"]["uncached_tokens"],
            way["coverage"]["found"],
            way["coverage"]["used"],
        )
        for way in told["ways"]
    }
    assert of_command == expected(**OPTIONS)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def test_spark_gives_the_same_numbers(spark: Any) -> None:
    path = ROOT / "python" / "examples" / "cupel_spark_replay.py"
    specification = importlib.util.spec_from_file_location("cupel_spark_replay", path)
    assert specification is not None and specification.loader is not None
    program = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(program)
    results = program.replay(spark, str(LANGSMITH), "extra.metadata.thread_id", **OPTIONS)
    rows = program.summary(results).collect()
    made = {
        (row["policy"], row["in_session"], row["budget"]): (
            row["requests"],
            row["tokens"],
            row["uncached"],
            row["found"],
            row["used"],
        )
        for row in rows
    }
    assert made == expected(**OPTIONS)

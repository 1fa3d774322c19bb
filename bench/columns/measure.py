"""Requests a second: the command's batch mode, Arrow, DuckDB and Spark, on the same data.

    bench/columns/run [ROWS]     makes an environment and measures there

Every way reads the same requests and makes the same windows, which is checked before anything is timed.
Spark's start is not counted; its workers are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from cupel_context.arrow import map_batches, select_batch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "bench"))

from speed import messages

BUDGET = 1_500


def requests(count: int) -> list[str]:
    """Conversations of 48 messages, each with a number of its own in every text."""
    plain = messages(48)
    made = []
    for row in range(count):
        changed = [
            {**one, "content": f"{one['content']} [{row}]"}
            if one["content"] and one["role"] != "tool"
            else one
            for one in plain
        ]
        made.append(json.dumps(changed, separators=(",", ":")))
    return made


def fastest(ways: dict[str, Callable[[], Any]], rounds: int = 4) -> dict[str, float]:
    """The fastest round of each, in seconds; interleaved, so that all meet the same other work."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            best[name] = min(best[name], time.perf_counter() - began)
    return best


def command(file: Path) -> list[str]:
    """The windows that the command writes."""
    script = Path(sysconfig.get_path("scripts")) / "cupel-context"
    ran = subprocess.run([script, "select", "--lines", file, "--max", str(BUDGET)], capture_output=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr.decode())
    return ran.stdout.decode().splitlines()


def arrow(table: pa.Table) -> list[str]:
    """The windows that `select_batch` makes."""
    return select_batch(table, max_tokens=BUDGET)["window"].to_pylist()


def duckdb_way(table: pa.Table) -> Callable[[str], list[Any]]:
    """What a query over the windows says."""
    import duckdb

    def fit(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return select_batch(column, max_tokens=BUDGET)["window"]

    connection = duckdb.connect()
    connection.create_function("fit", fit, ["VARCHAR"], "VARCHAR", type="arrow")
    connection.register("talks", table)

    def way(of_window: str) -> list[Any]:
        return [row[0] for row in connection.sql(f"SELECT {of_window} FROM talks").fetchall()]

    return way


def spark_way(file: Path) -> Any:
    """The windows as a frame of Spark, which nobody has asked for yet."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.files.maxPartitionBytes", "1m")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    counts = "tokens_before bigint, tokens_after bigint"
    schema = f"window string, kept array<bigint>, {counts}, summary string, error string"
    return session.read.parquet(str(file)).mapInArrow(map_batches(max_tokens=BUDGET, threads=1), schema)


def main() -> None:
    """Checks that all ways make the same windows, times them, and prints a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    texts = requests(count)
    table = pa.table({"request": texts})
    with tempfile.TemporaryDirectory() as folder:
        lines, column = Path(folder) / "requests.jsonl", Path(folder) / "requests.parquet"
        lines.write_text("\n".join(texts) + "\n", encoding="utf-8")
        pq.write_table(table, column, row_group_size=max(1, count // 4))
        spark, query = spark_way(column), duckdb_way(table)
        windows = arrow(table)
        others = {
            "the command": command(lines),
            "DuckDB": query("fit(request)"),
            "Spark": [row["window"] for row in spark.select("window").collect()],
        }
        for name, made in others.items():
            # Spark reads parts of the file in any order.
            if sorted(made) != sorted(windows):
                sys.exit(f"{name} makes other windows")
        took = fastest(
            {
                "`cupel select --lines`": lambda: command(lines),
                "`cupel_context.arrow.select_batch`": lambda: select_batch(table, max_tokens=BUDGET),
                "DuckDB, Arrow function": lambda: query("sum(length(fit(request)))"),
                "Spark `local[2]`, `mapInArrow`": lambda: spark.write.format("noop").mode("overwrite").save(),
            }
        )
    first = took["`cupel select --lines`"]
    size = sum(map(len, texts)) / 1e6
    print(
        f"{count:,} requests of 48 messages, {size:.1f} MB, to {BUDGET:,} tokens each; {os.cpu_count()} cores"
    )
    print("| way | requests a second | ÷ the command |\n|---|---:|---:|")
    for name, seconds in took.items():
        print(f"| {name} | {count / seconds:,.0f} | {first / seconds:.2f} |")


if __name__ == "__main__":
    main()

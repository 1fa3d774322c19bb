"""What `cupel replay` computes, on Spark: where one machine is not enough.

    spark-submit cupel_spark_replay.py LOGS --max 8000 [--policy auto --policy chat] [--session] \
        [--conversation session_id] [--output results.parquet]

LOGS are JSON lines in any format that `cupel replay` reads, anywhere that Spark reads from. Rows of one
conversation must meet in one partition, in their order: `--conversation` names the field that tells it.
Rows without it are partitioned by file, as the command reads them.
"""

from __future__ import annotations

import argparse
from typing import Any

from cupel_context.arrow import map_replay
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SCHEMA = """
    file string, row_group bigint, row bigint, part bigint, request string, conversation string,
    messages bigint, tokens_before bigint, uncached_before bigint, policy string, in_session boolean,
    budget bigint, fits boolean, changed boolean, kept array<bigint>, tokens bigint, uncached bigint,
    coverage double, used bigint, found bigint, coverage_of_request_before double, shortened bigint,
    fetched_again bigint, reasons array<string>, problem string
"""


def replay(spark: SparkSession, logs: str, conversation: str | None, **options: Any) -> Any:
    """The results of all rows, as a data frame."""
    lines = spark.read.text(logs).select(
        F.col("value").alias("row"),
        F.input_file_name().alias("log"),
        F.monotonically_increasing_id().alias("number"),
    )
    lines = lines.where(F.trim("row") != "")
    if conversation is None:
        together = F.col("log")
    else:
        together = F.coalesce(F.get_json_object("row", f"$.{conversation}"), F.col("log"))
    lines = lines.repartition(together).sortWithinPartitions("number")
    replayed = map_replay(row="row", keep=["log", "number"], threads=1, **options)
    return lines.mapInArrow(replayed, f"log string, number bigint, {SCHEMA}")


def summary(results: Any) -> Any:
    """The figures of each policy and budget, as `cupel replay` prints them."""
    return (
        results.where("policy is not null")
        .groupBy("policy", "in_session", "budget")
        .agg(
            F.count("*").alias("requests"),
            F.sum(F.col("changed").cast("int")).alias("changed"),
            F.sum((~F.col("fits")).cast("int")).alias("does_not_fit"),
            F.sum("tokens").alias("tokens"),
            F.sum("uncached").alias("uncached"),
            F.sum("found").alias("found"),
            F.sum("used").alias("used"),
            F.avg("coverage").alias("coverage"),
        )
        .orderBy("policy", "in_session", "budget")
    )


def main() -> None:
    verbatim = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=verbatim)
    parser.add_argument("logs")
    parser.add_argument("--max", dest="max_tokens", type=int, action="append", required=True)
    parser.add_argument("--policy", dest="policies", action="append")
    parser.add_argument("--session", action="store_true")
    parser.add_argument("--tokenizer")
    parser.add_argument("--conversation")
    parser.add_argument("--output")
    given = parser.parse_args()
    spark = SparkSession.builder.appName("cupel replay").getOrCreate()
    results = replay(
        spark,
        given.logs,
        given.conversation,
        max_tokens=given.max_tokens,
        policies=given.policies or ["auto"],
        session=given.session,
        tokenizer=given.tokenizer,
    )
    if given.output:
        results.write.mode("overwrite").parquet(given.output)
        results = spark.read.parquet(given.output)
    summary(results).show(truncate=False)


if __name__ == "__main__":
    main()

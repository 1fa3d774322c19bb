#!/usr/bin/env python3
"""Throughput and memory of `cupel replay`, beside a pass of DuckDB that only parses the same JSON.

    cargo build --release -p cupel-cli --features replay
    pip install --require-hashes -r requirements/arrow.txt
    bench/replay/run.py                 requests of 100 messages in two sizes; memory from 10^4 to 10^6 rows
    bench/replay/run.py --quick         less of everything
    bench/replay/run.py --rows 10000    memory up to so many rows
    bench/replay/run.py --gigabytes 10  a log of this size, and a row of 200 MB, through less than 500 MB

Ratios count, times do not: the machine that you run it on is not ours. Exit code 1 if the ratio is above
5 or memory grows with the log.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = "the order was sent to depot and will be there before noon please check shelf again with care".split()
PRICE = 0.04
"""Dollars for an hour of a core; an assumption, --core-hour says otherwise."""


def words(source: random.Random, count: int) -> str:
    return " ".join(source.choice(WORDS) for _ in range(count)) + f" PX-{source.randrange(9999)}"


def agent(source: random.Random, messages: int, length: int) -> str:
    """A request of an agent with tools, of so many messages; results are so many words long."""
    made = [{"role": "system", "content": "You are the desk of a parcel service."}]
    made.append({"role": "user", "content": "Where is my parcel PX-7010?"})
    while len(made) + 2 < messages:
        at = len(made)
        function = {"name": "find", "arguments": json.dumps({"id": f"PX-{source.randrange(9999)}"})}
        call = {"id": f"call_{at}", "type": "function", "function": function}
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})
        made.append({"role": "tool", "tool_call_id": f"call_{at}", "content": words(source, length)})
    made.append({"role": "assistant", "content": "It is on its way."})
    made.append({"role": "user", "content": "And when is it here?"})
    return json.dumps({"model": "gpt-4o", "messages": made[:messages]})


def chat(source: random.Random, messages: int, length: int) -> str:
    """A request of a talk, of so many messages of so many words."""
    made = [{"role": "user", "content": "Where is my parcel PX-7010?"}]
    while len(made) < messages - 1:
        role = "assistant" if len(made) % 2 else "user"
        made.append({"role": role, "content": words(source, length)})
    made.append({"role": "user", "content": "And when is it here?"})
    return json.dumps({"model": "gpt-4o", "messages": made})


def write(path: Path, rows: int, made: list[str]) -> None:
    with open(path, "w") as file:
        for at in range(rows):
            # No two rows are the same, and none goes on from another.
            file.write(made[at % len(made)].replace("parcel PX-7010", f"parcel PX-{at}", 1) + "\n")


def pool(kind, messages: int, length: int, size: int = 200) -> list[str]:
    source = random.Random(7)
    return [kind(source, messages, length) for _ in range(size)]


MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)
"""


def ran(words: list[str]) -> tuple[float, int]:
    """The seconds that a core was busy, whatever else the machine does, and the most memory in MB.

    Asked of a small process between: what begins as a copy of a large one is told to have had its memory.
    """
    told = subprocess.run([sys.executable, "-c", MEASURE, *words], stdout=subprocess.PIPE, text=True, check=True)
    code, seconds, megabytes = told.stdout.split()
    if code != "0":
        sys.exit(f"{' '.join(words)}: exit code {code}")
    return float(seconds), int(megabytes)


def replayed(command: str, path: Path, threads: int, more: list[str]) -> tuple[float, int]:
    return ran([command, "replay", str(path), "--tokenizer", "estimate", "--threads", str(threads), "--json", *more])


PARSE = """
import sys, duckdb
base = duckdb.connect()
base.execute("SET threads TO 1")
if len(sys.argv) > 1:
    # Every message is looked at, or nothing would be parsed.
    columns = "{'messages': 'STRUCT(role VARCHAR, content VARCHAR, tool_calls JSON)[]'}"
    text = f"read_json('{sys.argv[1]}', format='newline_delimited', columns={columns})"
    base.execute(f"SELECT sum(len(messages)), sum(len(messages[-1].content)) FROM {text}").fetchall()
"""


def has_duckdb() -> bool:
    return importlib.util.find_spec("duckdb") is not None


def parsed(path: Path) -> float:
    """Seconds that DuckDB takes to parse the same JSON on one thread, its own start aside."""
    start, _ = ran([sys.executable, "-c", PARSE])
    whole, _ = ran([sys.executable, "-c", PARSE, str(path)])
    return max(whole - start, 1e-3)


def as_table(log: Path) -> Path:
    """The same rows as a Parquet file, with the requests as texts."""
    import duckdb

    table = log.with_suffix(".parquet")
    rows = f"SELECT json::VARCHAR AS request FROM read_ndjson_objects('{log}')"
    duckdb.execute(f"COPY ({rows}) TO '{table}' (FORMAT parquet, ROW_GROUP_SIZE 20000)")
    return table


def throughput(command: str, folder: Path, rows: int, price: float, runs: int) -> list[str]:
    """Each the best of so many runs: what else a machine does makes nothing faster."""
    failures = []
    log = folder / "log.jsonl"
    for name, made in [
        ("100 short messages of a talk", pool(chat, 100, 12)),
        ("100 messages of an agent", pool(agent, 100, 145)),
    ]:
        write(log, rows, made)
        size = log.stat().st_size
        seconds, memory = min(replayed(command, log, 1, ["--max", "2000"]) for _ in range(runs))
        rate = rows / seconds
        print(f"{rows:,} requests of {name}, {size / rows / 1e3:.1f} kB each, one thread, estimates, window of 2,000 tokens")
        print(f"  cupel replay        {seconds:7.2f} s   {rate:8,.0f} requests/s   {size / seconds / 1e6:.1f} MB/s   {memory} MB")
        hours = 1e9 / rate / 3600
        print(f"  10^9 of them        {hours:,.0f} core-hours, {hours * price:,.0f} dollars at {price} an hour")
        if not has_duckdb():
            print("  DuckDB is not there: pip install --require-hashes -r requirements/arrow.txt")
            continue
        alone = min(parsed(log) for _ in range(runs))
        print(f"  DuckDB, parsing only{alone:7.2f} s   {rows / alone:8,.0f} requests/s   ratio {seconds / alone:.1f}")
        if seconds / alone > 5:
            failures.append(f"{name}: the ratio is {seconds / alone:.1f}, above 5")
    log.unlink()
    return failures


def memory(command: str, folder: Path, sizes: list[int]) -> list[str]:
    failures = []
    log, results = folder / "log.jsonl", folder / "results.parquet"
    window = ["--max", "60", "--policy", "chat"]
    ways = [("lines", [], False), ("lines, in a session too, results", ["--session", "--output", str(results)], False)]
    if has_duckdb():
        ways.append(("Parquet", [], True))
    peaks: dict[str, list[int]] = {}
    for count in sizes:
        write(log, count, pool(agent, 6, 30))
        for name, flags, is_table in ways:
            path = as_table(log) if is_table else log
            seconds, peak = replayed(command, path, os.cpu_count() or 1, [*window, *flags])
            peaks.setdefault(name, []).append(peak)
            print(f"  {count:9,} rows   {path.stat().st_size / 1e6:7.0f} MB   {seconds:7.2f} s   {peak:4} MB   {name}", flush=True)
    # What may be remembered of conversations is 24 MB, and fills up at first.
    for name, found in peaks.items():
        if found[-1] > found[0] + 200 or found[-1] > 500:
            failures.append(f"{name}: memory grows: {found} MB")
    return failures


def large(command: str, folder: Path, gigabytes: float) -> list[str]:
    log = folder / "log.jsonl"
    made = pool(chat, 12, 1_600, 40)
    write(log, int(gigabytes * 1e9 / len(made[0])), made)
    seconds, peak = replayed(command, log, os.cpu_count() or 1, ["--max", "4k", "--policy", "chat"])
    size = log.stat().st_size / 1e9
    print(f"a log of {size:.1f} GB: {seconds:.0f} core-seconds, {peak} MB")
    log.unlink()
    row = {"messages": [{"role": "user", "content": "x y " * 2_000} for _ in range(25_000)]}
    log.write_text(json.dumps(row) + "\n")
    seconds, at_once = replayed(command, log, 1, ["--max", "4k", "--policy", "chat"])
    print(f"a row of {log.stat().st_size / 1e6:.0f} MB: {seconds:.1f} core-seconds, {at_once} MB")
    return [f"{size:.1f} GB need {peak} MB"] if peak > 500 else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--command", default=str(ROOT / "target" / "release" / "cupel"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--gigabytes", type=float)
    parser.add_argument("--core-hour", type=float, default=PRICE, help="dollars for an hour of a core")
    given = parser.parse_args()
    sizes = [5_000, 20_000] if given.quick else [size for size in (10_000, 100_000, 1_000_000) if size <= given.rows]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.gigabytes:
            failures = large(given.command, folder, given.gigabytes)
        else:
            rows, runs = (1_000, 1) if given.quick else (5_000, 5)
            failures = throughput(given.command, folder, rows, given.core_hour, runs)
            print("memory, requests of 6 messages, policy chat")
            failures += memory(given.command, folder, sizes)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()

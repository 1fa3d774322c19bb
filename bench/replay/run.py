#!/usr/bin/env python3
"""Throughput and memory of `cupel replay`, beside a pass of DuckDB that only parses the same JSON.

    cargo build --release -p cupel-cli --features replay
    pip install duckdb
    bench/replay/run.py                 10,000 requests of 100 messages; memory from 10^4 to 10^6 rows
    bench/replay/run.py --quick         less of everything, below half a minute

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


def request(source: random.Random, messages: int) -> str:
    """A request of an agent with tools, of so many messages."""
    made = [{"role": "system", "content": "You are the desk of a parcel service."}]
    made.append({"role": "user", "content": "Where is my parcel PX-7010?"})
    while len(made) + 2 < messages:
        at = len(made)
        function = {"name": "find", "arguments": json.dumps({"id": f"PX-{source.randrange(9999)}"})}
        call = {"id": f"call_{at}", "type": "function", "function": function}
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})
        said = " ".join(source.choice(WORDS) for _ in range(30)) + f" PX-{source.randrange(9999)}"
        made.append({"role": "tool", "tool_call_id": f"call_{at}", "content": said})
    made.append({"role": "assistant", "content": "It is on its way."})
    made.append({"role": "user", "content": "And when is it here?"})
    return json.dumps({"model": "gpt-4o", "messages": made[:messages]})


def write(path: Path, rows: int, messages: int) -> None:
    source = random.Random(7)
    pool = [request(source, messages) for _ in range(200)]
    with open(path, "w") as file:
        for at in range(rows):
            # No two rows are the same, and none goes on from another.
            file.write(pool[at % len(pool)].replace("parcel PX-7010", f"parcel PX-{at}", 1) + "\n")


def ran(words: list[str]) -> tuple[float, int]:
    """The seconds that a core was busy, whatever else the machine does, and the most memory in MB."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(words)}: exit code {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


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


def parsed(path: Path) -> float | None:
    """Seconds that DuckDB takes to parse the same JSON on one thread, its own start aside."""
    if importlib.util.find_spec("duckdb") is None:
        return None
    start, _ = ran([sys.executable, "-c", PARSE])
    whole, _ = ran([sys.executable, "-c", PARSE, str(path)])
    return max(whole - start, 1e-3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--command", default=str(ROOT / "target" / "release" / "cupel"))
    given = parser.parse_args()
    rows = 2_000 if given.quick else 10_000
    sizes = [5_000, 20_000] if given.quick else [10_000, 100_000, 1_000_000]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        write(log, rows, 100)
        megabytes = log.stat().st_size / 1e6
        seconds, memory = replayed(given.command, log, 1, ["--max", "2000"])
        print(f"{rows:,} requests of 100 messages, {megabytes:.0f} MB, one thread, estimates, window of 2,000 tokens")
        print(f"  cupel replay        {seconds:7.2f} s   {rows / seconds:8,.0f} requests/s   {memory} MB")
        alone = parsed(log)
        if alone is None:
            print("  DuckDB is not there: pip install duckdb")
        else:
            ratio = seconds / alone
            print(f"  DuckDB, parsing only{alone:7.2f} s   {rows / alone:8,.0f} requests/s   ratio {ratio:.1f}")
            if ratio > 5:
                failures.append(f"the ratio is {ratio:.1f}, above 5")
        print("memory, requests of 6 messages, in a session too")
        peaks = []
        for count in sizes:
            write(log, count, 6)
            seconds, memory = replayed(given.command, log, os.cpu_count() or 1, ["--max", "60", "--session"])
            peaks.append(memory)
            print(f"  {count:9,} rows   {log.stat().st_size / 1e6:7.0f} MB   {seconds:7.2f} s   {memory} MB")
        # What may be remembered of conversations is 64 MB, and fills up at first.
        if peaks[-1] > peaks[0] + 250 or peaks[-1] > 500:
            failures.append(f"memory grows: {peaks} MB")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What fitting tools costs and brings: is the tool of the next call still there, and how much more of the messages is?

    cargo build --release -p cupel-cli
    bench/tools/measure.py next DATA          DATA: the folder `bfcl_eval/data` of the package bfcl-eval
    bench/tools/measure.py coverage RUNS.jsonl.gz TOOLS.json...
    bench/tools/measure.py lists TOOLS.json...

`next` goes through the multi-turn conversations of the Berkeley Function-Calling Leaderboard call by call: the request
is what was said and called so far with all functions of the conversation's classes, and the next call of the given answer is
the one that must still be possible. `--shares` says how much of the tokens of all definitions is left for them.

`coverage` puts the tools of MCP servers (files with a list as `tools/list` answers it) before each step of agent runs (messages
in OpenAI's form, steps with `at` and `values`), and asks which of the values that the next call needed are in the window.

`lists` says what each list costs, whole and short. Nothing is written; the exit code is 0.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLASSES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
MODES = ("shorten", "choose")


def command() -> str:
    given = os.environ.get("CUPEL")
    built = [ROOT / "target" / profile / "cupel" for profile in ("release", "pip", "debug")]
    found = given or next((str(path) for path in built if path.exists()), None)
    return found or sys.exit("no command; build it first, or name it in CUPEL")


def asked(arguments: list[str], requests: list[dict]) -> list[dict | None]:
    """What the command answers to each request, by lines."""
    text = "".join(json.dumps(request) + "\n" for request in requests)
    run = subprocess.run([command(), *arguments, "--lines"], input=text, capture_output=True, text=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(requests):
        sys.exit(f"{len(requests)} requests, {len(answers)} answers: {run.stderr[-500:]}")
    return answers


def proper(schema: object) -> object:
    """A schema of the data set as JSON Schema: it says `dict`, `float` and `tuple`."""
    if isinstance(schema, dict):
        kinds = {"dict": "object", "float": "number", "tuple": "array"}
        return {k: kinds.get(v, v) if k == "type" and isinstance(v, str) else proper(v) for k, v in schema.items()}
    return [proper(one) for one in schema] if isinstance(schema, list) else schema


def function(name: str, description: str, parameters: object) -> dict:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def conversations(data: Path) -> Iterator[tuple[list[dict], list[list]]]:
    """Tools, and turns: what the user says, and the calls that answer it."""
    docs = {}
    for name, file in CLASSES.items():
        lines = (data / "multi_turn_func_doc" / f"{file}.json").read_text().splitlines()
        docs[name] = [json.loads(line) for line in lines]
    for file in [data / "BFCL_v4_multi_turn_base.json"]:
        answers = {}
        for line in (data / "possible_answer" / file.name).read_text().splitlines():
            row = json.loads(line)
            answers[row["id"]] = row["ground_truth"]
        for line in file.read_text().splitlines():
            row = json.loads(line)
            left_out = set(row.get("excluded_function") or [])
            tools = [
                function(doc["name"], doc["description"], proper(doc["parameters"]))
                for name in row["involved_classes"]
                for doc in docs[name]
                if doc["name"] not in left_out
            ]
            yield tools, list(zip(row["question"], answers[row["id"]], strict=False))


def arguments(call: ast.Call) -> str:
    values = {f"value_{at}": ast.unparse(value) for at, value in enumerate(call.args)}
    values |= {word.arg or "more": ast.unparse(word.value) for word in call.keywords}
    return json.dumps(values)


def steps(data: Path, every: int) -> Iterator[tuple[dict, str]]:
    """Each request of every so many-th conversation, and the tool that is called next."""
    for tools, turns in list(conversations(data))[::every]:
        messages: list[dict] = []
        for said, calls in turns:
            messages.extend(said)
            for at, text in enumerate(calls):
                call = ast.parse(text, mode="eval").body
                name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
                yield {"tools": tools, "messages": list(messages)}, name
                key = f"call_{len(messages)}_{at}"
                asks = {"name": name, "arguments": arguments(call)}
                messages.append(
                    {"role": "assistant", "content": None, "tool_calls": [{"id": key, "type": "function", "function": asks}]}
                )
                messages.append({"role": "tool", "tool_call_id": key, "content": "done"})
            messages.append({"role": "assistant", "content": "Done."})


def measure_next(data: Path, shares: list[int], every: int) -> None:
    pairs = [pair for pair in steps(data, every) if any(tool["function"]["name"] == pair[1] for tool in pair[0]["tools"])]
    requests = [request for request, _ in pairs]
    whole = asked(["tools", "--json"], requests)
    tools = sum(len(answer["tools"]) for answer in whole) / len(whole)
    tokens = sum(answer["total_tokens"] for answer in whole) / len(whole)
    short = sum(answer["short_tokens"] for answer in whole) / len(whole)
    print(f"{len(pairs)} calls; {tools:.1f} tools a request, {tokens:.0f} tokens, {short:.0f} as short as they can be")
    print("share  mode     next tool there  first calls  tokens  left out")
    for share in shares:
        for mode in MODES:
            answers = asked(["tools", "--json", "--within", f"{share}%", "--tools", mode], requests)
            there, first, firsts, now, out = 0, 0, 0, 0, 0
            for (request, name), answer in zip(pairs, answers, strict=True):
                left = {tool["name"] for tool in answer["fitted"] if tool["fate"] == "left-out"}
                there += name not in left
                if not any(message.get("tool_calls") for message in request["messages"]):
                    firsts, first = firsts + 1, first + (name not in left)
                now += answer["shared_tokens"] + sum(tool["tokens_after"] for tool in answer["fitted"])
                out += len(left)
            count = len(pairs)
            print(
                f"{share:4} %  {mode:8} {100 * there / count:12.1f} %  {100 * first / firsts:9.1f} %"
                f"  {100 * now / count / tokens:4.0f} %  {out / count:8.1f}"
            )


def of_servers(files: list[Path]) -> list[dict]:
    tools = []
    for file in files:
        for tool in json.loads(file.read_text()):
            tools.append(function(f"{file.name.split('.')[0]}_{tool['name']}", tool.get("description", ""), tool["inputSchema"]))
    return tools


def measure_coverage(runs: Path, files: list[Path], budgets: list[int], most: int) -> None:
    tools = of_servers(files)
    with gzip.open(runs, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    requests, needed = [], []
    for row in rows[:most]:
        for step in row["steps"]:
            if step["values"]:
                requests.append({"tools": tools, "messages": row["messages"][: step["at"]]})
                needed.append([value["value"] if isinstance(value, dict) else value for value in step["values"]])
    cost = asked(["tools", "--json"], requests[:1])[0]
    print(f"{len(requests)} steps, {len(tools)} tools of {cost['total_tokens']} tokens ({cost['short_tokens']} as short as they can be)")
    print("budget  tools    coverage  fits  tokens of tools")
    for budget in budgets:
        for mode in ("keep", *MODES):
            windows = asked(["select", "--max", str(budget), "--tools", mode, "--quiet"], requests)
            kept, fits = 0.0, 0
            spent: dict[str, int] = defaultdict(int)
            for values, window in zip(needed, windows, strict=True):
                if window is None:
                    continue
                fits += 1
                text = json.dumps(window["messages"], ensure_ascii=False)
                kept += sum(json.dumps(value, ensure_ascii=False)[1:-1] in text for value in values) / len(values)
                spent["bytes"] += len(json.dumps(window.get("tools", [])))
            count = len(requests)
            whole = len(json.dumps(tools)) * max(fits, 1)
            print(f"{budget:6}  {mode:8} {100 * kept / count:6.1f} %  {100 * fits / count:4.0f} %  {100 * spent['bytes'] / whole:3.0f} %")


def measure_lists(files: list[Path]) -> None:
    said = [{"role": "user", "content": "Hi"}]
    for file in files:
        answer = asked(["tools", "--json"], [{"tools": of_servers([file]), "messages": said}])[0]
        total, short = answer["total_tokens"], answer["short_tokens"]
        print(f"{file.name:28} {len(answer['tools']):3} tools  {total:6} tokens  {short:6} short ({100 * short / total:.0f} %)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("next")
    verb.add_argument("data", type=Path)
    verb.add_argument("--shares", type=int, nargs="+", default=[75, 50, 40, 30, 20, 10])
    verb.add_argument("--every", type=int, default=1, help="of so many conversations one")
    verb = verbs.add_parser("coverage")
    verb.add_argument("runs", type=Path)
    verb.add_argument("tools", type=Path, nargs="+")
    verb.add_argument("--budgets", type=int, nargs="+", default=[8_000, 16_000, 32_000])
    verb.add_argument("--most", type=int, default=1_000, help="so many runs")
    verb = verbs.add_parser("lists")
    verb.add_argument("tools", type=Path, nargs="+")
    given = parser.parse_args()
    if given.verb == "next":
        measure_next(given.data, given.shares, given.every)
    elif given.verb == "coverage":
        measure_coverage(given.runs, given.tools, given.budgets, given.most)
    else:
        measure_lists(given.tools)


if __name__ == "__main__":
    main()

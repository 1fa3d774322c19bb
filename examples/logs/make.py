#!/usr/bin/env python3
"""Writes the samples of this folder: the same three small conversations in every format that `cupel replay` reads.

Needs `pip install --require-hashes -r requirements/arrow.txt`. The samples are in the repository; run this after changing the conversations.
"""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
SYSTEM = "You are the desk of a parcel service. Use the tools; answer in one sentence."
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": what,
            "parameters": {"type": "object", "properties": {field: {"type": "string"}}},
        },
    }
    for name, what, field in [
        ("find_parcel", "Where a parcel is", "parcel"),
        ("open_hours", "When a depot is open", "depot"),
        ("book_slot", "Books a time to fetch a parcel", "slot"),
    ]
]


def talk(number: int) -> list[dict]:
    """A conversation of an agent, as chat messages: each assistant message answers all before it."""
    parcel, depot, slot = f"PX-{7010 + number}", f"depot-{chr(97 + number)}3", f"SLOT-{88 + number}"
    notes = " ".join(f"Shelf {row} of {depot} holds {12 + row} boxes." for row in range(12))

    def call(at: int, name: str, **arguments: str) -> dict:
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{number}_{at}", "type": "function", "function": function}],
        }

    def result(at: int, text: str) -> dict:
        return {"role": "tool", "tool_call_id": f"call_{number}_{at}", "content": text}

    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"Where is my parcel {parcel}? My name is Ann Lee."},
        call(1, "find_parcel", parcel=parcel),
        result(1, json.dumps({"parcel": parcel, "depot": depot, "shelf": f"S{number}-14", "owner": "Ann Lee"})),
        {"role": "assistant", "content": f"Your parcel {parcel} is in {depot}, on shelf S{number}-14."},
        {"role": "user", "content": "What else is stored there? I am curious."},
        call(2, "open_hours", depot=depot),
        result(2, f"{notes} Open from 08:30 to 17:45; slots are {slot}, SLOT-{98 + number}."),
        {"role": "assistant", "content": f"{depot} holds twelve shelves of boxes and is open from 08:30 to 17:45."},
        {"role": "user", "content": "Then book the first slot for me, please."},
        call(3, "book_slot", slot=slot, parcel=parcel),
        result(3, json.dumps({"slot": slot, "booked": True})),
        {"role": "assistant", "content": f"{slot} is booked for {parcel}."},
    ]


def steps(number: int):
    """Request and answer, step by step."""
    messages = talk(number)
    for at, message in enumerate(messages):
        if message["role"] == "assistant":
            yield messages[:at], message


def body(messages: list[dict]) -> dict:
    return {"model": "gpt-4o", "messages": messages, "tools": TOOLS}


def lines(name: str, rows: list[dict], packed: bool = False) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if packed:
        with open(HERE / name, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as pack:
            pack.write(text.encode())
    else:
        (HERE / name).write_text(text)


def all_steps():
    for number in range(3):
        for at, (messages, answer) in enumerate(steps(number)):
            yield number, at, messages, answer


def prompt_tokens(messages: list) -> int:
    """About what a provider counts: four characters a token, and the tools."""
    return 60 + sum(len(str(m)) for m in messages) // 4


def langfuse() -> None:
    rows = [
        {
            "id": f"obs-{number}-{at}",
            "trace_id": f"trace-{number}",
            "type": "GENERATION",
            "name": "desk",
            "start_time": f"2026-03-0{number + 1}T09:0{at}:00Z",
            "provided_model_name": "gpt-4o",
            "session_id": f"session-{number}",
            "input": {"messages": messages, "tools": TOOLS},
            "output": answer,
            "usage_details": {"input": prompt_tokens(messages), "output": 30},
        }
        for number, at, messages, answer in all_steps()
    ]
    rows.insert(1, {"id": "obs-x", "trace_id": "trace-0", "type": "SPAN", "name": "lookup", "input": None, "output": None})
    (HERE / "langfuse.json").write_text(json.dumps(rows, indent=1) + "\n")
    columns = {name: [row.get(name) for row in rows] for name in ("id", "trace_id", "type", "name", "provided_model_name", "session_id")}
    for name in ("input", "output"):
        columns[name] = [None if row[name] is None else json.dumps(row[name]) for row in rows]
    usage = pa.array([list((row.get("usage_details") or {}).items()) for row in rows], pa.map_(pa.string(), pa.int64()))
    pq.write_table(pa.table({**columns, "usage_details": usage}), HERE / "langfuse.parquet", compression="zstd")


def parts(message: dict) -> dict:
    """A message as the conventions of OpenTelemetry write it."""
    if message["role"] == "tool":
        return {"role": "tool", "parts": [{"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}]}
    said = [{"type": "text", "content": message["content"]}] if message["content"] else []
    calls = [
        {"type": "tool_call", "id": c["id"], "name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])}
        for c in message.get("tool_calls", [])
    ]
    return {"role": message["role"], "parts": said + calls}


def attributes(number: int, messages: list[dict], answer: dict) -> dict:
    tools = [{"type": "function", **tool["function"]} for tool in TOOLS]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.conversation.id": f"session-{number}",
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": SYSTEM}]),
        "gen_ai.tool.definitions": json.dumps(tools),
        "gen_ai.input.messages": json.dumps([parts(m) for m in messages[1:]]),
        "gen_ai.output.messages": json.dumps([{**parts(answer), "finish_reason": "stop"}]),
    }


def otel() -> None:
    spans = []
    for number, at, messages, answer in all_steps():
        listed = [{"key": k, "value": {"stringValue": v}} for k, v in attributes(number, messages, answer).items()]
        listed.append({"key": "gen_ai.usage.input_tokens", "value": {"intValue": str(prompt_tokens(messages))}})
        spans.append({"traceId": f"{number:032x}", "spanId": f"{number * 16 + at:016x}", "name": "chat gpt-4o", "attributes": listed})
    web = {"traceId": f"{9:032x}", "spanId": f"{9:016x}", "name": "GET /", "attributes": [{"key": "http.method", "value": {"stringValue": "GET"}}]}
    document = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "desk"}, "spans": [web, *spans]}]}]}
    (HERE / "otlp.json").write_text(json.dumps(document, indent=1) + "\n")
    rows = [{"span_id": f"{n * 16 + at:016x}", **attributes(n, messages, answer), "gen_ai.usage.input_tokens": prompt_tokens(messages)} for n, at, messages, answer in all_steps()]
    pq.write_table(pa.Table.from_pylist(rows), HERE / "otlp.parquet", compression="snappy")


LANGCHAIN = {"system": "SystemMessage", "user": "HumanMessage", "assistant": "AIMessage", "tool": "ToolMessage"}


def langchain(message: dict) -> dict:
    inner = {"content": message["content"] or ""}
    if message.get("tool_calls"):
        inner["tool_calls"] = [
            {"name": c["function"]["name"], "args": json.loads(c["function"]["arguments"]), "id": c["id"], "type": "tool_call"}
            for c in message["tool_calls"]
        ]
    if message["role"] == "tool":
        inner["tool_call_id"] = message["tool_call_id"]
    kind = LANGCHAIN[message["role"]]
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": inner}


def langsmith() -> None:
    rows = [
        {
            "id": f"run-{number}-{at}",
            "name": "ChatOpenAI",
            "run_type": "llm",
            "inputs": {"messages": [[langchain(m) for m in messages]]},
            "outputs": {"generations": [[{"text": answer["content"] or "", "message": langchain(answer)}]]},
            "extra": {"invocation_params": {"model": "gpt-4o", "tools": TOOLS}, "metadata": {"thread_id": f"session-{number}"}},
        }
        for number, at, messages, answer in all_steps()
    ]
    rows.insert(0, {"id": "run-chain", "name": "desk", "run_type": "chain", "inputs": {"question": "?"}, "outputs": {}})
    lines("langsmith.jsonl", rows)
    # A table, as a bulk export writes it: what is nested is JSON in a text.
    columns = {name: [row[name] for row in rows] for name in ("id", "name", "run_type")}
    for name in ("inputs", "outputs", "extra"):
        columns[name] = [json.dumps(row.get(name, {})) for row in rows]
    projects = ["00000000-0000-4000-8000-000000000001"] * len(rows)
    pq.write_table(pa.table({**columns, "session_id": projects, "status": ["success"] * len(rows)}), HERE / "langsmith.parquet", compression="zstd")


def conversations() -> None:
    rows = []
    for number in range(3):
        said = [m for m in talk(number) if m["role"] in ("user", "assistant") and m["content"]]
        rows.append({"conversation_id": f"talk-{number}", "model": "gpt-4o", "turn": len(said) // 2, "language": "English", "conversation": said})
    lines("conversations.jsonl", rows)
    pq.write_table(pa.Table.from_pylist(rows), HERE / "conversations.parquet", compression="gzip")


def agent_runs() -> None:
    rows = []
    for number in range(3):
        messages = talk(number)
        made = []
        for at, message in enumerate(messages):
            if message.get("tool_calls"):
                values = list(json.loads(message["tool_calls"][0]["function"]["arguments"]).values())
                said = json.dumps(messages[1:at])
                made.append({"at": at, "values": [value for value in values if value in said]})
        rows.append({"run": f"desk-{number}", "set": "desk", "messages": messages, "steps": made})
    lines("agent-runs.jsonl", rows)


def main() -> None:
    langfuse()
    otel()
    langsmith()
    conversations()
    agent_runs()
    lines("requests.jsonl", [body(messages) for _, _, messages, _ in all_steps()])
    pairs = [
        {"conversation_id": f"session-{number}", "request": body(messages), "response": {"choices": [{"message": answer}], "usage": {"prompt_tokens": prompt_tokens(messages)}}}
        for number, at, messages, answer in all_steps()
    ]
    lines("pairs.jsonl.gz", pairs, packed=True)


if __name__ == "__main__":
    main()

"""What a client is told by `cupel mcp`. Each function that begins with `test` is given a client; the others are about HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import jsonschema
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

ROOT = Path(__file__).resolve().parents[4]
CUPEL = str(Path(os.environ.get("BUILT", ROOT / "target" / "debug")) / "cupel")
EXAMPLES = ROOT / "examples"
LOG = "".join(f"GET /orders/{number} 200 in {number % 7} ms\n" for number in range(1, 2_000))


def command(*arguments: str, text: str | None = None) -> str:
    done = subprocess.run([CUPEL, *arguments], input=text, capture_output=True, text=True, check=True)
    return done.stdout


async def data(client: Client, tool: str, **arguments: object) -> dict:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


async def texts(client: Client, **arguments: object) -> list[str]:
    answer = await client.call_tool("retrieve", arguments)
    assert not answer.is_error, answer.content
    return [content.text for content in answer.content]


async def error(client: Client, tool: str, **arguments: object) -> dict:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


async def test_the_tools_say_what_they_take(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["retrieve", "explain_context", "count", "fit"]
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        described = tool.input_schema["properties"].items()
        assert not [name for name, schema in described if "description" not in schema], tool.name
        assert tool.annotations.read_only_hint and len(tool.description) > 80
        assert (tool.output_schema is None) == (tool.name == "retrieve")
    assert client.server_info.name == "cupel" and "retrieve" in client.instructions


async def test_counts_are_those_of_the_model(client: Client) -> None:
    # The published example of o200k_base: four tokens.
    assert (await data(client, "count", text="Hello, world!", model="gpt-4o"))["total_tokens"] == 4
    told = await data(client, "count", path="dinner-chat.json", limit=3)
    assert told["total_tokens"] == json.loads(command("count", "--json", str(EXAMPLES / "dinner-chat.json")))["total_tokens"]
    sizes = [part["tokens"] for part in told["parts"]]
    assert len(sizes) == 3 and sizes == sorted(sizes, reverse=True) and told["parts_hidden"] > 0


async def test_a_request_fits_as_the_command_makes_it_fit(client: Client) -> None:
    path = EXAMPLES / "dinner-chat.json"
    selected = command("select", str(path), "--max", "276")
    for source in ({"path": "dinner-chat.json"}, {"request": path.read_text()}):
        fitted = await data(client, "fit", max_tokens=276, **source)
        assert fitted["text"] == selected.removesuffix("\n") or fitted["text"] == selected
        assert fitted["tokens_after"] <= 276 < fitted["tokens_before"]
        assert len(fitted["kept_messages"]) == len(json.loads(fitted["text"])["messages"]) < fitted["messages_before"]
    # As an object it is the same request, whatever the order of its fields.
    as_object = await data(client, "fit", max_tokens=276, request=json.loads(path.read_text()))
    assert json.loads(as_object["text"]) == json.loads(selected)


async def test_what_was_left_out_is_explained_and_had_back(client: Client) -> None:
    told = await data(client, "explain_context", path="dinner-chat.json", max_tokens=276, limit=200)
    assert told["summary"]["tokens_after"] <= 276 and told["left_out_hidden"] == 0
    messages = json.loads((EXAMPLES / "dinner-chat.json").read_text())["messages"]
    kept, left_out = ({row["path"] for row in told[list_]} for list_ in ("kept", "left_out"))
    assert kept.isdisjoint(left_out) and len(kept) + len(left_out) == len(messages)
    for row in told["left_out"]:
        said = messages[int(re.fullmatch(r"messages\[(\d+)\]", row["path"])[1])]["content"]
        assert await texts(client, handle=row["handle"]) == [said]
        assert await texts(client, handle=row["handle"], path="dinner-chat.json") == [said]
    few = await data(client, "explain_context", path="dinner-chat.json", max_tokens=276, limit=2)
    assert len(few["kept"]) == len(few["left_out"]) == 2
    assert few["kept_hidden"] == len(kept) - 2 and few["left_out_hidden"] == len(left_out) - 2


async def test_a_transcript_stands_for_its_last_request(client: Client) -> None:
    path = "transcripts/claude-code.jsonl"
    told = await data(client, "explain_context", path=path, max_tokens=100_000)
    assert told["notes"][0].startswith("a transcript of Claude Code"), told["notes"]
    assert told["kept"] and not told["left_out"]


async def test_a_text_fits_and_the_whole_is_had_back(client: Client) -> None:
    fitted = await data(client, "fit", text=LOG, max_tokens=300)
    assert fitted["tokens_after"] <= 300 and fitted["text"].startswith("GET /orders/1 200")
    counted = await data(client, "count", text=fitted["text"])
    assert counted["total_tokens"] == fitted["tokens_after"]
    handle, whole = fitted["shortened"][0]["handle"], ""
    while True:
        piece, *more = await texts(client, handle=handle, offset=len(whole), max_characters=20_000)
        whole += piece
        assert len(piece) <= 20_000
        if not more or "goes on" not in more[0]:
            break
    assert whole == LOG
    assert await texts(client, handle=handle, max_characters=200_000) == [LOG]
    short = await data(client, "fit", text="as it is", max_tokens=10)
    assert short["text"] == "as it is" and "shortened" not in short
    for tokens in (40, 100, 1_000):
        fitted = await data(client, "fit", text=json.dumps([{"id": at, "name": f"n{at}"} for at in range(900)]), max_tokens=tokens)
        assert fitted["tokens_after"] <= tokens


async def test_errors_say_code_place_and_remedy(client: Client) -> None:
    request = [{"role": "user", "content": "Hi!"}]
    for tool, arguments, code, path in [
        ("count", {"path": "../README.md"}, "path-not-allowed", "path"),
        ("count", {"path": "/etc/passwd"}, "path-not-allowed", "path"),
        ("count", {"path": "none.json"}, "unreadable-file", "path"),
        ("count", {}, "invalid-argument", "request"),
        ("count", {"text": "a", "path": "dinner-chat.json"}, "invalid-argument", "path"),
        ("count", {"request": 3}, "invalid-argument", "request"),
        ("count", {"request": {"messages": 3}}, "malformed-request", "messages"),
        ("count", {"request": request, "format": "opnai-chat"}, "invalid-argument", "format"),
        ("fit", {"request": request, "max_tokens": 1}, "does-not-fit", None),
        ("fit", {"text": LOG, "max_tokens": 2}, "does-not-fit", None),
        ("fit", {"text": LOG, "max_tokens": 0}, "invalid-budget", "max_tokens"),
        ("fit", {"request": request, "max_tokens": 99, "policy": "autp"}, "unknown-policy", None),
        ("fit", {"request": request, "max_tokens": 99, "shorten": "jsno"}, "invalid-argument", "shorten"),
        ("explain_context", {"request": request, "max_tokens": 99, "limit": 9_999}, "invalid-argument", "limit"),
        ("retrieve", {"handle": "cupel:0123456789abcdef"}, "unknown-handle", "handle"),
        ("retrieve", {"handle": "../../etc/passwd"}, "invalid-argument", "handle"),
        ("retrieve", {"handle": "cupel:0123456789abcdef", "max_characters": 0}, "invalid-argument", "max_characters"),
    ]:
        told = await error(client, tool, **arguments)
        assert (told["code"], told.get("path")) == (code, path), (tool, code, told)
        assert told["rule"] and len(json.dumps(told)) < 2_000
        assert told.get("remedy") or "did you mean" in told["rule"] or code == "unreadable-file", (tool, told)
    told = await error(client, "fit", text="a", max_tokns=3)
    assert "did you mean `max_tokens`" in told["rule"], told
    with contextlib.suppress(MCPError):
        raise AssertionError(await client.call_tool("cuont", {"text": "a"}))


async def test_calls_at_the_same_time_are_all_answered(client: Client) -> None:
    counts = await asyncio.gather(*(data(client, "count", text="word " * at, model="gpt-4o") for at in range(1, 40)))
    assert [count["total_tokens"] for count in counts] == sorted(count["total_tokens"] for count in counts)


async def test_nothing_hostile_ends_the_server(client: Client) -> None:
    await error(client, "count", request="[" * 100_000)
    await error(client, "count", request="\0" * 100_000)
    await error(client, "explain_context", path="\0")
    large = json.dumps([{"role": "user", "content": "word " * 400_000}])
    assert (await data(client, "count", request=large))["total_tokens"] > 300_000
    assert (await data(client, "count", text="a"))["total_tokens"] == 1


Test = Callable[[Client], Awaitable[None]]
TESTS: list[Test] = [value for name, value in list(globals().items()) if name.startswith("test_")]


def server(*more: str) -> StdioServerParameters:
    return StdioServerParameters(command=CUPEL, args=["mcp", "--root", str(EXAMPLES), *more])


@contextlib.contextmanager
def over_http(**variables: str) -> Iterator[str]:
    """The address of a server; it must end well when it is told to."""
    command = [CUPEL, "mcp", "--http", "127.0.0.1:0", "--root", str(EXAMPLES)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **variables})
    try:
        told = process.stderr.readline()
        yield re.search(r"http://\S+", told)[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()


def asked(url: str, path: str = "/mcp", body: str | None = None, **headers: str) -> int:
    """The status of a request that no library of the protocol sends."""
    host, port = url.removeprefix("http://").split("/")[0].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    sent = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", path, json.dumps(hello) if body is None else body, {**sent, **headers})
    return connection.getresponse().status


def http_answers_those_alone_that_may_ask() -> None:
    with over_http() as url:
        assert asked(url) == 200
        assert asked(url, "/") == 404
        assert asked(url, origin="https://evil.example") == 403
        assert asked(url, origin="null") == 403
        assert asked(url, host="evil.example") == 403
        assert asked(url, body="{") in (400, 415, 422)
        # Clients that never say what they want keep nobody else from being answered.
        address = url.removeprefix("http://").split("/")[0].split(":")
        idle = [socket.create_connection((address[0], int(address[1]))) for _ in range(20)]
        assert asked(url) == 200
        for one in idle:
            one.close()
    with over_http(CUPEL_MCP_TOKEN="secret") as url:
        assert asked(url) == 401 and asked(url, authorization="Bearer secres") == 401
        assert asked(url, authorization="Bearer secret") == 200


def addresses_that_others_reach_are_refused() -> None:
    for address in ("0.0.0.0:0", "[::]:0"):
        done = subprocess.run([CUPEL, "mcp", "--http", address], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "is no address of this machine alone" in done.stderr, done.stderr
    done = subprocess.run([CUPEL, "mcp", "--root", "/none/such"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "/none/such" in done.stderr, done.stderr


def a_client_that_leaves_is_no_error() -> None:
    done = subprocess.run([CUPEL, "mcp"], input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done


def what_hooks_kept_is_given_back() -> None:
    async def ask(folder: str, handle: str) -> None:
        originals = str(Path(folder) / "originals")
        async with Client(StdioServerParameters(command=CUPEL, args=["mcp", "--originals", originals])) as client:
            assert "".join(await texts(client, handle=handle, max_characters=200_000)) == LOG
            told = await error(client, "count", path=f"originals/{handle[6:]}")
            assert told["code"] == "path-not-allowed"

    said = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_use_id": "toolu_1",
            "tool_response": {"stdout": LOG, "stderr": "", "interrupted": False}}
    with tempfile.TemporaryDirectory() as folder:
        answer = json.loads(command("hook", "--data", folder, text=json.dumps(said)))
        shortened = answer["hookSpecificOutput"]["updatedToolOutput"]
        assert shortened["interrupted"] is False and shortened["stderr"] == "" and len(shortened["stdout"]) < len(LOG) / 4
        asyncio.run(ask(folder, re.search(r"cupel:[0-9a-f]{16}", shortened["stdout"])[0]))


def the_page_is_true() -> None:
    page = (ROOT / "docs" / "mcp.md").read_text()
    [program] = re.findall(r"```python\n(.*?)```", page, re.S)
    [printed] = re.findall(r"```text\n(.*?)```", page, re.S)
    path = f"{Path(CUPEL).parent}:{os.environ['PATH']}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.stdout == printed, done.stdout + done.stderr
    for name in ("retrieve", "explain_context", "count", "fit"):
        assert f"| `{name}` |" in page, name


async def ways() -> AsyncIterator[tuple[str, Client]]:
    for mode in ("auto", "legacy"):
        yield f"stdio, {mode}", Client(server(), mode=mode)
        with over_http() as url:
            yield f"http, {mode}", Client(url, mode=mode)


async def speak(failures: list[str]) -> int:
    passed = 0
    async for way, connecting in ways():
        async with connecting as client:
            for test in TESTS:
                begun = time.monotonic()
                try:
                    await asyncio.wait_for(test(client), 120)
                    passed += 1
                except Exception:
                    failures.append(f"{way}: {test.__name__}\n{traceback.format_exc()}")
                print(f"{way}: {test.__name__} {time.monotonic() - begun:.1f} s", flush=True)
    return passed


def main() -> None:
    failures: list[str] = []
    passed = asyncio.run(speak(failures))
    for test in (
        http_answers_those_alone_that_may_ask,
        addresses_that_others_reach_are_refused,
        a_client_that_leaves_is_no_error,
        what_hooks_kept_is_given_back,
        the_page_is_true,
    ):
        try:
            test()
            passed += 1
        except Exception:
            failures.append(f"{test.__name__}\n{traceback.format_exc()}")
    print(*failures, sep="\n")
    print(f"5 suites: {passed} passed, {len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

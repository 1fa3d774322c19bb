"""A provider that is none, for coding agents: enforces what Anthropic's Messages and OpenAI's Responses take, a limit
in tokens, and each one's rule for its cache; and says the next step of a task, a shell command after the other.

A token is four bytes of a block as JSON. The task is told by the words `TASK of N steps` in a request that has tools;
where they are missing, whoever made the request smaller has lost it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TASK = re.compile(r"TASK of (\d+) steps")
BLOCKS_BACK = 20
"""How far before a mark Anthropic looks for an earlier entry."""
LEAST_CACHED = 1024
PREFIX_STEP = 128
"""OpenAI's cache holds whole steps of so many tokens."""
SHELLS = {"Bash": "command", "exec_command": "cmd", "shell_command": "command", "shell": "command"}


def as_text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def unmarked(block: object) -> object:
    """A block without its mark: a mark that moves changes nothing of what is cached."""
    if isinstance(block, dict):
        return {name: unmarked(value) for name, value in block.items() if name != "cache_control"}
    return [unmarked(value) for value in block] if isinstance(block, list) else block


def thinks(body: dict) -> bool:
    return (body.get("thinking") or {}).get("type") == "enabled"


def signed(thought: str) -> str:
    return hashlib.sha256(b"signed " + thought.encode()).hexdigest()


@dataclass
class Block:
    """A part of a request: its text, and whether a mark stands behind it."""

    text: str
    is_marked: bool = False

    @property
    def tokens(self) -> int:
        return len(self.text.encode()) // 4 + 1


@dataclass
class Asked:
    """What a request came to."""

    tokens: int
    cached: int
    is_step: bool
    flaw: str | None = None
    is_too_long: bool = False


@dataclass
class Seen:
    """Everything that was asked."""

    requests: list[Asked] = field(default_factory=list)
    lost: int = 0

    def uncached(self) -> int:
        """Tokens of the task's steps that were not in the cache."""
        answered = [one for one in self.requests if one.is_step and not one.flaw and not one.is_too_long]
        return sum(one.tokens - one.cached for one in answered)


class Messages:
    """Anthropic's Messages."""

    path = "/v1/messages"

    @staticmethod
    def blocks(body: dict) -> list[Block]:
        system = body.get("system") or []
        parts = [*(body.get("tools") or []), *(system if isinstance(system, list) else [system])]
        for message in body["messages"]:
            content = message["content"]
            content = [{"type": "text", "text": content}] if isinstance(content, str) else content
            parts += [{"role": message["role"], **block} for block in content]
        return [Block(as_text(unmarked(part)), isinstance(part, dict) and "cache_control" in part) for part in parts]

    @staticmethod
    def flaw(body: dict) -> str | None:
        if "max_tokens" not in body:
            return "max_tokens: Field required"
        speakers = [message for message in body.get("messages") or [] if message["role"] != "system"]
        if not speakers or speakers[0]["role"] != "user":
            return "messages: first message must use the user role"
        turns: list[tuple[str, list]] = []
        for message in speakers:
            content = message["content"]
            content = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if not content:
                return "messages: all messages must have non-empty content"
            if turns and turns[-1][0] == message["role"]:
                turns[-1][1].extend(content)
            else:
                turns.append((message["role"], list(content)))
        called: set[str] = set()
        for role, content in turns:
            kinds = [block["type"] for block in content]
            answered = {block["tool_use_id"] for block in content if block["type"] == "tool_result"}
            if answered != called:
                return "messages: tool_use ids were found without tool_result blocks immediately after, or none before"
            if "tool_result" in kinds and role != "user" or "tool_use" in kinds and role != "assistant":
                return "messages: a block stands in a message of the wrong role"
            if any(block["type"] == "text" and not block["text"] for block in content):
                return "messages: text content blocks must be non-empty"
            if any(block["type"] == "thinking" and block["signature"] != signed(block["thinking"]) for block in content):
                return "messages: Invalid `signature` in `thinking` block"
            called = {block["id"] for block in content if block["type"] == "tool_use"}
        if called:
            return "messages: the last tool_use has no tool_result"
        opens = [at for at, (role, content) in enumerate(turns)
                 if role == "user" and all(block["type"] != "tool_result" for block in content)]
        replies = [content for role, content in turns[opens[-1] if opens else 0:] if role == "assistant"]
        if thinks(body) and any(content[0]["type"] != "thinking" for content in replies):
            return "messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
        marks = sum(block.is_marked for block in Messages.blocks(body))
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}." if marks > 4 else None

    @staticmethod
    def cached(blocks: list[Block], known: set[str]) -> int:
        """Each mark finds the longest entry that ends at most twenty blocks before it."""
        chains, sums = chained(blocks)
        found = 0
        for at, block in enumerate(blocks):
            if block.is_marked:
                back = range(at, max(at - BLOCKS_BACK, 0) - 1, -1)
                hits = (sums[place] for place in back if chains[place] in known)
                found = max(found, next(hits, 0))
        known.update(chain for chain, block in zip(chains, blocks, strict=True) if block.is_marked)
        return found if found >= LEAST_CACHED else 0

    @staticmethod
    def error(text: str) -> dict:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": text}}

    @staticmethod
    def too_long(tokens: int, limit: int) -> dict:
        return Messages.error(f"prompt is too long: {tokens} tokens > {limit} maximum")

    @staticmethod
    def answer(body: dict, said: Said, asked: Asked) -> tuple[dict, list[dict]]:
        block: dict = {"type": "text", "text": said.text}
        if said.command:
            block = {"type": "tool_use", "id": f"toolu_{said.number:020}", "name": said.tool, "input": said.command}
        stop = "tool_use" if said.command else "end_turn"
        usage = {"input_tokens": asked.tokens - asked.cached, "cache_read_input_tokens": asked.cached,
                 "cache_creation_input_tokens": 0, "output_tokens": 60}
        thought = f"File number {said.number} comes next, since what was read so far leaves open who calls it."
        thinking = {"type": "thinking", "thinking": thought, "signature": signed(thought)}
        whole = {"id": f"msg_{said.number:020}", "type": "message", "role": "assistant", "model": body["model"],
                 "content": [thinking, block] if thinks(body) else [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
        events = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
        for at, one in enumerate(whole["content"]):
            empty, *deltas = Messages.grown(one)
            events.append({"type": "content_block_start", "index": at, "content_block": empty})
            events += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": at})
        ended = {"stop_reason": stop, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 60}})
        return whole, [*events, {"type": "message_stop"}]

    @staticmethod
    def grown(block: dict) -> list[dict]:
        """A block as a stream has it: empty, and what is added."""
        if block["type"] == "thinking":
            return [{**block, "thinking": "", "signature": ""},
                    {"type": "thinking_delta", "thinking": block["thinking"]},
                    {"type": "signature_delta", "signature": block["signature"]}]
        if block["type"] == "text":
            return [{**block, "text": ""}, {"type": "text_delta", "text": block["text"]}]
        added = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return [{**block, "input": {}}, added]


class Responses:
    """OpenAI's Responses."""

    path = "/responses"
    OUTPUTS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}

    @staticmethod
    def blocks(body: dict) -> list[Block]:
        items = body["input"] if isinstance(body["input"], list) else [body["input"]]
        parts = [*(body.get("tools") or []), body.get("instructions") or "", *items]
        return [Block(as_text(part)) for part in parts]

    @staticmethod
    def flaw(body: dict) -> str | None:
        items = body["input"] if isinstance(body["input"], list) else []
        calls: dict[str, str] = {}
        for at, item in enumerate(items):
            kind = item.get("type")
            if kind in Responses.OUTPUTS:
                calls[item["call_id"]] = Responses.OUTPUTS[kind]
            elif kind in Responses.OUTPUTS.values():
                if calls.pop(item["call_id"], None) != kind:
                    return f"No tool call found for function call output with call_id {item['call_id']}."
            elif kind == "reasoning":
                after = items[at + 1] if at + 1 < len(items) else {}
                if after.get("type") not in ("reasoning", *Responses.OUTPUTS) and after.get("role") != "assistant":
                    return "Item of type 'reasoning' was provided without its required following item."
        return f"No tool output found for function call {next(iter(calls))}." if calls else None

    @staticmethod
    def cached(blocks: list[Block], known: set[str]) -> int:
        """The longest beginning that an earlier request had too, in whole steps."""
        chains, sums = chained(blocks)
        found = max((total for chain, total in zip(chains, sums, strict=True) if chain in known), default=0)
        known.update(chains)
        found -= found % PREFIX_STEP
        return found if found >= LEAST_CACHED else 0

    @staticmethod
    def error(text: str) -> dict:
        return {"error": {"message": text, "type": "invalid_request_error", "param": "input", "code": None}}

    @staticmethod
    def too_long(tokens: int, limit: int) -> dict:
        text = "Your input exceeds the context window of this model. Please adjust your input and try again."
        return {"error": {**Responses.error(text)["error"], "code": "context_length_exceeded"}}

    @staticmethod
    def answer(body: dict, said: Said, asked: Asked) -> tuple[dict, list[dict]]:
        item: dict = {"type": "message", "id": f"msg_{said.number}", "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": said.text, "annotations": []}]}
        if said.command:
            item = {"type": "function_call", "id": f"fc_{said.number}", "call_id": f"call_{said.number}",
                    "name": said.tool, "arguments": json.dumps(said.command), "status": "completed"}
        usage = {"input_tokens": asked.tokens, "input_tokens_details": {"cached_tokens": asked.cached},
                 "output_tokens": 60, "output_tokens_details": {"reasoning_tokens": 0},
                 "total_tokens": asked.tokens + 60}
        whole = {"id": f"resp_{said.number}", "object": "response", "status": "completed", "model": body["model"],
                 "output": [item], "usage": usage, "error": None}
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        return whole, [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]


def chained(blocks: list[Block]) -> tuple[list[str], list[int]]:
    """A hash of each beginning, and its tokens."""
    chain, total, chains, sums = hashlib.sha256(), 0, [], []
    for block in blocks:
        chain.update(block.text.encode() + b"\0")
        total += block.tokens
        chains.append(chain.hexdigest())
        sums.append(total)
    return chains, sums


@dataclass
class Said:
    """What the model says: words, or a command for a shell."""

    number: int
    text: str
    tool: str = ""
    command: dict | None = None


class Provider:
    """An upstream with a limit, for one run of one agent. It steps through the files that it is given."""

    def __init__(self, limit: int | None, files: list[str]) -> None:
        self.limit, self.files, self.seen = limit, files, Seen()
        self.known: dict[type, set[str]] = {Messages: set(), Responses: set()}
        self.numbers, self.step, self.lock = itertools.count(1), 0, threading.Lock()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.reply(200, {"data": [], "object": "list", "models": []})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                path = self.path.split("?")[0]
                api = next((api for api in (Messages, Responses) if path.endswith(api.path)), None)
                if api is None:
                    self.reply(404 if "count_tokens" not in path else 200, {"input_tokens": len(body) // 4})
                    return
                status, answer, events = provider.ask(api, json.loads(body))
                self.reply(status, answer, events)

            def reply(self, status: int, answer: dict, events: list[dict] | None = None) -> None:
                text = json.dumps(answer)
                if events:
                    text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
                self.send_response(status)
                self.send_header("content-type", "text/event-stream" if events else "application/json")
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def ask(self, api: type[Messages] | type[Responses], body: dict) -> tuple[int, dict, list[dict] | None]:
        with self.lock:
            blocks = api.blocks(body)
            tokens = sum(block.tokens for block in blocks)
            task = TASK.search(as_text(body))
            asked = Asked(tokens, 0, is_step=bool(task and body.get("tools")), flaw=api.flaw(body))
            self.seen.requests.append(asked)
            if asked.flaw:
                return 400, api.error(asked.flaw), None
            if self.limit is not None and tokens > self.limit:
                asked.is_too_long = True
                return 400, api.too_long(tokens, self.limit), None
            asked.cached = api.cached(blocks, self.known[api])
            # Side calls have no tools; a request with tools and without its task has lost it.
            self.seen.lost += bool(body.get("tools") and not task)
            said = self.say(body, int(task[1])) if asked.is_step and task else Said(next(self.numbers), "Fine.")
            whole, events = api.answer(body, said, asked)
            return 200, whole, events if body.get("stream") else None

    def say(self, body: dict, steps: int) -> Said:
        number, at = next(self.numbers), self.step
        self.step += 1
        if at >= steps:
            return Said(number, "DONE.")
        tools = {tool.get("name"): tool.get("parameters") or tool.get("input_schema") for tool in body["tools"]}
        tool = next(name for name in SHELLS if name in tools)
        begin = 1 + 90 * (at // len(self.files))
        line = f"sed -n '{begin},{begin + 89}p' {self.files[at % len(self.files)]}"
        takes_list = tools[tool]["properties"][SHELLS[tool]].get("type") == "array"
        command: dict = {SHELLS[tool]: ["bash", "-lc", line] if takes_list else line}
        for name in tools[tool].get("required", []):
            command.setdefault(name, f"step {at}")
        return Said(number, "", tool, command)

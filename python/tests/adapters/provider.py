"""A provider on this machine that plays the run, and notes the requests as they come over the wire."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from story import ANSWER, STEPS, calls


class Provider:
    """Answers as OpenAI's, Anthropic's and Google's do: tool calls for so many steps, then words; and again."""

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps
        self.bodies: list[dict[str, Any]] = []
        """The requests, as they were sent."""
        self.url = ""

    def is_calling(self) -> bool:
        """Whether the answer to the request that came last calls tools."""
        return (len(self.bodies) - 1) % (self.steps + 1) < self.steps

    def chat(self) -> dict[str, Any]:
        """The answer of OpenAI Chat to the request that came last."""
        step = len(self.bodies) - 1
        message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
        if self.is_calling():
            message["content"] = None
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in calls(step)
            ]
        reason = "tool_calls" if self.is_calling() else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {
            "id": f"chat_{step}",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4o",
            "choices": [choice],
            "usage": usage,
        }

    def messages(self) -> dict[str, Any]:
        """The answer of Anthropic."""
        step = len(self.bodies) - 1
        content: list[dict[str, Any]] = [{"type": "text", "text": ANSWER}]
        if self.is_calling():
            content = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
                for call in calls(step)
            ]
        return {
            "id": f"msg_{step}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": content,
            "stop_reason": "tool_use" if self.is_calling() else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def responses(self) -> dict[str, Any]:
        """The answer of OpenAI Responses."""
        step = len(self.bodies) - 1
        text = {"type": "output_text", "text": ANSWER, "annotations": []}
        words = {"id": f"msg_{step}", "type": "message", "role": "assistant", "status": "completed"}
        output: list[dict[str, Any]] = [{**words, "content": [text]}]
        if self.is_calling():
            output = [
                {
                    "id": f"fc_{call.id}",
                    "type": "function_call",
                    "status": "completed",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                }
                for call in calls(step)
            ]
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        return {
            "id": f"resp_{step}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "gpt-4o",
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
        }

    def generate_content(self) -> dict[str, Any]:
        """The answer of Gemini."""
        parts: list[dict[str, Any]] = [{"text": ANSWER}]
        if self.is_calling():
            step = len(self.bodies) - 1
            parts = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in calls(step)]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}

    def answer(self, path: str) -> dict[str, Any]:
        """The answer to the request that came last, by its path."""
        if path.endswith("/messages"):
            return self.messages()
        if path.endswith("/responses"):
            return self.responses()
        return self.generate_content() if ":generateContent" in path else self.chat()


def _streamed(answer: dict[str, Any]) -> bytes:
    """An answer of OpenAI Chat in pieces: all of the message, why it ends, and what it cost."""
    choice = answer["choices"][0]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(delta["tool_calls"])]
    base = {**answer, "object": "chat.completion.chunk"}
    pieces = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}], "usage": None},
        {**base, "choices": []},
    ]
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in pieces) + b"data: [DONE]\n\n"


@contextmanager
def provider(steps: int = STEPS) -> Iterator[Provider]:
    """A provider that listens while the block runs."""
    played = Provider(steps)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            played.bodies.append(json.loads(self.rfile.read(length)))
            answer = played.answer(self.path)
            data, kind = json.dumps(answer).encode(), "application/json"
            if played.bodies[-1].get("stream"):
                data, kind = _streamed(answer), "text/event-stream"
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    played.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield played
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""Windows of every format, as the types of the providers' own libraries judge them.

What is kept whole is the caller's own bytes. What is not (shortened results, repaired messages) has to be
of a shape that the library of the provider sends, so each library is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import cohere
import cupel_context as cupel
import ollama
import pytest
from anthropic.types import MessageParam
from anthropic.types import ToolParam as AnthropicTool
from botocore.validate import ParamValidator
from google.genai import types as gemini
from langchain_core.messages import messages_from_dict
from mistralai.client.models import ChatCompletionRequest as MistralRequest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.responses import ResponseInputItemParam
from openai.types.responses import ToolParam as ResponsesTool
from pydantic import TypeAdapter

Request = Any
EXAMPLES = Path(__file__).parents[3] / "examples"


def of_type(kind: Any, value: Any) -> None:
    """What is iterable in a type of a library is validated when it is read, so it is read."""
    adapter = TypeAdapter(list[kind])
    adapter.dump_python(adapter.validate_python(value), warnings=False)


def openai_chat(request: Request) -> None:
    of_type(ChatCompletionMessageParam, request["messages"])
    of_type(ChatCompletionToolUnionParam, request.get("tools", []))


def openai_responses(request: Request) -> None:
    of_type(ResponseInputItemParam, request["input"])
    of_type(ResponsesTool, request.get("tools", []))


def anthropic(request: Request) -> None:
    of_type(MessageParam, request["messages"])
    of_type(AnthropicTool, request.get("tools", []))


def google(request: Request) -> None:
    for content in request["contents"]:
        gemini.Content.model_validate(content)
    for tool in request.get("tools", []):
        gemini.Tool.model_validate(tool)


def mistral(request: Request) -> None:
    MistralRequest.model_validate(request)


def bedrock(request: Request) -> None:
    service = boto3.client("bedrock-runtime", region_name="eu-west-1").meta.service_model
    report = ParamValidator().validate(request, service.operation_model("Converse").input_shape)
    assert not report.has_errors(), report.generate_report()


def of_cohere(request: Request) -> None:
    kinds = {
        "user": cohere.UserChatMessageV2,
        "assistant": cohere.AssistantChatMessageV2,
        "system": cohere.SystemChatMessageV2,
        "tool": cohere.ToolChatMessageV2,
    }
    for message in request["messages"]:
        kinds[message["role"]].model_validate(message)


def of_ollama(request: Request) -> None:
    for message in request["messages"]:
        ollama.Message.model_validate(message)
    for tool in request.get("tools", []):
        ollama.Tool.model_validate(tool)


def langchain(request: Request) -> None:
    messages_from_dict(request)


CALL = {"id": "c00000001", "type": "function", "function": {"name": "look_up", "arguments": '{"ship": 7}'}}
FUNCTION = {"name": "look_up", "description": "Looks up a ship.", "parameters": {"type": "object"}}
ROWS = json.dumps([{"ship": ship, "cargo": f"C-{ship * 7919}", "note": "as always"} for ship in range(60)])
MISTRAL = {
    "model": "mistral-large-latest",
    "safe_prompt": True,
    "tools": [{"type": "function", "function": FUNCTION}],
    "messages": [
        {"role": "system", "content": "You keep the books of a harbour."},
        {"role": "user", "content": [{"type": "text", "text": "What does ship 7 carry?"}]},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "name": "look_up", "tool_call_id": "c00000001", "content": ROWS},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "7."}]}]},
        {"role": "user", "content": "And the chart?"},
        {"role": "assistant", "content": "It hangs in the office. " * 20},
        {"role": "user", "content": [{"type": "document_url", "document_url": "https://example.com/c.pdf"}]},
        {"role": "assistant", "content": "That one is old."},
        {"role": "user", "content": "Which ship carries C-55433?"},
    ],
}
RESPONSES = {
    "model": "gpt-5",
    "instructions": "You keep the books of a harbour.",
    "tools": [{"type": "function", "strict": False, **FUNCTION}],
    "input": [
        {"role": "user", "content": "What does ship 7 carry?"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAAB"},
        {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"ship": 7}'},
        {"type": "function_call_output", "call_id": "c1", "output": ROWS},
        {"role": "assistant", "content": "C-55433."},
        {"role": "user", "content": [{"type": "input_text", "text": "And the chart?"}]},
        {"role": "assistant", "content": "It hangs in the office. " * 20},
        {"role": "user", "content": "Which ship carries C-55433?"},
    ],
}


def example(name: str) -> Request:
    return json.loads((EXAMPLES / name).read_text())


JUDGED: list[tuple[str, Request, Callable[[Request], None]]] = [
    ("openai-chat", example("coding-agent.json"), openai_chat),
    ("openai-responses", example("support-chat.json"), openai_responses),
    ("openai-responses-list", RESPONSES, openai_responses),
    ("anthropic", example("coding-agent-anthropic.json"), anthropic),
    ("gemini", example("gemini-trip.json"), google),
    ("bedrock", example("coding-agent-bedrock.json"), bedrock),
    ("cohere", example("coding-agent-cohere.json"), of_cohere),
    ("ollama", example("coding-agent-ollama.json"), of_ollama),
    ("langchain", example("langchain-research.json"), langchain),
    ("mistral", MISTRAL, mistral),
]
SHARES = (15, 25, 35, 45, 55, 65, 75, 85, 95)


@pytest.mark.parametrize(("name", "request_", "judge"), JUDGED, ids=[one[0] for one in JUDGED])
def test_windows_are_of_the_librarys_types(
    name: str, request_: Request, judge: Callable[[Request], None]
) -> None:
    judge(request_)
    engine = cupel.Engine(shorten="all", margin_percent=0)
    whole = engine.count(request_)["total_tokens"]
    windows = shortened = 0
    for share in SHARES:
        try:
            window = engine.select(request_, max_tokens=whole * share // 100)
        except cupel.DoesNotFitError:
            continue
        judge(window.request)
        windows += 1
        shortened += len(window.shortened)
    assert windows >= 4
    # Every result of the trip is short.
    assert (shortened > 0) == (name != "gemini")

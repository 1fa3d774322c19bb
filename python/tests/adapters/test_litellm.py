"""LiteLLM's proxy hook, for its four shapes of requests."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
from typing import Any

import cupel_context as cupel
import litellm
import pytest
from cupel_context.litellm import CupelHook
from litellm.caching.caching import DualCache
from litellm.google_genai.adapters.transformation import GoogleGenAIAdapter
from litellm.litellm_core_utils.prompt_templates.factory import anthropic_messages_pt
from litellm.llms.anthropic.pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter
from litellm.proxy._types import UserAPIKeyAuth
from litellm.responses.litellm_completion_transformation.transformation import (
    LiteLLMCompletionResponsesConfig,
)
from litellm.utils import validate_and_fix_openai_messages
from story import (
    ANSWER,
    BUDGETS,
    QUESTION,
    STEPS,
    SYSTEM,
    Sent,
    calls,
    check_chat,
    check_pairs,
    check_run,
    look_up,
    of_chat,
)

SCHEMA = {"type": "object", "properties": {"ship": {"type": "integer"}, "field": {"type": "string"}}}


class Chat:
    """OpenAI Chat Completions."""

    call_type = "acompletion"
    field = "messages"
    head = {
        "tools": [{"type": "function", "function": {"name": "look_up", "parameters": SCHEMA}}],
    }
    first = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]

    @staticmethod
    def step(step: int) -> list[Any]:
        asked = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in calls(step)
        ]
        answers = [
            {"role": "tool", "tool_call_id": call.id, "content": look_up(**call.arguments)}
            for call in calls(step)
        ]
        return [{"role": "assistant", "content": None, "tool_calls": asked}, *answers]

    @staticmethod
    def sent(messages: list[Any]) -> list[Sent]:
        return [
            Sent(
                one["role"],
                [call["id"] for call in one.get("tool_calls") or []],
                [one["tool_call_id"]] if one["role"] == "tool" else [],
            )
            for one in messages
        ]

    @staticmethod
    def check_own(request: dict[str, Any]) -> None:
        """LiteLLM's checks of a Chat request, and what it makes of it for Anthropic, which refuses loose ends."""
        checked = validate_and_fix_openai_messages(copy.deepcopy(request["messages"]))
        check_chat(checked)
        plain = [one for one in checked if one["role"] != "system"]
        turned = anthropic_messages_pt(copy.deepcopy(plain), "claude-sonnet-4-5", "anthropic")
        check_pairs(Anthropic.sent(turned))


class Anthropic(Chat):
    """Anthropic Messages."""

    call_type = "anthropic_messages"
    head = {"system": SYSTEM, "tools": [{"name": "look_up", "input_schema": SCHEMA}], "max_tokens": 100}
    first = [{"role": "user", "content": QUESTION}]

    @staticmethod
    def step(step: int) -> list[Any]:
        asked = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            for call in calls(step)
        ]
        answers = [
            {"type": "tool_result", "tool_use_id": call.id, "content": look_up(**call.arguments)}
            for call in calls(step)
        ]
        return [{"role": "assistant", "content": asked}, {"role": "user", "content": answers}]

    @staticmethod
    def sent(messages: list[Any]) -> list[Sent]:
        def ids(message: Any, kind: str, name: str) -> list[str]:
            blocks = message["content"] if isinstance(message["content"], list) else []
            return [block[name] for block in blocks if block["type"] == kind]

        return [
            Sent(one["role"], ids(one, "tool_use", "id"), ids(one, "tool_result", "tool_use_id"))
            for one in messages
        ]

    @staticmethod
    def check_own(request: dict[str, Any]) -> None:
        adapter = LiteLLMAnthropicMessagesAdapter()
        turned, _ = adapter.translate_anthropic_to_openai({**request, "model": "gpt-4o"})  # type: ignore[typeddict-item]
        check_chat(list(turned["messages"]))


class Responses(Chat):
    """OpenAI Responses."""

    call_type = "aresponses"
    field = "input"
    head = {"instructions": SYSTEM, "tools": [{"type": "function", "name": "look_up", "parameters": SCHEMA}]}
    first = [{"role": "user", "content": QUESTION}]

    @staticmethod
    def step(step: int) -> list[Any]:
        asked = [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments),
            }
            for call in calls(step)
        ]
        answers = [
            {"type": "function_call_output", "call_id": call.id, "output": look_up(**call.arguments)}
            for call in calls(step)
        ]
        return [*asked, *answers]

    @staticmethod
    def sent(messages: list[Any]) -> list[Sent]:
        told: list[Sent] = []
        for item in messages:
            if item.get("type") == "function_call":
                if told and told[-1].calls:
                    told[-1].calls.append(item["call_id"])
                else:
                    told.append(Sent("assistant", [item["call_id"]], []))
            elif item.get("type") == "function_call_output":
                told.append(Sent("tool", [], [item["call_id"]]))
            else:
                told.append(Sent(item["role"], [], []))
        return told

    @staticmethod
    def check_own(request: dict[str, Any]) -> None:
        make = LiteLLMCompletionResponsesConfig.transform_responses_api_input_to_messages
        made = make(request["input"], {"instructions": request["instructions"]})
        check_pairs(of_chat(list(made)))


class Gemini(Chat):
    """Gemini contents."""

    call_type = "agenerate_content"
    field = "contents"
    head = {
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "tools": [{"functionDeclarations": [{"name": "look_up", "parameters": SCHEMA}]}],
    }
    first = [{"role": "user", "parts": [{"text": QUESTION}]}]

    @staticmethod
    def step(step: int) -> list[Any]:
        asked = [
            {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
            for call in calls(step)
        ]
        answers = [
            {
                "functionResponse": {
                    "id": call.id,
                    "name": call.name,
                    "response": json.loads(look_up(**call.arguments)),
                }
            }
            for call in calls(step)
        ]
        return [{"role": "model", "parts": asked}, {"role": "user", "parts": answers}]

    @staticmethod
    def sent(messages: list[Any]) -> list[Sent]:
        def ids(message: Any, kind: str) -> list[str]:
            return [part[kind]["id"] for part in message["parts"] if kind in part]

        return [Sent(one["role"], ids(one, "functionCall"), ids(one, "functionResponse")) for one in messages]

    @staticmethod
    def check_own(request: dict[str, Any]) -> None:
        named = {"systemInstruction": request["systemInstruction"], "tools": request["tools"]}
        make = GoogleGenAIAdapter().translate_generate_content_to_completion
        made = make("gpt-4o", request["contents"], None, **named)
        check_chat(made["messages"])


@pytest.mark.parametrize("session", [None, "harbour"])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("shape", [Chat, Anthropic, Responses, Gemini])
def test_a_run_of_sixty_steps_fits(shape: type[Chat], budget: int, session: str | None) -> None:
    hook = CupelHook(budget, tokenizer="o200k_base")
    history = list(shape.first)
    windows, tokens = [], []
    for step in range(STEPS + 1):
        # The proxy's own fields are no part of the request, and need not be JSON.
        data = {
            "model": "some-model",
            shape.field: list(history),
            **shape.head,
            "metadata": {"session_id": session} if session else {},
            "litellm_logging_obj": object(),
        }
        before = copy.copy(data)
        made = asyncio.run(hook.async_pre_call_hook(UserAPIKeyAuth(), DualCache(), data, shape.call_type))
        assert data == before and data[shape.field] == history
        assert set(made) == set(data)
        windows.append(shape.sent(made[shape.field]))
        counted = {name: made[name] for name in (*shape.head, shape.field)}
        tokens.append(cupel.count(counted, tokenizer="o200k_base")["total_tokens"])
        # LiteLLM turns each shape into that of other providers, and refuses what it cannot turn.
        shape.check_own(counted)
        history += shape.step(step)
    check_run(windows, tokens, budget)


def hooked(hook: CupelHook, data: dict[str, Any], **who: str) -> Any:
    return asyncio.run(hook.async_pre_call_hook(UserAPIKeyAuth(**who), DualCache(), data, "acompletion"))


def test_errors_have_the_status_that_the_proxy_answers_with() -> None:
    data = {"model": "gpt-4o", "messages": [{"role": "user", "content": QUESTION}]}
    with pytest.raises(litellm.ContextWindowExceededError) as caught:
        hooked(CupelHook(5), data)
    assert caught.value.status_code == 400 and caught.value.body["code"] == "does-not-fit"  # type: ignore[index]
    # It is an error of both kinds, here and in another process.
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert isinstance(error, cupel.DoesNotFitError) and isinstance(error, litellm.ContextWindowExceededError)
        assert error.code == "does-not-fit" and error.details["parts"] and "cupel: " in error.message
        assert "what must be kept takes 27 tokens, 5 are there" in str(error)
    orphan = {"role": "tool", "tool_call_id": "c", "content": "1"}
    with pytest.raises(litellm.BadRequestError) as refused:
        hooked(CupelHook(500), {"model": "gpt-4o", "messages": [*data["messages"], orphan]})
    assert refused.value.status_code == 400
    assert refused.value.body["code"] == "invalid-request" and refused.value.body["remedy"]  # type: ignore[index]
    # Outside of the proxy the exception is Cupel's own.
    with pytest.raises(cupel.DoesNotFitError):
        CupelHook(5).fit(data)


def test_a_session_belongs_to_one_user() -> None:
    hook = CupelHook(5_000)
    messages = [{"role": "user", "content": "Hello!"}]
    named = {"model": "gpt-4o", "messages": messages, "metadata": {"session_id": "1"}}
    for who in ({"api_key": "a"}, {"api_key": "b"}, {"api_key": "a", "user_id": "u"}, {"api_key": "a"}):
        hooked(hook, named, **who)
    assert len(hook._fitter._conversations) == 3
    hooked(hook, {**named, "model": "gpt-4.1"}, api_key="a")
    assert len(hook._fitter._conversations) == 4
    hooked(hook, {**named, "metadata": {}}, api_key="a")
    assert len(hook._fitter._conversations) == 4


def test_the_window_is_that_of_the_model_behind_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of the proxy are its own; what they stand for is known to its router."""
    import sys
    import types

    router = litellm.Router([{"model_name": "ours", "litellm_params": {"model": "openai/gpt-4o", "api_key": "k"}}])
    proxy = types.SimpleNamespace(llm_router=router)
    monkeypatch.setitem(sys.modules, "litellm.proxy.proxy_server", proxy)
    seen: list[Any] = []
    data = {"model": "ours", "messages": [{"role": "user", "content": QUESTION}]}
    CupelHook(on_selection=seen.append).fit(data)
    # Where Cupel knows no such model, LiteLLM's own table does.
    monkeypatch.setitem(litellm.model_cost, "house/brew-1", {"max_input_tokens": 5_000})
    CupelHook(on_selection=seen.append).fit({**data, "model": "house/brew-1"})
    assert [one.summary["budget"]["max_tokens"] for one in seen] == [128_000, 5_000]


def test_every_window_is_told(caplog: pytest.LogCaptureFixture) -> None:
    history = list(Chat.first)
    for step in range(20):
        history += Chat.step(step)
    seen: list[Any] = []
    with caplog.at_level(logging.INFO, "cupel"):
        made = CupelHook(900, on_selection=seen.append).fit({"model": "gpt-4o", "messages": history, **Chat.head})
    assert [one.messages for one in seen] == [made["messages"]]
    assert "kept " in caplog.records[0].message and caplog.records[0].levelno == logging.INFO


def test_what_is_no_conversation_goes_on_as_it_is() -> None:
    hook = CupelHook(100)
    for data in ({"input": ["a text", "another"]}, {"input": "hello"}, {"prompt": "x"}, {"messages": []}):
        assert hook.fit(data) is data


def test_a_mocked_call_takes_what_the_hook_made() -> None:
    history = list(Chat.first)
    for step in range(20):
        history += Chat.step(step)
    made = CupelHook(900).fit({"model": "gpt-4o", "messages": history, **Chat.head})
    answer = litellm.completion(**made, mock_response=ANSWER)
    assert answer.choices[0].message.content == ANSWER


def test_the_example_runs(example: Any) -> None:
    assert "I see. Sent: " in example("litellm_call.py")

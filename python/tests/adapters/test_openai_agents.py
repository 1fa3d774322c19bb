"""The OpenAI Agents SDK, with a model that is a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import cupel_context as cupel
import pytest
from agents import (
    Agent,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
    function_tool,
    set_trace_processors,
)
from agents.models.chatcmpl_converter import Converter
from agents.models.interface import Model
from agents.run_internal.items import drop_orphan_function_calls, normalize_input_items_for_api
from cupel_context.openai_agents import input_filter
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
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
    total_calls,
)

# Traces are made, and go nowhere.
set_trace_processors([])


@function_tool(name_override="look_up")
def looked_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return look_up(ship, field)


class Script(Model):
    """Calls tools for sixty steps, then answers. Notes what it was sent."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        step = len(self.seen)
        tools = [
            {
                "type": "function",
                "name": "look_up",
                "description": looked_up.description,
                "parameters": looked_up.params_json_schema,
            }
        ]
        self.seen.append({"instructions": system_instructions, "input": list(input), "tools": tools})
        output: list[Any] = [
            ResponseFunctionToolCall(
                type="function_call",
                call_id=call.id,
                name=call.name,
                arguments=json.dumps(call.arguments),
                id=f"fc_{call.id}",
            )
            for call in (calls(step) if step < STEPS else [])
        ]
        if not output:
            text = ResponseOutputText(type="output_text", text=ANSWER, annotations=[])
            output = [
                ResponseOutputMessage(
                    id="msg", type="message", role="assistant", status="completed", content=[text]
                )
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def sent(items: list[Any]) -> list[Sent]:
    told = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            # Calls of one step stand beside each other, and so do their results.
            if told and told[-1].calls and not told[-1].answers:
                told[-1].calls.append(item["call_id"])
            else:
                told.append(Sent("assistant", [item["call_id"]], []))
        elif kind == "function_call_output":
            told.append(Sent("tool", [], [item["call_id"]]))
        else:
            told.append(Sent(item["role"], [], []))
    return told


def check_own(items: list[Any]) -> None:
    """The SDK finds nothing to drop or to mend, and makes a request of Chat of it."""
    assert normalize_input_items_for_api(list(items)) == items
    assert drop_orphan_function_calls(list(items)) == items
    check_chat(list(Converter.items_to_messages(items, model="gpt-4o", strict_feature_validation=True)))


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_run_of_sixty_steps_fits(budget: int, traced: bool) -> None:
    model = Script()
    agent = Agent(name="harbour", instructions=SYSTEM, tools=[looked_up], model=model)
    config = RunConfig(
        call_model_input_filter=input_filter(budget),
        tracing_disabled=not traced,
        trace_include_sensitive_data=False,
        group_id="harbour" if traced else None,
    )

    async def main() -> Any:
        return await Runner.run(agent, QUESTION, run_config=config, max_turns=100)

    result = asyncio.run(main())
    assert result.final_output == ANSWER
    windows = [sent(request["input"]) for request in model.seen]
    check_run(windows, [cupel.count(request)["total_tokens"] for request in model.seen], budget)
    for request in model.seen:
        check_own(request["input"])
    assert all(request["instructions"] == SYSTEM for request in model.seen)
    # The run's own history is whole.
    history = result.to_input_list()
    assert len(history) == 1 + 2 * total_calls() + 1
    check_pairs(sent(history))


def test_agents_of_a_run_have_sessions_of_their_own() -> None:
    """What one agent was sent is not in the cache of the other, which has other instructions."""
    seen: list[Any] = []
    filtered = input_filter(5_000)
    fits = filtered.__closure__[0].cell_contents  # type: ignore[index]
    window = fits.window

    def noting(request: Any, key: Any = None, **options: Any) -> Any:
        seen.append(key)
        return window(request, key, **options)

    fits.window = noting
    second = Agent(name="second", instructions="Answer.", model=Script())
    second.model.seen = [{}] * STEPS  # type: ignore[union-attr]
    first = Agent(name="first", instructions=SYSTEM, model=Handing(), handoffs=[second])
    config = RunConfig(call_model_input_filter=filtered, group_id="harbour")
    result = asyncio.run(Runner.run(first, QUESTION, run_config=config))
    assert result.final_output == ANSWER
    assert seen == [("harbour", "first"), ("harbour", "second")]


class Handing(Script):
    """Hands over at once."""

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        call = ResponseFunctionToolCall(
            type="function_call", call_id="c", name="transfer_to_second", arguments="{}", id="fc_c"
        )
        return ModelResponse(output=[call], usage=Usage(), response_id=None)


def test_the_example_runs(example: Any) -> None:
    assert "I saw " in example("openai_agents_run.py")

"""LiteLLM's own requests, in its four shapes, as they leave for the provider."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import litellm
import pytest
import story
from cupel_context.litellm import CupelHook
from litellm.anthropic_interface import messages as anthropic
from litellm.google_genai import agenerate_content
from wire import CASES, SYSTEM, TOOL, Story, check_story, ids

FUNCTION = {"name": TOOL["name"], "description": TOOL["description"], "parameters": TOOL["schema"]}


async def chat(url: str, hook: CupelHook, questions: tuple[str, ...]) -> None:
    history: list[Any] = [{"role": "system", "content": SYSTEM}]
    for question in questions:
        history.append({"role": "user", "content": question})
        while True:
            call = {"model": "openai/gpt-4o", "tools": [{"type": "function", "function": FUNCTION}]}
            made = await litellm.acompletion(**hook.fit({**call, "messages": list(history)}), api_base=url, api_key="k")
            said = made.choices[0].message
            history.append(said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
            for asked in said.tool_calls or []:
                result = story.look_up(**json.loads(asked.function.arguments))
                history.append({"role": "tool", "tool_call_id": asked.id, "content": result})
            if not said.tool_calls:
                break


async def messages(url: str, hook: CupelHook, questions: tuple[str, ...]) -> None:
    tool = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": TOOL["schema"]}
    call = {"model": "anthropic/claude-sonnet-4-5", "system": SYSTEM, "tools": [tool], "max_tokens": 16}
    history: list[Any] = []
    for question in questions:
        history.append({"role": "user", "content": question})
        while True:
            fitted = hook.fit({**call, "messages": list(history)})
            made: Any = await anthropic.acreate(**fitted, api_base=url, api_key="k")
            history.append({"role": "assistant", "content": made["content"]})
            asked = [block for block in made["content"] if block["type"] == "tool_use"]
            if not asked:
                break
            results = [
                {"type": "tool_result", "tool_use_id": one["id"], "content": story.look_up(**one["input"])}
                for one in asked
            ]
            history.append({"role": "user", "content": results})


async def responses(url: str, hook: CupelHook, questions: tuple[str, ...]) -> None:
    call = {"model": "openai/gpt-4o", "instructions": SYSTEM, "tools": [{"type": "function", **FUNCTION}]}
    history: list[Any] = []
    for question in questions:
        history.append({"role": "user", "content": question})
        while True:
            fitted = hook.fit({**call, "input": list(history)})
            made: Any = await litellm.aresponses(**fitted, api_base=url, api_key="k")
            output = [one if isinstance(one, dict) else one.model_dump(exclude_none=True) for one in made.output]
            history += output
            asked = [one for one in output if one["type"] == "function_call"]
            if not asked:
                break
            for one in asked:
                result = story.look_up(**json.loads(one["arguments"]))
                history.append(
                    {"type": "function_call_output", "call_id": one["call_id"], "output": result}
                )


async def contents(url: str, hook: CupelHook, questions: tuple[str, ...]) -> None:
    call = {
        "model": "gemini/gemini-2.5-flash",
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "tools": [{"functionDeclarations": [FUNCTION]}],
    }
    history: list[Any] = []
    for question in questions:
        history.append({"role": "user", "parts": [{"text": question}]})
        while True:
            fitted = hook.fit({**call, "contents": list(history)})
            made: Any = await agenerate_content(**fitted, api_base=f"{url}/models/gemini-2.5-flash", api_key="k")
            parts = made.model_dump(exclude_none=True, by_alias=True)["candidates"][0]["content"]["parts"]
            history.append({"role": "model", "parts": parts})
            asked = [part["functionCall"] for part in parts if "functionCall" in part]
            if not asked:
                break
            results = [
                {"name": one["name"], "response": {"result": story.look_up(**one["args"])}} for one in asked
            ]
            history.append({"role": "user", "parts": [{"functionResponse": one} for one in results]})


@pytest.mark.parametrize("play", [chat, messages, responses, contents])
@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int, play: Any) -> None:
    # Where a tokenizer is not public a margin stays free, and the smallest budgets hold no window.
    most = int(budget * 1.4) if play in (messages, contents) else budget
    path = {messages: "", contents: ""}.get(play, "/v1")
    model = "gemini-2.5-flash" if play is contents else None

    def run(url: str, tokens: int, questions: tuple[str, ...]) -> None:
        asyncio.run(play(url, CupelHook(tokens), questions))

    check_story(played, most, run, path=path, model=model)

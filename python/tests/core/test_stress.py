"""Random trajectories with every kind of message, in five shapes, at ten budgets: no invalid, oversized or
surprising window. ``CUPEL_STRESS=60`` plays sixty of them; without it there are a few."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import cupel_context as cupel
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

TRAJECTORIES = int(os.environ.get("CUPEL_STRESS", "6"))
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
"""Budgets, as shares of the whole beyond what must be kept."""

WORDS = ["ship", "berth", "tide", "crew", "late", "cargo", "paper", "signed", "office", "ledger", "naïve", "港口", "🚢", "отчёт"]


def words(dice: random.Random, most: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(dice.randint(1, most)))


def trajectory(seed: int) -> list[dict[str, Any]]:
    """Messages of OpenAI Chat: turns with talk, calls one by one and side by side, long and empty results."""
    dice = random.Random(seed)
    messages: list[dict[str, Any]] = []
    if dice.random() < 0.8:
        messages.append({"role": "system", "content": "You keep the books of a harbour. " + words(dice, 30)})
    number = 0
    for turn in range(dice.randint(2, 25)):
        messages.append({"role": "user", "content": f"Question {turn}: {words(dice, 60)}?"})
        for _ in range(dice.choice((0, 1, 1, 3, 8))):
            calls = []
            for _ in range(dice.choice((1, 1, 1, 2, 4))):
                number += 1
                arguments = {"ship": number, "field": dice.choice(WORDS), "deep": {"list": [1, None, words(dice, 5)]}}
                function = {"name": "look_up", "arguments": json.dumps(arguments, ensure_ascii=False)}
                calls.append({"id": f"call_{number}", "type": "function", "function": function})
            said = words(dice, 20) if dice.random() < 0.4 else None
            messages.append({"role": "assistant", "content": said, "tool_calls": calls})
            for call in calls:
                told = dice.choice((words(dice, 10), json.dumps({"rows": [words(dice, 6)] * dice.randint(1, 40)}), ""))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})
        if turn % 4 or turn == 0:
            messages.append({"role": "assistant", "content": f"Answer {turn}: {words(dice, 80)}."})
    messages.append({"role": "user", "content": "And now: " + words(dice, 20) + "?"})
    return messages


def calls_of(message: dict[str, Any]) -> list[tuple[str, str, Any]]:
    found = message.get("tool_calls") or []
    return [(one["id"], one["function"]["name"], json.loads(one["function"]["arguments"])) for one in found]


def as_langchain(messages: list[dict[str, Any]]) -> list[Any]:
    made: list[Any] = []
    for one in messages:
        text = one["content"] or ""
        if one["role"] == "system":
            made.append(SystemMessage(text))
        elif one["role"] == "user":
            made.append(HumanMessage(text))
        elif one["role"] == "tool":
            made.append(ToolMessage(text, tool_call_id=one["tool_call_id"]))
        else:
            asked = [{"id": key, "name": name, "args": given} for key, name, given in calls_of(one)]
            made.append(AIMessage(text, tool_calls=asked))
    return made


def as_anthropic(messages: list[dict[str, Any]]) -> list[Any]:
    made: list[Any] = []
    for one in messages:
        if one["role"] == "system":
            continue
        if one["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": one["tool_call_id"], "content": one["content"]}
            if made[-1]["role"] == "user":
                made[-1]["content"].append(block)
            else:
                made.append({"role": "user", "content": [block]})
            continue
        blocks: list[Any] = [{"type": "text", "text": one["content"]}] if one["content"] else []
        blocks += [{"type": "tool_use", "id": key, "name": name, "input": given} for key, name, given in calls_of(one)]
        made.append({"role": one["role"], "content": blocks})
    return made


def as_responses(messages: list[dict[str, Any]]) -> list[Any]:
    made: list[Any] = []
    for one in messages:
        if one["role"] == "tool":
            made.append({"type": "function_call_output", "call_id": one["tool_call_id"], "output": one["content"]})
            continue
        if one["content"]:
            made.append({"role": one["role"], "content": one["content"]})
        for key, name, given in calls_of(one):
            made.append({"type": "function_call", "call_id": key, "name": name, "arguments": json.dumps(given)})
    return made


def as_gemini(messages: list[dict[str, Any]]) -> list[Any]:
    made: list[Any] = []
    for one in messages:
        if one["role"] == "system":
            continue
        if one["role"] == "tool":
            part = {"functionResponse": {"name": "look_up", "response": {"output": one["content"]}}}
            if "functionResponse" in made[-1]["parts"][0]:
                made[-1]["parts"].append(part)
            else:
                made.append({"role": "user", "parts": [part]})
            continue
        parts: list[Any] = [{"text": one["content"]}] if one["content"] else []
        parts += [{"functionCall": {"name": name, "args": given}} for _, name, given in calls_of(one)]
        made.append({"role": "model" if one["role"] == "assistant" else "user", "parts": parts})
    return made


def chat_flaw(messages: list[dict[str, Any]]) -> str | None:
    """What OpenAI refuses; shares no code with Cupel."""
    waiting: list[str] = []
    for one in messages:
        if one["role"] == "tool":
            if one["tool_call_id"] not in waiting:
                return f"{one['tool_call_id']} answers no call"
            waiting.remove(one["tool_call_id"])
            continue
        if waiting:
            return f"{waiting} are not answered"
        waiting = [call["id"] for call in one.get("tool_calls") or []]
    return f"{waiting} are not answered" if waiting else None


SHAPES: dict[str, Callable[[list[dict[str, Any]]], list[Any]]] = {
    "chat": list,
    "langchain": as_langchain,
    "anthropic": as_anthropic,
    "responses": as_responses,
    "gemini": as_gemini,
}
FORMATS = {"chat": "openai-chat", "responses": "openai-responses"}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(TRAJECTORIES))
def test_every_window_is_valid_and_fits(shape: str, seed: int) -> None:
    own = SHAPES[shape](trajectory(seed))
    engine = cupel.Engine(format=FORMATS.get(shape, shape), tokenizer="o200k_base")
    whole = engine.count(own)["total_tokens"]
    least = engine.curve(own, 2, shorten="off")["points"][0]["budget"]
    before = 0
    for share in SHARES:
        budget = least + int((whole - least) * share)
        window = engine.select(own, max_tokens=budget, shorten="off")
        kept = window.messages
        assert window.tokens <= budget
        assert engine.count(kept)["total_tokens"] <= budget, "counted anew it is larger"
        assert not engine.validate(kept)["violations"]
        assert all(one is own[at] for one, at in zip(kept, window.kept))
        assert window.kept == sorted(set(window.kept))
        assert kept[-1] is own[-1], "the question is missing"
        if shape == "chat":
            assert chat_flaw(kept) is None
            assert own[0]["role"] != "system" or kept[0] is own[0], "the prompt is missing"
        # Half of what there is room for is used, once there is room for half of it.
        if share >= 0.5:
            assert window.tokens >= budget * 0.5, f"{window.tokens} of {budget}"
        before = window.tokens
    assert before == whole, "all of it fits, and not all is there"

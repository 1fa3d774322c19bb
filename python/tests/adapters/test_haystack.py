"""Haystack: a compactor under an agent's hook, and a ranker in a pipeline."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context._flat import Flat
from cupel_context.haystack import CupelCompactor, CupelRanker, _flatten
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, FileContent, ImageContent, ToolCall
from haystack.hooks.compaction import CompactionHook
from haystack.tools import Tool
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
    look_up,
    picture,
    total_calls,
)


class Words:
    """Counts words, as a counter that is not ours would."""

    def count(self, messages: list[ChatMessage], tools: Any = None) -> int:
        total = 0
        for message in messages:
            texts = [*message.texts, *(str(one.result) for one in message.tool_call_results)]
            texts += [f"{one.tool_name} {one.arguments}" for one in message.tool_calls]
            total += 3 + sum(len(text.split()) for text in texts)
        return total

    def to_dict(self) -> dict[str, Any]:
        return {"type": "test_haystack.Words", "init_parameters": {}}


def sent(messages: list[ChatMessage]) -> list[Sent]:
    return [
        Sent(
            message.role.value,
            [call.id or "" for call in message.tool_calls],
            [result.origin.id or "" for result in message.tool_call_results],
        )
        for message in messages
    ]


def check_own(window: list[ChatMessage]) -> None:
    """Haystack reads its messages back, and makes a request of Chat of them."""
    assert [ChatMessage.from_dict(one.to_dict()) for one in window] == window
    check_chat([one.to_openai_dict_format() for one in window])


def history(steps: int) -> list[ChatMessage]:
    messages = [ChatMessage.from_system(SYSTEM), ChatMessage.from_user(QUESTION)]
    for step in range(steps):
        asked = [ToolCall(call.name, call.arguments, id=call.id) for call in calls(step)]
        messages.append(ChatMessage.from_assistant(tool_calls=asked))
        messages += [ChatMessage.from_tool(look_up(**call.arguments), origin=call) for call in asked]
    return messages


@pytest.mark.parametrize("budget", [budget // 2 for budget in BUDGETS])
def test_a_conversation_of_sixty_steps_fits(budget: int) -> None:
    compactor, counter = CupelCompactor(), Words()
    for steps in range(0, STEPS + 1, 3):
        messages = history(steps)
        before = list(messages)
        kept = compactor.compact(messages, budget, counter)
        assert messages == before, "the caller's list stays as it is"
        if counter.count(messages) <= budget:
            assert kept is None
            continue
        assert kept is not None
        check_pairs(sent(kept))
        check_own(kept)
        assert counter.count(kept) <= budget
        assert all(any(one is own for own in messages) for one in kept)
        newest = {call.id for call in calls(steps - 1)}
        assert newest <= {answer for one in sent(kept) for answer in one.answers}
        assert asyncio.run(compactor.compact_async(messages, budget, counter)) == kept


def test_a_target_that_cannot_be_reached_keeps_what_must_be_kept() -> None:
    kept = CupelCompactor().compact(history(5), 5, Words())
    assert kept is not None and kept[0].text == SYSTEM and kept[1].text == QUESTION
    check_pairs(sent(kept))


def test_it_is_written_down_and_read_again() -> None:
    written = CupelCompactor(policy="chat", rules="never guess").to_dict()
    read = CupelCompactor.from_dict(written)
    assert (read.policy, read.rules) == ("chat", ["never guess"])


@component
class Script:
    """Calls tools for sixty steps, then answers. Notes what it was sent."""

    def __init__(self) -> None:
        self.seen: list[list[ChatMessage]] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> dict[str, Any]:
        step = len(self.seen)
        self.seen.append(list(messages))
        if step < STEPS:
            asked = [ToolCall(call.name, call.arguments, id=call.id) for call in calls(step)]
            return {"replies": [ChatMessage.from_assistant(tool_calls=asked)]}
        return {"replies": [ChatMessage.from_assistant(ANSWER)]}


@pytest.mark.parametrize("budget", [budget // 2 for budget in BUDGETS])
def test_an_agents_hook_takes_the_compactor(budget: int) -> None:
    model = Script()
    tool = Tool(
        name="look_up",
        description="Looks up a ship.",
        function=look_up,
        parameters={
            "type": "object",
            "properties": {"ship": {"type": "integer"}, "field": {"type": "string"}},
        },
    )
    hook = make_hook(budget)
    agent = Agent(
        chat_generator=model,
        tools=[tool],
        system_prompt=SYSTEM,
        max_agent_steps=100,
        hooks={"before_llm": [hook]},
    )
    result = agent.run(messages=[ChatMessage.from_user(QUESTION)])
    assert result["last_message"].text == ANSWER
    assert len(model.seen) == STEPS + 1
    for window in model.seen:
        check_pairs(sent(window))
        check_own(window)
    sizes = [Words().count(window) for window in model.seen]
    assert max(sizes) <= budget
    is_whole = sum(len(one.answers) for one in sent(model.seen[-1])) == total_calls()
    assert is_whole == (budget > 10_000)


def test_pictures_and_files_count() -> None:
    def tokens(message: ChatMessage) -> int:
        flat = Flat()
        _flatten(flat, 0, message)
        return cupel.Engine().count(flat.messages)["total_tokens"]

    def asked(*parts: Any) -> int:
        return tokens(ChatMessage.from_user(content_parts=["What is it?", *parts]))

    def encoded(data: bytes) -> str:
        return base64.b64encode(data).decode()

    small, large = (ImageContent(encoded(picture(side)), "image/png") for side in (100, 1_000))
    assert asked() + 50 < asked(small) < asked(large)
    pdf = FileContent(encoded(b"%PDF-1.4 " + b"/Type /Page " * 3), "application/pdf")
    assert asked(pdf) > asked() + 50


def make_hook(window: int) -> Any:
    return CompactionHook(compactor=CupelCompactor(), context_window=window, token_counter=Words())


def test_a_ranker_fills_a_budget() -> None:
    documents = [
        Document(content=f"Ship {n} lies at berth {n % 7} since Monday.", score=n / 20) for n in range(20)
    ]
    documents.append(Document(content="The deploy key is on the blue card.", score=0.1))
    pipeline = Pipeline()
    pipeline.add_component("ranker", CupelRanker(max_tokens=60))
    made = pipeline.run({"ranker": {"query": "Where is the deploy key?", "documents": documents}})
    kept = made["ranker"]["documents"]
    assert any(one.content == documents[-1].content for one in kept)
    texts = [one.content or "" for one in kept]
    assert cupel.Engine().count_texts(texts)["total_tokens"] <= 60


def test_the_example_runs(example: Any) -> None:
    assert "Sent: " in example("haystack_compactor.py")

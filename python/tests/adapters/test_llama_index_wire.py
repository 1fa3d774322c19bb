"""LlamaIndex: an LLM whose every call fits, under an agent whose memory stays whole."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import cupel_context as cupel
import pytest
import story
from cupel_context.llama_index import CupelMemory, bounded
from llama_index.core.agent import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI
from wire import CASES, MANY, SYSTEM, Story, check_story, ids


def look_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return story.look_up(ship, field)


def model(url: str) -> OpenAI:
    return OpenAI(model="gpt-4o", api_base=url, api_key="k", max_retries=0)


def ask(url: str, questions: tuple[str, ...], streaming: bool, **window: Any) -> Any:
    async def run() -> Any:
        agent = FunctionAgent(
            tools=[look_up],
            llm=bounded(model(url), **window),
            system_prompt=SYSTEM,
            streaming=streaming,
            initial_state={},
        )
        memory = Memory.from_defaults(token_limit=10_000_000)
        context = Context(agent)
        for question in questions:
            await agent.run(question, memory=memory, ctx=context, max_iterations=200)
        return memory

    return asyncio.run(run())


@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int) -> None:
    """The scratchpad of a run goes past the memory: only whoever stands before the model can bound it."""
    stored: list[Any] = []

    def run(url: str, most: int, questions: tuple[str, ...]) -> None:
        memory = ask(url, questions, budget % 200 == 0, max_tokens=most)
        stored.extend(memory.get_all())

    check_story(played, budget, run)
    assert len([one for one in stored if one.role.value == "user"]) == len(played.questions)


def test_without_a_limit_the_window_is_the_models(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []
    with caplog.at_level(logging.DEBUG, "cupel"):
        check_story(MANY, 128_000, lambda url, _, said: ask(url, said, False, on_selection=seen.append))
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}
    assert len([one for one in caplog.records if one.name == "cupel"]) == MANY.requests()


def test_it_is_an_llm_of_the_same_class() -> None:
    own = model("http://127.0.0.1:9/v1")
    made = bounded(own, 500)
    assert isinstance(made, OpenAI) and made.model == "gpt-4o" and type(own) is OpenAI
    assert made.metadata.is_function_calling_model
    with pytest.raises(cupel.DoesNotFitError):
        bounded(own, 5).chat([ChatMessage(role="user", content="Which ships were late this week?")])


def test_a_memory_knows_the_model_of_its_llm_and_tells() -> None:
    seen: list[Any] = []
    memory = CupelMemory.from_defaults(
        [ChatMessage(role="user", content="Hello!")], model("http://127.0.0.1:9/v1"), on_selection=seen.append
    )
    memory.get()
    assert memory.model == "gpt-4o" and seen[0].summary["budget"]["max_tokens"] == 128_000

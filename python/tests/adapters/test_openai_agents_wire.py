"""The OpenAI Agents SDK's own requests, as its two models send them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import story
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
)
from cupel_context.openai_agents import input_filter
from openai import AsyncOpenAI
from wire import CASES, MANY, SYSTEM, Story, check_story, check_summarized, ids, summary

MODELS = [OpenAIChatCompletionsModel, OpenAIResponsesModel]


@function_tool(name_override="look_up")
def looked_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return story.look_up(ship, field)


async def ask(kind: Any, url: str, questions: tuple[str, ...], max_tokens: int | None, **window: Any) -> Any:
    client = AsyncOpenAI(api_key="k", base_url=url, max_retries=0)
    agent = Agent(name="harbour", instructions=SYSTEM, tools=[looked_up], model=kind("gpt-4o", client))
    filtered = input_filter(max_tokens, **window)
    config = RunConfig(call_model_input_filter=filtered, tracing_disabled=True)
    items: list[Any] = []
    for question in questions:
        asked = [*items, {"role": "user", "content": question}]
        ran = await Runner.run(agent, asked, run_config=config, max_turns=200)
        items = ran.to_input_list()
    return items


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int, kind: Any) -> None:
    stored: list[Any] = []

    def run(url: str, most: int, questions: tuple[str, ...]) -> None:
        stored.extend(asyncio.run(ask(kind, url, questions, most)))

    check_story(played, budget, run)
    # The run's own items are whole.
    assert len([one for one in stored if one.get("role") == "user"]) == len(played.questions)
    results = [one for one in stored if one.get("type") == "function_call_output"]
    assert len(results) >= len(played.questions) * played.steps


def test_without_a_limit_the_window_is_the_models() -> None:
    seen: list[Any] = []

    def run(url: str, _: int, questions: tuple[str, ...]) -> None:
        asyncio.run(ask(OpenAIResponsesModel, url, questions, None, on_selection=seen.append))

    check_story(MANY, 128_000, run)
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}


def test_what_is_left_out_is_summarized() -> None:
    bodies = check_story(
        MANY, 1_100, lambda url, most, said: asyncio.run(ask(OpenAIResponsesModel, url, said, most, summarize=summary))
    )
    check_summarized(bodies)

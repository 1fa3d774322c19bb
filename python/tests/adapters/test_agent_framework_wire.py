"""Agent Framework's own requests, as its client of OpenAI Chat sends them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import story
from agent_framework import Agent, tool
from agent_framework_openai import OpenAIChatCompletionClient
from cupel_context.agent_framework import CupelStrategy
from wire import CASES, MANY, SYSTEM, Story, check_story, ids


@tool(name="look_up", approval_mode="never_require")
def looked_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return story.look_up(ship, field)


async def ask(url: str, questions: tuple[str, ...], **window: Any) -> Any:
    client: Any = OpenAIChatCompletionClient(model="gpt-4o", api_key="k", base_url=url)
    client.function_invocation_configuration["max_iterations"] = 500
    strategy = CupelStrategy(client=client, tools=[looked_up], instructions=SYSTEM, **window)
    agent = Agent(client, instructions=SYSTEM, tools=[looked_up], compaction_strategy=strategy)
    session = agent.create_session()
    for question in questions:
        await agent.run(question, session=session)
    return session


@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int) -> None:
    check_story(
        played, budget, lambda url, most, said: asyncio.run(ask(url, said, max_tokens=most))
    )


def test_without_a_limit_the_window_is_the_models() -> None:
    seen: list[Any] = []
    check_story(
        MANY, 128_000, lambda url, _, said: asyncio.run(ask(url, said, on_selection=seen.append))
    )
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}

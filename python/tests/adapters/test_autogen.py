"""AutoGen: a model context that stores everything and hands out what fits."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import cupel_context as cupel
import pytest
import story
from autogen_agentchat.agents import AssistantAgent
from autogen_core import Image
from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from cupel_context.autogen import CupelChatCompletionContext
from wire import CASES, MANY, SYSTEM, Story, check_story, ids


async def look_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return story.look_up(ship, field)


def context(url: str, **window: Any) -> tuple[AssistantAgent, CupelChatCompletionContext]:
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key="k", base_url=url)
    made = CupelChatCompletionContext(client, tools=[look_up], system_message=SYSTEM, **window)
    agent = AssistantAgent(
        "clerk",
        client,
        tools=[look_up],
        system_message=SYSTEM,
        model_context=made,
        max_tool_iterations=100,
        reflect_on_tool_use=False,
    )
    return agent, made


@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int) -> None:
    stored: list[Any] = []

    def run(url: str, most: int, questions: tuple[str, ...]) -> None:
        async def ask() -> None:
            agent, made = context(url, max_tokens=most)
            for question in questions:
                await agent.run(task=question)
            stored.extend((await made.save_state())["messages"])

        asyncio.run(ask())

    check_story(played, budget, run)
    assert len(stored) == 2 * played.requests()


def test_without_a_limit_the_window_is_the_models(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []

    def run(url: str, _: int, questions: tuple[str, ...]) -> None:
        async def ask() -> None:
            agent, _made = context(url, on_selection=seen.append)
            for question in questions:
                await agent.run(task=question)

        asyncio.run(ask())

    with caplog.at_level(logging.DEBUG, "cupel"):
        check_story(MANY, 128_000, run)
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}
    assert len([one for one in caplog.records if one.name == "cupel"]) == MANY.requests()


def test_a_picture_counts_as_one() -> None:
    seen: list[Any] = []
    made = CupelChatCompletionContext(max_tokens=5_000, on_selection=seen.append)
    from PIL import Image as Pixels

    asyncio.run(made.add_message(UserMessage(content=["What is this?", Image(Pixels.new("L", (600, 600)))], source="user")))
    assert len(asyncio.run(made.get_messages())) == 1
    assert 600 < seen[0].tokens < 1_000


def test_what_cannot_fit_is_an_error() -> None:
    made = CupelChatCompletionContext(max_tokens=5)
    asyncio.run(made.add_message(UserMessage(content="Which ships were late?", source="user")))
    with pytest.raises(cupel.DoesNotFitError):
        asyncio.run(made.get_messages())


def test_the_example_runs(example: Any) -> None:
    assert "Sent: " in example("autogen_agent.py")

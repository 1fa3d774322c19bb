"""pydantic-ai's own requests, as its model of OpenAI Chat sends them."""

from __future__ import annotations

from typing import Any

import pytest
import story
from cupel_context.pydantic_ai import CupelWindow
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits
from wire import CASES, MANY, SYSTEM, Story, check_story, check_summarized, ids, summary

MODELS = [OpenAIChatModel, OpenAIResponsesModel]


def ask(kind: Any, url: str, questions: tuple[str, ...], **window: Any) -> list[Any]:
    model = kind("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="k"))
    agent = Agent(model, instructions=SYSTEM, capabilities=[CupelWindow(**window)])
    agent.tool_plain(name="look_up")(story.look_up)
    messages: list[Any] = []
    for question in questions:
        limits = UsageLimits(request_limit=None)
        messages = agent.run_sync(question, message_history=messages, usage_limits=limits).all_messages()
    return messages


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int, kind: Any) -> None:
    stored: list[Any] = []
    check_story(played, budget, lambda url, most, said: stored.extend(ask(kind, url, said, max_tokens=most)))
    # The history of the run is whole.
    assert len([one for one in stored if isinstance(one, ModelResponse)]) == played.requests()


def test_without_a_limit_the_window_is_the_models() -> None:
    seen: list[Any] = []
    check_story(
        MANY, 128_000, lambda url, _, said: ask(OpenAIChatModel, url, said, on_selection=seen.append)
    )
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}


def test_what_is_left_out_is_summarized() -> None:
    bodies = check_story(
        MANY, 1_100, lambda url, most, said: ask(OpenAIChatModel, url, said, max_tokens=most, summarize=summary)
    )
    check_summarized(bodies)

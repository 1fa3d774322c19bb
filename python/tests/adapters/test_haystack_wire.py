"""Haystack: a chat generator that sends what fits, under an agent whose state stays whole."""

from __future__ import annotations

import logging
from typing import Any

import cupel_context as cupel
import pytest
import story
from cupel_context.haystack import CupelChatGenerator
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret
from wire import CASES, MANY, SYSTEM, TOOL, Story, check_story, check_summarized, ids, summary

LOOK_UP = Tool(TOOL["name"], TOOL["description"], TOOL["schema"], story.look_up)  # type: ignore[arg-type]


def generator(url: str) -> OpenAIChatGenerator:
    return OpenAIChatGenerator(Secret.from_token("k"), model="gpt-4o", api_base_url=url, max_retries=0)


def ask(url: str, questions: tuple[str, ...], **window: Any) -> list[ChatMessage]:
    made = CupelChatGenerator(generator(url), **window)
    agent = Agent(chat_generator=made, tools=[LOOK_UP], system_prompt=SYSTEM, max_agent_steps=200)
    messages: list[ChatMessage] = []
    for question in questions:
        told = agent.run(messages=[*messages, ChatMessage.from_user(question)])
        messages = [one for one in told["messages"] if one.role.value != "system"]
    return messages


@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int) -> None:
    stored: list[ChatMessage] = []
    check_story(played, budget, lambda url, most, said: stored.extend(ask(url, said, max_tokens=most)))
    # The state of the agent is whole.
    assert len([one for one in stored if one.role.value == "assistant"]) == played.requests()


def test_without_a_limit_the_window_is_the_models(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []
    with caplog.at_level(logging.DEBUG, "cupel"):
        check_story(MANY, 128_000, lambda url, _, said: ask(url, said, on_selection=seen.append))
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}
    assert len([one for one in caplog.records if one.name == "cupel"]) == MANY.requests()


def test_it_is_written_down_and_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    made = CupelChatGenerator(OpenAIChatGenerator(model="gpt-4o"), 500, policy="chat")
    again = CupelChatGenerator.from_dict(made.to_dict())
    assert (again.model, again.max_tokens, again._fitter.engine.policy) == ("gpt-4o", 500, "chat")


def test_what_cannot_fit_is_an_error() -> None:
    with pytest.raises(cupel.DoesNotFitError):
        CupelChatGenerator(generator("http://127.0.0.1:9/v1"), 5).run([ChatMessage.from_user("Which ships were late?")])


def test_what_is_left_out_is_summarized() -> None:
    bodies = check_story(
        MANY, 1_100, lambda url, most, said: ask(url, said, max_tokens=most, summarize=summary)
    )
    check_summarized(bodies)

"""Strands: a conversation manager that bounds what is sent, and stores everything."""

from __future__ import annotations

import logging
from typing import Any

import cupel_context as cupel
import pytest
import story
from cupel_context.strands import CupelConversationManager
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.types.exceptions import ContextWindowOverflowException
from wire import CASES, MANY, SYSTEM, Story, check_story, check_summarized, ids, summary


@tool
def look_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return story.look_up(ship, field)


def agent(url: str, **window: Any) -> Agent:
    model = OpenAIModel(client_args={"api_key": "k", "base_url": url}, model_id="gpt-4o")
    manager = CupelConversationManager(**window)
    return Agent(
        model,
        tools=[look_up],
        system_prompt=SYSTEM,
        conversation_manager=manager,
        callback_handler=None,
    )


@pytest.mark.parametrize(("played", "budget"), CASES, ids=ids)
def test_both_stories_fit_over_the_wire(played: Story, budget: int) -> None:
    made: list[Agent] = []

    def run(url: str, most: int, questions: tuple[str, ...]) -> None:
        made.append(agent(url, max_tokens=most))
        for question in questions:
            made[0](question)

    check_story(played, budget, run)
    # Everything is stored: questions, calls, results and answers.
    assert len(made[0].messages) == 2 * played.requests()


def test_without_a_limit_the_window_is_the_models(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []

    def run(url: str, _: int, questions: tuple[str, ...]) -> None:
        asked = agent(url, on_selection=seen.append)
        for question in questions:
            asked(question)

    with caplog.at_level(logging.DEBUG, "cupel"):
        check_story(MANY, 128_000, run)
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}
    assert len([one for one in caplog.records if one.name == "cupel"]) == MANY.requests() == len(seen)


def test_what_is_left_out_is_summarized() -> None:
    def run(url: str, most: int, questions: tuple[str, ...]) -> None:
        asked = agent(url, max_tokens=most, summarize=summary)
        for question in questions:
            asked(question)
        # No summary is stored.
        assert "Summary of " not in str(asked.messages)

    check_summarized(check_story(MANY, 1_100, run))


def test_what_cannot_fit_is_an_error_that_strands_knows() -> None:
    asked = agent("http://127.0.0.1:9/v1", max_tokens=20)
    with pytest.raises(ContextWindowOverflowException) as caught:
        asked("Which ships were late?")
    assert isinstance(caught.value, cupel.DoesNotFitError) and caught.value.code == "does-not-fit"
    assert len(asked.messages) == 1


def test_the_example_runs(example: Any) -> None:
    assert "Sent: " in example("strands_agent.py")

"""smolagents: a model that is sent what fits, under an agent whose memory stays whole."""

from __future__ import annotations

import logging
from typing import Any

import cupel_context as cupel
import pytest
import story
from cupel_context.smolagents import CupelModel
from provider import provider
from smolagents import OpenAIModel, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, MessageRole
from story import BUDGETS, QUESTION


class LookUp(Tool):
    name = "look_up"
    description = "Looks up what the books say of a ship."
    inputs = {
        "ship": {"type": "integer", "description": "Its number"},
        "field": {"type": "string", "description": "What to look for"},
    }
    output_type = "string"

    def forward(self, ship: int, field: str) -> str:
        return story.look_up(ship, field)


def asked(url: str, steps: int, questions: list[str], **window: Any) -> ToolCallingAgent:
    model = CupelModel(OpenAIModel("gpt-4o", api_base=url, api_key="k"), **window)
    agent = ToolCallingAgent(tools=[LookUp()], model=model, max_steps=steps, verbosity_level=0)
    for at, question in enumerate(questions):
        agent.run(question, reset=at == 0)
    return agent


@pytest.mark.parametrize("questions", [1, 6])
@pytest.mark.parametrize("budget", [2_500 + budget for budget in BUDGETS])
def test_both_stories_fit_over_the_wire(questions: int, budget: int) -> None:
    """Its own prompt takes two thousand tokens. A run ends by steps, since its script answers in words."""
    steps = 24 if questions == 1 else 4
    wanted = [f"{QUESTION} This is question {at}." for at in range(questions)]
    with provider(10_000) as played:
        agent = asked(f"{played.url}/v1", steps, wanted, max_tokens=budget)
    for body in played.bodies:
        counted = {name: body[name] for name in ("model", "messages", "tools") if body.get(name)}
        tokens = cupel.count(counted)["total_tokens"]
        assert tokens <= budget, f"{tokens} tokens in a budget of {budget}"
        roles = [one["role"] for one in body["messages"]]
        assert roles[0] == "system" and roles[1] == "user"
        # What came of a call is never without the call.
        text = "\n".join(str(one["content"]) for one in body["messages"][1:])
        assert text.count("Observation:") <= text.count("Calling tools:")
    assert wanted[-1] in str(played.bodies[-1]["messages"])
    assert len([step for step in agent.memory.steps if type(step).__name__ == "ActionStep"]) >= steps * questions
    if budget > 100_000:
        assert str(played.bodies[-1]["messages"]).count("This is question") >= questions


def test_without_a_limit_the_window_is_the_models(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []
    with caplog.at_level(logging.DEBUG, "cupel"), provider(10_000) as played:
        asked(f"{played.url}/v1", 3, [QUESTION], on_selection=seen.append)
    assert {one.summary["budget"]["max_tokens"] for one in seen} == {128_000}
    assert len([one for one in caplog.records if one.name == "cupel"]) == len(played.bodies) == len(seen)


def test_messages_are_handed_on_as_they_are() -> None:
    got: list[Any] = []

    class Noting(OpenAIModel):
        def generate(self, messages: list[ChatMessage], *_: Any, **__: Any) -> ChatMessage:
            got.extend(messages)
            return ChatMessage(role=MessageRole.ASSISTANT, content="I see.")

    messages = [
        ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": f"Note {at}: nothing happened."}])
        for at in range(50)
    ]
    CupelModel(Noting("gpt-4o", api_key="k"), max_tokens=120).generate(messages)
    assert 0 < len(got) < 50 and all(any(one is own for own in messages) for one in got)
    assert got[-1] is messages[-1]


def test_what_cannot_fit_is_an_error() -> None:
    model = CupelModel(OpenAIModel("gpt-4o", api_key="k"), max_tokens=5)
    with pytest.raises(cupel.DoesNotFitError):
        model.generate([ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": QUESTION}])])


def test_the_example_runs(example: Any) -> None:
    assert "Sent: " in example("smolagents_model.py")

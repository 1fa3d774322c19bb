"""CrewAI: a hook before every call, under agents with tools."""

from __future__ import annotations

import logging
import os
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("OTEL_SDK_DISABLED", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

import cupel_context as cupel
import pytest
import story
from crewai import LLM, Agent
from crewai.hooks import LLMCallHookContext
from crewai.tools import tool
from cupel_context.crewai import CupelHook
from provider import provider
from story import ANSWER, BUDGETS, QUESTION, check_pairs, of_chat


@tool("look_up")
def look_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return story.look_up(ship, field)


def agent(url: str) -> Agent:
    return Agent(
        role="clerk",
        goal="Keep the books of a harbour",
        backstory=story.SYSTEM,
        llm=LLM(model="openai/gpt-4o", base_url=url, api_key="k"),
        tools=[look_up],
        max_iter=200,
        verbose=False,
    )


@pytest.mark.parametrize("budget", [budget + 300 for budget in BUDGETS])
@pytest.mark.parametrize("steps", [30, 8])
def test_a_run_fits_over_the_wire(budget: int, steps: int) -> None:
    with provider(steps) as played, CupelHook(budget):
        answer = agent(f"{played.url}/v1").kickoff(QUESTION)
    assert ANSWER in str(answer)
    assert len(played.bodies) == steps + 1
    for body in played.bodies:
        check_pairs(of_chat(body["messages"]))
        counted = {name: body[name] for name in ("model", "messages", "tools") if body.get(name)}
        tokens = cupel.count(counted)["total_tokens"]
        assert tokens <= budget, f"{tokens} tokens in a budget of {budget}"
        assert QUESTION in str(body["messages"])
    last = [answer for one in of_chat(played.bodies[-1]["messages"]) for answer in one.answers]
    made = [call.id for step in range(steps) for call in story.calls(step)]
    assert last[-1] == made[-1]
    if budget > 100_000:
        assert last == made


def test_what_is_left_out_is_remembered() -> None:
    """A hook of CrewAI changes the list itself; what it takes out must be there for the next window."""
    hook, seen = CupelHook(60), []
    live: list[Any] = [{"role": "user", "content": f"Note {at}: nothing happened at all."} for at in range(20)]
    context = LLMCallHookContext(messages=live, llm="gpt-4o")
    hook(context)
    assert len(live) < 20 and len(hook.messages(context)) == 20
    live.append({"role": "assistant", "content": "I see."})
    live.append({"role": "user", "content": "Which note was it?"})
    assert len(hook.messages(context)) == 22
    hook(context)
    assert live[-1]["content"] == "Which note was it?" and len(hook.messages(context)) == 22
    assert not seen


def test_the_window_is_the_models_and_every_window_is_told(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []
    hook = CupelHook(on_selection=seen.append)
    with caplog.at_level(logging.DEBUG, "cupel"):
        hook(LLMCallHookContext(messages=[{"role": "user", "content": QUESTION}], llm="gpt-4o"))
    assert seen[0].summary["budget"]["max_tokens"] == 128_000
    assert [one.name for one in caplog.records] == ["cupel"]


def test_what_cannot_fit_is_not_sent() -> None:
    with provider(3) as played, CupelHook(20), pytest.raises(cupel.DoesNotFitError) as caught:
        agent(f"{played.url}/v1").kickoff(QUESTION)
    assert caught.value.code == "does-not-fit" and not played.bodies


def test_the_example_runs(example: Any) -> None:
    assert "Sent: " in example("crewai_hook.py")

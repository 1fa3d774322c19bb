"""Google ADK, with a model that is a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import cupel
import pytest
from cupel.adk import CupelPlugin, _request
from google.adk.agents import LlmAgent, RunConfig
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from story import (
    ANSWER,
    BUDGETS,
    QUESTION,
    STEPS,
    SYSTEM,
    Sent,
    calls,
    check_pairs,
    check_run,
    look_up,
    total_calls,
)


class Script(BaseLlm):
    """Calls tools for sixty steps, then answers. Notes what it was sent."""

    model: str = "script"
    seen: list[Any] = []
    tokens: list[int] = []

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        step = len(self.seen)
        self.seen.append(list(llm_request.contents))
        self.tokens.append(cupel.count(_request(llm_request), tokenizer="o200k_base")["total_tokens"])
        parts = [
            types.Part(function_call=types.FunctionCall(id=call.id, name=call.name, args=call.arguments))
            for call in (calls(step) if step < STEPS else [])
        ]
        yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text=ANSWER)]))


def sent(contents: list[Any]) -> list[Sent]:
    told = []
    for content in contents:
        asked = [part.function_call for part in content.parts if part.function_call]
        answered = [part.function_response for part in content.parts if part.function_response]
        role = "assistant" if content.role == "model" else "user"
        # ADK takes ids out before it calls a model that does not want them; names and numbers stay.
        told.append(
            Sent(
                role,
                [call.id or f"{call.args['ship']}/{call.args['field']}" for call in asked],
                [one.id or _named(one.response) for one in answered],
            )
        )
    return told


def _named(response: Any) -> str:
    import json

    result = json.loads(response["result"])
    return f"{result['ship']}/{result['field']}"


@pytest.mark.parametrize("sessions", [False, True])
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_run_of_sixty_steps_fits(budget: int, sessions: bool) -> None:
    model = Script(seen=[], tokens=[])
    agent = LlmAgent(name="harbour", model=model, instruction=SYSTEM, tools=[look_up])
    plugin = CupelPlugin(budget, tokenizer="o200k_base", sessions=sessions)
    runner = InMemoryRunner(agent=agent, plugins=[plugin])

    async def main() -> Any:
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
        config = RunConfig(max_llm_calls=1_000)
        async for event in runner.run_async(
            user_id="u", session_id=session.id, new_message=message, run_config=config
        ):
            last = event
        stored = await runner.session_service.get_session(
            app_name=runner.app_name, user_id="u", session_id=session.id
        )
        return last, stored

    last, stored = asyncio.run(main())
    assert last.content.parts[0].text == ANSWER
    windows = [sent(window) for window in model.seen]
    check_adk(windows, model.tokens, budget)
    # The events of the session are whole.
    contents = [event.content for event in stored.events if event.content]
    assert sum(len(one.answers) for one in sent(contents)) == total_calls()
    check_pairs(sent(contents))


def check_adk(windows: list[list[Sent]], tokens: list[int], budget: int) -> None:
    """As for all, where the newest call may be known by its ship and field."""
    named = {call.id: f"{call.arguments['ship']}/{call.arguments['field']}" for call in calls(STEPS - 1)}
    back = {value: key for key, value in named.items()}
    for window in windows:
        for message in window:
            message.calls = [back.get(one, one) for one in message.calls]
            message.answers = [back.get(one, one) for one in message.answers]
    check_run(windows, tokens, budget)


def test_the_example_runs(example: Any) -> None:
    assert "I saw " in example("adk_agent.py")

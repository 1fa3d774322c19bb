"""Google ADK, with a model that is a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context.adk import CupelPlugin, _request
from google.adk.agents import LlmAgent, RunConfig
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import Client, types
from google.genai.models import _GenerateContentParameters_to_mldev
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

CLIENT = Client(api_key="none")._api_client


def check_own(request: LlmRequest) -> None:
    """ADK reads the request back, and Google's client makes of it what it sends."""
    assert LlmRequest.model_validate(request.model_dump(exclude={"tools_dict"})).contents == request.contents
    parameters = types._GenerateContentParameters(
        model="gemini-2.5-flash", contents=request.contents, config=request.config
    )
    made = _GenerateContentParameters_to_mldev(CLIENT, parameters)
    roles = [content["role"] for content in made["contents"]]
    assert len(roles) == len(request.contents)
    assert roles[0] == "user" and set(roles) <= {"user", "model"}
    # Gemini asks that what follows calls has as many results.
    parts = [content["parts"] for content in made["contents"]]
    for asked, answered in zip(parts, [*parts[1:], []]):
        many = sum("functionCall" in part for part in asked)
        assert many == 0 or many == sum("functionResponse" in part for part in answered)


class Script(BaseLlm):
    """Calls tools for sixty steps, then answers. Notes what it was sent."""

    model: str = "script"
    seen: list[Any] = []
    tokens: list[int] = []

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        step = len(self.seen)
        check_own(llm_request)
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


def test_users_and_agents_have_sessions_of_their_own() -> None:
    """The ids of two users' sessions may be the same."""
    plugin = CupelPlugin(5_000, tokenizer="o200k_base")

    async def main() -> None:
        for app, user, name in (("a", "u", "x"), ("a", "v", "x"), ("b", "u", "x"), ("a", "u", "y")):
            agent = LlmAgent(name=name, model=Script(seen=[{}] * STEPS, tokens=[]), instruction=SYSTEM)
            runner = InMemoryRunner(agent=agent, app_name=app, plugins=[plugin])
            await runner.session_service.create_session(app_name=app, user_id=user, session_id="1")
            message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
            async for _ in runner.run_async(user_id=user, session_id="1", new_message=message):
                pass

    asyncio.run(main())
    assert len(plugin._fitter._conversations) == 4


def test_the_example_runs(example: Any) -> None:
    assert "I saw " in example("adk_agent.py")

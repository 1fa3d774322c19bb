"""pydantic-ai, with a model that is a function."""

from __future__ import annotations

import asyncio
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context.pydantic_ai import CupelWindow, _message
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    DocumentUrl,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    _clean_message_history,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits
from story import (
    ANSWER,
    BUDGETS,
    QUESTION,
    STEPS,
    SYSTEM,
    Sent,
    calls,
    check_chat,
    check_pairs,
    check_run,
    look_up,
    picture,
    total_calls,
)


def sent(messages: list[ModelMessage]) -> list[Sent]:
    return [
        Sent(
            "assistant" if isinstance(message, ModelResponse) else "user",
            [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)],
            [part.tool_call_id for part in message.parts if isinstance(part, ToolReturnPart)],
        )
        for message in messages
    ]


PROVIDER = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(api_key="none"))


async def check_own(windows: list[list[ModelMessage]]) -> None:
    """pydantic-ai finds nothing to drop or to mend, reads them back, and makes requests of Chat of them."""
    for window in windows:
        parts = [part for message in window for part in message.parts]
        cleaned = _clean_message_history(list(window))
        assert [part for message in cleaned for part in message.parts] == parts
        assert ModelMessagesTypeAdapter.validate_python(window) == window
        check_chat(list(await PROVIDER._map_messages(window, ModelRequestParameters())))


def play(
    capability: CupelWindow, *, as_prompt: bool = False
) -> tuple[list[list[ModelMessage]], list[ModelMessage], list[int]]:
    seen: list[list[ModelMessage]] = []
    tokens: list[int] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = len(seen)
        seen.append(list(messages))
        tools = [
            {"name": t.name, "description": t.description or "", "input_schema": t.parameters_json_schema}
            for t in info.function_tools
        ]
        request: dict[str, Any] = {"messages": [_message(one) for one in messages], "tools": tools}
        if info.instructions:
            request["system"] = info.instructions
        tokens.append(cupel.count(request, tokenizer="o200k_base")["total_tokens"])
        if step < STEPS:
            return ModelResponse([ToolCallPart(call.name, call.arguments, call.id) for call in calls(step)])
        return ModelResponse([TextPart(ANSWER)])

    head: dict[str, Any] = {"system_prompt": SYSTEM} if as_prompt else {"instructions": SYSTEM}
    agent = Agent(FunctionModel(script), capabilities=[capability], **head)
    agent.tool_plain(name="look_up")(look_up)
    result = agent.run_sync(QUESTION, usage_limits=UsageLimits(request_limit=None))
    assert result.output == ANSWER
    return seen, result.all_messages(), tokens


@pytest.mark.parametrize("sessions", [False, True])
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_run_of_sixty_steps_fits(budget: int, sessions: bool) -> None:
    capability = CupelWindow(budget, tokenizer="o200k_base", sessions=sessions)
    seen, history, tokens = play(capability)
    check_run([sent(window) for window in seen], tokens, budget)
    asyncio.run(check_own(seen))
    # The history of the run is whole, and pydantic-ai reads it back.
    assert len(history) == 1 + 2 * STEPS + 1
    assert sum(len(one.answers) for one in sent(history)) == total_calls()
    check_pairs(sent(history))
    assert len(ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(history))) == len(
        history
    )


def test_a_system_prompt_stays() -> None:
    seen, _, _ = play(CupelWindow(900, tokenizer="o200k_base"), as_prompt=True)
    assert all(window[0].parts[0].content == SYSTEM for window in seen)  # type: ignore[union-attr]
    for window in seen:
        check_pairs(sent(window))


def test_pictures_and_files_count() -> None:
    def tokens(*content: Any) -> int:
        request = [_message(ModelRequest([UserPromptPart(["What is it?", *content])]))]
        return cupel.Engine(format="anthropic", tokenizer="o200k_base").count(request)["total_tokens"]

    small, large = (BinaryContent(picture(side), media_type="image/png") for side in (100, 1_000))
    assert tokens() + 10 < tokens(small) < tokens(large)
    assert tokens(ImageUrl("https://example.com/a.png")) > tokens() + 50
    pdf = BinaryContent(b"%PDF-1.4 " + b"/Type /Page " * 3, media_type="application/pdf")
    assert tokens(pdf) > tokens() + 50
    assert tokens(DocumentUrl("https://example.com/a.pdf")) > tokens() + 50
    returned = ModelRequest([ToolReturnPart("draw", ["Here.", large], tool_call_id="c1")])
    plain = ModelRequest([ToolReturnPart("draw", ["Here."], tool_call_id="c1")])
    call = _message(ModelResponse([ToolCallPart("draw", {}, "c1")]))
    counted = [
        cupel.Engine(format="anthropic", tokenizer="o200k_base").count(
            [_message(ModelRequest([UserPromptPart("Draw.")])), call, _message(one)]
        )["total_tokens"]
        for one in (plain, returned)
    ]
    assert counted[1] > counted[0] + 500


def test_the_example_runs(example: Any) -> None:
    assert "Stored: 102" in example("pydantic_ai_agent.py")

"""pydantic-ai, with a model that is a function."""

from __future__ import annotations

import asyncio
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context.pydantic_ai import CupelWindow, _flat
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
            {"name": t.name, "description": t.description or "", "parameters": t.parameters_json_schema}
            for t in info.function_tools
        ]
        plain = _flat(messages, info.instructions or "")[0].messages
        request: dict[str, Any] = {
            "messages": plain,
            "tools": [{"type": "function", "function": one} for one in tools],
        }
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
    def count(*messages: ModelMessage) -> int:
        return cupel.count(_flat(messages, "")[0].messages)["total_tokens"]

    def tokens(*content: Any) -> int:
        return count(ModelRequest([UserPromptPart(["What is it?", *content])]))

    small, large = (BinaryContent(picture(side), media_type="image/png") for side in (100, 1_000))
    assert tokens() + 10 < tokens(small) < tokens(large)
    assert tokens(ImageUrl("https://example.com/a.png")) > tokens() + 50
    pdf = BinaryContent(b"%PDF-1.4 " + b"/Type /Page " * 3, media_type="application/pdf")
    assert tokens(pdf) > tokens() + 50
    assert tokens(DocumentUrl("https://example.com/a.pdf")) > tokens() + 50
    asked = [ModelRequest([UserPromptPart("Draw.")]), ModelResponse([ToolCallPart("draw", {}, "c1")])]
    plain, drawn = (
        count(*asked, ModelRequest([ToolReturnPart("draw", told, tool_call_id="c1")]))
        for told in (["Here."], ["Here.", large])
    )
    assert drawn > plain + 500


def test_a_question_stays_without_the_results_before_it() -> None:
    """pydantic-ai puts a question into one message with results of the run before."""
    history: list[ModelMessage] = [ModelRequest([UserPromptPart("What do the books say?")])]
    for step in range(6):
        asked = calls(step)[0]
        history.append(ModelResponse([ToolCallPart(asked.name, asked.arguments, asked.id)]))
        result = ToolReturnPart(asked.name, look_up(**asked.arguments), tool_call_id=asked.id)
        question = [UserPromptPart(f"And what of ship {step}?")] if step % 2 else []
        history.append(ModelRequest([result, *question]))
    seen: list[list[ModelMessage]] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(list(messages))
        return ModelResponse([TextPart(ANSWER)])

    agent = Agent(FunctionModel(script), capabilities=[CupelWindow(250, tokenizer="o200k_base")])
    agent.run_sync(QUESTION, message_history=history)
    asyncio.run(check_own(seen))
    check_pairs(sent(seen[0]))
    words = [part.content for one in seen[0] for part in one.parts if isinstance(part, UserPromptPart)]
    results = [part for one in seen[0] for part in one.parts if isinstance(part, ToolReturnPart)]
    assert QUESTION in words and len(words) > len(results)
    assert len(history) == 13 and len(history[4].parts) == 2


def test_the_example_runs(example: Any) -> None:
    assert "Stored: 102" in example("pydantic_ai_agent.py")

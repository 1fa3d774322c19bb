"""Microsoft Agent Framework: a strategy that says why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

import cupel_context as cupel
import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    included_messages,
    tool,
)
from agent_framework._compaction import EXCLUDE_REASON_KEY
from agent_framework_openai import OpenAIChatCompletionClient
from cupel_context._flat import Flat
from cupel_context.agent_framework import CupelStrategy, _flatten
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


def sent(messages: Sequence[Message]) -> list[Sent]:
    return [
        Sent(
            str(message.role),
            [one.call_id or "" for one in message.contents if one.type == "function_call"],
            [one.call_id or "" for one in message.contents if one.type == "function_result"],
        )
        for message in messages
    ]


def tokens(messages: Sequence[Message]) -> int:
    flat = Flat()
    for at, message in enumerate(messages):
        _flatten(flat, at, message)
    return cupel.count(flat.messages)["total_tokens"]


PROVIDER = OpenAIChatCompletionClient(model="gpt-4o", api_key="none")


def check_own(window: Sequence[Message]) -> None:
    """The framework reads its messages back, and its provider makes a request of Chat of them."""
    assert [Message.from_dict(one.to_dict()).to_dict() for one in window] == [one.to_dict() for one in window]
    check_chat(PROVIDER._prepare_options(window, {})["messages"])


def history(steps: int) -> list[Message]:
    messages = [Message("system", [SYSTEM]), Message("user", [QUESTION])]
    for step in range(steps):
        asked = calls(step)
        messages.append(
            Message(
                "assistant",
                [Content.from_function_call(one.id, one.name, arguments=one.arguments) for one in asked],
            )
        )
        messages.append(
            Message(
                "tool",
                [Content.from_function_result(one.id, result=look_up(**one.arguments)) for one in asked],
            )
        )
    return messages


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_run_of_sixty_steps_fits_and_says_why(budget: int) -> None:
    """A history that comes at once; what an agent makes step by step is below."""
    for steps in (0, 1, 7, 30, STEPS):
        messages = history(steps)
        changed = asyncio.run(CupelStrategy(budget)(messages))
        left = included_messages(messages)
        assert changed == (len(left) < len(messages))
        check_pairs(sent(left))
        check_own(left)
        assert tokens(left) <= budget
        # Nothing is lost: what went is still there, and says why.
        assert len(messages) == len(history(steps))
        for message in messages:
            if not any(message is one for one in left):
                assert message.additional_properties[EXCLUDE_REASON_KEY].startswith("cupel: ")


class Script(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc]
    """Calls tools for sixty steps, then answers. Notes what it was sent."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.seen: list[list[Message]] = []
        self.tokens: list[int] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Any, **_: Any
    ) -> Awaitable[ChatResponse]:
        self.seen.append(list(messages))
        # The framework names the speaker of a message when the run has ended.
        self.tokens.append(tokens(included_messages(list(messages))))
        step = len(self.seen) - 1

        async def answer() -> ChatResponse:
            if step < STEPS:
                contents = [
                    Content.from_function_call(one.id, one.name, arguments=one.arguments)
                    for one in calls(step)
                ]
                return ChatResponse(messages=[Message("assistant", contents)])
            return ChatResponse(messages=[Message("assistant", [ANSWER])])

        return answer()


@tool(name="look_up", approval_mode="never_require")
def looked_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return look_up(ship, field)


@pytest.mark.parametrize("budget", BUDGETS)
def test_an_agent_takes_the_strategy(budget: int) -> None:
    client = Script()
    client.function_invocation_configuration["max_iterations"] = 500
    agent = Agent(client, instructions=SYSTEM, tools=[looked_up], compaction_strategy=CupelStrategy(budget))
    response = asyncio.run(agent.run(QUESTION))
    assert response.text == ANSWER
    windows = [included_messages(list(window)) for window in client.seen]
    check_run([sent(window) for window in windows], client.tokens, budget)
    for window in windows:
        check_own(window)
    # What the run answers with is whole.
    assert sum(len(one.answers) for one in sent(response.messages)) == total_calls()
    check_pairs([Sent("user", [], []), *sent(response.messages)])


def test_pictures_and_files_count() -> None:
    def count(*contents: Any) -> int:
        return tokens([Message("user", ["What is it?", *contents])])

    small, large = (Content.from_data(picture(side), "image/png") for side in (100, 1_000))
    assert count() + 50 < count(small) < count(large)
    assert count(Content.from_uri("https://example.com/a.png", media_type="image/png")) > count() + 50
    pdf = Content.from_data(b"%PDF-1.4 " + b"/Type /Page " * 3, "application/pdf")
    assert count(pdf) > count() + 50
    call = Message("assistant", [Content.from_function_call("c", "draw", arguments={})])
    plain, drawn = (
        tokens(
            [
                Message("user", ["Draw."]),
                call,
                Message("tool", [Content.from_function_result("c", result=one)]),
            ]
        )
        for one in ("Here.", [Content.from_text("Here."), large])
    )
    assert drawn > plain + 500


def test_the_example_runs(example: Any) -> None:
    assert "cupel: " in example("agent_framework_strategy.py")
